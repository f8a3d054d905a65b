// SPDX-License-Identifier: Apache-2.0
#include "app/refactor_suite.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "app/refactor.hpp"
#include "app/refactor_player.hpp"
#include "app/version.hpp"
#include "app/workspace.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/utc.hpp"
#include "memory/knowledge_file.hpp"
#include "report/html/trend_plot.hpp"
#include "targets/cpu/machine.hpp"
#include "vcs/git.hpp"

namespace accelopt::app {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Result;
using report::MemoryArm;
using report::ResolveLine;
using suites::RefactorSuiteTask;
using suites::RefactorTaskKind;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostResults = 256UL << 20;

/// Asks for the end of what it watches when the budget is spent, or when the user does.
class BudgetClock {
 public:
  BudgetClock(double seconds, std::stop_token user)
      : user_(std::move(user), [this] { stop_.request_stop(); }),
        timer_([this, seconds](const std::stop_token& over) { wait(over, seconds); }) {}
  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }

 private:
  void wait(const std::stop_token& over, double seconds) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any bell;
    // It is woken early by nothing but the end of the task.
    bell.wait_for(lock, over, std::chrono::duration<double>(seconds), [] { return false; });
    if (!over.stop_requested()) stop_.request_stop();
  }

  std::stop_source stop_;
  std::stop_callback<std::function<void()>> user_;
  std::jthread timer_;
};

/// Seconds of the steps that build, test or measure.
class StepClock {
 public:
  void begin(const std::string& step) {
    end();
    began_ = Clock::now();
    on_device_ = !step.starts_with("trying: ") && !step.starts_with("In the past") && !step.starts_with("asking ");
  }
  void end() {
    if (on_device_) device_seconds_ += std::chrono::duration<double>(Clock::now() - began_).count();
    on_device_ = false;
  }
  [[nodiscard]] double device_seconds() const { return device_seconds_; }

 private:
  Clock::time_point began_{};
  bool on_device_ = false;
  double device_seconds_ = 0;
};

std::string machine_text() {
  const targets::cpu::Machine machine = targets::cpu::examine_machine();
  return fmt::format("{}, {} cores", base::ascii_line(machine.cpu_model, 80), machine.cores.size());
}

/// "Intel(R) Xeon(R) CPU @ 2.20GHz, 2 cores" -> "intel-r-xeon-r-cpu-2-20ghz-2-cores"
std::string file_part(const std::string& text) {
  std::string out;
  for (const char c : base::lower(text)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain)
      out += c;
    else if (!out.empty() && out.back() != '-')
      out += '-';
  }
  return std::string(base::trimmed(out, "-"));
}

bool is_installed(const std::string& program, const std::vector<fs::path>& tools, const Environment& environment) {
  std::vector<fs::path> folders;
  for (const fs::path& tool : tools) {
    folders.push_back(tool);
    folders.push_back(tool / "bin");
  }
  std::string path = environment("PATH").value_or("") + ":/usr/local/go/bin";
  std::ranges::replace(path, ':', ' ');
  for (const std::string_view folder : base::split_words(path)) folders.emplace_back(folder);
  std::error_code ignored;
  return std::ranges::any_of(folders, [&](const fs::path& folder) { return fs::exists(folder / program, ignored); });
}

/// A task in its arm, in folders that vanish.
struct Game {
  const RefactorSuiteTask& task;
  MemoryArm arm;
  std::uint64_t seed;
  std::vector<model::Experience> memory;
};

struct Played {
  ResolveLine line;
  std::vector<model::Experience> learned;
};

Result<std::vector<model::Experience>> learned_in(memory::KnowledgeStore& store, const std::string& run) {
  TRY_ASSIGN(const auto items, store.list({.run = run, .limit = 0}));
  std::vector<model::Experience> learned;
  for (const memory::Item& item : items) learned.push_back(item.experience);
  return learned;
}

Result<fs::path> make_repository(const RefactorSuitePlan& plan, const RefactorSuiteTask& task, const fs::path& folder) {
  std::error_code failed;
  fs::copy(plan.suite.folder / "tasks" / task.name, folder, fs::copy_options::recursive, failed);
  if (failed) return base::fail_errno(failed.value(), "copying the task " + task.name);
  TRY(vcs::Repository::make(folder, "The task " + task.name));
  return folder / "accelopt";
}

