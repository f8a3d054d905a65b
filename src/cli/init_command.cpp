// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/scaffold/scaffold.hpp"
#include "syntax/clang.hpp"

namespace accelopt::cli {
namespace {

base::Result<Exit> init(ScaffoldOptions options) {
  if (options.folder.empty()) options.folder = options.function;
  TRY_ASSIGN(const syntax::Clang clang, syntax::Clang::load());
  TRY_ASSIGN(const ScaffoldReport report, scaffold_task(clang, options));
  for (const std::string& file : report.files) fmt::print("wrote {}\n", (report.folder / file).string());
  for (const std::string& note : report.notes) fmt::print("note: {}\n", note);
  for (const std::string& open : report.open) fmt::print("to be filled in: {}\n", open);
  fmt::print("next: {}accelopt lint {} && accelopt eval {}\n", report.open.empty() ? "" : "edit task.toml, then ",
             report.folder.string(), report.folder.string());
  return Exit::done;
}

}  // namespace

void add_init(CLI::App& app, Action& chosen) {
  CLI::App* command = app.add_subcommand("init", "Make a task folder from a function in your own file");
  command->footer(
      "Examples:\n"
      "  accelopt init src/rms.cpp --function rms --shape x=M,K --shape w=K,N --shape y=M,N --out y --axis M=64 \\\n"
      "      --axis K=1024 --axis N=2048 --output rms_task\n");
  auto options = std::make_shared<ScaffoldOptions>();
  command->add_option("file", options->file, "Your .c or .cpp file")->required();
  command->add_option("--function", options->function, "The function in it to make faster")->required();
  command->add_option("--shape", options->shapes, "NAME=AXIS,AXIS: axes of a pointer parameter, outermost first");
  command->add_option("--out", options->outputs, "A pointer parameter that the function writes");
  command->add_option("--axis", options->axes, "NAME=EXTENT in the raced workload");
  command->add_option("--constant", options->constants, "NAME=EXTENT: constant although a parameter has that name");
  command->add_option("--init", options->inits, "NAME=GENERATOR, e.g. \"x=normal(0, 1)\"");
  command->add_option("-o,--output", options->folder, "Folder to make (default: the function's name)");
  command->callback([&chosen, options] { chosen = [options](Shell&) { return init(*options); }; });
}

}  // namespace accelopt::cli
