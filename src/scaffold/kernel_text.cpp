// SPDX-License-Identifier: Apache-2.0
#include "scaffold/kernel_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "model/c_tokens.hpp"
#include "scaffold/words.hpp"
#include "syntax/edit.hpp"

namespace accelopt::scaffold {
namespace {

using base::ErrorCode;
using base::Result;
using model::Language;

std::string cast_value(const std::string& type, const std::string& value, Language language) {
  return language == Language::c ? "(" + type + ")" + value : "static_cast<" + type + ">(" + value + ")";
}

/// A parameter of the kernel and, where the body wants another type, the lines that make it.
struct Adapted {
  std::string parameter;
  std::string line;
};

/// A local that a faster body may leave unused without a warning.
std::string local(const std::string& declaration, const std::string& value, Language language) {
  const bool cpp = language != Language::c;
  return std::string(cpp ? "  [[maybe_unused]] " : "  __attribute__((unused)) ") + declaration + " = " + value + ";\n";
}

/// Whether task.h names the type otherwise than the user's program.
bool has_own_name(const std::string& element) {
  return element == "long long" || element == "unsigned long long" || element == "char";
}

/// How the body uses a container.
struct ContainerUse {
  bool as_pointer = true;  ///< by [], size() and data() alone
  bool size = false;
};

/// The places of a container's name in the text, each with what stands behind it.
template <class Visit>
void for_uses(std::string_view text, const std::string& name, Visit visit) {
  for (const Word& word : words(text)) {
    if (word.text != name || word.is_number || word.is_qualified) continue;
    visit(word.offset, text.substr(word.offset + name.size()));
  }
}

ContainerUse use_of(std::string_view body, const std::string& name) {
  ContainerUse use;
  for_uses(body, name, [&](std::size_t, std::string_view behind) {
    use.size = use.size || behind.starts_with(".size()");
    use.as_pointer =
        use.as_pointer && (behind.starts_with("[") || behind.starts_with(".size()") || behind.starts_with(".data()"));
  });
  return use;
}

/// Writes one kernel.
class KernelText {
 public:
  KernelText(const Signature& signature, const syntax::Unit& unit, const syntax::Function& function)
      : signature_(signature),
        unit_(unit),
        function_(function),
        language_(unit.language),
        old_body_(unit.text(function.body)) {}

  Result<std::string> write(const std::string& name) {
    TRY_ASSIGN(const std::string body, body_text());
    for (const ParameterRole role : {ParameterRole::input, ParameterRole::inout, ParameterRole::output}) {
      for (const KernelParameter& parameter : signature_.parameters) {
        if (parameter.role != role) continue;
        add(parameter.is_tensor ? adapt_tensor(parameter) : adapt_scalar(parameter));
      }
    }
    for (const TieValues& values : signature_.ties)
      parameters_.push_back(std::string(model::c_name(values.dtype)) + "* " + values.name);
    for (const KernelAxis& axis : signature_.axes) add_axis(axis);
    std::string list = base::joined(parameters_, ", ");
    std::string text = (language_ == Language::cpp ? "extern \"C\" void " : "void ") + name + "(" + list + ") {\n" +
                       axis_lines_ + lines_;
    text += body.substr(body.find('{') + 1).substr(body.size() > 1 && body[1] == '\n' ? 1 : 0);
    return text;
  }

 private:
  void add(const Adapted& adapted) {
    parameters_.push_back(adapted.parameter);
    lines_ += adapted.line;
  }

  static std::string given(const KernelParameter& parameter) {
    return parameter.task_name == parameter.name ? parameter.name + "_given" : parameter.task_name;
  }

  /// "const float*" of an input, "float*" of what the kernel writes, as task.h has it.
  static std::string pointer_type(const KernelParameter& parameter, const std::string& element) {
    return (parameter.role == ParameterRole::input ? "const " : "") + element + "*";
  }

