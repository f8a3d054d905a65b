// SPDX-License-Identifier: Apache-2.0
// What a verdict on an NKI kernel costs at the sizes of the public NKI benchmark, of which CHECKOUT is a user's copy:
// its fourteen kernels as candidates, each from its source to its verdict and its profile, against themselves. The
// task is open by then, so that inputs and references are there. Each kernel is judged several times as kernels of
// different sources, in a worker as a run has it; of its times the median is taken. Memory is the most that the worker
// and its processes had at once, opening of the task included.
//
//   nki_verdicts CHECKOUT [--only OPERATOR]... [--candidates N] [--accelopt FILE]
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/files.hpp"
#include "figures.hpp"
#include "stats/estimate.hpp"
#include "suites/nkibench/import.hpp"
#include "suites/task_folder.hpp"
#include "worker/pool.hpp"

namespace accelopt::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kMostMedianSeconds = 2;
constexpr double kMostSeconds = 12;
constexpr double kMostMebibytes = 4096;
constexpr std::chrono::milliseconds kBetweenLooks{10};

struct Options {
  fs::path checkout;
  std::vector<std::string> only;
  int candidates = 3;
  fs::path accelopt = ACCELOPT_PROGRAM;
};

[[noreturn]] void usage() {
  std::fprintf(stderr, "usage: nki_verdicts CHECKOUT [--only OPERATOR]... [--candidates N] [--accelopt FILE]\n");
  std::exit(2);
}

Options read_options(const std::vector<std::string>& words) {
  Options out;
  if (words.empty() || words[0].starts_with("-") || words.size() % 2 == 0) usage();
  out.checkout = words[0];
  for (std::size_t i = 1; i < words.size(); i += 2) {
    if (words[i] == "--only") {
      out.only.push_back(words[i + 1]);
    } else if (words[i] == "--candidates") {
      out.candidates = std::atoi(words[i + 1].c_str());
    } else if (words[i] == "--accelopt") {
      out.accelopt = words[i + 1];
    } else {
      usage();
    }
  }
  if (out.candidates < 1) usage();
  return out;
}

/// What this process's descendants have.
struct Use {
  double mebibytes = 0;  ///< of their own: pages of files are not counted, shared memory is with each that has it
  double seconds = 0;    ///< of processors, with those that have ended
};

/// Of a process, which may end at any time.
std::string text_of(const fs::path& file) {
  return base::read_file(file).value_or("");
}

/// Calls `visit(pid)` for the children of all threads of a process.
template <class Visit>
void for_children(const fs::path& process, Visit visit) {
  std::error_code gone;
  for (fs::directory_iterator task(process / "task", gone), end; !gone && task != end; task.increment(gone)) {
    std::istringstream children(text_of(task->path() / "children"));
    for (std::string child; children >> child;) visit(child);
  }
}

void add_use(const std::string& pid, Use& use) {
  const fs::path folder = fs::path("/proc") / pid;
  std::istringstream status(text_of(folder / "status"));
  for (std::string name, value, unit; status >> name;) {
    if (name != "RssAnon:" && name != "RssShmem:") continue;
    status >> value;
    use.mebibytes += std::atof(value.c_str()) / 1024;
  }
  const std::string stat = text_of(folder / "stat");
  std::istringstream fields(stat.substr(std::min(stat.size(), stat.rfind(')') + 2)));
  const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  std::string field;
  for (int number = 3; number <= 17 && fields >> field; ++number) {  // utime, stime, cutime, cstime: 14 to 17
    if (number >= 14) use.seconds += std::atof(field.c_str()) / ticks;
  }
  for_children(folder, [&](const std::string& child) { add_use(child, use); });
}

Use use_of_descendants() {
  Use all;
  for_children("/proc/self", [&](const std::string& child) { add_use(child, all); });
  return all;
}

/// The most that the descendants had at once, as far as a look every few milliseconds sees it.
class Watch {
 public:
  Watch()
      : thread_([this](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            most_ = std::max(most_.load(), use_of_descendants().mebibytes);
            std::this_thread::sleep_for(kBetweenLooks);
          }
        }) {}
  [[nodiscard]] double most_mebibytes() const { return most_; }

 private:
  std::atomic<double> most_{0};
  std::jthread thread_;
};