/// The least speed-up that resolves the task; 0: nothing does. A task is played until it is resolved, not longer: what
/// comes after that is no part of what it takes.
double bar_of(const RefactorSuitePlan& plan, const RefactorSuiteTask& task) {
  return task.kind == RefactorTaskKind::optimal ? 0 : std::pow(task.peak, plan.suite.resolved_share);
}

void judge(const RefactorSuitePlan& plan, ResolveLine& line) {
  line.resolved = line.is_better() && !line.is_optimal() && line.share() >= plan.suite.resolved_share;
}

void take_over(const RefactorReport& report, const RefactorSuitePlan& plan, ResolveLine& line) {
  line.base = report.base;
  line.evaluations = report.tried;
  line.verdict = refactor::to_string(report.result.verdict, report.result.goal);
  line.strategy = report.strategy;
  const bool faster = report.result.verdict == refactor::Verdict::better && report.result.confirmed;
  if (faster) line.gain = report.result.confirmed->estimate;
  judge(plan, line);
}

/// Plays a game; what fails in it is in its line. @error io: there is no place to play in.
Result<Played> play(const Shell& shell, const RefactorSuitePlan& plan, const Game& game, ResolveLine line,
                    const std::function<void(const std::string&)>& step) {
  TRY_ASSIGN(const auto own, base::TemporaryFolder::create("accelopt-benchmark"));
  const fs::path knowledge = own.path() / "knowledge.db";
  TRY_ASSIGN(const auto store, memory::open_knowledge_file(knowledge));
  TRY_ASSIGN(line.experiences, store->insert(game.memory, memory::Forgotten::stays));
  TRY_ASSIGN(const fs::path task, make_repository(plan, game.task, own.path() / "repository"));
  if (base::text_at(plan.player, "player") == "models") {
    Played played{.line = std::move(line), .learned = {}};
    const ModelGame models{.task = task,
                           .workspace = own.path() / "workspace",
                           .knowledge = knowledge.string(),
                           .flags = plan.request.search,
                           .enough = bar_of(plan, game.task),
                           .name = fmt::format("{}-{}-{}", game.task.name, to_string(game.arm), played.line.round),
                           .step = step};
    TRY_ASSIGN(const ModelGameEnd end, play_with_models(shell, plan.request.config, models, played.line));
    judge(plan, played.line);
    if (end.run.empty()) return played;
    TRY_ASSIGN(played.learned, learned_in(*store, end.run));
    return played;
  }
  const BudgetClock budget(plan.suite.budget_seconds, shell.stops.wind_down);
  Shell inner = shell;
  inner.stops.wind_down = budget.token();
  StepClock steps;
  RefactorOptions options{.task = task,
                          .tools = plan.request.tools,
                          .seed = game.seed,
                          .knowledge = knowledge.string(),
                          .workspace = own.path() / "workspace"};
  options.step = [&](const std::string& name) {
    steps.begin(name);
    step(name);
  };
  const auto began = Clock::now();
  const auto report = run_refactor(inner, options);
  steps.end();
  line.seconds = std::chrono::duration<double>(Clock::now() - began).count();
  line.device_seconds = std::min(steps.device_seconds(), line.seconds);
  Played played{.line = std::move(line), .learned = {}};
  if (!report) {
    played.line.error = budget.token().stop_requested() ? "the budget was spent" : report.error().message;
    return played;
  }
  take_over(*report, plan, played.line);
  TRY_ASSIGN(played.learned, learned_in(*store, report->id));
  return played;
}

/// Where lines go as soon as they are known, behind those of others who write there.
class ResultsFile {
 public:
  static Result<ResultsFile> open(const fs::path& file) {
    if (!file.parent_path().empty()) TRY(base::make_folders(file.parent_path()));
    std::error_code ignored;
    if (fs::exists(file, ignored)) {
      TRY_ASSIGN(const std::string text, base::read_foreign_file(file, kMostResults));
      TRY(report::read_resolve_lines(text, file.string()));
    }
    return ResultsFile(file);
  }
  Result<void> add(const ResolveLine& line) { return base::append_line(file_, base::canonical(line)); }

 private:
  explicit ResultsFile(fs::path file) : file_(std::move(file)) {}
  fs::path file_;
};

/// The first pass has nothing to remember.
std::vector<MemoryArm> arms_of(const RefactorSuiteRequest& request, int round) {
  return round == 1 ? std::vector{MemoryArm::cold} : request.arms;
}

