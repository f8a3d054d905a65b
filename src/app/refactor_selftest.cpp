// SPDX-License-Identifier: Apache-2.0
#include "app/refactor_selftest.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/builtin_exploits.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "refactor/functions.hpp"
#include "sandbox/probe.hpp"
#include "syntax/tree/library.hpp"
#include "syntax/tree/measures.hpp"
#include "targets/cpu/machine_hold.hpp"
#include "vcs/git.hpp"

namespace accelopt::app {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Result;

/// The gates, and "apply": git does not make a tree of the diff.
constexpr auto kGates = std::to_array<std::string_view>(
    {"apply", "scope", "text", "build", "tests", "differential", "triage", "held-out", "confirm"});
/// What passes every gate, by the verdict that its task's goal gives.
constexpr auto kVerdicts =
    std::to_array<std::string_view>({"FASTER", "NOT_FASTER", "SMALLER", "NOT_SMALLER", "SIMPLER", "NOT_SIMPLER"});

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

bool is_known(const std::string& word) {
  return std::ranges::find(kVerdicts, word) != kVerdicts.end() || std::ranges::find(kGates, word) != kGates.end();
}

/// Every file below the folder by its path: mode, and content or a link's target.
Result<std::map<std::string, std::string>> content_of_all(const fs::path& folder) {
  constexpr std::size_t kMostFileBytes = 16UL << 20;
  std::map<std::string, std::string> state;
  std::error_code failed;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const fs::file_status status = at->symlink_status(failed);
    std::string content;
    if (fs::is_symlink(status)) {
      content = fs::read_symlink(at->path(), failed).string();
    } else if (fs::is_regular_file(status)) {
      TRY_ASSIGN(const std::string text, base::read_foreign_file(at->path(), kMostFileBytes));
      content = base::sha256_hex(text);
    }
    state[at->path().lexically_relative(folder).generic_string()] =
        fmt::format("{} {} {}", static_cast<int>(status.type()), static_cast<unsigned>(status.permissions()), content);
  }
  if (failed) return base::fail_errno(failed.value(), folder.string());
  return state;
}

/// The first path of which the two differ.
std::string first_change(const std::map<std::string, std::string>& before,
                         const std::map<std::string, std::string>& after) {
  for (const auto& [path, state] : after) {
    const auto was = before.find(path);
    if (was == before.end() || was->second != state) return path;
  }
  for (const auto& [path, state] : before) {
    if (!after.contains(path)) return path;
  }
  return {};
}

struct Suite {
  fs::path folder;
  std::vector<RefactorExploit> changes;  ///< attacks first, each part in the order of names
};

Result<Suite> load_suite(const fs::path& folder) {
  Suite suite{.folder = folder, .changes = {}};
  for (const char* part : {"attacks", "honest"}) {
    std::error_code failed;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder / part, failed)) files.push_back(entry.path());
    if (failed) return base::fail_errno(failed.value(), (folder / part).string());
    std::ranges::sort(files);
    for (const fs::path& file : files) {
      TRY_ASSIGN(const std::string text, base::read_file(file));
      TRY_ASSIGN(RefactorExploit change, parse_refactor_exploit(file.filename().string(), text));
      if (!fs::is_directory(folder / "tasks" / change.task, failed))
        return base::fail(ErrorCode::parse, file.string() + ": there is no task \"" + change.task + "\"");
      suite.changes.push_back(std::move(change));
    }
  }
  return suite;
}

/// Writes the built-in files. @error io.
Result<void> write_builtin(const fs::path& folder) {
  for (const BuiltinExploit& file : builtin_exploits()) {
    if (!file.name.starts_with(kRefactorExploits)) continue;
    const fs::path path = folder / file.name.substr(kRefactorExploits.size());
    TRY(base::make_folders(path.parent_path()));
    TRY(base::write_file(path, file.text));
  }
  return {};
}

/// Of a task that figures of the text decide: why there are none here; empty: there are.
std::string why_text_is_not_measured(const refactor::Task& task) {
  if (task.goal != refactor::Goal::readability) return {};
  auto reader = syntax::tree::Reader::open(syntax::tree::Library::default_folders());
  if (!reader) return reader.error().message;
  const auto measured = reader->measure(task.language.name, "");
  return measured ? "" : measured.error().message;
}

void keep_only(std::vector<RefactorExploit>& changes, const std::vector<std::string>& only) {
  if (only.empty()) return;
  std::erase_if(changes,
                [&](const RefactorExploit& change) { return std::ranges::find(only, change.name) == only.end(); });
}