struct Row {
  double seconds = 0;
  double processor_seconds = 0;
  double mebibytes = 0;
};

base::Result<Row> judge(const Options& options, const suites::nkibench::ImportedTask& imported) {
  TRY_ASSIGN(const model::Task task, suites::load_task(imported.folder));
  const Watch watch;
  const auto pool =
      worker::make_worker_pool({.workers = {{{options.accelopt.string(), "worker", "--device", "trn1:model"}}}});
  const auto opening = Clock::now();
  TRY(base::as_result(pool->ask(evaluation::Open{task, {}}, {})));
  const double opened = std::chrono::duration<double>(Clock::now() - opening).count();
  std::vector<double> seconds;
  std::vector<double> busy;
  for (int i = 0; i < options.candidates; ++i) {
    const model::Kernel candidate(model::with_main_text(
        task.baseline, model::main_text(task.baseline) + "\nanother_candidate = " + std::to_string(i) + "\n"));
    const double before = use_of_descendants().seconds;
    const auto begin = Clock::now();
    TRY_ASSIGN(const auto built, base::as_result(pool->ask(evaluation::Build{candidate}, {})));
    if (!built.built) return base::fail(base::ErrorCode::invalid_argument, built.diagnostics);
    TRY_ASSIGN(const auto verdict,
               base::as_result(pool->ask(evaluation::Race{candidate, model::Kernel(task.baseline)}, {})));
    if (verdict.status != model::Status::passed)
      return base::fail(base::ErrorCode::invalid_argument, imported.name + ": " + verdict.reason);
    TRY(base::as_result(pool->ask(evaluation::Profile{candidate}, {})));
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    busy.push_back(use_of_descendants().seconds - before);
  }
  const Row out{stats::median(seconds), stats::median(busy), watch.most_mebibytes()};
  std::printf("%-24s verdict %5.2f s, least %5.2f, processors %5.2f s; memory %5.0f MiB; opened in %.1f s\n",
              imported.name.c_str(), out.seconds, *std::min_element(seconds.begin(), seconds.end()),
              out.processor_seconds, out.mebibytes, opened);
  std::fflush(stdout);
  return out;
}

base::Result<int> run(const Options& options) {
  TRY_ASSIGN(const auto work, base::TemporaryFolder::create("accelopt-bench"));
  TRY_ASSIGN(const auto report, suites::nkibench::import_benchmark({.checkout = options.checkout,
                                                                    .operators = options.only,
                                                                    .output = work.path() / "tasks",
                                                                    .target = "trainium"}));
  std::vector<double> seconds;
  std::vector<double> busy;
  double most = 0;
  for (const suites::nkibench::ImportedTask& imported : report.tasks) {
    if (!imported.refused.empty()) return base::fail(base::ErrorCode::unsupported, imported.refused);
    TRY_ASSIGN(const Row row, judge(options, imported));
    seconds.push_back(row.seconds);
    busy.push_back(row.processor_seconds);
    most = std::max(most, row.mebibytes);
  }
  if (seconds.empty()) usage();
  Figures figures;
  figures.report("verdict, median", stats::median(seconds), Bound::at_most, kMostMedianSeconds, "s");
  figures.report("verdict, worst", *std::max_element(seconds.begin(), seconds.end()), Bound::at_most, kMostSeconds,
                 "s");
  std::printf("# of processors, which a busy machine does not lengthen as much: median %.2f s, worst %.2f s\n",
              stats::median(busy), *std::max_element(busy.begin(), busy.end()));
  figures.report("memory, most", most, Bound::at_most, kMostMebibytes, "MiB");
  return figures.exit_status();
}

}  // namespace
}  // namespace accelopt::bench

int main(int argc, char** argv) {
  using namespace accelopt::bench;
  const auto status = run(read_options(std::vector<std::string>(argv + 1, argv + argc)));
  if (status) return *status;
  std::fprintf(stderr, "nki_verdicts: %s\n", status.error().message.c_str());
  return 1;
}
