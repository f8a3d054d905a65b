// SPDX-License-Identifier: Apache-2.0
// What a person has to write where a dataset has nothing that accelopt runs: files with an #error that lint reports.
#pragma once

#include <string>

#include "model/task.hpp"
#include "suites/flashinfer_trace/schema.hpp"

namespace accelopt::suites::flashinfer_trace {

/// reference.cpp with the signature, an #error, and the definition's Python as a comment.
std::string open_reference(const model::Definition& definition, const std::string& python);

/// baseline.cu with an #error.
std::string open_baseline(const model::Definition& definition);

}  // namespace accelopt::suites::flashinfer_trace
