// SPDX-License-Identifier: Apache-2.0
#include "agents/prompt_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agents/edits.hpp"
#include "agents/prompt_parts.hpp"
#include "agents/quote.hpp"
#include "base/text.hpp"
#include "base/unified_diff.hpp"
#include "model/measure.hpp"
#include "model/target_description.hpp"

namespace accelopt::agents {
namespace {

using model::Evaluation;
using model::Task;
using model::TensorSpec;

// Longest texts of others that a prompt takes in, in bytes. A planner's prompt with sixteen experiences stays under 100
// KiB beside its kernel.
constexpr std::size_t kNameBytes = 120;
constexpr std::size_t kDiagnosticsBytes = 8'000;
constexpr std::size_t kHintsBytes = 8'000;
constexpr std::size_t kTried = 24;
constexpr std::size_t kSiblings = 12;
constexpr std::size_t kBetterBytes = 2'500;   ///< difference to a better kernel; a longer one has little to do with it
constexpr std::size_t kEarlierBytes = 1'500;  ///< diagnostics of a file that failed before

const Task& task_of(const Context& context) {
  ACCELOPT_ASSERT(context.task != nullptr, "a question to an agent has no task");
  return *context.task;
}

std::string tensor_text(const TensorSpec& tensor, bool input) {
  std::string out = "- " + tensor.name + ": " + std::string(model::to_string(tensor.dtype));
  out += tensor.shape ? "[" + base::joined(*tensor.shape, ", ") + "]" : std::string(", a scalar passed by value");
  if (tensor.visible) out += "; visible to the host";
  if (tensor.inout) out += "; in place: holds its input before every call, and is what the kernel leaves there";
  if (!tensor.ties.empty()) {
    out += "; indices: of values as equal as rounding leaves them any may be named, none twice in a row";
  }
  if (!input) return out + "\n";
  out += "; drawn as " + model::to_string(tensor.init);
  std::vector<std::string> families;
  for (const model::Family family : tensor.families) families.emplace_back(model::to_string(family));
  if (!families.empty()) out += ", and transformed: " + base::joined(families, ", ");
  return out + "\n";
}

std::string workload_text(const model::Workload& workload) {
  std::vector<std::string> axes;
  for (const auto& [name, value] : workload.axes) axes.push_back(name + " = " + std::to_string(value));
  std::string out = "- " + workload.name + (axes.empty() ? "" : ": " + base::joined(axes, ", "));
  if (workload.role == model::Role::race && workload.weight != 1.0)
    out += " (weight " + number_text(workload.weight) + ")";
  return out + "\n";
}

std::string workloads_text(const Task& task, model::Role role) {
  std::string out;
  for (const model::Workload& workload : task.workloads) {
    if (workload.role == role) out += workload_text(workload);
  }
  return out;
}

bool is_of_repository(const model::Solution& solution) {
  return model::describe(solution.language).form == model::KernelForm::files;
}

/// The main file, and the others as what they are: given. Of a repository every file, none of them given.
std::string solution_text(const model::Solution& solution, const Context& context) {
  if (is_of_repository(solution)) return files_text(solution, task_of(context).repo.value_or(model::RepoPart{}));
  const std::string_view info = fence_of(solution.language);
  std::string out = fenced(model::main_text(solution), info);
  for (std::size_t i = 1; i < solution.sources.size(); ++i) {
    const model::SourceFile& file = solution.sources[i];
    out += "\nBeside it, given and not to be changed, " + clean_line(file.name, kNameBytes) + ":\n" +
           fenced(file.text, info);
  }
  return out;
}

std::string plan_text(const model::Plan& plan) {
  return "| " + clean_line(plan.title, kTitleBytes) + "\n" + quoted(plan.text, kPlanBytes);
}

std::string threads_text(int threads) {
  if (threads <= 1) return "It runs on one thread and starts no others.";
  return "It runs on at most " + std::to_string(threads) +
         " threads, all of which have ended or are idle when it returns. OpenMP is on (-fopenmp).";
}

std::string precision_text(const model::Numerics& numerics) {
  std::string out = numerics.lower_precision ? "The kernel may compute in a lower precision than its inputs have."
                                             : "The kernel may not compute in a lower precision than its inputs have.";
  if (numerics.normwise) {
    out += " For this task the error over the whole output, relative to the output, may be at most " +
           number_text(*numerics.normwise) + ".";
  }
  return out;
}

/// What a kernel's author has to know of the generated header: what is the task's own, the contract tells the rest.
std::string_view own_part(std::string_view header, const model::LanguageDescription& language) {
  const std::string& before = language.header_begins;
  const std::size_t end = before.empty() ? std::string_view::npos : header.rfind(before);
  return end == std::string_view::npos ? header : header.substr(end + before.size());
}

/// What the user knows of the kernel, and what they say to this question's role alone.
std::string hints_text(const std::string& of_task, const std::string& of_question) {
  if (of_task.empty() && of_question.empty()) return "None.";
  if (of_question.empty()) return quoted(of_task, kHintsBytes);
  const std::string now = "For this round:\n" + quoted(of_question, kHintsBytes);
  return of_task.empty() ? now : quoted(of_task, kHintsBytes) + "\n" + now;
}

/// The places that every file knows.
PlaceValues common_values(const Context& context, model::Language key) {
  const Task& task = task_of(context);
  const model::LanguageDescription& language = model::describe(key);
  const model::Measure& measure = model::measure_of(task);
  return {
      {"language", task.repo ? task.repo->language : language.title},
      {"standard", language.standard},
      {"fence", language.fence},
      {"allowed_flags", language.allowed_flags},
      {"threads", threads_text(task.cpu.threads)},
      {"cache", task.cpu.cache == model::Cache::warm ? language.warm_caches : language.cold_caches},
      {"precision", precision_text(task.definition.numerics)},
      {"definition", definition_text(task)},
      {"scratchpad", language.scratchpad == nullptr ? std::string() : language.scratchpad(context.device)},
      {"device", context.device.empty() ? "Nothing is known of it." : context.device},
      {"task_header", fenced(own_part(context.task_header, language), language.header_fence)},
      {"hints", hints_text(task.hints, context.hints)},
      {"wanted", std::string(wanted_text(task))},
      {"good", std::string(good_text(task))},
      {"improved", std::string(measure.better)},
      {"worsened", std::string(measure.worse)},
      {"gain", std::string(measure.gain)},
      {"counted", std::string(counted_text(task))},
      {"measuring", measuring_text(task)},
  };
}

/// One plan a line, the latest ones: they tell the most, and a kernel that stays in the beam for long collects many.
/// Under the tie's line, what it did to the figures.
std::string plan_lines(const std::vector<TriedPlan>& plans, std::size_t most,
                       const std::optional<MeasuredTie>& tie = std::nullopt) {
  std::string out;
  bool told = !tie;
  std::string lines;
  for (std::size_t left = std::min(plans.size(), most), i = plans.size(); left > 0; --left) {
    const TriedPlan& plan = plans[--i];
    if (plan.title.empty()) continue;  // no plan came
    lines = "| " + clean_line(plan.title, kTitleBytes) + ": " + clean_line(plan.outcome, kNameBytes) + "\n";
    if (!told && plan.title == tie->plan.title && plan.outcome == tie->plan.outcome) {
      lines += tie_text(*tie);
      told = true;
    }
    out.insert(0, lines);
  }
  return out;
}

std::string tried_text(const TriedList& tried, const std::optional<MeasuredTie>& tie) {
  std::string out = plan_lines(tried.plans(), kTried, tie);
  if (out.empty()) return "None yet.";
  out.pop_back();
  return out;
}

std::string lineage_text(const Lineage& lineage, const std::optional<MeasuredTie>& tie, const model::Measure& measure) {
  std::string out = lineage.standing.empty()
                        ? std::string("It is the baseline.\n")
                        : fmt::format("It {}.\n", model::compared(measure, lineage.standing, "the baseline"));
  if (!lineage.steps.empty()) {
    out += fmt::format("Plans that led to it, each with its {} over the kernel before:\n{}", measure.gain,
                       plan_lines(lineage.steps, kTried));
  }
  if (!lineage.siblings.empty())
    out += "What else was tried on the kernel that it was made from:\n" +
           plan_lines(lineage.siblings.plans(), kSiblings, tie);
  if (!lineage.beam.empty())
    out += fmt::format("Other kernels that are searched on from, each with its {} over the baseline:\n{}", measure.gain,
                       plan_lines(lineage.beam, kSiblings));
  out.pop_back();
  return out;
}

/// "one plan", "4 plans"
std::string plans_wanted(int plans) {
  if (plans <= 1) return "one plan";
  return std::to_string(plans) + " plans, each of another strategy, the most promising first,";
}

/// What failed before the file in hand; each file as what it changed in the one before.
std::string earlier_text(const FixQuestion& question) {
  if (question.earlier.empty()) return "";
  std::string out = "# What failed before, oldest first\n";
  const model::Solution* before = &question.parent.solution();
  for (std::size_t i = 0; i < question.earlier.size(); ++i) {
    const FailedTry& failed = question.earlier[i];
    out += fmt::format("{} failed with {}:\n{}\n", i == 0 ? "The first file" : "A fix", model::to_string(failed.status),
                       quoted(failed.diagnostics, kEarlierBytes));
    if (i > 0) out += "It had changed:\n" + changed_text(*before, failed.kernel.solution()) + "\n";
    before = &failed.kernel.solution();
  }
  const std::string difference = short_difference(*before, question.broken.solution());
  return out + (difference.empty() ? "Most of the file below is new.\n\n"
                                   : "The file below changed:\n" + difference + "\n\n");
}

/// A section of its own where the better kernel is much like the question's; else nothing: it would cost more than it
/// tells.
std::string better_text(const model::Solution& kernel, const std::optional<BetterKernel>& better,
                        const model::Measure& measure) {
  if (!better) return "";
  const std::string difference = short_difference(kernel, better->kernel.solution());
  if (difference.empty() || difference.size() > std::min(kBetterBytes, model::changeable_text(kernel).size() / 2))
    return "";
  return fmt::format(
      "# A better kernel\nThis difference makes the kernel above {}. Take over what fits the plan:\n"
      "{}\n\n",
      fmt::format(fmt::runtime(measure.makes), fmt::format("{:.2f}x", better->speedup)), difference);
}

std::string profile_or_none(const Evaluation& evaluation) {
  return evaluation.profile ? profile_text(*evaluation.profile) : "There is no profile of it.";
}

std::vector<std::string_view> with_common(std::vector<std::string_view> own) {
  for (const char* name : {"language",   "standard", "fence",      "allowed_flags", "threads", "cache",    "precision",
                           "definition", "device",   "scratchpad", "task_header",   "hints",   "contract", "wanted",
                           "measuring",  "good",     "improved",   "worsened",      "gain",    "counted"}) {
    own.emplace_back(name);
  }
  return own;
}

}  // namespace

std::string_view fence_of(model::Language language) {
  return model::describe(language).fence;
}

const std::vector<std::string_view>& places_of(Role role) {
  static const std::vector<std::string_view> planner =
      with_common({"kernel", "lineage", "timing", "profile", "memory", "tried", "plans_wanted", "past"});
  static const std::vector<std::string_view> executor = with_common({"kernel", "plan", "better", "answer_form"});
  static const std::vector<std::string_view> fixer =
      with_common({"parent", "better", "earlier", "broken", "plan", "status", "diagnostics", "answer_form"});
  static const std::vector<std::string_view> summarizer = with_common({"kernel", "timing", "profile", "changes"});
  switch (role) {
    case Role::planner:
      return planner;
    case Role::executor:
      return executor;
    case Role::fixer:
      return fixer;
    case Role::summarizer:
      return summarizer;
  }
  return planner;
}

const std::vector<std::string_view>& contract_places() {
  static const std::vector<std::string_view> places = {
      "language",  "standard",   "fence",    "allowed_flags", "threads", "cache",
      "precision", "definition", "device",   "scratchpad",    "wanted",  "measuring",
      "good",      "improved",   "worsened", "gain",          "counted"};
  return places;
}

std::string definition_text(const Task& task) {
  if (task.repo) return repository_text(task);
  const model::Definition& definition = task.definition;
  std::string out =
      definition.name + " (kind of operator: " + definition.op_type + "): " + definition.description + "\n";
  std::vector<std::string> axes;
  for (const model::Axis& axis : definition.axes) {
    axes.push_back(axis.name + (axis.value ? " = " + std::to_string(*axis.value) : " (variable)"));
  }
  if (!axes.empty()) out += "Axes: " + base::joined(axes, ", ") + "\n";
  std::string inputs;
  std::string outputs;
  for (const TensorSpec& input : definition.inputs) (input.inout ? outputs : inputs) += tensor_text(input, true);
  for (const TensorSpec& output : definition.outputs) {
    if (!output.inout) outputs += tensor_text(output, false);
  }
  if (!inputs.empty()) out += "Inputs:\n" + inputs;
  out += "Outputs:\n" + outputs;
  if (!definition.cost.flops.empty())
    out += "Least work of a call, floating-point operations: " + definition.cost.flops + "\n";
  if (!definition.cost.bytes.empty()) out += "Least traffic of a call, bytes: " + definition.cost.bytes + "\n";
  out += "Timed and verified on:\n" + workloads_text(task, model::Role::race);
  const std::string checked = workloads_text(task, model::Role::check);
  if (!checked.empty()) out += "Verified, but not timed, on:\n" + checked;
  out.pop_back();
  return out;
}

PlaceValues place_values(const PlanQuestion& question) {
  PlaceValues values = common_values(question.context, question.kernel.solution().language);
  values["kernel"] = solution_text(question.kernel.solution(), question.context);
  values["timing"] = timing_text(question.evaluation);
  values["profile"] = profile_or_none(question.evaluation);
  values["lineage"] = lineage_text(question.lineage, question.tie, model::measure_of(task_of(question.context)));
  values["plans_wanted"] = plans_wanted(question.plans);
  values["memory"] = memory_text(question.memory);
  values["tried"] = tried_text(question.tried, question.tie);
  values["past"] = past_text(question.memory, question.context.run, task_of(question.context));
  return values;
}

PlaceValues place_values(const ExecuteQuestion& question) {
  PlaceValues values = common_values(question.context, question.kernel.solution().language);
  values["kernel"] = solution_text(question.kernel.solution(), question.context);
  values["plan"] = plan_text(question.plan);
  values["better"] =
      better_text(question.kernel.solution(), question.better, model::measure_of(task_of(question.context)));
  values["answer_form"] = answer_form(question.kernel.solution());
  return values;
}

namespace {

/// A repository's failures have names of their own: the journal's are those of kernels.
std::string status_text(const FixQuestion& question) {
  if (task_of(question.context).repo) {
    if (question.status == model::Status::compile_error) return "REFUSED_OR_NOT_BUILT";
    if (question.status == model::Status::incorrect_numerical) return "TESTS_FAILED_OR_RESULTS_DIFFER";
  }
  return std::string(model::to_string(question.status));
}

}  // namespace

PlaceValues place_values(const FixQuestion& question) {
  PlaceValues values = common_values(question.context, question.broken.solution().language);
  values["parent"] = solution_text(question.parent.solution(), question.context);
  values["broken"] = solution_text(question.broken.solution(), question.context);
  values["plan"] = plan_text(question.plan);
  values["status"] = status_text(question);
  values["diagnostics"] = quoted(question.diagnostics, kDiagnosticsBytes);
  values["better"] =
      better_text(question.parent.solution(), question.better, model::measure_of(task_of(question.context)));
  values["earlier"] = earlier_text(question);
  values["answer_form"] = answer_form(question.broken.solution());
  return values;
}

PlaceValues place_values(const std::vector<SummarizeQuestion>& questions) {
  ACCELOPT_ASSERT(!questions.empty(), "a summarizer is asked about no change");
  const SummarizeQuestion& first = questions.front();
  PlaceValues values = common_values(first.context, first.parent.solution().language);
  values["kernel"] = solution_text(first.parent.solution(), first.context);
  values["timing"] = timing_text(first.parent_evaluation);
  values["profile"] = profile_or_none(first.parent_evaluation);
  values["changes"] = changes_text(questions);
  return values;
}

}  // namespace accelopt::agents
