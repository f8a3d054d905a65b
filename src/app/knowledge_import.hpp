// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "memory/knowledge_store.hpp"

namespace accelopt::app {

/// What is taken for items that do not say. Lists of rewrites say none of it.
struct ImportDefaults {
  std::string language;
  std::string target;
  std::string op_type;
};

/// What a file of experiences holds.
struct Imported {
  std::vector<model::Experience> experiences;
  std::vector<memory::SolutionRecord> solutions;  ///< kernels: of rewrites, and those that an export carries
  std::vector<std::string> quarantined;           ///< ids in stores
  int unknown_effects = 0;                        ///< rewrites whose speedup is none, or cannot be understood
  int kernels_left_out = 0;  ///< of exports: too long, of no experience there, or with an id that is not theirs
};

/// Longest file of experiences, and longest kernel in a list of rewrites: the diff of two takes time with the square of
/// their lines.
inline constexpr std::size_t kMostImportBytes = std::size_t{256} << 20U;
inline constexpr std::size_t kMostKernelBytes = std::size_t{1} << 20U;
inline constexpr std::size_t kMostKernelLines = 5'000;

/// A file, or a pipe to its end, or standard input ("-"). @error invalid_argument: a folder or a device; exhausted: it
/// is longer than kMostImportBytes; not_found, permission_denied, io.
base::Result<std::string> read_import(const std::string& file);

/// Reads a JSON object, a JSON list, or JSON lines of experiences as `memory export` writes them, or of rewrites:
/// objects with slow_kernel and fast_kernel, and summary, title, speedup. `what` begins messages. Lines that say of an
/// experience that it could not be read are left out.
/// @error parse: it is none of these; the message names the place and the next step.
base::Result<Imported> read_experiences(std::string_view text, const std::string& what, const ImportDefaults& defaults);

/// Puts them into a store; gives how many of them it did not hold yet. What it holds stays shown or hidden as its user
/// left it. @error as KnowledgeStore.
base::Result<int> insert_imported(memory::KnowledgeStore& store, const Imported& imported);

/// Whether the fields of an experience that somebody wrote make sense: a polarity that exists, effects that are
/// positive, finite and ordered, an iteration that is a count. Fields that are not there are fine.
/// @error invalid_argument: one does not; the message begins with `where` and names it and what is possible.
base::Result<void> check_fields(const base::Json& fields, const std::string& where);

/// Whether the polarity says what the effect does. @error invalid_argument: one that improves is certainly slower, or
/// one that regresses certainly faster; the message begins with `where` and names both.
base::Result<void> check_polarity(const model::Experience& experience, const std::string& where);

/// Whether it has a title or a strategy. @error parse: neither; the message names the next step.
base::Result<void> check_says_something(const model::Experience& experience, const std::string& where);

}  // namespace accelopt::app
