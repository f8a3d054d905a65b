// SPDX-License-Identifier: Apache-2.0
// accelopt export: winners in others' forms.
#include <memory>

#include <fmt/format.h>

#include "app/dataset_export.hpp"
#include "app/nkibench.hpp"
#include "app/workspace.hpp"
#include "cli/command.hpp"
#include "report/text_width.hpp"

namespace accelopt::cli {
namespace {

struct ExportFlags {
  std::string run = "last";
  std::string workspace;
  app::DatasetExportOptions options;
};

base::Result<app::Winner> winner_of(const ExportFlags& flags) {
  TRY_ASSIGN(const auto journal, app::open_workspace(app::find_workspace(flags.workspace), journal::Access::read_only));
  return app::find_winner(*journal, flags.run);
}

base::Result<Exit> export_to_nkibench(const ExportFlags& flags) {
  TRY_ASSIGN(const app::Winner winner, winner_of(flags));
  TRY_ASSIGN(const auto report, app::export_nkibench(winner, flags.options.output));
  for (const std::filesystem::path& file : {report.kernel, report.summary})
    fmt::print("wrote {}\n", report::printable(file.string()));
  return Exit::done;
}

void add_run_choice(Command command, ExportFlags& flags) {
  command.option("run", &flags.run, "The run: an id, the beginning of one, or last (default: last)");
  command.option("--workspace", &flags.workspace, "Folder of the runs (default: the nearest .accelopt here or above)");
}

base::Result<Exit> export_to_dataset(const ExportFlags& flags) {
  TRY_ASSIGN(const app::Winner winner, winner_of(flags));
  TRY_ASSIGN(const auto report, app::export_dataset(winner, flags.options));
  for (const std::filesystem::path& file : report.files) fmt::print("wrote {}\n", report::printable(file.string()));
  for (const std::string& note : report.notes) fmt::print("note: {}\n", report::printable(note));
  fmt::print("solution {}\n", report.solution);
  return Exit::done;
}

void add_nkibench_export(Command exports, Action& chosen) {
  Command command = exports.add("nkibench", "Into the public NKI benchmark, as one more kernel of its case");
  auto flags = std::make_shared<ExportFlags>();
  add_run_choice(command, *flags);
  command
      .option("-o,--output", &flags->options.output,
              "A checkout, the benchmark's folder, or a new one: what is in it stays")
      .required();
  command.footer(
      "For runs of tasks that accelopt import nkibench made (docs/nki.md).\n"
      "Examples:\n"
      "  accelopt export nkibench last --output AccelOpt\n");
  command.chosen([&chosen, flags] { chosen = [flags](app::Shell&) { return export_to_nkibench(*flags); }; });
}

}  // namespace

void add_export(CommandLine& app, Action& chosen) {
  Command exports = app.add("export", "Write the winner of a run in another program's format");
  exports.footer(
      "Examples:\n"
      "  accelopt export flashinfer-trace last --output dataset\n"
      "  accelopt export nkibench last --output AccelOpt\n");
  Command command = exports.add("flashinfer-trace", "As a Solution and Traces of FlashInfer Trace");
  auto flags = std::make_shared<ExportFlags>();
  add_run_choice(command, *flags);
  command
      .option("-o,--output", &flags->options.output,
              "The data set's folder: its contents stay, except for an earlier export of the same winner")
      .required();
  command.option("--author", &flags->options.author, "Author of the Solution (default: accelopt)");
  command.footer(
      "What the format cannot express is listed (docs/flashinfer-trace.md).\n"
      "Examples:\n"
      "  accelopt export flashinfer-trace last --output dataset\n");
  command.chosen([&chosen, flags] { chosen = [flags](app::Shell&) { return export_to_dataset(*flags); }; });
  add_nkibench_export(exports, chosen);
}

}  // namespace accelopt::cli
