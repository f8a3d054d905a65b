// SPDX-License-Identifier: Apache-2.0
// What the compiler made before, found again by all that it follows from: a task is opened again and again, and its
// glue, its references and many candidates are the same each time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/run.hpp"
#include "targets/cpu/compiler.hpp"

namespace accelopt::targets::cpu {

/// A file by its name in a build's folder.
using BuildFiles = std::map<std::string, std::string>;

class CompileCache {
 public:
  static constexpr std::uintmax_t kMostBytes = 64ULL << 20;
  /// `folder`: where it is kept; empty: nowhere. Beyond so many bytes, those that were not used for longest go, now and
  /// then.
  explicit CompileCache(std::filesystem::path folder, std::uintmax_t most_bytes = kMostBytes)
      : folder_(std::move(folder)), most_bytes_(most_bytes) {}

  /// The files that lie in the job's folder, and what the job's result follows from besides the headers that it finds
  /// elsewhere: compiler and assembler, this processor, arguments and files. No key: it follows from more, such as
  /// links' random names, the time or the folder's name.
  struct Job {
    BuildFiles files;
    std::string key;
  };
  [[nodiscard]] Job examine(const Compiler& compiler, const CompileJob& job) const;

  /// Has the compiler write down which headers it reads, for `keep`.
  static void ask_for_headers(std::vector<std::string>& arguments);

  /// Writes what the compiler made into the folder. What it said, and how long it took then; none: it is not known, or
  /// a header that it read is another one now.
  [[nodiscard]] std::optional<sandbox::RunResult> find(const Job& job, const std::filesystem::path& folder) const;
  /// Keeps what the compiler made of the job in the folder, where that is certain to be all of it. Keeping it is a
  /// convenience: nothing is said where it fails.
  void keep(const Job& job, const std::filesystem::path& folder, const sandbox::RunResult& made) const;

 private:
  [[nodiscard]] std::filesystem::path place_of(const std::string& key) const;
  void remove_oldest() const;

  std::filesystem::path folder_;
  std::uintmax_t most_bytes_;
};

}  // namespace accelopt::targets::cpu
