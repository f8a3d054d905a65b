// SPDX-License-Identifier: Apache-2.0
// What a confirmation asks of tools that see more than results.
#include <algorithm>
#include <array>

#include "evaluation/measuring.hpp"

namespace accelopt::evaluation {
namespace {

constexpr std::array kChecked{model::Role::check};

/// The smallest workload of each of the two roles, the smaller one first: such tools are slow, and checked workloads
/// have the odd sizes. Held-out ones stay out: what is found is told.
std::vector<std::size_t> smallest_workloads(const Measuring& measuring) {
  std::vector<std::size_t> out;
  const auto bytes = [&](std::size_t workload) {
    return bytes_of(measuring.task.definition, measuring.task.workloads[workload]);
  };
  for (const auto& role : {kRaced, kChecked}) {
    const std::vector<std::size_t> all = measuring.workloads(role);
    const auto least =
        std::min_element(all.begin(), all.end(), [&](std::size_t a, std::size_t b) { return bytes(a) < bytes(b); });
    if (least != all.end()) out.push_back(*least);
  }
  std::sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) { return bytes(a) < bytes(b); });
  return out;
}

}  // namespace

base::Result<std::optional<Failure>> inspect_calls(Measuring& measuring, Slots& slots, const model::Kernel& candidate,
                                                   model::Evaluation& evaluation, const std::stop_token& stop) {
  if (!measuring.target.inspects()) return std::optional<Failure>();
  const StageClock clock(measuring, evaluation, model::Stage::inspect);
  for (const std::size_t workload : smallest_workloads(measuring)) {
    const std::string where = "workload " + measuring.task.workloads[workload].name + ": ";
    TRY_ASSIGN(Slot * slot, slots.get(workload, 0));
    TRY_ASSIGN(const auto lock, measuring.target.lock_machine());
    TRY_ASSIGN(const Inspection inspection, measuring.target.inspect(candidate, slot->invocation, stop));
    for (const std::string& note : inspection.notes) evaluation.notes.push_back(where + note);
    if (!inspection.finding.empty()) {
      return std::optional(Failure{model::Status::runtime_error, where + inspection.finding, std::nullopt});
    }
  }
  return std::optional<Failure>();
}

}  // namespace accelopt::evaluation
