// SPDX-License-Identifier: Apache-2.0
#include "mcp/schema.hpp"

#include <vector>

#include "base/text.hpp"
#include "report/text_width.hpp"

namespace accelopt::mcp {
namespace {

using base::Json;
using base::Result;
using base::text_at;

/// Most characters of somebody's argument that a message repeats.
constexpr std::size_t kShown = 80;

tl::unexpected<base::Error> wrong(const std::string& name, const std::string& text) {
  return base::fail(base::ErrorCode::invalid_argument,
                    (name.empty() ? std::string("the arguments ") : "\"" + name + "\" ") + text);
}

std::string shown(const Json& value) {
  return report::printable(base::canonical(value).substr(0, kShown));
}

bool is_of_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "number") return value.is_number();
  return type == "integer" && value.is_number_integer();
}

Result<void> check_object(const Json& value, const Json& schema, const std::string& name) {
  const Json properties = schema.value("properties", Json::object());
  std::vector<std::string> names;
  for (const auto& [known, unused] : properties.items()) names.push_back(known);
  for (const auto& [key, member] : value.items()) {
    const auto property = properties.find(key);
    if (property != properties.end()) {
      if (member.is_null()) continue;  // left out
      TRY(check(member, *property, name.empty() ? key : name + "." + key));
    } else if (schema.value("additionalProperties", true) == false) {
      return wrong(name, "have no member \"" + report::printable(key.substr(0, kShown)) +
                             "\"; there are: " + base::joined(names, ", "));
    }
  }
  for (const Json& needed : schema.value("required", Json::array())) {
    const auto found = value.find(needed.get<std::string>());
    if (found == value.end() || found->is_null())
      return wrong(
          needed.get<std::string>(),
          "is missing: " + text_at(properties.value(needed.get<std::string>(), Json::object()), "description"));
  }
  return {};
}

Result<void> check_limits(const Json& value, const Json& schema, const std::string& name) {
  if (const auto choices = schema.find("enum"); choices != schema.end()) {
    for (const Json& choice : *choices)
      if (choice == value) return {};
    return wrong(name, "must be one of " + choices->dump() + ", not " + shown(value));
  }
  if (value.is_number()) {
    const double number = value.get<double>();
    if (schema.contains("minimum") && number < schema["minimum"].get<double>())
      return wrong(name, "must be " + schema["minimum"].dump() + " or more, not " + shown(value));
    if (schema.contains("maximum") && number > schema["maximum"].get<double>())
      return wrong(name, "must be " + schema["maximum"].dump() + " or less, not " + shown(value));
  }
  if (value.is_string()) {
    const std::size_t length = value.get_ref<const std::string&>().size();
    if (schema.contains("minLength") && length < schema["minLength"].get<std::size_t>()) return wrong(name, "is empty");
    if (schema.contains("maxLength") && length > schema["maxLength"].get<std::size_t>())
      return wrong(name, "is longer than " + schema["maxLength"].dump() + " bytes");
    if (value.get_ref<const std::string&>().find('\0') != std::string::npos) return wrong(name, "holds a zero byte");
  }
  return {};
}

}  // namespace

Json schema(std::string_view text) {
  return Json::parse(text);
}

Result<void> check(const Json& value, const Json& schema, const std::string& name) {
  if (const std::string type = text_at(schema, "type"); !type.empty() && !is_of_type(value, type))
    return wrong(name, "must be of type " + type + ", not " + shown(value));
  TRY(check_limits(value, schema, name));
  if (value.is_object()) TRY(check_object(value, schema, name));
  if (value.is_array() && schema.contains("items")) {
    for (std::size_t i = 0; i < value.size(); ++i)
      TRY(check(value[i], schema["items"], name + "[" + std::to_string(i) + "]"));
  }
  return {};
}

}  // namespace accelopt::mcp
