// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "app/cost.hpp"
#include "app/estimate.hpp"
#include "app/run.hpp"
#include "app/run_detail.hpp"
#include "app/workspace.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/estimate_text.hpp"
#include "cli/search_flags.hpp"
#include "report/document.hpp"
#include "report/format.hpp"
#include "report/text_table.hpp"
#include "report/text_width.hpp"
#include "report/timeline.hpp"
#include "report/tuning_text.hpp"

namespace accelopt::cli {
namespace {

using base::Json;

struct ShowOptions {
  std::string run = "last";
  std::string candidate;
  std::string workspace;
  bool json = false;
  bool samples = false;
  bool timeline = false;
  bool decisions = false;
  std::string export_markdown;
};

/// One line for each plan that was asked for, with what came of its candidates.
void add_plans(report::Document& page, const app::RunDetail& detail) {
  const auto plans = detail.plans();
  const bool asked = std::any_of(plans.begin(), plans.end(),
                                 [](const app::ShownPlan& plan) { return plan.usage && plan.usage->calls > 0; });
  std::vector<report::Column> columns{{"id"}, {"by"}, {"plan"}};
  if (asked) columns.push_back({"cost", report::Align::right});
  report::TextTable table(columns);
  for (const app::ShownPlan& plan : plans) {
    std::vector<std::string> cells{plan.id, plan.author, plan.text};
    if (asked) cells.push_back(plan.usage ? app::cost_text(*plan.usage) : "-");
    table.add(cells);
  }
  page.heading("Plans");
  page.table(std::move(table));
}

/// The beginning of a source id.
std::string short_source(const model::Evaluation& evaluation) {
  return evaluation.source_id.substr(0, 10);
}

void add_races(report::Document& page, const std::vector<app::ShownRace>& races) {
  report::TextTable table({{"race"},
                           {"source"},
                           {"status"},
                           {"verdict"},
                           {"ratio [95 %]", report::Align::right},
                           {"blocks", report::Align::right},
                           {"decided by"}});
  for (const app::ShownRace& race : races) {
    const model::Evaluation& evaluation = race.evaluation;
    table.add({fmt::format("{} {}", to_string(race.kind), model::to_string(race.identity)), short_source(evaluation),
               std::string(model::to_string(evaluation.status)), std::string(model::to_string(evaluation.verdict)),
               evaluation.ratio ? report::format_ratio(*evaluation.ratio) : "-", std::to_string(evaluation.blocks),
               std::string(to_string(evaluation.decided_by))});
  }
  page.heading("Races (triage: against its parent; confirm: against the baseline)");
  page.table(std::move(table));
}

/// What confirmations said besides numbers: why one failed, what was checked and what could not be.
void add_confirmations(report::Document& page, const std::vector<app::ShownRace>& races) {
  std::string text;
  for (const auto& [step, kind, identity, evaluation] : races) {
    if (kind != model::StepKind::confirm) continue;
    const std::string source = short_source(evaluation);
    if (!evaluation.reason.empty()) {
      const std::string line(base::first_line(evaluation.reason));
      text += fmt::format("  {}: {}\n", source, report::printable(line));
    }
    for (const std::string& note : evaluation.notes) text += fmt::format("  {}: {}\n", source, report::printable(note));
  }
  if (text.empty()) return;
  page.heading("Confirmations");
  page.text(std::move(text));
}

/// Which model answered whom, and what it used: one line for each role and model.
void add_models(report::Document& page, const std::vector<app::ModelUse>& models) {
  if (models.empty()) return;
  report::TextTable table({{"role"},
                           {"model"},
                           {"calls", report::Align::right},
                           {"input", report::Align::right},
                           {"cached", report::Align::right},
                           {"output", report::Align::right},
                           {"reasoning", report::Align::right},
                           {"$", report::Align::right}});
  for (const auto& [role, name, usage] : models) {
    table.add({role, name, std::to_string(usage.calls), std::to_string(usage.input_tokens),
               std::to_string(usage.cached_input_tokens), std::to_string(usage.output_tokens),
               std::to_string(usage.reasoning_tokens),
               usage.total_usd() ? fmt::format("{:.4f}", *usage.total_usd()) : std::string("unknown")});
  }
  page.heading("Models (tokens of all answers that arrived)");
  page.table(std::move(table));
}

/// What became of the candidates that left values open.
void add_tuning(report::Document& page, const std::vector<app::ShownRace>& races) {
  constexpr int kRows = 5;
  bool first = true;
  for (const auto& [step, kind, identity, evaluation] : races) {
    if (kind != model::StepKind::triage || !evaluation.tuning) continue;
    if (first) page.heading("Tuned kernels (speed: the chosen configuration's time / its time)");
    first = false;
    page.text(fmt::format("{} {}: {}\n{}", model::to_string(identity), short_source(evaluation),
                          report::tuning_line(*evaluation.tuning), report::tuning_table(*evaluation.tuning, kRows)));
  }
}

/// Where the time went, by kind of step.
void add_times(report::Document& page, const app::RunDetail& detail) {
  report::TextTable table({{"step"}, {"count", report::Align::right}, {"seconds", report::Align::right}});
  for (const auto& [kind, count, seconds] : detail.times())
    table.add({kind, std::to_string(count), fmt::format("{:.2f}", seconds)});
  page.heading("Time by step (steps overlap)");
  page.table(std::move(table));
}

/// " at 1980 and 1965 MHz", the lowest of either arm's calls; empty where the device's clock is unknown.
std::string clocks_text(const model::BlockSample& sample) {
  if (sample.reference_mhz.empty() || sample.candidate_mhz.empty()) return {};
  return fmt::format(" at {:.0f} and {:.0f} MHz", std::ranges::min(sample.reference_mhz),
                     std::ranges::min(sample.candidate_mhz));
}

/// The raw times, and the verdict that they give by the rules of today.
void add_samples(report::Document& page, const app::RunDetail& detail, const std::vector<app::ShownRace>& races) {
  for (const app::ShownRace& race : races) {
    const model::Evaluation& evaluation = race.evaluation;
    if (evaluation.samples.empty()) continue;
    page.heading(fmt::format("{} {}: nanoseconds by block, opponent then candidate", race.step,
                             model::to_string(race.identity)));
    std::string lines;
    for (const model::BlockSample& sample : evaluation.samples) {
      lines += fmt::format("  {} {}{}{}\n", Json(sample.reference_ns).dump(), Json(sample.candidate_ns).dump(),
                           clocks_text(sample), sample.disturbed ? " disturbed" : "");
    }
    page.text(std::move(lines));
    const auto again = detail.recomputed(race);
    if (!again) continue;
    page.text(fmt::format("  from these samples: {} {} after {} blocks{}\n", model::to_string(again->verdict),
                          report::format_ratio(again->ratio), again->blocks,
                          again->verdict == evaluation.verdict
                              ? ", as recorded"
                              : fmt::format("; recorded was {}", model::to_string(evaluation.verdict))));
  }
}

void show_timeline(const app::RunDetail& detail, const ShowOptions& options) {
  const report::Timeline timeline = report::timeline_of(detail.steps());
  if (options.json) {
    Json line = report::to_json(timeline);
    line["run"] = detail.run().id;
    fmt::print("{}\n", base::canonical(line));
  } else {
    fmt::print("run {}: {}", detail.run().id, report::to_text(timeline));
  }
}

/// How the run stands, in a few lines.
std::string header_text(const journal::RunInfo& run) {
  std::string text =
      fmt::format("run {}: {} ({}), started {}\n", run.id, run.task_name, to_string(run.status), run.created);
  if (const auto settings = app::run_settings_from(run.settings))
    text += fmt::format("measures {}\n", app::place_of(settings->device));
  if (run.result) {
    const Json& result = *run.result;
    text += fmt::format("outcome {}, stopped by {}", result.value("outcome", "?"), result.value("stopped_by", "?"));
    if (!result["speedup"].is_null()) text += ", " + report::format_ratio(result["speedup"].get<model::Interval>());
    text += "\n";
  }
  if (!run.decision_hash.empty()) text += fmt::format("decisions {}\n", run.decision_hash);
  return text;
}

/// All that is told about a run.
base::Result<report::Document> page_of(const app::RunDetail& detail, app::RawSamples samples) {
  const journal::RunInfo& run = detail.run();
  report::Document page("Run " + run.id + " of " + run.task_name);
  page.text(header_text(run));
  const app::RoleUsage usage = app::usage_by_role(detail.steps());
  const int gains = run.result ? run.result->value("gains", 0) : 0;
  if (std::string cost = app::describe_cost(usage.by_role, usage.plans, gains); !cost.empty()) {
    page.heading("Cost (plan: with its attempts and fixes)");
    page.text(std::move(cost));
  }
  if (run.result && run.result->contains("estimate"))
    page.text("\n" + describe(app::comparisons_of((*run.result)["estimate"])));
  const auto races = detail.races();
  add_plans(page, detail);
  add_models(page, detail.models());
  add_races(page, races);
  add_confirmations(page, races);
  add_tuning(page, races);
  TRY_ASSIGN(const auto experiences, detail.experiences());
  if (!experiences.empty()) page.heading("Experiences");
  for (const model::Experience& experience : experiences) {
    const bool mends = experience.polarity == model::Polarity::mends;
    page.text(fmt::format("  {} {} ({}{} {})\n", experience.id, experience.title, model::to_string(experience.polarity),
                          mends ? ", then" : "",
                          experience.effect ? report::format_ratio(*experience.effect) : std::string("-")));
  }
  add_times(page, detail);
  if (samples == app::RawSamples::kept) add_samples(page, detail, races);
  return page;
}

/// Why these options do not go together; empty: they do.
std::string clash_of(const ShowOptions& options) {
  std::vector<std::string> parts;  // of a run, each shown by itself
  if (!options.candidate.empty()) parts.emplace_back("CANDIDATE");
  if (options.timeline) parts.emplace_back("--timeline");
  if (options.decisions) parts.emplace_back("--decisions");
  if (!options.export_markdown.empty() && (!parts.empty() || options.json)) {
    return "--export-markdown writes what `show` prints of a whole run; leave out CANDIDATE, --timeline, --decisions "
           "and --json";
  }
  if (parts.size() > 1) return "one thing is shown at a time; give one of " + base::joined(parts, ", ");
  if (options.samples && !parts.empty())
    return "--samples adds to what `show` prints of a whole run; leave out " + parts.front();
  if (options.json && !options.candidate.empty()) return "CANDIDATE is printed as its source; leave out --json";
  return "";
}

base::Result<Exit> show(const ShowOptions& options) {
  if (const std::string reason = clash_of(options); !reason.empty())
    return refuse_options({base::ErrorCode::invalid_argument, reason});
  TRY_ASSIGN(const app::RunDetail detail, app::RunDetail::read(app::find_workspace(options.workspace), options.run));
  const app::RawSamples samples = options.samples ? app::RawSamples::kept : app::RawSamples::left_out;
  if (!options.candidate.empty()) {
    TRY_ASSIGN(const auto solution, detail.candidate(options.candidate));
    fmt::print("{}", model::changeable_text(solution));
  } else if (options.timeline) {
    show_timeline(detail, options);
  } else if (options.decisions) {
    // An entry a line: nothing in it depends on time or on the order of arrival.
    TRY_ASSIGN(Json decisions, detail.decisions());
    for (Json& entry : decisions) {
      if (entry.is_object()) entry.update({{"type", "decision"}, {"schema", 1}});
      fmt::print("{}\n", base::canonical(entry));
    }
  } else if (options.json) {
    fmt::print("{}\n", base::canonical(to_json(detail, samples)));
  } else {
    TRY_ASSIGN(const report::Document page, page_of(detail, samples));
    fmt::print("{}", page.to_text());
    TRY(report::export_markdown(page, options.export_markdown));
  }
  return Exit::done;
}

}  // namespace

void add_show(CommandLine& app, Action& chosen) {
  Command command = app.add("show", "Show what a run did: plans, races, experiences, time");
  command.footer(
      "Examples:\n"
      "  accelopt show\n"
      "  accelopt show last i0.b0.p1.a0.f0      the source of one candidate\n"
      "  accelopt show last --samples           the raw times behind every verdict\n"
      "  accelopt show last --timeline          where the time went, and how busy the device was\n");
  auto options = std::make_shared<ShowOptions>();
  command.option("run", &options->run, "A run's id, the beginning of one, or last").show_default();
  command.option("candidate", &options->candidate,
                 "A candidate's id or the beginning of a source id: prints its source");
  command.flag("--samples", options->samples, "Also the raw samples");
  command.flag("--timeline", options->timeline,
               "Where the time went (model, build, verify, measure, idle), and the device's utilisation");
  command.flag("--decisions", options->decisions,
               "The log of decisions behind the decision hash, one JSON object per line");
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.flag("--json", options->json, "One JSON object (docs/json.md)");
  command.option("--export-markdown", &options->export_markdown, "Also write what is shown to this file, as Markdown");
  command.chosen([&chosen, options] { chosen = [options](app::Shell&) { return show(*options); }; });
}

}  // namespace accelopt::cli
