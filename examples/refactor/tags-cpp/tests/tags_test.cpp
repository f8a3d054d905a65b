// SPDX-License-Identifier: Apache-2.0
#include "tags.hpp"

int main() {
  const std::vector<std::string> expected = {"a", "b", "c"};
  return tags::distinct({"a", "b", "a", "c", "b"}) == expected && tags::distinct({}).empty() ? 0 : 1;
}
