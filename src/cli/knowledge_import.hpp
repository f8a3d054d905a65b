// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "memory/knowledge_store.hpp"

namespace accelopt::cli {

/// What is taken for items that do not say. Lists of rewrites say none of it.
struct ImportDefaults {
  std::string language;
  std::string target;
  std::string op_type;
};

/// What a file of experiences holds.
struct Imported {
  std::vector<model::Experience> experiences;
  std::vector<memory::SolutionRecord> solutions;  ///< of rewrites: both kernels
  std::vector<std::string> quarantined;           ///< ids in stores
};

/// Reads a JSON object, a JSON list, or JSON lines of experiences as `memory export` writes them, or of rewrites:
/// objects with slow_kernel and fast_kernel, and summary, title, speedup. `what` begins messages.
/// @error parse: it is none of these; the message names the place and the next step.
base::Result<Imported> read_experiences(std::string_view text, const std::string& what, const ImportDefaults& defaults);

}  // namespace accelopt::cli
