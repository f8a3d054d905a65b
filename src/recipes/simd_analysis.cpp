// SPDX-License-Identifier: Apache-2.0
// Whether a loop body can be written for vectors, and what varies from lane to lane and from row to row.
#include <algorithm>
#include <cstdlib>

#include "recipes/simd_body.hpp"

namespace accelopt::recipes {

using base::ErrorCode;
using base::fail;
using base::Result;
using syntax::ElementAccess;
using syntax::Expression;
using syntax::ExpressionKind;
using syntax::Polynomial;
using syntax::Statement;
using syntax::StatementKind;

namespace {

tl::unexpected<base::Error> unsupported(const std::string& reason) {
  return fail(ErrorCode::unsupported, reason);
}

const Statement& only(const Statement& statement) {
  const Statement* result = &statement;
  while (result->kind == StatementKind::block && result->children.size() == 1) result = &result->children.front();
  return *result;
}

const Expression* assignment_in(const Statement& statement) {
  const Statement& inner = only(statement);
  if (inner.kind != StatementKind::expression || inner.expression->kind != ExpressionKind::assign) return nullptr;
  return inner.expression->text == "=" ? &*inner.expression : nullptr;
}

bool is_inside(const syntax::Loop& loop, const syntax::Symbol& symbol) {
  const syntax::Extent& extent = loop.statement->extent;
  return symbol.declaration >= 0 && static_cast<std::size_t>(symbol.declaration) > extent.begin &&
         static_cast<std::size_t>(symbol.declaration) < extent.end;
}

}  // namespace

bool same(const Expression& a, const Expression& b) {
  if (a.kind != b.kind || a.operands.size() != b.operands.size()) return false;
  const bool leaf = a.operands.empty();
  const bool by_text = leaf || a.kind == ExpressionKind::unary || a.kind == ExpressionKind::binary ||
                       a.kind == ExpressionKind::assign || a.kind == ExpressionKind::call ||
                       a.kind == ExpressionKind::cast;
  if (a.declaration != b.declaration || (by_text && a.text != b.text)) return false;
  return std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(), same);
}

bool occurs(const Expression& expression, const Expression& inside) {
  return same(expression, inside) || std::any_of(expression.operands.begin(), expression.operands.end(),
                                                 [&](const Expression& operand) { return occurs(operand, inside); });
}

std::string math_function(const std::string& callee) {
  std::string name = callee.substr(callee.rfind(':') == std::string::npos ? 0 : callee.rfind(':') + 1);
  if (name.starts_with("__builtin_")) name.erase(0, 10);
  const std::size_t argument = name.find('<');
  if (argument != std::string::npos) name.erase(argument);
  static const std::map<std::string, std::string> kNames = {
      {"expf", "exp"},   {"exp", "exp"},   {"sqrtf", "sqrt"}, {"sqrt", "sqrt"},  {"fabsf", "abs"}, {"fabs", "abs"},
      {"fmaxf", "fmax"}, {"fmax", "fmax"}, {"max", "max"},    {"fminf", "fmin"}, {"fmin", "fmin"}, {"min", "min"}};
  const auto found = kNames.find(name);
  return found == kNames.end() ? "" : found->second;
}

std::string combiner_of(Reduction::Kind kind) {
  switch (kind) {
    case Reduction::Kind::maximum:
      return "max";
    case Reduction::Kind::minimum:
      return "min";
    case Reduction::Kind::maximum_number:
      return "fmax";
    case Reduction::Kind::minimum_number:
      return "fmin";
    default:
      return "";
  }
}

std::string fold_of(Reduction::Kind kind) {
  switch (kind) {
    case Reduction::Kind::maximum:
      return "largest";
    case Reduction::Kind::minimum:
      return "smallest";
    case Reduction::Kind::maximum_number:
      return "largest_number";
    case Reduction::Kind::minimum_number:
      return "smallest_number";
    default:
      return "sum";
  }
}

