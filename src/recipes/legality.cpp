// SPDX-License-Identifier: Apache-2.0
#include "recipes/legality.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace accelopt::recipes {

using syntax::Effects;
using syntax::ElementAccess;
using syntax::Expression;
using syntax::ExpressionKind;
using syntax::Loop;
using syntax::Symbol;

namespace {

bool declared_in(const Effects& effects, const Symbol& symbol) {
  return std::find(effects.declared.begin(), effects.declared.end(), symbol) != effects.declared.end();
}

std::string plain_type(const std::string& type) {
  return type.starts_with("const ") ? type.substr(6) : type;
}

bool scalars_stay_inside(const Effects& effects) {
  return std::all_of(effects.scalars_assigned.begin(), effects.scalars_assigned.end(),
                     [&](const Symbol& symbol) { return declared_in(effects, symbol); });
}

/// Every access to an array that is written uses the same subscript; arrays declared inside belong to an iteration.
bool one_subscript_each(const Effects& effects) {
  for (const ElementAccess& write : effects.accesses) {
    if (!write.write || declared_in(effects, write.base)) continue;
    if (!write.subscript) return false;
    for (const ElementAccess& other : effects.accesses) {
      if (other.base == write.base && (!other.subscript || *other.subscript != *write.subscript)) return false;
    }
  }
  return true;
}

}  // namespace

bool is_permutable(const Part& part, const Loop& nest) {
  if (!nest.header().canonical) return false;
  const Effects effects = syntax::effects_of(body_of(nest), part.tree->scope());
  return !effects.opaque && scalars_stay_inside(effects) && one_subscript_each(effects);
}

bool is_parallel(const Part& part, const Loop& loop) {
  if (!loop.header().canonical) return false;
  const Effects effects = syntax::effects_of(body_of(loop), part.tree->scope());
  if (effects.opaque || !scalars_stay_inside(effects)) return false;
  for (const ElementAccess& write : effects.accesses) {
    if (!write.write || declared_in(effects, write.base)) continue;
    const auto stride = write.subscript ? write.subscript->coefficient(loop.symbol()) : std::nullopt;
    if (!stride || stride->is_zero()) return false;
    for (const ElementAccess& other : effects.accesses) {
      if (other.base != write.base) continue;
      const auto mine = other.subscript ? other.subscript->coefficient(loop.symbol()) : std::nullopt;
      if (!mine || *mine != *stride) return false;
      // Equal strides do not keep neighbours apart when the stride is one element: then the whole subscript must agree.
      if (*stride == syntax::Polynomial(1) && *other.subscript != *write.subscript) return false;
    }
  }
  return true;
}

bool bounds_use(const Loop& loop, const Loop& other, const syntax::IndexScope& scope) {
  const auto begin = begin_of(loop, scope);
  const auto end = end_of(loop, scope);
  return !begin || !end || begin->uses(other.symbol()) || end->uses(other.symbol());
}

const Loop* only_child(const Loop& loop) {
  return loop.body.size() == 1 && loop.children.size() == 1 && loop.body.front()->loop ? loop.children.front()
                                                                                       : nullptr;
}

bool varies(const Expression& expression, const Loop& loop, const syntax::IndexScope& scope) {
  const Effects effects = syntax::effects_of(body_of(loop), scope);
  const auto in = [](const std::vector<Symbol>& list, const Symbol& symbol) {
    return std::find(list.begin(), list.end(), symbol) != list.end();
  };
  if (expression.kind == ExpressionKind::name) {
    const Symbol symbol{expression.text, expression.declaration};
    return symbol == loop.symbol() || in(effects.scalars_assigned, symbol) || in(effects.declared, symbol);
  }
  if (expression.kind == ExpressionKind::subscript ||
      (expression.kind == ExpressionKind::unary && expression.text == "*")) {
    const auto access = syntax::element_access(expression, scope);
    if (!access) return true;
    const bool written = std::any_of(effects.accesses.begin(), effects.accesses.end(), [&](const ElementAccess& other) {
      return other.write && other.base == access->base;
    });
    if (written) return true;
  }
  if (expression.kind == ExpressionKind::assign || expression.kind == ExpressionKind::other)
    return !expression.operands.empty();
  return std::any_of(expression.operands.begin(), expression.operands.end(),
                     [&](const Expression& operand) { return varies(operand, loop, scope); });
}

std::string as_one_statement(const Loop& loop, const std::string& statements) {
  const bool in_block =
      loop.parent == nullptr || loop.parent->statement->children.front().kind == syntax::StatementKind::block;
  return in_block ? statements : "{\n" + indented(statements, "  ") + "\n}";
}

std::optional<std::string> perfected(Subject& subject, const Part& part, const Loop& outer) {
  if (outer.body.size() < 2 || outer.children.size() != 1 || !outer.body.back()->loop) return std::nullopt;
  const syntax::IndexScope& scope = part.tree->scope();
  const Effects effects = syntax::effects_of(body_of(outer), scope);
  std::map<std::int64_t, std::string> names;
  syntax::Edits edits;
  for (std::size_t i = 0; i + 1 < outer.body.size(); ++i) {
    const syntax::Statement& statement = *outer.body[i];
    if (statement.kind != syntax::StatementKind::declaration || statement.variables.size() != 1) return std::nullopt;
    const syntax::Variable& variable = statement.variables.front();
    const Symbol symbol{variable.name, variable.declaration};
    const auto& assigned = effects.scalars_assigned;
    if (!variable.initializer || !variable.dimensions.empty() ||
        variable.initializer->type != plain_type(variable.type) ||
        std::find(assigned.begin(), assigned.end(), symbol) != assigned.end()) {
      return std::nullopt;
    }
    const Effects reads = syntax::effects_of(statement, scope);
    if (reads.opaque || !reads.calls.empty() || !reads.scalars_assigned.empty()) return std::nullopt;
    for (const ElementAccess& read : reads.accesses) {
      const bool written =
          std::any_of(effects.accesses.begin(), effects.accesses.end(),
                      [&](const ElementAccess& other) { return other.write && other.base == read.base; });
      if (written) return std::nullopt;
    }
    // A later value may be made from an earlier one.
    names[variable.declaration] =
        "(" + syntax::with_names(subject.unit(), *part.function, variable.initializer->extent, names) + ")";
    edits.replace(statement.extent, "");
  }
  edits.replace(outer.body.back()->extent,
                syntax::with_names(subject.unit(), *part.function, outer.body.back()->extent, names));
  auto text = edits.apply(subject.unit().source);
  if (!text) return std::nullopt;
  return std::move(*text);
}

bool can_interchange(const Part& part, const Loop& outer) {
  const Loop* inner = only_child(outer);
  return inner != nullptr && inner->header().canonical && outer.header().canonical &&
         !bounds_use(*inner, outer, part.tree->scope()) && !bounds_use(outer, *inner, part.tree->scope()) &&
         is_permutable(part, outer);
}

base::Result<std::string> interchanged(Subject& subject, const Loop& outer) {
  const Loop& inner = *only_child(outer);
  syntax::Edits edits;
  edits.replace(outer.header().extent, std::string(subject.text(inner.header().extent)));
  edits.replace(inner.header().extent, std::string(subject.text(outer.header().extent)));
  return edits.apply(subject.unit().source);
}

std::string header_text(const syntax::LoopHeader& header, const std::string& begin, const std::string& end) {
  return "for (" + variable_type(header) + " " + header.variable + " = " + begin + "; " + header.variable + " < " +
         end + "; " +
         (header.step == 1 ? "++" + header.variable : header.variable + " += " + std::to_string(header.step)) + ")";
}

}  // namespace accelopt::recipes
