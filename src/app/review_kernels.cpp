// SPDX-License-Identifier: Apache-2.0
// Reviews of kernels of one task: the gates are a verdict, and an objection is a shape, with inputs for it.
#include <algorithm>

#include <fmt/format.h>

#include "app/evaluate.hpp"
#include "app/review.hpp"
#include "app/reviewer_history.hpp"
#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "llm/price.hpp"
#include "model/target_description.hpp"
#include "review/normalize.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::app {
namespace {

using base::ErrorCode;
using base::Json;
using base::Result;
using refactor::ProbeOutcome;
using refactor::ProbeResult;

/// Of all tensors of an objection.
constexpr std::int64_t kMostObjectionBytes = std::int64_t{256} << 20;

/// The language by whose words and blocks a kernel's text is laid out.
refactor::CodeLanguage layout_of(const model::Task& task) {
  const std::string name = model::language_name(task);
  if (name == "triton" || name == "nki" || name == "python") return refactor::code_language("python");
  return refactor::code_language("c++");
}

std::string normalised_text(const refactor::CodeLanguage& language, const model::Solution& kernel) {
  return review::normalized(language, model::changeable_text(kernel));
}

std::string how_to_object_to_kernels(const model::Task& task) {
  std::string axes;
  std::string inputs;
  const model::Workload& example = task.workloads.front();
  for (const auto& [axis, value] : example.axes)
    axes += fmt::format("{}\"{}\": {}", axes.empty() ? "" : ", ", axis, value);
  for (const model::TensorSpec& input : task.definition.inputs)
    inputs += fmt::format("- {}: drawn as {}\n", input.name, model::to_string(input.init));
  return fmt::format(
      "An objection is a shape, and, if you like, how inputs are drawn for it. The kernels are called on it, and what "
      "they write is compared with the reference, within the rounding that the task allows.\n"
      "\"cases\": {{\"axes\": {{{}}}, \"inits\": {{INPUT: DRAWN}}, \"seed\": 1}}. Axes that are left out are as here; "
      "\"inits\" and \"seed\" may be left out. DRAWN is a text: \"zeros\", \"ones\", \"constant(3)\", "
      "\"normal(0, 100)\", \"uniform(-1, 1)\", \"integers(0, 5)\", or \"values(1, 2, 3)\", row by row.\n\nInputs:\n{}"
      "\nReference:\n{}\n",
      axes, inputs, review::fenced(task.reference.text, ""));
}

/// The task with one workload, that of an objection. @error invalid_argument: what is wrong with it.
Result<model::Task> task_of_objection(const model::Task& task, const Json& given) {
  const auto refuse = [](std::string why) { return base::fail(ErrorCode::invalid_argument, std::move(why)); };
  if (!given.is_object()) return refuse("it is no JSON object");
  model::Workload workload = task.workloads.front();
  workload.name = "objection";
  workload.role = model::Role::race;
  const Json axes = given.value("axes", Json::object());
  const Json inits = given.value("inits", Json::object());
  if (!axes.is_object() || !inits.is_object()) return refuse("\"axes\" and \"inits\" are objects");
  for (const auto& [axis, value] : axes.items()) {
    if (!workload.axes.contains(axis))
      return refuse("no axis that a workload binds is called " + base::ascii_line(axis, 60));
    const auto extent = base::whole_number(value);
    if (!extent || *extent < 1) return refuse("an axis is a whole number over 0");
    workload.axes[axis] = *extent;
  }
  for (const auto& [input, text] : inits.items()) {
    const auto known = std::ranges::find(task.definition.inputs, input, &model::TensorSpec::name);
    if (known == task.definition.inputs.end() || !text.is_string())
      return refuse("no input is called " + base::ascii_line(input, 60) + ", or how it is drawn is not a string");
    TRY_ASSIGN(workload.inits[input], model::parse_init(text.get<std::string>()));
  }
  const model::AxisValues bound = model::bind_axes(task.definition, workload);
  std::int64_t bytes = 0;
  for (const auto* tensors : {&task.definition.inputs, &task.definition.outputs}) {
    for (const model::TensorSpec& tensor : *tensors) {
      std::int64_t elements = 1;
      for (const std::int64_t extent : model::shape_of(tensor, bound)) {
        if (extent > kMostObjectionBytes / elements) return refuse("its tensors are over 256 MiB");
        elements *= std::max<std::int64_t>(extent, 1);
      }
      bytes += elements * static_cast<std::int64_t>(model::size_of(tensor.dtype));
    }
  }
  if (bytes > kMostObjectionBytes) return refuse("its tensors are over 256 MiB");
  model::Task one = task;
  one.workloads = {std::move(workload)};
  return one;
}

class KernelBench final : public ReviewBench {
 public:
  KernelBench(const Shell& shell, const KernelReviewOptions& options, const model::Task& task,
              const std::vector<model::Solution>& kernels, const std::vector<model::Evaluation>& evaluations)
      : shell_(shell), options_(options), task_(task), kernels_(kernels), evaluations_(evaluations) {}

