// SPDX-License-Identifier: Apache-2.0
// Whether captured solutions compute what their own functions compute by PyTorch, bit for bit, on one set of inputs of
// each workload: of autotuned ones each configuration, until one is the same (one that leaves outputs unwritten is
// never). Neither verified nor raced: what a task's reference says of them does not matter here. Needs a device, Triton
// and PyTorch.
//
//   host_bits TASK FILE... [--device cuda:N]
//
// One JSON object a solution and workload; exit status 1 where one is not the same.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/json.hpp"
#include "evaluation/verify/slots.hpp"
#include "model/kernel.hpp"
#include "model/tuning.hpp"
#include "suites/task_folder.hpp"
#include "targets/registry.hpp"

namespace accelopt::bench {
namespace {

namespace fs = std::filesystem;
using base::Json;
using Clock = std::chrono::steady_clock;

struct Options {
  int device = 0;
  fs::path task;
  std::vector<fs::path> files;
};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void print(const Json& line) {
  std::printf("%s\n", base::canonical(line).c_str());
  std::fflush(stdout);
}

evaluation::Environment environment() {
  evaluation::Environment out;
  for (const targets::Entry& entry : targets::registry()) {
    for (const std::string& name : entry.variables) {
      const char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nobody sets variables
      if (value != nullptr) out[name] = value;
    }
  }
  return out;
}

base::Result<model::Kernel> kernel_of(const fs::path& file, const model::Task& task) {
  model::Solution solution;
  TRY_ASSIGN(solution.language, model::language_of_file(file.string(), model::target_of(task)));
  TRY_ASSIGN(std::string text, base::read_file(file));
  solution.sources = {{file.filename().string(), std::move(text)}};
  return model::Kernel(std::move(solution));
}

/// The kernel, of an autotuned one with each of its first configurations.
base::Result<std::vector<model::Kernel>> forms_of(evaluation::Target& target, const model::Kernel& kernel) {
  constexpr std::size_t kMostForms = 6;
  TRY_ASSIGN(const model::TuningSpace space, target.found_space(kernel, {}));
  std::vector<model::Kernel> out;
  for (const model::TuningValues& values : space.configurations) {
    auto fixed = kernel.with_values(values);
    if (fixed && out.size() < kMostForms) out.push_back(std::move(*fixed));
  }
  if (out.empty()) out.push_back(kernel);
  return out;
}

/// What the device and PyTorch make of the kernel, as a line's fields.
base::Result<Json> compared(evaluation::Target& target, const model::Kernel& kernel,
                            const evaluation::Invocation& invocation) {
  const auto begin = Clock::now();
  TRY_ASSIGN(const model::BuildReport report, target.build(kernel, {}));
  Json out = {{"build_seconds", seconds_since(begin)}, {"same", false}};
  if (!report.built) {
    out["error"] = report.diagnostics;
    return out;
  }
  const auto began = Clock::now();
  const auto run = target.host_run(kernel, invocation, {});
  out["seconds"] = seconds_since(began);
  if (!run) {
    out["error"] = run.error().message;
    return out;
  }
  out["same"] = run->differences.empty();
  out["differences"] = run->differences;
  out["host_us"] = run->call_us;
  out["where"] = run->where;
  return out;
}

/// Prints a line a workload. False: something differs, or was not found out.
base::Result<bool> compare(evaluation::Target& target, evaluation::Slots& slots, const model::Task& task,
                           const fs::path& file) {
  TRY_ASSIGN(const model::Kernel kernel, kernel_of(file, task));
  TRY_ASSIGN(const std::vector<model::Kernel> forms, forms_of(target, kernel));
  bool all_same = true;
  for (std::size_t workload = 0; workload < task.workloads.size(); ++workload) {
    TRY_ASSIGN(const evaluation::Slot* const slot, slots.get(workload, 0));
    Json line = Json::object();
    for (std::size_t i = 0; i < forms.size() && !line.value("same", false); ++i) {
      TRY_ASSIGN(line, compared(target, forms[i], slot->invocation));
      line["configuration"] = i;
    }
    line["file"] = file.filename().string();
    line["workload"] = task.workloads[workload].name;
    all_same = all_same && line["same"].get<bool>();
    print(line);
  }
  return all_same;
}

base::Result<int> run(const Options& options) {
  TRY_ASSIGN(const model::Task task, suites::load_task(options.task));
  const targets::Entry* const entry = targets::find_entry("cuda");
  if (entry == nullptr) return base::fail(base::ErrorCode::unsupported, "this program knows no CUDA device");
  const char* const cache = std::getenv("XDG_CACHE_HOME");  // NOLINT(concurrency-mt-unsafe): nobody sets variables
  const auto target = entry->make({"cuda:" + std::to_string(options.device), options.device, "",
                                   cache == nullptr ? fs::path() : fs::path(cache) / "accelopt", environment()});
  const auto begin = Clock::now();
  evaluation::MeasureSettings settings;
  settings.seed = 1;
  TRY(target->open(task, settings, {}));
  if (const std::string why = target->builds_only(); !why.empty()) return base::fail(base::ErrorCode::unsupported, why);
  print({{"task", task.definition.name}, {"open_seconds", seconds_since(begin)}});
  evaluation::Slots slots(*target, task, settings.seed, settings.slots);
  bool all_same = true;
  for (const fs::path& file : options.files) {
    TRY_ASSIGN(const bool same, compare(*target, slots, task, file));
    all_same = all_same && same;
  }
  return all_same ? 0 : 1;
}

}  // namespace
}  // namespace accelopt::bench

int main(int argc, char** argv) {
  accelopt::bench::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--device" && i + 1 < argc) {
      options.device = std::atoi(std::string(argv[++i]).substr(5).c_str());
    } else if (options.task.empty()) {
      options.task = word;
    } else {
      options.files.emplace_back(word);
    }
  }
  if (options.files.empty()) {
    std::fprintf(stderr, "usage: host_bits TASK FILE... [--device cuda:N]\n");
    return 2;
  }
  const auto done = accelopt::bench::run(options);
  if (done) return *done;
  std::fprintf(stderr, "host_bits: %s\n", done.error().message.c_str());
  return 2;
}