/// What all lines of a pass have in common.
ResolveLine line_of(const RefactorSuitePlan& plan, const std::string& suite_run, int round, const Game& game) {
  ResolveLine line;
  line.suite = plan.suite.name;
  line.suite_version = plan.suite.version;
  line.suite_hash = plan.suite.hash;
  line.suite_run = suite_run;
  line.round = round;
  line.created = base::utc_now();
  line.program_version = kVersion;
  line.machine = plan.machine;
  line.settings = plan.player;
  if (plan.request.jobs > 1) line.settings["jobs"] = plan.request.jobs;
  line.task = game.task.name;
  line.family = game.task.family;
  line.language = game.task.language;
  line.kind = to_string(game.task.kind);
  line.arm = game.arm;
  line.seed = game.seed;
  line.budget_seconds = plan.suite.budget_seconds;
  line.budget_evaluations = plan.suite.budget_evaluations;
  line.usd = 0;
  line.peak = game.task.peak;
  return line;
}

/// One pass through the suite: all its games, `jobs` of them at a time.
class Pass {
 public:
  Pass(const Shell& shell, const RefactorSuitePlan& plan, const RefactorSuitePorts& ports, ResultsFile& results,
       int round, const std::vector<model::Experience>& learned)
      : shell_(shell), plan_(plan), ports_(ports), results_(results), round_(round) {
    for (const RefactorSuiteTask& task : plan.tasks) {
      // The same in every pass and arm, so that they differ in memory alone.
      const std::uint64_t seed = base::derive_seed(plan.request.seed, task.name) >> 16U;
      for (const MemoryArm arm : arms_of(plan.request, round))
        games_.push_back({task, arm, seed, memory_of(arm, learned, plan.suite, task, seed)});
    }
  }

  /// Adds the lines, and gives what was learned. @error as play, and what writing results says.
  Result<std::vector<model::Experience>> run(std::vector<ResolveLine>& lines) {
    {
      std::vector<std::jthread> others;
      for (int i = 1; i < plan_.request.jobs; ++i) others.emplace_back([this] { play_in_turn(); });
      play_in_turn();
    }
    if (error_) return tl::make_unexpected(*error_);
    std::ranges::move(lines_, std::back_inserter(lines));
    return std::move(learned_);
  }

 private:
  void play_in_turn() {
    while (const Game* game = next()) {
      const std::string name = fmt::format("{} {}, pass {}", game->task.name, to_string(game->arm), round_);
      auto played = play(shell_, plan_, *game, line_of(plan_, suite_run_, round_, *game),
                         [&](const std::string& step) { ports_.step(name + ": " + step); });
      const std::lock_guard lock(mutex_);
      if (shell_.stops.wind_down.stop_requested()) return;  // cut short: it says nothing
      const auto written = played ? results_.add(played->line) : tl::make_unexpected(played.error());
      if (!written) {
        if (!error_) error_ = written.error();
        return;
      }
      ports_.finished(played->line);
      lines_.push_back(std::move(played->line));
      // What the shuffled arm learns rests on nothing that it was taught.
      if (game->arm != MemoryArm::shuffled) std::ranges::move(played->learned, std::back_inserter(learned_));
    }
  }

  const Game* next() {
    const std::lock_guard lock(mutex_);
    const bool over = shell_.stops.wind_down.stop_requested() || error_ || begun_ == games_.size();
    return over ? nullptr : &games_[begun_++];
  }

  const Shell& shell_;
  const RefactorSuitePlan& plan_;
  const RefactorSuitePorts& ports_;
  ResultsFile& results_;
  int round_;
  std::string suite_run_ = new_run_id();
  std::vector<Game> games_;
  std::mutex mutex_;  ///< guards the rest
  std::size_t begun_ = 0;
  std::vector<ResolveLine> lines_;
  std::vector<model::Experience> learned_;
  std::optional<base::Error> error_;
};

}  // namespace

