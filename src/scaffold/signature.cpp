// SPDX-License-Identifier: Apache-2.0
#include "scaffold/signature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/expression.hpp"
#include "base/text.hpp"
#include "model/init.hpp"
#include "model/task.hpp"
#include "scaffold/conditional_stores.hpp"
#include "scaffold/earlier_calls.hpp"
#include "scaffold/unknown_extents.hpp"
#include "scaffold/words.hpp"
#include "suites/c_names.hpp"
#include "syntax/loops.hpp"

namespace accelopt::scaffold {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

/// "name=rest" taken apart.
Result<std::pair<std::string, std::string>> split(const std::string& text, const std::string& form) {
  const auto equals = text.find('=');
  const std::string name(base::trimmed(std::string_view(text).substr(0, equals)));
  if (equals == std::string::npos || !suites::is_identifier(name)) {
    return fail(ErrorCode::invalid_argument, "\"" + text + "\" has not the form " + form);
  }
  return std::pair{name, std::string(base::trimmed(std::string_view(text).substr(equals + 1)))};
}

Result<std::int64_t> extent_of(const std::string& text, const std::string& form) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size() || value < 1) {
    return fail(ErrorCode::invalid_argument, "\"" + text + "\" is no extent; write " + form);
  }
  return value;
}

/// The name of the axis that an extent in a shape makes: of the same expression the same.
std::string name_of_extent(Stated& stated, const std::string& name, std::string expression) {
  std::erase(expression, ' ');
  for (const auto& [known, of] : stated.expressions) {
    if (of == expression) return known;
  }
  stated.expressions[name] = expression;
  return name;
}

Result<std::vector<std::string>> axes_of(const std::string& parameter, const std::string& text, Stated& stated) {
  std::vector<std::string> names;
  const bool are_several = text.find(',') != std::string::npos;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    std::string name(base::trimmed(std::string_view(text).substr(begin, comma - begin)));
    begin = comma + 1;
    if (const std::string reason = suites::refuse_c_name(name); !reason.empty()) {
      if (suites::is_identifier(name) || !model::refuse_derived_extent(name).empty())
        return fail(ErrorCode::invalid_argument, "\"" + name + "\" is no name for an axis: " + reason +
                                                     "; a shape is axis names, like x=M,K, or what follows from them "
                                                     "by + - *, like y=len+taps");
      const std::string place = are_several ? std::to_string(names.size()) : "";
      name = name_of_extent(stated, parameter + "_extent" + place, name);
    }
    names.push_back(std::move(name));
  }
  return names;
}

bool is_integer(const std::string& type) {
  static const std::set<std::string> kIntegers{"int",          "long",          "long long",      "short",
                                               "unsigned int", "unsigned long", "unsigned short", "unsigned long long"};
  return kIntegers.contains(type);
}

Result<void> check_axis_name(const std::string& option, const std::string& name) {
  const std::string reason = suites::refuse_c_name(name);
  if (reason.empty()) return {};
  return fail(ErrorCode::invalid_argument, option + " " + name + ": no name for an axis: " + reason);
}

class SignatureReader {
 public:
  SignatureReader(const syntax::Unit& unit, const syntax::Function& function, const Stated& stated)
      : unit_(unit), function_(function), stated_(stated) {}

  Result<Signature> read() {
    TRY(check_names());
    collect_axes();
    for (const syntax::Parameter& parameter : function_.parameters) TRY(read_parameter(parameter));
    TRY(read_result());
    finish_axes();
    TRY(finish_derived_axes());
    TRY(read_ties());
    const syntax::LoopTree tree(function_);
    const syntax::Effects effects = effects_of(function_.block, tree.scope());
    for (const syntax::Symbol& symbol : effects.scalars_assigned) result_.assigned.push_back(symbol.name);
    for (const KernelParameter& parameter : result_.parameters) TRY(check_role(parameter, effects));
    const std::set<std::string> data = names_of_data();
    result_.reads_everything = !may_leave_inputs_unread(unit_, function_, data);
    for (KernelParameter& parameter : result_.parameters) {
      if (parameter.role == ParameterRole::inout)
        parameter.is_always_written = condition_of_store(unit_, function_, parameter.name, data).empty();
    }
    return std::move(result_);
  }

 private:
  bool is_parameter(const std::string& name) const {
    return std::any_of(function_.parameters.begin(), function_.parameters.end(),
                       [&](const syntax::Parameter& parameter) { return parameter.name == name; });
  }

