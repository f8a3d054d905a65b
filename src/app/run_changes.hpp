// SPDX-License-Identifier: Apache-2.0
// What changes when a run continues, and stays: where it measures and whom it asks.
#pragma once

#include <string>

#include "app/run.hpp"

namespace accelopt::app {

/// The settings with which a run continues.
/// @error invalid_argument: the options contradict each other or the run, or the models that they name cannot be used,
/// as settings_from says; as run_settings_from.
base::Result<RunSettings> resumed_settings(const journal::RunInfo& run, const ResumeOptions& options,
                                           const Config& config);

/// The place where a run measures and the model that it asks stay with it, so that it is resumed so without being told
/// again. What is for now alone is not kept. @error as Journal::change_settings.
base::Result<void> keep_changes(journal::Journal& journal, const std::string& run, const RunSettings& settings,
                                model::EventSink& events);

}  // namespace accelopt::app
