// SPDX-License-Identifier: Apache-2.0
#include "model/usage.hpp"

#include "base/json_text.hpp"

namespace accelopt::model {
namespace {

/// One call says it by having no price; a sum counts them.
std::int64_t unpriced(const Usage& usage) {
  return usage.usd ? usage.unpriced_calls : usage.calls;
}

}  // namespace

Usage& Usage::operator+=(const Usage& other) {
  unpriced_calls = unpriced(*this) + unpriced(other);
  estimated_calls += other.estimated_calls;
  calls += other.calls;
  input_tokens += other.input_tokens;
  cached_input_tokens += other.cached_input_tokens;
  output_tokens += other.output_tokens;
  reasoning_tokens += other.reasoning_tokens;
  transport_retries += other.transport_retries;
  if (other.usd) usd = usd.value_or(0) + *other.usd;
  return *this;
}

std::optional<double> Usage::total_usd() const {
  return unpriced(*this) == 0 ? std::optional(usd.value_or(0)) : std::nullopt;
}

ACCELOPT_JSON(Usage) {
  field.optional("calls", it.calls, "input_tokens", it.input_tokens, "cached_input_tokens", it.cached_input_tokens,
                 "output_tokens", it.output_tokens, "reasoning_tokens", it.reasoning_tokens, "transport_retries",
                 it.transport_retries, "estimated_calls", it.estimated_calls);
  if constexpr (Field::kReads) {
    // Older records have "usd" alone, which was what is known.
    field.optional("unpriced_calls", it.unpriced_calls, "usd", it.usd);
    field.nullable("known_usd", it.usd);
  } else {
    field.required("unpriced_calls", unpriced(it), "known_usd", it.usd, "usd", it.total_usd());
  }
}
ACCELOPT_JSON_TEXT(Usage);

}  // namespace accelopt::model
