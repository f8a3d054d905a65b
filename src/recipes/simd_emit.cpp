// SPDX-License-Identifier: Apache-2.0
// Writes what simd_analysis.cpp found writable.
#include <algorithm>
#include <cassert>

#include "recipes/simd_body.hpp"

namespace accelopt::recipes {

using syntax::Expression;
using syntax::ExpressionKind;
using syntax::Polynomial;
using syntax::Statement;
using syntax::StatementKind;

namespace {

/// gcc unrolls completely up to this count; every loop over rows or vectors is shorter.
constexpr const char* kUnroll = "#pragma GCC unroll 16\n";

}  // namespace

void SimdBody::line(const std::string& text) {
  out_ += indent_ + text + "\n";
}

std::string SimdBody::indices(bool rows, bool lanes) const {
  return (rows ? "[" + row_name_ + "]" : std::string()) + (lanes ? "[" + vector_name_ + "]" : std::string());
}

Polynomial SimdBody::placed(const Polynomial& subscript, bool lanes) const {
  Polynomial result = subscript;
  if (row_) result = result.replaced(*row_, Polynomial(*row_) + Polynomial(syntax::Symbol{row_name_, -1}));
  if (lanes) {
    const Polynomial vector =
        Polynomial(syntax::Symbol{vector_name_, -1}) * Polynomial(syntax::Symbol{simd_width(element_), -1});
    result = result.replaced(lane_, Polynomial(lane_) + vector);
  }
  return result;
}

std::string SimdBody::emit(const std::string& rows, const std::string& vectors) {
  out_.clear();
  indent_.clear();
  row_count_ = rows;
  vector_count_ = vectors;
  if (row_name_.empty()) row_name_ = subject_.fresh("tr");
  if (vector_name_.empty()) vector_name_ = subject_.fresh("tv");
  for (Reduction& reduction : reductions_) {
    if (reduction.part.empty()) reduction.part = subject_.fresh("parts");
  }
  for (const Statement& statement : body_) emit_statement(statement);
  return out_;
}

void SimdBody::emit_each(bool rows, bool lanes, const std::string& statement) {
  std::string indent = indent_;
  if (rows) {
    out_ += kUnroll + indent + "for (int " + row_name_ + " = 0; " + row_name_ + " < " + row_count_ + "; ++" +
            row_name_ + ")\n";
    indent += "  ";
  }
  if (lanes) {
    out_ += kUnroll + indent + "for (int " + vector_name_ + " = 0; " + vector_name_ + " < " + vector_count_ + "; ++" +
            vector_name_ + ")\n";
    indent += "  ";
  }
  out_ += indent + statement + "\n";
}

void SimdBody::emit_statement(const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::block:
      for (const Statement& child : statement.children) emit_statement(child);
      break;
    case StatementKind::declaration:
      emit_declaration(statement);
      break;
    case StatementKind::loop:
      emit_loop(statement);
      break;
    case StatementKind::branch:
      emit_branch(statement);
      break;
    case StatementKind::expression: {
      const Expression& target = statement.expression->operands[0];
      const Expression& assigned = statement.expression->operands[1];
      if (const Reduction* reduction = reduction_of(target)) {
        const auto found = accumulation_of(target, statement.expression->text, assigned);
        Value term = value(*found->value);
        if (found->negative) term.text = "(-" + term.text + ")";
        emit_reduction(*reduction, term);
      } else {
        emit_assignment(target, statement.expression->text, value(assigned));
      }
      break;
    }
    default:
      break;
  }
}

void SimdBody::emit_declaration(const Statement& statement) {
  if (is_alias(statement, scope_)) return;
  for (const syntax::Variable& variable : statement.variables) {
    const Local& local = locals_.at(variable.declaration);
    const std::string type = local.lanes                           ? simd_type(element_)
                             : variable.type.starts_with("const ") ? variable.type.substr(6)
                                                                   : variable.type;
    const std::string spelled = type == "auto" ? variable.initializer->type : type;
    line(spelled + " " + local.name + (local.rows ? "[" + row_count_ + "]" : "") +
         (local.lanes ? "[" + vector_count_ + "]" : "") + ";");
    if (!variable.initializer) continue;
    Value first = value(*variable.initializer);
    if (local.lanes) first = widened(first);
    emit_each(local.rows, local.lanes, local.name + indices(local.rows, local.lanes) + " = " + first.text + ";");
  }
}

