// SPDX-License-Identifier: Apache-2.0
#include "suites/mutant_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <regex>
#include <set>

#include "base/problem.hpp"
#include "base/text.hpp"

namespace accelopt::suites {

using model::DType;
using model::TensorSpec;

namespace {

/// Bits of a float's fraction that a number of four bits of precision has not.
constexpr unsigned kDroppedOfSmallTypes = 20;
/// Larger constants are part of what is computed.
constexpr double kLargestSmallConstant = 1e-3;

std::string parameter(const TensorSpec& tensor, bool output) {
  const std::string type(model::c_name(tensor.dtype));
  if (output) return type + "* " + tensor.name;
  return tensor.shape ? "const " + type + "* " + tensor.name : type + " " + tensor.name;
}

/// How many characters of a floating constant with an exponent stand at the beginning, without its suffix; 0: none.
std::size_t small_constant(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789.eE-");
  const std::string_view word = text.substr(0, end);
  if (word.find_first_of("eE") == std::string_view::npos) return 0;
  double value = 0;
  const auto [stop, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
  const auto length = static_cast<std::size_t>(stop - word.data());
  const bool small = problem == std::errc() && value > 0 && value < kLargestSmallConstant;
  return small && word.substr(0, length).find_first_of("eE") != std::string_view::npos ? length : 0;
}

/// Where the comment that begins here ends; `at` where none does.
std::size_t end_of_comment(const std::string& source, std::size_t at) {
  const bool line = source.compare(at, 2, "//") == 0;
  if (!line && source.compare(at, 2, "/*") != 0) return at;
  const std::size_t end = line ? source.find('\n', at) : source.find("*/", at + 2);
  return end == std::string::npos ? source.size() : line ? end : end + 2;
}

}  // namespace

std::string kernel_parameters(const model::Definition& definition) {
  std::string out;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
  for (const TensorSpec& input : definition.inputs) {
    if (model::is_passed_as_input(input)) add(parameter(input, false));
  }
  for (const TensorSpec& output : definition.outputs) add(parameter(output, true));
  for (const std::string& axis : model::variable_axes(definition)) add("int64_t " + axis);
  return out;
}

std::string product(const std::vector<std::string>& axes, std::size_t first, std::size_t last) {
  std::string out = "(int64_t)1";
  for (std::size_t i = first; i < last; ++i) out += " * " + axes[i];
  return out;
}

std::string elements(const TensorSpec& tensor) {
  return tensor.shape ? product(*tensor.shape, 0, tensor.shape->size()) : "1";
}

bool has_axis(const TensorSpec& tensor, const std::string& axis) {
  return tensor.shape && std::find(tensor.shape->begin(), tensor.shape->end(), axis) != tensor.shape->end();
}

std::int64_t most_elements(const model::Task& task, const TensorSpec& tensor) {
  std::int64_t out = 0;
  for (const model::Workload& workload : task.workloads) {
    out = std::max(out, model::element_count(tensor, model::bind_axes(task.definition, workload)));
  }
  return out;
}

std::vector<std::string> reduced_axes(const model::Definition& definition) {
  std::vector<std::string> out;
  for (const model::Axis& axis : definition.axes) {
    const auto has = [&](const TensorSpec& tensor) { return has_axis(tensor, axis.name); };
    const auto counts = [&](const TensorSpec& tensor) { return has(tensor) && model::is_floating(tensor.dtype); };
    if (std::none_of(definition.outputs.begin(), definition.outputs.end(), has) &&
        std::any_of(definition.inputs.begin(), definition.inputs.end(), counts)) {
      out.push_back(axis.name);
    }
  }
  return out;
}

std::vector<std::string> shared_last_axes(const model::Definition& definition) {
  std::vector<std::string> out;
  for (const model::Axis& axis : definition.axes) {
    const auto ends_in_it = [&](const TensorSpec& tensor) {
      return tensor.shape && !tensor.shape->empty() && tensor.shape->back() == axis.name &&
             model::is_floating(tensor.dtype);
    };
    if (std::any_of(definition.outputs.begin(), definition.outputs.end(), ends_in_it) &&
        std::any_of(definition.inputs.begin(), definition.inputs.end(), ends_in_it)) {
      out.push_back(axis.name);
    }
  }
  return out;
}

std::vector<const TensorSpec*> integer_inputs(const model::Definition& definition) {
  std::vector<const TensorSpec*> out;
  for (const TensorSpec& input : definition.inputs) {
    const bool numbers = input.init.kind == model::InitKind::integers || input.init.kind == model::InitKind::uniform ||
                         input.init.kind == model::InitKind::normal;
    if (input.shape && numbers && !model::is_floating(input.dtype) && input.dtype != DType::boolean)
      out.push_back(&input);
  }
  return out;
}

std::string narrower(DType dtype, std::size_t bits) {
  if (model::is_floating(dtype) || dtype == DType::boolean || 8 * model::size_of(dtype) <= bits || bits < 8) return {};
  const bool is_signed =
      dtype == DType::int64 || dtype == DType::int32 || dtype == DType::int16 || dtype == DType::int8;
  return (is_signed ? "int" : "uint") + std::to_string(bits) + "_t";
}

const TensorSpec* source_of_copy(const model::Definition& definition, const TensorSpec& output) {
  const TensorSpec* source = nullptr;
  for (const TensorSpec& input : definition.inputs) {
    if (!input.shape || input.dtype != output.dtype) continue;
    if (input.shape == output.shape) return &input;
    if (source == nullptr) source = &input;
  }
  return source;
}

const std::vector<Rounding>& roundings() {
  static const std::vector<Rounding> kRoundings{
      {"computed one precision lower", [](DType dtype) { return model::size_of(dtype) > 1; },
       [](DType dtype) {
         return dtype == DType::float64 ? "float32" : dtype == DType::float32 ? "bfloat16" : "4 bits of precision";
       },
       16},
      {"computed in tf32", [](DType dtype) { return dtype == DType::float32; },
       [](DType) { return "tf32 (11 bits of precision)"; }, 13}};
  return kRoundings;
}

unsigned dropped_bits(const Rounding& rounding, DType dtype) {
  return dtype == DType::float32 ? rounding.dropped_of_float32 : kDroppedOfSmallTypes;
}

std::string refuse_rounding(const model::Definition& definition) {
  if (definition.numerics.lower_precision) return "the task permits it: numerics.lower_precision = true";
  const bool seen = std::any_of(definition.outputs.begin(), definition.outputs.end(), [](const TensorSpec& output) {
    return model::is_floating(output.dtype) || !output.ties.empty();
  });
  return seen ? "" : "every output is exact (integers or masks)";
}

std::optional<std::string> without_small_constants(const std::string& source) {
  std::string out;
  bool any = false;
  for (std::size_t at = 0; at < source.size();) {
    if (const std::size_t stop = end_of_comment(source, at); stop > at) {
      out += source.substr(at, stop - at);
      at = stop;
      continue;
    }
    const bool begins = std::isdigit(static_cast<unsigned char>(source[at])) != 0 &&
                        (at == 0 || (!base::is_word(source[at - 1]) && source[at - 1] != '.'));
    const std::size_t length = begins ? small_constant(std::string_view(source).substr(at)) : 0;
    if (length > 0) any = true;
    out += length > 0 ? "0.0" : source.substr(at, 1);
    at += std::max<std::size_t>(length, 1);
  }
  return any ? std::optional(std::move(out)) : std::nullopt;
}

namespace {

/// Calls `look(at, line)` at each place of the code outside of comments, preprocessor lines, names and the headers of
/// loops; it says where to go on, and 0 where it found nothing.
template <class Look>
void look_outside_loops(const std::string& source, const Look& look) {
  int line = 1;
  int loop = 0;  // open parentheses of a loop's header
  bool header = false;
  for (std::size_t at = 0; at < source.size();) {
    std::size_t stop = end_of_comment(source, at);
    const bool directive = source[at] == '#';
    if (directive) stop = std::min(source.find('\n', at), source.size());
    if (stop == at) {
      while (stop < source.size() && base::is_word(source[stop])) ++stop;
      const std::string word = source.substr(at, stop - at);
      if (source[at] == '(' && (loop > 0 || header)) ++loop;
      const bool blank = std::isspace(static_cast<unsigned char>(source[at])) != 0;
      header = word == "for" || word == "while" || (header && blank);
      if (source[at] == ')' && loop > 0) --loop;
      if (loop == 0 && word.empty()) stop = std::max(stop, look(at, line));
      stop = std::max(stop, at + 1);
    }
    line += static_cast<int>(std::count(source.begin() + static_cast<std::ptrdiff_t>(at),
                                        source.begin() + static_cast<std::ptrdiff_t>(stop), '\n'));
    at = stop;
  }
}

/// How many comparisons of a kind are tried.
constexpr std::size_t kMostComparisons = 8;

/// The names that the source declares as whole numbers: sizes, places and counts.
std::set<std::string> names_of_integers(const std::string& source) {
  static const std::regex type(R"(\b(?:int|long|short|unsigned|size_t|ptrdiff_t|u?int\d+_t)\s+(?=\w))");
  static const std::regex name(R"((?:^|,)\s*(?:const\s+)?(\w+))");
  constexpr std::size_t kLongestDeclaration = 400;  // std::regex recurses: it may not be given any length
  std::set<std::string> out;
  for (std::sregex_iterator found(source.begin(), source.end(), type), end; found != end; ++found) {
    const auto begin = static_cast<std::size_t>(found->position() + found->length());
    const std::string after = source.substr(begin, kLongestDeclaration);
    const std::string names = after.substr(0, after.find_first_of(";{})"));
    for (std::sregex_iterator one(names.begin(), names.end(), name); one != end; ++one) out.insert((*one)[1]);
  }
  return out;
}

/// A value's text: a name or a call, with subscripts and members, where it ends and where it begins.
constexpr const char* kValue = R"([A-Za-z_][\w.]*(?:\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]|\([^()]*\)|\.\w+)*)";

std::string without_blanks(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) out += c;
  }
  return out;
}

/// Whether what follows takes one of the two values, so that it does not matter which of equal ones it is.
bool takes_either(const std::string& one, const std::string& two, const std::string& rest) {
  const std::string text = without_blanks(rest);
  const auto follows = [&](const std::string& left, const std::string& right) {
    const auto begins = std::to_array<std::string>({"?" + left + ":" + right, ")?" + left + ":" + right,
                                                    ")" + left + "=" + right + ";", "){" + left + "=" + right + ";}"});
    return std::ranges::any_of(begins, [&](const std::string& begin) { return text.starts_with(begin); });
  };
  const std::string left = without_blanks(one);
  const std::string right = without_blanks(two);
  return follows(left, right) || follows(right, left);
}

}  // namespace

