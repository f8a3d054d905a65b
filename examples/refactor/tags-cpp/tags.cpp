// SPDX-License-Identifier: Apache-2.0
#include "tags.hpp"

#include <algorithm>

namespace tags {

std::vector<std::string> distinct(const std::vector<std::string>& all) {
  std::vector<std::string> found;
  for (const std::string& tag : all) {
    if (std::find(found.begin(), found.end(), tag) == found.end()) {
      found.push_back(tag);
    }
  }
  return found;
}

}  // namespace tags
