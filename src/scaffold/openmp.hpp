// SPDX-License-Identifier: Apache-2.0
// Whether a user's function runs on several threads in the user's build, and what that means for its winner.
#pragma once

#include <string>
#include <string_view>

#include "model/solution.hpp"
#include "model/task.hpp"
#include "scaffold/user_build.hpp"

namespace accelopt::scaffold {

/// What `init` asks for in place of one thread, and its note after the function's name.
inline constexpr const char* kThreadsToState =
    "those that your program gives the function by OpenMP; 1 where it is built without -fopenmp";
inline constexpr const char* kStartsThreads =
    " starts threads by OpenMP: [cpu] threads says how many are measured; with more than one, kernels are compiled "
    "with "
    "-fopenmp";

/// Whether the text starts threads by OpenMP where it is compiled with -fopenmp: `#pragma omp parallel for`,
/// `_Pragma("omp parallel")`. `omp simd` starts none.
bool has_omp_parallel(std::string_view source);

/// What OpenMP makes of a winner in the user's build. Each text is empty where there is nothing to say.
struct OpenMpAdvice {
  std::string refusal;       ///< why the winner must not get into the user's file
  std::string warning;       ///< what to look at before the patch is applied
  std::string no_measuring;  ///< why the gain cannot be measured as the build compiles it
};

/// `build`: none where nothing says how the file is compiled.
OpenMpAdvice openmp_advice(const model::Task& task, const model::Solution& winner, const UserBuild* build);

}  // namespace accelopt::scaffold
