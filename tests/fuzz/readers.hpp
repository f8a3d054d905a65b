// SPDX-License-Identifier: Apache-2.0
// Every reader of text or bytes from outside, behind one form.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace accelopt::fuzz {

struct Reader {
  std::string name;  ///< and that of its folder of the corpus
  /// Reads the input as the program does, and says in words what came of it: what is refused for another reason, or
  /// taken otherwise, has another text. Lets no exception out; one that comes out is a finding.
  std::function<std::string(std::string_view input)> read;
};

/// `fixtures` is the folder tests/fixtures or a copy: readers take from it what stands around an input.
std::vector<Reader> readers(const std::filesystem::path& fixtures);

/// An archive's container, manifest and members.
std::string read_evidence(std::string_view input);

}  // namespace accelopt::fuzz
