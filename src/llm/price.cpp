// SPDX-License-Identifier: Apache-2.0
#include "llm/price.hpp"

namespace accelopt::llm {

double cost_usd(const model::Usage& usage, const Price& price) {
  constexpr double kTokensOfPrice = 1e6;
  const auto fresh = static_cast<double>(usage.input_tokens - usage.cached_input_tokens);
  const auto cached = static_cast<double>(usage.cached_input_tokens);
  const auto output = static_cast<double>(usage.output_tokens);
  return (fresh * price.input + cached * price.cached_input + output * price.output) / kTokensOfPrice;
}

}  // namespace accelopt::llm
