// SPDX-License-Identifier: Apache-2.0
#include "scaffold/unknown_extents.hpp"

#include <algorithm>
#include <set>

#include "scaffold/parameter_type.hpp"
#include "scaffold/words.hpp"
#include "syntax/loops.hpp"

namespace accelopt::scaffold {
namespace {

using syntax::Polynomial;
using syntax::Symbol;

/// The name in an entry's argument: "M" of "int M".
std::string name_in_argument(const std::string& argument) {
  const std::size_t last = argument.find_last_not_of(' ');
  const std::size_t space = argument.find_last_of(" *&", last);
  return argument.substr(space == std::string::npos ? 0 : space + 1,
                         last - (space == std::string::npos ? 0 : space + 1) + 1);
}

/// The value that the file itself gives a name, as its uses in the function show.
std::optional<std::int64_t> value_in_expression(const syntax::Expression& expression, const std::string& name) {
  if (expression.kind == syntax::ExpressionKind::name && expression.text == name && expression.value)
    return expression.value;
  for (const syntax::Expression& operand : expression.operands) {
    if (const auto value = value_in_expression(operand, name)) return value;
  }
  return std::nullopt;
}

bool has_sign(const Polynomial& polynomial, int sign) {
  return std::all_of(polynomial.terms().begin(), polynomial.terms().end(),
                     [&](const auto& term) { return term.second * sign >= 0; });
}

/// The function's subscripts against the task's shapes.
class Subscripts {
 public:
  Subscripts(const model::Task& task, const syntax::Function& function)
      : task_(task),
        function_(function),
        tree_(function),
        accesses_(syntax::effects_of(function.block, tree_.scope()).accesses) {}

  /// Whether every use of the tensor is an element inside of its shape, for all sizes, and some use is the last one.
  [[nodiscard]] bool end_with(const model::TensorSpec& tensor, const syntax::Parameter& parameter,
                              std::int64_t fields) const {
    const auto size = size_of(tensor, fields > 0);
    if (!size) return false;
    std::set<std::size_t> seen;
    bool ends = false;
    for (const syntax::ElementAccess& access : accesses_) {
      if (access.base.name != parameter.name) continue;
      const auto last = access.subscript ? largest(*access.subscript) : std::nullopt;
      if (!last) return false;
      const Polynomial left = *size - *last - Polynomial(1);
      if (!has_sign(left, 1)) return false;
      ends = ends || left.is_zero();
      seen.insert(access.extent.begin);
    }
    const auto is_seen = [&](const syntax::NameUse& use) {
      return use.declaration != parameter.declaration || use.extent.begin < function_.body.begin ||
             seen.contains(use.extent.begin);
    };
    return ends && std::all_of(function_.names.begin(), function_.names.end(), is_seen);
  }

 private:
  /// Elements, or records, of the tensor over the function's parameters. None: a container gives an axis.
  [[nodiscard]] std::optional<Polynomial> size_of(const model::TensorSpec& tensor, bool of_records) const {
    Polynomial size(1);
    const std::size_t count = tensor.shape->size() - (of_records ? 1 : 0);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string& name = (*tensor.shape)[i];
      const syntax::Parameter* const parameter = parameter_of_entry(*task_.entry, function_, name);
      const auto axis = std::find_if(task_.definition.axes.begin(), task_.definition.axes.end(),
                                     [&](const model::Axis& one) { return one.name == name; });
      if (parameter == nullptr && (axis == task_.definition.axes.end() || !axis->value)) return std::nullopt;
      size = size * (parameter != nullptr ? Polynomial(Symbol{parameter->name, parameter->declaration})
                                          : Polynomial(*axis->value));
    }
    return size;
  }

