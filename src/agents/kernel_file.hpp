// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "agents/answers.hpp"

namespace accelopt::agents {

/// Whether a file is one that the question showed.
using IsShown = std::function<bool(const std::string& file)>;

/// The text of a kernel file: of all fenced blocks, the last whole file that the question did not show, else the last
/// one. Whole: it defines the function kernel (C, C++), or has both a //@ launch line and a __global__ function (device
/// code); of another language any block behind which none has a "def". Others are drafts or quotations; what a fence
/// calls its language does not matter. A block {"path": ..., "content": "..."} counts as its content. Where C, C++ or
/// device code stands in no fence, it is what lies from the first line of code to the last. Refused: no such file, a
/// last block that is not closed (a file that was cut off), a diff, deceptive characters, over 256 KiB. Line ends
/// become LF.
Parsed<std::string> parse_kernel_file(std::string_view text, model::Language language = model::Language::cpp,
                                      const IsShown& is_shown = {});

}  // namespace accelopt::agents