  Result<void> check_names() const {
    std::vector<std::string> named = stated_.outputs;
    named.insert(named.end(), stated_.inouts.begin(), stated_.inouts.end());
    for (const auto& [name, shape] : stated_.shapes) {
      if (!is_tie_value(name)) named.push_back(name);
    }
    for (const auto& [name, values] : stated_.ties) named.push_back(name);
    for (const auto& [name, init] : stated_.inits) named.push_back(name);
    std::string known = base::joined(function_.parameters, ", ", &syntax::Parameter::name);
    for (const std::string& name : named) {
      if (is_parameter(name)) continue;
      return fail(ErrorCode::invalid_argument,
                  function_.name + " has no parameter " + name + "; it has " + (known.empty() ? "none" : known));
    }
    for (const std::string& name : stated_.inouts) {
      if (!is_stated(stated_.outputs, name)) continue;
      return fail(ErrorCode::invalid_argument, name + " is given as --out and as --inout; --inout says both");
    }
    if (stated_.outputs.empty() && stated_.inouts.empty() && function_.return_value_type == "void") {
      return fail(ErrorCode::invalid_argument, "nothing says what " + function_.name +
                                                   " writes; add --out with one of " + known +
                                                   ", or --inout for what it changes in place");
    }
    return check_axes(known);
  }

  [[nodiscard]] bool is_tie_value(const std::string& name) const {
    return std::any_of(stated_.ties.begin(), stated_.ties.end(), [&](const auto& tie) { return tie.second == name; });
  }

  /// Which outputs are indices of which values; values that are no output are left to the reference.
  Result<void> read_ties() {
    for (const auto& [indices, values] : stated_.ties) {
      const auto find = [this](const std::string& name) {
        return std::find_if(result_.parameters.begin(), result_.parameters.end(),
                            [&](const KernelParameter& parameter) { return parameter.name == name; });
      };
      const auto output = find(indices);
      if (output == result_.parameters.end() || output->role != ParameterRole::output ||
          model::is_floating(output->dtype)) {
        return fail(ErrorCode::invalid_argument, "--ties " + indices + "=" + values + ": " + indices +
                                                     " must be an output of integers (--out " + indices + ")");
      }
      const auto given = find(values);
      if (given != result_.parameters.end()) {
        if (given->role != ParameterRole::output || !model::is_floating(given->dtype)) {
          return fail(ErrorCode::invalid_argument, "--ties " + indices + "=" + values + ": " + values +
                                                       " is no floating-point output; give another name, and its axes "
                                                       "with --shape, for values that only the reference writes");
        }
        output->ties = given->task_name;
        continue;
      }
      const auto shape = stated_.shapes.find(values);
      if (shape == stated_.shapes.end()) {
        return fail(ErrorCode::invalid_argument, "--ties " + indices + "=" + values + ": add --shape " + values +
                                                     "=AXIS,AXIS: the rows of " + indices +
                                                     ", and last the axis that the indices name");
      }
      output->ties = values;
      const bool known = std::any_of(result_.ties.begin(), result_.ties.end(),
                                     [&name = values](const TieValues& one) { return one.name == name; });
      if (!known) result_.ties.push_back({values, shape->second, dtype_of_inputs()});
    }
    return {};
  }

  [[nodiscard]] model::DType dtype_of_inputs() const {
    for (const KernelParameter& parameter : result_.parameters) {
      const bool read = parameter.role == ParameterRole::input || parameter.role == ParameterRole::inout;
      if (read && parameter.is_tensor && model::is_floating(parameter.dtype)) return parameter.dtype;
    }
    return model::DType::float32;
  }

