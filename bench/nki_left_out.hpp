// SPDX-License-Identifier: Apache-2.0
// How much the model's fitted constants hang on single kernels: refits that leave out one kernel each.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "targets/trainium/chip.hpp"
#include "targets/trainium/program.hpp"

namespace accelopt::bench {

struct RecordedKernel {
  std::string name;
  targets::trainium::Program program;
  double recorded_ms = 0;
};

struct LeftOut {
  std::string name;
  double as_it_stands = 1;  ///< modelled over recorded
  double refitted = 1;      ///< the same, constants fitted to all kernels
  double left_out = 1;      ///< the same, constants fitted to all others
};

struct Refit {
  std::vector<LeftOut> kernels;
  struct Constant {
    std::string name;
    double now = 0;
    double refitted = 0;
    double least = 0;  ///< over the refits that leave one out
    double most = 0;
  };
  std::vector<Constant> constants;
};

/// Milliseconds, the geometric mean of both policies. @error as schedule.
base::Result<double> modelled_ms(const targets::trainium::Program& program, const targets::trainium::Generation& chip);

/// Refits the fitted constants by least squares over the logarithms of the errors, to first order; a constant is held
/// near where it is, as far as the kernels do not speak against it. @error as modelled_ms.
base::Result<Refit> leave_one_out(const std::vector<RecordedKernel>& kernels);

void print(const Refit& refit);
/// The largest relative change of a kernel's time by leaving it out.
double largest_move(const Refit& refit);

}  // namespace accelopt::bench