std::optional<Selection> selection_of(const Statement& branch) {
  if (branch.kind != StatementKind::branch || !branch.expression || branch.children.empty()) return std::nullopt;
  const Expression* then = assignment_in(branch.children[0]);
  if (then == nullptr) return std::nullopt;
  Selection result{&then->operands[0], &*branch.expression, &then->operands[1], nullptr};
  if (branch.children.size() == 2) {
    const Expression* otherwise = assignment_in(branch.children[1]);
    if (otherwise == nullptr || !same(otherwise->operands[0], *result.target)) return std::nullopt;
    result.otherwise = &otherwise->operands[1];
  }
  return result;
}

std::optional<Accumulation> accumulation_of(const Selection& selection) {
  const Expression& condition = *selection.condition;
  if (condition.kind != ExpressionKind::binary || !is_comparison(condition.text)) return std::nullopt;
  const Expression& target = *selection.target;
  if (selection.otherwise != nullptr && !same(*selection.otherwise, target)) return std::nullopt;
  if (occurs(*selection.value, target)) return std::nullopt;
  const bool value_first = same(condition.operands[0], *selection.value) && same(condition.operands[1], target);
  const bool target_first = same(condition.operands[1], *selection.value) && same(condition.operands[0], target);
  if (!value_first && !target_first) return std::nullopt;
  const bool greater = condition.text.starts_with(">");
  if (!greater && !condition.text.starts_with("<")) return std::nullopt;
  return Accumulation{greater == value_first ? Reduction::Kind::maximum : Reduction::Kind::minimum, selection.value,
                      false};
}

std::optional<Accumulation> accumulation_of(const Expression& target, const std::string& operation,
                                            const Expression& value) {
  const auto clean = [&](Accumulation found) {
    return occurs(*found.value, target) ? std::optional<Accumulation>() : std::optional<Accumulation>(found);
  };
  if (operation == "+=" || operation == "-=") return clean({Reduction::Kind::sum, &value, operation == "-="});
  if (operation != "=") return std::nullopt;
  if (value.kind == ExpressionKind::binary && (value.text == "+" || value.text == "-")) {
    if (same(value.operands[0], target)) return clean({Reduction::Kind::sum, &value.operands[1], value.text == "-"});
    if (value.text == "+" && same(value.operands[1], target))
      return clean({Reduction::Kind::sum, &value.operands[0], false});
  }
  if (value.kind == ExpressionKind::call && value.operands.size() == 2) {
    static const std::map<std::string, Reduction::Kind> kKinds = {{"max", Reduction::Kind::maximum},
                                                                  {"min", Reduction::Kind::minimum},
                                                                  {"fmax", Reduction::Kind::maximum_number},
                                                                  {"fmin", Reduction::Kind::minimum_number}};
    const auto kind = kKinds.find(math_function(value.text));
    if (kind == kKinds.end()) return std::nullopt;
    if (same(value.operands[0], target)) return clean({kind->second, &value.operands[1], false});
    if (same(value.operands[1], target)) return clean({kind->second, &value.operands[0], false});
  }
  if (value.kind == ExpressionKind::conditional) {
    if (same(value.operands[2], target))
      return accumulation_of(Selection{&target, &value.operands[0], &value.operands[1], nullptr});
    if (same(value.operands[1], target) && value.operands[0].kind == ExpressionKind::binary) {
      // target > value ? target : value
      const Expression& condition = value.operands[0];
      const bool target_first = same(condition.operands[0], target) && same(condition.operands[1], value.operands[2]);
      const bool value_first = same(condition.operands[1], target) && same(condition.operands[0], value.operands[2]);
      if ((!target_first && !value_first) || !is_comparison(condition.text)) return std::nullopt;
      const bool greater = condition.text.starts_with(">");
      return clean(
          {greater == target_first ? Reduction::Kind::maximum : Reduction::Kind::minimum, &value.operands[2], false});
    }
  }
  return std::nullopt;
}

SimdBody::SimdBody(Subject& subject, const Part& part, const syntax::Loop& lanes, const syntax::Loop* rows)
    : subject_(subject),
      part_(part),
      scope_(part.tree->scope()),
      lanes_(lanes),
      rows_(rows),
      body_(body_of(lanes)),
      lane_(lanes.symbol()) {
  if (rows != nullptr) row_ = rows->symbol();
}

std::string SimdBody::key(const ElementAccess& access) {
  return access.base.name + "#" + std::to_string(access.base.declaration) + "[" +
         (access.subscript ? access.subscript->text() : "?") + "]";
}