void SimdBody::emit_assignment(const Expression& target, const std::string& operation, const Value& assigned) {
  Value right = assigned;
  if (target.kind == ExpressionKind::name) {
    const Local& local = locals_.at(target.declaration);
    if (local.lanes && operation == "=") right = widened(right);
    emit_each(local.rows, local.lanes,
              local.name + indices(local.rows, local.lanes) + " " + operation + " " + right.text + ";");
    return;
  }
  const auto access = syntax::element_access(target, scope_);
  const bool rows = row_.has_value();
  if (const auto promoted = promoted_.find(key(*access)); promoted != promoted_.end()) {
    if (operation == "=") right = widened(right);
    emit_each(rows, true, promoted->second + indices(rows, true) + " " + operation + " " + right.text + ";");
    return;
  }
  if (operation != "=") right = binary(operation.substr(0, 1), element(target, false), right);
  right = widened(right);
  emit_each(rows, true,
            (stream_ ? "simd_stream" : "simd_store") + std::string(is_double() ? "_f64" : "") + "(&" +
                access->base.name + "[" + placed(*access->subscript, true).text() + "], " + right.text + ");");
}

void SimdBody::emit_reduction(const Reduction& reduction, const Value& term) {
  const std::string place = reduction.part + indices(false, true);
  if (reduction.kind == Reduction::Kind::sum) {
    emit_each(false, true, place + " += " + term.text + ";");
  } else {
    const std::string suffix = is_double() ? "_f64" : "";
    const std::string name = "simd_" + combiner_of(reduction.kind) + suffix;
    // Of fmax and fmin the second argument is asked whether it is NaN: the term, for which nothing has to wait.
    const bool of_numbers =
        reduction.kind == Reduction::Kind::maximum_number || reduction.kind == Reduction::Kind::minimum_number;
    const std::string text = widened(term).text;
    emit_each(false, true,
              place + " = " + name + "(" + (of_numbers ? place + ", " + text : text + ", " + place) + ");");
  }
}

namespace {

void collect_loop_variables(const Statement& statement, std::set<syntax::Symbol>& result) {
  if (statement.loop) result.insert({statement.loop->variable, statement.loop->declaration});
  for (const Statement& child : statement.children) collect_loop_variables(child, result);
}

}  // namespace

void SimdBody::emit_loop(const Statement& statement) {
  std::set<syntax::Symbol> variables;
  collect_loop_variables(statement, variables);
  const syntax::Effects effects = syntax::effects_of(statement, scope_);
  std::vector<std::pair<std::string, syntax::ElementAccess>> held;
  for (const syntax::ElementAccess& access : effects.accesses) {
    if (!access.write || !access.subscript || promoted_.contains(key(access))) continue;
    if (!access.subscript->uses(lane_)) continue;
    const bool walks = std::any_of(variables.begin(), variables.end(),
                                   [&](const syntax::Symbol& variable) { return access.subscript->uses(variable); });
    if (walks) continue;
    const std::string name = subject_.fresh("kept");
    promoted_[key(access)] = name;
    held.emplace_back(name, access);
  }
  const bool rows = row_.has_value();
  const std::string suffix = is_double() ? "_f64" : "";
  for (const auto& [name, access] : held) {
    line(simd_type(element_) + " " + name + (rows ? "[" + row_count_ + "]" : "") + "[" + vector_count_ + "];");
    emit_each(rows, true,
              name + indices(rows, true) + " = simd_load" + suffix + "(&" + access.base.name + "[" +
                  placed(*access.subscript, true).text() + "]);");
  }
  const syntax::LoopHeader& header = *statement.loop;
  const auto begin = syntax::polynomial(*header.begin, scope_);
  const auto end = syntax::polynomial(*header.end, scope_);
  line("for (" + variable_type(header) + " " + header.variable + " = " +
       (begin ? begin->text() : begin_text(subject_, header)) + "; " + header.variable +
       (header.inclusive ? " <= " : " < ") + (end ? end->text() : std::string(subject_.text(header.end->extent))) +
       "; " + (header.step == 1 ? "++" + header.variable : header.variable + " += " + std::to_string(header.step)) +
       ") {");
  indent_ += "  ";
  for (const Statement& child : statement.children) emit_statement(child);
  indent_.resize(indent_.size() - 2);
  line("}");
  for (const auto& [name, access] : held) {
    promoted_.erase(key(access));
    emit_each(rows, true,
              "simd_store" + suffix + "(&" + access.base.name + "[" + placed(*access.subscript, true).text() + "], " +
                  name + indices(rows, true) + ");");
  }
}

