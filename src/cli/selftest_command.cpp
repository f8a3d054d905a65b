// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "app/selftest.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "sandbox/probe.hpp"

namespace accelopt::cli {
namespace {

struct SelftestOptions {
  app::SelftestRequest request;
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

base::Result<Exit> selftest(app::Shell& shell, const SelftestOptions& options) {
  if (const auto usable = app::check(options.request.device); !usable) return refuse_options(usable.error());
  TRY_ASSIGN(const app::SelftestSuite suite, app::selftest_suite(options.request));
  if (!options.json) {
    fmt::print("sandbox: {}\n", sandbox::isolation());
    for (const sandbox::Layer& layer : sandbox::layers()) {
      if (layer.state != sandbox::LayerState::present)
        fmt::print("{} is {}: {}\n", layer.name, sandbox::to_string(layer.state), layer.costs);
    }
    fmt::print("\n");
  }
  TRY_ASSIGN(const app::SelftestTally tally,
             app::run_selftest(shell, options.request, suite,
                               [&](const app::SelftestOutcome& outcome) { print(outcome, options); }));
  if (options.json) {
    fmt::print("{}\n", base::canonical(to_json(tally)));
  } else {
    fmt::print("\n{} of {} exploits caught, {} of {} honest kernels passed", tally.caught, tally.attacks, tally.passed,
               tally.honest);
    if (tally.skipped > 0) fmt::print(", {} skipped", tally.skipped);
    fmt::print(" ({:.0f} s)\n", tally.seconds);
  }
  return tally.all() ? Exit::done : Exit::check_failed;
}

}  // namespace

void add_selftest(CommandLine& app, Action& chosen) {
  Command command = app.add("selftest", "Try to cheat this machine's evaluation in every known way");
  command.footer(
      "Examples:\n"
      "  accelopt selftest                            every attack must be caught, every honest kernel must pass\n"
      "  accelopt selftest --only replay_by_pointer   one of them\n"
      "  accelopt selftest --device cuda:0            the attacks and honest kernels for GPUs\n"
      "  accelopt selftest --device triton            those on the capture of Triton kernels; needs no GPU\n");
  auto options = std::make_shared<SelftestOptions>();
  command.option("--only", &options->request.only, "Names of the kernels to try (default: all)");
  command.option("--exploits", &options->request.exploits,
                 "Folder with tasks/, attacks/ and honest/ (default: the built-in one)");
  command.flag("--json", options->json, "One JSON object a kernel, and one at the end (docs/json.md)");
  command.option("--seed", &options->request.seed, "Of the inputs (default: drawn)");
  declare(command, options->request.device);
  command.chosen([&chosen, options] { chosen = [options](app::Shell& shell) { return selftest(shell, *options); }; });
}

}  // namespace accelopt::cli
