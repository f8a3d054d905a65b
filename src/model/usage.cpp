// SPDX-License-Identifier: Apache-2.0
#include "model/usage.hpp"

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

void to_json(base::Json& out, const Usage& value) {
  out = {{"calls", value.calls},
         {"input_tokens", value.input_tokens},
         {"cached_input_tokens", value.cached_input_tokens},
         {"output_tokens", value.output_tokens},
         {"reasoning_tokens", value.reasoning_tokens},
         {"transport_retries", value.transport_retries},
         {"unpriced_calls", unpriced(value)},
         {"estimated_calls", value.estimated_calls},
         {"known_usd", base::Json(value.usd)},
         {"usd", base::Json(value.total_usd())}};
}

void from_json(const base::Json& in, Usage& value) {
  base::read_field(in, "calls", value.calls);
  base::read_field(in, "input_tokens", value.input_tokens);
  base::read_field(in, "cached_input_tokens", value.cached_input_tokens);
  base::read_field(in, "output_tokens", value.output_tokens);
  base::read_field(in, "reasoning_tokens", value.reasoning_tokens);
  base::read_field(in, "transport_retries", value.transport_retries);
  base::read_field(in, "unpriced_calls", value.unpriced_calls);
  base::read_field(in, "estimated_calls", value.estimated_calls);
  // Older records have "usd" alone, which was what is known.
  const char* known = in.contains("known_usd") ? "known_usd" : "usd";
  if (in.contains(known)) in.at(known).get_to(value.usd);
}

}  // namespace accelopt::model
