// SPDX-License-Identifier: Apache-2.0
// A kernel that was read: what every recipe looks at, and the small edits that all of them share.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/engine.hpp"
#include "syntax/edit.hpp"
#include "syntax/loops.hpp"
#include "syntax/source.hpp"

namespace accelopt::recipes {

/// The comment after the opening brace of a block that holds vector code.
inline constexpr std::string_view kGeneratedMark = "// vector code";

/// Names of the functions that vector code calls begin so; they are no part of the kernel to be changed.
inline constexpr std::string_view kHelperPrefix = "simd_";

/// A function of the kernel's file with its loops.
struct Part {
  const syntax::Function* function = nullptr;
  std::unique_ptr<syntax::LoopTree> tree;
};

/// A loop by where it is.
struct Place {
  const Part* part = nullptr;
  const syntax::Loop* loop = nullptr;
};

class Subject {
 public:
  /// @error as syntax::parse; invalid_argument: the source does not compile.
  static base::Result<std::unique_ptr<Subject>> read(const syntax::Clang& clang, const KernelSource& kernel);

  [[nodiscard]] const syntax::Unit& unit() const { return unit_; }
  [[nodiscard]] const KernelSource& kernel() const { return kernel_; }
  [[nodiscard]] bool is_cpp() const { return kernel_.language == model::Language::cpp; }
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  [[nodiscard]] std::string_view text(const syntax::Extent& extent) const { return unit_.text(extent); }

  /// "function:path" of a loop.
  [[nodiscard]] static std::string location(const Part& part, const syntax::Loop& loop);
  /// @error invalid_argument: there is no such loop.
  [[nodiscard]] base::Result<Place> find(std::string_view location) const;

  /// Whether the loop stands in vector code that a recipe wrote: there is nothing left to do.
  [[nodiscard]] bool is_generated(const syntax::Loop& loop) const;

  /// An identifier that the file does not use yet, made from `wish`; never given twice.
  std::string fresh(const std::string& wish);

 private:
  Subject(KernelSource kernel, syntax::Unit unit);
  KernelSource kernel_;
  syntax::Unit unit_;
  std::vector<Part> parts_;
  std::set<std::string> identifiers_;
  std::vector<syntax::Extent> generated_;
};

/// Bound of a canonical loop as text, exclusive: "N", "n + 1" for `<= n`.
std::string end_text(const Subject& subject, const syntax::LoopHeader& header);
std::string begin_text(const Subject& subject, const syntax::LoopHeader& header);
/// Bounds as polynomials. None: not one.
std::optional<syntax::Polynomial> begin_of(const syntax::Loop& loop, const syntax::IndexScope& scope);
std::optional<syntax::Polynomial> end_of(const syntax::Loop& loop, const syntax::IndexScope& scope);
/// Number of iterations where the bounds are compile-time constants.
std::optional<std::int64_t> trip_count(const syntax::Loop& loop, const syntax::IndexScope& scope);
/// The type to declare the loop's variable with.
std::string variable_type(const syntax::LoopHeader& header);

/// The statements of a loop's body.
std::vector<syntax::Statement> body_of(const syntax::Loop& loop);
/// A declaration of integers or pointers that never change and are computed without reading memory: may be repeated or
/// left out.
bool is_alias(const syntax::Statement& statement, const syntax::IndexScope& scope);
/// Whether any identifier of the extent begins with the prefix.
bool mentions(const Subject& subject, const syntax::Extent& extent, std::string_view word);
/// From the start of the loop's line-leading pragmas to the loop's end.
syntax::Extent with_pragmas(const Subject& subject, const syntax::Loop& loop);

/// The source with flags added to its `//@ flags` line, made at the top where there is none.
std::string with_flags(std::string source, const std::vector<std::string>& flags);
/// The flags that the source declares.
std::vector<std::string> flags_of(std::string_view source);
/// The source with an include added unless it is there.
std::string with_include(std::string source, const std::string& name);
/// Every line of the text moved right by `indent`; empty lines stay empty.
std::string indented(std::string_view text, std::string_view indent);

}  // namespace accelopt::recipes
