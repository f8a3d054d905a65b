// SPDX-License-Identifier: Apache-2.0
// Kernels of the public NKI benchmark as tasks.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace accelopt::suites::nkibench {

struct ImportOptions {
  std::filesystem::path checkout{};
  std::vector<std::string> operators{};  ///< empty: all
  std::filesystem::path output{};        ///< gets a folder a case
  bool replaces = false;                 ///< writes into folders that hold files
  std::string target{};                  ///< that runs NKI
};

/// What became of one case.
struct ImportedTask {
  std::string name;
  std::filesystem::path folder{};  ///< empty: it was refused
  std::string refused{};           ///< why
};

struct ImportReport {
  std::vector<ImportedTask> tasks;
  std::vector<std::string> problems;  ///< of summary.json
};

/// What is written beside an imported task, for the way back.
inline constexpr const char* kOriginFile = "nkibench.json";
inline constexpr int kOriginSchema = 1;

/// Writes a folder for each case: the benchmark's kernel as it is, with the shapes that it takes, and our reference of
/// its operator. @error as find_benchmark and read_cases; not_found: an operator that is asked for is not there;
/// permission_denied, exhausted, io: the output cannot be written.
base::Result<ImportReport> import_benchmark(const ImportOptions& options);

}  // namespace accelopt::suites::nkibench
