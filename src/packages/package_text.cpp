// SPDX-License-Identifier: Apache-2.0
#include "packages/package_text.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/result.hpp"
#include "base/text.hpp"
#include "model/c_names.hpp"
#include "model/c_tokens.hpp"
#include "model/target_description.hpp"
#include "packages/builtin_templates.hpp"

namespace accelopt::packages {
namespace {

/// What the files of packages, CMake and the linker call their own.
constexpr std::string_view kOwnNames =
    "test check build solution torch triton tables task launcher kernels all clean help install package c m std";

/// Functions of <math.h>, without those that end in f or l for their type.
constexpr std::string_view kMathematics =
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp10 exp2 expm1 fabs fdim "
    "floor "
    "fma fmax fmin fmod frexp gamma hypot ilogb isinf isnan finite j0 j1 jn ldexp lgamma llrint llround log log10 "
    "log1p "
    "log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow pow10 remainder remquo rint round scalb "
    "scalbln "
    "scalbn significand sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn fpclassify isfinite isnormal signbit";

/// Others of the C library: a library that defines one takes it from the whole program.
constexpr std::string_view kLibraryNames =
    "abort abs accept access alarm atexit atof atoi atol atoll bcmp bcopy bind bsearch bzero calloc chdir chmod chown "
    "clearerr clock close connect creat ctime div dup dup2 environ errno execv exit fclose feof ferror fflush ffs "
    "fgets "
    "fileno fopen fork fprintf fputs fread free fscanf fseek ftell fwrite getc getenv gets index insque isalnum "
    "isalpha "
    "isdigit isspace kill labs ldiv lfind link listen llabs lldiv lsearch lseek malloc memccpy memchr memcmp memcpy "
    "memmem "
    "memmove memset mkdir mktime mmap munmap nice open pause perror pipe poll printf putc puts qsort raise rand random "
    "read realloc recv remove rename rewind rindex rmdir scanf select send setenv shutdown signal sleep snprintf "
    "socket "
    "sprintf srand srandom sscanf stat stderr stdin stdout stpcpy strcat strchr strcmp strcpy strdup strlen strncat "
    "strncmp strncpy strnlen strrchr strstr strtod strtof strtok strtol strtoul swab sync system tee time times "
    "tolower "
    "toupper truncate ungetc unlink usleep wait write";

bool is_taken(std::string_view name) {
  if (!model::refuse_c_name(name).empty()) return true;
  const bool typed = name.ends_with('f') || name.ends_with('l');
  return base::has_word(kOwnNames, name) || base::has_word(kLibraryNames, name) || base::has_word(kMathematics, name) ||
         (typed && base::has_word(kMathematics, name.substr(0, name.size() - 1)));
}

/// Whether the text uses the name for something of its own.
bool names(std::string_view text, std::string_view name) {
  const std::vector<model::Token> tokens = model::c_tokens(text);
  return std::ranges::any_of(tokens, [&](const model::Token& token) {
    if (token.kind == model::TokenKind::preprocessor) return names(std::string_view(token.text).substr(1), name);
    return token.kind == model::TokenKind::identifier && token.text == name;
  });
}

/// The function of a kernel in C or C++ is renamed in its own text; others are launched by a file of their own.
bool names(const model::Solution& solution, std::string_view name) {
  if (model::describe(solution.language).form != model::KernelForm::function) return false;
  return std::ranges::any_of(solution.sources, [&](const model::SourceFile& file) { return names(file.text, name); });
}

}  // namespace

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string filled(std::string_view name, const Filling& filling) {
  const auto files = builtin_templates();
  const auto file = std::find_if(files.begin(), files.end(), [&](const auto& one) { return one.name == name; });
  ACCELOPT_ASSERT(file != files.end(), "a template that was not built in");
  std::string text(file->text);
  for (const auto& [key, value] : filling) text = replaced(std::move(text), "@" + key + "@", value);
  return text;
}

std::string harmless(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = std::isprint(static_cast<unsigned char>(c)) != 0 && c != '"' && c != '\\' && c != '@';
    out += plain ? c : ' ';
  }
  return replaced(replaced(std::move(out), "*/", "* /"), "/*", "/ *");
}

std::string package_name(const PackageRequest& request) {
  std::string out;
  for (const char c : request.task.definition.name) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  while (is_taken(out) || names(request.solution, out)) out = "fast_" + out;
  return out;
}

Filling common_filling(const PackageRequest& request) {
  std::string description = harmless(request.task.definition.description);
  if (!description.empty() && description.back() != '.') description += '.';
  return {{"NAME", package_name(request)},
          {"DESCRIPTION", description},
          {"CLAIM", harmless(request.claim)},
          {"REFERENCE", reference_name(request.task)}};
}

std::string reference_name(const model::Task& task) {
  return "reference" + std::filesystem::path(task.reference.name).extension().string();
}

std::vector<Parameter> parameters_of(const model::Definition& definition) {
  std::vector<Parameter> out;
  for (const model::TensorSpec& input : definition.inputs) {
    if (!model::is_passed_as_input(input)) continue;
    const auto kind = input.shape ? Parameter::Kind::tensor : Parameter::Kind::scalar;
    out.push_back({kind, input.name, input.dtype, input.shape.value_or(std::vector<std::string>())});
  }
  for (const model::TensorSpec& output : definition.outputs) {
    out.push_back({Parameter::Kind::output, output.name, output.dtype,
                   output.shape.value_or(std::vector<std::string>()),
                   model::contents_of(definition, output).has_value()});
  }
  for (const std::string& axis : model::variable_axes(definition)) out.push_back({Parameter::Kind::axis, axis});
  return out;
}

base::Result<void> check_packable(const model::Task& task) {
  if (task.definition.ties.empty()) return {};
  return base::fail(base::ErrorCode::unsupported,
                    "the task " + task.definition.name +
                        " has outputs with ties, which the test of a package cannot judge yet; take the solution home "
                        "without --as");
}

}  // namespace accelopt::packages
