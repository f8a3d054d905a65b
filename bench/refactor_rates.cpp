// SPDX-License-Identifier: Apache-2.0
// How often the race and the confirmation of a refactoring are wrong: identical code that is called faster, a change of
// 5 % that is not found, start-up that is credited. Each check is a fresh race under a seed of its own, on a repository
// in C that is made for it.
//
//     refactor_rates [--identical 200] [--different 40] [--start-up 20] [--ms 200]
#include <cstdlib>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "figures.hpp"
#include "refactor/checker.hpp"
#include "targets/cpu/machine_hold.hpp"
#include "vcs/git.hpp"

namespace {

namespace fs = std::filesystem;
using accelopt::base::Result;
namespace base = accelopt::base;
namespace refactor = accelopt::refactor;

struct Knobs {
  int identical = 200;
  int different = 40;
  int start_up = 20;
  int ms = 200;  ///< that one run of the raced size takes, about, on this machine
};

constexpr const char* kToml = R"(schema = 1
kind = "refactor"
name = "rates"
repository = ".."
language = "c"
goal = "time"
scope = ["work.c"]

[commands]
build = ["cc", "-O2", "-o", "accelopt-driver", "work.c"]

[driver]
cases = ["python3", "{task}/cases.py", "{seed}", "{size}", "{out}"]
run = ["./accelopt-driver", "{cases}", "{results}"]
compare = "bytes"

[[workloads]]
name = "steps"
)";
constexpr const char* kCases = R"(import sys
with open(sys.argv[3], "w") as file:
    print(sys.argv[1], sys.argv[2], file=file)
)";

/// Counts `size` times a thousand steps, and for every hundred of them as many more of which nothing comes as `waste`
/// says; `early` thousands of steps before main.
std::string source_of(int waste, int early, const char* comment) {
  return fmt::format(R"(#include <stdio.h>
#include <stdlib.h>

static unsigned long long mixed(unsigned long long state, long steps) {{
  for (long i = 0; i < steps; i++) state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return state;
}}

static volatile unsigned long long sink;

/* {} */
__attribute__((constructor)) static void begin(void) {{ sink = mixed(1, {}000L); }}

int main(int argc, char **argv) {{
  unsigned long long seed = 0;
  long size = 0;
  FILE *in = fopen(argv[argc - 2], "r");
  if (in == NULL || fscanf(in, "%llu %ld", &seed, &size) != 2) return 2;
  for (long i = 0; i < size; i++) {{
    seed = mixed(seed, 1000);
    sink = mixed(seed, {}0L);
  }}
  FILE *out = fopen(argv[argc - 1], "w");
  if (out == NULL) return 3;
  fprintf(out, "%llu\n", seed);
  return fclose(out) == 0 ? 0 : 1;
}}
)",
                     comment, early, waste);
}

struct Place {
  base::TemporaryFolder own;
  std::unique_ptr<refactor::Checker> checker;
};

/// A repository whose code wastes 5 % and takes its time to start, prepared.
Result<Place> prepare(std::int64_t size, int early) {
  TRY_ASSIGN(auto own, base::TemporaryFolder::create("accelopt-rates"));
  const fs::path folder = own.path() / "rates";
  TRY(base::make_folders(folder / "accelopt"));
  TRY(base::write_file(folder / "work.c", source_of(5, early, "as it was")));
  TRY(base::write_file(folder / "accelopt" / "cases.py", kCases));
  TRY(base::write_file(folder / "accelopt" / "refactor.toml",
                       fmt::format("{}sizes = [{}, {}]\nrole = \"race\"\n", kToml, size / 4, size)));
  TRY(accelopt::vcs::Repository::make(folder, "rates"));
  TRY_ASSIGN(const refactor::Task task, refactor::load_task(folder / "accelopt"));
  TRY_ASSIGN(auto hold, accelopt::targets::cpu::machine_hold({}, {}));
  TRY_ASSIGN(auto checker,
             refactor::Checker::prepare(task, {.seed = base::random_seed() >> 16U, .hold = std::move(hold)}));
  return Place{std::move(own), std::move(checker)};
}

struct Rate {
  int faster = 0;
  int checks = 0;
  int slower = 0;
  [[nodiscard]] double share() const { return checks == 0 ? 0 : static_cast<double>(faster) / checks; }
};

