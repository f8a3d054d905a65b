// SPDX-License-Identifier: Apache-2.0
#include "app/refactor.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "app/estimate.hpp"
#include "app/knowledge_place.hpp"
#include "app/refactor_change.hpp"
#include "app/refactor_record.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/utc.hpp"
#include "memory/ranking.hpp"
#include "model/measure.hpp"
#include "refactor/functions.hpp"
#include "refactor/recipes.hpp"

namespace accelopt::app {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Result;

/// A proposal replaces the best one until now where it is certainly faster, and by this much, as a ratio.
constexpr double kWorthMore = 1.05;
constexpr int kMostRounds = 4;  ///< each builds on the best of the one before

/// Strategies that the store has for this language and what the goal compares, best first.
std::vector<std::string> remembered(const Shell& shell, const RefactorOptions& options, const RefactorReport& task) {
  std::vector<std::string> titles;
  if (options.knowledge == kNoKnowledge) return titles;
  // A store that is not there yet, or cannot be reached, has nothing to tell.
  auto store = open_knowledge(shell, options.knowledge, options.workspace, KnowledgeUse::reading);
  if (!store) return titles;
  const auto matches = (*store)->retrieve({.language = task.language, .target = std::string(kRefactorTarget)});
  if (!matches) return titles;
  std::vector<std::pair<double, std::string>> ranked;
  for (const memory::Match& match : *matches) {
    const model::Experience& one = match.item.experience;
    // What saved time says nothing of memory.
    const bool alike =
        model::measure_of(one.op_type).better == model::measure_of(refactor::to_string(task.goal)).better;
    if (alike && worked_before(one)) ranked.emplace_back(-one.effect->estimate, one.title);
  }
  std::ranges::sort(ranked);
  for (const auto& [rank, title] : ranked) {
    if (std::ranges::find(titles, title) == titles.end()) titles.push_back(title);
  }
  return titles;
}

struct Found {
  refactor::CheckResult result;
  std::string strategy;
  std::string tree;
  std::map<std::string, std::string> files;
};

/// What recipes offer on these texts of the files in scope.
struct Offer {
  std::string path;
  refactor::Proposal proposal;
};
Result<std::vector<Offer>> offers_of(const refactor::Checker& checker, const std::map<std::string, std::string>& files,
                                     const std::vector<std::string>& first) {
  std::vector<Offer> offers;
  for (const refactor::Scope& scope : checker.task().scope) {
    const auto changed = files.find(scope.path);
    std::string text;
    if (changed != files.end()) {
      text = changed->second;
    } else {
      TRY_ASSIGN(text, checker.base_text(scope.path));
    }
    for (refactor::Proposal& proposal : refactor::propose(checker.task().language, text, scope.function))
      offers.push_back({scope.path, std::move(proposal)});
  }
  std::ranges::stable_sort(offers, {}, [&](const Offer& offer) {
    const auto names = [&](const std::string& title) { return title.find(offer.proposal.strategy) != title.npos; };
    return std::ranges::find_if(first, names) - first.begin();
  });
  return offers;
}

report::RefactorTrial trial_of(const refactor::CheckResult& result, const std::string& strategy,
                               const std::string& built_on) {
  report::RefactorTrial trial{.strategy = strategy,
                              .built_on = built_on,
                              .verdict = std::string(refactor::to_string(result.verdict, result.goal)),
                              .failed_gate = result.failed_gate,
                              .why = {},
                              .ratio = interval_of(result.triage)};
  const auto failed = std::ranges::find(result.gates, false, &refactor::Gate::passed);
  if (failed != result.gates.end() && !failed->facts.empty()) trial.why = failed->facts.front();
  return trial;
}

/// Whether the challenger is certainly faster than the best until now, and by enough. Says so in its trial.
Result<bool> displaces(refactor::Checker& checker, const refactor::CheckResult& best,
                       const refactor::CheckResult& challenger, report::RefactorTrial& trial) {
  // Each was raced against the base: whoever is certainly behind there is not raced again.
  if (challenger.triage->high < best.triage->low) return false;
  TRY_ASSIGN(const refactor::RaceResult raced, checker.race(best, challenger));
  if (!raced.difference.empty()) {
    trial.why = "against the best until then: " + raced.difference;
    return false;
  }
  trial.over_best = interval_of(stats::as_ratio(raced.decision.log_ratio));
  return raced.decision.verdict == stats::RaceVerdict::faster && trial.over_best->estimate >= kWorthMore;
}

/// One round: every offer on the best until now. Whether one is better.
Result<bool> improve(const RefactorOptions& options, refactor::Checker& checker, const std::vector<std::string>& first,
                     std::set<std::string>& tried, RefactorReport& report, std::optional<Found>& best) {
  const auto files = best ? best->files : std::map<std::string, std::string>();
  const std::string built_on = best ? best->strategy : std::string();
  TRY_ASSIGN(const auto offers, offers_of(checker, files, first));
  bool better = false;
  for (const Offer& offer : offers) {
    auto changed = files;
    changed[offer.path] = offer.proposal.text;
    TRY_ASSIGN(const std::string tree, checker.repository().with_files(checker.base_tree(), changed));
    if (!tried.insert(tree).second) continue;
    ++report.tried;
    options.step("trying: " + offer.proposal.strategy);
    TRY_ASSIGN(auto result, checker.check(tree, refactor::Depth::triage));
    report.trials.push_back(trial_of(result, offer.proposal.strategy, built_on));
    if (result.verdict != refactor::Verdict::better) {
      if (!best) report.result = std::move(result);  // what is reported where nothing is found
      continue;
    }
    if (best) {
      TRY_ASSIGN(const bool better_still, displaces(checker, best->result, result, report.trials.back()));
      if (!better_still) continue;
    }
    const bool builds_on = best && !files.empty() && files == best->files;
    const std::string strategy = builds_on ? best->strategy + "; " + offer.proposal.strategy : offer.proposal.strategy;
    best = Found{std::move(result), strategy, tree, std::move(changed)};
    better = true;
  }
  return better;
}

}  // namespace