std::string SimdBody::key(const Expression& target, const syntax::IndexScope& scope) {
  if (const auto access = syntax::element_access(target, scope)) return key(*access);
  return target.text + "#" + std::to_string(target.declaration);
}

const Reduction* SimdBody::reduction_of(const Expression& target) const {
  const std::string wanted = key(target, scope_);
  const auto found = std::find_if(reductions_.begin(), reductions_.end(),
                                  [&](const Reduction& reduction) { return reduction.key == wanted; });
  return found == reductions_.end() ? nullptr : &*found;
}

Result<void> SimdBody::analyze(Packing packing) {
  packing_ = packing;
  if (!lanes_.header().canonical || lanes_.header().step != 1) return unsupported("the loop does not count by one");
  if (rows_ != nullptr && (!rows_->header().canonical || rows_->header().step != 1)) {
    return unsupported("the rows' loop does not count by one");
  }
  TRY(check_effects());
  for (int round = 0; round < 8; ++round) {
    changed_ = false;
    packed_.clear();
    reductions_.clear();
    helpers_.clear();
    written_.clear();
    accumulators_ = 0;
    idempotent_ = true;
    if (stream_) helpers_.insert("stream");
    TRY(check_statements(body_));
    if (!changed_) break;
  }
  if (element_.empty()) return unsupported("nothing in the loop varies from lane to lane");
  if (element_ == "double" && helpers_.contains("exp")) return unsupported("no vector exponential of double");
  if (rows_ != nullptr && !reductions_.empty()) return unsupported("the lanes are accumulated across rows");
  return {};
}

/// Whether two elements are at least as far apart as the lanes' loop is long, whatever the iteration: the difference
/// holds the loop's length as a factor, or both are known numbers.
bool SimdBody::are_apart(const Polynomial& a, const Polynomial& b) const {
  const auto begin = begin_of(lanes_, scope_);
  const auto end = end_of(lanes_, scope_);
  const Polynomial distance = a - b;
  // Rows add an offset of their own, which the distance may equal.
  if (rows_ != nullptr || !begin || !end || distance.is_zero() || distance.uses(lane_)) return false;
  const Polynomial length = *end - *begin;
  const auto distance_value = distance.value(scope_.constants);
  const auto length_value = length.value(scope_.constants);
  if (distance_value && length_value) return std::abs(*distance_value) >= *length_value;
  if (length.terms().size() != 1 || distance.terms().size() != 1) return false;
  const auto& factor = length.terms().begin()->first;
  const auto scale = length.terms().begin()->second;
  const auto& [product, times] = *distance.terms().begin();
  if (scale <= 0 || times % scale != 0) return false;
  // A factor besides the length that is a variable may be zero.
  const bool others_constant = std::all_of(product.begin(), product.end(), [&](const syntax::Symbol& symbol) {
    return symbol.declaration < 0 || std::find(factor.begin(), factor.end(), symbol) != factor.end();
  });
  return others_constant && std::includes(product.begin(), product.end(), factor.begin(), factor.end());
}

/// Every array that the body writes is written and read at one and the same subscript, or far apart, so no iteration
/// meets another's.
Result<void> SimdBody::check_effects() {
  const syntax::Effects effects = syntax::effects_of(body_, scope_);
  if (effects.opaque) return unsupported("the loop holds statements that are not modelled");
  for (const ElementAccess& write : effects.accesses) {
    if (!write.write) continue;
    if (!write.subscript) return unsupported("a subscript that is written is not a sum of products");
    for (const ElementAccess& other : effects.accesses) {
      if (other.base != write.base) continue;
      if (!other.subscript ||
          (*other.subscript != *write.subscript && !are_apart(*other.subscript, *write.subscript))) {
        return unsupported("iterations may depend on each other through " + write.base.name);
      }
    }
    if (row_) {
      const auto stride = write.subscript->coefficient(*row_);
      if ((!stride || stride->is_zero()) && !assume_split_)
        return unsupported("rows would write the same element of " + write.base.name);
    }
  }
  return {};
}

Result<void> SimdBody::check_element_type(const std::string& type) {
  if (type != "float" && type != "double") return unsupported("vectors of " + type + " are not written");
  if (element_.empty()) element_ = type;
  if (element_ != type) return unsupported("float and double are mixed");
  return {};
}

