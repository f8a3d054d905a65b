// SPDX-License-Identifier: Apache-2.0
// The verdict on one kernel, outside of any run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/device.hpp"
#include "app/shell.hpp"
#include "base/result.hpp"
#include "model/evaluation.hpp"
#include "model/task.hpp"

namespace accelopt::app {

/// What is to be judged, and where.
struct EvalRequest {
  const model::Task& task;
  std::optional<model::Solution> kernel{};  ///< none: the baseline, against itself
  DeviceFlags device{};
  std::string workspace{};              ///< whose accelopt.toml holds; empty: as find_workspace finds it
  std::optional<std::uint64_t> seed{};  ///< of the inputs; none: drawn
  bool confirm = false;                 ///< as a run confirms its winner
  bool interpret = false;               ///< by the target's interpreter: verified, never timed
  bool verify = false;                  ///< verified, and neither timed nor profiled
  bool host = false;                    ///< its own host function is called, too, and compared
  model::OutputCheck outputs = model::OutputCheck::places;
};

/// Hears, in words, what is being done; any thread.
struct EvalPorts {
  std::function<void(const std::string& step)> begin = [](const std::string&) {};
  std::function<void(const std::string& share)> share = [](const std::string&) {};  ///< how far the step is
  std::function<void(const std::string& text)> note = [](const std::string&) {};
};

/// The kernel in a file, in the language that its name tells. @error as language_of_file and read_file.
base::Result<model::Solution> read_kernel(const std::filesystem::path& file, const model::Task& task);

/// Builds, verifies and races it against the baseline, and profiles it. A failure of either is a status. What an
/// interpreter verified is NOT_MEASURED, and says so.
/// @error as make_evaluator and evaluation::judge; cancelled.
base::Result<model::Evaluation> evaluate(const Shell& shell, const EvalRequest& request, const EvalPorts& ports = {});

/// A kernel of the same task that another one is compared with.
struct ComparisonArm {
  std::string name;
  model::Solution kernel;
};

/// "NAME=FILE". @error invalid_argument: no name, no file, or a name of other than letters, digits, "_", "-", "." and
/// blanks; as read_kernel.
base::Result<ComparisonArm> read_arm(std::string_view text, const model::Task& task);

struct ComparedArm {
  std::string name;
  model::Evaluation evaluation;  ///< of its kernel against the task's baseline
};

/// The arms, each judged and raced against the baseline as the request's own kernel is, on inputs of the same seed.
/// @error as evaluate.
base::Result<std::vector<ComparedArm>> evaluate_arms(const Shell& shell, const EvalRequest& request,
                                                     const std::vector<ComparisonArm>& arms,
                                                     const EvalPorts& ports = {});

/// How many times as fast the first is as the second, both measured against one baseline; the interval is as wide as
/// both allow. None: one of them has no ratio.
std::optional<model::Interval> speed_over(const model::Evaluation& kernel, const model::Evaluation& arm);

/// Whether both were compiled to the same code: what their times differ by is chance.
bool same_code(const model::Evaluation& kernel, const model::Evaluation& arm);

/// The evaluation object of docs/json.md; with arms, `against`.
base::Json to_json(const model::Task& task, const model::Evaluation& evaluation,
                   const std::vector<ComparedArm>& arms = {});

}  // namespace accelopt::app
