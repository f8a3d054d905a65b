// SPDX-License-Identifier: Apache-2.0
#include "model/usage.hpp"

namespace accelopt::model {

Usage& Usage::operator+=(const Usage& other) {
  calls += other.calls;
  input_tokens += other.input_tokens;
  cached_input_tokens += other.cached_input_tokens;
  output_tokens += other.output_tokens;
  transport_retries += other.transport_retries;
  if (other.usd) usd = usd.value_or(0) + *other.usd;
  return *this;
}

void to_json(base::Json& out, const Usage& value) {
  out = {{"calls", value.calls},
         {"input_tokens", value.input_tokens},
         {"cached_input_tokens", value.cached_input_tokens},
         {"output_tokens", value.output_tokens},
         {"transport_retries", value.transport_retries},
         {"usd", base::Json(value.usd)}};
}

void from_json(const base::Json& in, Usage& value) {
  base::read_field(in, "calls", value.calls);
  base::read_field(in, "input_tokens", value.input_tokens);
  base::read_field(in, "cached_input_tokens", value.cached_input_tokens);
  base::read_field(in, "output_tokens", value.output_tokens);
  base::read_field(in, "transport_retries", value.transport_retries);
  if (in.contains("usd")) in.at("usd").get_to(value.usd);
}

}  // namespace accelopt::model