std::vector<Comparison> comparisons_with_numbers(const std::string& source) {
  static const std::regex comparison(R"(([<>]=?|[=!]=)\s*(-?\.?\d(?:[eE][-+]?\d|[\w.])*)(?=\s*(?:[);?:]|&&|\|\|)))");
  std::vector<Comparison> out;
  look_outside_loops(source, [&](std::size_t at, int line) -> std::size_t {
    const bool behind = at > 0 && std::string_view("<>-=!").find(source[at - 1]) != std::string_view::npos;
    std::smatch found;
    if (behind || out.size() == kMostComparisons ||
        !std::regex_search(source.begin() + static_cast<std::ptrdiff_t>(at), source.end(), found, comparison,
                           std::regex_constants::match_continuous))
      return 0;
    const std::size_t end = at + static_cast<std::size_t>(found.length());
    out.push_back({line, found.str(), end});
    return end;
  });
  return out;
}

std::vector<Comparison> comparisons_of_values(const std::string& source) {
  static const std::regex left_value(kValue + std::string(R"(\s+$)"));
  static const std::regex right_value(R"(([<>]=?)\s+()" + std::string(kValue) + ")");
  const std::set<std::string> integers = names_of_integers(source);
  std::vector<Comparison> out;
  look_outside_loops(source, [&](std::size_t at, int line) -> std::size_t {
    if (out.size() == kMostComparisons || at == 0 || std::string_view("<>").find(source[at]) == std::string_view::npos)
      return 0;
    const std::size_t begin = source.rfind('\n', at) + 1;  // npos + 1 is the source's own
    const std::string before = source.substr(begin, at - begin);
    std::smatch left;
    std::smatch right;
    if (!std::regex_search(before, left, left_value) ||
        !std::regex_search(source.begin() + static_cast<std::ptrdiff_t>(at), source.end(), right, right_value,
                           std::regex_constants::match_continuous))
      return 0;
    const std::string one(base::trimmed(left.str()));
    const std::string two = right[2];
    const std::size_t end = at + static_cast<std::size_t>(right.length());
    if (integers.contains(one) || integers.contains(two) || takes_either(one, two, source.substr(end, 400))) return 0;
    out.push_back({line, one + " " + right.str(), at + static_cast<std::size_t>(right[1].length())});
    return end;
  });
  return out;
}