Result<void> SimdBody::check_statements(const std::vector<Statement>& statements) {
  for (const Statement& statement : statements) TRY(check_statement(statement));
  return {};
}

Result<void> SimdBody::check_statement(const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::block:
      return check_statements(statement.children);
    case StatementKind::loop:
      return check_loop(statement);
    case StatementKind::branch:
      return check_branch(statement);
    case StatementKind::expression: {
      if (statement.expression->kind != ExpressionKind::assign) return unsupported("a statement is not an assignment");
      return check_assignment(statement.expression->operands[0], statement.expression->text,
                              statement.expression->operands[1]);
    }
    case StatementKind::declaration: {
      if (is_alias(statement, scope_)) return {};
      for (const syntax::Variable& variable : statement.variables) {
        const std::string type = variable.type.starts_with("const ") ? variable.type.substr(6) : variable.type;
        const std::string element = type == "auto" && variable.initializer ? variable.initializer->type : type;
        if (!variable.dimensions.empty() || variable.is_static || (element != "float" && element != "double")) {
          return unsupported("a variable of type " + variable.type + " is declared in the loop");
        }
        Local& local = locals_[variable.declaration];
        local.name = variable.name;
        if (local.lanes) TRY(check_element_type(element));
        if (!variable.initializer) continue;
        TRY_ASSIGN(const Flow flow, check_value(*variable.initializer));
        if (flow.lanes) TRY(check_element_type(element));
        changed_ = changed_ || (flow.lanes && !local.lanes) || (flow.rows && !local.rows);
        local.lanes = local.lanes || flow.lanes;
        local.rows = local.rows || flow.rows;
      }
      return {};
    }
    default:
      return unsupported("a statement of the loop is not modelled");
  }
}

Result<void> SimdBody::check_loop(const Statement& statement) {
  const syntax::LoopHeader& header = *statement.loop;
  if (!header.canonical || header.variable_type.empty()) return unsupported("an inner loop does not count plainly");
  for (const auto& bound : {header.begin, header.end}) {
    TRY_ASSIGN(const Flow flow, check_value(*bound));
    if (flow.lanes || flow.rows) return unsupported("an inner loop's bounds vary");
  }
  inner_.push_back(&statement);
  inner_variables_.insert(header.declaration);
  const auto result = check_statements(statement.children);
  inner_.pop_back();
  return result;
}

Result<void> SimdBody::check_branch(const Statement& statement) {
  const auto selection = selection_of(statement);
  if (!selection) return unsupported("a condition does more than choose a value");
  const auto found = accumulation_of(*selection);
  const auto access = syntax::element_access(*selection->target, scope_);
  const bool outer_scalar =
      selection->target->kind == ExpressionKind::name && !locals_.contains(selection->target->declaration);
  const bool fixed_element = access && access->subscript && !access->subscript->uses(lane_);
  if (outer_scalar || fixed_element) {
    if (!found) return unsupported("a value is carried from one iteration to the next");
    TRY(check_value(*found->value));
    // The kinds are read again from the branch when it is written.
    reductions_.push_back({found->kind, "", "", key(*selection->target, scope_)});
    return add_reduction(*selection->target, "", *found->value);
  }
  TRY_ASSIGN(const Flow condition, check_value(*selection->condition));
  helpers_.insert("select");
  if (selection->otherwise == nullptr) TRY(check_value(*selection->target));
  if (selection->otherwise != nullptr) TRY(check_assignment(*selection->target, "=", *selection->otherwise));
  TRY(check_assignment(*selection->target, "=", *selection->value));
  if (Local* local =
          selection->target->kind == ExpressionKind::name ? &locals_[selection->target->declaration] : nullptr) {
    changed_ = changed_ || (condition.lanes && !local->lanes) || (condition.rows && !local->rows);
    local->lanes = local->lanes || condition.lanes;
    local->rows = local->rows || condition.rows;
    if (local->lanes) TRY(check_element_type(selection->target->type));
  }
  return {};
}