  static bool is_stated(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  /// An axis that no shape names and no parameter is would change nothing.
  Result<void> check_axes(const std::string& parameters) const {
    for (const auto& stated : stated_.axes) {
      const std::string& axis = stated.first;
      const bool shaped = std::any_of(stated_.shapes.begin(), stated_.shapes.end(),
                                      [&](const auto& entry) { return is_stated(entry.second, axis); }) ||
                          std::any_of(stated_.expressions.begin(), stated_.expressions.end(),
                                      [&](const auto& entry) { return has_word(entry.second, axis); });
      const bool passed =
          std::any_of(function_.parameters.begin(), function_.parameters.end(),
                      [&](const auto& parameter) { return base::lower(parameter.name) == base::lower(axis); });
      if (shaped || passed) continue;
      return fail(ErrorCode::invalid_argument, "--axis " + axis + ": no shape names it and " + function_.name +
                                                   " has no such parameter; it has " + parameters);
    }
    return {};
  }

  void add_axis(const std::string& name) {
    if (result_.axis(name) != nullptr) return;
    const auto derived = stated_.expressions.find(name);
    const std::string expression = derived == stated_.expressions.end() ? "" : derived->second;
    for (const Word& word : words(expression)) {
      if (!word.is_number) add_axis(word.text);
    }
    result_.axes.push_back({name, false, false, std::nullopt, std::nullopt, expression});
  }

  /// In the order in which the parameters' shapes name them, then those that only an option names.
  void collect_axes() {
    for (const syntax::Parameter& parameter : function_.parameters) {
      const auto shape = stated_.shapes.find(parameter.name);
      if (shape == stated_.shapes.end()) continue;
      for (const std::string& name : shape->second) add_axis(name);
    }
    for (const auto& [name, extent] : stated_.axes) add_axis(name);
    for (const auto& [name, extent] : stated_.constants) add_axis(name);
  }

  /// The axis that an integer parameter stands for: of the same name, or of one that differs in case alone.
  KernelAxis* axis_of(const std::string& parameter) {
    KernelAxis* found = nullptr;
    for (KernelAxis& axis : result_.axes) {
      if (axis.name == parameter) return &axis;
      if (base::lower(axis.name) == base::lower(parameter) && !is_parameter(axis.name)) found = &axis;
    }
    return found;
  }

  Result<void> read_parameter(const syntax::Parameter& parameter) {
    if (parameter.name.empty()) {
      return fail(ErrorCode::unsupported, "a parameter of " + function_.name + " has no name; name it");
    }
    KernelParameter result;
    result.name = parameter.name;
    result.task_name = suites::refuse_c_name(parameter.name).empty() ? parameter.name : parameter.name + "_values";
    result.type = type_of(unit_, parameter);
    result.declaration = std::string(unit_.text(parameter.extent));
    const ParameterForm form = result.type.form;
    KernelAxis* axis =
        form == ParameterForm::value && is_integer(result.type.element) ? axis_of(parameter.name) : nullptr;
    if (axis != nullptr) {
      result.role = ParameterRole::axis;
      result.axis = axis->name;
      axis->is_parameter = true;
      result_.parameters.push_back(std::move(result));
      return {};
    }
    const auto dtype = dtype_of(result.type.element);
    if (!dtype || form == ParameterForm::other) return fail(ErrorCode::unsupported, refusal(parameter));
    result.dtype = *dtype;
    result.is_tensor = form != ParameterForm::value;
    if (form == ParameterForm::container) TRY(check_members(parameter.name));
    const bool is_inout = is_stated(stated_.inouts, parameter.name);
    const bool is_output = is_inout || is_stated(stated_.outputs, parameter.name);
    if (is_output && (!result.is_tensor || result.type.is_const)) {
      return fail(ErrorCode::invalid_argument, parameter.name + " cannot be an output: it is a " + parameter.type +
                                                   ", through which nothing is written");
    }
    if (is_output) result.role = is_inout ? ParameterRole::inout : ParameterRole::output;
    TRY(read_shape(result));
    result_.parameters.push_back(std::move(result));
    return {};
  }

  /// That the body asks of a container only what a view of its elements answers.
  [[nodiscard]] Result<void> check_members(const std::string& name) const {
    static const std::set<std::string> kOfViews{"begin", "end",   "rbegin", "rend",  "size", "size_bytes", "empty",
                                                "data",  "front", "back",   "first", "last", "subspan"};
    const std::string_view body = unit_.text(function_.body);
    const std::vector<Word> all = words(body);
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      const std::string& member = all[i + 1].text;
      const bool is_use = all[i].text == name && !all[i].is_qualified && all[i + 1].is_qualified;
      const std::string_view between = body.substr(all[i].offset + name.size());
      if (!is_use || !between.starts_with("." + member) || kOfViews.contains(member)) continue;
      return fail(ErrorCode::unsupported,
                  function_.name + " calls " + name + "." + member +
                      "(), and a kernel has only the elements of a container, by [] and size(); " +
                      (member == "at" ? "write " + name + "[i] there"
                                      : "leave that to the caller, in a function of its own around this one"));
    }
    return {};
  }

