// SPDX-License-Identifier: Apache-2.0
#include "suites/lint.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <system_error>

#include "model/c_tokens.hpp"
#include "model/directives.hpp"
#include "model/launch_plan.hpp"
#include "model/target_description.hpp"
#include "model/tuning.hpp"

namespace accelopt::suites {
namespace {

using base::in_quotes;
using base::join_names;
using base::Problem;
using base::Severity;
using model::Role;
using model::Workload;
namespace fs = std::filesystem;

/// A run keeps several input sets of each workload in memory; above this a usual machine may not hold them.
constexpr std::int64_t kLargeWorkloadBytes = std::int64_t{1} << 30;

class Linter {
 public:
  Linter(const model::Task& task, LintOptions options) : task_(task), options_(std::move(options)) {
    if (options_.folder.extension() == ".toml") options_.folder.remove_filename();
  }

  std::vector<Problem> run() {
    check_threads();
    check_sources();
    check_entry();
    check_workloads();
    check_inputs();
    check_is_whole(task_.reference);
    for (const model::SourceFile& source : task_.baseline.sources) check_is_whole(source);
    check_trust();
    return std::move(problems_);
  }

 private:
  [[nodiscard]] std::string in_folder(const std::string& name) const { return (options_.folder / name).string(); }

  void report(Severity severity, std::string key, std::string message) {
    problems_.push_back({0, std::move(key), std::move(message), in_folder("task.toml"), severity});
  }

  void check_threads() {
    // One core stays free for the worker that measures, where there is more than one.
    const int most = std::max(1, options_.cores - 1);
    if (task_.cpu.threads <= most) return;
    report(Severity::error, task_.target + ".threads",
           std::to_string(task_.cpu.threads) + " is more than this machine can measure (" + std::to_string(most) +
               " of its " + std::to_string(options_.cores) + " cores); lower it, or measure on another machine");
  }

  /// Whether the C-family source has the name as a token of its own.
  static bool mentions(const std::string& source, std::string_view name) {
    const std::vector<std::string> tokens = model::canonical_tokens(source);
    return std::find(tokens.begin(), tokens.end(), name) != tokens.end();
  }

  void check_source(const model::SourceFile& file, const std::string& function) {
    const auto language = model::language_of_file(file.name);
    if (!language || !model::describe(*language).c_tokens || mentions(file.text, function)) return;
    problems_.push_back({0, "", "defines no function " + in_quotes(function) + "; it is what the harness calls",
                         in_folder(file.name), Severity::error});
  }

  void check_sources() {
    const model::KernelForm form = model::describe(task_.baseline.language).form;
    if (form == model::KernelForm::launches) return check_device_sources();
    if (form == model::KernelForm::text) return;
    const model::SourceFile& baseline = task_.baseline.sources.front();
    check_source(task_.reference, "reference");
    check_source(baseline, "kernel");
    check_directives(baseline);
  }

  void check_directives(const model::SourceFile& baseline) {
    const auto directives = model::parse_cpu_directives(baseline.text);
    if (!directives) return refuse(baseline, directives.error());
    check_tuning(baseline, *directives);
  }

  void refuse(const model::SourceFile& file, const model::DirectiveProblem& problem) {
    problems_.push_back({problem.line, "", "column " + std::to_string(problem.column) + ": " + problem.message,
                         in_folder(file.name), Severity::error});
  }

  /// Whether the file has one value a tuned name.
  bool check_tuning(const model::SourceFile& file, const model::TuneDirectives& directives) {
    const auto space = model::expand_tuning(directives, task_.definition);
    if (!space) {
      refuse(file, space.error());
    } else if (space->open()) {
      const model::TunedName& first = directives.tuned.front();
      refuse(file, {first.line, first.column,
                    "a baseline has one value a tuned name: it is what candidates are compared with"});
    }
    return space && !space->open();
  }

  void check_device_sources() {
    for (const model::SourceFile* file : {&task_.baseline.sources.front(), &task_.reference}) {
      const auto language = model::language_of_file(file->name);
      if (language && model::describe(*language).form == model::KernelForm::launches) {
        check_plans(*file);
      } else {
        check_source(*file, "reference");
      }
    }
  }

