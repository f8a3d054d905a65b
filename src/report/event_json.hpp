// SPDX-License-Identifier: Apache-2.0
// A run's events as docs/events.md describes them.
#pragma once

#include <optional>

#include "base/json.hpp"
#include "base/result.hpp"
#include "model/events.hpp"

namespace accelopt::report {

base::Json event_json(const model::Event& event);

/// The event that such an object tells; nothing when its type is none of ours: a later version may tell more.
/// @error parse: a field is missing or has another type.
base::Result<std::optional<model::Event>> event_from_json(const base::Json& json);

}  // namespace accelopt::report
