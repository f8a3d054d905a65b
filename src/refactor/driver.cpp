// SPDX-License-Identifier: Apache-2.0
#include "refactor/driver.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "refactor/call_share.hpp"
#include "refactor/exact_json.hpp"
#include "refactor/laziness.hpp"
#include "refactor/time_zone.hpp"

namespace accelopt::refactor {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Result;

constexpr std::size_t kMostResults = 64UL << 20;
constexpr std::size_t kShown = 60;  ///< bytes of each side around a difference

std::string last_line(std::string_view text) {
  text = base::trimmed(text);
  const std::size_t end = text.rfind('\n');
  return base::ascii_line(end == text.npos ? text : text.substr(end + 1), 300);
}

/// Where two texts differ first, with what stands there. `what` ends with the verb.
std::string first_difference(std::string_view what, std::string_view before, std::string_view after) {
  const std::size_t most = std::min(before.size(), after.size());
  std::size_t at = 0;
  while (at < most && before[at] == after[at]) ++at;
  const std::size_t from = at > kShown / 2 ? at - kShown / 2 : 0;
  return fmt::format("{} at byte {}: \"{}\" before, \"{}\" after", what, at,
                     base::ascii_line(before.substr(std::min(from, before.size())), kShown),
                     base::ascii_line(after.substr(std::min(from, after.size())), kShown));
}

bool same_value(std::string_view before, std::string_view after) {
  const auto first = exact_json(before);
  const auto second = exact_json(after);
  // Texts that are no JSON are compared as bytes.
  return first && second ? *first == *second : before == after;
}

std::string difference_of(Compare compare, const JailedResult& old_run, const JailedResult& new_run,
                          const std::string& old_results, const Result<std::string>& new_results) {
  if (old_run.end != new_run.end)
    return "the program ended by " + new_run.end + ", and by " + old_run.end + " before: " + last_line(new_run.errors);
  if (old_run.output != new_run.output)
    return first_difference("standard output differs", old_run.output, new_run.output);
  if (!new_results) return "its results cannot be read: " + new_results.error().message;
  const bool same = compare == Compare::json ? same_value(old_results, *new_results) : old_results == *new_results;
  return same ? "" : first_difference("the results differ", old_results, *new_results);
}

std::string watch_reads() {
  return std::string(kWatchReads) + "=1";
}

void remove_scratch(const fs::path& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  fs::remove(folder.string() + ".errors", ignored);
}

}  // namespace

MadeCases::~MadeCases() {
  if (!file_.empty()) remove_scratch(file_.parent_path());
}

std::string to_string(const CaseRequest& request) {
  return fmt::format("{}, size {}, seed {}", request.workload, request.size, request.seed);
}

Result<Driver> Driver::create(const Task& task, const Jail& jail, std::uint64_t seed) {
  TRY_ASSIGN(auto own, base::TemporaryFolder::create("accelopt-refactor"));
  Driver driver(task, jail, std::move(own), seed);
  const fs::path files = driver.files();
  TRY(base::make_folders(files));
  // Where refactor.toml stands at the top of the repository, its folders are the code, and git's own.
  const fs::path inside = task.repository.lexically_relative(task.folder);
  const bool holds_repository = !inside.empty() && *inside.begin() != "..";
  std::error_code failed;
  fs::recursive_directory_iterator entry(task.folder, failed);
  for (; !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
    const fs::path to = files / entry->path().lexically_relative(task.folder);
    if (entry->is_symlink(failed)) continue;
    if (entry->is_directory(failed)) {
      // What Python leaves there when a driver is tried by hand is nobody's input.
      if (holds_repository || entry->path().filename() == "__pycache__")
        entry.disable_recursion_pending();
      else
        fs::create_directory(to, failed);
    } else if (entry->is_regular_file(failed) && entry->path() != task.file) {
      // What is raced and held out is not for the code that is measured to read.
      fs::copy_file(entry->path(), to, failed);
    }
    if (failed) break;
  }
  if (failed) return base::fail_errno(failed.value(), "copying the driver from " + task.folder.string());
  return driver;
}

fs::path Driver::fresh_folder() {
  return own_.path() / fmt::format("{:016x}", random_());
}

Result<MadeCases> Driver::make_cases(const fs::path& tree, const CaseRequest& request) {
  const fs::path scratch = fresh_folder();
  const fs::path out = scratch / "cases";
  JailedRun run{.command = task_->cases,
                .words = {{"task", (files()).string()},
                          {"workload", request.workload},
                          {"seed", std::to_string(request.seed)},
                          {"size", std::to_string(request.size)},
                          {"count", std::to_string(request.count)},
                          {"out", out.string()}},
                .tree = tree,
                .scratch = scratch,
                .readable = {files()}};
  MadeCases cases(out, to_string(request));
  TRY_ASSIGN(const JailedResult result, jail_->run(run));
  const auto refused = [&](std::string_view why) {
    return base::fail(ErrorCode::invalid_argument,
                      fmt::format("driver.cases made no cases ({}): {}: {}", to_string(request), result.end, why));
  };
  // We copy it, with rights that its maker lacks: a link would lead us to what the maker cannot read.
  std::error_code absent;
  const fs::file_status made = fs::symlink_status(out, absent);
  if (!result.succeeded || !fs::exists(made)) return refused(last_line(result.errors));
  if (!fs::is_regular_file(made) || fs::hard_link_count(out, absent) != 1)
    return refused(out.filename().string() + " is no file of its own, but a link or something else");
  return cases;
}

