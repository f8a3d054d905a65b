// SPDX-License-Identifier: Apache-2.0
// The evaluator's values as JSON: the same text in the worker protocol and in the journal.
#pragma once

#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"
#include "evaluation/reports.hpp"

namespace accelopt::evaluation {

/// Settings that somebody else wrote: of an archive, a bundle, a request, a journal. @error corrupt: a number would
/// keep a machine busy for ever, use up its memory or describe no measurement; the message names it; as base::decode.
base::Result<MeasureSettings> read_settings(const base::Json& json, std::string_view what);

void to_json(base::Json& out, const MeasureSettings& value);
void from_json(const base::Json& in, MeasureSettings& value);
void to_json(base::Json& out, const Peaks& value);
void from_json(const base::Json& in, Peaks& value);
void to_json(base::Json& out, const DeviceInfo& value);
void from_json(const base::Json& in, DeviceInfo& value);
void to_json(base::Json& out, const OpenReport& value);
void from_json(const base::Json& in, OpenReport& value);
void to_json(base::Json& out, const Arm& value);
void from_json(const base::Json& in, Arm& value);
void to_json(base::Json& out, const ArmScore& value);
void from_json(const base::Json& in, ArmScore& value);
void to_json(base::Json& out, const PlayoffReport& value);
void from_json(const base::Json& in, PlayoffReport& value);

}  // namespace accelopt::evaluation