/// Decides whether it is what the change's header asks for.
void decide(RefactorSelftestOutcome& outcome) {
  const RefactorExploit& change = outcome.change;
  const std::string found = !outcome.gate.empty() ? outcome.gate : upper(outcome.verdict);
  if (std::ranges::find(change.expected, found) == change.expected.end()) {
    outcome.note = fmt::format("expected {}", fmt::join(change.expected, " or "));
    return;
  }
  const bool names_it = base::lower(outcome.reason).find(base::lower(change.reason)) != std::string::npos;
  if (!outcome.gate.empty() && !names_it) {
    outcome.note = fmt::format("the reason does not say \"{}\"", change.reason);
    return;
  }
  outcome.as_it_should = true;
}

class RefactorSelftest {
 public:
  RefactorSelftest(const Shell& shell, const RefactorSelftestRequest& request, const Suite& suite,
                   const std::function<void(const RefactorSelftestOutcome&)>& told)
      : shell_(shell), request_(request), suite_(suite), told_(told) {}

  Result<SelftestTally> run() {
    std::set<std::string> tasks;
    for (const RefactorExploit& change : suite_.changes) tasks.insert(change.task);
    for (const std::string& task : tasks) {
      if (const auto ran = run_task(task); !ran)
        return tl::make_unexpected(base::with_context(ran.error(), "the task " + task));
    }
    return tally_;
  }

 private:
  Result<void> run_task(const std::string& name) {
    TRY_ASSIGN(const auto own, base::TemporaryFolder::create("accelopt-selftest"));
    const fs::path folder = own.path() / name;
    std::error_code failed;
    fs::copy(suite_.folder / "tasks" / name, folder, fs::copy_options::recursive, failed);
    if (failed) return base::fail_errno(failed.value(), folder.string());
    TRY(vcs::Repository::make(folder, "The task " + name));
    TRY_ASSIGN(const refactor::Task task, refactor::load_task(folder / "accelopt"));
    TRY_ASSIGN(const auto jail, refactor::Jail::create(task, request_.tools, shell_.stops.abort));
    if (const auto missing = jail.missing_programs(); !missing.empty()) {
      skip(name, fmt::format("needs {}, which is not installed", fmt::join(missing, " and ")));
      return {};
    }
    if (const std::string unread = why_text_is_not_measured(task); !unread.empty()) {
      skip(name, unread);
      return {};
    }
    TRY_ASSIGN(const auto before, content_of_all(own.path()));
    TRY_ASSIGN(auto hold, targets::cpu::machine_hold(shell_.stops.abort, {}));
    TRY_ASSIGN(const auto checker,
               refactor::Checker::prepare(task, {.seed = request_.seed.value_or(base::random_seed()),
                                                 .tools = request_.tools,
                                                 .stop = shell_.stops.abort,
                                                 .hold = std::move(hold)}));
    for (const RefactorExploit& change : suite_.changes) {
      if (change.task != name) continue;
      RefactorSelftestOutcome outcome{.change = change};
      const auto began = std::chrono::steady_clock::now();
      if (const auto examined = examine(*checker, outcome); !examined)
        return tl::make_unexpected(base::with_context(examined.error(), change.name));
      outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      decide(outcome);
      TRY_ASSIGN(const auto after, content_of_all(own.path()));
      if (const std::string changed = first_change(before, after); !changed.empty()) {
        outcome.as_it_should = false;
        outcome.note = "the user's repository was changed: " + changed;
      }
      count(outcome);
      told_(outcome);
    }
    return {};
  }

  static Result<void> examine(refactor::Checker& checker, RefactorSelftestOutcome& outcome) {
    const auto tree = tree_of(checker, outcome.change);
    if (!tree) {
      if (tree.error().code != ErrorCode::invalid_argument) return tl::make_unexpected(tree.error());
      outcome.verdict = refactor::to_string(refactor::Verdict::refused, checker.task().goal);
      outcome.gate = "apply";
      outcome.reason = tree.error().message;
      return {};
    }
    TRY_ASSIGN(refactor::CheckResult result, checker.check(*tree, refactor::Depth::confirm));
    checker.drop(result);
    outcome.verdict = refactor::to_string(result.verdict, result.goal);
    outcome.gate = result.failed_gate;
    const auto& ratio = result.confirmed ? result.confirmed : result.triage;
    if (ratio) outcome.ratio = ratio->estimate;
    const auto refused = std::ranges::find(result.gates, false, &refactor::Gate::passed);
    if (refused != result.gates.end()) outcome.reason = base::joined(refused->facts, "\n");
    return {};
  }

