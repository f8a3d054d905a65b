// SPDX-License-Identifier: Apache-2.0
#include "agents/prompt_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "agents/quote.hpp"
#include "base/hash.hpp"
#include "model/directives.hpp"
#include "model/tuning.hpp"

namespace accelopt::agents {
namespace {

using model::Evaluation;
using model::Experience;
using model::Task;
using model::TensorSpec;

// Longest texts of others that a prompt takes in, in bytes. A planner's prompt with sixteen experiences stays under 100
// KiB beside its kernel.
constexpr std::size_t kNameBytes = 120;
constexpr std::size_t kStrategyBytes = 1500;
constexpr std::size_t kSegmentBytes = 1500;
constexpr std::size_t kDiagnosticsBytes = 8'000;
constexpr std::size_t kHintsBytes = 8'000;
constexpr std::size_t kRemarkBytes = 200;
constexpr std::size_t kRemarks = 40;
constexpr std::size_t kTried = 60;
constexpr std::size_t kTunedShown = 24;  ///< configurations
constexpr std::size_t kDiffBytes = 60'000;

const Task& task_of(const Context& context) {
  ACCELOPT_ASSERT(context.task != nullptr, "a question to an agent has no task");
  return *context.task;
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : std::string(separator)) + part;
  return out;
}

/// Whole numbers as such, others with four digits.
std::string number_text(double value) {
  constexpr double kExactlyWhole = 1e15;
  if (std::isfinite(value) && value == std::floor(value) && std::abs(value) < kExactlyWhole)
    return fmt::format("{:.0f}", value);
  return std::abs(value) >= 1000 && std::abs(value) < kExactlyWhole ? fmt::format("{:.0f}", value)
                                                                    : fmt::format("{:.4g}", value);
}

std::string time_text(double ns) {
  if (ns >= 1e9) return fmt::format("{:.3g} s", ns / 1e9);
  if (ns >= 1e6) return fmt::format("{:.3g} ms", ns / 1e6);
  if (ns >= 1e3) return fmt::format("{:.3g} us", ns / 1e3);
  return fmt::format("{:.3g} ns", ns);
}

std::string interval_text(const model::Interval& interval) {
  if (model::has_unknown_width(interval)) return fmt::format("{:.2f}x, interval unknown", interval.estimate);
  return fmt::format("{:.2f}x (95 % interval {:.2f}x to {:.2f}x)", interval.estimate, interval.low, interval.high);
}

std::string tensor_text(const TensorSpec& tensor, bool input) {
  std::string out = "- " + tensor.name + ": " + std::string(model::to_string(tensor.dtype));
  out += tensor.shape ? "[" + joined(*tensor.shape, ", ") + "]" : std::string(", a scalar passed by value");
  if (tensor.inout) out += "; in place: holds its input before every call, and is what the kernel leaves there";
  if (!tensor.ties.empty()) {
    out += "; indices: of values as equal as rounding leaves them any may be named, none twice in a row";
  }
  if (!input) return out + "\n";
  out += "; drawn as " + model::to_string(tensor.init);
  std::vector<std::string> families;
  for (const model::Family family : tensor.families) families.emplace_back(model::to_string(family));
  if (!families.empty()) out += ", and transformed: " + joined(families, ", ");
  return out + "\n";
}

std::string workload_text(const model::Workload& workload) {
  std::vector<std::string> axes;
  for (const auto& [name, value] : workload.axes) axes.push_back(name + " = " + std::to_string(value));
  std::string out = "- " + workload.name + (axes.empty() ? "" : ": " + joined(axes, ", "));
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

/// How the values of a tuned kernel came about: which configurations were raced, and what the others took.
std::string tuning_text(const model::Tuning& tuning) {
  if (!tuning.chosen) return "";
  std::string sets;
  for (std::size_t i = 0; i < tuning.names.size(); ++i) {
    std::vector<std::string> values;
    for (const std::int64_t value : tuning.sets[i]) values.push_back(std::to_string(value));
    sets += (i == 0 ? "" : ", ") + tuning.names[i] + " in {" + joined(values, ", ") + "}";
  }
  std::string out = fmt::format(
      "\nThe values of its //@ tune lines were chosen by measuring {} of the {} configurations that {} allowed. The "
      "chosen "
      "one: {}. Times of the others, over its time:\n",
      tuning.field.size(), tuning.configurations, sets, model::configuration_text(tuning.names, *tuning.chosen));
  std::vector<const model::TunedConfiguration*> field;
  for (const model::TunedConfiguration& one : tuning.field) {
    if (one.fate != "chosen") field.push_back(&one);
  }
  const auto speed = [](const model::TunedConfiguration* one) { return one->ratio ? one->ratio->estimate : 0; };
  std::ranges::stable_sort(field, std::greater<>(), speed);
  for (std::size_t i = 0; i < std::min(field.size(), kTunedShown); ++i) {
    const model::TunedConfiguration& one = *field[i];
    out += "- " + model::configuration_text(tuning.names, one.values) + ": ";
    if (one.ratio && one.ratio->estimate > 0) {
      out += fmt::format("{:.2f}\n", 1 / one.ratio->estimate);
    } else if (one.fate == "failed") {
      out += std::string(model::to_string(one.status)) + "\n";
    } else {
      out += "not known\n";
    }
  }
  return out;
}

/// How a language is called in a prompt.
struct LanguageNames {
  std::string_view language;
  std::string_view standard;
  std::string_view fence;
};

LanguageNames names_of(model::Language language) {
  if (language == model::Language::c) return {"C", "gnu17", "c"};
  if (language == model::Language::cuda) return {"CUDA C++", "c++20", "cuda"};
  return {"C++", "gnu++20", "cpp"};
}

/// The main file, and the others as what they are: given.
std::string solution_text(const model::Solution& solution) {
  const std::string_view info = names_of(solution.language).fence;
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

std::string cache_text(model::Cache cache, model::Language language) {
  if (language == model::Language::cuda) {
    if (cache == model::Cache::warm)
      return "The second-level cache is warm: it is not flushed before a timed call, and the inputs were written just "
             "before it.";
    return "The caches are cold: the second-level cache is flushed before each timed call.";
  }
  if (cache == model::Cache::warm) return "The caches are warm: the tensors were touched just before each timed call.";
  return "The caches are cold: inputs and outputs are flushed from all caches before each timed call.";
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

std::string allowed_flags_text(model::Language language) {
  if (language == model::Language::cuda) return std::string(allowed_device_flags());
  std::string out;
  for (const std::string_view flag : model::allowed_flags()) out += (out.empty() ? "" : " ") + std::string(flag);
  return out;
}

/// The places that every file knows.
PlaceValues common_values(const Context& context, model::Language language) {
  const Task& task = task_of(context);
  const LanguageNames names = names_of(language);
  return {
      {"language", std::string(names.language)},
      {"standard", std::string(names.standard)},
      {"fence", std::string(names.fence)},
      {"allowed_flags", allowed_flags_text(language)},
      {"threads", threads_text(task.cpu.threads)},
      {"cache", cache_text(task.cpu.cache, language)},
      {"precision", precision_text(task.definition.numerics)},
      {"definition", definition_text(task)},
      {"device", context.device.empty() ? "Nothing is known of it." : context.device},
      {"task_header", fenced(context.task_header, language == model::Language::cuda ? names.fence : "c")},
      {"hints", task.hints.empty() ? "None." : quoted(task.hints, kHintsBytes)},
  };
}

std::string tried_text(const std::vector<TriedPlan>& tried) {
  if (tried.empty()) return "None yet.";
  std::string out;
  // The latest tell the most; a kernel that stays in the beam for long collects many.
  const std::size_t first = tried.size() > kTried ? tried.size() - kTried : 0;
  for (std::size_t i = first; i < tried.size(); ++i) {
    out += "| " + clean_line(tried[i].title, kTitleBytes) + ": " + clean_line(tried[i].outcome, kNameBytes) + "\n";
  }
  out.pop_back();
  return out;
}

std::string_view polarity_text(const model::Experience& experience) {
  switch (experience.polarity) {
    case model::Polarity::improves:
      return "it made a kernel faster";
    case model::Polarity::regresses:
      if (experience.effect && experience.effect->high >= 1) return "it did not make a kernel faster";
      return "it made a kernel slower, so it shows what to avoid";
    case model::Polarity::mends:
      return "it shows why a kernel failed, and its mend";
  }
  return {};
}

/// What became of an experience, and what others say; empty where nothing is known.
std::string credit_text(const Experience& experience) {
  const model::Credit& credit = experience.credit;
  std::string out;
  if (credit.confirmed > 0 || credit.refuted > 0) {
    out += fmt::format("; of the plans that rested on it {} made a kernel faster and {} did not", credit.confirmed,
                       credit.refuted);
  }
  if (experience.agreeing > 0) out += fmt::format("; {} more say the same", experience.agreeing);
  if (experience.contradicting > 0)
    out += fmt::format("; {} say the opposite of the same kind of kernel", experience.contradicting);
  return out;
}

/// A name that can stand outside of the quotation: at most `words` words of letters, digits and what joins them.
bool is_plain_name(std::string_view name, std::ptrdiff_t words) {
  constexpr std::string_view kJoins = "_-.+/:";
  return std::ranges::count(name, ' ') < words && std::ranges::all_of(name, [&](char c) {
           return c == ' ' || kJoins.find(c) != std::string_view::npos ||
                  std::isalnum(static_cast<unsigned char>(c)) != 0;
         });
}

/// The header says what the program knows; a text that could say more than a name stands among what is quoted.
std::string experience_text(const Experience& experience) {
  std::string seen;
  std::string quoted_names;
  const auto tell = [&](std::string_view before, const std::string& name, std::string_view what, std::ptrdiff_t words) {
    const std::string line = clean_line(name, kNameBytes);
    if (line.empty()) return;
    if (is_plain_name(line, words)) {
      seen += std::string(seen.empty() ? "" : ", ") + std::string(before) + line;
    } else {
      quoted_names += "| " + std::string(what) + ": " + line + "\n";
    }
  };
  tell("", experience.op_type, "Operator", 1);
  tell("bound by ", experience.bound, "Bound by", 1);
  // Of an experience of which nothing else is known the device tells little.
  if (!experience.op_type.empty() || !experience.bound.empty()) tell("on ", experience.device, "Device", 2);
  const std::string id = clean_line(experience.id, kNameBytes);
  std::string out =
      fmt::format("Experience {} ({}; effect {}{}):\n", is_plain_name(id, 1) ? id : "without a name",
                  polarity_text(experience), experience.effect ? interval_text(*experience.effect) : "unknown",
                  (seen.empty() ? "" : "; seen on " + seen) + credit_text(experience));
  out += quoted_names;
  out += "| Title: " + clean_line(experience.title, kTitleBytes) + "\n";
  out += "| Strategy:\n" + quoted(experience.strategy, kStrategyBytes) + "\n";
  out += "| Before:\n" + quoted(experience.before, kSegmentBytes) + "\n";
  out += "| After:\n" + quoted(experience.after, kSegmentBytes) + "\n";
  return out;
}

std::string profile_or_none(const Evaluation& evaluation, const Context& context) {
  if (!evaluation.profile) return "There is no profile of it.";
  return profile_text(*evaluation.profile, context);
}

std::string effect_text(const SummarizeQuestion& question) {
  if (question.polarity == model::Polarity::improves) {
    return "The plan turned the slow version into the fast one, which runs " + interval_text(question.effect) +
           " as fast. The note should teach what to do.";
  }
  if (question.polarity == model::Polarity::mends) {
    return "The version shown as slow failed with " + std::string(to_string(question.slow_evaluation.status)) +
           "; the one shown as fast is its mend, which works and runs " + interval_text(question.effect) +
           " as fast as the kernel that the plan began with. The note should teach what broke, why, and the mend.\n"
           "What was said of the failure:\n" +
           quoted(question.slow_evaluation.reason, kDiagnosticsBytes);
  }
  return "The plan was meant to make the fast version faster and turned it into the slow one, which runs " +
         interval_text(question.effect) + " as fast. The note should teach what to avoid.";
}

std::vector<std::string_view> with_common(std::vector<std::string_view> own) {
  for (const char* name : {"language", "standard", "fence", "allowed_flags", "threads", "cache", "precision",
                           "definition", "device", "task_header", "hints", "contract"}) {
    own.emplace_back(name);
  }
  return own;
}

}  // namespace

std::string_view allowed_device_flags() {
  return "--use_fast_math --ftz=true --prec-div=false --prec-sqrt=false --fmad=false --extra-device-vectorization "
         "-maxrregcount=128 (or another number from 16 to 255)";
}

const std::vector<std::string_view>& places_of(Role role) {
  static const std::vector<std::string_view> planner = with_common({"kernel", "timing", "profile", "memory", "tried"});
  static const std::vector<std::string_view> executor = with_common({"kernel", "plan"});
  static const std::vector<std::string_view> fixer = with_common({"parent", "broken", "plan", "status", "diagnostics"});
  static const std::vector<std::string_view> summarizer = with_common(
      {"slow", "fast", "diff", "plan", "effect", "slow_timing", "slow_profile", "fast_timing", "fast_profile"});
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
      "language", "standard", "fence", "allowed_flags", "threads", "cache", "precision", "definition", "device"};
  return places;
}

std::string definition_text(const Task& task) {
  const model::Definition& definition = task.definition;
  std::string out =
      definition.name + " (kind of operator: " + definition.op_type + "): " + definition.description + "\n";
  std::vector<std::string> axes;
  for (const model::Axis& axis : definition.axes) {
    axes.push_back(axis.name + (axis.value ? " = " + std::to_string(*axis.value) : " (variable)"));
  }
  if (!axes.empty()) out += "Axes: " + joined(axes, ", ") + "\n";
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

std::string profile_text(const model::Profile& profile, const Context& context) {
  std::vector<const model::ProfileItem*> items;
  for (const model::ProfileItem& item : profile.items) items.push_back(&item);
  const std::string label = "profile " + model::to_string(context.identity);
  for (std::size_t left = items.size(); left > 1; --left) {
    const std::uint64_t drawn = base::derive_seed(context.seed, label + " " + std::to_string(left));
    std::swap(items[left - 1], items[drawn % left]);
  }
  std::string out;
  for (const model::ProfileItem* item : items) {
    out += "- " + item->name + " = " + number_text(item->value) + (item->unit.empty() ? "" : " " + item->unit) +
           (item->meaning.empty() ? "" : ": " + item->meaning) + "\n";
  }
  if (!profile.remarks.empty()) out += "What the compiler remarked:\n";
  for (std::size_t i = 0; i < std::min(profile.remarks.size(), kRemarks); ++i) {
    out += "| " + clean_line(profile.remarks[i], kRemarkBytes) + "\n";
  }
  if (out.empty()) return "There is no profile of it.";
  out.pop_back();
  return out;
}

std::string timing_text(const Evaluation& evaluation) {
  std::string out;
  for (const model::WorkloadTiming& workload : evaluation.workloads) {
    if (workload.role != model::to_string(model::Role::race)) continue;
    out += "- " + workload.name + ": " + time_text(workload.time_ns) + " a call";
    if (const auto& roofline = workload.roofline) {
      out += fmt::format(
          "; at this machine's measured peaks the least work would take {}, so it reaches {:.1f} % of the roofline",
          time_text(roofline->floor_ns), 100 * roofline->fraction);
      if (!roofline->bound.empty()) out += ", where the bound is " + roofline->bound;
    }
    out += "\n";
  }
  if (out.empty()) return "There are no timings of it.";
  if (evaluation.tuning) out += tuning_text(*evaluation.tuning);
  out.pop_back();
  return out;
}

std::string memory_text(const std::vector<Experience>& memory) {
  if (memory.empty()) return "None yet.";
  std::string out;
  for (const Experience& experience : memory) out += (out.empty() ? "" : "\n") + experience_text(experience);
  out.pop_back();
  return out;
}

PlaceValues place_values(const PlanQuestion& question) {
  PlaceValues values = common_values(question.context, question.kernel.language);
  values["kernel"] = solution_text(question.kernel);
  values["timing"] = timing_text(question.evaluation);
  values["profile"] = profile_or_none(question.evaluation, question.context);
  values["memory"] = memory_text(question.memory);
  values["tried"] = tried_text(question.tried);
  return values;
}

PlaceValues place_values(const ExecuteQuestion& question) {
  PlaceValues values = common_values(question.context, question.kernel.language);
  values["kernel"] = solution_text(question.kernel);
  values["plan"] = plan_text(question.plan);
  return values;
}

PlaceValues place_values(const FixQuestion& question) {
  PlaceValues values = common_values(question.context, question.broken.language);
  values["parent"] = solution_text(question.parent);
  values["broken"] = solution_text(question.broken);
  values["plan"] = plan_text(question.plan);
  values["status"] = std::string(model::to_string(question.status));
  values["diagnostics"] = quoted(question.diagnostics, kDiagnosticsBytes);
  return values;
}

PlaceValues place_values(const SummarizeQuestion& question) {
  PlaceValues values = common_values(question.context, question.slow.language);
  values["slow"] = solution_text(question.slow);
  values["fast"] = solution_text(question.fast);
  values["diff"] = fenced(clean(question.diff, kDiffBytes), "diff");
  values["plan"] = plan_text(question.plan);
  values["effect"] = effect_text(question);
  values["slow_timing"] = timing_text(question.slow_evaluation);
  values["slow_profile"] = profile_or_none(question.slow_evaluation, question.context);
  values["fast_timing"] = timing_text(question.fast_evaluation);
  values["fast_profile"] = profile_or_none(question.fast_evaluation, question.context);
  return values;
}

}  // namespace accelopt::agents
