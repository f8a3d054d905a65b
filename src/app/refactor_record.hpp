// SPDX-License-Identifier: Apache-2.0
// What a proved change leaves behind: its commit's message, its experience.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/refactor.hpp"
#include "model/experience.hpp"

namespace accelopt::app {

/// The target of experiences of refactoring.
inline constexpr std::string_view kRefactorTarget = "repo";

/// What and why, then trailers with the figures.
std::string commit_message(const RefactorReport& report, const refactor::Task& task);
std::optional<model::Interval> interval_of(const std::optional<stats::Interval>& interval);
model::Experience refactor_experience(const RefactorReport& report, const refactor::Task& task);
/// Whether the experience says what to try first: it made code faster, and failed less often than it held since.
bool worked_before(const model::Experience& experience);
/// The value of a trailer of a commit's message; empty: it has none.
std::string trailer_of(std::string_view message, std::string_view name);

}  // namespace accelopt::app
