// SPDX-License-Identifier: Apache-2.0
// A user's checkout of the public NKI benchmark: summary.json, kernels in NKI, and references in NumPy, which are read
// for the shapes of the tensors and never executed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.hpp"

namespace accelopt::suites::nkibench {

using OrderedJson = nlohmann::ordered_json;
using Values = std::map<std::string, std::int64_t>;

inline constexpr std::size_t kMostFileBytes = std::size_t{4} << 20;

/// One implementation that summary.json lists.
struct Case {
  std::string op;      ///< the operator's name
  std::string id;      ///< of the case, a number as text
  Values values;       ///< sizes by name
  std::string task;    ///< its reference, relative to the benchmark's folder, as summary.json has it
  std::string kernel;  ///< likewise
};

/// The folder with summary.json: the given one, or NKIBench in it. @error not_found.
base::Result<std::filesystem::path> find_benchmark(const std::filesystem::path& checkout);

struct Cases {
  std::vector<Case> cases;
  std::vector<std::string> problems;  ///< what is listed and is no case
};
/// The first implementation of each case. @error not_found, io, parse.
base::Result<Cases> read_cases(const std::filesystem::path& benchmark);

/// A file that summary.json names. @error as file_in and read_foreign_file.
base::Result<std::string> read_named(const std::filesystem::path& benchmark, const std::string& name);

/// What the reference's `transform_to_nki_inputs` reshapes the inputs to, by their place; none: an input keeps its
/// shape. @error unsupported: it does more than reshape.
base::Result<std::vector<std::optional<std::vector<std::int64_t>>>> kernel_shapes(const std::string& reference,
                                                                                  std::size_t inputs);

}  // namespace accelopt::suites::nkibench
