// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "app/patch_trial.hpp"
#include "base/shell.hpp"
#include "cli/command.hpp"
#include "scaffold/scaffold.hpp"
#include "syntax/clang.hpp"

namespace accelopt::cli {
namespace {

base::Result<Exit> init(const app::Shell& shell, scaffold::ScaffoldOptions options) {
  if (options.folder.empty()) options.folder = scaffold::plain_name(options.function);
  const auto extension = options.file.extension();
  syntax::Clang clang = syntax::Clang::none();
  if (extension != ".py" && extension != ".cu") {
    TRY_ASSIGN(clang, syntax::Clang::load());
  }
  TRY_ASSIGN(const scaffold::ScaffoldReport report, scaffold::scaffold_task(clang, options));
  for (const std::string& file : report.files) fmt::print("wrote {}\n", (report.folder / file).string());
  for (const std::string& note : report.notes) fmt::print("note: {}\n", note);
  if (report.task.entry) {
    TRY_ASSIGN(const scaffold::PatchCheck trial, app::try_patch(shell, "", report.task, report.folder));
    if (trial.fate == scaffold::PatchFate::broken)
      fmt::print("warning: no patch of your file is possible: {}\n", trial.reason);
    if (trial.fate == scaffold::PatchFate::unchecked)
      fmt::print("note: a patch of your file cannot be checked: {}\n", trial.reason);
  }
  for (const std::string& open : report.open) fmt::print("to be filled in: {}\n", open);
  const std::string folder = base::shell_word(report.folder.string());
  fmt::print("next: {}accelopt lint {} && accelopt eval {}\n", report.open.empty() ? "" : "fill these in, then ",
             folder, folder);
  return Exit::done;
}

}  // namespace

void add_init(CommandLine& app, Action& chosen) {
  Command command = app.add("init", "Make a task folder from a function or an operator in your own file");
  command.footer(
      "Examples:\n"
      "  accelopt init src/rms.cpp --function rms --shape x=M,K --shape w=K,N --shape y=M,N --out y --axis M=64 \\\n"
      "      --axis K=1024 --axis N=2048 --output rms_task\n"
      "  accelopt init norm.py --function rmsnorm --reference rmsnorm_torch \\\n"
      "      --example 'x: float16[M=4096, K=512], w: float16[K] -> y: float16[M, K]'\n"
      "  accelopt init scale.cu --function scale --example 'x: float32[N=1048576] -> y: float32[N]'\n");
  auto options = std::make_shared<scaffold::ScaffoldOptions>();
  command
      .option("file", &options->file,
              "Your .c or .cpp file, a .py file with an operator of PyTorch in Triton, or a .cu file")
      .required();
  command
      .option("--function", &options->function,
              "The function in it to make faster: f, a::f in a namespace, Class::f when static")
      .required();
  scaffold::StatedTexts& stated = options->stated;
  command.option("--shape", &stated.shapes,
                 "NAME=AXIS,AXIS: axes of a parameter, outermost first; an axis may be an expression over others, like "
                 "y=len+taps");
  command.option("--out", &stated.outputs, "A parameter that the function writes, whatever it held before");
  command.option("--inout", &stated.inouts, "A parameter that the function reads and changes in place");
  command.option("--axis", &stated.axes, "NAME=EXTENT in the raced workload");
  command.option("--constant", &stated.constants, "NAME=EXTENT: constant although a parameter has that name");
  command.option("--init", &stated.inits, "NAME=GENERATOR, e.g. \"x=normal(0, 1)\"");
  command.option("--ties", &stated.ties,
                 "INDICES=VALUES: an output of indices that follow from comparing VALUES: another output, or what only "
                 "the reference writes (with --shape VALUES=AXIS,AXIS)");
  command.option("--example", &options->example,
                 "Of a .py or .cu file, a call: \"x: float16[M=4096, K=512], eps: float32 -> y: float16[M, K]\"");
  command.option("--reference", &options->reference,
                 "Of a .py file, the same operation in PyTorch: FUNCTION in it, or FILE:FUNCTION (default: to be "
                 "filled in)");
  command.option("--op-type", &options->op_type, "The kind of operator, like matmul (default: the function's name)");
  command.option("-o,--output", &options->folder, "Folder to make (default: the function's name)");
  command.chosen([&chosen, options] { chosen = [options](app::Shell& shell) { return init(shell, *options); }; });
}

}  // namespace accelopt::cli
