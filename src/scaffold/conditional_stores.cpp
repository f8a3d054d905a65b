// SPDX-License-Identifier: Apache-2.0
#include "scaffold/conditional_stores.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "syntax/affine.hpp"

namespace accelopt::scaffold {
namespace {

using syntax::Expression;
using syntax::ExpressionKind;
using syntax::Statement;
using syntax::StatementKind;

/// The paths that reach one place of the function, by what they did to the output.
struct Paths {
  bool reached = false;
  bool wrote = false;     ///< all of them, except those that sizes or places lead past the store
  std::string condition;  ///< on data that led some of them past the store; empty: there are none

  void join(const Paths& other) {
    if (!other.reached) return;
    const bool one_wrote = (reached && wrote) || other.wrote;
    reached = true;
    if (condition.empty()) condition = other.condition;
    wrote = one_wrote && condition.empty();
  }
};

/// Functions of the library whose names hold one of these read as far as they have to.
bool ends_early(const std::string& callee) {
  static constexpr std::array<std::string_view, 9> kParts{"find",  "any_of",   "all_of", "none_of", "search",
                                                          "equal", "mismatch", "_bound", "cmp"};
  return std::ranges::any_of(kParts, [&](std::string_view part) { return callee.find(part) != std::string::npos; });
}

/// Walks all paths once, each loop as if it ran once.
class DataReader {
 public:
  DataReader(const syntax::Unit& unit, const syntax::Function& function, const std::string& parameter,
             const std::set<std::string>& data)
      : unit_(unit), scope_(syntax::index_scope(function)), data_(data), aliases_{parameter} {
    for (std::size_t known = 0; known != data_.size() + aliases_.size();) {
      known = data_.size() + aliases_.size();
      collect(function.block);
    }
  }

  std::string read(const Statement& block) {
    Paths paths{.reached = true, .wrote = false, .condition = ""};
    follow(block, paths);
    returned_.join(paths);
    return stores(block) ? returned_.condition : "";
  }

  [[nodiscard]] bool may_leave_unread(const Statement& statement, int loops = 0) const {
    const bool leaves = statement.kind == StatementKind::return_value ||
                        (statement.kind == StatementKind::other && (unit_.text(statement.extent).starts_with("break") ||
                                                                    unit_.text(statement.extent).starts_with("goto")));
    if (leaves && loops > 0) return true;
    const bool is_other = statement.kind == StatementKind::other;
    if (is_other && statement.expression && is_data(*statement.expression)) return true;
    const bool is_open_loop = statement.loop && !statement.loop->canonical;
    if (is_open_loop && unit_.text(statement.loop->extent).find('[') != std::string_view::npos) return true;
    if (statement.expression && picks(*statement.expression)) return true;
    for (const syntax::Variable& variable : statement.variables) {
      if (variable.initializer && picks(*variable.initializer)) return true;
    }
    const int inside = loops + (statement.loop || is_other ? 1 : 0);
    return std::ranges::any_of(statement.children,
                               [&](const Statement& child) { return may_leave_unread(child, inside); });
  }

 private:
  static bool mentions(const Expression& expression, const std::set<std::string>& names) {
    if (expression.kind == ExpressionKind::name && names.contains(expression.text)) return true;
    return std::ranges::any_of(expression.operands, [&](const Expression& one) { return mentions(one, names); });
  }

  /// Whether its value depends on data: on an element of a tensor, or on a variable that holds one.
  [[nodiscard]] bool is_data(const Expression& expression) const {
    if (expression.kind == ExpressionKind::name) return data_.contains(expression.text) && !is_pointer(expression.type);
    const bool is_element = expression.kind == ExpressionKind::subscript ||
                            (expression.kind == ExpressionKind::unary && expression.text == "*");
    if (is_element && !expression.operands.empty() && mentions(expression.operands[0], data_)) return true;
    return std::ranges::any_of(expression.operands, [&](const Expression& one) { return is_data(one); });
  }

  /// Whether data says which elements are read.
  [[nodiscard]] bool picks(const Expression& expression) const {
    if (expression.kind == ExpressionKind::call && ends_early(expression.text)) return true;
    if (expression.kind == ExpressionKind::subscript && expression.operands.size() > 1 &&
        is_data(expression.operands[1]))
      return true;
    return std::ranges::any_of(expression.operands, [&](const Expression& one) { return picks(one); });
  }

  static bool is_pointer(const std::string& type) { return type.find_first_of("*[&<") != std::string::npos; }

  /// Names that stand for data or for the output because of what they are given.
  void collect(const Statement& statement) {
    for (const syntax::Variable& variable : statement.variables) {
      if (!variable.initializer) continue;
      if (!is_pointer(variable.type)) {
        if (is_data(*variable.initializer)) data_.insert(variable.name);
        continue;
      }
      if (mentions(*variable.initializer, aliases_)) aliases_.insert(variable.name);
      if (mentions(*variable.initializer, data_)) data_.insert(variable.name);
    }
    if (statement.expression) collect(*statement.expression);
    for (const Statement& child : statement.children) collect(child);
  }