  /// The largest value over all loops, over the function's axes alone.
  [[nodiscard]] std::optional<Polynomial> largest(Polynomial subscript) const {
    // Inner loops first: their bounds may name the variables of outer ones.
    for (auto loop = tree_.loops().rbegin(); loop != tree_.loops().rend(); ++loop) {
      const Symbol variable = (*loop)->symbol();
      const syntax::LoopHeader& header = (*loop)->header();
      if (!subscript.uses(variable)) continue;
      const auto factor = subscript.coefficient(variable);
      if (!header.canonical || !header.begin || !header.end || !factor) return std::nullopt;
      const bool rises = has_sign(*factor, 1);
      if (!rises && !has_sign(*factor, -1)) return std::nullopt;
      auto bound = syntax::polynomial(rises ? *header.end : *header.begin, tree_.scope());
      if (!bound) return std::nullopt;
      if (rises && !header.inclusive) *bound -= Polynomial(1);
      subscript = subscript.replaced(variable, *bound);
    }
    for (const auto& [symbol, value] : tree_.scope().constants)
      subscript = subscript.replaced(symbol, Polynomial(value));
    for (const Symbol& symbol : subscript.symbols()) {
      const bool is_axis =
          std::any_of(task_.definition.axes.begin(), task_.definition.axes.end(), [&](const auto& axis) {
            const syntax::Parameter* const parameter = parameter_of_entry(*task_.entry, function_, axis.name);
            return parameter != nullptr && Symbol{parameter->name, parameter->declaration} == symbol;
          });
      if (!is_axis) return std::nullopt;
    }
    return subscript;
  }

  const model::Task& task_;
  const syntax::Function& function_;
  syntax::LoopTree tree_;
  std::vector<syntax::ElementAccess> accesses_;
};

}  // namespace

const syntax::Parameter* parameter_of_entry(const model::Entry& entry, const syntax::Function& function,
                                            const std::string& name) {
  std::size_t place = 0;  // extents that follow from others are no parameters
  for (const std::string& argument : entry.args) {
    if (argument.find('=') != std::string::npos) continue;
    if (place == function.parameters.size()) break;
    if (name_in_argument(argument) == name) return &function.parameters[place];
    ++place;
  }
  return nullptr;
}

std::optional<std::int64_t> value_in(const syntax::Statement& statement, const std::string& name) {
  std::vector<const std::optional<syntax::Expression>*> expressions{&statement.expression};
  if (statement.loop) {
    expressions.push_back(&statement.loop->begin);
    expressions.push_back(&statement.loop->end);
  }
  for (const syntax::Variable& variable : statement.variables) expressions.push_back(&variable.initializer);
  for (const auto* expression : expressions) {
    if (!*expression) continue;
    if (const auto value = value_in_expression(**expression, name)) return value;
  }
  for (const syntax::Statement& child : statement.children) {
    if (const auto value = value_in(child, name)) return value;
  }
  return std::nullopt;
}

std::vector<std::string> unknown_extents(const model::Task& task, const syntax::Unit& unit,
                                         const syntax::Function& function) {
  std::set<std::string> known;
  std::vector<std::string> shaped;
  const Subscripts subscripts(task, function);
  for (const auto* tensors : {&task.definition.inputs, &task.definition.outputs}) {
    for (const model::TensorSpec& tensor : *tensors) {
      const syntax::Parameter* const parameter = parameter_of_entry(*task.entry, function, tensor.name);
      if (parameter == nullptr || !tensor.shape || tensor.shape->empty()) continue;
      const ParameterType type = type_of(unit, *parameter);
      const bool has_size =
          type.form == ParameterForm::container || subscripts.end_with(tensor, *parameter, type.fields);
      for (std::size_t i = 0; i < tensor.shape->size(); ++i) {
        const bool is_declared = i < type.extents.size() && type.extents[i].has_value();
        const bool is_fields = type.fields > 0 && i + 1 == tensor.shape->size();
        if (has_size || is_declared || is_fields) known.insert((*tensor.shape)[i]);
        shaped.push_back((*tensor.shape)[i]);
      }
    }
  }
  for (const std::string& argument : task.entry->args) {
    const std::size_t equals = std::min(argument.find('='), argument.size());
    for (const Word& word : words(std::string_view(argument).substr(equals))) shaped.push_back(word.text);
  }
  std::vector<std::string> unknown;
  for (const model::Axis& axis : task.definition.axes) {
    const bool is_used = std::find(shaped.begin(), shaped.end(), axis.name) != shaped.end();
    if (!axis.value || *axis.value == 1 || !is_used || known.contains(axis.name)) continue;
    if (parameter_of_entry(*task.entry, function, axis.name) != nullptr) continue;
    if (!model::derived_extent(*task.entry, axis.name).empty()) continue;
    if (value_in(function.block, axis.name) != axis.value) unknown.push_back(axis.name);
  }
  return unknown;
}

}  // namespace accelopt::scaffold
