// SPDX-License-Identifier: Apache-2.0
#include "syntax/inclusions.hpp"

#include "syntax/libclang.hpp"

namespace accelopt::syntax {
namespace {

struct InclusionVisit {
  const Api& api;
  std::vector<Inclusion> found;
};

void visit_inclusion(CXFile file, CXSourceLocation* includes, unsigned depth, CXClientData data) {
  InclusionVisit& visit = *static_cast<InclusionVisit*>(data);
  if (depth == 0) return;  // the source
  Inclusion one;
  const CXString name = visit.api.getFileName(file);
  if (const char* text = visit.api.getCString(name)) one.file = text;
  visit.api.disposeString(name);
  unsigned line = 0;
  visit.api.getExpansionLocation(includes[0], nullptr, &line, nullptr, nullptr);
  one.line = static_cast<int>(line);
  one.depth = static_cast<int>(depth);
  visit.found.push_back(std::move(one));
}

}  // namespace

base::Result<std::vector<Inclusion>> inclusions_of(const Clang& clang, const ParseInput& input) {
  TRY_ASSIGN(const Api api, Api::bind(clang));
  TRY_ASSIGN(const std::vector<std::string> arguments, arguments_of(clang, input));
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  const std::string name = std::string(kMemoryFolder) + "source";
  CXUnsavedFile file{name.c_str(), input.source.c_str(), input.source.size()};
  // Without a preamble, whose files would not stand in order with the others.
  Translation translation(api);
  const CXErrorCode code = api.parseTranslationUnit2(
      translation.index(), name.c_str(), pointers.data(), static_cast<int>(pointers.size()), &file, 1,
      CXTranslationUnit_KeepGoing | CXTranslationUnit_SkipFunctionBodies, &translation.unit);
  if (code != CXError_Success || translation.unit == nullptr) {
    return base::fail(base::ErrorCode::internal,
                      "libclang could not read the source (its error code " + std::to_string(code) + ")");
  }
  InclusionVisit visit{api, {}};
  api.getInclusions(translation.unit, visit_inclusion, &visit);
  return std::move(visit.found);
}

}  // namespace accelopt::syntax
