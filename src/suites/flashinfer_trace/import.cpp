// SPDX-License-Identifier: Apache-2.0
#include "suites/flashinfer_trace/import.hpp"

#include <algorithm>
#include <array>

#include "base/files.hpp"
#include "base/text.hpp"
#include "model/target_description.hpp"
#include "suites/flashinfer_trace/baseline.hpp"
#include "suites/flashinfer_trace/convert.hpp"
#include "suites/flashinfer_trace/python_text.hpp"
#include "suites/flashinfer_trace/texts.hpp"
#include "suites/task_writer.hpp"

namespace accelopt::suites::flashinfer_trace {
namespace {

namespace fs = std::filesystem;

/// A workload whose axes a person has to give.
std::string open_workload(const model::Definition& definition) {
  const std::string axes =
      base::joined(variable_axes(definition), ", ", [](const std::string& axis) { return axis + " = \"?\""; });
  return "\n[[workloads]]\nname = \"first\"\n" + (axes.empty() ? "" : "axes = { " + axes + " }\n") +
         "role = \"race\"\n";
}

/// What draws in PyTorch and in the standard library, as it is called.
constexpr auto kDraws = std::to_array<std::string_view>(
    {"multinomial",     "torch.rand",    "torch.normal(", "torch.bernoulli(", "torch.poisson(",
     ".normal_(",       ".uniform_(",    ".bernoulli",    ".exponential_(",   ".random_(",
     ".cauchy_(",       ".log_normal_(", ".geometric_(",  "random.rand",      "random.normal(",
     "random.uniform(", "random.choice", "default_rng(",  ".rsample(",        ".sample("});

/// The names of the functions that a Python source defines at its top level.
std::vector<std::string> functions_at_top(std::string_view source) {
  constexpr std::string_view kDef = "def ";
  std::vector<std::string> names;
  while (!source.empty()) {
    const std::size_t end = std::min(source.find('\n'), source.size());
    const std::string_view line = source.substr(0, end);
    source.remove_prefix(std::min(end + 1, source.size()));
    if (line.starts_with(kDef))
      names.emplace_back(base::trimmed(line.substr(kDef.size(), line.find('(') - kDef.size())));
  }
  return names;
}

/// Writes one task's folder.
class TaskWriter {
 public:
  TaskWriter(const Entry& entry, const ImportOptions& options, ImportedTask& report)
      : entry_(entry), options_(options), report_(report), folder_(options.output / entry.definition.name) {}

  /// An error: the output cannot be written. What the definition lacks is in the report.
  base::Result<void> write() {
    if (!is_folder_name(entry_.definition.name)) return refuse("its name cannot be a folder's");
    auto converted = convert(entry_, options_.most_workloads);
    if (!converted) return refuse(converted.error().message);
    const bool named = !options_.solution.empty() && options_.definitions.size() <= 1;
    auto baseline = choose_baseline(entry_, named ? options_.solution : "");
    if (!baseline) return refuse(baseline.error().message);
    if (std::string why = no_place_for_task(folder_, options_.replaces ? OldFiles::replace : OldFiles::refuse);
        !why.empty())
      return refuse(std::move(why));
    TRY(base::make_folders(folder_));
    report_.folder = folder_;
    TRY(write_task(*converted, *baseline));
    TRY(write_solutions(*baseline));
    TRY(write_origin(*converted, *baseline));
    report_.lost = std::move(converted->lost);
    report_.left_out = converted->left_out;
    report_.notes.insert(report_.notes.end(), converted->notes.begin(), converted->notes.end());
    report_.notes.insert(report_.notes.end(), baseline->notes.begin(), baseline->notes.end());
    if (draws_at_random()) {
      report_.notes.emplace_back(
          "its reference draws at random: there is no one right result, so no kernel can be verified");
    }
    return {};
  }

 private:
  /// Offsets of sequences are what host functions read to size their grids.
  void show_offsets(model::Definition& definition) {
    for (model::TensorSpec& input : definition.inputs) {
      if (!input.shape || model::is_floating(input.dtype) || !input.name.ends_with("indptr")) continue;
      input.visible = true;
      report_.notes.push_back(input.name + ": the host may see it");
    }
  }

