// SPDX-License-Identifier: Apache-2.0
// Programs of NVIDIA's that look into a process from without, where this machine has them.
#pragma once

#include <chrono>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace accelopt::devices::cuda {

/// A program, and how it is named where the machine has it nowhere the usual way.
struct ToolName {
  std::string program;                ///< "ncu"
  std::string words;                  ///< for people: "Nsight Compute (ncu)"
  std::string variable;               ///< of the environment: a path, or "off"
  std::vector<std::string> in_roots;  ///< where it lies below a CUDA toolkit
  std::string own_root;               ///< a folder of versions of its own; empty: none
};

const ToolName& nsight_compute();
const ToolName& compute_sanitizer();
const ToolName& disassembler();

struct Tool {
  std::string path;
  std::string version;  ///< "2025.3.1.0"; empty: it does not tell
};

/// How long a program may take to tell its version.
inline constexpr std::chrono::milliseconds kVersionLimit{20'000};

/// Looks at the variable, then in the absolute folders of PATH, CUDA_HOME and CUDA_PATH, then in /usr/local/cuda* and
/// in the tool's own folder, highest version first. Takes the first one whose `--version` ends in time and tells a
/// version or has exit code 0.
/// @error unsupported: it is turned off; not_found: there is none, or none that runs, with what the first one said;
/// cancelled.
base::Result<Tool> find_tool(const ToolName& name, const std::map<std::string, std::string>& environment,
                             const std::stop_token& stop, std::chrono::milliseconds limit = kVersionLimit);

}  // namespace accelopt::devices::cuda
