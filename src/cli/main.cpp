// SPDX-License-Identifier: Apache-2.0
// The only place that turns errors into exit codes.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "app/version.hpp"
#include "cli/command.hpp"
#include "cli/environment.hpp"
#include "cli/signals.hpp"
#include "report/text_width.hpp"

namespace accelopt::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  accelopt run suites/nkibench-cpu/matmul         make a bundled kernel faster; no key, no GPU\n"
    "  accelopt init kernel.cpp --function f --shape x=M,K --out y --axis M=64\n"
    "  accelopt best --output faster                   the winner as a task folder, and as a patch of your file\n"
    "\n"
    "Exit codes: 0 done, 1 error, 2 usage, 3 no gain found, 4 a budget ended it without a gain, 5 a check failed,\n"
    "6 waiting for answers or a bundle, 130 interrupted.\n";

std::string own_path() {
  std::error_code problem;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", problem);
  return problem ? "accelopt" : path.string();
}

int run(int argc, char** argv) {
  // At Ctrl-C, what keeps what it has found winds down; what measures and keeps nothing stops at once, and takes its
  // workers with it; the others just end, as programs do.
  enum class CtrlC { ends, stops, winds_down };
  struct Part {
    void (*add)(CommandLine&, Action&);
    CtrlC at_signal = CtrlC::ends;
    Action chosen{};
  };
  CommandLine app("Makes a compute kernel faster, and proves it.", kFooter, app::kVersion);
  std::array parts{Part{add_init},
                   Part{add_lint, CtrlC::stops},
                   Part{add_import},
                   Part{add_doctor, CtrlC::winds_down},
                   Part{add_estimate},
                   Part{add_run, CtrlC::winds_down},
                   Part{add_resume, CtrlC::winds_down},
                   Part{add_watch, CtrlC::winds_down},
                   Part{add_stop},
                   Part{add_steer},
                   Part{add_replay, CtrlC::winds_down},
                   Part{add_runs},
                   Part{add_show},
                   Part{add_explain},
                   Part{add_report},
                   Part{add_best, CtrlC::stops},
                   Part{add_diff},
                   Part{add_export},
                   Part{add_evidence, CtrlC::winds_down},
                   Part{add_verify, CtrlC::winds_down},
                   Part{add_memory},
                   Part{add_eval, CtrlC::stops},
                   Part{add_bench, CtrlC::winds_down},
                   Part{add_ablate, CtrlC::winds_down},
                   Part{add_selftest, CtrlC::stops},
                   Part{add_refactor, CtrlC::winds_down},
                   Part{add_review, CtrlC::winds_down},
                   Part{add_reviewer},
                   Part{add_worker, CtrlC::winds_down},
                   Part{add_mcp, CtrlC::winds_down},
                   Part{add_serve, CtrlC::winds_down},
                   Part{add_config},
                   Part{add_gc},
                   Part{add_completion}};
  for (Part& part : parts) part.add(app, part.chosen);
  if (argc == 1) {
    fmt::print("{}", app.help());
    return static_cast<int>(Exit::usage);
  }
  if (const auto code = app.parse(argc, argv, static_cast<int>(Exit::usage))) return *code;
  const auto part = std::ranges::find_if(parts, [](const Part& it) { return it.chosen != nullptr; });
  tell_failed_writes();
  app::Shell shell{
      .program = own_path(), .stops = {}, .environment = environment(), .warn = [](const std::string& text) {
        fmt::print(stderr, "accelopt: {}\n", report::printable_lines(text));
      }};
  if (part->at_signal != CtrlC::ends) shell.stops = watch_signals();
  if (part->at_signal == CtrlC::stops) {
    say_on_stop("stopping");
    shell.stops.abort = shell.stops.wind_down;
  }
  auto exit = part->chosen(shell);
  if (exit) return static_cast<int>(*exit);
  std::fflush(stdout);
  fmt::print(stderr, "accelopt: {}\n", report::printable_lines(exit.error().message));
  return static_cast<int>(exit.error().code == base::ErrorCode::cancelled ? Exit::interrupted : Exit::error);
}

}  // namespace

/// Says on stderr why the output could not be written; `number`: errno. A full disk gets its advice.
static void tell_lost_output(int number) {
  const bool full = number == ENOSPC || number == EDQUOT || number == EFBIG;
  std::fprintf(stderr, "accelopt: the output could not be written: %s%s\n", std::strerror(number),
               full ? "; free space on this disk: nothing that was recorded is lost; see `accelopt show`" : "");
}

}  // namespace accelopt::cli

int main(int argc, char** argv) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);  // keys that this process holds belong in no file
  try {
    const int exit = accelopt::cli::run(argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit;
    accelopt::cli::tell_lost_output(errno);
    return exit == 0 ? 1 : exit;
  } catch (const std::system_error& problem) {
    // What is thrown where standard output is closed or its disk is full.
    accelopt::cli::tell_lost_output(problem.code().value());
    return 1;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "accelopt: a bug in accelopt: unexpected exception: %s; please report it\n", problem.what());
    return 1;
  }
}
