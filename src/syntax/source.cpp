// SPDX-License-Identifier: Apache-2.0
#include "syntax/source.hpp"

#include <algorithm>

namespace accelopt::syntax {
namespace {

bool modifies(const Expression& expression, std::int64_t declaration) {
  const bool changes = expression.kind == ExpressionKind::assign ||
                       (expression.kind == ExpressionKind::unary &&
                        (expression.text.ends_with("++") || expression.text.ends_with("--") || expression.text == "&"));
  if (changes && expression.operands[0].kind == ExpressionKind::name &&
      expression.operands[0].declaration == declaration) {
    return true;
  }
  return std::any_of(expression.operands.begin(), expression.operands.end(),
                     [&](const Expression& operand) { return modifies(operand, declaration); });
}

bool modifies(const Statement& statement, std::int64_t declaration) {
  if (statement.expression && modifies(*statement.expression, declaration)) return true;
  for (const Variable& variable : statement.variables) {
    if (variable.initializer && modifies(*variable.initializer, declaration)) return true;
  }
  return std::any_of(statement.children.begin(), statement.children.end(),
                     [&](const Statement& child) { return modifies(child, declaration); });
}

}  // namespace

void mark_modified_loops(Statement& statement) {
  for (Statement& child : statement.children) mark_modified_loops(child);
  if (statement.loop && statement.loop->canonical &&
      modifies(statement.children.front(), statement.loop->declaration)) {
    statement.loop->canonical = false;
  }
}

const Function* Unit::find(std::string_view name) const {
  const auto found =
      std::find_if(functions.begin(), functions.end(), [&](const Function& f) { return f.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

}  // namespace accelopt::syntax
