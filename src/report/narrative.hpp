// SPDX-License-Identifier: Apache-2.0
// Prose about a run that a model wrote, held to the record: what it says in numbers has to stand there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace accelopt::report {

/// What a record holds: its texts, and the values in its JSON.
struct NumberRecord {
  std::string text;
  base::Json values;
};

/// The numbers of the prose that the record does not have, in order, each once. A number is on record where it stands
/// in the record's text, or where a value of its JSON rounds to it and differs by at most two percent. One that is said
/// to be a ratio (2.5x, 2.5 times), a percentage or a time has to be one there. Numbers in words from two on count, and
/// words that compare, as "twice" and "half". Names with digits, as "float16" and "i0.b1.p2", must stand in the
/// record's text.
std::vector<std::string> numbers_off_record(std::string_view prose, const NumberRecord& record);

}  // namespace accelopt::report