  /// Whether the file defines the type as an enumeration.
  [[nodiscard]] bool is_enumeration(const std::string& type) const {
    const std::vector<Word> of_type = words(type);
    const std::vector<Word> all = words(unit_.source);
    for (std::size_t i = 0; !of_type.empty() && i + 1 < all.size(); ++i) {
      if (all[i].text != "enum") continue;
      const bool is_class = all[i + 1].text == "class" || all[i + 1].text == "struct";
      const std::size_t place = i + (is_class ? 2 : 1);
      if (place < all.size() && all[place].text == of_type.back().text) return true;
    }
    return false;
  }

  /// What a parameter is that no kernel takes, and the wrapper that would make it one.
  [[nodiscard]] std::string refusal(const syntax::Parameter& parameter) const {
    if (type_of(unit_, parameter).form == ParameterForm::value && is_enumeration(parameter.value_type)) {
      return "parameter " + parameter.name + " is a " + parameter.type +
             ", an enumeration, and init takes numbers.\nGive the work to a function of an int, void " +
             function_.name + "_flat(int " + parameter.name + ", ...), call it from " + function_.name +
             ", and name that one; or to one function per value, which can be faster";
    }
    return "parameter " + parameter.name + " is a " + parameter.type +
           "; init takes numbers, pointers, arrays, std::span and std::vector& of numbers, and structs of equal ones.\n"
           "Give the work to a function of pointers, void " +
           function_.name + "_flat(" + flat_declaration(parameter) + ", ...), call it from " + function_.name +
           ", and name that one";
  }

  /// The shape as it is stated, or as the declaration's own extents give it.
  Result<void> read_shape(KernelParameter& parameter) {
    const auto stated = stated_.shapes.find(parameter.name);
    const std::vector<std::optional<std::int64_t>>& extents = parameter.type.extents;
    if (stated != stated_.shapes.end()) {
      if (!parameter.is_tensor) {
        return fail(ErrorCode::invalid_argument, parameter.name + " is a number by value and has no shape");
      }
      parameter.shape = stated->second;
      if (!extents.empty() && extents.size() != parameter.shape->size()) {
        return fail(ErrorCode::invalid_argument, parameter.name + " has " + std::to_string(extents.size()) +
                                                     " extents in its declaration; name as many axes");
      }
    } else if (!extents.empty() &&
               std::all_of(extents.begin(), extents.end(), [](auto one) { return one.has_value(); })) {
      parameter.shape.emplace();
      for (std::size_t i = 0; i < extents.size(); ++i) {
        parameter.shape->push_back(parameter.name + "_extent" + (extents.size() > 1 ? std::to_string(i) : ""));
        add_axis(parameter.shape->back());
      }
    } else if (parameter.type.form == ParameterForm::container) {
      return fail(ErrorCode::invalid_argument,
                  "nothing says how many elements " + parameter.name + " has; add --shape " + parameter.name + "=n");
    }
    for (std::size_t i = 0; i < extents.size() && parameter.shape; ++i) {
      if (extents[i]) TRY(set_constant((*parameter.shape)[i], *extents[i], parameter.name));
    }
    if (parameter.type.fields > 0 && parameter.shape) {
      const std::string axis = parameter.name + "_fields";
      parameter.shape->push_back(axis);
      add_axis(axis);
      TRY(set_constant(axis, parameter.type.fields, parameter.name));
    }
    return {};
  }

  Result<void> set_constant(const std::string& name, std::int64_t extent, const std::string& parameter) {
    const auto stated =
        std::find_if(stated_.axes.begin(), stated_.axes.end(), [&](const auto& entry) { return entry.first == name; });
    if (stated != stated_.axes.end() && stated->second != extent) {
      return fail(ErrorCode::invalid_argument, "--axis " + name + "=" + std::to_string(stated->second) + ": " +
                                                   parameter + " is declared with " + std::to_string(extent));
    }
    for (KernelAxis& axis : result_.axes) {
      if (axis.name == name) axis.constant = extent;
    }
    return {};
  }