  [[nodiscard]] bool draws_at_random() const {
    const std::string_view reference = entry_.definition.reference;
    std::vector<std::string> visited = {"run"};
    for (std::size_t at = 0; at < visited.size(); ++at) {
      const auto function = find_function(reference, visited[at]);
      if (!function) continue;
      const auto has = [&](std::string_view part) { return function->body.find(part) != std::string_view::npos; };
      if (std::ranges::any_of(kDraws, has)) return true;
      for (std::string& name : functions_at_top(reference)) {
        if (has(name + "(") && std::ranges::find(visited, name) == visited.end()) visited.push_back(std::move(name));
      }
    }
    return false;
  }

  base::Result<void> refuse(std::string why) {
    report_.refused = std::move(why);
    return {};
  }

  base::Result<void> write_task(const Converted& converted, const BaselineChoice& baseline) {
    model::Task task = converted.task;
    task.target = baseline.target;
    if (model::target_of(task).host_may_see_inputs) show_offsets(task.definition);
    std::string toml = format_task_toml(task);
    if (task.workloads.empty()) {
      toml += open_workload(task.definition);
      if (!variable_axes(task.definition).empty())
        report_.open.emplace_back("task.toml: the dataset has no workload for it; write the axes of one");
    }
    report_.workloads = task.workloads.size();
    TRY(base::write_file(folder_ / "task.toml", toml));
    TRY(base::write_file(folder_ / baseline.file, baseline.text.value_or(open_baseline(task.definition))));
    if (!baseline.text) report_.open.push_back(baseline.file + ": the kernel to beat");
    TRY(base::write_file(folder_ / "reference.py", entry_.definition.reference));
    const std::vector<std::string>& suffixes = model::target_of(task).reference_suffixes;
    if (std::find(suffixes.begin(), suffixes.end(), ".py") != suffixes.end()) return {};
    report_.open.emplace_back("reference.cpp: what the operator computes, in C++ over `real`; its Python is in it");
    return base::write_file(folder_ / "reference.cpp", open_reference(task.definition, entry_.definition.reference));
  }

  /// Every solution under its name, with the files that it has.
  base::Result<void> write_solutions(const BaselineChoice& baseline) {
    for (const Solution& solution : entry_.solutions) {
      if (!is_folder_name(solution.name)) {
        report_.notes.push_back("solution " + base::ascii_line(solution.name, 80) +
                                " was left out: its name cannot be a folder's");
        continue;
      }
      ++report_.solutions;
      const fs::path folder = folder_ / "solutions" / solution.name;
      for (const model::SourceFile& file : solution.sources) {
        const fs::path path = folder / file.name;
        TRY(base::make_folders(path.parent_path()));
        TRY(base::write_file(path, file.text));
      }
      if (&solution != baseline.solution) continue;
      if (calling_style(solution, entry_.definition) == CallingStyle::unknown)
        report_.notes.push_back("solution " + solution.name + ": how it hands over its results is not known");
    }
    return {};
  }

  base::Result<void> write_origin(const Converted& converted, const BaselineChoice& baseline) {
    OrderedJson origin;
    origin["schema"] = kOriginSchema;
    origin["definition"] = entry_.definition.json;
    origin["workloads"] = OrderedJson::object();
    for (const model::Workload& workload : converted.task.workloads) {
      const std::string& uuid = converted.uuids.at(workload.name);
      for (const Workload& one : entry_.workloads) {
        if (one.uuid == uuid) origin["workloads"][workload.name] = one.json;
      }
    }
    if (baseline.solution != nullptr && baseline.text) {
      origin["solution"] = baseline.solution->json;
      if (baseline.style != CallingStyle::unknown)
        origin["solution"]["spec"]["destination_passing_style"] = baseline.style == CallingStyle::writes;
    }
    return base::write_file(folder_ / kOriginFile,
                            origin.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n");
  }

  const Entry& entry_;
  const ImportOptions& options_;
  ImportedTask& report_;
  const fs::path folder_;
};

}  // namespace

base::Result<ImportReport> import_dataset(const ImportOptions& options) {
  TRY_ASSIGN(Dataset dataset, read_dataset(options.dataset, options.definitions));
  ImportReport report;
  report.problems = std::move(dataset.problems);
  for (const auto& [name, entry] : dataset.entries) {
    ImportedTask& task = report.tasks.emplace_back();
    task.definition = base::ascii_line(name, 200);
    task.workloads_there = entry.workloads.size();
    TRY(TaskWriter(entry, options, task).write());
  }
  return report;
}

}  // namespace accelopt::suites::flashinfer_trace