std::optional<std::string> without_maximum(const std::string& source) {
  static const std::set<std::string> maxima = {"fmaxf", "fmax", "max", "__hmax", "__hmax2"};
  static const std::set<std::string> exponentials = {"expf", "__expf", "exp",   "exp2f", "exp2",
                                                     "hexp", "hexp2",  "h2exp", "h2exp2"};
  // Of whole numbers it stays: they are sizes and places.
  std::string out =
      "template <class T, class U> __host__ __device__ constexpr T mutant_no_maximum(T, U) { return T(0.0f); }\n"
      "__host__ __device__ constexpr int mutant_no_maximum(int a, int b) { return a > b ? a : b; }\n"
      "__host__ __device__ constexpr unsigned mutant_no_maximum(unsigned a, unsigned b) { return a > b ? a : b; }\n"
      "__host__ __device__ constexpr long mutant_no_maximum(long a, long b) { return a > b ? a : b; }\n"
      "__host__ __device__ constexpr long long mutant_no_maximum(long long a, long long b) { return a > b ? a : b; }\n";
  bool maximum = false;
  bool exponential = false;
  for (std::size_t at = 0; at < source.size();) {
    std::size_t stop = end_of_comment(source, at);
    std::string word;
    if (stop == at) {
      while (stop < source.size() && base::is_word(source[stop])) ++stop;
      word = source.substr(at, stop - at);
      stop = std::max(stop, at + 1);
    }
    exponential = exponential || exponentials.contains(word);
    const bool replaced = maxima.contains(word) && !out.ends_with("::");
    maximum = maximum || replaced;
    out += replaced ? "mutant_no_maximum" : source.substr(at, stop - at);
    at = stop;
  }
  return maximum && exponential ? std::optional(std::move(out)) : std::nullopt;
}

