// SPDX-License-Identifier: Apache-2.0
// What an evaluation costs. Takes the candidates of real searches (the recipes agents on some operators of the suite)
// and evaluates each against its parent twice: as accelopt does, and in the usual way (a fresh process, one pass for
// correctness, 10 warm-ups, 3 x 50 timed calls of the raced workload; the same for what it is compared with, because
// times of another minute are another machine's). Builds are done before in both, and not counted. What the usual way
// takes without its opponent is told, too. Each candidate is evaluated once more under another name, as one of a longer
// search: the inputs that it meets for the first time were drawn for others before. Also: how soon a clear loser is
// dismissed, what a timed call and a whole evaluation cost beside the kernels' own calls, and what a start of a
// confined process costs.
//
//   evaluation [--task NAME]... [--suite DIR] [--accelopt FILE]
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/json.hpp"
#include "delayed.hpp"
#include "evaluation/target.hpp"
#include "figures.hpp"
#include "journal/journal.hpp"
#include "stats/estimate.hpp"
#include "suites/task_folder.hpp"
#include "targets/cpu/cpu_target.hpp"
#include "targets/cpu/task_header.hpp"
#include "worker/pool.hpp"

namespace accelopt::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Options {
  fs::path suite = ACCELOPT_SUITE;
  fs::path accelopt = ACCELOPT_PROGRAM;
  std::vector<std::string> tasks;
};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

base::Result<int> command(const std::string& text) {
  const int status = std::system(text.c_str());  // NOLINT(concurrency-mt-unsafe): one thread
  if (status == -1 || !WIFEXITED(status)) return base::fail(base::ErrorCode::io, "cannot run: " + text);
  return WEXITSTATUS(status);
}

/// A candidate that a search raced, and the parent that it was raced against.
struct Candidate {
  model::Solution solution;
  model::Solution parent;
};

/// The same kernel as another candidate, which has met no inputs. Comments would not do: a source's identity has none.
model::Solution another(const model::Solution& solution, int number) {
  return model::with_main_text(
      solution, model::main_text(solution) + "\nusing another_candidate_" + std::to_string(number) + " = int;\n");
}

/// Searches, and gives the candidates that were raced.
base::Result<std::vector<Candidate>> candidates_of(const Options& options, const fs::path& task, const fs::path& work) {
  const std::string workspace = (work / "workspace").string();
  TRY_ASSIGN(const int code,
             command(options.accelopt.string() + " run " + task.string() + " --agents recipes --iterations 2 " +
                     "--workspace " + workspace + " > /dev/null 2>&1"));
  if (code != 0 && code != 3)
    return base::fail(base::ErrorCode::io,
                      "the search on " + task.string() + " failed: exit code " + std::to_string(code));
  TRY_ASSIGN(const auto journal, journal::open_journal(workspace, journal::Access::read_only));
  TRY_ASSIGN(const auto runs, journal->list_runs());
  TRY_ASSIGN(const auto steps, journal->steps(runs.front().id));
  std::vector<Candidate> out;
  std::set<std::string> seen;
  for (const journal::StepRecord& step : steps) {
    if (!step.key.kind.starts_with("triage:")) continue;
    const std::string source = step.output.value("source_id", "");
    const std::string opponent = step.output.value("opponent", "");
    if (source.empty() || opponent.empty() || !seen.insert(source + opponent).second) continue;
    auto solution = journal->load_solution(source);
    auto parent = journal->load_solution(opponent);
    if (solution && parent) out.push_back({std::move(*solution), std::move(*parent)});
  }
  return out;
}

