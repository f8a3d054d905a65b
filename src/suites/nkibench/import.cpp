// SPDX-License-Identifier: Apache-2.0
#include "suites/nkibench/import.hpp"

#include <algorithm>
#include <set>

#include "base/expression.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/problem.hpp"
#include "base/text.hpp"
#include "model/target_description.hpp"
#include "suites/foreign_files.hpp"
#include "suites/nkibench/axis_names.hpp"
#include "suites/nkibench/benchmark.hpp"
#include "suites/nkibench/operators.hpp"
#include "suites/task_writer.hpp"

namespace accelopt::suites::nkibench {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;

constexpr std::int64_t kElementBytes = 4;

base::Result<Extents> extents_of(const Operator& op, const Values& values) {
  Extents out;
  for (const Letter& letter : op.letters) {
    const std::string extent = letter.extent.empty() ? std::string(1, letter.axis) : std::string(letter.extent);
    TRY_ASSIGN(out[letter.axis], base::evaluate_expression(extent, values));
    if (out[letter.axis] < 1)
      return base::fail(ErrorCode::unsupported, std::string("its axis ") + letter.axis + " is empty");
  }
  return out;
}

/// The definition, and the reference's text. @error unsupported: the shapes are none of the operator's.
base::Result<model::Task> task_of(const Operator& op, const Case& one, const std::string& reference,
                                  const std::string& name) {
  TRY_ASSIGN(const Extents extents, extents_of(op, one.values));
  TRY_ASSIGN(const auto reshaped, kernel_shapes(reference, op.inputs.size()));
  AxisNames axes(extents);
  model::Task task;
  model::Definition& definition = task.definition;
  std::string parameters;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const Tensor& input = op.inputs[i];
    model::TensorSpec tensor;
    tensor.name = input.name;
    TRY_ASSIGN(tensor.init, model::parse_init(input.init));
    parameters += std::string(input.axes.empty() ? "real " : "const real* ") + tensor.name + ", ";
    if (!input.axes.empty()) {
      Shape shape;
      for (const char axis : input.axes) shape.push_back(extents.at(axis));
      TRY_ASSIGN(tensor.shape, axes.name(input.axes, reshaped[i].value_or(shape)));
    }
    definition.inputs.push_back(std::move(tensor));
  }
  model::TensorSpec output;
  output.name = "out";
  TRY_ASSIGN(output.shape, axes.name(op.output, axes.shape_of(op.output)));
  definition.outputs.push_back(std::move(output));

  std::set<std::string> rows;
  for (const char axis : op.rows) {
    for (const std::string& part : axes.parts(axis)) rows.insert(part);
  }
  model::Workload published{.name = "published", .axes = {}};
  parameters += "real* out";
  std::int64_t bytes = 0;
  for (const auto& [axis, extent] : axes.all()) {
    const bool row = rows.contains(axis);
    definition.axes.push_back({axis, row ? std::nullopt : std::optional(extent)});
    if (!row) continue;
    published.axes[axis] = extent;
    parameters += ", int64_t " + axis;
  }
  std::map<std::string, std::int64_t> letters;
  std::string text = "// " + name + ": " + std::string(op.description) + "\n" + std::string(kReferenceHead) +
                     "extern \"C\" void reference(" + parameters + ") {\n";
  for (const auto& [axis, extent] : extents) {
    const std::string letter(1, axis);
    letters[letter] = extent;
    const std::vector<std::string> parts = axes.parts(axis);
    if (parts == std::vector{letter}) continue;  // the name that the task has for it, too
    const bool row = op.rows.find(axis) != std::string_view::npos && !parts.empty();
    text += "  [[maybe_unused]] const int64_t " + letter + " = " +
            (row ? base::joined(parts, " * ") : std::to_string(extent)) + ";\n";
  }
  text += std::string(op.body.substr(1)) + "\n}\n";
  task.workloads.push_back(std::move(published));
  const model::AxisValues all = model::bind_axes(definition, task.workloads.front());
  for (const auto* tensors : {&definition.inputs, &definition.outputs}) {
    for (const model::TensorSpec& tensor : *tensors)
      bytes += tensor.shape ? kElementBytes * model::element_count(tensor, all) : 0;
  }
  definition.name = name;
  definition.op_type = op.name;
  definition.description = op.description;
  TRY_ASSIGN(const std::int64_t flops, base::evaluate_expression(op.flops, letters));
  definition.cost = {std::to_string(flops), std::to_string(bytes)};
  task.reference = {"reference.cpp", std::move(text)};
  return task;
}

/// A text: why there is no task. An error: the output cannot be written.
base::Result<std::string> write_task(const ImportOptions& options, const fs::path& benchmark, const Case& one,
                                     const fs::path& folder) {
  const Operator* const op = find_operator(one.op);
  if (op == nullptr)
    return std::string(
        "its operator is not one of the fourteen, and its NumPy reference is not executed; make a task "
        "of it by hand (docs/tasks.md)");
  const auto reference = read_named(benchmark, one.task);
  const auto kernel = read_named(benchmark, one.kernel);
  for (const auto* file : {&reference, &kernel}) {
    if (!*file) return file->error().message;
  }
  auto task = task_of(*op, one, *reference, folder.filename().string());
  if (!task) return task.error().message;
  task->target = options.target;
  if (std::string why = no_place_for_task(folder, options.replaces ? OldFiles::replace : OldFiles::refuse);
      !why.empty())
    return why;
  TRY(base::make_folders(folder));
  TRY(base::write_file(folder / "task.toml", format_task_toml(*task)));
  TRY(base::write_file(folder / task->reference.name, task->reference.text));
  const std::string& suffix = model::target_of(*task).languages.front().suffixes.front();
  TRY(base::write_file(folder / ("baseline" + suffix), *kernel));
  const OrderedJson origin{{"schema", kOriginSchema}, {"operator", one.op}, {"case", one.id},
                           {"values", one.values},    {"task", one.task},   {"kernel", one.kernel}};
  TRY(base::write_file(folder / kOriginFile, origin.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n"));
  return std::string();
}

}  // namespace

base::Result<ImportReport> import_benchmark(const ImportOptions& options) {
  TRY_ASSIGN(const fs::path benchmark, find_benchmark(options.checkout));
  TRY_ASSIGN(Cases read, read_cases(benchmark));
  ImportReport report{.tasks = {}, .problems = std::move(read.problems)};
  for (const std::string& wanted : options.operators) {
    if (std::any_of(read.cases.begin(), read.cases.end(), [&](const Case& one) { return one.op == wanted; })) continue;
    return base::fail(ErrorCode::not_found, "the benchmark has no operator " + base::in_quotes(wanted));
  }
  std::map<std::string, int> cases;
  for (const Case& one : read.cases) ++cases[one.op];
  for (const Case& one : read.cases) {
    const std::vector<std::string>& wanted = options.operators;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), one.op) == wanted.end()) continue;
    ImportedTask& task = report.tasks.emplace_back();
    task.name = base::ascii_line(cases[one.op] == 1 ? one.op : one.op + "_" + one.id, 100);
    if (!is_folder_name(task.name)) {
      task.refused = "its name cannot be a folder's";
      continue;
    }
    const fs::path folder = options.output / task.name;
    TRY_ASSIGN(task.refused, write_task(options, benchmark, one, folder));
    if (task.refused.empty()) task.folder = folder;
  }
  return report;
}

}  // namespace accelopt::suites::nkibench
