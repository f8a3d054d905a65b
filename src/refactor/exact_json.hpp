// SPDX-License-Identifier: Apache-2.0
// What a driver wrote as results, compared as values of JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace accelopt::refactor {

/// The same text for equal values alone: order of keys and blanks aside. Whole numbers of any length are told apart,
/// 1 from 1.0, and 0 from -0. None where the text is no JSON, or nests deeper than base::kDeepestJson.
std::optional<std::string> exact_json(std::string_view text);

}  // namespace accelopt::refactor
