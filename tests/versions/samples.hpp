// SPDX-License-Identifier: Apache-2.0
// Values with every field set to something else than its default.
#pragma once

#include "evaluation/evaluator.hpp"
#include "model/events.hpp"
#include "model/experience.hpp"
#include "model/task.hpp"
#include "search/result.hpp"

namespace accelopt::versions {

model::Task full_task();
/// Only what every task has.
model::Task plain_task();
/// Generators over axes, and a workload that draws in a way of its own.
model::Task paged_task();
/// Made from a user's function, whose code it knows again.
model::Task task_of_a_function();
model::Solution sample_solution(model::Language language, const std::string& file);
model::Usage full_usage();
model::Experience full_experience();
model::Evaluation full_evaluation();
model::Profile failed_profile();
evaluation::MeasureSettings full_settings();
evaluation::OpenReport full_open_report();
evaluation::PlayoffReport full_playoff_report();
search::RunResult full_result();
std::vector<model::Event> every_event();

}  // namespace accelopt::versions