  Result<ProbeResult> probe(std::size_t change, const refactor::Probe& probe) override {
    if (probe.cases.empty()) return unusable("kernels are objected to by \"cases\" alone");
    const auto given = base::parse_json(probe.cases, "the objection");
    if (!given) return unusable(given.error().message);
    const auto task = task_of_objection(task_, *given);
    if (!task) return unusable(task.error().message);
    const Json seed = given->value("seed", Json(1));
    const std::uint64_t drawn = seed.is_number_unsigned() ? seed.get<std::uint64_t>() : 1;
    // A shape that this machine has no memory for, say, is no proof, and no end of the review.
    const auto of_base = verdict(*task, task_.baseline, drawn);
    if (!of_base) return failed(of_base.error());
    if (of_base->status != model::Status::passed)
      return unusable("the baseline fails on it: " + base::ascii_line(of_base->reason, 300));
    const auto first = verdict(*task, kernels_[change], drawn);
    if (!first) return failed(first.error());
    if (first->status == model::Status::passed)
      return ProbeResult{.outcome = ProbeOutcome::same, .text = "the kernel is right on it, as the baseline is"};
    if (!is_proof(*first)) return unusable("it was not found out: " + base::ascii_line(first->reason, 300));
    const auto second = verdict(*task, kernels_[change], drawn);
    if (!second) return failed(second.error());
    if (!is_proof(*second)) return unusable("it fails once, and then not: " + base::ascii_line(second->reason, 300));
    const model::Evaluation& found = *second;
    return ProbeResult{.outcome = ProbeOutcome::differs,
                       .text = fmt::format("the baseline is right on it, and the kernel is {}: {}",
                                           model::to_string(found.status), base::ascii_line(found.reason, 300))};
  }

  /// Each was raced against the baseline: two that lie apart are told apart.
  Result<std::vector<review::CertainlyBetter>> races(const std::vector<std::size_t>& alive) override {
    std::vector<review::CertainlyBetter> certain;
    for (const std::size_t a : alive) {
      for (const std::size_t b : alive) {
        const auto over = speed_over(evaluations_[a], evaluations_[b]);
        if (a != b && over && over->low > 1) certain.push_back({a, b});
      }
    }
    return certain;
  }

 private:
  /// The kernel failed, not its baseline, and by what it does rather than by how long the machine took.
  static bool is_proof(const model::Evaluation& evaluation) {
    using enum model::Status;
    return evaluation.kind != model::EvaluationKind::baseline && evaluation.status != passed &&
           evaluation.status != not_measured && evaluation.status != timeout && evaluation.status != compile_error;
  }

  static Result<ProbeResult> failed(const base::Error& error) {
    if (error.code == base::ErrorCode::cancelled) return tl::make_unexpected(error);
    return unusable("it could not be tried: " + error.message);
  }

  static ProbeResult unusable(std::string why) { return {.outcome = ProbeOutcome::unusable, .text = std::move(why)}; }

  Result<model::Evaluation> verdict(const model::Task& task, const model::Solution& kernel, std::uint64_t seed) {
    return evaluate(shell_, {.task = task, .kernel = kernel, .device = options_.device, .seed = seed, .verify = true});
  }

  const Shell& shell_;
  const KernelReviewOptions& options_;
  const model::Task& task_;
  const std::vector<model::Solution>& kernels_;
  const std::vector<model::Evaluation>& evaluations_;
};

ReviewedChange change_of(const std::filesystem::path& file, const model::Evaluation& evaluation) {
  ReviewedChange change{.name = file.string(), .verdict = "not_faster", .failed_gate = {}, .why = {}, .ratio = {}};
  if (evaluation.status != model::Status::passed) {
    change.verdict = "refused";
    change.failed_gate = base::lower(model::to_string(evaluation.status));
    change.why = evaluation.reason;
  }
  if (evaluation.verdict == model::Verdict::faster) change.verdict = "faster";
  if (evaluation.ratio)
    change.ratio = stats::Interval{evaluation.ratio->estimate, evaluation.ratio->low, evaluation.ratio->high};
  return change;
}

}  // namespace

base::Outcome<ReviewReport> review_kernels(const Shell& shell, const KernelReviewOptions& options,
                                           const AgentFlags& flags, const Config& config) {
  TRY_ASSIGN(const model::Task task, suites::load_task(options.task));
  TRY_ASSIGN(const LoneModel model, connect_reviewer(shell, flags, config, "a review"));
  TRY_ASSIGN(const review::Standing standing, standing_on_record(options.workspace, model.chat->name()));
  const refactor::CodeLanguage language = layout_of(task);
  const std::string base_text = normalised_text(language, task.baseline);
  Reviewable reviewable{.task = task.definition.name,
                        .subject = {.language = language,
                                    .base = base_text,
                                    .how_to_object = how_to_object_to_kernels(task),
                                    .objection_form = "\"cases\": ..."},
                        .changes = {},
                        .shown = {}};
  std::vector<model::Solution> kernels;
  std::vector<model::Evaluation> evaluations;
  const std::uint64_t seed = options.seed.value_or(base::random_seed() >> 16U);
  for (const std::filesystem::path& file : options.kernels) {
    TRY_ASSIGN(kernels.emplace_back(), read_kernel(file, task));
    options.step("examining " + file.string());
    TRY_ASSIGN(evaluations.emplace_back(),
               evaluate(shell, {.task = task, .kernel = kernels.back(), .device = options.device, .seed = seed}));
    reviewable.changes.push_back(change_of(file, evaluations.back()));
    const std::string name = task.baseline.sources.front().name;
    reviewable.shown.push_back(
        review::normalized_diff({{name, base_text}}, {{name, normalised_text(language, kernels.back())}}));
  }
  KernelBench bench(shell, options, task, kernels, evaluations);
  TRY_ASSIGN(ReviewReport report, review_shown(std::move(reviewable), bench,
                                               {.chat = model.chat.get(),
                                                .standing = standing,
                                                .draws = options.draws,
                                                .at_once = questions_at_once(model),
                                                .stop = shell.stops.wind_down,
                                                .step = options.step}));
  if (!report.usage.usd && model.config.price) report.usage.usd = llm::cost_usd(report.usage, *model.config.price);
  if (const auto entered = record_review(options.workspace, report); !entered)
    shell.warn("the review was not recorded: " + entered.error().message);
  return report;
}

}  // namespace accelopt::app