Result<void> SimdBody::add_reduction(const Expression& target, const std::string& operation, const Expression& value) {
  if (!inner_.empty()) return unsupported("a value is accumulated over two loops");
  const std::string wanted = key(target, scope_);
  Reduction::Kind kind = Reduction::Kind::sum;
  if (operation.empty()) {
    kind = reductions_.back().kind;
    reductions_.pop_back();
  } else if (const auto found = accumulation_of(target, operation, value)) {
    kind = found->kind;
  } else {
    return unsupported("a value is carried from one iteration to the next");
  }
  if (const Reduction* known = reduction_of(target)) {
    if (known->kind != kind) return unsupported("a value is accumulated in two ways");
    return {};
  }
  TRY(check_element_type(target.type));
  reductions_.push_back({kind, std::string(subject_.text(target.extent)), "", wanted});
  helpers_.insert(fold_of(kind));
  return {};
}

Result<void> SimdBody::check_assignment(const Expression& target, const std::string& operation,
                                        const Expression& value) {
  if (operation != "=" && operation != "+=" && operation != "-=" && operation != "*=" && operation != "/=") {
    return unsupported("the assignment " + operation + " is not modelled");
  }
  if (target.kind == ExpressionKind::name) {
    const auto found = locals_.find(target.declaration);
    if (found == locals_.end()) {
      const auto accumulation = accumulation_of(target, operation, value);
      if (!accumulation) return unsupported("a value is carried from one iteration to the next");
      TRY(check_value(*accumulation->value));
      return add_reduction(target, operation, value);
    }
    TRY_ASSIGN(const Flow flow, check_value(value));
    Local& local = found->second;
    changed_ = changed_ || (flow.lanes && !local.lanes) || (flow.rows && !local.rows);
    local.lanes = local.lanes || flow.lanes;
    local.rows = local.rows || flow.rows;
    if (local.lanes) TRY(check_element_type(target.type));
    if (!inner_.empty() && operation != "=" && local.lanes) ++accumulators_;
    return {};
  }
  const auto access = syntax::element_access(target, scope_);
  if (!access || !access->subscript) return unsupported("a target is not an array element with a plain subscript");
  const auto stride = access->subscript->coefficient(lane_);
  if (!stride) return unsupported("a target's subscript is not linear");
  if (stride->is_zero()) {
    const auto accumulation = accumulation_of(target, operation, value);
    if (!accumulation) return unsupported("all iterations write one element");
    TRY(check_value(*accumulation->value));
    return add_reduction(target, operation, value);
  }
  if (*stride != Polynomial(1)) return unsupported("the elements written are not next to each other");
  if (row_ && !access->subscript->coefficient(*row_)) return unsupported("a target's subscript is not linear");
  TRY(check_element_type(target.type));
  TRY(check_value(value));
  if (operation != "=" || occurs(value, target)) {
    if (!written_.contains(key(*access))) idempotent_ = false;
    if (!inner_.empty()) ++accumulators_;
  }
  written_.insert(key(*access));
  return {};
}

Result<SimdBody::Flow> SimdBody::check_value(const Expression& expression) {
  switch (expression.kind) {
    case ExpressionKind::integer:
    case ExpressionKind::floating:
      return Flow{};
    case ExpressionKind::name:
      return check_name(expression);
    case ExpressionKind::subscript:
      return check_element(expression);
    case ExpressionKind::call:
      return check_call(expression);
    case ExpressionKind::other:
      if (expression.operands.empty()) return Flow{};
      return unsupported("an expression is not modelled");
    case ExpressionKind::assign:
      return unsupported("an assignment stands inside an expression");
    default:
      break;
  }
  if (expression.kind == ExpressionKind::unary) {
    if (expression.text == "*") return check_element(expression);
    if (expression.text != "-" && expression.text != "+") return unsupported("the operator " + expression.text);
  }
  Flow result;
  for (const Expression& operand : expression.operands) {
    TRY_ASSIGN(const Flow flow, check_value(operand));
    result.lanes = result.lanes || flow.lanes;
    result.rows = result.rows || flow.rows;
  }
  if (!result.lanes) return result;
  if (expression.kind == ExpressionKind::binary) {
    const bool arithmetic =
        expression.text == "+" || expression.text == "-" || expression.text == "*" || expression.text == "/";
    if (!arithmetic && !is_comparison(expression.text))
      return unsupported("the operator " + expression.text + " on vectors");
    if (is_comparison(expression.text)) return result;
  }
  if (expression.kind == ExpressionKind::conditional) helpers_.insert("select");
  TRY(check_element_type(expression.type));
  return result;
}

