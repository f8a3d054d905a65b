// SPDX-License-Identifier: Apache-2.0
// Chat completions, as served by vLLM, SGLang, llama.cpp, Ollama and vendors.
#pragma once

#include "llm/wire.hpp"

namespace accelopt::llm {

const WireFormat& openai_wire();

}  // namespace accelopt::llm
