// SPDX-License-Identifier: Apache-2.0
#include "recipes/subject.hpp"

#include <algorithm>
#include <sstream>

#include "model/c_tokens.hpp"
#include "syntax/text.hpp"

namespace accelopt::recipes {

using base::ErrorCode;
using base::fail;
using syntax::Extent;
using syntax::IndexScope;
using syntax::Loop;
using syntax::LoopHeader;
using syntax::Polynomial;
using syntax::Statement;
using syntax::StatementKind;

namespace {

void collect_generated(const syntax::Unit& unit, const Statement& statement, std::vector<Extent>& result) {
  if (statement.kind == StatementKind::block && statement.extent.size() > 1) {
    std::string_view text = unit.text(statement.extent).substr(1);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.starts_with(kGeneratedMark)) return result.push_back(statement.extent);
  }
  for (const Statement& child : statement.children) collect_generated(unit, child, result);
}

/// Declarations of what kernels take from the standard headers. Reading the real ones takes a hundred times longer than
/// reading the kernel itself.
constexpr std::string_view kIntegers =
    "typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t; typedef unsigned "
    "char uint8_t;"
    "typedef unsigned short uint16_t; typedef unsigned int uint32_t; typedef unsigned long uint64_t; typedef unsigned "
    "long size_t;"
    "typedef long ptrdiff_t; typedef long intptr_t; typedef unsigned long uintptr_t;\n#define NULL 0\n";
constexpr std::string_view kMath =
    "float expf(float); double exp(double); float sqrtf(float); double sqrt(double); float fabsf(float); double "
    "fabs(double);"
    "float fmaxf(float, float); double fmax(double, double); float fminf(float, float); double fmin(double, double);"
    "float logf(float); double log(double); float tanhf(float); double tanh(double); float powf(float, float);"
    "double pow(double, double); float sinf(float); double sin(double); float cosf(float); double cos(double);"
    "float erff(float); double erf(double); float floorf(float); double floor(double); float rintf(float); double "
    "rint(double);"
    "\n#define INFINITY __builtin_inff()\n#define NAN __builtin_nanf(\"\")\n#define HUGE_VALF __builtin_huge_valf()\n";
constexpr std::string_view kLibrary =
    "void* malloc(unsigned long); void* calloc(unsigned long, unsigned long); void* aligned_alloc(unsigned long, "
    "unsigned long);"
    "void free(void*); int abs(int);\n";
constexpr std::string_view kStrings =
    "void* memcpy(void*, const void*, unsigned long); void* memset(void*, int, unsigned long);"
    "void* memmove(void*, const void*, unsigned long);\n";
constexpr std::string_view kLimits =
    "#define FLT_MAX __FLT_MAX__\n#define FLT_MIN __FLT_MIN__\n#define FLT_EPSILON __FLT_EPSILON__\n#define DBL_MAX "
    "__DBL_MAX__\n";
constexpr std::string_view kMathOverloads =
    "namespace std { using ::expf; using ::sqrtf; using ::fabsf; using ::fmaxf; using ::fminf; float exp(float); float "
    "sqrt(float);"
    "float fabs(float); float abs(float); float fmax(float, float); float fmin(float, float); float log(float); float "
    "tanh(float);"
    "float pow(float, float); float sin(float); float cos(float); float floor(float); double exp(double); double "
    "sqrt(double);"
    "double fabs(double); double abs(double); double fmax(double, double); double fmin(double, double); double "
    "log(double);"
    "double tanh(double); double pow(double, double); double sin(double); double cos(double); double floor(double); "
    "}\n";
constexpr std::string_view kBooleans =
    "#ifndef __cplusplus\n#define bool _Bool\n#define true 1\n#define false 0\n#endif\n";
constexpr std::string_view kLibraryInStd =
    "namespace std { using ::malloc; using ::calloc; using ::aligned_alloc; using ::free; }\n";
constexpr std::string_view kStringsInStd = "namespace std { using ::memcpy; using ::memset; using ::memmove; }\n";
constexpr std::string_view kIntegersInStd =
    "namespace std { using ::int32_t; using ::int64_t; using ::uint32_t; using ::uint64_t; using ::size_t; using "
    "::ptrdiff_t; }\n";
constexpr std::string_view kAlgorithms =
    "namespace std { template <class T> const T& max(const T&, const T&); template <class T> const T& min(const T&, "
    "const T&);"
    "template <class I, class T> void fill(I, I, const T&); }\n";

std::string guarded(const std::string& name, std::string_view text) {
  return "#ifndef STAND_IN_" + name + "\n#define STAND_IN_" + name + "\n" + std::string(text) + "#endif\n";
}

std::string stand_in(std::string_view header) {
  const std::string integers = guarded("integers", kIntegers);
  const std::string integers_std = integers + guarded("integers_std", kIntegersInStd);
  const std::string math = guarded("math", kMath);
  const std::string library = integers + guarded("library", kLibrary);
  const std::string strings = integers + guarded("strings", kStrings);
  if (header == "<stdint.h>" || header == "<stddef.h>") return integers;
  if (header == "<cstdint>" || header == "<cstddef>") return integers_std;
  if (header == "<math.h>") return math;
  if (header == "<cmath>") return math + guarded("math_std", kMathOverloads);
  if (header == "<stdlib.h>") return library;
  if (header == "<cstdlib>") return library + guarded("library_std", kLibraryInStd);
  if (header == "<string.h>") return strings;
  if (header == "<cstring>") return strings + guarded("strings_std", kStringsInStd);
  if (header == "<stdbool.h>") return guarded("booleans", kBooleans);
  if (header == "<float.h>" || header == "<cfloat>") return guarded("limits", kLimits);
  if (header == "<algorithm>") return integers_std + guarded("algorithms", kAlgorithms);
  return "";
}

/// `#include <x>` becomes `#include "x"`: as long, and found in memory. A header without a stand-in is empty there:
/// what needs it gives an error. None: something is missing.
std::optional<syntax::Unit> parse_with_stand_ins(const syntax::Clang& clang, syntax::ParseInput input) {
  const std::string original = input.source;
  std::set<std::string> names;
  const auto redirect = [&](std::string& text) {
    for (const syntax::Include& include : syntax::includes_of(text)) {
      if (include.name.front() != '<') continue;
      const std::string body = stand_in(include.name);
      const std::string plain = include.name.substr(1, include.name.size() - 2);
      const std::size_t at = text.find(include.name, include.line.begin);
      text[at] = text[at + include.name.size() - 1] = '"';
      if (names.insert(plain).second) input.headers.push_back({plain, body});
    }
  };
  redirect(input.source);
  std::string header = input.headers.front().text;
  redirect(header);
  input.headers.front().text = header;
  auto unit = syntax::parse(clang, input);
  if (!unit || !unit->errors.empty()) return std::nullopt;
  unit->source = original;
  unit->includes = syntax::includes_of(original);
  return std::move(*unit);
}

}  // namespace

