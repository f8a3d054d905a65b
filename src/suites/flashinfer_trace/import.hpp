// SPDX-License-Identifier: Apache-2.0
// Definitions of a dataset as task folders.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "suites/flashinfer_trace/dataset.hpp"

namespace accelopt::suites::flashinfer_trace {

struct ImportOptions {
  std::filesystem::path dataset{};
  std::vector<std::string> definitions{};  ///< empty: all
  std::string solution{};                  ///< that becomes the baseline; empty: the fastest on record, else the first
  std::filesystem::path output{};          ///< gets a folder a definition
  std::size_t most_workloads = 6;          ///< of a definition, chosen by size; 0: all
  bool replaces = false;                   ///< writes into folders that hold files
};

/// What became of one definition.
struct ImportedTask {
  std::string definition;
  std::filesystem::path folder;     ///< empty: it was refused
  std::string refused{};            ///< why
  std::size_t workloads = 0;        ///< in the task
  std::size_t workloads_there = 0;  ///< in the dataset
  std::size_t left_out = 0;         ///< more than were asked for
  std::size_t solutions = 0;        ///< kept beside the task, its baseline included
  std::vector<std::string> lost{};  ///< workloads that no task can have, each with the reason
  std::vector<std::string> notes{};
  std::vector<std::string> open{};  ///< what a person has to write before the task can be used
};

struct ImportReport {
  std::vector<ImportedTask> tasks;
  std::vector<base::Problem> problems;  ///< of the dataset's files; `key` names the definition, if it is known
};

/// What is written beside an imported task, for the way back: the objects as they were read.
inline constexpr const char* kOriginFile = "flashinfer_trace.json";
inline constexpr int kOriginSchema = 1;

/// Reads the dataset and writes a folder for each definition. What cannot be had is in the report and stops nothing
/// else. @error as read_dataset; permission_denied, exhausted, io: the output cannot be written.
base::Result<ImportReport> import_dataset(const ImportOptions& options);

}  // namespace accelopt::suites::flashinfer_trace
