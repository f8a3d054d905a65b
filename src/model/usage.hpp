// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace accelopt::model {

/// What model calls used. `usd` is empty when no price is known.
struct Usage {
  std::int64_t calls = 0;
  std::int64_t input_tokens = 0;
  std::int64_t cached_input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t transport_retries = 0;
  std::optional<double> usd;
  Usage& operator+=(const Usage& other);
};

void to_json(base::Json& out, const Usage& value);
void from_json(const base::Json& in, Usage& value);

}  // namespace accelopt::model