Result<std::vector<fs::path>> init_refactor(const RefactorInit& options) {
  std::error_code failed;
  const fs::path file = fs::canonical(options.file, failed);
  if (failed) return base::fail_errno(failed.value(), options.file.string());
  TRY_ASSIGN(const vcs::Repository repository, vcs::Repository::open(file.parent_path()));
  const std::string path = file.lexically_relative(repository.root()).generic_string();
  const refactor::CodeLanguage* known = refactor::language_of_file(path);
  const refactor::CodeLanguage language = known != nullptr ? *known : refactor::code_language("other");
  const bool by_function = language.form != refactor::FunctionForm::none;
  if (!options.function.empty() && !by_function) {
    return base::fail(ErrorCode::invalid_argument,
                      "functions are not found in " + path + "; leave out --function, and the whole file is the scope");
  }
  std::string signature;
  if (!options.function.empty()) {
    TRY_ASSIGN(const std::string text, base::read_file(file));
    TRY_ASSIGN(const auto place, refactor::find_function(language, text, options.function));
    signature = place.signature;
    if (const std::string outer = refactor::enclosing_function(refactor::functions_of(language, text), place);
        !outer.empty()) {
      options.note(place.name + " cannot be reached from outside of " + outer +
                   ": write the driver by hand, with a call that leads to it");
    }
  }
  const fs::path folder =
      fs::absolute(options.folder.empty() ? fs::path("accelopt-" + file.stem().string()) : options.folder);
  if (fs::exists(folder / "refactor.toml", failed)) {
    return base::fail(ErrorCode::already_exists,
                      (folder / "refactor.toml").string() + " is there; give another folder by --output");
  }
  TRY(base::make_folders(folder));
  const std::string way = repository.root().lexically_relative(fs::canonical(folder)).generic_string();
  std::vector<fs::path> written;
  for (const refactor::NewFile& one : refactor::new_task({.path = path,
                                      .function = options.function,
                                      .signature = signature,
                                      .language = language,
                                      .repository = way})) {
    TRY(base::write_file(folder / one.name, one.text));
    written.push_back(folder / one.name);
  }
  return written;
}

