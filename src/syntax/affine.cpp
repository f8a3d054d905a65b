// SPDX-License-Identifier: Apache-2.0
#include "syntax/affine.hpp"

#include <algorithm>
#include <set>

namespace accelopt::syntax {

Polynomial::Polynomial(std::int64_t constant) {
  add({}, constant);
}
Polynomial::Polynomial(const Symbol& symbol) {
  add({symbol}, 1);
}

void Polynomial::add(const Monomial& monomial, std::int64_t factor) {
  if (factor == 0) return;
  const auto [place, inserted] = terms_.try_emplace(monomial, 0);
  place->second += factor;
  if (place->second == 0) terms_.erase(place);
}

Polynomial& Polynomial::operator+=(const Polynomial& other) {
  for (const auto& [monomial, factor] : other.terms_) add(monomial, factor);
  return *this;
}

Polynomial& Polynomial::operator-=(const Polynomial& other) {
  for (const auto& [monomial, factor] : other.terms_) add(monomial, -factor);
  return *this;
}

Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  Polynomial result;
  for (const auto& [left, left_factor] : a.terms_) {
    for (const auto& [right, right_factor] : b.terms_) {
      Monomial product = left;
      product.insert(product.end(), right.begin(), right.end());
      std::sort(product.begin(), product.end());
      result.add(product, left_factor * right_factor);
    }
  }
  return result;
}

bool Polynomial::uses(const Symbol& symbol) const {
  return std::any_of(terms_.begin(), terms_.end(), [&](const auto& term) {
    return std::find(term.first.begin(), term.first.end(), symbol) != term.first.end();
  });
}

std::vector<Symbol> Polynomial::symbols() const {
  std::set<Symbol> result;
  for (const auto& [monomial, factor] : terms_) result.insert(monomial.begin(), monomial.end());
  return {result.begin(), result.end()};
}

std::optional<Polynomial> Polynomial::coefficient(const Symbol& symbol) const {
  Polynomial result;
  for (const auto& [monomial, factor] : terms_) {
    const auto count = std::count(monomial.begin(), monomial.end(), symbol);
    if (count > 1) return std::nullopt;
    if (count == 0) continue;
    Monomial rest = monomial;
    rest.erase(std::find(rest.begin(), rest.end(), symbol));
    result.add(rest, factor);
  }
  return result;
}

Polynomial Polynomial::replaced(const Symbol& symbol, const Polynomial& by) const {
  Polynomial result;
  for (const auto& [monomial, factor] : terms_) {
    Polynomial product(factor);
    for (const Symbol& part : monomial) product = product * (part == symbol ? by : Polynomial(part));
    result += product;
  }
  return result;
}

std::optional<std::int64_t> Polynomial::value(const std::map<Symbol, std::int64_t>& values) const {
  std::int64_t sum = 0;
  for (const auto& [monomial, factor] : terms_) {
    std::int64_t product = factor;
    for (const Symbol& symbol : monomial) {
      const auto found = values.find(symbol);
      if (found == values.end()) return std::nullopt;
      product *= found->second;
    }
    sum += product;
  }
  return sum;
}

std::string Polynomial::text() const {
  if (terms_.empty()) return "0";
  std::string result;
  const auto append = [&](const Monomial& monomial, std::int64_t factor) {
    const std::int64_t magnitude = factor < 0 ? -factor : factor;
    result += result.empty() ? (factor < 0 ? "-" : "") : (factor < 0 ? " - " : " + ");
    std::string product = magnitude != 1 || monomial.empty() ? std::to_string(magnitude) : "";
    for (const Symbol& symbol : monomial) product += (product.empty() ? "" : " * ") + symbol.name;
    result += product;
  };
  // Positive terms first, longest first, so that "K * i + k - 1" reads as people write it.
  std::vector<std::pair<Monomial, std::int64_t>> ordered(terms_.begin(), terms_.end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    if ((a.second > 0) != (b.second > 0)) return a.second > 0;
    return a.first.size() > b.first.size();
  });
  for (const auto& [monomial, factor] : ordered) append(monomial, factor);
  return result;
}

