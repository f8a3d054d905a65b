// SPDX-License-Identifier: Apache-2.0
// `accelopt init` for what launches kernels: an operator of PyTorch in Python with Triton kernels, a kernel in CUDA
// C++.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "scaffold/example_call.hpp"
#include "scaffold/scaffold.hpp"

namespace accelopt::scaffold {

/// Writes task.toml, baseline and reference of an operator. A .py file: the baseline is the file with a function `run`
/// that calls the operator, the reference what `options.reference` names, with the definitions that it needs. A .cu
/// file: the baseline is the kernel with a `//@ launch` line whose grid and block are to be filled in, the reference
/// too. What `options.example` does not say is written as "?" or marked, and lint refuses both by line.
/// @error not_found: no such file or function; invalid_argument: the example has another form or names no parameter;
/// unsupported: the operator builds an extension, or the kernel is a template; as scaffold_task.
base::Result<ScaffoldReport> scaffold_operator(const ScaffoldOptions& options, const std::string& source);

}  // namespace accelopt::scaffold
