// SPDX-License-Identifier: Apache-2.0
// generateContent, streamed as server-sent events.
#pragma once

#include "llm/wire.hpp"

namespace accelopt::llm {

const WireFormat& gemini_wire();

}  // namespace accelopt::llm