/// The program of the usual way, for one task's raced workload: reads what is expected (or writes it), and times.
std::string usual_program(const model::Task& task, const model::Workload& workload) {
  const model::AxisValues axes = model::bind_axes(task.definition, workload);
  std::string fill;
  std::string arguments;
  std::string outputs;
  int number = 0;
  const auto argument = [&](const std::string& text) { arguments += (arguments.empty() ? "" : ", ") + text; };
  for (const model::TensorSpec& input : task.definition.inputs) {
    const std::string name = "t" + std::to_string(number++);
    if (!input.shape) {
      argument("0.01f");
      continue;
    }
    fill += "  static std::vector<float> " + name + "(" + std::to_string(model::element_count(input, axes)) +
            "); for (float& v : " + name + ") v = drawn(random);\n";
    argument(name + ".data()");
  }
  for (const model::TensorSpec& output : task.definition.outputs) {
    const std::string name = "t" + std::to_string(number++);
    fill += "  static std::vector<float> " + name + "(" + std::to_string(model::element_count(output, axes)) + ");\n";
    argument(name + ".data()");
    outputs += "  check(" + name + ", write);\n";
  }
  for (const std::string& axis : model::variable_axes(task.definition)) argument(std::to_string(axes.at(axis)));
  return R"(#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>
#include "task.h"
static FILE* file;
static bool good = true;
static void check(const std::vector<float>& out, bool write) {
  if (write) { std::fwrite(out.data(), 4, out.size(), file); return; }
  std::vector<float> expected(out.size());
  if (std::fread(expected.data(), 4, expected.size(), file) != expected.size()) good = false;
  for (std::size_t i = 0; i < out.size(); ++i) good = good && std::fabs(out[i] - expected[i]) <= 1e-4f + 1e-4f * std::fabs(expected[i]);
}
int main(int count, char** words) {
  const bool write = count > 1 && std::string(words[1]) == "write";
  file = std::fopen("expected.bin", write ? "wb" : "rb");
  std::mt19937 random(7);
  std::normal_distribution<float> drawn(0, 1);
)" + fill +
         "  const auto call = [&] { kernel(" + arguments + "); };\n  call();\n" + outputs +
         R"(  if (write || !good) return good ? 0 : 1;
  for (int i = 0; i < 10; ++i) call();
  double best = 1e300;
  for (int round = 0; round < 3; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 50; ++i) call();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / 50);
  }
  std::printf("%g\n", best);
}
)";
}

/// Evaluates in the usual way; seconds without the build.
class UsualWay {
 public:
  static base::Result<UsualWay> create(const model::Task& task, fs::path folder) {
    UsualWay out(std::move(folder));
    const auto raced = std::find_if(task.workloads.begin(), task.workloads.end(),
                                    [](const model::Workload& workload) { return workload.role == model::Role::race; });
    TRY(base::write_file(out.folder_ / "task.h", targets::cpu::kernel_header(task.definition)));
    TRY(base::write_file(out.folder_ / "main.cpp", usual_program(task, *raced)));
    TRY(out.seconds(task.baseline, " write"));
    return out;
  }

  /// @error invalid_argument: it does not build here.
  base::Result<double> seconds(const model::Solution& solution, const std::string& argument = "") {
    TRY(base::write_file(folder_ / "kernel.cpp", model::main_text(solution)));
    const std::string in = "cd " + folder_.string() + " && ";
    TRY_ASSIGN(const int built,
               command(in + "g++ -std=gnu++20 -O3 -march=native -w -include task.h main.cpp kernel.cpp -o usual"));
    if (built != 0) return base::fail(base::ErrorCode::invalid_argument, "a candidate does not build in the usual way");
    const auto begin = Clock::now();
    TRY(command(in + "./usual" + argument + " > /dev/null"));
    return seconds_since(begin);
  }

 private:
  explicit UsualWay(fs::path folder) : folder_(std::move(folder)) {}
  fs::path folder_;
};

/// What the calls of a race took, nanoseconds, and one more block, by which the processes warm up.
double race_calls_ns(const model::Evaluation& evaluation) {
  double sum = 0;
  for (const model::BlockSample& block : evaluation.samples) {
    for (const auto* times : {&block.reference_ns, &block.candidate_ns})
      sum = std::accumulate(times->begin(), times->end(), sum);
  }
  return evaluation.blocks == 0 ? 0 : sum * (evaluation.blocks + 1) / evaluation.blocks;
}

/// Seconds over all candidates.
struct Sums {
  int candidates = 0;
  double first = 0;  ///< ours, with the slots that nobody had drawn
  double ours = 0;   ///< of a longer search
  double usual = 0;
  double opponents = 0;  ///< the usual way's, for what a candidate is compared with
  double allowance = 0;  ///< the largest share of what a timed call may cost that one did
};

/// What a timed call may cost beside the kernel's own time, its share of the verification included: its inputs are its
/// own, so they are laid out, poisoned around, watched and compared for it alone.
constexpr double kCallMs = 4;
constexpr double kCallMsAMegabyte = 1.5;  ///< of inputs and outputs

double megabytes(const model::Task& task, const model::Workload& workload) {
  const auto axes = model::bind_axes(task.definition, workload);
  std::int64_t bytes = 0;
  for (const auto* tensors : {&task.definition.inputs, &task.definition.outputs}) {
    for (const model::TensorSpec& tensor : *tensors) bytes += 4 * model::element_count(tensor, axes);
  }
  return static_cast<double>(bytes) / 1e6;
}

