// SPDX-License-Identifier: Apache-2.0
// What NVRTC and its assembler said, cut down to what a kernel's author needs. Read as hostile text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace accelopt::targets::cuda {

/// The errors of a log on the candidate's own files (`own`, plain names), as "kernel.cu:12:5: error: reason" with the
/// line and its caret, then those of CUDA's headers and of the assembler without their text; no paths, at most a few
/// thousand characters. Empty: the log has no error.
std::string device_diagnostics(std::string_view log, const std::vector<std::string>& own);

/// What the assembler says about lost performance, each once: "setmaxnreg ignored; ...".
std::vector<std::string> device_remarks(std::string_view log);

}  // namespace accelopt::targets::cuda