  Adapted adapt_tensor(const KernelParameter& parameter) const {
    const ParameterType& type = parameter.type;
    const bool input = parameter.role == ParameterRole::input;
    const bool same_type = !has_own_name(type.element) && type.record.empty();
    if (type.form == ParameterForm::pointer && same_type && (type.is_const || !input) &&
        parameter.task_name == parameter.name) {
      return {parameter.declaration, ""};
    }
    const std::string own = has_own_name(type.element) ? std::string(model::c_name(parameter.dtype)) : type.element;
    const std::string outer = given(parameter);
    const std::string element = type.record.empty() ? type.element : type.record;
    std::string value = outer;
    if (input && !type.is_const) value = remove_const(own + "*", value);
    const std::string qualifier = type.is_const ? "const " : "";
    if (type.form == ParameterForm::array_reference || type.form == ParameterForm::array_pointer) {
      return {pointer_type(parameter, own) + " " + outer, array_line(parameter, qualifier + element, value)};
    }
    if (element != own) value = cast_pointer(qualifier + element + "*", value, language_);
    return {pointer_type(parameter, own) + " " + outer,
            type.form == ParameterForm::container
                ? container_line(parameter, qualifier + element, value)
                : local(qualifier + element + "* " + qualifier_of(parameter.name) + parameter.name, value, language_)};
  }

  std::string remove_const(const std::string& type, const std::string& value) const {
    return language_ == Language::c ? "(" + type + ")" + value : "const_cast<" + type + ">(" + value + ")";
  }

  std::string array_line(const KernelParameter& parameter, const std::string& element, const std::string& value) const {
    const bool reference = parameter.type.form == ParameterForm::array_reference;
    std::string extents;
    for (std::size_t i = reference ? 0 : 1; i < parameter.type.extents.size(); ++i) {
      const auto extent = parameter.type.extents[i];
      extents += "[" + (extent ? std::to_string(*extent) : parameter.shape ? (*parameter.shape)[i] : "?") + "]";
    }
    const std::string pointed = cast_pointer(element + " (*)" + extents, value, language_);
    if (reference) return local(element + " (&" + parameter.name + ")" + extents, "*" + pointed, language_);
    return local(element + " (*" + qualifier_of(parameter.name) + parameter.name + ")" + extents, pointed, language_);
  }

  /// A pointer where the body gets along with it, as loops that are to be made faster do; else a span.
  std::string container_line(const KernelParameter& parameter, const std::string& element,
                             const std::string& value) const {
    const ContainerUse use = use_of(old_body_, parameter.name);
    std::string size;
    for (const std::string& axis : *parameter.shape) {
      if (axis == parameter.name + "_fields" && parameter.type.fields > 0) continue;
      size += (size.empty() ? "" : " * ") + value_of_axis(axis);
    }
    size = "static_cast<std::size_t>(" + size + ")";
    if (!use.as_pointer) {
      return local(qualifier_of(parameter.name) + "std::span<" + element + "> " + parameter.name,
                   "{" + value + ", " + size + "}", language_);
    }
    return local(element + "* const " + parameter.name, value, language_) +
           (use.size ? local("const std::size_t " + parameter.name + "_size", size, language_) : "");
  }

  Adapted adapt_scalar(const KernelParameter& parameter) const {
    const std::string& element = parameter.type.element;
    if (!has_own_name(element) && parameter.task_name == parameter.name) return {parameter.declaration, ""};
    const std::string outer = given(parameter);
    return {std::string(has_own_name(element) ? model::c_name(parameter.dtype) : element) + " " + outer,
            local(qualifier_of(parameter.name) + element + " " + parameter.name, cast_value(element, outer, language_),
                  language_)};
  }

  /// A local that the body changes is not const.
  std::string qualifier_of(const std::string& name) const {
    const bool assigned =
        std::find(signature_.assigned.begin(), signature_.assigned.end(), name) != signature_.assigned.end();
    return assigned || changes_variable(old_body_, name) ? "" : "const ";
  }

  const KernelParameter* parameter_of(const KernelAxis& axis) const {
    const auto found = std::find_if(
        signature_.parameters.begin(), signature_.parameters.end(),
        [&](const auto& candidate) { return candidate.role == ParameterRole::axis && candidate.axis == axis.name; });
    return found == signature_.parameters.end() ? nullptr : &*found;
  }

  /// The axis's extent as the kernel's own first lines can write it.
  std::string value_of_axis(const std::string& name) const {
    const KernelAxis* const axis = signature_.axis(name);
    const KernelParameter* const parameter = parameter_of(*axis);
    if (!axis->is_variable) return parameter == nullptr ? name : "axis_" + name;
    return parameter != nullptr && parameter->type.element == "long" ? parameter->name : "axis_" + name;
  }

