// SPDX-License-Identifier: Apache-2.0
#include "memory/pseudo_code.hpp"

#include <cctype>
#include <map>

namespace accelopt::memory {

std::string without_names(std::string_view text, const model::Definition& definition) {
  std::map<std::string, std::string, std::less<>> roles;
  const auto name_all = [&](const auto& things, const std::string& role) {
    int number = 0;
    for (const auto& thing : things) roles.try_emplace(thing.name, role + std::to_string(number++));
  };
  name_all(definition.inputs, "in");
  name_all(definition.outputs, "out");
  name_all(definition.axes, "n");
  const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_name(text[end])) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    const std::string_view word = text.substr(at, end - at);
    const auto role = roles.find(word);
    out += role == roles.end() ? std::string(word) : role->second;
    at = end;
  }
  return out;
}

}  // namespace accelopt::memory