Subject::Subject(KernelSource kernel, syntax::Unit unit) : kernel_(std::move(kernel)), unit_(std::move(unit)) {
  for (const syntax::Function& function : unit_.functions) {
    if (function.name.starts_with(kHelperPrefix)) continue;
    auto tree = std::make_unique<syntax::LoopTree>(function);
    parts_.push_back({&function, std::move(tree)});
    collect_generated(unit_, function.block, generated_);
  }
  for (const std::string* text : {&unit_.source, &kernel_.task_header}) {
    for (const model::Token& token : model::c_tokens(*text)) {
      if (token.kind == model::TokenKind::identifier) identifiers_.insert(token.text);
    }
  }
}

base::Result<std::unique_ptr<Subject>> Subject::read(const syntax::Clang& clang, const KernelSource& kernel) {
  syntax::ParseInput input;
  input.source = kernel.source;
  input.language = kernel.language;
  input.headers = {{"task.h", kernel.task_header}};
  if (auto quick = parse_with_stand_ins(clang, input)) {
    return std::unique_ptr<Subject>(new Subject(kernel, std::move(*quick)));
  }
  TRY_ASSIGN(syntax::Unit unit, syntax::parse(clang, input));
  return std::unique_ptr<Subject>(new Subject(kernel, std::move(unit)));
}

std::string Subject::location(const Part& part, const Loop& loop) {
  return part.function->name + ":" + loop.path;
}

base::Result<Place> Subject::find(std::string_view location) const {
  const std::size_t colon = location.find(':');
  if (colon != std::string_view::npos) {
    for (const Part& part : parts_) {
      if (part.function->name != location.substr(0, colon)) continue;
      if (const Loop* loop = part.tree->find(location.substr(colon + 1))) return Place{&part, loop};
    }
  }
  return fail(ErrorCode::invalid_argument, "the kernel has no loop " + std::string(location));
}

bool Subject::is_generated(const Loop& loop) const {
  return std::any_of(generated_.begin(), generated_.end(),
                     [&](const Extent& extent) { return extent.contains(loop.statement->extent); });
}

std::string Subject::fresh(const std::string& wish) {
  std::string name = wish;
  for (int n = 2; identifiers_.contains(name); ++n) name = wish + "_" + std::to_string(n);
  identifiers_.insert(name);
  return name;
}

std::string begin_text(const Subject& subject, const LoopHeader& header) {
  return std::string(subject.text(header.begin->extent));
}

std::string end_text(const Subject& subject, const LoopHeader& header) {
  const std::string text(subject.text(header.end->extent));
  const bool simple =
      header.end->kind == syntax::ExpressionKind::name || header.end->kind == syntax::ExpressionKind::integer;
  const std::string closed = simple ? text : "(" + text + ")";
  return header.inclusive ? closed + " + 1" : closed;
}

std::optional<Polynomial> begin_of(const Loop& loop, const IndexScope& scope) {
  if (!loop.header().canonical) return std::nullopt;
  return syntax::polynomial(*loop.header().begin, scope);
}

std::optional<Polynomial> end_of(const Loop& loop, const IndexScope& scope) {
  if (!loop.header().canonical) return std::nullopt;
  auto end = syntax::polynomial(*loop.header().end, scope);
  if (end && loop.header().inclusive) *end += Polynomial(1);
  return end;
}

