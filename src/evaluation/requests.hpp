// SPDX-License-Identifier: Apache-2.0
// Requests and replies as JSON, the same in the worker protocol and in bundles, and what a reply must look like.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "evaluation/evaluator.hpp"

namespace accelopt::evaluation {

model::Operation operation(const Request& request);
/// What a request's JSON asks for; none: nothing that is known here.
std::optional<model::Operation> operation_in(const base::Json& request);

/// An object with `op` and the operation's arguments.
base::Json to_json(const Request& request);
/// @error parse: an argument is missing or malformed; invalid_argument: no such operation.
base::Result<Request> parse_request(const base::Json& json);
/// The same of a bundle's item: the task and the settings of an opening are the bundle's own, and stay empty.
base::Result<Request> parse_bundled(const base::Json& json);

base::Json to_json(const Reply& reply);
/// The reply to this request. `whose` names in an error who gave it: "the worker's". @error parse: it is another's.
base::Result<Reply> parse_reply(const Request& request, const base::Json& json, std::string_view whose);

/// The same of one who may answer anything: the reply has the form that check_form says, too. Under the protocol of
/// verification alone a race that passed has no ratio.
base::Result<Reply> read_reply(const Request& request, const base::Json& json, std::string_view whose,
                               model::Protocol protocol);

/// Has `evaluator` answer a request; both are JSON. @error as parse_request, and as the evaluator says.
base::Result<base::Json> perform(Evaluator& evaluator, const base::Json& request, std::stop_token stop);

/// Whether an answer has the form that its request, a bundle's item, asks for, so that a search can work with it: every
/// field of its type, as many arms as were asked, known names, finite positive times, intervals in order. Says nothing
/// of its truth.
/// @error parse: what is wrong with it.
base::Result<void> check_form(const base::Json& request, const base::Json& result);
/// The part of it that needs no request, for results that are on record.
base::Result<void> check_form(model::Operation operation, const base::Json& result);

}  // namespace accelopt::evaluation
