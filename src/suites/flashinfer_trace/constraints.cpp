// SPDX-License-Identifier: Apache-2.0
#include "suites/flashinfer_trace/constraints.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

#include "base/expression.hpp"
#include "base/text.hpp"

namespace accelopt::suites::flashinfer_trace {
namespace {

/// Names, numbers, and signs of one or two characters, blanks dropped.
std::vector<std::string> python_tokens(std::string_view text) {
  static constexpr std::string_view kPairs = "== != <= >= // **";
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::vector<std::string> out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t length = 1;
    if (base::kBlanks.find(text[i]) != std::string_view::npos) {
      ++i;
      continue;
    }
    if (in_word(text[i])) {
      while (i + length < text.size() && in_word(text[i + length])) ++length;
    } else if (i + 1 < text.size() && base::has_word(kPairs, text.substr(i, 2))) {
      length = 2;
    }
    out.emplace_back(text.substr(i, length));
    i += length;
  }
  return out;
}

const Tensor* find_tensor(const Definition& definition, const std::string& name) {
  for (const auto* tensors : {&definition.inputs, &definition.outputs}) {
    const auto found =
        std::find_if(tensors->begin(), tensors->end(), [&](const Tensor& one) { return one.name == name; });
    if (found != tensors->end()) return &*found;
  }
  return nullptr;
}

bool is_axis(const Definition& definition, const std::string& name) {
  return std::any_of(definition.axes.begin(), definition.axes.end(),
                     [&](const Axis& axis) { return axis.name == name; });
}

/// The axis that `tokens[at...]`, "x . shape [ i ]", speaks of, and how many tokens it takes.
std::optional<std::pair<std::string, std::size_t>> shape_axis(const std::vector<std::string>& tokens, std::size_t at,
                                                              const Definition& definition) {
  const Tensor* const tensor = find_tensor(definition, tokens[at]);
  const auto is = [&](std::size_t place, std::string_view text) {
    return at + place < tokens.size() && tokens[at + place] == text;
  };
  if (tensor == nullptr || !tensor->shape || !is(1, ".") || !is(2, "shape") || !is(3, "[")) return std::nullopt;
  const bool from_end = is(4, "-");
  const std::size_t number = from_end ? 5 : 4;
  if (at + number >= tokens.size() || !is(number + 1, "]")) return std::nullopt;
  std::size_t index = 0;
  const std::string& text = tokens[at + number];
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), index);
  const std::size_t rank = tensor->shape->size();
  if (problem != std::errc{} || end != text.data() + text.size() || index > rank) return std::nullopt;
  const std::size_t place = from_end ? rank - index : index;
  if (place >= rank) return std::nullopt;
  return std::pair{(*tensor->shape)[place], number + 2};
}

}  // namespace

std::optional<std::string> over_axes(const std::string& constraint, const Definition& definition) {
  const std::vector<std::string> tokens = python_tokens(constraint);
  std::string out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string& token = tokens[i];
    if (const auto axis = shape_axis(tokens, i, definition)) {
      out += axis->first + " ";
      i += axis->second - 1;
    } else if (token == "and" || token == "or") {
      out += token == "and" ? "&& " : "|| ";
    } else if (token == "//") {
      out += "/ ";
    } else if (token == "/" || token == "**" || token == "not" || token == "max" || token == "min" || token == "cdiv") {
      return std::nullopt;  // real division and powers; names of the other grammar, where `not` binds less than `!`
    } else if (std::isalpha(static_cast<unsigned char>(token[0])) != 0 || token[0] == '_') {
      if (!is_axis(definition, token)) return std::nullopt;
      out += token + " ";
    } else {
      out += token + " ";
    }
  }
  // `a < b < c` is no expression of the other grammar, so it is not taken for another one either.
  if (base::expression_fault(out)) return std::nullopt;
  return std::string(base::trimmed(out));
}

std::optional<LastElement> last_element_in(const std::string& constraint, const Definition& definition) {
  const std::vector<std::string> tokens = python_tokens(constraint);
  static const std::vector<std::string> kLast{"[", "-", "1", "]", ".", "item", "(", ")"};
  const auto reads = [&](std::size_t axis, std::size_t equals, std::size_t input) -> std::optional<LastElement> {
    if (tokens.size() != kLast.size() + 3 || tokens[equals] != "==") return std::nullopt;
    const auto tail = tokens.begin() + static_cast<std::ptrdiff_t>(input) + 1;
    if (!std::equal(kLast.begin(), kLast.end(), tail)) return std::nullopt;
    const Tensor* const tensor = find_tensor(definition, tokens[input]);
    if (tensor == nullptr || !tensor->shape || tensor->shape->size() != 1 || !is_axis(definition, tokens[axis]))
      return std::nullopt;
    return LastElement{tokens[axis], tokens[input]};
  };
  if (const auto axis_first = reads(0, 1, 2)) return axis_first;
  return reads(kLast.size() + 2, kLast.size() + 1, 0);
}

std::optional<bool> holds(const std::string& constraint, const Definition& definition, const model::AxisValues& axes) {
  const auto expression = over_axes(constraint, definition);
  if (!expression) return std::nullopt;
  const auto value = base::evaluate_expression(*expression, axes);
  if (!value) return std::nullopt;
  return *value != 0;
}

}  // namespace accelopt::suites::flashinfer_trace