std::optional<std::int64_t> trip_count(const Loop& loop, const IndexScope& scope) {
  const auto begin = begin_of(loop, scope);
  const auto end = end_of(loop, scope);
  if (!begin || !end) return std::nullopt;
  const auto span = (*end - *begin).value(scope.constants);
  if (!span) return std::nullopt;
  return std::max<std::int64_t>(0, (*span + loop.header().step - 1) / loop.header().step);
}

std::string variable_type(const LoopHeader& header) {
  return header.variable_type.empty() || header.variable_type == "auto" ? "long" : header.variable_type;
}

std::vector<Statement> body_of(const Loop& loop) {
  std::vector<Statement> result;
  for (const Statement* statement : loop.body) result.push_back(*statement);
  return result;
}

namespace {

bool reads_memory_or_calls(const syntax::Expression& expression) {
  switch (expression.kind) {
    case syntax::ExpressionKind::subscript:
    case syntax::ExpressionKind::call:
    case syntax::ExpressionKind::assign:
    case syntax::ExpressionKind::other:
      return true;
    case syntax::ExpressionKind::unary:
      if (expression.text == "&" && expression.operands[0].kind == syntax::ExpressionKind::subscript) {
        return reads_memory_or_calls(expression.operands[0].operands[0]) ||
               reads_memory_or_calls(expression.operands[0].operands[1]);
      }
      if (expression.text == "*" || expression.text.ends_with("++") || expression.text.ends_with("--")) return true;
      break;
    default:
      break;
  }
  return std::any_of(expression.operands.begin(), expression.operands.end(), reads_memory_or_calls);
}

}  // namespace

bool is_alias(const Statement& statement, const IndexScope& scope) {
  if (statement.kind != StatementKind::declaration) return false;
  return std::all_of(statement.variables.begin(), statement.variables.end(), [&](const syntax::Variable& variable) {
    return variable.initializer && scope.definitions.contains(variable.declaration) &&
           !reads_memory_or_calls(*variable.initializer);
  });
}

bool mentions(const Subject& subject, const Extent& extent, std::string_view word) {
  return subject.text(extent).find(word) != std::string_view::npos;
}

Extent with_pragmas(const Subject& subject, const Loop& loop) {
  Extent result = loop.statement->extent;
  const std::string& source = subject.unit().source;
  while (result.begin > 0) {
    const std::size_t line_end = source.rfind('\n', result.begin - 1);
    if (line_end == std::string::npos || line_end == 0) break;
    if (source.substr(line_end + 1, result.begin - line_end - 1).find_first_not_of(" \t") != std::string::npos) break;
    const std::size_t previous = source.rfind('\n', line_end - 1);
    const std::size_t start = previous == std::string::npos ? 0 : previous + 1;
    const std::size_t first = source.find_first_not_of(" \t", start);
    if (first >= line_end || !std::string_view(source).substr(first).starts_with("#pragma")) break;
    result.begin = first;
  }
  return result;
}

std::vector<std::string> flags_of(std::string_view source) {
  std::vector<std::string> result;
  for (const model::Token& token : model::c_tokens(source)) {
    if (token.kind != model::TokenKind::directive) continue;
    std::istringstream words(token.text.substr(3));
    std::string word;
    words >> word;
    if (word != "flags") continue;
    while (words >> word) result.push_back(word);
  }
  return result;
}

std::string with_flags(std::string source, const std::vector<std::string>& flags) {
  const std::vector<std::string> present = flags_of(source);
  std::string added;
  for (const std::string& flag : flags) {
    if (std::find(present.begin(), present.end(), flag) == present.end()) added += " " + flag;
  }
  if (added.empty()) return source;
  for (const model::Token& token : model::c_tokens(source)) {
    if (token.kind != model::TokenKind::directive || !token.text.substr(3).starts_with(" flags")) continue;
    std::size_t end = std::min(source.find('\n', token.offset), source.size());
    while (end > token.offset && (source[end - 1] == ' ' || source[end - 1] == '\r')) --end;
    return source.insert(end, added);
  }
  return "//@ flags" + added + "\n" + source;
}

std::string with_include(std::string source, const std::string& name) {
  const std::vector<syntax::Include> includes = syntax::includes_of(source);
  if (std::any_of(includes.begin(), includes.end(),
                  [&](const syntax::Include& include) { return include.name == name; })) {
    return source;
  }
  if (includes.empty()) {
    std::size_t at = 0;
    while (source.substr(at).starts_with("//")) at = std::min(source.find('\n', at), source.size() - 1) + 1;
    return source.insert(at, "#include " + name + "\n");
  }
  return source.insert(includes.front().line.begin, "#include " + name + "\n");
}

std::string indented(std::string_view text, std::string_view indent) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view line = text.substr(at, end - at);
    if (!line.empty()) result += line.front() == '#' ? std::string(line) : std::string(indent) + std::string(line);
    if (end < text.size()) result += '\n';
    at = end + 1;
  }
  return result;
}

}  // namespace accelopt::recipes
