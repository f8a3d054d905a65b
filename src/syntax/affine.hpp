// SPDX-License-Identifier: Apache-2.0
// Integer index expressions as polynomials over variables, and what they say about strides.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "syntax/source.hpp"

namespace accelopt::syntax {

/// A variable, told apart from others of the same name by where it is declared.
struct Symbol {
  std::string name;
  std::int64_t declaration = -1;
  auto operator<=>(const Symbol&) const = default;
};

/// A product of symbols, sorted; empty: the constant term.
using Monomial = std::vector<Symbol>;

/// A sum of monomials with integer coefficients. Constants known to the compiler (enumerators, constexpr) stay symbols,
/// so that text made from it keeps their names; `constants` of Affine gives their values.
class Polynomial {
 public:
  Polynomial() = default;
  explicit Polynomial(std::int64_t constant);
  explicit Polynomial(const Symbol& symbol);

  Polynomial& operator+=(const Polynomial& other);
  Polynomial& operator-=(const Polynomial& other);
  friend Polynomial operator+(Polynomial a, const Polynomial& b) { return a += b; }
  friend Polynomial operator-(Polynomial a, const Polynomial& b) { return a -= b; }
  friend Polynomial operator*(const Polynomial& a, const Polynomial& b);
  bool operator==(const Polynomial&) const = default;

  [[nodiscard]] bool is_zero() const { return terms_.empty(); }
  [[nodiscard]] bool is_constant() const {
    return terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty());
  }
  [[nodiscard]] bool uses(const Symbol& symbol) const;
  [[nodiscard]] std::vector<Symbol> symbols() const;
  /// What one more of the symbol adds. None when it occurs with a power over one.
  [[nodiscard]] std::optional<Polynomial> coefficient(const Symbol& symbol) const;
  /// With the symbol replaced everywhere.
  [[nodiscard]] Polynomial replaced(const Symbol& symbol, const Polynomial& by) const;
  /// The value, where every symbol has one.
  [[nodiscard]] std::optional<std::int64_t> value(const std::map<Symbol, std::int64_t>& values) const;
  /// C text, e.g. "i * K + k + 1"; "0" for zero.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] const std::map<Monomial, std::int64_t>& terms() const { return terms_; }

 private:
  void add(const Monomial& monomial, std::int64_t factor);
  std::map<Monomial, std::int64_t> terms_;
};

/// What index expressions of one function may be resolved through.
struct IndexScope {
  /// Integer variables that never change after their declaration, with their initializers; pointers likewise.
  std::map<std::int64_t, Expression> definitions;
  /// Variables that change after their declaration, loop variables of canonical loops excepted: they index nothing
  /// reliably.
  std::set<std::int64_t> mutated;
  /// Values of the symbols that are compile-time constants.
  std::map<Symbol, std::int64_t> constants;
};

/// Collects the scope of a function: variables assigned only where they are declared, and constants.
IndexScope index_scope(const Function& function);

/// The expression as a polynomial, definitions resolved. None: not one (division, call, floating point, ...).
std::optional<Polynomial> polynomial(const Expression& expression, const IndexScope& scope);

/// An element of an array: `base[subscript]`, with pointers resolved to what they point into.
struct ElementAccess {
  Symbol base;
  std::optional<Polynomial> subscript;  ///< none: not a polynomial, or more than one dimension
  Extent extent;                        ///< of the whole access
  Extent index;                         ///< of what stands between the brackets; empty for a dereference
  bool write = false;
  bool read = false;
};

/// The element that a subscript or dereference expression names. None: the expression is neither.
std::optional<ElementAccess> element_access(const Expression& expression, const IndexScope& scope);

}  // namespace accelopt::syntax
