// SPDX-License-Identifier: Apache-2.0
#include "targets/repo/repo_evaluator.hpp"

#include <algorithm>
#include <chrono>
#include <list>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "evaluation/race/recompute.hpp"
#include "refactor/check_json.hpp"
#include "refactor/checker.hpp"
#include "sandbox/probe.hpp"
#include "stats/playoff.hpp"
#include "targets/cpu/machine.hpp"
#include "targets/cpu/machine_hold.hpp"
#include "targets/repo/profile.hpp"
#include "targets/repo/repo_task.hpp"

namespace accelopt::targets::repo {
namespace {

using base::ErrorCode;
using base::Result;
using evaluation::Reply;
using model::Evaluation;
using model::Status;

/// Blocks here take seconds, not milliseconds.
constexpr int kLeastPlayoffBlocks = 4;
constexpr int kMostPlayoffBlocks = 16;
/// Trees of candidates that are kept for later races; another is built again when it is asked for.
constexpr std::size_t kMostTrees = 24;
constexpr double kNanoseconds = 1e9;

model::Interval to_model(const stats::Interval& interval) {
  return {interval.estimate, interval.low, interval.high};
}

/// The failed gate and its facts, for the fixer.
std::string reason_of(const refactor::CheckResult& result) {
  const auto failed = std::ranges::find(result.gates, false, &refactor::Gate::passed);
  if (failed == result.gates.end()) return {};
  return failed->name + ": " + base::joined(failed->facts, "\n");
}

/// Times of one unit in several blocks.
struct Times {
  std::vector<double> old_ns, new_ns, old_bytes, new_bytes, log_ratios;
};

class GateEvaluator final : public RepoEvaluator {
 public:
  explicit GateEvaluator(RepoOptions options) : options_(std::move(options)) {}

  base::Outcome<Reply> answer(const evaluation::Request& request, std::stop_token stop) override {
    const std::scoped_lock lock(mutex_);  // also because what runs beside a race disturbs it
    if (stop.stop_requested()) return base::ending("the run is ending");
    return evaluation::answer_by_type(request, [&](const auto& own) { return carry_out(own); });
  }

  base::Outcome<void> with_checker(const evaluation::Open& open, const std::vector<model::Kernel>& kernels,
                                   const Use& use) override {
    const std::scoped_lock lock(mutex_);
    TRY(prepare(open));
    keep_trees_ = kernels.size() + kMostTrees;
    Changes changes;
    for (const model::Kernel& kernel : kernels) {
      TRY_ASSIGN(const refactor::CheckResult* const change, change_of(kernel));
      changes.push_back(*change);
    }
    auto used = use(*checker_, changes);
    keep_trees_ = kMostTrees;
    return used;
  }

  void hold_to(std::vector<refactor::GeneratedTest> tests) override {
    const std::scoped_lock lock(mutex_);
    tests_ = std::move(tests);
    if (checker_) checker_->hold_to(tests_);
  }

 private:
  /// Once: what is opened stays so.
  Result<void> prepare(const evaluation::Open& open) {
    if (checker_) return {};
    if (!open.task.repo)
      return base::fail(ErrorCode::invalid_argument, open.task.definition.name + " is no task of a repository");
    TRY_ASSIGN(const refactor::Task task, refactor_task_of(open.task));
    task_ = open.task;
    seed_ = open.settings.seed;
    TRY_ASSIGN(auto hold, cpu::machine_hold(options_.stop, [notice = options_.notice](const auto& wait) {
                 notice(model::describe(wait));
               }));
    TRY_ASSIGN(checker_,
               refactor::Checker::prepare(
                   task, {.seed = seed_, .tools = options_.tools, .stop = options_.stop, .hold = std::move(hold)}));
    checker_->hold_to(tests_);
    base_ = checker_->base_itself();
    options_.opened(checker_->costs());
    if (!checker_->flaky().empty())
      options_.notice(fmt::format("{} flaky tests are set aside: {}", checker_->flaky().size(),
                                  base::joined(checker_->flaky(), ", ")));
    if (!checker_->not_passing().empty()) options_.notice(refactor::describe_not_passing(checker_->not_passing()));
    return {};
  }