Result<std::vector<std::string>> lint_refactor(const Shell& shell, const RefactorOptions& options) {
  const std::uint64_t seed = options.seed.value_or(base::random_seed() >> 16U);
  std::string open;  // where the base is refused, this may be why
  if (const auto read = refactor::load_task(options.task)) open = base::joined(refactor::open_places(*read), ", ");
  auto prepared = prepare_checker(shell, options, seed);
  if (!prepared) {
    base::Error error = prepared.error();
    if (!open.empty()) error.message += "; still TODO: " + open;
    return tl::make_unexpected(std::move(error));
  }
  const auto checker = std::move(*prepared);
  const refactor::Task& task = checker->task();
  std::vector<std::string> lines;
  lines.push_back(fmt::format("base {}: builds, and its driver gives the same results twice",
                              checker->base_commit().substr(0, 12)));
  lines.push_back(task.test.empty() ? "no tests: only the driver holds a change; add [commands] test"
                                    : fmt::format("{} tests pass three times", checker->tests()));
  if (const std::string absent = vcs::describe_submodules(checker->base_listing()); !absent.empty())
    lines.push_back(absent);
  if (!checker->flaky().empty())
    lines.push_back(
        fmt::format("{} flaky tests are set aside: {}", checker->flaky().size(), base::joined(checker->flaky(), ", ")));
  if (!checker->not_passing().empty()) lines.push_back(refactor::describe_not_passing(checker->not_passing()));
  const auto held_out = [](const refactor::Workload& one) { return one.role == refactor::Role::held_out; };
  if (std::ranges::none_of(task.workloads, held_out))
    lines.emplace_back("no workload is held out: a second family of inputs is needed to claim a lower complexity");
  if (!open.empty()) lines.push_back("still TODO, so that cases and calls may be those of the template: " + open);
  const auto& warnings = checker->result_warnings();
  lines.insert(lines.end(), warnings.begin(), warnings.end());
  TRY_ASSIGN(const auto gaps, checker->generator_gaps());
  lines.insert(lines.end(), gaps.begin(), gaps.end());
  return lines;
}

Result<RefactorReport> check_refactor(const Shell& shell, const RefactorOptions& options, const RefactorChange& change,
                                      Commit commit) {
  const std::uint64_t seed = options.seed.value_or(base::random_seed() >> 16U);
  TRY(expect_applies(options, change));
  TRY_ASSIGN(const auto checker, prepare_checker(shell, options, seed));
  TRY_ASSIGN(const std::string tree, tree_of_change(*checker, change));
  options.note(describe_check(checker->costs()));
  RefactorReport report = report_on(*checker, seed);
  report.tried = 1;
  if (commit == Commit::yes) TRY(expect_room_for_commit(*checker, report));
  TRY_ASSIGN(report.result, checker->check(tree, refactor::Depth::confirm));
  keep_change(shell, options, *checker, report, commit);
  record_found(shell, options, report);
  return report;
}

Result<RefactorReport> run_refactor(const Shell& shell, const RefactorOptions& options) {
  const std::uint64_t seed = options.seed.value_or(base::random_seed() >> 16U);
  TRY_ASSIGN(const auto checker, prepare_checker(shell, options, seed));
  RefactorReport report = report_on(*checker, seed);
  TRY(expect_room_for_commit(*checker, report));
  report.result.verdict = refactor::Verdict::not_better;
  const auto first = remembered(shell, options, report);
  if (!first.empty()) {
    options.step("In the past, we found that '" + first.front() +
                 "' worked well for this type of task. It is tried first.");
  }
  std::optional<Found> best;
  std::set<std::string> tried;
  for (int round = 0; round < kMostRounds; ++round) {
    TRY_ASSIGN(const bool better, improve(options, *checker, first, tried, report, best));
    if (!better) break;
  }
  if (best) {
    report.strategy = best->strategy;
    TRY_ASSIGN(report.result, checker->check(best->tree, refactor::Depth::confirm));
    keep_change(shell, options, *checker, report, Commit::yes);
  }
  record_found(shell, options, report);
  return report;
}

}  // namespace accelopt::app