  void collect(const Expression& expression) {
    if (expression.kind == ExpressionKind::assign && is_data(expression.operands[1])) {
      const Expression* target = &expression.operands[0];
      while (target->kind != ExpressionKind::name && !target->operands.empty()) target = &target->operands[0];
      if (target->kind == ExpressionKind::name && !aliases_.contains(target->text)) data_.insert(target->text);
    }
    for (const Expression& operand : expression.operands) collect(operand);
  }

  /// Whether it stores through the output, or hands it to what may.
  [[nodiscard]] bool stores(const Expression& expression) const {
    const bool changes = expression.kind == ExpressionKind::assign ||
                         (expression.kind == ExpressionKind::unary &&
                          (expression.text.ends_with("++") || expression.text.ends_with("--")));
    if (changes && !expression.operands.empty() && expression.operands[0].kind != ExpressionKind::name &&
        names_output(expression.operands[0]))
      return true;
    const bool may_store = expression.kind == ExpressionKind::call || expression.kind == ExpressionKind::other;
    if (may_store && mentions(expression, aliases_)) return true;
    return std::ranges::any_of(expression.operands, [&](const Expression& one) { return stores(one); });
  }

  [[nodiscard]] bool names_output(const Expression& target) const {
    const auto access = syntax::element_access(target, scope_);
    return access ? aliases_.contains(access->base.name) : mentions(target, aliases_);
  }

  /// Whether there is a store anywhere inside.
  [[nodiscard]] bool stores(const Statement& statement) const {
    return (statement.expression && stores(*statement.expression)) ||
           std::ranges::any_of(statement.children, [&](const Statement& child) { return stores(child); });
  }

  void follow(const Statement& statement, Paths& paths) {
    if (!paths.reached) return;
    if (statement.kind == StatementKind::branch) return follow_branch(statement, paths);
    if (statement.expression && statement.kind != StatementKind::other && stores(*statement.expression))
      paths = {.reached = true, .wrote = true, .condition = ""};
    if (statement.kind == StatementKind::return_value) return leave(returned_, paths);
    if (statement.kind == StatementKind::other && jumps(statement)) return leave(left_, paths);
    if (statement.kind == StatementKind::loop || statement.kind == StatementKind::other)
      return follow_loop(statement, paths);
    for (const Statement& child : statement.children) follow(child, paths);
  }

  [[nodiscard]] bool jumps(const Statement& statement) const {
    const std::string_view text = unit_.text(statement.extent);
    return text.starts_with("continue") || text.starts_with("break");
  }

  static void leave(Paths& to, Paths& paths) {
    to.join(paths);
    paths = {};
  }

  void follow_branch(const Statement& statement, Paths& paths) {
    const bool chooses = !paths.wrote && is_data(*statement.expression);
    const bool holds_store = stores(statement);
    Paths then = paths;
    if (chooses) then.condition = unit_.text(statement.expression->extent);
    if (!chooses && holds_store) then.condition.clear();
    Paths otherwise = then;
    follow(statement.children[0], then);
    if (statement.children.size() > 1) follow(statement.children[1], otherwise);
    then.join(otherwise);
    go_on(then, holds_store, paths);
  }

  /// Also while, do, switch and a range's for.
  void follow_loop(const Statement& statement, Paths& paths) {
    const bool holds_store = stores(statement);
    Paths turn = paths;
    if (holds_store) turn.condition.clear();
    Paths outer = std::exchange(left_, {});
    for (const Statement& child : statement.children) follow(child, turn);
    turn.join(std::exchange(left_, std::move(outer)));
    if (!turn.reached) turn = paths;  // it may run zero times
    go_on(turn, holds_store, paths);
  }

  /// What holds no store chose at most who leaves; else what led past earlier ones still does where nothing was
  /// written.
  static void go_on(const Paths& inside, bool holds_store, Paths& paths) {
    if (inside.reached && !holds_store) return;
    std::string before = std::move(paths.condition);
    paths = inside;
    if (paths.reached && !paths.wrote && paths.condition.empty()) paths.condition = std::move(before);
  }

  const syntax::Unit& unit_;
  syntax::IndexScope scope_;
  std::set<std::string> data_;
  std::set<std::string> aliases_;  ///< the output, and pointers into it
  Paths left_{};                   ///< those that ended a loop's turn early
  Paths returned_{};
};

}  // namespace

std::string condition_of_store(const syntax::Unit& unit, const syntax::Function& function, const std::string& parameter,
                               const std::set<std::string>& data) {
  return DataReader(unit, function, parameter, data).read(function.block);
}

bool may_leave_inputs_unread(const syntax::Unit& unit, const syntax::Function& function,
                             const std::set<std::string>& data) {
  if (DataReader(unit, function, "", data).may_leave_unread(function.block)) return true;
  return std::ranges::any_of(function.helpers, [&](const std::string& name) {
    const syntax::Function* const helper = unit.find(name);
    if (helper == nullptr) return false;
    std::set<std::string> all;
    for (const syntax::Parameter& parameter : helper->parameters) all.insert(parameter.name);
    return DataReader(unit, *helper, "", all).may_leave_unread(helper->block);
  });
}

}  // namespace accelopt::scaffold