  Result<evaluation::OpenReport> carry_out(const evaluation::Open& open) {
    const auto began = std::chrono::steady_clock::now();
    TRY(prepare(open));

    evaluation::OpenReport report;
    report.device.name = cpu::examine_machine().cpu_model;
    report.device.summary =
        fmt::format("{}; each run is a process of its own, in a sandbox without network", report.device.name);
    report.device.isolation = sandbox::isolation();
    device_ = report.device.name;
    report.baseline = evaluation_of(Status::passed);
    report.baseline.kind = model::EvaluationKind::baseline;
    report.baseline.machine_code_id = checker_->base_tree();
    report.baseline.source_id = model::source_id(task_.baseline);
    report.baseline.notes.push_back(fmt::format("{} tests hold every change", checker_->tests()));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    report.baseline.stages.push_back({model::Stage::verify, seconds});
    for (const refactor::BaseTime& time : checker_->base_times()) {
      report.baseline.workloads.push_back({.name = workload_name(time.unit.workload, time.unit.size),
                                           .role = role_of(time.unit),
                                           .time_ns = time.seconds * kNanoseconds,
                                           .reference_ns = {},
                                           .ratio = {},
                                           .roofline = {},
                                           .peak_bytes = memory_of(time.peak_bytes)});
    }
    return report;
  }

  Result<model::BuildReport> carry_out(const evaluation::Build& build) {
    TRY(opened());
    const auto began = std::chrono::steady_clock::now();
    TRY_ASSIGN(const std::string tree, tree_of(build.kernel));
    model::BuildReport report;
    report.build_id = report.machine_code_id = tree;
    if (tree != checker_->base_tree()) {
      TRY_ASSIGN(refactor::CheckResult* const change, change_of(build.kernel));
      report.diagnostics = reason_of(*change);
      report.code_bytes = static_cast<std::int64_t>(change->diff.size());
    }
    report.built = report.diagnostics.empty();
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return report;
  }

  Result<Evaluation> carry_out(const evaluation::Race& race) {
    TRY(opened());
    TRY_ASSIGN(refactor::CheckResult* const change, change_of(race.candidate));
    if (change->folder.empty()) return failed(Status::compile_error, *change);
    // What an earlier race noted is not this one's.
    const auto built = std::ranges::find(change->gates, "build", &refactor::Gate::name);
    if (built != change->gates.end()) change->gates.erase(built + 1, change->gates.end());
    change->failed_gate.clear();
    TRY_ASSIGN(const bool right, checker_->verify(*change));
    if (!right) return failed(Status::incorrect_numerical, *change);
    TRY_ASSIGN(const refactor::CheckResult* const opponent, change_of(race.opponent));
    const auto raced = checker_->race(*opponent, *change);
    Evaluation evaluation = evaluation_of(Status::passed);
    evaluation.kind = model::EvaluationKind::triage;
    evaluation.opponent = race.opponent.id();
    evaluation.source_id = race.candidate.id();
    evaluation.machine_code_id = change->tree;
    if (!raced && raced.error().code == ErrorCode::invalid_argument && opponent != &base_) {
      // The opponent is another change, and fails now where it passed before.
      evaluation.verdict = model::Verdict::undecided;
      evaluation.reason = "its parent failed beside it: " + raced.error().message;
      return evaluation;
    }
    if (!raced) return tl::make_unexpected(raced.error());
    if (const std::string& problem = raced->difference.empty() ? raced->slower : raced->difference; !problem.empty()) {
      change->gates.push_back({"triage", false, {problem}, 0});
      change->failed_gate = "triage";
      return failed(Status::incorrect_numerical, *change);
    }
    change->start_up = raced->start_up;
    if (opponent == &base_) change->triage = stats::as_ratio(raced->decision.log_ratio);
    evaluation.verdict = evaluation::verdict_of(raced->decision.verdict);
    evaluation.decided_by = model::DecidedBy::race;
    evaluation.ratio = to_model(stats::as_ratio(raced->decision.log_ratio));
    evaluation.blocks = static_cast<int>(raced->blocks.size());
    evaluation.workloads = timings(raced->blocks);
    evaluation.stages.push_back({model::Stage::verify, seconds_of(*change)});
    evaluation.details = {{"log_ratios", raced->log_ratios}, {"gates", gates_json(*change)}};
    return evaluation;
  }