std::vector<model::Experience> memory_of(MemoryArm arm, const std::vector<model::Experience>& learned,
                                         const suites::RefactorSuite& suite, const RefactorSuiteTask& task,
                                         std::uint64_t seed) {
  std::vector<model::Experience> memory;
  if (arm == MemoryArm::cold) return memory;
  std::ranges::copy_if(learned, std::back_inserter(memory), [&](const model::Experience& one) {
    const RefactorSuiteTask* source = suite.find(one.task);
    return source != nullptr && source->family != task.family;
  });
  if (arm == MemoryArm::warm || memory.size() < 2) return memory;
  std::mt19937_64 random(seed);
  // Sattolo's shuffle: one ring through all of them, so that none keeps its own lesson.
  std::vector<std::size_t> from(memory.size());
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = i;
  for (std::size_t last = from.size() - 1; last > 0; --last) std::swap(from[last], from[random() % last]);
  std::vector<model::Experience> shuffled = memory;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const model::Experience& lesson = memory[from[i]];
    shuffled[i].title = lesson.title;
    shuffled[i].strategy = lesson.strategy;
    shuffled[i].before = lesson.before;
    shuffled[i].after = lesson.after;
    shuffled[i].diff = lesson.diff;
  }
  return shuffled;
}

Result<RefactorSuitePlan> plan_refactor_suite(const Shell& shell, RefactorSuiteRequest request) {
  TRY_ASSIGN(suites::RefactorSuite suite, suites::load_refactor_suite(request.suite));
  for (const std::string& name : request.only) {
    if (suite.find(name) == nullptr)
      return base::fail(ErrorCode::not_found, request.suite.string() + " has no task " + base::ascii_line(name, 60));
  }
  TRY_ASSIGN(base::Json player, player_of(request.search, request.config));
  if (request.arms.empty()) request.arms.assign(std::begin(report::kMemoryArms), std::end(report::kMemoryArms));
  RefactorSuitePlan plan{.request = std::move(request),
                         .suite = std::move(suite),
                         .tasks = {},
                         .machine = machine_text(),
                         .player = std::move(player),
                         .results = {}};
  for (const RefactorSuiteTask& task : plan.suite.tasks) {
    const auto& only = plan.request.only;
    if (!only.empty() && std::ranges::find(only, task.name) == only.end()) continue;
    if (is_installed(task.program, plan.request.tools, shell.environment))
      plan.tasks.push_back(task);
    else
      plan.left_out.push_back(task.name + ": " + task.program + " is not installed; --tools names its folder");
  }
  if (plan.tasks.empty())
    return base::fail(ErrorCode::not_found, "no task can be played here: " + base::joined(plan.left_out, "; "));
  plan.results = plan.request.results;
  if (plan.results.empty())
    plan.results = plan.suite.folder / "results" / (base::utc("%Y-%m-%d") + "-" + file_part(plan.machine) + ".jsonl");
  return plan;
}

Result<RefactorSuiteReport> run_refactor_suite(const Shell& shell, const RefactorSuitePlan& plan,
                                               const RefactorSuitePorts& ports) {
  TRY_ASSIGN(ResultsFile results, ResultsFile::open(plan.results));
  RefactorSuiteReport report{.lines = {}, .results = plan.results};
  std::vector<model::Experience> learned;
  for (int round = 1; round <= plan.request.rounds && !shell.stops.wind_down.stop_requested(); ++round) {
    Pass pass(shell, plan, ports, results, round, learned);
    TRY_ASSIGN(const auto new_ones, pass.run(report.lines));
    learned.insert(learned.end(), new_ones.begin(), new_ones.end());
  }
  report.interrupted = shell.stops.wind_down.stop_requested();
  return report;
}

Result<std::vector<ResolveLine>> read_refactor_results(const fs::path& suite) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (fs::directory_iterator entry(suite / "results", failed); !failed && entry != fs::directory_iterator();
       entry.increment(failed)) {
    if (entry->path().extension() == ".jsonl") files.push_back(entry->path());
  }
  if (failed && failed != std::errc::no_such_file_or_directory)
    return base::fail_errno(failed.value(), (suite / "results").string());
  std::ranges::sort(files);
  std::vector<ResolveLine> lines;
  for (const fs::path& file : files) {
    TRY_ASSIGN(const std::string text, base::read_foreign_file(file, kMostResults));
    TRY_ASSIGN(auto own, report::read_resolve_lines(text, file.string()));
    std::ranges::move(own, std::back_inserter(lines));
  }
  return lines;
}

Result<std::vector<fs::path>> write_refactor_trend(const fs::path& suite) {
  TRY_ASSIGN(const auto lines, read_refactor_results(suite));
  const std::vector<fs::path> files{suite / "TREND.md", suite / "trend.svg"};
  TRY(base::write_file(files[0], report::trend_markdown(lines)));
  TRY(base::write_file(files[1], report::html::trend_svg(lines)));
  return files;
}

}  // namespace accelopt::app