base::Result<void> compare(const Options& options, const fs::path& folder, Sums& sums) {
  TRY_ASSIGN(const auto work, base::TemporaryFolder::create("accelopt-bench"));
  TRY_ASSIGN(const model::Task task, suites::load_task(folder));
  TRY_ASSIGN(const auto candidates, candidates_of(options, folder, work.path()));
  TRY_ASSIGN(UsualWay usual, UsualWay::create(task, work.path()));
  const auto evaluator = worker::make_worker_pool({.workers = {{{options.accelopt.string(), "worker"}}}});
  evaluation::MeasureSettings settings;
  settings.seed = base::random_seed();
  TRY(base::as_result(evaluator->ask(evaluation::Open{task, settings}, {})));
  Sums own;
  int blocks = 0;
  double calls_ns = 0;
  for (const Candidate& candidate : candidates) {
    const model::Solution later = another(candidate.solution, 0);
    TRY(base::as_result(evaluator->ask(evaluation::Build{model::Kernel(candidate.parent)}, {})));
    for (const model::Solution* const one : {&candidate.solution, &later}) {
      TRY(base::as_result(evaluator->ask(evaluation::Build{model::Kernel(*one)}, {})));
      const auto begin = Clock::now();
      TRY_ASSIGN(
          const auto evaluation,
          base::as_result(evaluator->ask(evaluation::Race{model::Kernel(*one), model::Kernel(candidate.parent)}, {})));
      (one == &later ? own.ours : own.first) += seconds_since(begin);
      if (one == &later) blocks += evaluation.blocks;
      if (one == &later) calls_ns += race_calls_ns(evaluation);
    }
    TRY_ASSIGN(const double seconds, usual.seconds(candidate.solution));
    TRY_ASSIGN(const double opponent_seconds, usual.seconds(candidate.parent));
    own.usual += seconds;
    own.opponents += opponent_seconds;
    ++own.candidates;
  }
  const auto a_minute = [&](double seconds) { return 60 * own.candidates / seconds; };
  const double call_ms = blocks == 0 ? 0.0 : (own.ours * 1e3 - calls_ns / 1e6) / (2 * blocks);
  std::printf(
      "# %s: %d candidates, %.1f blocks each; %.0f a minute, the first of a search %.0f, in the usual way %.0f, "
      "without opponent %.0f; %.1f ms beside the kernels' own for a timed call\n",
      task.definition.name.c_str(), own.candidates,
      own.candidates == 0 ? 0.0 : static_cast<double>(blocks) / own.candidates, a_minute(own.ours), a_minute(own.first),
      a_minute(own.usual + own.opponents), a_minute(own.usual), call_ms);
  std::fflush(stdout);
  double raced = 0;
  for (const model::Workload& workload : task.workloads) {
    if (workload.role == model::Role::race) raced = std::max(raced, megabytes(task, workload));
  }
  sums.allowance = std::max(sums.allowance, call_ms / (kCallMs + kCallMsAMegabyte * raced));
  sums.candidates += own.candidates;
  sums.ours += own.ours;
  sums.first += own.first;
  sums.usual += own.usual;
  sums.opponents += own.opponents;
  return {};
}