  void add_axis(const KernelAxis& axis) {
    const KernelParameter* const parameter = parameter_of(axis);
    if (parameter == nullptr) {
      if (axis.is_variable) parameters_.push_back("int64_t axis_" + axis.name);
      if (axis.is_variable && !axis.expression.empty()) axis_lines_ += "  (void)axis_" + axis.name + ";\n";
      return;
    }
    const std::string& type = parameter->type.element;
    const std::string declaration = qualifier_of(parameter->name) + type + " " + parameter->name;
    if (!axis.is_variable) {
      // The task's constant of that name would be hidden by the variable in its own initializer.
      const std::string constant = "axis_" + axis.name;
      axis_lines_ +=
          fmt::format("  enum {{ {} = {} }};\n", constant, axis.name) + local(declaration, constant, language_);
    } else if (type == "long") {
      parameters_.push_back("int64_t " + parameter->name);
    } else {
      parameters_.push_back("int64_t axis_" + axis.name);
      axis_lines_ += local(declaration, cast_value(type, "axis_" + axis.name, language_), language_);
    }
  }

  /// The body with sizes of containers as numbers, and with what it returns written.
  Result<std::string> body_text() const {
    syntax::Edits edits;
    for (const KernelParameter& parameter : signature_.parameters) {
      if (parameter.type.form != ParameterForm::container || !use_of(old_body_, parameter.name).as_pointer) continue;
      for_uses(old_body_, parameter.name, [&](std::size_t offset, std::string_view behind) {
        const std::size_t end = offset + parameter.name.size();
        if (behind.starts_with(".size()")) edits.replace({end, end + 7}, "_size");
        if (behind.starts_with(".data()")) edits.replace({end, end + 7}, "");
      });
    }
    for (const KernelParameter& parameter : signature_.parameters) {
      if (!parameter.is_returned) continue;
      std::set<std::size_t> written;
      write_returns(function_.block, parameter.name, edits, written);
      if (function_.returns != written.size()) {
        return base::fail(ErrorCode::unsupported,
                          function_.name +
                              " returns from inside of a statement that init does not read (while, "
                              "switch, a lambda); return once, at its end");
      }
      write_other_returns(parameter.name, written, edits);
    }
    return edits.apply(old_body_);
  }

  void write_returns(const syntax::Statement& statement, const std::string& result, syntax::Edits& edits,
                     std::set<std::size_t>& written) const {
    const bool is_return = statement.kind == syntax::StatementKind::return_value && statement.expression;
    if (is_return && unit_.text(statement.extent).starts_with("return")) {  // and no macro
      const std::size_t base = function_.body.begin;
      written.insert(statement.extent.begin - base);
      const syntax::Extent value = statement.expression->extent;
      const bool last = !function_.block.children.empty() && &function_.block.children.back() == &statement;
      const std::string_view keyword = unit_.text({statement.extent.begin, statement.extent.begin + 6});
      const std::size_t after_keyword = statement.extent.begin + keyword.size();
      edits.replace({statement.extent.begin - base, after_keyword - base}, (last ? "*" : "{ *") + result + " =");
      const std::size_t end = unit_.source.find(';', value.end);
      if (!last) edits.insert(end + 1 - base, " return; }");
    }
    for (const syntax::Statement& child : statement.children) write_returns(child, result, edits, written);
  }

  /// In branches of conditionals that are not compiled here: they may be elsewhere.
  void write_other_returns(const std::string& result, const std::set<std::size_t>& written,
                           syntax::Edits& edits) const {
    const std::vector<model::Token> tokens = model::c_tokens(old_body_);
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (tokens[i].text != "return" || tokens[i + 1].text == ";" || written.contains(tokens[i].offset)) continue;
      const std::size_t begin = tokens[i].offset;
      while (i + 1 < tokens.size() && tokens[i].text != ";") ++i;
      edits.replace({begin, begin + std::string_view("return").size()}, "{ *" + result + " =");
      edits.insert(tokens[i].end, " return; }");
    }
  }

  const Signature& signature_;
  const syntax::Unit& unit_;
  const syntax::Function& function_;
  Language language_;
  std::string_view old_body_;
  std::vector<std::string> parameters_;
  std::string axis_lines_;
  std::string lines_;
};

}  // namespace

Result<std::string> kernel_definition(const Signature& signature, const std::string& name, const syntax::Unit& unit,
                                      const syntax::Function& function) {
  return KernelText(signature, unit, function).write(name);
}

std::string needed_includes(const std::string& definition, const std::string& before) {
  std::string out;
  const auto need = [&](const char* name, const std::string& include) {
    const bool is_missing = before.find("#include " + include) == std::string::npos;
    if (is_missing && definition.find(name) != std::string::npos) out += "#include " + include + "\n";
  };
  need("std::size_t", "<cstddef>");
  need("std::span", "<span>");
  return out;
}

}  // namespace accelopt::scaffold