namespace {

using Definitions = std::map<std::int64_t, Expression>;

void collect_assigned(const Expression& expression, std::set<std::int64_t>& assigned) {
  const bool changes = expression.kind == ExpressionKind::assign ||
                       (expression.kind == ExpressionKind::unary &&
                        (expression.text.ends_with("++") || expression.text.ends_with("--") || expression.text == "&"));
  if (changes && expression.operands[0].kind == ExpressionKind::name)
    assigned.insert(expression.operands[0].declaration);
  for (const Expression& operand : expression.operands) collect_assigned(operand, assigned);
}

void collect_constants(const Expression& expression, IndexScope& scope) {
  if (expression.kind == ExpressionKind::name && expression.value) {
    scope.constants[{expression.text, expression.declaration}] = *expression.value;
  }
  for (const Expression& operand : expression.operands) collect_constants(operand, scope);
}

bool is_integer_type(const std::string& type) {
  static const std::set<std::string> kTypes = {
      "int",         "long",         "long long",      "unsigned int", "unsigned long", "unsigned long long",
      "int64_t",     "int32_t",      "size_t",         "ptrdiff_t",    "uint64_t",      "uint32_t",
      "std::size_t", "std::int64_t", "std::ptrdiff_t", "short",        "unsigned"};
  return kTypes.contains(type.starts_with("const ") ? type.substr(6) : type);
}

bool is_pointer_type(const std::string& type) {
  return type.find('*') != std::string::npos;
}

void collect_scope(const Statement& statement, IndexScope& scope, std::set<std::int64_t>& assigned) {
  if (statement.expression) {
    collect_assigned(*statement.expression, assigned);
    collect_constants(*statement.expression, scope);
  }
  for (const Variable& variable : statement.variables) {
    if (!variable.initializer) continue;
    collect_assigned(*variable.initializer, assigned);
    collect_constants(*variable.initializer, scope);
    const std::string& type =
        variable.type == "auto" || variable.type == "const auto" ? variable.initializer->type : variable.type;
    if (variable.dimensions.empty() && (is_integer_type(type) || is_pointer_type(type))) {
      scope.definitions[variable.declaration] = *variable.initializer;
    }
  }
  if (statement.loop) {
    if (!statement.loop->canonical && statement.loop->declaration >= 0) assigned.insert(statement.loop->declaration);
    for (const auto& bound : {statement.loop->begin, statement.loop->end}) {
      if (bound) collect_constants(*bound, scope);
    }
  }
  for (const Statement& child : statement.children) collect_scope(child, scope, assigned);
}

}  // namespace

IndexScope index_scope(const Function& function) {
  IndexScope scope;
  collect_scope(function.block, scope, scope.mutated);
  for (const std::int64_t declaration : scope.mutated) scope.definitions.erase(declaration);
  return scope;
}