/// Race and confirmation of the same change, again and again. What the gates before them ask has no part in it.
Result<Rate> rate_of(refactor::Checker& checker, const std::string& source, int checks) {
  TRY_ASSIGN(const std::string tree, checker.repository().with_files(checker.base_tree(), {{"work.c", source}}));
  Rate rate;
  const refactor::CheckResult base = checker.base_itself();
  for (; rate.checks < checks; ++rate.checks) {
    TRY_ASSIGN(refactor::CheckResult change, checker.build(tree));
    TRY_ASSIGN(const auto raced, checker.race(base, change));
    if (raced.decision.verdict == accelopt::stats::RaceVerdict::slower) ++rate.slower;
    if (raced.decision.verdict == accelopt::stats::RaceVerdict::faster) {
      TRY(checker.confirm(change));
      if (change.verdict == refactor::Verdict::better) ++rate.faster;
    }
    checker.drop(change);
    std::fprintf(stderr, "\r%d of %d, %d faster ", rate.checks + 1, checks, rate.faster);
  }
  std::fprintf(stderr, "\n");
  return rate;
}

std::string load() {
  double loads[3] = {};
  if (::getloadavg(loads, 3) != 3) return "unknown";
  return fmt::format("{:.1f}, {:.1f}, {:.1f}", loads[0], loads[1], loads[2]);
}

Result<int> measure(const Knobs& knobs) {
  accelopt::bench::Figures figures;
  std::printf("load at the beginning: %s\n", load().c_str());
  // A thousand steps take about a microsecond and a bit; the first run says how long exactly.
  constexpr std::int64_t kTrialSize = 100'000;
  TRY_ASSIGN(Place trial, prepare(kTrialSize, 0));
  const double seconds = trial.checker->base_times().back().seconds;
  const auto size = static_cast<std::int64_t>(static_cast<double>(kTrialSize) * knobs.ms / 1e3 / seconds);
  TRY_ASSIGN(Place place, prepare(std::max<std::int64_t>(size, 8), 0));
  std::printf("a run takes %.0f ms\n", 1e3 * place.checker->base_times().back().seconds);
  TRY_ASSIGN(const Rate same, rate_of(*place.checker, source_of(5, 0, "as it is"), knobs.identical));
  if (same.checks > 0) {
    figures.report(fmt::format("identical code called faster, {} checks", same.checks), same.share(),
                   accelopt::bench::Bound::at_most, 0.01);
    std::printf("identical code called slower in the race: %d of %d\n", same.slower, same.checks);
  }
  TRY_ASSIGN(const Rate better, rate_of(*place.checker, source_of(0, 0, "without waste"), knobs.different));
  if (better.checks > 0)
    figures.report(fmt::format("5 % found, {} checks", better.checks), better.share(), accelopt::bench::Bound::at_least,
                   0.9);
  // A start-up of a third of the run, which the change leaves out.
  TRY_ASSIGN(Place slow_start, prepare(std::max<std::int64_t>(size, 8), static_cast<int>(size / 3)));
  TRY_ASSIGN(const Rate started, rate_of(*slow_start.checker, source_of(5, 0, "starts at once"), knobs.start_up));
  if (started.checks > 0)
    figures.report(fmt::format("a shorter start-up called faster, {} checks", started.checks), started.share(),
                   accelopt::bench::Bound::at_most, 0);
  std::printf("load at the end: %s\n", load().c_str());
  return figures.exit_status();
}

}  // namespace

int main(int argc, char** argv) {
  Knobs knobs;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    int* const knob = name == "--identical"   ? &knobs.identical
                      : name == "--different" ? &knobs.different
                      : name == "--start-up"  ? &knobs.start_up
                      : name == "--ms"        ? &knobs.ms
                                              : nullptr;
    char* end = nullptr;
    const long value = i + 1 < argc ? std::strtol(argv[i + 1], &end, 10) : -1;
    if (knob == nullptr || value < 0 || value > 100'000 || *end != '\0' || (knob == &knobs.ms && value == 0)) {
      std::fprintf(stderr, "usage: refactor_rates [--identical N] [--different N] [--start-up N] [--ms N]\n");
      return 2;
    }
    *knob = static_cast<int>(value);
  }
  const auto status = measure(knobs);
  if (status) return *status;
  std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return 2;
}
