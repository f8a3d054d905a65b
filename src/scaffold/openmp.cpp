// SPDX-License-Identifier: Apache-2.0
#include "scaffold/openmp.hpp"

#include <regex>
#include <vector>

#include "model/c_tokens.hpp"

namespace accelopt::scaffold {
namespace {

/// Of a directive, a macro's line, or the text that _Pragma is given.
bool starts_threads(const std::string& pragma) {
  static const std::regex kParallel(R"(\bomp\s.*\bparallel\b)");
  return std::regex_search(pragma, kParallel);
}

constexpr const char* kWayOut =
    "set [cpu] threads in task.toml to the threads that your program gives it, and search again";

}  // namespace

bool has_omp_parallel(std::string_view source) {
  const std::vector<model::Token> tokens = model::c_tokens(source);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool is_directive =
        tokens[i].kind == model::TokenKind::preprocessor && tokens[i].text.find("ragma") != std::string::npos;
    if (is_directive && starts_threads(tokens[i].text)) return true;
    const bool is_operator = tokens[i].text == "_Pragma" && i + 2 < tokens.size();
    if (is_operator && starts_threads(tokens[i + 2].text)) return true;
  }
  return false;
}

OpenMpAdvice openmp_advice(const model::Task& task, const model::Solution& winner, const UserBuild* build) {
  const OpenMp openmp = build == nullptr ? OpenMp::unknown : build->openmp;
  const std::string& function = task.entry ? task.entry->function : task.definition.name;
  const bool ran_parallel = has_omp_parallel(model::main_text(task.baseline));
  const bool runs_parallel = has_omp_parallel(model::main_text(winner));
  OpenMpAdvice advice;
  if (task.cpu.threads > 1) {
    if (openmp == OpenMp::off && (ran_parallel || runs_parallel)) {
      advice.no_measuring = "your build compiles without -fopenmp, and the task was measured on " +
                            std::to_string(task.cpu.threads) + " threads with it";
      if (runs_parallel)
        advice.warning = "the winner needs -fopenmp: add it to your build, or the winner runs on one thread";
    }
    return advice;
  }
  if (!ran_parallel || openmp == OpenMp::off) return advice;
  const std::string lost = function + " has `omp parallel`, the task measured it on one thread, and the winner ";
  if (openmp == OpenMp::on) {
    advice.no_measuring =
        function + " has `omp parallel` and your build compiles it with -fopenmp, while the task measured one thread";
    if (!runs_parallel)
      advice.refusal =
          lost + "has none: with -fopenmp, as your build has it, it may be slower than your own code; " + kWayOut;
    return advice;
  }
  if (!runs_parallel) {
    advice.warning = lost + "has none: where your build has -fopenmp it may be slower than your own code; " + kWayOut;
  }
  return advice;
}

}  // namespace accelopt::scaffold