Result<DriverRun> Driver::run_once(const fs::path& tree, const fs::path& cases, const RunSettings& settings) {
  const fs::path scratch = fresh_folder();
  TRY(base::make_folders(scratch));
  std::error_code failed;
  fs::copy_file(cases, scratch / "cases", failed);
  if (failed) return base::fail_errno(failed.value(), cases.string());
  const fs::path results = scratch / "results";
  JailedRun run{
      .command = task_->run,
      .words = {{"task", (files()).string()}, {"cases", (scratch / "cases").string()}, {"results", results.string()}},
      .tree = tree,
      .scratch = scratch,
      .readable = {files(), scratch / "cases"},
      .hash_seed = settings.hash_seed,
      .keeping = task_->goal == Goal::memory ? Keeping::counted : Keeping::usual,
      .results = results,
      .most_seconds = settings.most_seconds,
      .environment = settings.environment};
  TRY_ASSIGN(JailedResult process, jail_->run(run));
  auto read = base::read_foreign_file(results, kMostResults);
  remove_scratch(scratch);
  return DriverRun{std::move(process), std::move(read)};
}

Result<PairResult> Driver::run_pair(const Trees& trees, const CaseRequest& request) {
  TRY_ASSIGN(const MadeCases cases, make_cases(trees.makes_cases(), request));
  const std::string zone = "TZ=" + time_zone(zone_++, task_->language);
  TRY_ASSIGN(PairResult pair, run_both(trees, cases.file(), cases.what() + ", " + zone,
                                       {.hash_seed = random_(), .environment = {zone, watch_reads()}}));
  if (!pair.difference.empty()) pair.difference += "; both ran with " + zone;
  return pair;
}

Result<PairResult> Driver::run_pair(const Trees& trees, const MadeCases& cases) {
  return run_both(trees, cases.file(), cases.what(), {.hash_seed = random_()});
}

Result<PairResult> Driver::run_both(const Trees& trees, const fs::path& cases, const std::string& what,
                                    const RunSettings& settings) {
  const bool old_first = random_() % 2 == 0;
  TRY_ASSIGN(DriverRun first, run_once(old_first ? trees.old_tree : trees.new_tree, cases, settings));
  TRY_ASSIGN(DriverRun second, run_once(old_first ? trees.new_tree : trees.old_tree, cases, settings));
  DriverRun& old_run = old_first ? first : second;
  DriverRun& new_run = old_first ? second : first;
  std::string text;
  if (task_->goal == Goal::memory) text = base::read_foreign_file(cases, kMostResults).value_or("unreadable");
  TRY(expect_success(old_run, text, what));
  PairResult pair;
  pair.difference = difference(old_run, new_run);
  pair.old_run = std::move(old_run.process);
  pair.new_run = std::move(new_run.process);
  return pair;
}

Result<DriverRun> Driver::run_on(const fs::path& tree, std::string_view cases, std::uint64_t hash_seed,
                                 std::int64_t most_seconds) {
  const fs::path folder = fresh_folder();
  TRY(base::make_folders(folder));
  TRY(base::write_file(folder / "cases", cases));
  auto run = run_once(tree, folder / "cases",
                      {.hash_seed = hash_seed, .most_seconds = most_seconds, .environment = {watch_reads()}});
  remove_scratch(folder);
  return run;
}

Result<std::optional<double>> Driver::share_of_calls(const fs::path& tree, const MadeCases& cases,
                                                     double start_up_seconds) {
  TRY_ASSIGN(const DriverRun run,
             run_once(tree, cases.file(), {.hash_seed = random_(), .environment = {std::string(kTimeCalls) + "=1"}}));
  if (!run.process.succeeded) return std::nullopt;
  return call_share(seconds_of_calls(run.process.errors), run.process.cpu_seconds - start_up_seconds);
}

Result<std::string> Driver::cases_of(const fs::path& tree, const CaseRequest& request) {
  TRY_ASSIGN(const MadeCases cases, make_cases(tree, request));
  return base::read_foreign_file(cases.file(), kMostResults);
}

Result<void> Driver::expect_success(const DriverRun& old_run, std::string_view cases, const std::string& what) const {
  const JailedResult& process = old_run.process;
  if (!process.succeeded || !old_run.results) {
    const bool late = process.end.starts_with("over ");
    const char* const alone = task_->goal == Goal::memory
                                  ? "; for the goal memory it is one process that writes nothing but its results, "
                                    "which it opens write-only, and shares no memory"
                                  : "";
    return base::fail(ErrorCode::invalid_argument,
                      fmt::format("driver.run fails on the old code ({}): {}{}{}; {}{}", what, process.end,
                                  process.errors.empty() ? "" : ": ", last_line(process.errors),
                                  late ? "raise limits.seconds, or use smaller sizes"
                                       : "let the driver record errors as results, and deal with size 0",
                                  alone));
  }
  // Of blank cases nothing has to be written.
  if (task_->goal == Goal::memory && old_run.results->empty() && !base::trimmed(cases).empty()) {
    return base::fail(ErrorCode::invalid_argument,
                      "driver.run writes no results on the old code (" + what +
                          "); for the goal memory it has to open them write-only, in Go by os.OpenFile(name, "
                          "os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644), and to fail where that fails");
  }
  return {};
}

std::string Driver::what_it_did(const DriverRun& run) const {
  std::string results = run.results ? *run.results : "\n" + run.results.error().message;
  if (task_->compare == Compare::json) {
    if (auto exact = exact_json(results)) results = std::move(*exact);
  }
  return base::sha256_hex(
      fmt::format("{}\n{}:{}{}", run.process.end, run.process.output.size(), run.process.output, results));
}

std::string Driver::difference(const DriverRun& old_run, const DriverRun& new_run) const {
  std::string found =
      difference_of(task_->compare, old_run.process, new_run.process, *old_run.results, new_run.results);
  return found.empty() ? eager_reads(old_run.process.errors, new_run.process.errors) : found;
}

}  // namespace accelopt::refactor
