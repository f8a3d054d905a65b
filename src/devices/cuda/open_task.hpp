// SPDX-License-Identifier: Apache-2.0
// The programs of one open task on the device, as the evaluation calls them; the same for every front end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "devices/cuda/client.hpp"
#include "devices/cuda/device_tools.hpp"
#include "devices/cuda/program.hpp"
#include "evaluation/bench.hpp"
#include "model/task.hpp"

namespace accelopt::devices::cuda {

/// What the programs of one open task share.
struct OpenTask {
  model::Definition definition;
  DeviceClient device;
  /// Which plan of a program an invocation takes.
  std::function<std::string(const evaluation::Invocation&)> plan_name;
  /// Sets of inputs per call, by workload's axes: found at its first call, the same for all programs from then on.
  std::map<std::vector<std::int64_t>, int> variants{};
};

/// Whether a call of the workload is timed over several sets of inputs, or none was made that tells it.
bool times_several_sets(const OpenTask& task, const model::Workload& workload);

/// A plan that holds for one slot alone, and the program that has it.
struct SlotProgram {
  ProgramPtr program;
  std::string plan;
  std::string problem;  ///< why there is none, for people and fixer; empty: there is one
};
/// Gives those of slots, in their order, from a front end whose plans hold for the values that the host knows.
using SlotPrograms = std::function<base::Result<std::vector<SlotProgram>>(const std::vector<std::uint64_t>& slots)>;

/// The program, loaded anew, to be called on slots that `task.device` prepared. `task` must outlive it. Where there are
/// `plans`, each slot's own takes the place of the program's; machine code stays loaded from slot to slot.
std::unique_ptr<evaluation::LiveKernel> start_program(OpenTask& task, ProgramPtr program, SlotPrograms plans = {});

/// A slot's inputs and outputs as the device is told of them; which reference runs is left open.
/// @error invalid_argument: an input cannot be drawn.
base::Result<SlotRecipe> slot_recipe(const model::Definition& definition, const evaluation::SlotPlan& plan);

/// A call of the program's plan of that name on a slot's first set of inputs, for a process of its own.
/// @error invalid_argument: the slot or the plan is not there, or an input cannot be drawn.
base::Result<OneCall> one_call(OpenTask& task, const Program& program, const std::string& plan_name,
                               const evaluation::Invocation& invocation);

}  // namespace accelopt::devices::cuda
