// SPDX-License-Identifier: Apache-2.0
// Scalar replacement, and hoisting of what an innermost loop computes again and again.
#include <algorithm>

#include "recipes/legality.hpp"
#include "recipes/recipes.hpp"

namespace accelopt::recipes {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using syntax::ElementAccess;
using syntax::Expression;
using syntax::ExpressionKind;
using syntax::Loop;
using syntax::Statement;

bool is_floating(const std::string& type) {
  return type == "float" || type == "double";
}

// ---- scalar replacement

/// Elements that the innermost loop writes at a place that does not change: each base once.
std::vector<ElementAccess> kept_elements(const Part& part, const Loop& loop) {
  std::vector<ElementAccess> result;
  if (!loop.children.empty() || !loop.header().canonical) return result;
  const syntax::Effects effects = syntax::effects_of(body_of(loop), part.tree->scope());
  if (effects.opaque) return result;
  for (const ElementAccess& write : effects.accesses) {
    if (!write.write || !write.subscript || write.subscript->uses(loop.symbol())) continue;
    const bool fixed = std::all_of(effects.accesses.begin(), effects.accesses.end(), [&](const ElementAccess& other) {
      return other.base != write.base || (other.subscript && *other.subscript == *write.subscript);
    });
    const bool constant_symbols = [&] {
      for (const syntax::Symbol& symbol : write.subscript->symbols()) {
        if (std::find(effects.declared.begin(), effects.declared.end(), symbol) != effects.declared.end()) return false;
        if (std::find(effects.scalars_assigned.begin(), effects.scalars_assigned.end(), symbol) !=
            effects.scalars_assigned.end())
          return false;
      }
      return true;
    }();
    const bool known =
        std::any_of(result.begin(), result.end(), [&](const ElementAccess& other) { return other.base == write.base; });
    if (fixed && constant_symbols && !known) result.push_back(write);
  }
  return result;
}

std::optional<std::string> element_type(const Statement& statement, const syntax::Extent& place);

std::optional<std::string> element_type(const Expression& expression, const syntax::Extent& place) {
  if (expression.extent == place && (expression.kind == ExpressionKind::subscript || expression.text == "*"))
    return expression.type;
  for (const Expression& operand : expression.operands) {
    if (auto found = element_type(operand, place)) return found;
  }
  return std::nullopt;
}

std::optional<std::string> element_type(const Statement& statement, const syntax::Extent& place) {
  if (statement.expression) {
    if (auto found = element_type(*statement.expression, place)) return found;
  }
  for (const syntax::Variable& variable : statement.variables) {
    if (!variable.initializer) continue;
    if (auto found = element_type(*variable.initializer, place)) return found;
  }
  for (const Statement& child : statement.children) {
    if (auto found = element_type(child, place)) return found;
  }
  return std::nullopt;
}

Result<std::string> replace_scalars(const syntax::Clang&, Subject& subject, const Application& application) {
  TRY_ASSIGN(const Place place, subject.find(application.location));
  const auto kept = kept_elements(*place.part, *place.loop);
  if (kept.empty()) return fail(ErrorCode::unsupported, "no element stays the same through the loop");
  const syntax::Effects effects = syntax::effects_of(body_of(*place.loop), place.part->tree->scope());
  syntax::Edits edits;
  const syntax::Extent whole = with_pragmas(subject, *place.loop);
  const std::string indent = syntax::indentation_at(subject.unit().source, whole.begin);
  std::string before = "{\n";
  std::string after;
  for (const ElementAccess& element : kept) {
    const std::string name = subject.fresh("kept_" + element.base.name);
    const auto type = element_type(*place.loop->statement, element.extent);
    if (!type) return fail(ErrorCode::unsupported, "the type of an element is not known");
    const std::string text(subject.text(element.extent));
    before += indent + *type + " " + name + " = " + text + ";\n";
    after += "\n" + indent + text + " = " + name + ";";
    for (const ElementAccess& access : effects.accesses) {
      if (access.base == element.base && access.extent.begin != element.extent.begin)
        edits.replace(access.extent, name);
    }
    edits.replace(element.extent, name);
  }
  edits.insert(whole.begin, before + indent);
  edits.insert(whole.end, after + "\n" + indent + "}");
  return edits.apply(subject.unit().source);
}

void propose_scalars(const syntax::Clang&, Subject& subject, std::vector<Application>& result) {
  for (const Part& part : subject.parts()) {
    for (const auto& loop : part.tree->loops()) {
      if (subject.is_generated(*loop) || kept_elements(part, *loop).empty()) continue;
      Application application;
      application.recipe = "scalar replacement";
      application.location = Subject::location(part, *loop);
      application.title = "Keep the element that the loop " + loop->path + " accumulates in a variable";
      application.text =
          "Scalar replacement: the loop updates one array element over and over. A local variable takes its place "
          "during the loop, "
          "so that it stays in a register: the compiler cannot do it where the array may overlap what the loop reads.";
      application.prior = overall(std::min(0.97, cost_of(subject, part, *loop).share), 1.5);
      application.shape = shape_of(subject, part, *loop);
      result.push_back(std::move(application));
    }
  }
}

// ---- hoisting

void find_invariant(const Expression& expression, const Loop& loop, const syntax::IndexScope& scope,
                    std::vector<const Expression*>& result) {
  const bool computes = expression.kind == ExpressionKind::call || expression.kind == ExpressionKind::binary;
  if (computes && is_floating(expression.type) && !varies(expression, loop, scope)) {
    result.push_back(&expression);
    return;
  }
  if (expression.kind == ExpressionKind::subscript) return;
  for (const Expression& operand : expression.operands) find_invariant(operand, loop, scope, result);
}

/// Divisions by what does not change: a multiplication by the reciprocal takes their place.
void find_divisors(const Expression& expression, const Loop& loop, const syntax::IndexScope& scope,
                   std::vector<const Expression*>& result) {
  const bool divides = (expression.kind == ExpressionKind::binary && expression.text == "/") ||
                       (expression.kind == ExpressionKind::assign && expression.text == "/=");
  if (divides && is_floating(expression.type) && is_floating(expression.operands[1].type) &&
      !varies(expression.operands[1], loop, scope) &&
      (expression.kind == ExpressionKind::assign || varies(expression, loop, scope))) {
    result.push_back(&expression);
  }
  for (const Expression& operand : expression.operands) find_divisors(operand, loop, scope, result);
}

template <class Find>
std::vector<const Expression*> found_in(const Statement& statement, const Loop& loop, const syntax::IndexScope& scope,
                                        Find find) {
  std::vector<const Expression*> result;
  if (statement.expression) find(*statement.expression, loop, scope, result);
  for (const syntax::Variable& variable : statement.variables) {
    if (variable.initializer) find(*variable.initializer, loop, scope, result);
  }
  for (const Statement& child : statement.children) {
    const auto inner = found_in(child, loop, scope, find);
    result.insert(result.end(), inner.begin(), inner.end());
  }
  return result;
}

struct Hoistable {
  std::vector<const Expression*> values;
  std::vector<const Expression*> divisions;
};

Hoistable hoistable(const Part& part, const Loop& loop) {
  Hoistable result;
  if (!loop.children.empty() || !loop.header().canonical) return result;
  if (syntax::effects_of(body_of(loop), part.tree->scope()).opaque) return result;
  const Statement& body = loop.statement->children.front();
  result.divisions = found_in(body, loop, part.tree->scope(), find_divisors);
  result.values = found_in(body, loop, part.tree->scope(), find_invariant);
  // What stands inside a divisor is hoisted with it.
  std::erase_if(result.values, [&](const Expression* value) {
    return std::any_of(result.divisions.begin(), result.divisions.end(), [&](const Expression* division) {
      return division->operands[1].extent.contains(value->extent);
    });
  });
  return result;
}

Result<std::string> hoist(const syntax::Clang&, Subject& subject, const Application& application) {
  TRY_ASSIGN(const Place place, subject.find(application.location));
  const Hoistable found = hoistable(*place.part, *place.loop);
  if (found.values.empty() && found.divisions.empty())
    return fail(ErrorCode::unsupported, "nothing in the loop stays the same");
  syntax::Edits edits;
  const syntax::Extent whole = with_pragmas(subject, *place.loop);
  const std::string indent = syntax::indentation_at(subject.unit().source, whole.begin);
  std::map<std::string, std::string> names;
  std::string before = "{\n";
  const auto named = [&](const std::string& wish, const std::string& type, const std::string& text) {
    auto [at, inserted] = names.try_emplace(text, "");
    if (inserted) {
      at->second = subject.fresh(wish);
      before += indent + "const " + type + " " + at->second + " = " + text + ";\n";
    }
    return at->second;
  };
  for (const Expression* value : found.values)
    edits.replace(value->extent, named("fixed", value->type, std::string(subject.text(value->extent))));
  for (const Expression* division : found.divisions) {
    const Expression& divisor = division->operands[1];
    const std::string text = std::string(division->type == "float" ? "1.0f" : "1.0") + " / (" +
                             std::string(subject.text(divisor.extent)) + ")";
    const std::string name = named("reciprocal", division->type, text);
    // The operator and its right side; parentheses around the divisor stay where they are.
    const std::size_t from = division->operands[0].extent.end;
    std::string between(subject.text({from, divisor.extent.begin}));
    const std::size_t slash = between.rfind('/');
    if (slash == std::string::npos) return fail(ErrorCode::unsupported, "a division comes from a macro");
    between[slash] = '*';
    edits.replace({from, divisor.extent.end}, between + name);
  }
  edits.insert(whole.begin, before + indent);
  edits.insert(whole.end, "\n" + indent + "}");
  return edits.apply(subject.unit().source);
}

void propose_hoist(const syntax::Clang&, Subject& subject, std::vector<Application>& result) {
  for (const Part& part : subject.parts()) {
    for (const auto& loop : part.tree->loops()) {
      if (subject.is_generated(*loop)) continue;
      const Hoistable found = hoistable(part, *loop);
      if (found.values.empty() && found.divisions.empty()) continue;
      Application application;
      application.recipe = "hoisting";
      application.location = Subject::location(part, *loop);
      application.title =
          "Compute once before the loop " + loop->path +
          (found.divisions.empty() ? " what does not change in it" : " the reciprocal that it divides by");
      application.text =
          "Hoisting: what has the same value in every iteration is computed before the loop" +
          std::string(
              found.divisions.empty()
                  ? "."
                  : ", and divisions by it become multiplications by its reciprocal, which are several times cheaper.");
      application.prior =
          overall(std::min(0.97, cost_of(subject, part, *loop).share), found.divisions.empty() ? 1.1 : 1.6);
      application.shape = shape_of(subject, part, *loop);
      result.push_back(std::move(application));
    }
  }
}

}  // namespace

Recipe scalar_replacement_recipe() {
  return {"scalar replacement", propose_scalars, replace_scalars};
}
Recipe hoist_recipe() {
  return {"hoisting", propose_hoist, hoist};
}

}  // namespace accelopt::recipes
