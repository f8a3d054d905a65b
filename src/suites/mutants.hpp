// SPDX-License-Identifier: Apache-2.0
// Mutants: kernels that are wrong in ways that kernels have been found wrong, derived from a task. A task whose
// verification accepts one proves nothing of the kernels that pass it.
#pragma once

#include <string>
#include <vector>

#include "model/solution.hpp"
#include "model/task.hpp"

namespace accelopt::suites {

/// What a mutant does wrong; it decides what would mend the task that accepts it.
enum class MutantKind {
  zeros,
  constant,
  copy,
  last_tile,
  reduction,
  statistics,
  maximum,
  row,
  scalar,
  mutated_input,
  epsilon,
  branch,
  boundary,
  lower_precision,
  half_width,
  narrow_input
};

struct Mutant {
  MutantKind kind = MutantKind::zeros;
  std::string name;     ///< "last tile skipped", with "(output y)" or "(over K)" where there are several
  std::string does;     ///< "y: every element is 0"
  std::string skipped;  ///< why it does not apply to this task; empty: `solution` is it
  model::Solution solution;
};

/// All mutants of a task in C, C++ or device code; none of one whose kernels are another text. Each is the baseline's
/// own source, called by a kernel that spoils its inputs or its outputs, or launched between others that do.
std::vector<Mutant> derive_mutants(const model::Task& task);

/// The same task with bounds as measured: without a stated normwise bound and without permission for lower precision.
model::Task with_measured_bounds(const model::Task& task);
/// The same task, with measured bounds, in which every floating input is drawn from normal(0, 1) under all families: an
/// accepted mutant that passes here too computes what the operator says.
model::Task with_rich_inputs(const model::Task& task);

}  // namespace accelopt::suites
