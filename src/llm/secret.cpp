// SPDX-License-Identifier: Apache-2.0
#include "llm/secret.hpp"

#include <cstddef>
#include <utility>

namespace accelopt::llm {

namespace {

constexpr std::size_t kShortestSecret = 16;
/// A shorter key would blot out most of any message.
constexpr std::size_t kShortestKey = 3;

}  // namespace

std::string blotted_in_code(std::string text, const Secret& secret) {
  return secret.reveal().size() < kShortestSecret ? text : blotted(std::move(text), secret);
}

std::string blotted(std::string text, const Secret& secret) {
  const std::string& key = secret.reveal();
  if (key.size() < kShortestKey) return text;
  for (std::size_t at = 0; (at = text.find(key, at)) != std::string::npos;) text.replace(at, key.size(), "[key]");
  return text;
}

}  // namespace accelopt::llm