  Result<model::Profile> carry_out(const evaluation::Profile& profile) {
    TRY(opened());
    TRY_ASSIGN(const refactor::CheckResult* const change, change_of(profile.kernel));
    return profile_of(*checker_, *change);
  }

  /// Every arm in pairs with the base; one that differs from it is out.
  Result<evaluation::PlayoffReport> carry_out(const evaluation::PlayOff& play_off) {
    TRY(opened());
    const std::size_t count = play_off.arms.size();
    stats::Playoff decision(
        static_cast<int>(count),
        {.places = play_off.places, .min_blocks = kLeastPlayoffBlocks, .max_blocks = kMostPlayoffBlocks});
    evaluation::PlayoffReport report;
    report.arms.resize(count);
    // The folders of all arms are needed at the same time.
    keep_trees_ = count + kMostTrees;
    std::map<std::size_t, refactor::Contest> contests;
    std::map<std::size_t, refactor::TimeGuard> guards;
    std::vector<std::vector<std::vector<refactor::UnitTimes>>> blocks(count);
    const auto fail = [&](std::size_t arm, const std::string& reason) {
      report.arms[arm].reason = reason;
      decision.fail(static_cast<int>(arm));
    };
    for (std::size_t arm = 1; arm < count; ++arm) {
      TRY_ASSIGN(const refactor::CheckResult* const change, change_of(play_off.arms[arm].kernel));
      if (change->folder.empty()) {
        fail(arm, reason_of(*change));
        continue;
      }
      std::string difference;
      TRY_ASSIGN(auto contest, checker_->contest(base_, *change, difference));
      if (difference.empty()) {
        guards.emplace(arm, refactor::TimeGuard(checker_->task().goal, contest.units()));
        contests.emplace(arm, std::move(contest));
      } else {
        fail(arm, difference);
      }
    }
    while (!decision.finished()) {
      stats::PlayoffBlock values(count);
      values[0] = 0;
      for (const int active : decision.active()) {
        const auto arm = static_cast<std::size_t>(active);
        if (arm == 0) continue;
        TRY_ASSIGN(auto block, contests.at(arm).next());
        if (!block.difference.empty()) {
          fail(arm, block.difference);
          continue;
        }
        guards.at(arm).add(block.times);
        if (const std::string& slower = guards.at(arm).broken(); !slower.empty()) {
          fail(arm, slower);
          continue;
        }
        values[arm] = block.log_ratio;
        blocks[arm].push_back(std::move(block.times));
      }
      decision.add(values);
    }
    const std::vector<stats::PlayoffArm> arms = decision.arms();
    for (std::size_t arm = 0; arm < count; ++arm) {
      evaluation::ArmScore& score = report.arms[arm];
      score.measured = arm == 0 || (!arms[arm].failed && arms[arm].blocks > 0);
      score.dropped = arms[arm].dropped;
      score.score = to_model(stats::as_ratio(arms[arm].log_score));
      score.blocks = arms[arm].blocks;
      if (arm > 0) score.workloads = timings(blocks[arm]);
    }
    report.arms[0].score = {1, 1, 1};
    report.blocks = decision.blocks();
    report.separated = decision.separated();
    keep_trees_ = kMostTrees;
    return report;
  }

  Result<Status> carry_out(const evaluation::HeldOut& held_out) {
    TRY(opened());
    TRY_ASSIGN(refactor::CheckResult* const change, change_of(held_out.kernel));
    if (change->folder.empty()) return Status::compile_error;
    TRY_ASSIGN(const bool passed, checker_->hold_out(*change));
    return passed ? Status::passed : Status::incorrect_numerical;
  }

