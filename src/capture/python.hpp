// SPDX-License-Identifier: Apache-2.0
// Which Python captures, and where its Triton lies.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/result.hpp"

namespace accelopt::capture {

struct PythonOptions {
  /// Of ACCELOPT_PYTHON, VIRTUAL_ENV and PATH, those that are set.
  std::map<std::string, std::string> environment;
};

struct Python {
  std::filesystem::path program;   ///< absolute
  std::filesystem::path packages;  ///< the folder that holds the package asked for
  std::string triton;              ///< find_python: its version, "3.6.0"
};

/// The version that was measured; another one may be refused by what captures.
inline constexpr const char* kTritonVersion = "3.6.0";

/// ACCELOPT_PYTHON alone, where it is set; else the virtual environment's, else python3 on the PATH: the first that has
/// Triton. Nothing is run.
/// @error unsupported: there is none; says where it was looked for and what to install.
base::Result<Python> find_python(const PythonOptions& options);
/// The first of the same that has this package, of any version. @error as find_python.
base::Result<Python> find_python_with(const PythonOptions& options, const std::string& package);
/// The first of the same that there is, whatever packages it has. @error unsupported: there is none.
base::Result<Python> find_any_python(const PythonOptions& options);

}  // namespace accelopt::capture
