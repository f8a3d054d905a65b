// SPDX-License-Identifier: Apache-2.0
#include "app/best.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/patch_trial.hpp"
#include "app/run_state.hpp"
#include "app/user_build_race.hpp"
#include "app/winner.hpp"
#include "base/files.hpp"
#include "base/shell.hpp"
#include "report/format.hpp"
#include "report/text_width.hpp"
#include "scaffold/cmake_patch.hpp"
#include "scaffold/openmp.hpp"
#include "scaffold/program_build.hpp"
#include "scaffold/scaffold.hpp"
#include "scaffold/winner_patch.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::app {
namespace {

/// One delivery, and what it needs.
class Delivery {
 public:
  Delivery(const Shell& shell, const BestOptions& options, const BestPorts& ports)
      : shell_(shell), options_(options), ports_(ports) {}

  base::Result<void> write(const std::vector<Winner>& winners);

 private:
  /// A winner on its way into the user's file.
  struct Part {
    const Winner& winner;
    std::optional<scaffold::UserBuild> build{};
    std::string compiler{};            ///< of the build; empty: not known
    scaffold::PatchForm unmeasured{};  ///< where nothing was raced
    BuildRaces races{};
    OwnFile own_file = OwnFile::needs_hands;

    [[nodiscard]] const std::string& name() const { return winner.run.task.entry->function; }
    /// The race of the form that this attempt takes, the last one in all further ones; null: nothing was raced.
    [[nodiscard]] const BuildRace* race(std::size_t attempt) const {
      return races.forms.empty() ? nullptr : &races.forms[std::min(attempt, races.forms.size() - 1)];
    }
    [[nodiscard]] scaffold::PatchForm form(std::size_t attempt) const {
      return races.forms.empty() ? unmeasured : race(attempt)->form;
    }
  };

  void note(const std::string& text) const { ports_.say("note: " + text); }
  /// Does what may take a minute.
  template <class Work>
  auto with_progress(const std::string& step, const Work& work) const {
    std::optional<decltype(work())> result;
    ports_.during(step, [&] { result.emplace(work()); });
    return std::move(*result);
  }
  [[nodiscard]] base::Result<scaffold::ProgramBuild> try_build(const std::filesystem::path& file,
                                                               const scaffold::WinnerPatch* patch) const;
  [[nodiscard]] base::Result<std::optional<scaffold::UserBuild>> flags_by_building(
      const std::filesystem::path& file) const;
  [[nodiscard]] GccPragmas pragmas_of(const std::string& compiler) const;
  base::Result<void> measure_forms(Part& part) const;
  void say_form(const Part& part, std::size_t attempt) const;
  [[nodiscard]] base::Result<void> refuse_loss(const Part& part, std::size_t attempt) const;
  [[nodiscard]] base::Result<void> check_files(const scaffold::WinnerPatch& patch,
                                               const std::optional<scaffold::UserBuild>& build) const;
  [[nodiscard]] base::Result<bool> check_program(const scaffold::WinnerPatch& patch) const;
  [[nodiscard]] base::Result<void> check(const scaffold::WinnerPatch& patch,
                                         const std::optional<scaffold::UserBuild>& build) const;
  base::Result<void> write_patch(const std::vector<Winner>& winners) const;