  /// All gates again, in a tree of their own: what is reported rests on nothing that came before.
  Result<Evaluation> carry_out(const evaluation::Confirm& confirm) {
    TRY(opened());
    TRY_ASSIGN(const std::string tree, tree_of(confirm.kernel));
    const auto began = std::chrono::steady_clock::now();
    TRY_ASSIGN(refactor::CheckResult result, checker_->check(tree, refactor::Depth::confirm));
    checker_->drop(result);
    const bool refused_before_clock =
        !result.failed_gate.empty() && result.failed_gate != "confirm" && result.failed_gate != "triage";
    Evaluation evaluation = evaluation_of(refused_before_clock ? Status::incorrect_numerical : Status::passed);
    evaluation.kind = model::EvaluationKind::confirm;
    evaluation.opponent = model::source_id(task_.baseline);
    evaluation.source_id = confirm.kernel.id();
    evaluation.machine_code_id = tree;
    evaluation.reason = reason_of(result);
    const auto& ratio = result.confirmed ? result.confirmed : result.triage;
    if (!refused_before_clock && ratio) evaluation.ratio = to_model(*ratio);
    evaluation.verdict = result.verdict == refactor::Verdict::better ? model::Verdict::faster
                         : refused_before_clock                      ? model::Verdict::none
                                                                     : model::Verdict::undecided;
    evaluation.decided_by = model::DecidedBy::race;
    for (const refactor::UnitResult& unit : result.units) {
      evaluation.workloads.push_back({.name = workload_name(unit.unit.workload, unit.unit.size),
                                      .role = role_of(unit.unit),
                                      .time_ns = unit.new_seconds * kNanoseconds,
                                      .reference_ns = unit.old_seconds * kNanoseconds,
                                      .ratio = to_model(unit.ratio),
                                      .roofline = {},
                                      .peak_bytes = memory_of(unit.new_bytes),
                                      .reference_peak_bytes = memory_of(unit.old_bytes)});
    }
    if (result.readability) evaluation.notes.push_back(refactor::describe(*result.readability));
    if (result.time) {
      evaluation.notes.push_back(fmt::format("processor time is a guard: old / new {:.2f}x [{:.2f}, {:.2f}]",
                                             result.time->estimate, result.time->low, result.time->high));
    }
    if (result.complexity_claimed) {
      for (const refactor::Growth& growth : result.growth) {
        evaluation.notes.push_back(fmt::format("growth: n^{:.1f} -> n^{:.1f} over n = {:.0f}..{:.0f}, inputs {}",
                                               growth.old_exponent, growth.new_exponent, growth.from_size,
                                               growth.to_size, growth.workload));
      }
    } else if (!result.complexity_reason.empty()) {
      evaluation.notes.push_back("no lower complexity is claimed: " + result.complexity_reason);
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    evaluation.stages.push_back({model::Stage::confirm, seconds});
    evaluation.details = result;
    return evaluation;
  }

  [[nodiscard]] Result<void> opened() const {
    if (checker_) return {};
    return base::fail(ErrorCode::invalid_argument, "nothing can be measured before a task is open");
  }

  Result<std::string> tree_of(const model::Kernel& kernel) {
    std::map<std::string, std::string> files;
    for (const model::SourceFile& file : kernel.solution().sources) {
      const auto old = std::ranges::find(task_.baseline.sources, file.name, &model::SourceFile::name);
      if (old == task_.baseline.sources.end() || old->text != file.text) files.emplace(file.name, file.text);
    }
    if (files.empty()) return checker_->base_tree();
    return checker_->repository().with_files(checker_->base_tree(), files);
  }

  /// With its folder, which is made where it is not there any more; without one where it does not build.
  Result<refactor::CheckResult*> change_of(const model::Kernel& kernel) {
    const std::string& id = kernel.id();
    TRY_ASSIGN(const std::string tree, tree_of(kernel));
    if (tree == checker_->base_tree()) return &base_;
    recent_.remove(id);
    recent_.push_front(id);
    auto found = changes_.find(id);
    if (found != changes_.end()) return &found->second;
    TRY_ASSIGN(refactor::CheckResult built, checker_->build(tree));
    found = changes_.insert_or_assign(id, std::move(built)).first;
    while (changes_.size() > keep_trees_) {
      const auto oldest = changes_.find(recent_.back());
      recent_.pop_back();
      checker_->drop(oldest->second);
      changes_.erase(oldest);
    }
    return &found->second;
  }

  [[nodiscard]] Evaluation evaluation_of(Status status) const {
    Evaluation evaluation;
    evaluation.status = status;
    evaluation.environment.device = device_;
    evaluation.environment.isolation = sandbox::isolation();
    evaluation.environment.seed = seed_;
    evaluation.trust = "sandboxed";
    return evaluation;
  }

  Evaluation failed(Status status, const refactor::CheckResult& change) const {
    Evaluation evaluation = evaluation_of(status);
    evaluation.kind = model::EvaluationKind::triage;
    evaluation.reason = reason_of(change);
    evaluation.machine_code_id = change.tree;
    evaluation.details = {{"gates", gates_json(change)}};
    return evaluation;
  }

  /// Told where it is what changes are compared by.
  [[nodiscard]] std::optional<double> memory_of(double bytes) const {
    return checker_->task().goal == refactor::Goal::memory ? std::optional(bytes) : std::nullopt;
  }

  static base::Json gates_json(const refactor::CheckResult& change) { return base::Json(change)["gates"]; }

  static double seconds_of(const refactor::CheckResult& change) {
    double seconds = 0;
    for (const refactor::Gate& gate : change.gates) seconds += gate.seconds;
    return seconds;
  }

  static model::Role role_of(const refactor::Unit& unit) {
    if (unit.role == refactor::Role::held_out) return model::Role::held_out;
    return unit.raced ? model::Role::race : model::Role::check;
  }

  /// Medians and ratios of the raced units.
  [[nodiscard]] std::vector<model::WorkloadTiming> timings(
      const std::vector<std::vector<refactor::UnitTimes>>& blocks) const {
    std::vector<model::WorkloadTiming> out;
    const bool by_text = checker_->task().goal == refactor::Goal::readability;
    std::size_t place = 0;
    for (const refactor::BaseTime& base : checker_->base_times()) {
      if (!base.unit.raced) continue;
      Times times;
      for (const auto& block : blocks) {
        times.old_ns.push_back(block[place].old_seconds * kNanoseconds);
        times.new_ns.push_back(block[place].new_seconds * kNanoseconds);
        times.old_bytes.push_back(block[place].old_net_bytes);
        times.new_bytes.push_back(block[place].new_net_bytes);
        times.log_ratios.push_back(by_text ? block[place].time_log_ratio : block[place].log_ratio);
      }
      ++place;
      if (times.new_ns.empty()) continue;
      constexpr double kAlpha = 0.05;
      out.push_back({.name = workload_name(base.unit.workload, base.unit.size),
                     .role = model::Role::race,
                     .time_ns = stats::median(times.new_ns),
                     .reference_ns = stats::median(times.old_ns),
                     .ratio = to_model(stats::as_ratio(stats::trimmed_interval(times.log_ratios, kAlpha))),
                     .roofline = {},
                     .peak_bytes = memory_of(stats::median(times.new_bytes)),
                     .reference_peak_bytes = memory_of(stats::median(times.old_bytes))});
    }
    return out;
  }

  RepoOptions options_;
  std::mutex mutex_;
  model::Task task_;
  std::uint64_t seed_ = 0;
  std::string device_;
  std::unique_ptr<refactor::Checker> checker_;
  std::vector<refactor::GeneratedTest> tests_;
  refactor::CheckResult base_;
  std::map<std::string, refactor::CheckResult> changes_;  ///< by source id; those whose folders are kept
  std::list<std::string> recent_;                         ///< their ids, the latest first
  std::size_t keep_trees_ = kMostTrees;
};

}  // namespace

std::unique_ptr<RepoEvaluator> make_repo_evaluator(RepoOptions options) {
  return std::make_unique<GateEvaluator>(std::move(options));
}

}  // namespace accelopt::targets::repo
