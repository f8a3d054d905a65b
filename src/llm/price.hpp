// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/usage.hpp"

namespace accelopt::llm {

/// US dollars for a million tokens.
struct Price {
  double input = 0;
  double cached_input = 0;  ///< input tokens that the server had in its cache
  double output = 0;        ///< reasoning included
};

/// What the tokens cost, in US dollars.
double cost_usd(const model::Usage& usage, const Price& price);

}  // namespace accelopt::llm
