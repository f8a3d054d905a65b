// SPDX-License-Identifier: Apache-2.0
#include "scaffold/earlier_calls.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "scaffold/words.hpp"

namespace accelopt::scaffold {
namespace {

using syntax::Expression;
using syntax::ExpressionKind;
using syntax::Statement;

/// A product: of numbers, and of names in any order.
struct Product {
  std::int64_t number = 1;
  std::multiset<std::string> names;
  bool operator==(const Product&) const = default;
};

class CallReader {
 public:
  CallReader(const syntax::Unit& unit, const Signature& signature, const KernelParameter& parameter, std::size_t end)
      : unit_(unit), signature_(signature), parameter_(parameter), end_(end) {}

  EarlierCall read(const Statement& body) const {
    for (const Statement& statement : body.children) {
      if (statement.extent.begin >= end_) break;
      if (statement.kind == syntax::StatementKind::expression && statement.expression && fills(*statement.expression))
        return EarlierCall::fills;
      if (is_given(statement)) return EarlierCall::unknown;
    }
    return EarlierCall::none;
  }

 private:
  [[nodiscard]] bool is_given(const Statement& statement) const {
    if (statement.extent.begin >= end_) return false;
    const auto in_call = [&](const std::optional<Expression>& one) { return one && is_given(*one); };
    return in_call(statement.expression) ||
           (statement.loop && (in_call(statement.loop->begin) || in_call(statement.loop->end))) ||
           std::ranges::any_of(statement.variables, [&](const auto& one) { return in_call(one.initializer); }) ||
           std::ranges::any_of(statement.children, [&](const Statement& child) { return is_given(child); });
  }

  [[nodiscard]] bool is_given(const Expression& expression) const {
    if (expression.extent.begin >= end_) return false;
    const bool may_use = expression.kind == ExpressionKind::call || expression.kind == ExpressionKind::other;
    const auto passes_on = [&](const Expression& one) { return passes(one); };
    if (may_use && std::ranges::any_of(expression.operands, passes_on)) return true;
    return std::ranges::any_of(expression.operands, [&](const Expression& one) { return is_given(one); });
  }

  /// Whether the expression is a place in the tensor, and not one of its elements.
  [[nodiscard]] bool passes(const Expression& expression) const {
    if (expression.kind == ExpressionKind::name) return expression.text == parameter_.name;
    const bool is_address = expression.kind == ExpressionKind::unary && expression.text == "&";
    if (is_address && !expression.operands.empty()) return has_word(unit_.text(expression.extent), parameter_.name);
    if (expression.kind == ExpressionKind::subscript || expression.kind == ExpressionKind::unary) return false;
    return std::ranges::any_of(expression.operands, [&](const Expression& one) { return passes(one); });
  }

  [[nodiscard]] std::string text_of(const Expression& expression) const {
    std::string text(unit_.text(expression.extent));
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\t'; });
    return text;
  }

  static const Expression& without_casts(const Expression& expression) {
    const Expression* inner = &expression;
    while (inner->kind == ExpressionKind::cast && inner->operands.size() == 1) inner = &inner->operands[0];
    return *inner;
  }

  [[nodiscard]] bool fills(const Expression& call) const {
    if (call.kind != ExpressionKind::call || call.operands.size() < 2 || !parameter_.shape) return false;
    const std::string name = call.text.substr(call.text.starts_with("std::") ? 5 : 0);
    const std::string first = text_of(without_casts(call.operands[0]));
    const bool is_container = parameter_.type.form == ParameterForm::container;
    if (name == "ranges::fill") return is_container && first == parameter_.name;
    const bool is_begin = is_container ? first == parameter_.name + (name == "memset" ? ".data()" : ".begin()")
                                       : first == parameter_.name;
    if (!is_begin) return false;
    if (name == "fill_n") return is_whole(call.operands[1], 1);
    if (name == "memset" && call.operands.size() == 3) {
      if (is_container && text_of(call.operands[2]) == parameter_.name + ".size_bytes()") return true;
      return is_whole(call.operands[2], static_cast<std::int64_t>(model::size_of(parameter_.dtype)));
    }
    if (name != "fill" || call.operands.size() != 3) return false;
    const Expression& last = without_casts(call.operands[1]);
    if (is_container) return text_of(last) == parameter_.name + ".end()";
    return last.kind == ExpressionKind::binary && last.text == "+" && text_of(last.operands[0]) == parameter_.name &&
           is_whole(last.operands[1], 1);
  }

  /// Whether the number is that of all elements, each counted `size` times.
  [[nodiscard]] bool is_whole(const Expression& count, std::int64_t size) const {
    Product counted;
    Product whole{size, {}};
    for (const std::string& axis : *parameter_.shape) multiply_axis(*signature_.axis(axis), whole);
    return multiply(count, counted) && counted == whole;
  }

  /// An axis is a number where it has one, else the name by which the function calls it.
  void multiply_axis(const KernelAxis& axis, Product& product) const {
    if (axis.constant) {
      product.number *= *axis.constant;
      return;
    }
    const auto passed = std::ranges::find_if(signature_.parameters, [&](const KernelParameter& one) {
      return one.role == ParameterRole::axis && one.axis == axis.name;
    });
    // One that no parameter is is the size of a container, or follows from others: no name says it.
    product.names.insert(passed == signature_.parameters.end() ? "?" + axis.name : passed->name);
  }

  /// False: a factor is neither a number nor a name.
  bool multiply(const Expression& given, Product& product) const {
    const Expression& factor = without_casts(given);
    if (factor.kind == ExpressionKind::binary && factor.text == "*")
      return multiply(factor.operands[0], product) && multiply(factor.operands[1], product);
    const std::string text = text_of(factor);
    if (text.starts_with("sizeof")) {
      if (!is_size_of_element(text.substr(6))) return false;
      product.number *= static_cast<std::int64_t>(model::size_of(parameter_.dtype));
      return true;
    }
    if (factor.value) {
      product.number *= *factor.value;
      return true;
    }
    if (factor.kind == ExpressionKind::name) {
      if (const KernelAxis* const axis = signature_.axis(text); axis != nullptr && axis->constant)
        multiply_axis(*axis, product);
      else
        product.names.insert(text);
      return true;
    }
    if (text != parameter_.name + ".size()") return false;
    for (const std::string& axis : *parameter_.shape) multiply_axis(*signature_.axis(axis), product);
    return true;
  }

  /// Of what stands behind `sizeof`, without blanks.
  [[nodiscard]] bool is_size_of_element(std::string text) const {
    if (text.starts_with("(") && text.ends_with(")")) text = text.substr(1, text.size() - 2);
    if (text == "*" + parameter_.name || text == parameter_.name + "[0]") return true;
    if (!parameter_.type.record.empty()) return false;
    const auto dtype = dtype_of(text);
    return dtype ? model::size_of(*dtype) == model::size_of(parameter_.dtype)
                 : text != parameter_.name && has_word(parameter_.declaration, text);
  }

  const syntax::Unit& unit_;
  const Signature& signature_;
  const KernelParameter& parameter_;
  std::size_t end_;
};

}  // namespace

EarlierCall earlier_call(const syntax::Unit& unit, const syntax::Function& function, const Signature& signature,
                         const KernelParameter& parameter, std::size_t end) {
  return CallReader(unit, signature, parameter, end).read(function.block);
}

}  // namespace accelopt::scaffold