  /// Directives, and the launch plan of every workload: the first problem of the file.
  void check_plans(const model::SourceFile& file) {
    const auto directives = model::parse_device_directives(file.text);
    if (!directives) return refuse(file, directives.error());
    if (!check_tuning(file, *directives)) return;
    std::vector<std::int64_t> values;
    for (const model::TunedName& tuned : directives->tuned) values.push_back(tuned.values.front());
    for (const model::LaunchDirective& launch : directives->launches) {
      if (mentions(file.text, launch.kernel)) continue;
      refuse(file, {launch.line, launch.column, "the source defines no kernel " + in_quotes(launch.kernel)});
    }
    for (const Workload& workload : task_.workloads) {
      const auto plan = model::bind_launch_plan(*directives, task_.definition, bind_axes(task_.definition, workload),
                                                values, model::target_of(task_).launch_limits);
      if (plan) continue;
      return refuse(file, {plan.error().line, plan.error().column,
                           "in workload " + in_quotes(workload.name) + ": " + plan.error().message});
    }
  }

  void check_entry() {
    if (!task_.entry) return;
    const fs::path file = options_.folder / task_.entry->file;
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored)) return;
    report(Severity::error, "entry.file",
           file.lexically_normal().string() + ": no such file; give its path from the task's folder");
  }

  [[nodiscard]] bool has_role(Role role) const {
    return std::any_of(task_.workloads.begin(), task_.workloads.end(),
                       [&](const Workload& workload) { return workload.role == role; });
  }

  void check_workloads() {
    const bool variable = !variable_axes(task_.definition).empty();
    if (variable && !has_role(Role::check)) {
      report(Severity::advice, "workloads",
             "none has role = \"check\"; add one with odd sizes, or a kernel for multiples of 8 only will pass");
    }
    if (variable && !has_role(Role::held_out)) {
      report(Severity::advice, "workloads",
             "none has role = \"held_out\"; add one with sizes of its own, or a kernel for these sizes only will pass");
    }
    for (const auto& [axis, other] : model::equal_axes(task_)) {
      report(Severity::advice, "workloads",
             axis + " and " + other +
                 " are equal in each; let them differ in one, where the operator allows it, or a kernel that takes one "
                 "for the other will pass");
    }
    for (std::size_t i = 0; i < task_.workloads.size(); ++i) check_workload(i);
  }

  void check_workload(std::size_t place) {
    const Workload& workload = task_.workloads[place];
    const std::string key = "workloads[" + std::to_string(place) + "]";
    const auto [twin, first] = by_axes_.emplace(workload.axes, &workload);
    if (!variable_axes(task_.definition).empty() && !first) {
      report(Severity::advice, key + ".axes",
             "the same sizes as workload " + in_quotes(twin->second->name) + "; other sizes would prove more");
    }
    const model::AxisValues axes = bind_axes(task_.definition, workload);
    std::int64_t bytes = 0;
    for (const auto* tensors : {&task_.definition.inputs, &task_.definition.outputs}) {
      for (const model::TensorSpec& tensor : *tensors) {
        bytes += element_count(tensor, axes) * static_cast<std::int64_t>(model::size_of(tensor.dtype));
      }
    }
    if (bytes > kLargeWorkloadBytes) {
      report(Severity::advice, key + ".axes",
             "inputs and outputs take " + std::to_string(bytes >> 20) + " MiB, and a run keeps several sets of them");
    }
  }

  static bool is_fixed(const model::TensorSpec& input) {
    const model::InitKind kind = input.init.kind;
    return kind == model::InitKind::zeros || kind == model::InitKind::ones || kind == model::InitKind::constant;
  }

  /// Whether the operator picks or weighs values by how they compare.
  [[nodiscard]] bool compares_values() const {
    static constexpr std::array kSigns{"max", "min", "attention", "gqa", "sort", "top", "pool"};
    return std::any_of(kSigns.begin(), kSigns.end(),
                       [&](const char* sign) { return task_.definition.op_type.find(sign) != std::string::npos; });
  }