void SimdBody::emit_branch(const Statement& statement) {
  const auto selection = selection_of(statement);
  if (const Reduction* reduction = reduction_of(*selection->target)) {
    return emit_reduction(*reduction, value(*accumulation_of(*selection)->value));
  }
  const Value condition = value(*selection->condition);
  const Value chosen = value(*selection->value);
  const Value otherwise = value(selection->otherwise != nullptr ? *selection->otherwise : *selection->target);
  Value result;
  result.lanes = condition.lanes || chosen.lanes || otherwise.lanes;
  result.rows = condition.rows || chosen.rows || otherwise.rows;
  const std::string suffix = is_double() ? "_f64" : "";
  result.text = condition.lanes ? "simd_select" + suffix + "(" + condition.text + ", " + widened(chosen).text + ", " +
                                      widened(otherwise).text + ")"
                : result.lanes
                    ? "(" + condition.text + " ? " + widened(chosen).text + " : " + widened(otherwise).text + ")"
                    : "(" + condition.text + " ? " + chosen.text + " : " + otherwise.text + ")";
  emit_assignment(*selection->target, "=", result);
}

SimdBody::Value SimdBody::widened(const Value& value) {
  if (value.lanes) return value;
  Value result = value;
  result.lanes = true;
  result.text = std::string("simd_splat") + (is_double() ? "_f64" : "") + "(" + value.text + ")";
  return result;
}

SimdBody::Value SimdBody::binary(const std::string& op, const Value& left, const Value& right) {
  Value result;
  result.lanes = left.lanes || right.lanes;
  result.rows = left.rows || right.rows;
  const auto operand = [&](const Value& value) {
    return result.lanes && !value.lanes && value.integer ? "(" + element_ + ")" + value.text : value.text;
  };
  result.text = "(" + operand(left) + " " + op + " " + operand(right) + ")";
  if (is_comparison(op) && result.lanes && (!left.lanes || !right.lanes)) {
    result.text = "(" + widened({operand(left), left.lanes, left.rows, false}).text + " " + op + " " +
                  widened({operand(right), right.lanes, right.rows, false}).text + ")";
  }
  return result;
}

const Packed* SimdBody::packed_as(const syntax::ElementAccess& access) const {
  const auto found = std::find_if(packed_.begin(), packed_.end(), [&](const Packed& packed) {
    return packed.base == access.base && access.subscript && packed.subscript == *access.subscript;
  });
  return found == packed_.end() ? nullptr : &*found;
}

SimdBody::Value SimdBody::element(const Expression& expression, bool) {
  const auto access = syntax::element_access(expression, scope_);
  Value result;
  result.lanes = access->subscript->uses(lane_);
  result.rows = row_ && access->subscript->uses(*row_);
  const std::string suffix = is_double() ? "_f64" : "";
  if (const auto promoted = promoted_.find(key(*access)); promoted != promoted_.end()) {
    result.rows = row_.has_value();
    result.text = promoted->second + indices(result.rows, true);
  } else if (const Packed* packed = result.lanes ? packed_as(*access) : nullptr) {
    const auto begin = syntax::polynomial(*packed->loop->loop->begin, scope_);
    const std::string line_of = begin && begin->is_zero()
                                    ? packed->index.name
                                    : "(" + packed->index.name + " - (" +
                                          (begin ? begin->text() : begin_text(subject_, *packed->loop->loop)) + "))";
    // Panels are as wide as the tile; the width is the panel's own constant.
    result.text = "simd_load" + suffix + "(&" + packed->panel + "[" + line_of + " * " + packed->panel + "_width + " +
                  vector_name_ + " * " + simd_width(element_) + "])";
  } else if (result.lanes) {
    result.text =
        "simd_load" + suffix + "(&" + access->base.name + "[" + placed(*access->subscript, true).text() + "])";
  } else {
    result.text = access->base.name + "[" + placed(*access->subscript, false).text() + "]";
  }
  return result;
}

SimdBody::Value SimdBody::call(const Expression& expression) {
  std::vector<Value> arguments;
  Value result;
  for (const Expression& operand : expression.operands) {
    arguments.push_back(value(operand));
    result.lanes = result.lanes || arguments.back().lanes;
    result.rows = result.rows || arguments.back().rows;
  }
  result.text = result.lanes ? "simd_" + math_function(expression.text) + (is_double() ? "_f64" : "") : expression.text;
  result.text += "(";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    result.text += (i == 0 ? "" : ", ") + (result.lanes ? widened(arguments[i]).text : arguments[i].text);
  }
  result.text += ")";
  return result;
}

