// SPDX-License-Identifier: Apache-2.0
// The static cost model: how much of a kernel's time a nest takes, and what kind of nest it is.
#include <algorithm>
#include <cmath>

#include "recipes/recipes.hpp"

namespace accelopt::recipes {
namespace {

using syntax::Expression;
using syntax::ExpressionKind;
using syntax::Loop;
using syntax::Statement;

/// Iterations of a loop whose trip count only the run knows.
constexpr double kUnknownTrip = 200;
/// Cycles an operation, roughly: a load from cache, one from a line of its own, a call of libm, a division or root.
constexpr double kLoad = 1;
constexpr double kStridedLoad = 6;
constexpr double kCall = 20;
constexpr double kDivision = 5;
/// Measured: vector code with values held in registers against the plain loops that it replaces (copies for remainders
/// included).
constexpr double kVectorGain = 60;

double trip_of(const Loop& loop, const syntax::IndexScope& scope) {
  const auto known = trip_count(loop, scope);
  return known ? std::max(1.0, static_cast<double>(*known)) : kUnknownTrip;
}

double expression_cost(const Expression& expression, const Loop* innermost, const syntax::IndexScope& scope) {
  double cost = 0;
  for (const Expression& operand : expression.operands) cost += expression_cost(operand, innermost, scope);
  switch (expression.kind) {
    case ExpressionKind::subscript: {
      const auto access = syntax::element_access(expression, scope);
      if (innermost == nullptr || !access || !access->subscript) return cost + kLoad;
      const auto stride = access->subscript->coefficient(innermost->symbol());
      if (!stride) return cost + kStridedLoad;
      if (stride->is_zero() || *stride == syntax::Polynomial(1)) return kLoad;
      return kStridedLoad;
    }
    case ExpressionKind::call:
      return cost + kCall;
    case ExpressionKind::binary:
      return cost + (expression.text == "/" ? kDivision : 1);
    case ExpressionKind::assign:
      return cost + (expression.text == "/=" ? kDivision : expression.text == "=" ? 0 : 2);
    default:
      return cost;
  }
}

double statement_cost(const Statement& statement, const Loop* innermost, const syntax::IndexScope& scope) {
  double cost = statement.expression ? expression_cost(*statement.expression, innermost, scope) : 0;
  for (const syntax::Variable& variable : statement.variables) {
    if (variable.initializer) cost += expression_cost(*variable.initializer, innermost, scope);
  }
  for (const Statement& child : statement.children) {
    if (!child.loop) cost += statement_cost(child, innermost, scope);
  }
  return cost;
}

double loop_cost(const Subject& subject, const Loop& loop, const syntax::IndexScope& scope) {
  // Vector loops continue a variable that was declared before them; their work is counted in the loops for what is left
  // over.
  if (subject.is_generated(loop) && loop.header().variable.empty()) return 0;
  double body = 1;
  for (const Statement* statement : loop.body) {
    if (!statement->loop) body += statement_cost(*statement, &loop, scope);
  }
  for (const Loop* child : loop.children) body += loop_cost(subject, *child, scope);
  const double cost = body * trip_of(loop, scope);
  // What a recipe has written for vectors already is about this much faster than the plain loops that the model counts.
  const bool outermost = loop.parent == nullptr || !subject.is_generated(*loop.parent);
  return subject.is_generated(loop) && outermost ? cost / kVectorGain : cost;
}

bool assigns_outer(const Loop& loop, const syntax::Effects& effects) {
  return std::any_of(effects.scalars_assigned.begin(), effects.scalars_assigned.end(),
                     [&](const syntax::Symbol& symbol) {
                       const auto at = static_cast<std::size_t>(std::max<std::int64_t>(0, symbol.declaration));
                       return !(at > loop.statement->extent.begin && at < loop.statement->extent.end);
                     });
}

const Loop& innermost_of(const Loop& loop) {
  const Loop* at = &loop;
  while (!at->children.empty()) at = at->children.front();
  return *at;
}

}  // namespace

NestCost cost_of(const Subject& subject, const Part& part, const Loop& loop) {
  const syntax::IndexScope& scope = part.tree->scope();
  double total = 0;
  for (const auto& other : part.tree->loops()) {
    if (other->parent == nullptr) total += loop_cost(subject, *other, scope);
  }
  NestCost result;
  result.iterations = trip_of(loop, scope);
  double mine = loop_cost(subject, loop, scope);
  for (const Loop* outer = loop.parent; outer != nullptr; outer = outer->parent) mine *= trip_of(*outer, scope);
  result.share = total > 0 ? std::min(1.0, mine / total) : 0;
  return result;
}

double overall(double share, double gain) {
  return 1.0 / ((1.0 - share) + share / std::max(gain, 1e-3));
}

std::string shape_of(const Subject& subject, const Part& part, const Loop& loop) {
  const syntax::IndexScope& scope = part.tree->scope();
  int depth = 1;
  for (const Loop* at = &loop; !at->children.empty(); at = at->children.front()) ++depth;
  const Loop& inner = innermost_of(loop);
  const syntax::Effects effects = syntax::effects_of(body_of(inner), scope);
  bool strided = false;
  bool irregular = effects.opaque;
  for (const syntax::ElementAccess& access : effects.accesses) {
    const auto stride = access.subscript ? access.subscript->coefficient(inner.symbol()) : std::nullopt;
    irregular = irregular || !stride;
    strided = strided || (stride && !stride->is_zero() && *stride != syntax::Polynomial(1));
  }
  std::string result = "d" + std::to_string(depth);
  result += assigns_outer(inner, effects) ? ".reduction" : ".map";
  result += irregular ? ".irregular" : strided ? ".strided" : ".unit";
  if (!effects.calls.empty()) result += ".calls";
  if (subject.is_generated(loop)) result += ".vectors";
  return result;
}

}  // namespace accelopt::recipes
