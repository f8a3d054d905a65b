// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "suites/flashinfer_trace/dataset.hpp"

namespace accelopt::suites::flashinfer_trace {

/// How a solution's function hands its results over.
enum class CallingStyle {
  writes,   ///< it is given the outputs after the inputs
  returns,  ///< it is given the inputs and returns the outputs
  unknown,  ///< its source does not tell
};

/// As its parameters say, which older solutions' flag contradicts; else as the flag says.
CallingStyle calling_style(const Solution& solution, const Definition& definition);

/// What a task begins with.
struct BaselineChoice {
  const Solution* solution = nullptr;          ///< null: the dataset has none
  std::string target;                          ///< of the task
  std::string file;                            ///< "baseline.cu"
  std::optional<std::string> text{};           ///< none: the solution cannot be a baseline as it is
  CallingStyle style = CallingStyle::unknown;  ///< of the solution
  std::vector<std::string> notes{};
};

/// The solution of that name; without a name, the one that the dataset's traces found fastest, else the first.
/// @error invalid_argument: there is none of that name.
base::Result<BaselineChoice> choose_baseline(const Entry& entry, const std::string& name);

/// Whether the source has a `//@ launch` line (CUDA C++), or a function `kernel` (C, C++): what accelopt calls.
bool follows_contract(const Solution& solution);

}  // namespace accelopt::suites::flashinfer_trace