  /// What the function returns becomes an output of one element, the last.
  Result<void> read_result() {
    if (function_.return_value_type == "void") return {};
    KernelParameter result;
    result.role = ParameterRole::output;
    result.is_returned = true;
    const std::string_view text = unit_.text(function_.extent);
    result.name = result.task_name = has_word(text, "result") ? "returned_value" : "result";
    result.type.form = ParameterForm::pointer;
    result.type.element = function_.return_value_type;
    result.is_tensor = true;
    result.shape.emplace();
    const auto dtype = dtype_of(function_.return_value_type);
    if (!dtype) {
      return fail(ErrorCode::unsupported, function_.name + " returns " + function_.return_type +
                                              "; a kernel gives numbers: let it write its result through a pointer");
    }
    result.dtype = *dtype;
    result.declaration = function_.return_value_type + "* " + result.name;
    result_.parameters.push_back(std::move(result));
    return {};
  }

  /// Whether the function treats the parameter as it was stated to.
  Result<void> check_role(const KernelParameter& parameter, const syntax::Effects& effects) {
    if (!parameter.is_tensor || parameter.type.is_const || parameter.is_returned) return {};
    const auto of_it = [&](const syntax::ElementAccess& access) { return access.base.name == parameter.name; };
    const auto first = std::find_if(effects.accesses.begin(), effects.accesses.end(), of_it);
    const bool written = std::any_of(first, effects.accesses.end(), [&](const syntax::ElementAccess& access) {
      return of_it(access) && access.write;
    });
    if (parameter.role == ParameterRole::input && written) {
      return fail(ErrorCode::invalid_argument, function_.name + " writes " + parameter.name + "; give --out " +
                                                   parameter.name + ", or --inout " + parameter.name +
                                                   " where what it held before the call counts");
    }
    if (parameter.role != ParameterRole::output) return {};
    const bool is_used = first != effects.accesses.end();
    const bool reads = is_used && first->read;
    const EarlierCall call =
        earlier_call(unit_, function_, result_, parameter, is_used ? first->extent.begin : function_.body.end);
    if (call != EarlierCall::fills && (!is_used || (reads && call == EarlierCall::unknown))) {
      result_.notes.push_back("init cannot see how " + function_.name + " uses " + parameter.name +
                              "; if it reads what " + parameter.name + " held before the call, give --inout " +
                              parameter.name + " instead of --out");
    } else if (reads && call == EarlierCall::none) {
      return fail(ErrorCode::invalid_argument, function_.name + " reads " + parameter.name +
                                                   " before it writes it; give --inout " + parameter.name +
                                                   " instead of --out " + parameter.name);
    } else if (const std::string condition = condition_of_store(unit_, function_, parameter.name, names_of_data());
               !condition.empty()) {
      return fail(ErrorCode::invalid_argument, function_.name + " leaves elements of " + parameter.name +
                                                   " unwritten, depending on `" + condition +
                                                   "`; let it write all of them, or give --inout " + parameter.name +
                                                   " instead of --out " + parameter.name);
    }
    return {};
  }

  [[nodiscard]] std::set<std::string> names_of_data() const {
    std::set<std::string> names;
    for (const KernelParameter& parameter : result_.parameters) {
      if (parameter.role == ParameterRole::input || parameter.role == ParameterRole::inout)
        names.insert(parameter.name);
    }
    return names;
  }

  void finish_axes() {
    for (KernelAxis& axis : result_.axes) {
      const auto constant = stated_.constants.find(axis.name);
      if (!axis.constant && constant != stated_.constants.end()) axis.constant = constant->second;
    }
    take_axes_from_sizes();
    for (KernelAxis& axis : result_.axes) {
      if (axis.constant || !axis.expression.empty()) continue;
      const auto stated = std::find_if(stated_.axes.begin(), stated_.axes.end(),
                                       [&](const auto& entry) { return entry.first == axis.name; });
      if (stated != stated_.axes.end()) {
        axis.is_variable = axis.is_variable || axis.is_parameter;
        (axis.is_variable ? axis.raced : axis.constant) = stated->second;
      } else if (!axis.is_parameter) {
        axis.is_variable = false;
        axis.constant = value_in(function_.block, axis.name);
      }
    }
  }

  /// Those that follow from others, once these are known.
  Result<void> finish_derived_axes() {
    std::map<std::string, std::int64_t> extents;
    bool vary = false;
    for (KernelAxis& axis : result_.axes) {
      if (axis.constant) axis.expression.clear();  // declared
      if (axis.expression.empty()) {
        if (axis.constant || axis.raced) extents[axis.name] = axis.constant ? *axis.constant : *axis.raced;
        continue;
      }
      vary = false;
      for (const Word& word : words(axis.expression)) {
        const KernelAxis* const named = word.is_number ? nullptr : result_.axis(word.text);
        if (named != nullptr && !extents.contains(named->name)) {
          return fail(ErrorCode::invalid_argument, "the extent " + axis.expression + " needs " + named->name +
                                                       "; add --axis " + named->name + "=EXTENT");
        }
        vary = vary || (named != nullptr && named->is_variable);
      }
      TRY_ASSIGN(const std::int64_t extent, base::evaluate_expression(axis.expression, extents));
      if (extent < 1)
        return fail(ErrorCode::invalid_argument, "the extent " + axis.expression + " is " + std::to_string(extent));
      axis.is_variable = vary;
      (vary ? axis.raced : axis.constant) = extent;
    }
    return {};
  }

