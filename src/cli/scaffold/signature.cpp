// SPDX-License-Identifier: Apache-2.0
#include "cli/scaffold/signature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "model/init.hpp"
#include "suites/c_names.hpp"
#include "syntax/loops.hpp"

namespace accelopt::cli {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using model::DType;

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\n") - first + 1));
}

/// "name=rest" taken apart.
Result<std::pair<std::string, std::string>> split(const std::string& text, const std::string& form) {
  const auto equals = text.find('=');
  const std::string name = trimmed(text.substr(0, equals));
  if (equals == std::string::npos || !suites::is_identifier(name)) {
    return fail(ErrorCode::invalid_argument, "\"" + text + "\" has not the form " + form);
  }
  return std::pair{name, trimmed(text.substr(equals + 1))};
}

Result<std::int64_t> extent_of(const std::string& text, const std::string& form) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size() || value < 1) {
    return fail(ErrorCode::invalid_argument, "\"" + text + "\" is no extent; write " + form);
  }
  return value;
}

Result<std::vector<std::string>> axes_of(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    names.push_back(trimmed(text.substr(begin, comma - begin)));
    if (const std::string reason = suites::refuse_c_name(names.back()); !reason.empty()) {
      return fail(ErrorCode::invalid_argument,
                  "\"" + names.back() + "\" is no name for an axis: " + reason + "; a shape is axis names, like x=M,K");
    }
    begin = comma + 1;
  }
  return names;
}

