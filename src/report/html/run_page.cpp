// SPDX-License-Identifier: Apache-2.0
#include "report/html/run_page.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/shell.hpp"
#include "base/text.hpp"
#include "model/measure.hpp"
#include "report/explanation.hpp"
#include "report/format.hpp"
#include "report/html/candidate_tree.hpp"
#include "report/html/diff_table.hpp"
#include "report/html/page.hpp"
#include "report/html/run_plots.hpp"
#include "report/review_text.hpp"
#include "report/text_width.hpp"

namespace accelopt::report::html {
namespace {

using base::Json;

/// Of a reason in a table, bytes: a compiler's first errors say what the others follow from.
constexpr std::size_t kMostReason = 600;

std::string clipped(const std::string& reason) {
  if (reason.size() <= kMostReason) return reason;
  return reason.substr(0, kMostReason) + " ...";
}

Markup header_of(const RunStory& story) {
  const journal::RunInfo& run = story.run;
  const model::Measure& measure = model::measure_of(run.task);
  Markup out = element("h1", fmt::format("{}: the run {}", run.task_name, run.id));
  out += element("p", {{"class", "answer"}}, answer_of(story));
  out += element("p", {{"class", "soft"}},
                 fmt::format("Begun {}; {}; {} evaluations; seed {}; accelopt {}. Ratios are {}: over 1 "
                             "is {}; brackets hold 95 % intervals.",
                             run.created, to_string(run.status), story.evaluations, run.seed, run.program_version,
                             measure.ratio, measure.better));
  return out;
}

Markup asked(const RunStory& story) {
  const model::Task& task = story.run.task;
  Markup out = paragraphs(task.definition.description);
  Table table{"Workloads", {{"workload"}, {"role"}, {"axes"}, {"baseline", Align::right}}, {}};
  for (const model::Workload& workload : task.workloads) {
    std::string axes;
    for (const auto& [axis, value] : workload.axes)
      axes += fmt::format("{}{} = {}", axes.empty() ? "" : ", ", axis, value);
    std::string time = "-";
    for (const model::WorkloadTiming& timing : story.baseline.workloads) {
      if (timing.name == workload.name) time = format_amount(timing);
    }
    table.rows.push_back(cells({workload.name, std::string(to_string(workload.role)), axes, time}));
  }
  out += to_markup(table);
  for (const std::string& hint : story.hints) out += element("p", "Hint given during the run: " + hint);
  return out;
}

Markup winning_change(const RunStory& story) {
  const StoryAttempt* const winner = story.winner();
  if (winner == nullptr || winner->kernel.solution().sources.empty()) return {};
  Markup out = element("p", fmt::format("{}: {}", model::to_string(winner->identity), winner->plan.title));
  const model::Solution& baseline = story.run.task.baseline;
  if (baseline.sources.empty()) return out;
  for (const model::SourceFile& file : winner->kernel.solution().sources) {
    const auto before = std::ranges::find(baseline.sources, file.name, &model::SourceFile::name);
    out += diff_table(before == baseline.sources.end() ? std::string() : before->text, file.text,
                      "The baseline and the winner, " + file.name, "baseline", "winner");
  }
  out += folded("The winner's whole source",
                element("pre", element("code", model::changeable_text(winner->kernel.solution()))));
  return out;
}

/// The winner beside what the user named.
Markup compared_with(const RunStory& story) {
  if (!story.run.result || !story.run.result->contains("against")) return {};
  Table table{"The winner beside other kernels and programs",
              {{"against"}, {"workload"}, {"the winner's speed over it", Align::right}, {"how"}, {"verdict"}},
              {}};
  for (const Json& one : (*story.run.result)["against"]) {
    const auto ratio = base::decode<model::Interval>(one.value("speed_over", Json()), "against");
    const std::string workload = base::text_at(one, "workload");
    const std::string reason = base::text_at(one, "reason");
    table.rows.push_back(cells({base::text_at(one, "name"), workload.empty() ? "all raced" : workload,
                                ratio ? format_ratio(*ratio) : "-", base::text_at(one, "how"),
                                base::text_at(one, "status") + (reason.empty() ? "" : ": ") + clipped(reason)}));
  }
  return to_markup(table);
}

Markup list_of(const std::vector<std::string>& lines) {
  if (lines.empty()) return {};
  Markup items;
  for (const std::string& line : lines) items += element("li", line);
  return element("ul", items);
}

/// Whether recipes could have made the winner, step by step.
Markup novelty(const RunStory& story) {
  if (!story.novelty) return {};
  Table table{"The winner's steps, and whether recipes could have made them", {{"step"}, {"plan"}, {"recipes"}}, {}};
  for (const NoveltyStep& step : story.novelty->steps) {
    const StoryAttempt* const attempt = story.find(step.identity);
    std::string words = "no route of up to four recipes was found that makes it";
    if (step.reach == Reach::recipes) words = "made it";
    if (step.reach == Reach::route)
      words =
          "could have made it: " + base::joined(step.route, "; then ", [](const std::string& title) { return title; });
    table.rows.push_back(
        cells({model::to_string(step.identity), attempt != nullptr ? attempt->plan.title : std::string(), words}));
  }
  return to_markup(table);
}

/// What did not lead on: failures with their diagnostics, what was slower, and what a fix mended.
Markup failures(const RunStory& story) {
  Table table{story.run.task.repo ? "Attempts that did not become better changes"
                                  : "Attempts that did not become faster kernels",
              {{"attempt"}, {"plan"}, {"fate"}, {"over its parent [95 %]", Align::right}, {"why"}},
              {}};
  for (const StoryAttempt& attempt : story.attempts) {
    for (const FailedAnswer& failed : attempt.failed) {
      std::string word = base::lower(model::to_string(failed.status));
      std::ranges::replace(word, '_', ' ');
      table.rows.push_back(cells({model::to_string(failed.identity), attempt.plan.title, word + ", then fixed again",
                                  "-", clipped(failed.reason)}));
    }
    if (attempt.status == model::Status::passed && attempt.verdict == model::Verdict::faster) continue;
    const bool failed = attempt.status != model::Status::passed;
    table.rows.push_back(
        cells({model::to_string(attempt.identity), attempt.plan.title,
               fate_of(attempt, model::measure_of(story.run.task)), ratio_text(attempt.ratio),
               failed ? clipped(attempt.reason.empty() ? attempt.note : attempt.reason) : attempt.note}));
  }
  return to_markup(table);
}

Markup learned(const RunStory& story) {
  Markup out;
  for (const model::Experience& experience : story.learned) {
    out += element("h3", fmt::format("{} {}", experience.id, experience.title));
    out += element("p", {{"class", "soft"}},
                   fmt::format("{}{} {} over its parent, seen on {}", model::to_string(experience.polarity),
                               experience.polarity == model::Polarity::mends ? ", then" : ":",
                               ratio_text(experience.effect), experience.task));
    out += paragraphs(experience.strategy);
  }
  if (out.empty()) out = element("p", "The run's record holds no lesson.");
  return out;
}

Markup memory(const RunStory& story) {
  if (story.recalled.empty())
    return element("p", "Nothing: the knowledge store was empty, was not asked, or had nothing that fits.");
  Table table{
      "Experiences of earlier runs that planners were shown",
      {{"round", Align::right}, {"experience"}, {"from"}, {"effect there", Align::right}, {"plans that rest on it"}},
      {}};
  for (const Recalled& recalled : story.recalled) {
    std::string plans;
    for (const StoryAttempt& attempt : story.attempts) {
      const auto& rests = attempt.plan.rests_on;
      if (attempt.identity.iteration == recalled.iteration && attempt.identity.parent == recalled.parent &&
          std::ranges::find(rests, recalled.experience.id) != rests.end())
        plans += (plans.empty() ? "" : ", ") + model::to_string(attempt.identity);
    }
    table.rows.push_back(cells(
        {std::to_string(recalled.iteration + 1), recalled.experience.title,
         recalled.experience.task + (recalled.experience.device.empty() ? "" : " on ") + recalled.experience.device,
         ratio_text(model::taught_effect(recalled.experience)), plans}));
  }
  return to_markup(table);
}

/// Settings as names and values, one line a setting.
void add_settings(Table& table, const Json& settings, const char* group, const std::string& prefix) {
  const auto found = settings.find(group);
  if (found == settings.end() || !found->is_object()) return;
  for (const auto& [name, value] : found->items()) {
    if (value.is_object() || value.is_array() || value.is_null()) continue;
    table.rows.push_back(cells({prefix + name, value.is_string() ? value.get<std::string>() : value.dump()}));
  }
}

Markup repeat(const RunStory& story) {
  Markup out = element(
      "p",
      "With the workspace that has the run's record, its decisions are repeated, without a model, a compiler or "
      "a device, by:");
  out += element("pre", element("code", "accelopt replay " + story.run.id));
  out += element("p",
                 "A new search with the same seed begins as follows, with a flag for each setting below, and for the "
                 "device and the models, that is not the default (accelopt config lists them):");
  const std::string folder = std::filesystem::path(story.run.task_folder).filename().string();
  out +=
      element("pre", element("code", fmt::format("accelopt run {} --seed {}",
                                                 folder.empty() ? "TASK" : base::shell_word(folder), story.run.seed)));
  Table table{"Settings of the search and of the measurement", {{"setting"}, {"value"}}, {}};
  add_settings(table, story.run.settings, "search", "");
  add_settings(table, story.run.settings, "measure", "measure.");
  out += folded("All settings", to_markup(table));
  return out;
}

Markup environment(const RunStory& story) {
  const model::Evaluation* const confirmed = story.confirmation();
  const model::Evaluation& measured = confirmed != nullptr ? *confirmed : story.baseline;
  const model::Environment& machine = measured.environment;
  Table table{"The machine and what is certain", {{"what"}, {"value"}}, {}};
  const auto add = [&](const char* what, const std::string& value) {
    if (!value.empty()) table.rows.push_back(cells({what, value}));
  };
  add("device", machine.device.empty() ? story.device : machine.device);
  add("its facts", story.device_summary);
  add("compiler", machine.compiler);
  add("flags", machine.flags);
  add("isolation of candidates", machine.isolation);
  add("trust", measured.trust);
  add("noise", machine.noisy ? "the machine was noisy while it measured" : "");
  add("clock", story.is_modelled() ? "modelled: no device measured these times" : "");
  if (story.run.task.derived_reference)
    add("reference", "derived from the baseline itself: equal results were proven, correctness was not");
  for (const std::string& note : measured.notes) add("checked", note);
  if (!story.run.decision_hash.empty()) add("hash of all decisions", story.run.decision_hash);
  return to_markup(table);
}

Markup contents(const std::vector<std::pair<std::string, std::string>>& sections) {
  Markup items;
  for (const auto& [id, title] : sections) items += element("li", element("a", {{"href", "#" + id}}, title));
  return element("nav", {{"aria-label", "Contents"}}, element("ul", items));
}

}  // namespace

std::string run_page(const RunStory& story) {
  Markup progress = convergence_by_evaluations(story);
  if (!progress.empty()) progress += legend();
  progress += convergence_by_cost(story);
  Markup costs = tokens_by_role(story);
  costs += timeline_rows(story);
  const Json result = story.run.result.value_or(Json());
  const std::vector<std::tuple<std::string, std::string, Markup>> parts{
      {"asked", "What was asked", asked(story)},
      {"figures", "The figures", speedup_by_workload(story)},
      {"convergence", "How it went", progress},
      {"candidates", "The candidates", story.attempts.empty() ? Markup() : candidate_tree(story)},
      {"change", "The winning change", winning_change(story)},
      {"tests", "What the tester wrote", list_of(tests_lines(result))},
      {"review", "What the reviewer decided", list_of(review_lines(result))},
      {"against", "Compared with", compared_with(story)},
      {"novelty", "What recipes could have made", novelty(story)},
      {"peaks", "Against the device's peaks", roofline_shares(story)},
      {"failed", "What failed, and why", failures(story)},
      {"learned", "What was learned", learned(story)},
      {"memory", "What memory gave", memory(story)},
      {"costs", "What it cost", costs},
      {"repeat", "How to repeat it", repeat(story)},
      {"machine", "Machine and trust", environment(story)},
  };
  std::vector<std::pair<std::string, std::string>> titles;
  Markup body;
  for (const auto& [id, title, content] : parts) {
    if (content.empty()) continue;
    titles.emplace_back(id, title);
    body += section(id, title, content);
  }
  Markup header = header_of(story);
  header += contents(titles);
  return page(fmt::format("{}: {}", story.run.task_name, story.run.id), header, body);
}

}  // namespace accelopt::report::html
