// SPDX-License-Identifier: Apache-2.0
// accelopt import: others' data sets as task folders.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "app/nkibench.hpp"
#include "base/shell.hpp"
#include "cli/command.hpp"
#include "report/text_width.hpp"
#include "suites/flashinfer_trace/import.hpp"

namespace accelopt::cli {
namespace {

namespace flashinfer_trace = suites::flashinfer_trace;
using flashinfer_trace::ImportedTask;

struct ImportFlags {
  flashinfer_trace::ImportOptions import;
  std::optional<int> workloads;
};

/// Texts of a dataset may hold anything: each is shown on one line, without control characters.
std::string shown(const std::string& text) {
  return report::printable(text);
}

void print(const ImportedTask& task) {
  if (!task.refused.empty()) {
    fmt::print("{}: refused: {}\n", task.definition, shown(task.refused));
    return;
  }
  fmt::print("{}: wrote {}; {} of {} workloads, {} solutions\n", task.definition, task.folder.string(), task.workloads,
             task.workloads_there, task.solutions);
  if (task.left_out > 0)
    fmt::print("  note: {} more workloads were left out; --workloads 0 takes all\n", task.left_out);
  for (const std::string& lost : task.lost) fmt::print("  lost: workload {}\n", shown(lost));
  for (const std::string& note : task.notes) fmt::print("  note: {}\n", shown(note));
  for (const std::string& open : task.open) fmt::print("  to be filled in: {}\n", shown(open));
}

base::Result<Exit> import(const ImportFlags& flags) {
  flashinfer_trace::ImportOptions options = flags.import;
  if (flags.workloads) options.most_workloads = static_cast<std::size_t>(*flags.workloads);
  TRY_ASSIGN(const flashinfer_trace::ImportReport report, flashinfer_trace::import_dataset(options));
  const std::vector<std::string>& named = options.definitions;
  bool refused = false;
  for (const base::Problem& problem : report.problems) {
    const bool counts = named.empty() || std::ranges::find(named, problem.key) != named.end();
    refused = refused || counts;
    fmt::print("{}: {}\n", counts ? "refused" : "refused, elsewhere in the data set",
               shown(base::to_string(problem, "")));
  }
  std::size_t written = 0;
  std::size_t complete = 0;
  std::size_t workloads = 0;
  std::size_t workloads_there = 0;
  for (const ImportedTask& task : report.tasks) {
    print(task);
    workloads_there += task.workloads_there;
    if (!task.refused.empty()) continue;
    ++written;
    workloads += task.workloads + task.left_out;
    if (task.open.empty()) ++complete;
  }
  fmt::print(
      "{} of {} definitions written, {} of them complete; {} of {} workloads can be imported; {} files or lines "
      "refused\n",
      written, report.tasks.size(), complete, workloads, workloads_there, report.problems.size());
  const auto first = std::ranges::find_if(report.tasks, [](const ImportedTask& task) { return task.refused.empty(); });
  if (first != report.tasks.end()) fmt::print("next: accelopt lint {}\n", base::shell_word(first->folder.string()));
  return written == report.tasks.size() && written > 0 && !refused ? Exit::done : Exit::check_failed;
}

base::Result<Exit> import_nkibench(const suites::nkibench::ImportOptions& options) {
  TRY_ASSIGN(const suites::nkibench::ImportReport report, app::import_nkibench(options));
  for (const std::string& problem : report.problems) fmt::print("refused: {}\n", shown(problem));
  const std::filesystem::path* first = nullptr;
  std::size_t written = 0;
  for (const suites::nkibench::ImportedTask& task : report.tasks) {
    if (!task.refused.empty()) {
      fmt::print("{}: refused: {}\n", shown(task.name), shown(task.refused));
      continue;
    }
    ++written;
    if (first == nullptr) first = &task.folder;
    fmt::print("{}: wrote {}\n", shown(task.name), shown(task.folder.string()));
  }
  fmt::print("{} of {} cases written\n", written, report.tasks.size());
  if (first != nullptr)
    fmt::print("next: accelopt eval {} --device trn1:model\n", shown(base::shell_word(first->string())));
  return written > 0 && written == report.tasks.size() && report.problems.empty() ? Exit::done : Exit::check_failed;
}

void add_nkibench_import(Command imports, Action& chosen) {
  Command command = imports.add("nkibench", "From a checkout of the public NKI benchmark");
  auto options = std::make_shared<suites::nkibench::ImportOptions>();
  command.option("checkout", &options->checkout, "The checkout, or the folder with summary.json in it").required();
  command.option("--operator", &options->operators, "Only this operator (default: all)");
  command.option("-o,--output", &options->output, "Folder for the task folders, one per case").required();
  command.flag("--force", options->replaces, "Write into folders that are not empty");
  command.footer(
      "Its kernels become baselines; references are our own. Exit code 5 if anything was refused (docs/nki.md).\n"
      "Examples:\n"
      "  accelopt import nkibench AccelOpt --operator silu --output tasks\n");
  command.chosen([&chosen, options] { chosen = [options](app::Shell&) { return import_nkibench(*options); }; });
}

}  // namespace

void add_import(CommandLine& app, Action& chosen) {
  Command imports = app.add("import", "Make task folders from public data sets");
  imports.footer(
      "Examples:\n"
      "  accelopt import flashinfer-trace dataset --definition rmsnorm_h128 --output tasks\n"
      "  accelopt import nkibench AccelOpt --output tasks\n");
  Command command = imports.add("flashinfer-trace", "From a folder of FlashInfer Trace, or of SOL-ExecBench");
  auto flags = std::make_shared<ImportFlags>();
  command.option("dataset", &flags->import.dataset, "The data set's folder").required();
  command.option("--definition", &flags->import.definitions, "Only this definition (default: all)");
  command.option("--solution", &flags->import.solution,
                 "The solution that becomes the baseline (default: the fastest on record, else the first)");
  command.option("-o,--output", &flags->import.output, "Folder for the task folders, one per definition").required();
  command.option("--workloads", &flags->workloads, "Maximum number per definition, chosen by size (default 6; 0: all)")
      .at_least(0);
  command.flag("--force", flags->import.replaces, "Write into folders that are not empty");
  command.footer(
      "What cannot be imported is listed; exit code 5 if anything was refused (docs/flashinfer-trace.md).\n"
      "Examples:\n"
      "  accelopt import flashinfer-trace dataset --definition rmsnorm_h128 --output tasks\n");
  command.chosen([&chosen, flags] { chosen = [flags](app::Shell&) { return import(*flags); }; });
  add_nkibench_import(imports, chosen);
}

}  // namespace accelopt::cli