/// dtype of a C type's canonical spelling; none where the task format has none.
std::optional<DType> dtype_of(const std::string& type) {
  static const std::map<std::string, DType> kTypes{
      {"float", DType::float32},       {"double", DType::float64}, {"int", DType::int32},        {"long", DType::int64},
      {"long long", DType::int64},     {"short", DType::int16},    {"signed char", DType::int8}, {"char", DType::int8},
      {"unsigned char", DType::uint8}, {"bool", DType::boolean},   {"_Bool", DType::boolean}};
  const auto found = kTypes.find(type);
  return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

bool is_integer(const std::string& type) {
  static const std::set<std::string> kIntegers{"int",          "long",          "long long",      "short",
                                               "unsigned int", "unsigned long", "unsigned short", "unsigned long long"};
  return kIntegers.contains(type);
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// The value that the file itself gives a name, as its uses in the function show.
std::optional<std::int64_t> value_in(const syntax::Expression& expression, const std::string& name) {
  if (expression.kind == syntax::ExpressionKind::name && expression.text == name && expression.value)
    return expression.value;
  for (const syntax::Expression& operand : expression.operands) {
    if (const auto value = value_in(operand, name)) return value;
  }
  return std::nullopt;
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
    if (const auto value = value_in(**expression, name)) return value;
  }
  for (const syntax::Statement& child : statement.children) {
    if (const auto value = value_in(child, name)) return value;
  }
  return std::nullopt;
}

class SignatureReader {
 public:
  SignatureReader(const syntax::Unit& unit, const syntax::Function& function, const Stated& stated)
      : unit_(unit), function_(function), stated_(stated) {}

  Result<Signature> read() {
    if (function_.return_type != "void") {
      return fail(ErrorCode::unsupported, function_.name + " returns " + function_.return_type +
                                              "; a kernel returns nothing: let it write its result through a pointer");
    }
    TRY(check_names());
    collect_axes();
    for (const syntax::Parameter& parameter : function_.parameters) TRY(read_parameter(parameter));
    finish_axes();
    const syntax::LoopTree tree(function_);
    for (const syntax::Symbol& symbol : effects_of(function_.block, tree.scope()).scalars_assigned) {
      result_.assigned.push_back(symbol.name);
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
    for (const auto& [name, shape] : stated_.shapes) named.push_back(name);
    for (const auto& [name, init] : stated_.inits) named.push_back(name);
    std::string known;
    for (const syntax::Parameter& parameter : function_.parameters)
      known += (known.empty() ? "" : ", ") + parameter.name;
    for (const std::string& name : named) {
      if (is_parameter(name)) continue;
      return fail(ErrorCode::invalid_argument,
                  function_.name + " has no parameter " + name + "; it has " + (known.empty() ? "none" : known));
    }
    if (stated_.outputs.empty()) {
      return fail(ErrorCode::invalid_argument,
                  "nothing says what " + function_.name + " writes; add --out with one of " + known);
    }
    return {};
  }

  void add_axis(const std::string& name) {
    if (result_.axis(name) == nullptr) result_.axes.push_back({name, false, false, std::nullopt, std::nullopt});
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
      if (lower(axis.name) == lower(parameter) && !is_parameter(axis.name)) found = &axis;
    }
    return found;
  }

  Result<void> read_parameter(const syntax::Parameter& parameter) {
    if (parameter.name.empty()) {
      return fail(ErrorCode::unsupported, "a parameter of " + function_.name + " has no name; name it");
    }
    KernelParameter result;
    result.name = parameter.name;
    result.type = parameter.type;
    result.element_type = parameter.value_type;
    result.is_tensor = parameter.pointer_depth == 1;
    result.is_const = parameter.is_const;
    result.declaration = std::string(unit_.text(parameter.extent));
    KernelAxis* axis =
        parameter.pointer_depth == 0 && is_integer(parameter.value_type) ? axis_of(parameter.name) : nullptr;
    if (axis != nullptr) {
      result.role = ParameterRole::axis;
      result.axis = axis->name;
      axis->is_parameter = true;
      result_.parameters.push_back(std::move(result));
      return {};
    }
    const auto dtype = dtype_of(parameter.value_type);
    if (!dtype || parameter.pointer_depth > 1) {
      return fail(ErrorCode::unsupported,
                  "parameter " + parameter.name + " is a " + parameter.type +
                      "; a kernel takes pointers to numbers and numbers by value (float, double, bool, "
                      "signed and 8-bit unsigned integers)");
    }
    result.dtype = *dtype;
    const bool is_output =
        std::find(stated_.outputs.begin(), stated_.outputs.end(), parameter.name) != stated_.outputs.end();
    if (is_output && (!result.is_tensor || result.is_const)) {
      return fail(ErrorCode::invalid_argument, parameter.name + " cannot be an output: it is a " + parameter.type +
                                                   ", through which nothing is written");
    }
    if (is_output) result.role = ParameterRole::output;
    const auto shape = stated_.shapes.find(parameter.name);
    if (shape != stated_.shapes.end()) {
      if (!result.is_tensor) {
        return fail(ErrorCode::invalid_argument, parameter.name + " is a number by value and has no shape");
      }
      result.shape = shape->second;
    }
    result_.parameters.push_back(std::move(result));
    return {};
  }

  void finish_axes() {
    for (KernelAxis& axis : result_.axes) {
      if (const auto constant = stated_.constants.find(axis.name); constant != stated_.constants.end()) {
        axis.constant = constant->second;
        continue;
      }
      const auto stated = std::find_if(stated_.axes.begin(), stated_.axes.end(),
                                       [&](const auto& entry) { return entry.first == axis.name; });
      if (stated != stated_.axes.end()) {
        axis.is_variable = axis.is_parameter;
        (axis.is_variable ? axis.raced : axis.constant) = stated->second;
      } else if (!axis.is_parameter) {
        axis.constant = value_in(function_.block, axis.name);
      }
    }
  }

  const syntax::Unit& unit_;
  const syntax::Function& function_;
  const Stated& stated_;
  Signature result_;
};

std::string cast(const std::string& type, const std::string& value, const char* how, model::Language language) {
  return language == model::Language::c ? "(" + type + ")" + value : std::string(how) + "<" + type + ">(" + value + ")";
}

/// A parameter of the kernel and, where the body wants another type, the line that makes it.
struct Adapted {
  std::string parameter;
  std::string line;
};

/// A local that a faster body may leave unused without a warning.
std::string local(const std::string& declaration, const std::string& value, model::Language language) {
  const bool cpp = language != model::Language::c;
  return std::string(cpp ? "  [[maybe_unused]] " : "  __attribute__((unused)) ") + declaration + " = " + value + ";\n";
}

Adapted adapt_tensor(const KernelParameter& parameter, model::Language language) {
  const bool input = parameter.role == ParameterRole::input;
  const bool same_type = parameter.element_type != "long long" && parameter.element_type != "char";
  if (same_type && (parameter.is_const || !input)) return {parameter.declaration, ""};
  const std::string element = same_type ? parameter.element_type : std::string(model::c_name(parameter.dtype));
  const std::string outer = parameter.name + "_given";
  Adapted adapted{(input ? "const " : "") + element + "* " + outer, ""};
  const std::string wanted = (parameter.is_const ? "const " : "") + parameter.element_type + "*";
  std::string value = outer;
  if (!same_type) {
    value = cast((input ? "const " : "") + parameter.element_type + "*", value, "reinterpret_cast", language);
  }
  if (input && !parameter.is_const) value = cast(wanted, value, "const_cast", language);
  adapted.line = local(wanted + " const " + parameter.name, value, language);
  return adapted;
}

Adapted adapt_scalar(const KernelParameter& parameter, model::Language language) {
  if (parameter.element_type != "long long" && parameter.element_type != "char") return {parameter.declaration, ""};
  const std::string outer = parameter.name + "_given";
  return {std::string(model::c_name(parameter.dtype)) + " " + outer,
          local("const " + parameter.element_type + " " + parameter.name,
                cast(parameter.element_type, outer, "static_cast", language), language)};
}

}  // namespace