  /// The size of a container gives an axis once all others of its shape are known.
  void take_axes_from_sizes() {
    const auto is_known = [](const KernelAxis& axis) {
      return axis.is_parameter || axis.constant || axis.is_variable || !axis.expression.empty();
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (const KernelParameter& parameter : result_.parameters) {
        if (parameter.type.form != ParameterForm::container) continue;
        std::vector<KernelAxis*> unknown;
        for (KernelAxis& axis : result_.axes) {
          if (is_stated(*parameter.shape, axis.name) && !is_known(axis)) unknown.push_back(&axis);
        }
        if (unknown.size() != 1) continue;
        const std::string& name = unknown.front()->name;
        if (std::count(parameter.shape->begin(), parameter.shape->end(), name) != 1) continue;
        unknown.front()->is_variable = changed = true;
      }
    }
  }

  const syntax::Unit& unit_;
  const syntax::Function& function_;
  const Stated& stated_;
  Signature result_;
};

}  // namespace

const KernelAxis* Signature::axis(const std::string& name) const {
  const auto found = std::find_if(axes.begin(), axes.end(), [&](const KernelAxis& axis) { return axis.name == name; });
  return found == axes.end() ? nullptr : &*found;
}

Result<Stated> parse_stated(const StatedTexts& texts) {
  Stated stated;
  for (const std::string& text : texts.shapes) {
    TRY_ASSIGN(const auto entry, split(text, "PARAMETER=AXIS,AXIS, like x=M,K"));
    TRY_ASSIGN(stated.shapes[entry.first], axes_of(entry.first, entry.second, stated));
  }
  // "y=M,N" states the shape as well.
  const auto read = [&](const std::vector<std::string>& from, std::vector<std::string>& names) -> Result<void> {
    for (const std::string& text : from) {
      if (text.find('=') == std::string::npos) {
        names.emplace_back(base::trimmed(text));
        continue;
      }
      TRY_ASSIGN(const auto entry, split(text, "PARAMETER or PARAMETER=AXIS,AXIS, like y=M,N"));
      TRY_ASSIGN(stated.shapes[entry.first], axes_of(entry.first, entry.second, stated));
      names.push_back(entry.first);
    }
    return {};
  };
  TRY(read(texts.outputs, stated.outputs));
  TRY(read(texts.inouts, stated.inouts));
  for (const std::string& text : texts.axes) {
    TRY_ASSIGN(const auto entry, split(text, "AXIS=EXTENT, like M=64"));
    TRY(check_axis_name("--axis", entry.first));
    TRY_ASSIGN(const std::int64_t extent, extent_of(entry.second, "a whole number over 0, like M=64"));
    stated.axes.emplace_back(entry.first, extent);
  }
  for (const std::string& text : texts.constants) {
    TRY_ASSIGN(const auto entry, split(text, "AXIS=EXTENT, like K=1024"));
    TRY(check_axis_name("--constant", entry.first));
    TRY_ASSIGN(stated.constants[entry.first], extent_of(entry.second, "a whole number over 0, like K=1024"));
  }
  for (const std::string& text : texts.inits) {
    TRY_ASSIGN(const auto entry, split(text, "PARAMETER=GENERATOR, like x=normal(0, 1)"));
    TRY_ASSIGN(const model::InitSpec spec, model::parse_init(entry.second));
    stated.inits[entry.first] = model::to_string(spec);
  }
  for (const std::string& text : texts.ties) {
    TRY_ASSIGN(const auto entry, split(text, "INDICES=VALUES, like places=dists"));
    stated.ties[entry.first] = entry.second;
  }
  return stated;
}

Result<Signature> read_signature(const syntax::Unit& unit, const syntax::Function& function, const Stated& stated) {
  return SignatureReader(unit, function, stated).read();
}

}  // namespace accelopt::scaffold
