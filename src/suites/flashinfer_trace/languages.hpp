// SPDX-License-Identifier: Apache-2.0
// The languages that the schema names, and the targets whose kernels are written in them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace accelopt::suites::flashinfer_trace {

enum class SourceLanguage { triton, cuda, cpp, python, other };

/// SOL-ExecBench's name as FlashInfer Trace has it; others stay.
std::string common_name(const std::string& name);
SourceLanguage language_named(std::string_view name);
std::string_view to_string(SourceLanguage language);
/// Whether the function that a solution's entry names is Python: that of every language but CUDA C++ and C++ is.
bool is_python(SourceLanguage language);
/// The target whose kernels are written in it; empty: none.
std::string_view target_of(SourceLanguage language);
/// What kernels of the target are written in; none: the schema has no name for it.
std::optional<SourceLanguage> language_of_target(std::string_view target);

}  // namespace accelopt::suites::flashinfer_trace