  const Shell& shell_;
  const BestOptions& options_;
  const BestPorts& ports_;
};

/// What the user's build command comes to, with the patch or without; see build_program.
base::Result<scaffold::ProgramBuild> Delivery::try_build(const std::filesystem::path& file,
                                                         const scaffold::WinnerPatch* patch) const {
  return with_progress(
      patch != nullptr ? "building your program with the patch, in the sandbox"
                       : "building your program as it is, in the sandbox",
      [&] { return scaffold::build_program(options_.build_command, file, patch, shell_.stops.abort); });
}

/// How the user's build command compiles the file; none where it fails, or does not compile it.
base::Result<std::optional<scaffold::UserBuild>> Delivery::flags_by_building(const std::filesystem::path& file) const {
  TRY_ASSIGN(const auto built, try_build(file, nullptr));
  if (!built.problem.empty()) note("your build fails in the sandbox: " + report::printable(built.problem));
  return built.flags;
}

/// `compiler`: empty, the first that there is.
GccPragmas Delivery::pragmas_of(const std::string& compiler) const {
  const auto found =
      targets::cpu::find_compiler(compiler, shell_.environment("PATH").value_or("/usr/local/bin:/usr/bin:/bin"));
  return found && found->clang ? GccPragmas::unknown : GccPragmas::followed;
}

/// What the winner gains in the user's build, by form.
base::Result<void> Delivery::measure_forms(Part& part) const {
  const journal::RunInfo& run = part.winner.run;
  const model::Solution& winner = part.winner.solution;
  const model::Task& task = run.task;
  const auto file = scaffold::entry_file({task, winner, run.task_folder, {}});
  TRY_ASSIGN(part.build,
             scaffold::find_user_build(suites::entry_flags(run.task_folder), file, options_.compile_commands));
  if (!part.build && !options_.build_command.empty()) {
    TRY_ASSIGN(part.build, flags_by_building(file));
  }
  const auto compiler = compiler_for(shell_, options_.device.compiler, part.build);
  part.compiler = compiler.value_or("");
  const GccPragmas pragmas = pragmas_of(part.compiler);
  if (options_.form == scaffold::FlagsBy::pragmas && pragmas == GccPragmas::unknown) {
    const bool is_of_build = options_.device.compiler.empty() && !part.compiler.empty();
    return base::fail(
        base::ErrorCode::unsupported,
        fmt::format("--patch-form pragmas: {} compiler, Clang, knows no such pragmas; take as-is or own-file",
                    is_of_build ? "your build's" : "the"));
  }
  if (options_.form || !compiler) {
    part.unmeasured = form_of(options_.form.value_or(scaffold::FlagsBy::nothing), winner);
  } else {
    part.unmeasured = form_without_measuring(winner, pragmas);
  }
  const auto openmp = scaffold::openmp_advice(task, winner, part.build ? &*part.build : nullptr);
  if (!openmp.refusal.empty()) return base::fail(base::ErrorCode::unsupported, openmp.refusal);
  if (!openmp.warning.empty()) ports_.say("warning: " + openmp.warning);
  ports_.say(fmt::format("{}: {} confirmed, compiled with {}", part.name(),
                         part.winner.speedup ? report::format_ratio(*part.winner.speedup) : "",
                         fmt::join(measured_flags(winner), " ")));
  if (!part.build) {
    note("how your build compiles " + file.filename().string() +
         " is not known, so the gain in your build was not measured; name its compile_commands.json with "
         "--compile-commands, or add flags = [\"-O2\"] to [entry]");
    return {};
  }
  if (task.cpu.threads > 1) std::erase(part.build->left_out, "-fopenmp");
  if (!part.build->left_out.empty()) {
    note(fmt::format("of your build's flags, not on the list of those that are measured with: {}",
                     fmt::join(part.build->left_out, " ")));
  }
  if (options_.no_measure) return {};
  const std::string no_measuring = compiler ? openmp.no_measuring : compiler.error().message;
  if (!no_measuring.empty()) {
    note("the gain in your build was not measured: " + no_measuring);
    return {};
  }
  part.own_file = scaffold::is_named_by_cmake(file) ? OwnFile::is_built : OwnFile::needs_hands;
  auto races = with_progress("measuring the gain as your build compiles it", [&] {
    DeviceFlags device = options_.device;
    if (device.workers.empty()) device.compiler = part.compiler;  // those elsewhere have their own
    return race_in_user_build(shell_, device, task, winner, *part.build, {options_.form, part.own_file, pragmas});
  });
  if (!races) {
    if (races.error().code == base::ErrorCode::cancelled) return tl::make_unexpected(races.error());
    note("the gain in your build was not measured: " + races.error().message);
    return {};
  }
  part.races = std::move(*races);
  if (!part.races.remark.empty()) note(part.name() + ": " + report::printable(part.races.remark));
  return {};
}

/// The form and its own number.
void Delivery::say_form(const Part& part, std::size_t attempt) const {
  const BuildRace* const race = part.race(attempt);
  if (race == nullptr) return;
  const std::string how = race->form.flags_by == scaffold::FlagsBy::nothing ? ""
                          : race->form.flags_by == scaffold::FlagsBy::pragmas
                              ? "; its flags stand in pragmas"
                              : "; it needs a file of its own with its flags";
  const std::string by = std::filesystem::path(part.compiler).filename().string();
  ports_.say(fmt::format("{}: {} as your build compiles it, both with {} ({}{}){}", part.name(),
                         report::format_ratio(race->ratio), fmt::join(part.build->flags, " "), part.build->source,
                         by.empty() ? "" : ", by " + by, how));
  if (attempt > 0) return;
  if (part.races.read_after)
    ports_.say(
        fmt::format("{}: {} where the caller reads the output right after the call: the winner's stores go past "
                    "the caches",
                    part.name(), report::format_ratio(*part.races.read_after)));
  for (const BuildRace& other : part.races.forms) {
    if (other.form.flags_by != scaffold::FlagsBy::own_file || other.ratio.low <= race->ratio.high) continue;
    note(fmt::format("{} has {} in a file of its own{}: --patch-form own-file", part.name(),
                     report::format_ratio(other.ratio),
                     part.own_file == OwnFile::is_built ? "" : ", which no CMakeLists.txt would compile"));
  }
}

/// @error unsupported: the program would certainly become slower, and nobody insists.
base::Result<void> Delivery::refuse_loss(const Part& part, std::size_t attempt) const {
  const BuildRace* const race = part.race(attempt);
  if (race == nullptr || options_.force) return {};
  const bool slower = race->ratio.high < 1;
  const bool slower_to_read = part.races.read_after && part.races.read_after->high < 1;
  if (!slower && !slower_to_read) return {};
  return base::fail(
      base::ErrorCode::unsupported,
      fmt::format("no patch was written: {} would be slower in your program{}; on the command line --force writes it",
                  part.name(), slower ? "" : ", if it reads the output right after the call"));
}

/// Has the compiler look at the patched files. @error unsupported: they no longer compile.
base::Result<void> Delivery::check_files(const scaffold::WinnerPatch& patch,
                                         const std::optional<scaffold::UserBuild>& build) const {
  TRY_ASSIGN(const scaffold::PatchCheck check, check_with_compiler(shell_, options_.device.compiler, patch, build));
  if (check.fate == scaffold::PatchFate::unchecked) note("the patch could not be checked: " + check.reason);
  if (check.fate == scaffold::PatchFate::broken) {
    return base::fail(base::ErrorCode::unsupported, "your file cannot take the winner as it is: " + check.reason +
                                                        "; put the kernel in by hand, or rename what clashes");
  }
  return {};
}

/// Runs the user's build command on the patched program. False: it fails without the patch too.
/// @error unsupported: the patch breaks it.
base::Result<bool> Delivery::check_program(const scaffold::WinnerPatch& patch) const {
  const std::filesystem::path& file = patch.files.front().path;
  TRY_ASSIGN(const auto patched, try_build(file, &patch));
  if (patched.problem.empty()) {
    ports_.say(fmt::format("your program builds with the patch: {}", report::printable(options_.build_command)));
    return true;
  }
  TRY_ASSIGN(const auto own, try_build(file, nullptr));
  if (own.problem.empty()) {
    return base::fail(base::ErrorCode::unsupported,
                      "your build fails with the patch, and not without it: " + report::printable(patched.problem) +
                          "; put the kernel in by hand, or rename what clashes");
  }
  note("your build fails in the sandbox without the patch too: " + report::printable(own.problem));
  return false;
}

/// @error unsupported: the program does not build with the patch.
base::Result<void> Delivery::check(const scaffold::WinnerPatch& patch,
                                   const std::optional<scaffold::UserBuild>& build) const {
  bool built = false;
  if (!options_.build_command.empty()) {
    TRY_ASSIGN(built, check_program(patch));
  }
  return built ? base::Result<void>() : check_files(patch, build);
}

base::Result<void> Delivery::write_patch(const std::vector<Winner>& winners) const {
  std::vector<Part> parts;
  const auto make_patch = [&](std::size_t attempt) {
    std::vector<scaffold::PatchRequest> requests;
    for (const Part& part : parts) {
      const Winner& winner = part.winner;
      requests.push_back({winner.run.task, winner.solution, winner.run.task_folder, part.form(attempt)});
    }
    return scaffold::make_winner_patch(requests);
  };
  for (const Winner& winner : winners) parts.push_back({winner});
  TRY(make_patch(0));  // what cannot be patched is said before anything is measured
  std::size_t attempts = 1;
  for (Part& part : parts) {
    TRY(measure_forms(part));
    say_form(part, 0);
    attempts = std::max(attempts, part.races.forms.size());
  }
  scaffold::WinnerPatch patch;
  std::string by_hand;
  for (std::size_t attempt = 0;; ++attempt) {
    for (const Part& part : parts) TRY(refuse_loss(part, attempt));
    TRY_ASSIGN(patch, make_patch(attempt));
    TRY_ASSIGN(by_hand, scaffold::add_to_cmake(patch));
    const auto checked = check(patch, parts.front().build);
    if (checked) break;
    const bool last = attempt + 1 == attempts || checked.error().code != base::ErrorCode::unsupported;
    if (last) return tl::make_unexpected(checked.error());
    note(report::printable(checked.error().message) + "; another form is tried");
    for (const Part& part : parts) say_form(part, attempt + 1);
  }
  const std::filesystem::path path = std::filesystem::path(options_.output) / "winner.patch";
  TRY(base::write_file(path, scaffold::diff_of(patch)));
  for (const std::string& text : patch.notes) note(text);
  if (!by_hand.empty()) note("no CMakeLists.txt names the file among the sources of a target; " + by_hand);
  ports_.say(fmt::format("wrote {}; apply it in your repository with: git apply {}", path.string(),
                         base::shell_word(path.string())));
  return {};
}

base::Result<void> Delivery::write(const std::vector<Winner>& winners) {
  const std::filesystem::path folder = options_.output;
  std::error_code ignored;
  if (std::filesystem::exists(folder, ignored) && !std::filesystem::is_empty(folder, ignored) && !options_.force) {
    return base::fail(base::ErrorCode::already_exists,
                      folder.string() + " is not empty; name another folder, or on the command line add --force");
  }
  bool has_entries = true;
  for (const Winner& winner : winners) {
    model::Task task = winner.run.task;
    const std::filesystem::path own = winners.size() == 1 ? folder : folder / task.definition.name;
    has_entries = has_entries && task.entry.has_value();
    task.baseline = winner.solution;
    TRY(suites::write_task(task, own));
    const std::string& name = winner.solution.sources.front().name;
    ports_.say(
        fmt::format("wrote {}", (own / ("baseline" + std::filesystem::path(name).extension().string())).string()));
  }
  if (has_entries) TRY(write_patch(winners));
  return {};
}

}  // namespace

base::Result<Winner> find_winner(journal::Journal& journal, const std::string& run) {
  TRY_ASSIGN(journal::RunInfo found, find_run(journal, run));
  TRY_ASSIGN(model::Solution solution, winner_of(found));
  const auto speedup = base::decode<model::Interval>(found.result->value("speedup", base::Json()), "a speed-up");
  Winner out{std::move(found), std::move(solution)};
  if (speedup) out.speedup = *speedup;
  return out;
}

base::Result<void> write_winners(const Shell& shell, const BestOptions& options, const BestPorts& ports,
                                 const std::vector<Winner>& winners) {
  return Delivery(shell, options, ports).write(winners);
}

}  // namespace accelopt::app
