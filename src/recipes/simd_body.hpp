// SPDX-License-Identifier: Apache-2.0
// Writes the body of a loop for vectors of elements: one loop's iterations become the lanes of GCC vector types, and
// those of a second loop around it (rows) are unrolled and jammed, so that values live in vector registers.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "recipes/subject.hpp"

namespace accelopt::recipes {

/// An operand that is copied to a contiguous panel before use, because its lanes are strided or its lines are far
/// apart.
struct Packed {
  std::string panel;             ///< pointer to the copy
  syntax::Polynomial subscript;  ///< of the original
  syntax::Symbol base;
  const syntax::Statement* loop = nullptr;  ///< the inner loop that walks it
  syntax::Symbol index;                     ///< that loop's variable
};

/// A scalar that the lanes' loop accumulates.
struct Reduction {
  enum class Kind {
    sum,
    maximum,  ///< by a comparison
    minimum,
    maximum_number,  ///< by fmax, which passes over NaN
    minimum_number
  };
  Kind kind = Kind::sum;
  std::string target;  ///< as C text
  std::string part;    ///< the vector of partial results
  std::string key;
};

class SimdBody {
 public:
  /// `rows` may be null. The loops' bodies are those of `lanes`.
  SimdBody(Subject& subject, const Part& part, const syntax::Loop& lanes, const syntax::Loop* rows);
  SimdBody(const SimdBody&) = delete;
  SimdBody& operator=(const SimdBody&) = delete;

  enum class Packing { none, strided, all };

  /// What the rows' loop declares beside the lanes' loop will be kept for every row: it varies from row to row.
  void assume_split() { assume_split_ = true; }
  /// What is stored goes past the caches. Call before analyze.
  void stream_stores() { stream_ = true; }

  /// Decides whether the body can be written. @error unsupported: it cannot, with the reason.
  base::Result<void> analyze(Packing packing);

  /// The statements for `rows` rows (text of a constant) and `vectors` vectors, beginning at the loops' variables.
  [[nodiscard]] std::string emit(const std::string& rows, const std::string& vectors);
  /// Declarations of the reductions' partial results; and their folding into the targets after the loop.
  [[nodiscard]] std::string emit_reduction_start(const std::string& vectors) const;
  [[nodiscard]] std::string emit_reduction_end(const std::string& vectors) const;

  /// The operands to pack; the caller names their panels before it emits.
  [[nodiscard]] std::vector<Packed>& packed() { return packed_; }
  [[nodiscard]] const std::vector<Reduction>& reductions() const { return reductions_; }
  /// Vector accumulators that live across an inner loop: what fills the registers.
  [[nodiscard]] int accumulators() const { return accumulators_; }
  /// Whether computing an iteration twice gives the same result: nothing is read that the body itself has written
  /// before.
  [[nodiscard]] bool idempotent() const { return idempotent_; }
  [[nodiscard]] bool calls_exp() const { return helpers_.contains("exp"); }
  [[nodiscard]] bool calls_sqrt() const { return helpers_.contains("sqrt"); }
  [[nodiscard]] bool is_double() const { return element_ == "double"; }
  /// The helper functions that the text calls, for prelude().
  [[nodiscard]] const std::set<std::string>& helpers() const { return helpers_; }

 private:
  struct Local {
    std::string name;
    bool lanes = false;
    bool rows = false;
  };
  struct Value {
    std::string text;
    bool lanes = false;
    bool rows = false;
    bool integer = false;
  };
  struct Flow {
    bool lanes = false;
    bool rows = false;
  };

  // simd_analysis.cpp
  base::Result<void> check_statements(const std::vector<syntax::Statement>& statements);
  base::Result<void> check_statement(const syntax::Statement& statement);
  base::Result<void> check_assignment(const syntax::Expression& target, const std::string& operation,
                                      const syntax::Expression& value);
  base::Result<Flow> check_value(const syntax::Expression& expression);
  [[nodiscard]] bool is_declared_by_rows(const syntax::Symbol& symbol) const;
  base::Result<Flow> check_name(const syntax::Expression& expression);
  base::Result<Flow> check_element(const syntax::Expression& expression);
  base::Result<Flow> check_call(const syntax::Expression& expression);
  base::Result<void> check_loop(const syntax::Statement& statement);
  base::Result<void> check_branch(const syntax::Statement& statement);
  base::Result<void> add_reduction(const syntax::Expression& target, const std::string& operation,
                                   const syntax::Expression& value);
  base::Result<void> check_element_type(const std::string& type);
  base::Result<void> check_effects();
  [[nodiscard]] bool are_apart(const syntax::Polynomial& a, const syntax::Polynomial& b) const;

