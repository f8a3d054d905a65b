// SPDX-License-Identifier: Apache-2.0
// `accelopt evidence` and `accelopt verify`: what a run's numbers rest on, passed on and checked.
#include <unistd.h>

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "app/evidence.hpp"
#include "app/workspace.hpp"
#include "base/files.hpp"
#include "base/shell.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "report/format.hpp"
#include "report/step_progress.hpp"
#include "report/text_width.hpp"

namespace accelopt::cli {
namespace {

struct EvidenceFlags {
  std::string run = "last";
  std::string output;
  std::string workspace;
  bool answers = false;
  bool json = false;
};

base::Result<Exit> write(const app::Shell& shell, const EvidenceFlags& flags) {
  const app::EvidenceRequest request{.workspace = app::find_workspace(flags.workspace),
                                     .run = flags.run,
                                     .output = flags.output,
                                     .answers = flags.answers ? app::RawAnswers::kept : app::RawAnswers::left_out};
  TRY_ASSIGN(const app::Verification verified, app::write_evidence(shell, request));
  if (flags.json) {
    fmt::print("{}\n", base::canonical(app::to_json(verified)));
    return Exit::done;
  }
  fmt::print("wrote {}, root {}\ncheck it anywhere with: accelopt verify {}\n", flags.output, verified.root,
             base::shell_word(flags.output));
  if (verified.recalled > 0)
    fmt::print("it holds lessons of other runs, which may be of other projects: {}\n", verified.recalled);
  return Exit::done;
}

struct VerifyFlags {
  std::string file;
  bool measure = false;
  bool json = false;
  app::DeviceFlags device;
};

std::string_view word_of(app::CheckState state) {
  switch (state) {
    case app::CheckState::passed:
      return "ok";
    case app::CheckState::failed:
      return "FAILED";
    case app::CheckState::left_out:
      return "-";
  }
  return "FAILED";
}

std::string last_sentence(const app::Verification& verification) {
  const auto failed =
      std::find_if(verification.checks.begin(), verification.checks.end(),
                   [](const app::EvidenceCheck& check) { return check.state == app::CheckState::failed; });
  if (failed != verification.checks.end() && failed->name == "measurement")
    return "The archive is sound, but its claim does not hold here.";
  if (failed != verification.checks.end()) return "The archive is refused: the check \"" + failed->name + "\" failed.";
  const std::string found = verification.claim
                                ? report::format_ratio(verification.claim->speedup) + " on " + verification.device
                                : "no gain on " + verification.device;
  return "The archive is sound: " + verification.task.definition.name + ", " + found +
         (verification.here ? ", and that holds here." : ".");
}

base::Result<Exit> verify(const app::Shell& shell, const VerifyFlags& flags) {
  if (const auto usable = app::check(flags.device); !usable) return refuse_options(usable.error());
  if (!flags.measure && (flags.device.device_given || !flags.device.workers.empty())) {
    return refuse_options({base::ErrorCode::invalid_argument,
                           "--device and --worker say where --measure measures; add it, or leave them out"});
  }
  TRY_ASSIGN(const std::string archive, base::read_foreign_file(flags.file, base::kMostTarBytes));
  TRY_ASSIGN(app::Verification verification, app::verify_evidence(archive, shell.stops));
  if (flags.measure) {
    report::StepProgress steps(stderr, {.live = !flags.json && isatty(STDERR_FILENO) == 1});
    TRY(app::measure_here(shell, flags.device,
                          {.begin = [&](const std::string& step) { steps.begin(step); },
                           .share = [&](const std::string& share) { steps.share(share); },
                           .note = [&](const std::string& text) { steps.note(text); }},
                          verification));
    steps.end();
  }
  if (flags.json) {
    fmt::print("{}\n", base::canonical(app::to_json(verification)));
  } else {
    for (const app::EvidenceCheck& check : verification.checks)
      fmt::print("{:<12} {:<7} {}\n", check.name, word_of(check.state), report::printable(check.text));
    fmt::print("{}\n", report::printable(last_sentence(verification)));
  }
  return verification.passed() ? Exit::done : Exit::check_failed;
}

}  // namespace

void add_evidence(CommandLine& app, Action& chosen) {
  Command command = app.add("evidence", "Pack the data behind a run's numbers into one file, to be checked elsewhere");
  command.footer(
      "Examples:\n"
      "  accelopt evidence last -o matmul.evidence.tar\n"
      "  accelopt verify matmul.evidence.tar\n"
      "\n"
      "The file contains the task, every kernel, plan and lesson, every sample and the decisions: share it only "
      "where\nyou may share these. It contains no question to a model, no key and no folder of this machine "
      "(docs/evidence.md).\n");
  auto flags = std::make_shared<EvidenceFlags>();
  command.option("run", &flags->run, "A run's id, the beginning of one, or last").show_default();
  command.option("-o,--output", &flags->output, "File to write").required();
  command.flag("--answers", flags->answers, "Also include the models' answers verbatim");
  command.option("--workspace", &flags->workspace, "Folder of the runs (default: the nearest .accelopt here or above)");
  command.flag("--json", flags->json, "One JSON object: its verification");
  command.chosen([&chosen, flags] { chosen = [flags](app::Shell& shell) { return write(shell, *flags); }; });
}

void add_verify(CommandLine& app, Action& chosen) {
  Command command =
      app.add("verify", "Check an evidence archive: hashes, numbers, decisions; with --measure also on this machine");
  command.footer(
      "Examples:\n"
      "  accelopt verify matmul.evidence.tar\n"
      "  accelopt verify matmul.evidence.tar --measure                 also build and race it on this processor\n"
      "  accelopt verify matmul.evidence.tar --measure --device cuda:0\n"
      "\n"
      "Exit code 5: a check failed. Without --measure nothing in the archive is executed.\n");
  auto flags = std::make_shared<VerifyFlags>();
  command.option("file", &flags->file, "The archive").required();
  command.flag("--measure", flags->measure, "Build baseline and winner here, in the sandbox, and confirm the winner");
  command.flag("--json", flags->json, "One JSON object (docs/json.md)");
  declare(command, flags->device);
  command.chosen([&chosen, flags] { chosen = [flags](app::Shell& shell) { return verify(shell, *flags); }; });
}

}  // namespace accelopt::cli
