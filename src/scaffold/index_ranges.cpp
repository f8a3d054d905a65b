// SPDX-License-Identifier: Apache-2.0
#include "scaffold/index_ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "model/init.hpp"

namespace accelopt::scaffold {
namespace {

using syntax::Expression;
using syntax::ExpressionKind;
using syntax::Statement;

bool mentions(const Expression& expression, const std::set<std::string>& names) {
  if (expression.kind == ExpressionKind::name && names.contains(expression.text)) return true;
  return std::ranges::any_of(expression.operands, [&](const Expression& one) { return mentions(one, names); });
}

bool is_pointer(const std::string& type) {
  return type.find_first_of("*[") != std::string::npos;
}

/// The names of tensors in whose subscripts, or behind whose pointers, an input's elements stand.
class IndexedReader {
 public:
  IndexedReader(const syntax::Function& function, const std::string& indices) : indices_{indices} {
    for (std::size_t known = 0; known != indices_.size();) {
      known = indices_.size();
      collect(function.block);
    }
    read(function.block);
  }

  [[nodiscard]] bool indexes(const std::string& name) const { return indexed_.contains(name); }

 private:
  /// Variables that hold indices because of what they are given.
  void collect(const Statement& statement) {
    for (const syntax::Variable& variable : statement.variables) {
      const bool holds = variable.initializer && mentions(*variable.initializer, indices_);
      if (holds && !is_pointer(variable.type)) indices_.insert(variable.name);
    }
    if (statement.expression) collect(*statement.expression);
    for (const Statement& child : statement.children) collect(child);
  }

  void collect(const Expression& expression) {
    const bool assigns = expression.kind == ExpressionKind::assign && expression.operands.size() == 2;
    if (assigns && expression.operands[0].kind == ExpressionKind::name && !is_pointer(expression.operands[0].type) &&
        mentions(expression.operands[1], indices_))
      indices_.insert(expression.operands[0].text);
    for (const Expression& operand : expression.operands) collect(operand);
  }

  void read(const Statement& statement) {
    for (const syntax::Variable& variable : statement.variables) {
      if (variable.initializer) read(*variable.initializer);
    }
    if (statement.expression) read(*statement.expression);
    for (const Statement& child : statement.children) read(child);
  }

  void read(const Expression& expression) {
    const bool is_place = expression.kind == ExpressionKind::binary && expression.text == "+" &&
                          is_pointer(expression.type) && expression.operands.size() == 2;
    if ((is_place || expression.kind == ExpressionKind::subscript) && mentions(expression.operands[1], indices_))
      indexed_.insert(base_of(expression.operands[0]));
    for (const Expression& operand : expression.operands) read(operand);
  }

  static std::string base_of(const Expression& expression) {
    const Expression* base = &expression;
    while (base->kind != ExpressionKind::name && !base->operands.empty()) base = &base->operands[0];
    return base->text;
  }

  std::set<std::string> indices_;
  std::set<std::string> indexed_;
};

/// The variable axis of that extent in a tensor that the input indexes, and the tensor's name; null: there is none.
std::pair<const KernelAxis*, std::string> indexed_axis(const Signature& signature, const IndexedReader& read,
                                                       double extent) {
  for (const KernelParameter& parameter : signature.parameters) {
    if (!parameter.is_tensor || !parameter.shape || !read.indexes(parameter.name)) continue;
    for (const std::string& name : *parameter.shape) {
      const KernelAxis* const axis = signature.axis(name);
      if (axis->is_variable && axis->raced && static_cast<double>(*axis->raced) == extent)
        return {axis, parameter.name};
    }
  }
  return {nullptr, ""};
}

}  // namespace

std::vector<std::string> name_index_ranges(const syntax::Function& function, const Signature& signature,
                                           Stated& stated) {
  std::vector<std::string> notes;
  for (const KernelParameter& parameter : signature.parameters) {
    const auto init = stated.inits.find(parameter.name);
    const bool is_read = parameter.role == ParameterRole::input || parameter.role == ParameterRole::inout;
    if (init == stated.inits.end() || !is_read || model::is_floating(parameter.dtype)) continue;
    auto spec = model::parse_init(init->second);
    if (!spec || spec->kind != model::InitKind::integers || !spec->expressions[1].empty()) continue;
    const auto [axis, tensor] = indexed_axis(signature, IndexedReader(function, parameter.name), spec->second);
    if (axis == nullptr) continue;
    spec->expressions[1] = axis->name;
    const std::string was = std::exchange(init->second, model::to_string(*spec));
    notes.push_back(
        fmt::format("{} indexes {}: {} is written as {}, so that it stays inside in workloads of another {}",
                    parameter.name, tensor, was, init->second, axis->name));
  }
  return notes;
}

}  // namespace accelopt::scaffold
