// SPDX-License-Identifier: Apache-2.0
#include "llm/secret.hpp"

#include <cstddef>

#include "base/text.hpp"

namespace accelopt::llm {

namespace {

constexpr std::size_t kShortestSecret = 16;

}  // namespace

std::string blotted_in_code(std::string text, const Secret& secret) {
  return secret.reveal().size() < kShortestSecret ? text : blotted(text, secret);
}

std::string blotted(std::string_view words, const Secret& secret) {
  return base::without_secret(words, secret.reveal());
}

}  // namespace accelopt::llm
