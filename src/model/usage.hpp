// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace accelopt::model {

/// What model calls used.
struct Usage {
  std::int64_t calls = 0;
  std::int64_t input_tokens = 0;
  std::int64_t cached_input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t reasoning_tokens = 0;  ///< part of the output tokens; 0 where the server does not tell
  std::int64_t transport_retries = 0;
  std::optional<double> usd{};       ///< dollars of the calls with a known price; empty where there are none
  std::int64_t unpriced_calls = 0;   ///< calls of a sum that `usd` leaves out, because their price is unknown
  std::int64_t estimated_calls = 0;  ///< calls whose server told not all tokens: the others by the length of the texts
  Usage& operator+=(const Usage& other);
  /// What all these calls cost, dollars; nothing when the price of any of them is unknown. No call costs nothing.
  [[nodiscard]] std::optional<double> total_usd() const;
  /// Input and output together.
  [[nodiscard]] std::int64_t tokens() const { return input_tokens + output_tokens; }
};

/// "usd" is the total or null, "known_usd" what is known of it.
void to_json(base::Json& out, const Usage& value);
void from_json(const base::Json& in, Usage& value);
void write_json(base::JsonText& out, const Usage& value);

}  // namespace accelopt::model
