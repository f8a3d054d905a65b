// SPDX-License-Identifier: Apache-2.0
// libclang's C interface as the reader uses it. Only for the sources of this folder: it needs libclang's headers.
#pragma once

#include <clang-c/Index.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "syntax/clang.hpp"
#include "syntax/source.hpp"

namespace accelopt::syntax {

// The formatter would move a long macro a little further each time.
// clang-format off
#define ACCELOPT_CLANG_FUNCTIONS(X)                                                                                   \
  X(createIndex) X(disposeIndex) X(parseTranslationUnit2) X(disposeTranslationUnit) X(getTranslationUnitCursor)       \
  X(visitChildren) X(getCursorKind) X(getCursorExtent) X(getCursorLocation) X(getRangeStart) X(getRangeEnd)           \
  X(getExpansionLocation) X(getSpellingLocation) X(getFileLocation) X(getFileName) X(getCursorSpelling)               \
  X(getCString) X(disposeString) X(getCursorType) X(getCanonicalType) X(getTypeSpelling) X(getCursorReferenced)       \
  X(getCursorResultType) X(isExpression) X(isStatement) X(isConstQualifiedType) X(getPointeeType)                     \
  X(getArrayElementType) X(isRestrictQualifiedType) X(Cursor_getVarDeclInitializer) X(getCursorBinaryOperatorKind)    \
  X(getBinaryOperatorKindSpelling) X(getCursorUnaryOperatorKind) X(getUnaryOperatorKindSpelling) X(Cursor_Evaluate)   \
  X(EvalResult_getKind) X(EvalResult_getAsLongLong) X(EvalResult_dispose) X(getEnumConstantDeclValue)                 \
  X(isCursorDefinition) X(Cursor_getStorageClass) X(getArraySize)                                                     \
  X(getNumDiagnostics) X(getDiagnostic) X(disposeDiagnostic) X(getDiagnosticSeverity) X(getDiagnosticLocation)        \
  X(getDiagnosticSpelling) X(Cursor_isNull) X(getCursorTLSKind)                                                       \
  X(getInclusions) X(createIndexWithOptions) X(reparseTranslationUnit) X(CXXMethod_isStatic)                          \
  X(getCursorSemanticParent)
// clang-format on

/// The functions of libclang that the reader calls, found in the library that was opened.
struct Api {
  /// @error unsupported: the library lacks one.
  static base::Result<Api> bind(const Clang& clang);

#define ACCELOPT_DECLARE(name) decltype(&clang_##name) name = nullptr;
  ACCELOPT_CLANG_FUNCTIONS(ACCELOPT_DECLARE)
#undef ACCELOPT_DECLARE
};

/// A folder that does not exist: the files in it exist in memory only, and nothing on disk is included by accident.
inline constexpr std::string_view kMemoryFolder = "/accelopt-memory/";

/// Where this process's open files have names.
inline constexpr std::string_view kOpenFiles = "/proc/self/fd/";

/// The compiler's arguments that say how the source is read. @error invalid_argument: another language than C or C++.
base::Result<std::vector<std::string>> arguments_of(const Clang& clang, const ParseInput& input);

/// The files on disk, outside of these folders, that were read for the unit, in order of their inclusion.
std::vector<std::string> files_on_disk(const Api& api, CXTranslationUnit unit);

/// Deletes through the library that made the object.
class Translation {
 public:
  explicit Translation(const Api& api) : Translation(api, api.createIndex(0, 0)) {}
  /// Takes the index.
  Translation(const Api& api, CXIndex index) : api_(api), index_(index) {}
  Translation(const Translation&) = delete;
  Translation& operator=(const Translation&) = delete;
  ~Translation() {
    if (unit != nullptr) api_.disposeTranslationUnit(unit);
    api_.disposeIndex(index_);
  }
  [[nodiscard]] CXIndex index() const { return index_; }
  CXTranslationUnit unit = nullptr;

 private:
  const Api& api_;
  CXIndex index_;
};

}  // namespace accelopt::syntax