/// Dismissal of a clear loser, and what its evaluation costs beside the calls of its race, on the small tasks (inputs
/// and outputs up to 2 MB); calls of its verification count as cost. Each the median of a task's losers: a neighbour on
/// this machine can make any one of them long.
base::Result<void> dismiss(const Options& options, const fs::path& folder, double& most_blocks, double& most_overhead) {
  TRY_ASSIGN(const model::Task task, suites::load_task(folder));
  const auto evaluator = worker::make_worker_pool({.workers = {{{options.accelopt.string(), "worker"}}}});
  evaluation::MeasureSettings settings;
  settings.seed = base::random_seed();
  TRY(base::as_result(evaluator->ask(evaluation::Open{task, settings}, {})));
  double largest = 0;
  for (const model::Workload& workload : task.workloads) largest = std::max(largest, megabytes(task, workload));
  const std::optional<model::Solution> slower = delayed(task.baseline, 0.3);
  if (!slower) return base::fail(base::ErrorCode::unsupported, "the baseline has no plain kernel head");
  std::vector<double> blocks;
  std::vector<double> overheads;
  // Candidates of their own, as in a search: each meets slots whose expected outputs are there since the first.
  for (int i = 0; i < 8; ++i) {
    const model::Solution loser = another(*slower, i);
    TRY_ASSIGN(const auto built, base::as_result(evaluator->ask(evaluation::Build{model::Kernel(loser)}, {})));
    if (!built.built) return base::fail(base::ErrorCode::invalid_argument, built.diagnostics);
    const auto begin = Clock::now();
    TRY_ASSIGN(const auto evaluation, base::as_result(evaluator->ask(
                                          evaluation::Race{model::Kernel(loser), model::Kernel(task.baseline)}, {})));
    const double seconds = seconds_since(begin);
    if (i == 0) continue;
    blocks.push_back(evaluation.verdict == model::Verdict::slower ? evaluation.blocks : 1000);
    overheads.push_back(seconds - race_calls_ns(evaluation) / 1e9);
  }
  const double overhead = stats::median(overheads);
  std::printf(
      "# %s: a loser is dismissed after %.0f blocks, %.0f at most; its evaluation costs %.0f ms beside its race, %.0f "
      "at "
      "most\n",
      task.definition.name.c_str(), stats::median(blocks), *std::max_element(blocks.begin(), blocks.end()),
      overhead * 1e3, *std::max_element(overheads.begin(), overheads.end()) * 1e3);
  std::fflush(stdout);
  most_blocks = std::max(most_blocks, stats::median(blocks));
  if (largest <= 2) most_overhead = std::max(most_overhead, overhead);
  return {};
}

/// Milliseconds from the order to start a confined process until it has loaded the kernel: median of 50.
base::Result<double> start_ms(const Options& options, const fs::path& folder) {
  TRY_ASSIGN(const model::Task task, suites::load_task(folder));
  targets::cpu::CpuOptions cpu;
  cpu.arena = (options.accelopt.parent_path() / "accelopt-arena").string();
  const auto target = targets::cpu::make_cpu_target(cpu);
  TRY(target->open(task, {}, {}));
  const model::Kernel baseline(task.baseline);
  TRY(target->start(baseline, evaluation::Placement::usual, {}));
  std::vector<double> times;
  for (int i = 0; i < 50; ++i) {
    const auto begin = Clock::now();
    TRY_ASSIGN(const auto live, target->start(baseline, evaluation::Placement::usual, {}));
    times.push_back(seconds_since(begin) * 1e3);
  }
  std::nth_element(times.begin(), times.begin() + 25, times.end());
  return times[25];
}

base::Result<int> run(const Options& options) {
  Figures figures;
  Sums sums;
  for (const std::string& name : options.tasks) TRY(compare(options, options.suite / name, sums));
  std::printf(
      "# candidates a minute over the usual way, which makes all its calls on one set of inputs: %.2f; without the "
      "opponent's calls: %.2f; the first candidates of a search: %.2f\n",
      (sums.usual + sums.opponents) / sums.ours, sums.usual / sums.ours, (sums.usual + sums.opponents) / sums.first);
  figures.report("timed_call_of_its_allowance", sums.allowance, Bound::at_most, 1);
  double blocks = 0;
  double overhead = 0;
  for (const std::string& name : options.tasks) TRY(dismiss(options, options.suite / name, blocks, overhead));
  figures.report("clear_loser_blocks", blocks, Bound::at_most, 8);
  figures.report("evaluation_overhead", overhead * 1e3, Bound::at_most, 150, "ms");
  TRY_ASSIGN(const double start, start_ms(options, options.suite / options.tasks.front()));
  figures.report("confined_start", start, Bound::at_most, 5, "ms");
  return figures.exit_status();
}

}  // namespace
}  // namespace accelopt::bench

int main(int argc, char** argv) {
  accelopt::bench::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    if (flag == "--task") options.tasks.emplace_back(argv[i + 1]);
    if (flag == "--suite") options.suite = argv[i + 1];
    if (flag == "--accelopt") options.accelopt = argv[i + 1];
  }
  if (argc % 2 == 0) {
    std::fprintf(stderr, "usage: evaluation [--task NAME]... [--suite DIR] [--accelopt FILE]\n");
    return 2;
  }
  if (options.tasks.empty()) options.tasks = {"matmul", "silu", "rmsnorm_matmul", "bmm_softmax", "transpose_matmul"};
  const auto status = accelopt::bench::run(options);
  if (!status) {
    std::fprintf(stderr, "evaluation: %s\n", status.error().message.c_str());
    return 1;
  }
  return *status;
}