  /// The families that the input does not name, and that its operator takes because it takes those that it names.
  [[nodiscard]] std::vector<std::string> further_families(const model::TensorSpec& input) const {
    using model::Family;
    const auto named = [&](Family family) {
      return std::find(input.families.begin(), input.families.end(), family) != input.families.end();
    };
    std::vector<std::string> out;
    const bool is_sorted = input.init.kind == model::InitKind::sorted;
    const auto suggest = [&](Family family, Family because_of) {
      if (named(because_of) && !named(family) && (!is_sorted || family == Family::coarse))
        out.push_back("\"" + std::string(model::to_string(family)) + "\"");
    };
    suggest(Family::late, Family::rows);
    suggest(Family::blocks, Family::rows);
    suggest(Family::signed_zeros, Family::sparse);
    if (compares_values() && !model::has_exact_output(task_.definition)) suggest(Family::near_ties, Family::rows);
    if (model::has_exact_output(task_.definition))
      suggest(Family::coarse, is_sorted ? Family::scaled_up : Family::rows);
    return out;
  }

  static bool is_inout(const model::TensorSpec& input) { return input.inout; }

  void check_inputs() {
    const std::vector<model::TensorSpec>& inputs = task_.definition.inputs;
    if (std::all_of(inputs.begin(), inputs.end(), is_fixed)) {
      report(Severity::error, "inputs",
             "every element of every input is fixed: a kernel that ignores them would pass; draw at least one, like "
             "init = \"normal(0, 1)\"");
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const model::TensorSpec& input = inputs[i];
      if (!input.shape && is_fixed(input) && task_.entry) {
        report(Severity::advice, "inputs[" + std::to_string(i) + "].init",
               in_quotes(input.name) +
                   " is one value, so a kernel that ignores it passes, and the patch calls the winner for that value "
                   "alone; where callers give others, draw it from a range");
      }
      if (!input.shape || !is_floating(input.dtype) || is_fixed(input)) continue;
      const bool is_sorted = input.init.kind == model::InitKind::sorted;
      if (model::draws_whole_rows(input.init.kind) && !is_sorted) continue;  // no family changes what they promise
      const auto first =
          static_cast<std::size_t>(std::find_if(inputs.begin(), inputs.end(), is_inout) - inputs.begin());
      const std::string key =
          (input.inout ? "inout[" + std::to_string(i - first) : "inputs[" + std::to_string(i)) + "].families";
      const std::vector<std::string> more = further_families(input);
      if (input.families.empty()) {
        report(Severity::advice, key,
               "none: the kernel is only checked on inputs as declared; name what the operator is defined for (" +
                   (is_sorted ? "scaled, coarse: what keeps the order" : std::string(model::kFloatFamilyNames)) + ")");
      } else if (!more.empty()) {
        report(Severity::advice, key,
               "what takes those that are named takes " + join_names(more) +
                   " as well: add them, or a kernel passes that judges a row by a part of it, a zero without its sign, "
                   "or equal values the other way");
      }
    }
  }

  /// What `init` and `import` leave open in a file is an #error on a line of its own, before any #if.
  void check_is_whole(const model::SourceFile& file) {
    const auto language = model::language_of_file(file.name);
    if (!language || !model::describe(*language).c_tokens) return;
    const std::string& text = file.text;
    const std::size_t at = text.starts_with("#error") ? 0 : text.find("\n#error");
    if (at == std::string::npos || text.find("\n#if") < at) return;
    const std::size_t begin = at == 0 ? 0 : at + 1;
    const auto line =
        1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
    problems_.push_back({line, "", "is not complete: " + text.substr(begin, text.find('\n', begin) - begin),
                         in_folder(file.name), Severity::error});
  }

  void check_trust() {
    if (task_.derived_reference) {
      report(Severity::advice, "derived_reference",
             "the reference was derived from the baseline, so results prove equality with it and not correctness; read "
             "and edit " +
                 task_.reference.name);
    }
    const model::CostModel& cost = task_.definition.cost;
    if (cost.flops.empty() || cost.bytes.empty()) {
      report(Severity::advice, "cost",
             "needs flops and bytes, or nothing can say how far a kernel is from the roofline");
    }
  }

  const model::Task& task_;
  LintOptions options_;
  std::vector<Problem> problems_;
  std::map<model::AxisValues, const Workload*> by_axes_;  ///< the first of these sizes
};

}  // namespace

std::vector<Problem> lint_task(const model::Task& task, const LintOptions& options) {
  return Linter(task, options).run();
}

}  // namespace accelopt::suites
