// SPDX-License-Identifier: Apache-2.0
// A folder of FlashInfer Trace (definitions/, workloads/, solutions/, traces/, with or without folders for authors), or
// of SOL-ExecBench (a folder a problem: definition.json, reference.py, workload.jsonl, solution*.json).
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/problem.hpp"
#include "base/result.hpp"
#include "suites/flashinfer_trace/schema.hpp"
#include "suites/foreign_files.hpp"

namespace accelopt::suites::flashinfer_trace {

/// Everything of one definition.
struct Entry {
  Definition definition;
  std::string file;            ///< of the definition, as messages name it
  std::filesystem::path root;  ///< what paths of safetensors files begin from
  std::vector<Workload> workloads;
  std::vector<Solution> solutions;
  std::vector<Trace> traces;
};

/// Names that the files of a dataset use, also where what they hold was refused: another of the same name would be,
/// too.
struct TakenNames {
  std::set<std::string> definitions;
  std::set<std::pair<std::string, std::string>> workloads;  ///< definition and uuid
  /// Files by the solution's name. Of SOL-ExecBench, by definition and name; else the definition is "".
  std::map<std::pair<std::string, std::string>, std::set<std::filesystem::path>> solutions;
};

struct Dataset {
  std::map<std::string, Entry> entries;  ///< by the definition's name
  /// What was refused, each with its file and line; `key` names the definition that it belongs to, if that is known.
  std::vector<base::Problem> problems;
  std::size_t files = 0;    ///< that were read
  bool by_problem = false;  ///< a folder a problem: SOL-ExecBench
  TakenNames taken;
};

/// Reads the folder. With `names`, of the definitions that they name alone; empty: of all. One bad file is a problem
/// and keeps nothing else from being read. @error not_found: no folder, or none of these forms; exhausted: more files
/// or bytes than any dataset has; invalid_argument: no definition of a name that was asked for.
base::Result<Dataset> read_dataset(const std::filesystem::path& folder, const std::vector<std::string>& names);

/// What is in a folder that something is to be added to, without traces. The folder may be no dataset yet, or not be
/// there. @error as read_dataset.
base::Result<Dataset> survey_dataset(const std::filesystem::path& folder);

}  // namespace accelopt::suites::flashinfer_trace
