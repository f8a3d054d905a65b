// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "app/refactor_selftest.hpp"
#include "app/selftest.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "sandbox/probe.hpp"

namespace accelopt::cli {
namespace {

struct SelftestOptions {
  app::SelftestRequest request;
  std::vector<std::string> tools;
  bool refactor = false;
  bool json = false;
};

std::string short_line(const std::string& text) {
  constexpr std::size_t kMost = 150;
  const std::string line(base::first_line(text));
  return line.size() > kMost ? line.substr(0, kMost) + "..." : line;
}

std::string verdict_text(const model::Evaluation& evaluation) {
  std::string text(model::to_string(evaluation.status));
  if (evaluation.verdict != model::Verdict::none) {
    text += fmt::format(" {}", model::to_string(evaluation.verdict));
    if (evaluation.ratio) text += fmt::format(" {:.3f}x", evaluation.ratio->estimate);
  }
  return text;
}

void print(const app::SelftestOutcome& outcome, const SelftestOptions& options) {
  const app::SelftestKernel& kernel = outcome.kernel;
  if (options.json) {
    fmt::print("{}\n", base::canonical(to_json(outcome)));
  } else if (outcome.skipped) {
    fmt::print("{:<32} skipped: {}\n", kernel.name, outcome.note);
  } else {
    const char* word =
        outcome.as_it_should ? (kernel.attack ? "caught" : "passed") : (kernel.attack ? "NOT CAUGHT" : "NOT PASSED");
    fmt::print("{:<32} {}: {}", kernel.name, word, verdict_text(outcome.evaluation));
    if (!outcome.evaluation.reason.empty()) fmt::print(": {}", short_line(outcome.evaluation.reason));
    if (!outcome.note.empty()) fmt::print(" ({})", outcome.note);
    fmt::print("\n");
  }
  std::fflush(stdout);
}

void print(const app::RefactorSelftestOutcome& outcome, const SelftestOptions& options) {
  const app::RefactorExploit& change = outcome.change;
  if (options.json) {
    fmt::print("{}\n", base::canonical(to_json(outcome)));
  } else if (outcome.skipped) {
    fmt::print("{:<32} skipped: {}\n", change.name, outcome.note);
  } else {
    const char* word =
        outcome.as_it_should ? (change.attack ? "caught" : "passed") : (change.attack ? "NOT CAUGHT" : "NOT PASSED");
    fmt::print("{:<32} {}: {}", change.name, word, outcome.verdict);
    if (!outcome.gate.empty()) fmt::print(" by {}", outcome.gate);
    if (outcome.ratio) fmt::print(" {:.2f}x", *outcome.ratio);
    if (!outcome.reason.empty()) fmt::print(": {}", short_line(outcome.reason));
    if (!outcome.note.empty()) fmt::print(" ({})", outcome.note);
    fmt::print("\n");
  }
  std::fflush(stdout);
}

void print_sandbox(const SelftestOptions& options) {
  if (options.json) return;
  fmt::print("sandbox: {}\n", sandbox::isolation());
  for (const sandbox::Layer& layer : sandbox::layers()) {
    if (layer.state != sandbox::LayerState::present)
      fmt::print("{} is {}: {}\n", layer.name, sandbox::to_string(layer.state), layer.costs);
  }
  fmt::print("\n");
}

Exit finish(const app::SelftestTally& tally, const SelftestOptions& options) {
  if (options.json) {
    fmt::print("{}\n", base::canonical(to_json(tally)));
  } else {
    fmt::print("\n{} of {} exploits caught, {} of {} honest {} passed", tally.caught, tally.attacks, tally.passed,
               tally.honest, options.refactor ? "changes" : "kernels");
    if (tally.skipped > 0) fmt::print(", {} skipped", tally.skipped);
    fmt::print(" ({:.0f} s)\n", tally.seconds);
  }
  return tally.all() ? Exit::done : Exit::check_failed;
}

base::Result<Exit> selftest_of_refactoring(app::Shell& shell, const SelftestOptions& options) {
  if (options.request.device.device_given)
    return refuse_options(
        {base::ErrorCode::invalid_argument, "--refactor runs changes of code on this machine; leave out --device"});
  print_sandbox(options);
  TRY_ASSIGN(const app::SelftestTally tally,
             app::run_refactor_selftest(shell,
                                        {.only = options.request.only,
                                         .exploits = options.request.exploits,
                                         .seed = options.request.seed,
                                         .tools = {options.tools.begin(), options.tools.end()}},
                                        [&](const app::RefactorSelftestOutcome& outcome) { print(outcome, options); }));
  return finish(tally, options);
}

base::Result<Exit> selftest(app::Shell& shell, const SelftestOptions& options) {
  if (options.refactor) return selftest_of_refactoring(shell, options);
  if (!options.tools.empty())
    return refuse_options({base::ErrorCode::invalid_argument,
                           "--tools works only with --refactor; the device's own tools build kernels"});
  if (const auto usable = app::check(options.request.device); !usable) return refuse_options(usable.error());
  TRY_ASSIGN(const app::SelftestSuite suite, app::selftest_suite(options.request));
  print_sandbox(options);
  TRY_ASSIGN(const app::SelftestTally tally,
             app::run_selftest(shell, options.request, suite,
                               [&](const app::SelftestOutcome& outcome) { print(outcome, options); }));
  return finish(tally, options);
}

}  // namespace

void add_selftest(CommandLine& app, Action& chosen) {
  Command command = app.add("selftest", "Try to cheat this machine's evaluation in every known way");
  command.footer(
      "Examples:\n"
      "  accelopt selftest                            every attack must be caught, every honest kernel must pass\n"
      "  accelopt selftest --only replay_by_pointer   one of them\n"
      "  accelopt selftest --device cuda:0            the attacks and honest kernels for GPUs\n"
      "  accelopt selftest --device triton            those on the capture of Triton kernels; needs no GPU\n"
      "  accelopt selftest --refactor                 attacks on the gates of refactoring, in repositories of their "
      "own\n");
  auto options = std::make_shared<SelftestOptions>();
  command.option("--only", &options->request.only, "Names of the kernels or changes to try (default: all)");
  command.option("--exploits", &options->request.exploits,
                 "Folder with tasks/, attacks/ and honest/ (default: the built-in one)");
  command.flag("--refactor", options->refactor, "Changes of repositories instead of kernels");
  command.option("--tools", &options->tools, "With --refactor: a folder with programs that tasks need (repeatable)");
  command.flag("--json", options->json, "One JSON object per kernel or change, and one at the end (docs/json.md)");
  command.option("--seed", &options->request.seed, "Seed of the inputs (default: random)");
  declare(command, options->request.device);
  command.chosen([&chosen, options] { chosen = [options](app::Shell& shell) { return selftest(shell, *options); }; });
}

}  // namespace accelopt::cli