const KernelAxis* Signature::axis(const std::string& name) const {
  const auto found = std::find_if(axes.begin(), axes.end(), [&](const KernelAxis& axis) { return axis.name == name; });
  return found == axes.end() ? nullptr : &*found;
}

Result<Stated> parse_stated(const std::vector<std::string>& shapes, const std::vector<std::string>& outputs,
                            const std::vector<std::string>& axes, const std::vector<std::string>& constants,
                            const std::vector<std::string>& inits) {
  Stated stated;
  for (const std::string& text : shapes) {
    TRY_ASSIGN(const auto entry, split(text, "PARAMETER=AXIS,AXIS, like x=M,K"));
    TRY_ASSIGN(stated.shapes[entry.first], axes_of(entry.second));
  }
  for (const std::string& text : outputs) {
    // "y=M,N" states the shape as well.
    if (text.find('=') == std::string::npos) {
      stated.outputs.push_back(trimmed(text));
      continue;
    }
    TRY_ASSIGN(const auto entry, split(text, "PARAMETER or PARAMETER=AXIS,AXIS, like y=M,N"));
    TRY_ASSIGN(stated.shapes[entry.first], axes_of(entry.second));
    stated.outputs.push_back(entry.first);
  }
  for (const std::string& text : axes) {
    TRY_ASSIGN(const auto entry, split(text, "AXIS=EXTENT, like M=64"));
    TRY_ASSIGN(const std::int64_t extent, extent_of(entry.second, "a whole number over 0, like M=64"));
    stated.axes.emplace_back(entry.first, extent);
  }
  for (const std::string& text : constants) {
    TRY_ASSIGN(const auto entry, split(text, "AXIS=EXTENT, like K=1024"));
    TRY_ASSIGN(stated.constants[entry.first], extent_of(entry.second, "a whole number over 0, like K=1024"));
  }
  for (const std::string& text : inits) {
    TRY_ASSIGN(const auto entry, split(text, "PARAMETER=GENERATOR, like x=normal(0, 1)"));
    TRY_ASSIGN(const model::InitSpec spec, model::parse_init(entry.second));
    stated.inits[entry.first] = model::to_string(spec);
  }
  return stated;
}

Result<Signature> read_signature(const syntax::Unit& unit, const syntax::Function& function, const Stated& stated) {
  return SignatureReader(unit, function, stated).read();
}

std::string kernel_definition(const Signature& signature, const std::string& name, std::string_view body,
                              model::Language language) {
  std::vector<std::string> parameters;
  std::string lines;
  const auto add = [&](const Adapted& adapted) {
    parameters.push_back(adapted.parameter);
    lines += adapted.line;
  };
  for (const ParameterRole role : {ParameterRole::input, ParameterRole::output}) {
    for (const KernelParameter& parameter : signature.parameters) {
      if (parameter.role != role) continue;
      add(parameter.is_tensor ? adapt_tensor(parameter, language) : adapt_scalar(parameter, language));
    }
  }
  const auto is_assigned = [&](const std::string& parameter) {
    return std::find(signature.assigned.begin(), signature.assigned.end(), parameter) != signature.assigned.end();
  };
  for (const KernelAxis& axis : signature.axes) {
    const auto parameter = std::find_if(
        signature.parameters.begin(), signature.parameters.end(),
        [&](const auto& candidate) { return candidate.role == ParameterRole::axis && candidate.axis == axis.name; });
    if (parameter == signature.parameters.end()) continue;
    const std::string type = parameter->element_type;
    const std::string qualifier = is_assigned(parameter->name) ? "" : "const ";
    if (!axis.is_variable) {
      // The task's constant of that name would be hidden by the variable in its own initializer.
      const std::string constant = "axis_" + axis.name;
      lines += fmt::format("  enum {{ {} = {} }};\n", constant, axis.name) +
               local(qualifier + type + " " + parameter->name, constant, language);
    } else if (type == "long") {
      parameters.push_back("int64_t " + parameter->name);
    } else {
      parameters.push_back("int64_t axis_" + axis.name);
      lines += local(qualifier + type + " " + parameter->name, cast(type, "axis_" + axis.name, "static_cast", language),
                     language);
    }
  }
  std::string list;
  for (const std::string& parameter : parameters) list += (list.empty() ? "" : ", ") + parameter;
  std::string text =
      (language == model::Language::cpp ? "extern \"C\" void " : "void ") + name + "(" + list + ") {\n" + lines;
  text += body.substr(body.find('{') + 1).substr(body.size() > 1 && body[1] == '\n' ? 1 : 0);
  return text;
}

}  // namespace accelopt::cli