bool SimdBody::is_declared_by_rows(const syntax::Symbol& symbol) const {
  return rows_ != nullptr && is_inside(*rows_, symbol) && !is_inside(lanes_, symbol) && symbol != *row_;
}

Result<SimdBody::Flow> SimdBody::check_name(const Expression& expression) {
  if (expression.declaration == lane_.declaration && expression.text == lane_.name) {
    return unsupported("the loop's variable is used as a value");
  }
  if (row_ && expression.declaration == row_->declaration && expression.text == row_->name) return Flow{false, true};
  if (const auto local = locals_.find(expression.declaration); expression.declaration >= 0 && local != locals_.end()) {
    return Flow{local->second.lanes, local->second.rows};
  }
  if (expression.declaration >= 0 && scope_.definitions.contains(expression.declaration)) {
    if (const auto resolved = syntax::polynomial(expression, scope_)) {
      if (resolved->uses(lane_)) return unsupported("the loop's variable is used as a value");
      return Flow{false, row_ && resolved->uses(*row_)};
    }
  }
  // What the body itself assigns, other than by accumulating, has been refused; reading an accumulated value is refused
  // here.
  const syntax::Effects effects = syntax::effects_of(body_, scope_);
  const syntax::Symbol symbol{expression.text, expression.declaration};
  if (std::find(effects.scalars_assigned.begin(), effects.scalars_assigned.end(), symbol) !=
      effects.scalars_assigned.end()) {
    return unsupported("an accumulated value is read in the loop");
  }
  return Flow{false, is_declared_by_rows(symbol)};
}

Result<SimdBody::Flow> SimdBody::check_element(const Expression& expression) {
  const auto access = syntax::element_access(expression, scope_);
  if (!access || !access->subscript) return unsupported("a subscript is not a sum of products");
  const bool of_row = is_declared_by_rows(access->base);
  if ((of_row && !assume_split_) || is_inside(lanes_, access->base)) {
    return unsupported("the array " + access->base.name + " belongs to one iteration");
  }
  const auto stride = access->subscript->coefficient(lane_);
  if (!stride) return unsupported("a subscript is not linear");
  Flow result{!stride->is_zero(), of_row || (row_ && access->subscript->uses(*row_))};
  if (reduction_of(expression) != nullptr) return unsupported("an accumulated value is read in the loop");
  if (!result.lanes) return result;
  TRY(check_element_type(expression.type));
  const bool contiguous = *stride == Polynomial(1);
  const bool may_pack = rows_ != nullptr && !result.rows && packing_ != Packing::none && !inner_.empty() &&
                        !written_.contains(key(*access));
  if (!(contiguous && packing_ != Packing::all) && may_pack) {
    std::vector<const Statement*> walking;
    for (const Statement* loop : inner_) {
      if (access->subscript->uses({loop->loop->variable, loop->loop->declaration})) walking.push_back(loop);
    }
    const bool known = std::any_of(packed_.begin(), packed_.end(), [&](const Packed& packed) {
      return packed.base == access->base && packed.subscript == *access->subscript;
    });
    if (walking.size() == 1 && walking.front()->loop->step == 1) {
      const syntax::LoopHeader& header = *walking.front()->loop;
      if (!known)
        packed_.push_back(
            {"", *access->subscript, access->base, walking.front(), {header.variable, header.declaration}});
      return result;
    }
  }
  if (!contiguous) return unsupported("the lanes of " + access->base.name + " are not next to each other");
  return result;
}

Result<SimdBody::Flow> SimdBody::check_call(const Expression& expression) {
  Flow result;
  for (const Expression& operand : expression.operands) {
    TRY_ASSIGN(const Flow flow, check_value(operand));
    result.lanes = result.lanes || flow.lanes;
    result.rows = result.rows || flow.rows;
  }
  if (!result.lanes) return result;
  const std::string name = math_function(expression.text);
  if (name.empty()) return unsupported("there is no vector form of " + expression.text);
  TRY(check_element_type(expression.type));
  helpers_.insert(name);
  return result;
}

}  // namespace accelopt::recipes
