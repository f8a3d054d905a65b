// SPDX-License-Identifier: Apache-2.0
#include "syntax/loops.hpp"

#include <algorithm>

namespace accelopt::syntax {
namespace {

template <class T>
void add_once(std::vector<T>& list, const T& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

bool is_indexable(const std::string& type) {
  return type.find('*') != std::string::npos || type.find('[') != std::string::npos ||
         type.find("vector<") != std::string::npos;
}

class EffectReader {
 public:
  EffectReader(const IndexScope& scope, Effects& result) : scope_(scope), result_(result) {}

  void read(const Statement& statement) {
    if (statement.kind == StatementKind::other || statement.kind == StatementKind::return_value) result_.opaque = true;
    for (const Variable& variable : statement.variables) {
      add_once(result_.declared, Symbol{variable.name, variable.declaration});
      if (variable.initializer) read(*variable.initializer);
    }
    if (statement.loop) {
      const LoopHeader& header = *statement.loop;
      if (!header.canonical) result_.opaque = true;
      if (header.variable_type.empty()) {
        add_once(result_.scalars_assigned, Symbol{header.variable, header.declaration});
      } else {
        add_once(result_.declared, Symbol{header.variable, header.declaration});
      }
      if (header.begin) read(*header.begin);
      if (header.end) read(*header.end);
    }
    if (statement.expression) read(*statement.expression);
    for (const Statement& child : statement.children) read(child);
  }

 private:
  void read(const Expression& expression) {
    switch (expression.kind) {
      case ExpressionKind::assign:
        read(expression.operands[1]);
        write(expression.operands[0], expression.text != "=");
        return;
      case ExpressionKind::unary:
        if (expression.text.ends_with("++") || expression.text.ends_with("--"))
          return write(expression.operands[0], true);
        if (expression.text == "*") return element(expression, false, true);
        if (expression.text == "&" && expression.operands[0].kind == ExpressionKind::name) result_.opaque = true;
        break;
      case ExpressionKind::subscript:
        return element(expression, false, true);
      case ExpressionKind::name:
        // An array or pointer by itself is used through what it is resolved to, or escapes where it is passed on.
        add_once(result_.scalars_read, Symbol{expression.text, expression.declaration});
        return;
      case ExpressionKind::call: {
        add_once(result_.calls, expression.text);
        for (const Expression& operand : expression.operands) {
          if (is_indexable(operand.type)) result_.opaque = true;
        }
        break;
      }
      case ExpressionKind::other:
        if (!expression.operands.empty()) result_.opaque = true;
        break;
      default:
        break;
    }
    for (const Expression& operand : expression.operands) read(operand);
  }

  void write(const Expression& target, bool reads) {
    if (target.kind == ExpressionKind::name) {
      add_once(result_.scalars_assigned, Symbol{target.text, target.declaration});
      if (reads) add_once(result_.scalars_read, Symbol{target.text, target.declaration});
      if (is_indexable(target.type)) result_.opaque = true;
      return;
    }
    element(target, true, reads);
  }

  void element(const Expression& expression, bool writes, bool reads) {
    auto access = element_access(expression, scope_);
    if (!access) {
      result_.opaque = true;
    } else {
      access->write = writes;
      access->read = reads;
      result_.accesses.push_back(std::move(*access));
    }
    if (expression.kind == ExpressionKind::subscript) {
      for (const Expression* base = &expression; base->kind == ExpressionKind::subscript; base = &base->operands[0]) {
        read(base->operands[1]);
      }
    }
  }

  const IndexScope& scope_;
  Effects& result_;
};

}  // namespace

Effects effects_of(const Statement& statement, const IndexScope& scope) {
  Effects result;
  result.extent = statement.extent;
  EffectReader(scope, result).read(statement);
  return result;
}

Effects effects_of(const std::vector<Statement>& statements, const IndexScope& scope) {
  Effects result;
  if (!statements.empty()) result.extent = {statements.front().extent.begin, statements.back().extent.end};
  EffectReader reader(scope, result);
  for (const Statement& statement : statements) reader.read(statement);
  return result;
}

LoopTree::LoopTree(const Function& function) : function_(function), scope_(index_scope(function)) {
  collect(function.block.children, nullptr);
}

void LoopTree::collect(const std::vector<Statement>& statements, Loop* parent) {
  for (const Statement& statement : statements) collect(statement, parent);
}

void LoopTree::collect(const Statement& statement, Loop* parent) {
  if (!statement.loop) {
    collect(statement.children, parent);
    return;
  }
  auto loop = std::make_unique<Loop>();
  loop->statement = &statement;
  loop->parent = parent;
  loop->depth = parent == nullptr ? 0 : parent->depth + 1;
  const auto siblings =
      parent != nullptr ? parent->children.size()
                        : static_cast<std::size_t>(std::count_if(loops_.begin(), loops_.end(), [](const auto& other) {
                            return other->parent == nullptr;
                          }));
  const std::string name = statement.loop->variable.empty() ? "for" : statement.loop->variable;
  loop->path = (parent == nullptr ? "" : parent->path + "/") + name + "." + std::to_string(siblings);
  if (!statement.children.empty()) {
    const Statement& body = statement.children.front();
    if (body.kind == StatementKind::block) {
      for (const Statement& child : body.children) loop->body.push_back(&child);
    } else {
      loop->body.push_back(&body);
    }
  }
  Loop* raw = loop.get();
  if (parent != nullptr) parent->children.push_back(raw);
  loops_.push_back(std::move(loop));
  collect(statement.children, raw);
}

const Loop* LoopTree::find(std::string_view path) const {
  const auto found = std::find_if(loops_.begin(), loops_.end(), [&](const auto& loop) { return loop->path == path; });
  return found == loops_.end() ? nullptr : found->get();
}

}  // namespace accelopt::syntax
