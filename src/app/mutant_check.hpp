// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/run.hpp"
#include "app/shell.hpp"
#include "base/problem.hpp"
#include "base/result.hpp"
#include "model/task.hpp"

namespace accelopt::app {

/// refused: as it should be. accepted: the task proves nothing. equivalent: on this operator it computes what is asked
/// for. skipped: it does not apply. untried: it did not build or did not run. built: there is no device to verify it
/// on.
enum class MutantFate { refused, accepted, equivalent, skipped, untried, built };
std::string_view to_string(MutantFate fate);

struct TriedMutant {
  std::string name;
  MutantFate fate = MutantFate::refused;
  std::string reason;
};

struct MutantCheck {
  std::vector<TriedMutant> mutants;
  std::vector<base::Problem> problems;  ///< of accepted mutants and of a failing baseline (errors), and advice
};

/// Builds every mutant of the task and has it verified on all workloads by a worker of its own. An accepted one is
/// tried again with the bounds as measured and with richer inputs, to tell what would mend the task.
/// @error as Evaluator::open; those of building and verifying.
base::Result<MutantCheck> check_mutants(const Shell& shell, const model::Task& task, const DeviceFlags& device,
                                        std::uint64_t seed);

}  // namespace accelopt::app