  static Result<std::string> tree_of(const refactor::Checker& checker, const RefactorExploit& change) {
    const vcs::Repository& repository = checker.repository();
    if (change.is_diff) return repository.apply(checker.base_tree(), change.text);
    const refactor::Scope& scope = checker.task().scope.front();
    std::string text = change.text;
    if (!scope.function.empty()) {
      const refactor::CodeLanguage& language = checker.task().language;
      TRY_ASSIGN(const std::string base, checker.base_text(scope.path));
      TRY_ASSIGN(const auto place, refactor::find_function(language, base, scope.function));
      const auto lines = refactor::lines_of(language, base);
      text = refactor::text_of(lines, 0, place.first) + text + refactor::text_of(lines, place.last, lines.size());
    }
    return repository.with_files(checker.base_tree(), {{scope.path, text}});
  }

  void skip(const std::string& task, const std::string& why) {
    for (const RefactorExploit& change : suite_.changes) {
      if (change.task != task) continue;
      ++tally_.skipped;
      told_({.change = change, .skipped = true, .as_it_should = true, .note = why});
    }
  }

  void count(const RefactorSelftestOutcome& outcome) {
    (outcome.change.attack ? tally_.attacks : tally_.honest) += 1;
    if (outcome.as_it_should) (outcome.change.attack ? tally_.caught : tally_.passed) += 1;
  }

  const Shell& shell_;
  const RefactorSelftestRequest& request_;
  const Suite& suite_;
  const std::function<void(const RefactorSelftestOutcome&)>& told_;
  SelftestTally tally_;
};

}  // namespace

Result<RefactorExploit> parse_refactor_exploit(const std::string& file_name, const std::string& text) {
  SelftestHeader header = read_selftest_header(text);
  RefactorExploit out;
  out.attack = header.values.contains("exploit");
  header.take("SPDX-License-Identifier");
  out.name = header.take(out.attack ? "exploit" : "honest");
  out.purpose = header.take(out.attack ? "tries" : "shows");
  out.task = header.take("task");
  out.reason = header.take("reason");
  const std::string expected = header.take("expect");
  for (const std::string_view word : base::split_words(expected)) out.expected.emplace_back(word);
  if (!out.attack && out.expected.empty()) out.expected.emplace_back("FASTER");
  if (!header.values.empty())
    return base::fail(ErrorCode::parse,
                      file_name + ": unknown key \"" + header.values.begin()->first + "\" in its header");
  if (const auto unknown = std::ranges::find_if_not(out.expected, is_known); unknown != out.expected.end()) {
    return base::fail(ErrorCode::parse,
                      fmt::format("{}: expect: \"{}\" is neither one of {} nor a gate, which are {}", file_name,
                                  *unknown, fmt::join(kVerdicts, ", "), fmt::join(kGates, ", ")));
  }
  if (out.name.empty() || out.purpose.empty() || out.task.empty() || out.expected.empty()) {
    return base::fail(ErrorCode::parse,
                      file_name + ": its header must name " +
                          (out.attack ? "exploit, tries, task and expect" : "honest, shows and task"));
  }
  out.text = header.rest;
  out.is_diff = file_name.ends_with(".diff");
  return out;
}

Result<SelftestTally> run_refactor_selftest(const Shell& shell, const RefactorSelftestRequest& request,
                                            const std::function<void(const RefactorSelftestOutcome&)>& told) {
  const auto began = std::chrono::steady_clock::now();
  TRY_ASSIGN(const auto own, base::TemporaryFolder::create("accelopt-selftest"));
  if (request.exploits.empty()) TRY(write_builtin(own.path()));
  TRY_ASSIGN(Suite suite, load_suite(request.exploits.empty() ? own.path() : request.exploits));
  for (const std::string& name : request.only) {
    if (std::ranges::find(suite.changes, name, &RefactorExploit::name) == suite.changes.end())
      return base::fail(ErrorCode::not_found, "no change of the self-test is called \"" + name + "\"");
  }
  keep_only(suite.changes, request.only);
  TRY_ASSIGN(SelftestTally tally, RefactorSelftest(shell, request, suite, told).run());
  tally.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return tally;
}

base::Json to_json(const RefactorSelftestOutcome& outcome) {
  return {{"type", outcome.change.attack ? "exploit" : "honest"},
          {"schema", 1},
          {"name", outcome.change.name},
          {"purpose", outcome.change.purpose},
          {"task", outcome.change.task},
          {"ok", outcome.as_it_should},
          {"skipped", outcome.skipped},
          {"note", outcome.note},
          {"verdict", outcome.verdict},
          {"failed_gate", outcome.gate},
          {"ratio", outcome.ratio ? base::Json(*outcome.ratio) : base::Json()},
          {"reason", outcome.reason},
          {"isolation", sandbox::isolation()},
          {"seconds", outcome.seconds}};
}

}  // namespace accelopt::app
