// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "http/client.hpp"
#include "llm/endpoint.hpp"

namespace accelopt::llm {

/// One thing that was looked at on an endpoint.
struct EndpointFinding {
  enum class State {
    ok,
    unknown,  ///< the server does not say; it may work
    missing,  ///< it cannot work like this
  };
  std::string_view name;  ///< "settings", "endpoint", "key", "model", in this order
  State state = State::ok;
  std::string detail;  ///< what was found, one line, free of keys
  std::string advice;  ///< what to do; empty where nothing is to be done
};

/// Whether the endpoint can be reached, takes the key and has the model, without asking the model anything: the list of
/// its models is free. What depends on something missing is left out. Blocks for at most 15 s; a stop ends it at once.
std::vector<EndpointFinding> check_endpoint(const EndpointOptions& options, http::Client& client,
                                            const std::stop_token& stop);

}  // namespace accelopt::llm