Mutant of_source(const model::Task& task, MutantKind kind, std::string name, std::string does,
                 const std::optional<std::string>& source, std::string why) {
  Mutant mutant{kind, std::move(name), std::move(does), source ? std::string() : std::move(why), {}};
  if (source) mutant.solution = model::with_main_text(task.baseline, *source);
  return mutant;
}

Mutant without_epsilon(const model::Task& task) {
  return of_source(task, MutantKind::epsilon, "small constants dropped",
                   "the baseline with 0 for constants like 1e-5f, which keep divisions from zero",
                   without_small_constants(model::main_text(task.baseline)), "the baseline has no constant like 1e-5f");
}

std::vector<Mutant> with_changed_comparisons(const model::Task& task) {
  std::vector<Mutant> out;
  const std::string& source = model::main_text(task.baseline);
  for (const Comparison& one : comparisons_with_numbers(source)) {
    for (const bool holds : {false, true}) {
      std::string forced = source;
      forced.insert(one.end, holds ? " != 2" : " == 2");  // of no comparison, and binds as closely
      const std::string where = "line " + std::to_string(one.line) + ", " + base::in_quotes(one.text);
      out.push_back(of_source(
          task, MutantKind::branch, std::string("comparison always ") + (holds ? "true" : "false") + " (" + where + ")",
          "the baseline with that condition always " + std::string(holds ? "true" : "false"), std::move(forced), {}));
    }
  }
  for (const Comparison& one : comparisons_of_values(source)) {
    std::string other = source;
    const bool takes_equal = source[one.end - 1] == '=';
    takes_equal ? other.erase(one.end - 1, 1) : other.insert(one.end, "=");
    out.push_back(of_source(
        task, MutantKind::boundary,
        "equal values the other way (line " + std::to_string(one.line) + ", " + base::in_quotes(one.text) + ")",
        std::string("the baseline with that comparison ") + (takes_equal ? "false" : "true") + " where both are equal",
        std::move(other), {}));
  }
  return out;
}

}  // namespace accelopt::suites
