// SPDX-License-Identifier: Apache-2.0
// How the targets of this program are made and examined. What they are, every layer reads in
// model/target_description.hpp.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "evaluation/finding.hpp"
#include "evaluation/target.hpp"
#include "model/target_description.hpp"

namespace accelopt::targets {

/// What a target is made with.
struct Making {
  std::string device;                   ///< as named, "cuda:0"
  std::optional<int> number;            ///< behind the colon
  std::string compiler;                 ///< empty: the first that there is
  std::filesystem::path cache;          ///< of measured peaks and of what compilers made; empty: none
  evaluation::Environment environment;  ///< of `variables`
};

struct Entry {
  const model::TargetDescription& description;
  std::vector<std::string> variables;  ///< of the environment, that it looks at
  std::unique_ptr<evaluation::Target> (*make)(const Making& making);
  /// Reports what evaluating on it needs; how much is missing without which nothing is measured.
  int (*examine)(const evaluation::Environment& environment, const evaluation::Report& report);
  /// Folder of its self-test below exploits/; empty: exploits/ itself, without the others'. None: it has none yet.
  std::optional<std::string> selftest;
};

/// Those that something is measured on, in the order of model::targets().
std::span<const Entry> registry();

/// None: nothing is measured on a target of this name.
const Entry* find_entry(std::string_view name);

}  // namespace accelopt::targets
