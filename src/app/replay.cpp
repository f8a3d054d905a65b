// SPDX-License-Identifier: Apache-2.0
#include "app/replay.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace accelopt::app {
namespace {

class Silent : public model::EventSink {
 public:
  void on(const model::Event&) override {}
};

/// Where a replay decided otherwise than the run, whose log is on record: "iteration 2: beam"; empty where it did not,
/// or where no log is.
std::string first_difference(journal::Journal& journal, const journal::RunInfo& run, const base::Json& decisions) {
  const auto steps = journal.steps(run.id);
  if (!steps) return {};
  for (const journal::StepRecord& step : *steps) {
    if (model::step_kind(step.key.kind) != model::StepKind::decisions || !step.output.is_array()) continue;
    for (std::size_t i = 0; i < std::max(step.output.size(), decisions.size()); ++i) {
      if (i >= decisions.size()) return fmt::format("entry {} is missing", i + 1);
      if (i >= step.output.size()) return fmt::format("entry {} is new", i + 1);
      for (const auto& [key, value] : step.output[i].items()) {
        if (decisions[i].value(key, base::Json()) != value)
          return fmt::format(
              "{}, {}",
              step.output[i].contains("iteration") ? fmt::format("iteration {}", i + 1) : std::string("confirmation"),
              key);
      }
    }
  }
  return {};
}

}  // namespace

base::Result<Replay> replay_run(journal::Journal& journal, const journal::RunInfo& run, const RunSettings& settings,
                                const search::Stops& stops) {
  const search::RunRequest request{.run = run.id,
                                   .task = run.task,
                                   .settings = settings.search,
                                   .measure = settings.measure,
                                   .seed = run.seed,
                                   .missing = search::Missing::leave_it};
  Silent events;
  const auto began = std::chrono::steady_clock::now();
  TRY_ASSIGN(auto report, search::run_search(request, {{}, nullptr, &journal, &events}, stops));
  Replay replay{std::move(report), "", 0};
  replay.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  replay.first_difference = first_difference(journal, run, replay.report.decisions);
  return replay;
}

}  // namespace accelopt::app
