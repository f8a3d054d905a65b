// SPDX-License-Identifier: Apache-2.0
#include "scaffold/parameter_type.hpp"

#include <algorithm>
#include <map>
#include <regex>

namespace accelopt::scaffold {
namespace {

using model::DType;

std::string without_const(std::string type) {
  static const std::regex kConst(R"(\bconst\b\s*|\s+$|^\s+)");
  return std::regex_replace(type, kConst, "");
}

/// "[4][8]" as numbers, where they are.
std::vector<std::optional<std::int64_t>> extents_of(const std::string& brackets) {
  static const std::regex kExtent(R"(\[\s*([^\]]*?)\s*\])");
  static const std::regex kNumber(R"(\d{1,15})");
  std::vector<std::optional<std::int64_t>> extents;
  for (std::sregex_iterator at(brackets.begin(), brackets.end(), kExtent), end; at != end; ++at) {
    const std::string text = (*at)[1];
    extents.push_back(std::regex_match(text, kNumber) ? std::optional(std::stoll(text)) : std::nullopt);
  }
  return extents;
}

/// A class that holds elements one after the other; by value only where that does not copy them.
bool read_container(const std::string& canonical, ParameterType& result) {
  static const std::regex kSpan(R"((?:const )?std::(?:__\w+::)?span<(const )?([^<>,]+)(?:, [^<>]*)?>(?: &)?)");
  static const std::regex kVector(
      R"((const )?std::(?:__\w+::)?vector<([^<>,]+)(?:, std::(?:__\w+::)?allocator<[^<>]*>)?> &)");
  std::smatch found;
  if (!std::regex_match(canonical, found, kSpan) && !std::regex_match(canonical, found, kVector)) return false;
  result.element = without_const(found[2]);
  result.is_const = found[1].matched;
  result.form = result.element == "bool" ? ParameterForm::other : ParameterForm::container;
  return true;
}

/// A struct of this file whose members all have one type: `struct Point { float x, y, z; };`.
void read_record(const std::string& source, ParameterType& result) {
  static const std::regex kPlainName(R"((?:\w+::)*(\w+))");
  static const std::regex kMembers(R"(\s*(float|double)\s+(\w+(?:\s*,\s*\w+)*)\s*;)");
  std::smatch found;
  if (!std::regex_match(result.element, found, kPlainName)) return;
  const std::regex definition(R"(\b(?:struct|class)\s+)" + found[1].str() + R"(\s*\{([^{}()]*)\})");
  if (!std::regex_search(source, found, definition)) return;
  static const std::regex kComment(R"(//[^\n]*|/\*[^*]*\*/|\bpublic\s*:)");
  const std::string body = std::regex_replace(found[1].str(), kComment, "");
  std::string type;
  std::int64_t fields = 0;
  std::size_t read = 0;
  for (std::sregex_iterator at(body.begin(), body.end(), kMembers), end; at != end; ++at) {
    if (!type.empty() && type != (*at)[1]) return;
    type = (*at)[1];
    const std::string names = (*at)[2];
    fields += 1 + std::count(names.begin(), names.end(), ',');
    read += static_cast<std::size_t>(at->length());
  }
  if (fields == 0 || body.find_first_not_of(" \t\r\n", read) != std::string::npos) return;
  result.record = result.element;
  result.element = type;
  result.fields = fields;
}

ParameterType read_form(const syntax::Unit& unit, const syntax::Parameter& parameter) {
  ParameterType result;
  result.element = parameter.value_type;
  result.is_const = parameter.is_const;
  // Of what a reference refers to, the spelled type alone says whether it is const.
  if (read_container((parameter.type.starts_with("const ") ? "const " : "") + parameter.value_type, result)) {
    return result;
  }
  static const std::regex kReference(R"((const )?([^()&*]+?) \(&\)((?:\[\d+\])+))");
  std::smatch found;
  if (std::regex_match(parameter.value_type, found, kReference)) {
    result.form = ParameterForm::array_reference;
    result.is_const = parameter.type.starts_with("const ");
    result.element = found[2];
    result.extents = extents_of(found[3]);
    return result;
  }
  static const std::regex kArray(R"([^\[\]()]*?(?:\(\s*\*[^()]*\)|\b\w+)\s*((?:\[[^\]]*\])+)\s*)");
  const std::string declaration(unit.text(parameter.extent));
  if (std::regex_match(declaration, found, kArray)) {
    result.extents = extents_of(found[1]);
    if (declaration.find('(') != std::string::npos) result.extents.insert(result.extents.begin(), std::nullopt);
  }
  if (parameter.pointer_depth == 0) {
    if (parameter.value_type.find_first_of("&*<") == std::string::npos) result.form = ParameterForm::value;
  } else if (parameter.pointer_depth == 1) {
    result.form = ParameterForm::pointer;
  } else if (static_cast<std::size_t>(parameter.pointer_depth) == result.extents.size()) {
    result.form = ParameterForm::array_pointer;
  }
  return result;
}

}  // namespace

ParameterType type_of(const syntax::Unit& unit, const syntax::Parameter& parameter) {
  ParameterType result = read_form(unit, parameter);
  const bool is_one_after_another = result.form == ParameterForm::pointer || result.form == ParameterForm::container;
  if (is_one_after_another && !dtype_of(result.element)) read_record(unit.source, result);
  return result;
}

std::string flat_declaration(const syntax::Parameter& parameter) {
  static const std::regex kReference(R"((?:const )?([\w ]+?) ?&)");
  static const std::regex kElement(R"(<(const )?([\w ]+)[,>])");
  std::smatch found;
  const bool is_const = parameter.is_const || parameter.type.starts_with("const ");
  if (std::regex_match(parameter.value_type, found, kReference) && dtype_of(found[1]))
    return found[1].str() + (is_const ? " " : "* ") + parameter.name;
  const bool holds = std::regex_search(parameter.value_type, found, kElement) && dtype_of(found[2]);
  const std::string element = holds ? found[2].str() : "float";
  return (is_const || (holds && found[1].matched) ? "const " : "") + element + "* " + parameter.name;
}

std::string first_element(const ParameterType& type, const std::string& name) {
  if (type.form == ParameterForm::container) return name + ".data()";
  if (type.form != ParameterForm::array_reference && type.form != ParameterForm::array_pointer) return name;
  std::string text = "&" + name;
  for (std::size_t i = 0; i < type.extents.size(); ++i) text += "[0]";
  return text;
}

std::string cast_pointer(const std::string& type, const std::string& pointer, model::Language language) {
  return language == model::Language::c ? "(" + type + ")" + pointer
                                        : "reinterpret_cast<" + type + ">(" + pointer + ")";
}

std::optional<DType> dtype_of(const std::string& type) {
  static const std::map<std::string, DType> kTypes{{"float", DType::float32},
                                                   {"double", DType::float64},
                                                   {"_Float16", DType::float16},
                                                   {"__bf16", DType::bfloat16},
                                                   {"long", DType::int64},
                                                   {"long long", DType::int64},
                                                   {"int", DType::int32},
                                                   {"short", DType::int16},
                                                   {"signed char", DType::int8},
                                                   {"char", DType::int8},
                                                   {"unsigned long", DType::uint64},
                                                   {"unsigned long long", DType::uint64},
                                                   {"unsigned int", DType::uint32},
                                                   {"unsigned short", DType::uint16},
                                                   {"unsigned char", DType::uint8},
                                                   {"bool", DType::boolean},
                                                   {"_Bool", DType::boolean}};
  const auto found = kTypes.find(type);
  return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace accelopt::scaffold
