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
  int unknown_effects = 0;                        ///< rewrites whose speedup is none, or cannot be understood
};

/// Reads a JSON object, a JSON list, or JSON lines of experiences as `memory export` writes them, or of rewrites:
/// objects with slow_kernel and fast_kernel, and summary, title, speedup. `what` begins messages.
/// @error parse: it is none of these; the message names the place and the next step.
base::Result<Imported> read_experiences(std::string_view text, const std::string& what, const ImportDefaults& defaults);

/// Whether the fields of an experience that somebody wrote make sense: a polarity that exists, effects that are
/// positive, finite and ordered, an iteration that is a count. Fields that are not there are fine.
/// @error invalid_argument: one does not; the message begins with `where` and names it and what is possible.
base::Result<void> check_fields(const base::Json& fields, const std::string& where);

/// Whether it has a title or a strategy. @error parse: neither; the message names the next step.
base::Result<void> check_says_something(const model::Experience& experience, const std::string& where);

}  // namespace accelopt::cli