  // simd_emit.cpp
  void emit_statement(const syntax::Statement& statement);
  void emit_declaration(const syntax::Statement& statement);
  void emit_assignment(const syntax::Expression& target, const std::string& operation, const Value& value);
  void emit_reduction(const Reduction& reduction, const Value& value);
  void emit_loop(const syntax::Statement& statement);
  void emit_branch(const syntax::Statement& statement);
  void emit_each(bool rows, bool lanes, const std::string& statement);
  Value value(const syntax::Expression& expression);
  Value element(const syntax::Expression& expression, bool store);
  Value call(const syntax::Expression& expression);
  Value binary(const std::string& op, const Value& left, const Value& right);
  Value widened(const Value& value);
  [[nodiscard]] syntax::Polynomial placed(const syntax::Polynomial& subscript, bool lanes) const;
  [[nodiscard]] std::string indices(bool rows, bool lanes) const;
  [[nodiscard]] const Packed* packed_as(const syntax::ElementAccess& access) const;
  void line(const std::string& text);

  // shared
  [[nodiscard]] static std::string key(const syntax::ElementAccess& access);
  [[nodiscard]] static std::string key(const syntax::Expression& target, const syntax::IndexScope& scope);
  [[nodiscard]] const Reduction* reduction_of(const syntax::Expression& target) const;

  Subject& subject_;
  const Part& part_;
  const syntax::IndexScope& scope_;
  const syntax::Loop& lanes_;
  const syntax::Loop* rows_;
  std::vector<syntax::Statement> body_;  ///< what Packed::loop points into
  syntax::Symbol lane_;
  std::optional<syntax::Symbol> row_;
  Packing packing_ = Packing::strided;

  std::string element_;  ///< "float" or "double"; empty: not known yet
  std::map<std::int64_t, Local> locals_;
  std::vector<const syntax::Statement*> inner_;  ///< enclosing inner loops, while walking
  std::set<std::int64_t> inner_variables_;
  std::vector<Packed> packed_;
  std::vector<Reduction> reductions_;
  std::set<std::string> helpers_;
  std::set<std::string> written_;  ///< keys of elements written so far, while walking
  int accumulators_ = 0;
  bool idempotent_ = true;
  bool assume_split_ = false;
  bool stream_ = false;
  bool changed_ = false;  ///< a local became varying: walk again

  std::string out_;
  std::string indent_;
  std::string row_name_;
  std::string vector_name_;
  std::string row_count_;
  std::string vector_count_;
  std::map<std::string, std::string> promoted_;  ///< element key to the vectors that hold it across an inner loop
};

/// What a condition-and-assignment means: target = condition ? value : otherwise (or the target itself).
struct Selection {
  const syntax::Expression* target = nullptr;
  const syntax::Expression* condition = nullptr;
  const syntax::Expression* value = nullptr;
  const syntax::Expression* otherwise = nullptr;  ///< null: the target keeps its value
};
std::optional<Selection> selection_of(const syntax::Statement& branch);

/// `target` op= `value` when the expression accumulates: sums, and maxima and minima in their usual spellings.
struct Accumulation {
  Reduction::Kind kind = Reduction::Kind::sum;
  const syntax::Expression* value = nullptr;
  bool negative = false;  ///< the value is subtracted
};
std::optional<Accumulation> accumulation_of(const syntax::Expression& target, const std::string& operation,
                                            const syntax::Expression& value);
std::optional<Accumulation> accumulation_of(const Selection& selection);

/// Whether two expressions are the same text apart from layout.
bool same(const syntax::Expression& a, const syntax::Expression& b);
/// Whether `inside` occurs in the expression.
bool occurs(const syntax::Expression& expression, const syntax::Expression& inside);
/// The plain name of a known mathematical function: "exp" for expf, std::exp; empty for others.
std::string math_function(const std::string& callee);

/// The helper that joins two partial results: "fmax" for simd_fmax; empty for a sum, which is joined by `+`.
std::string combiner_of(Reduction::Kind kind);
/// The helper that joins a vector's lanes: "sum" for simd_sum.
std::string fold_of(Reduction::Kind kind);

/// The kernel's text with the helper types and functions put before `function`, those that are there already left out.
std::string with_prelude(const Subject& subject, std::string source, const std::string& function,
                         const std::set<std::string>& helpers, const std::string& element);

/// Names in generated text for an element type: "simd_f32", "simd_width".
std::string simd_type(const std::string& element);
std::string simd_width(const std::string& element);

/// Of two values, giving a truth value.
inline bool is_comparison(const std::string& op) {
  return op == "<" || op == ">" || op == "<=" || op == ">=" || op == "==" || op == "!=";
}

}  // namespace accelopt::recipes