SimdBody::Value SimdBody::value(const Expression& expression) {
  const bool is_integer = expression.type != "float" && expression.type != "double";
  switch (expression.kind) {
    case ExpressionKind::integer:
    case ExpressionKind::floating:
    case ExpressionKind::other:
      return {std::string(subject_.text(expression.extent)), false, false, is_integer};
    case ExpressionKind::name: {
      if (const auto local = locals_.find(expression.declaration);
          expression.declaration >= 0 && local != locals_.end()) {
        return {local->second.name + indices(local->second.rows, local->second.lanes), local->second.lanes,
                local->second.rows, false};
      }
      const bool resolved = expression.declaration >= 0 && scope_.definitions.contains(expression.declaration);
      const bool is_row = row_ && expression.declaration == row_->declaration && expression.text == row_->name;
      if (resolved || is_row) {
        if (const auto index = syntax::polynomial(expression, scope_)) {
          return {"(" + placed(*index, false).text() + ")", false, row_ && index->uses(*row_), true};
        }
      }
      return {expression.text, false, false, is_integer};
    }
    case ExpressionKind::subscript:
      return element(expression, false);
    case ExpressionKind::call:
      return call(expression);
    case ExpressionKind::unary: {
      if (expression.text == "*") return element(expression, false);
      Value operand = value(expression.operands[0]);
      operand.text = "(" + expression.text + operand.text + ")";
      return operand;
    }
    case ExpressionKind::cast: {
      Value operand = value(expression.operands[0]);
      if (!operand.lanes)
        operand.text =
            "(" + expression.text + ")" + (operand.text.starts_with("(") ? operand.text : "(" + operand.text + ")");
      operand.integer = is_integer;
      return operand;
    }
    case ExpressionKind::conditional: {
      const Value condition = value(expression.operands[0]);
      Value chosen = value(expression.operands[1]);
      Value otherwise = value(expression.operands[2]);
      Value result{"", condition.lanes || chosen.lanes || otherwise.lanes,
                   condition.rows || chosen.rows || otherwise.rows, false};
      if (result.lanes) {
        chosen = widened(chosen);
        otherwise = widened(otherwise);
      }
      const std::string suffix = is_double() ? "_f64" : "";
      result.text = condition.lanes ? "simd_select" + suffix + "(" + condition.text + ", " + chosen.text + ", " +
                                          otherwise.text + ")"
                                    : "(" + condition.text + " ? " + chosen.text + " : " + otherwise.text + ")";
      return result;
    }
    default: {
      Value result = binary(expression.text, value(expression.operands[0]), value(expression.operands[1]));
      result.integer = is_integer && !result.lanes;
      return result;
    }
  }
}

std::string SimdBody::emit_reduction_start(const std::string& vectors) const {
  std::string result;
  for (const Reduction& reduction : reductions_) {
    const std::string suffix = is_double() ? "_f64" : "";
    const std::string first = reduction.kind == Reduction::Kind::sum ? "0" : reduction.target;
    result += simd_type(element_) + " " + reduction.part + "[" + vectors + "];\n";
    result += std::string(kUnroll) + "for (int " + vector_name_ + " = 0; " + vector_name_ + " < " + vectors + "; ++" +
              vector_name_ + ")\n  " + reduction.part + "[" + vector_name_ + "] = simd_splat" + suffix + "(" + first +
              ");\n";
  }
  return result;
}

std::string SimdBody::emit_reduction_end(const std::string& vectors) const {
  std::string result;
  const std::string suffix = is_double() ? "_f64" : "";
  for (const Reduction& reduction : reductions_) {
    const std::string total = reduction.part + "[0]";
    const std::string other = reduction.part + "[" + vector_name_ + "]";
    if (vectors != "1") {
      result += std::string(kUnroll) + "for (int " + vector_name_ + " = 1; " + vector_name_ + " < " + vectors + "; ++" +
                vector_name_ + ")\n  ";
      result += reduction.kind == Reduction::Kind::sum
                    ? total + " += " + other + ";\n"
                    : total + " = simd_" + combiner_of(reduction.kind) + suffix + "(" + total + ", " + other + ");\n";
    }
    result += reduction.target + (reduction.kind == Reduction::Kind::sum ? " += simd_" : " = simd_") +
              fold_of(reduction.kind) + suffix + "(" + total + ");\n";
  }
  return result;
}

}  // namespace accelopt::recipes
