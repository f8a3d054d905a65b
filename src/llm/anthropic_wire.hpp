// SPDX-License-Identifier: Apache-2.0
// The Messages API.
#pragma once

#include "llm/wire.hpp"

namespace accelopt::llm {

const WireFormat& anthropic_wire();

}  // namespace accelopt::llm