std::optional<Polynomial> polynomial(const Expression& expression, const IndexScope& scope) {
  switch (expression.kind) {
    case ExpressionKind::integer:
      if (!expression.value) return std::nullopt;
      return Polynomial(*expression.value);
    case ExpressionKind::name: {
      const auto defined = scope.definitions.find(expression.declaration);
      if (expression.declaration >= 0 && defined != scope.definitions.end()) {
        if (is_pointer_type(defined->second.type)) return std::nullopt;
        if (auto resolved = polynomial(defined->second, scope)) return resolved;
      }
      if (expression.type.find("float") != std::string::npos || expression.type.find("double") != std::string::npos) {
        return std::nullopt;
      }
      if (scope.mutated.contains(expression.declaration)) return std::nullopt;
      return Polynomial(Symbol{expression.text, expression.declaration});
    }
    case ExpressionKind::cast:
      return is_integer_type(expression.type) || is_integer_type(expression.text)
                 ? polynomial(expression.operands[0], scope)
                 : std::nullopt;
    case ExpressionKind::unary: {
      if (expression.text != "-" && expression.text != "+") return std::nullopt;
      auto operand = polynomial(expression.operands[0], scope);
      if (!operand || expression.text == "+") return operand;
      return Polynomial() - *operand;
    }
    case ExpressionKind::binary: {
      if (expression.text != "+" && expression.text != "-" && expression.text != "*") return std::nullopt;
      const auto left = polynomial(expression.operands[0], scope);
      const auto right = polynomial(expression.operands[1], scope);
      if (!left || !right) return std::nullopt;
      return expression.text == "+" ? *left + *right : expression.text == "-" ? *left - *right : *left * *right;
    }
    default:
      return std::nullopt;
  }
}

namespace {

/// Resolves a pointer-valued expression to a base and an offset from it.
struct Place {
  Symbol base;
  std::optional<Polynomial> offset;
};

std::optional<Place> place_of(const Expression& pointer, const IndexScope& scope, int depth) {
  if (depth > 16) return std::nullopt;
  if (pointer.kind == ExpressionKind::name) {
    const auto defined = scope.definitions.find(pointer.declaration);
    if (pointer.declaration >= 0 && defined != scope.definitions.end() && is_pointer_type(defined->second.type)) {
      // Where the offset is not a polynomial (a division, say), the pointer itself serves as the base.
      if (auto place = place_of(defined->second, scope, depth + 1); place && place->offset) return place;
    }
    return Place{{pointer.text, pointer.declaration}, Polynomial()};
  }
  if (pointer.kind == ExpressionKind::binary && (pointer.text == "+" || pointer.text == "-")) {
    const bool left_is_pointer =
        is_pointer_type(pointer.operands[0].type) || pointer.operands[0].type.find('[') != std::string::npos;
    if (!left_is_pointer && pointer.text == "-") return std::nullopt;
    auto place = place_of(pointer.operands[left_is_pointer ? 0 : 1], scope, depth + 1);
    const auto offset = polynomial(pointer.operands[left_is_pointer ? 1 : 0], scope);
    if (!place) return std::nullopt;
    if (!offset || !place->offset) {
      place->offset = std::nullopt;
    } else {
      *place->offset = pointer.text == "+" ? *place->offset + *offset : *place->offset - *offset;
    }
    return place;
  }
  if (pointer.kind == ExpressionKind::unary && pointer.text == "&" &&
      pointer.operands[0].kind == ExpressionKind::subscript) {
    const auto element = element_access(pointer.operands[0], scope);
    if (!element) return std::nullopt;
    return Place{element->base, element->subscript};
  }
  return std::nullopt;
}

}  // namespace

std::optional<ElementAccess> element_access(const Expression& expression, const IndexScope& scope) {
  ElementAccess result;
  result.extent = expression.extent;
  if (expression.kind == ExpressionKind::unary && expression.text == "*") {
    const auto place = place_of(expression.operands[0], scope, 0);
    if (!place) return std::nullopt;
    result.base = place->base;
    result.subscript = place->offset;
    return result;
  }
  if (expression.kind != ExpressionKind::subscript) return std::nullopt;
  const Expression* base = &expression.operands[0];
  if (base->kind == ExpressionKind::subscript) {
    while (base->kind == ExpressionKind::subscript) base = &base->operands[0];
    result.base = {base->text, base->declaration};
    return result;
  }
  const auto place = place_of(*base, scope, 0);
  if (!place) return std::nullopt;
  result.base = place->base;
  const auto index = polynomial(expression.operands[1], scope);
  if (index && place->offset) result.subscript = *place->offset + *index;
  result.index = expression.operands[1].extent;
  return result;
}

}  // namespace accelopt::syntax
