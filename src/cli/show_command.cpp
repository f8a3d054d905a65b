// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "app/cost.hpp"
#include "app/estimate.hpp"
#include "app/run.hpp"
#include "app/workspace.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/estimate_text.hpp"
#include "cli/search_flags.hpp"
#include "evaluation/evaluator_json.hpp"
#include "evaluation/race/recompute.hpp"
#include "report/document.hpp"
#include "report/format.hpp"
#include "report/text_table.hpp"
#include "report/text_width.hpp"
#include "report/timeline.hpp"
#include "report/tuning_text.hpp"

namespace accelopt::cli {
namespace {

using base::Json;
using model::StepKind;

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

bool is_kind(const journal::StepRecord& step, StepKind kind) {
  return model::step_kind(step.key.kind) == kind;
}

double seconds(const journal::StepRecord& step) {
  return std::chrono::duration<double>(step.duration).count();
}

/// Who wrote an answer: the model that the role was played by, or for a chat as its server names itself.
std::string author_of(const journal::StepRecord& step) {
  const auto found = step.output.find(is_kind(step, StepKind::chat) ? "model" : "author");
  return step.output.is_object() && found != step.output.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Of a run's several workers the one that made a measurement; empty: there was one, or it is no measurement.
std::string worker_of(const journal::StepRecord& step) {
  const Json nothing = Json::object();
  if (!step.output.is_object()) return "";
  const Json& evaluation = is_kind(step, StepKind::open) ? step.output.value("baseline", nothing) : step.output;
  return evaluation.value("environment", nothing).value("worker", "");
}

base::Result<Exit> show_json(const journal::RunInfo& run, const std::vector<journal::StepRecord>& steps, bool samples) {
  Json out = {{"type", "run_detail"},
              {"schema", 1},
              {"run", run.id},
              {"task", run.task_name},
              {"created", run.created},
              {"status", to_string(run.status)},
              {"settings", run.settings},
              {"result", run.result ? *run.result : Json()},
              {"decision_hash", run.decision_hash.empty() ? Json() : Json(run.decision_hash)},
              {"steps", Json::array()}};
  for (const journal::StepRecord& step : steps) {
    Json line = {{"id", model::to_string(step.key.identity)},
                 {"kind", step.key.kind},
                 {"seconds", seconds(step)},
                 {"usage", step.usage}};
    if (const std::string author = author_of(step); !author.empty()) line["author"] = author;
    if (const std::string worker = worker_of(step); !worker.empty()) line["worker"] = worker;
    if (samples && step.output.contains("samples")) line["samples"] = step.output["samples"];
    if (step.output.contains("tuning") && !step.output["tuning"].is_null()) {
      line["tuning"] = step.output["tuning"];
      if (!samples) line["tuning"].erase("heats");
    }
    out["steps"].push_back(std::move(line));
  }
  fmt::print("{}\n", base::canonical(out));
  return Exit::done;
}

/// One line for each plan that was asked for, with what came of its candidates.
void add_plans(report::Document& page, const std::vector<journal::StepRecord>& steps) {
  const auto used = usage_by_plan(steps);
  const bool asked = std::any_of(used.begin(), used.end(), [](const auto& plan) { return plan.second.calls > 0; });
  std::vector<report::Column> columns{{"id"}, {"by"}, {"plan"}};
  if (asked) columns.push_back({"cost", report::Align::right});
  report::TextTable table(columns);
  const auto add = [&](const journal::StepRecord& step, const model::Identity& identity, const std::string& text) {
    const std::string id = model::to_string(identity);
    std::vector<std::string> cells{id, author_of(step), text};
    if (asked) cells.push_back(used.contains(id) ? cost_text(used.at(id)) : "-");
    table.add(cells);
  };
  for (const journal::StepRecord& step : steps) {
    const bool several = is_kind(step, StepKind::plans);
    if (!several && !is_kind(step, StepKind::plan)) continue;
    if (!step.output.value("answered", false)) {
      add(step, step.key.identity, "no answer: " + step.output.value("lost", ""));
    } else if (several) {
      const Json& plans = step.output["value"];
      add(step, step.key.identity, fmt::format("(one question for {} plans)", plans.size()));
      model::Identity identity = step.key.identity;
      for (identity.plan = 0; identity.plan < static_cast<int>(plans.size()); ++identity.plan)
        add(step, identity, plans[static_cast<std::size_t>(identity.plan)].value("title", ""));
    } else {
      add(step, step.key.identity, step.output["value"].value("title", ""));
    }
  }
  page.heading("Plans");
  page.table(std::move(table));
}

void add_races(report::Document& page, const std::vector<journal::StepRecord>& steps) {
  report::TextTable table({{"race"},
                           {"source"},
                           {"status"},
                           {"verdict"},
                           {"ratio [95 %]", report::Align::right},
                           {"blocks", report::Align::right},
                           {"decided by"}});
  for (const journal::StepRecord& step : steps) {
    if (!is_kind(step, StepKind::triage) && !is_kind(step, StepKind::confirm)) continue;
    const auto evaluation = base::decode<model::Evaluation>(step.output, "journal");
    if (!evaluation) continue;
    table.add({std::string(model::step_head(step.key.kind)) + " " + model::to_string(step.key.identity),
               evaluation->source_id.substr(0, 10), std::string(model::to_string(evaluation->status)),
               std::string(model::to_string(evaluation->verdict)),
               evaluation->ratio ? report::format_ratio(*evaluation->ratio) : "-", std::to_string(evaluation->blocks),
               std::string(to_string(evaluation->decided_by))});
  }
  page.heading("Races (triage: against its parent; confirm: against the baseline)");
  page.table(std::move(table));
}

/// What confirmations said besides numbers: why one failed, what was checked and what could not be.
void add_confirmations(report::Document& page, const std::vector<journal::StepRecord>& steps) {
  std::string text;
  for (const journal::StepRecord& step : steps) {
    if (!is_kind(step, StepKind::confirm)) continue;
    const auto evaluation = base::decode<model::Evaluation>(step.output, "journal");
    if (!evaluation) continue;
    const std::string source = evaluation->source_id.substr(0, 10);
    if (!evaluation->reason.empty()) {
      const std::string line(base::first_line(evaluation->reason));
      text += fmt::format("  {}: {}\n", source, report::printable(line));
    }
    for (const std::string& note : evaluation->notes)
      text += fmt::format("  {}: {}\n", source, report::printable(note));
  }
  if (text.empty()) return;
  page.heading("Confirmations");
  page.text(std::move(text));
}

/// Which model answered whom, and what it used: one line for each role and model.
void add_models(report::Document& page, const std::vector<journal::StepRecord>& steps) {
  std::map<std::pair<std::string, std::string>, model::Usage> used;
  for (const journal::StepRecord& step : steps) {
    if (!is_kind(step, StepKind::chat)) continue;
    const auto role = model::role_of_label(model::step_suffix(step.key.kind));
    used[{std::string(role ? to_string(*role) : "?"), author_of(step)}] += step.usage;
  }
  if (used.empty()) return;
  report::TextTable table({{"role"},
                           {"model"},
                           {"calls", report::Align::right},
                           {"input", report::Align::right},
                           {"cached", report::Align::right},
                           {"output", report::Align::right},
                           {"reasoning", report::Align::right},
                           {"$", report::Align::right}});
  for (const auto& [who, usage] : used) {
    table.add({who.first, who.second, std::to_string(usage.calls), std::to_string(usage.input_tokens),
               std::to_string(usage.cached_input_tokens), std::to_string(usage.output_tokens),
               std::to_string(usage.reasoning_tokens),
               usage.total_usd() ? fmt::format("{:.4f}", *usage.total_usd()) : std::string("unknown")});
  }
  page.heading("Models (tokens of all answers that arrived)");
  page.table(std::move(table));
}

/// What became of the candidates that left values open.
void add_tuning(report::Document& page, const std::vector<journal::StepRecord>& steps) {
  constexpr int kRows = 5;
  bool first = true;
  for (const journal::StepRecord& step : steps) {
    if (!is_kind(step, StepKind::triage)) continue;
    const auto evaluation = base::decode<model::Evaluation>(step.output, "journal");
    if (!evaluation || !evaluation->tuning) continue;
    if (first) page.heading("Tuned kernels (speed: the chosen configuration's time / its time)");
    first = false;
    page.text(fmt::format("{} {}: {}\n{}", model::to_string(step.key.identity), evaluation->source_id.substr(0, 10),
                          report::tuning_line(*evaluation->tuning), report::tuning_table(*evaluation->tuning, kRows)));
  }
}

/// Where the time went, by kind of step.
void add_times(report::Document& page, const std::vector<journal::StepRecord>& steps) {
  std::map<std::string, std::pair<int, double>> kinds;
  for (const journal::StepRecord& step : steps) {
    if (is_kind(step, StepKind::session) || is_kind(step, StepKind::decisions)) continue;  // marks, which take no time
    auto& [count, total] = kinds[std::string(model::step_head(step.key.kind))];
    ++count;
    total += seconds(step);
  }
  report::TextTable table({{"step"}, {"count", report::Align::right}, {"seconds", report::Align::right}});
  for (const auto& [kind, sum] : kinds) table.add({kind, std::to_string(sum.first), fmt::format("{:.2f}", sum.second)});
  page.heading("Time by step (steps overlap)");
  page.table(std::move(table));
}

/// The verdict that the samples give, by the rules of today.
void add_recomputed(report::Document& page, const journal::RunInfo& run, const journal::StepRecord& step) {
  const auto evaluation = base::decode<model::Evaluation>(step.output, "journal");
  const auto measure =
      base::decode<evaluation::MeasureSettings>(run.settings.value("measure", Json::object()), "journal");
  if (!evaluation || !measure) return;
  const auto again = evaluation::recompute(run.task, *measure, *evaluation);
  if (!again) return;
  page.text(fmt::format("  from these samples: {} {} after {} blocks{}\n", model::to_string(again->verdict),
                        report::format_ratio(again->ratio), again->blocks,
                        again->verdict == evaluation->verdict
                            ? ", as recorded"
                            : fmt::format("; recorded was {}", model::to_string(evaluation->verdict))));
}

/// " at 1980 and 1965 MHz", the lowest of either arm's calls; empty where the device's clock is unknown.
std::string clocks_text(const Json& sample) {
  std::vector<double> least;
  for (const char* arm : {"reference_mhz", "candidate_mhz"}) {
    const auto clocks = sample.value(arm, std::vector<double>());
    if (clocks.empty()) return {};
    least.push_back(*std::min_element(clocks.begin(), clocks.end()));
  }
  return fmt::format(" at {:.0f} and {:.0f} MHz", least[0], least[1]);
}

void add_samples(report::Document& page, const journal::RunInfo& run, const std::vector<journal::StepRecord>& steps) {
  for (const journal::StepRecord& step : steps) {
    if (!step.output.contains("samples") || step.output["samples"].empty()) continue;
    page.heading(fmt::format("{} {}: nanoseconds by block, opponent then candidate", step.key.kind,
                             model::to_string(step.key.identity)));
    std::string lines;
    for (const Json& sample : step.output["samples"]) {
      lines += fmt::format("  {} {}{}{}\n", sample["reference_ns"].dump(), sample["candidate_ns"].dump(),
                           clocks_text(sample), sample.value("disturbed", false) ? " disturbed" : "");
    }
    page.text(std::move(lines));
    add_recomputed(page, run, step);
  }
}

base::Result<Exit> show_candidate(journal::Journal& journal, const std::vector<journal::StepRecord>& steps,
                                  const std::string& id) {
  for (const journal::StepRecord& step : steps) {
    const bool by_identity =
        model::to_string(step.key.identity) == id && (is_kind(step, StepKind::execute) || is_kind(step, StepKind::fix));
    const bool by_source = is_kind(step, StepKind::build) && model::step_suffix(step.key.kind).starts_with(id);
    if (by_identity && step.output.value("answered", false)) {
      TRY_ASSIGN(const auto solution, base::decode<model::Solution>(step.output["value"], "journal"));
      fmt::print("{}", model::main_text(solution));
      return Exit::done;
    }
    if (by_source) {
      TRY_ASSIGN(const auto solution, journal.load_solution(model::step_suffix(step.key.kind)));
      fmt::print("{}", model::main_text(solution));
      return Exit::done;
    }
  }
  return base::fail(
      base::ErrorCode::not_found,
      "no candidate " + id + " in this run; `accelopt show` lists identities (i0.b0.p1.a0.f0) and source ids");
}

base::Result<Exit> show_timeline(const journal::RunInfo& run, const std::vector<journal::StepRecord>& steps,
                                 const ShowOptions& options) {
  const report::Timeline timeline = report::timeline_of(steps);
  if (options.json) {
    Json line = report::to_json(timeline);
    line["run"] = run.id;
    fmt::print("{}\n", base::canonical(line));
  } else {
    fmt::print("run {}: {}", run.id, report::to_text(timeline));
  }
  return Exit::done;
}

/// The decision log, an entry a line: nothing in it depends on time or on the order of arrival.
base::Result<Exit> show_decisions(const journal::RunInfo& run, const std::vector<journal::StepRecord>& steps) {
  for (const journal::StepRecord& step : steps) {
    if (!is_kind(step, StepKind::decisions)) continue;
    for (const Json& entry : step.output) fmt::print("{}\n", base::canonical(entry));
    return Exit::done;
  }
  return base::fail(base::ErrorCode::not_found,
                    "run " + run.id +
                        " has no decision log on record: it has not ended, or an older version made it; `accelopt "
                        "replay " +
                        run.id + "` repeats its decisions");
}

/// How the run stands, in a few lines.
std::string header_text(const journal::RunInfo& run) {
  std::string text =
      fmt::format("run {}: {} ({}), started {}\n", run.id, run.task_name, to_string(run.status), run.created);
  if (const auto settings = run_settings_from(run.settings))
    text += fmt::format("measures {}\n", place_of(settings->device));
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
report::Document page_of(const journal::RunInfo& run, const std::vector<journal::StepRecord>& steps,
                         const std::vector<model::Experience>& experiences, bool samples) {
  report::Document page("Run " + run.id + " of " + run.task_name);
  page.text(header_text(run));
  const RoleUsage usage = usage_by_role(steps);
  const int gains = run.result ? run.result->value("gains", 0) : 0;
  if (std::string cost = describe_cost(usage.by_role, usage.plans, gains); !cost.empty()) {
    page.heading("Cost (plan: with its attempts and fixes)");
    page.text(std::move(cost));
  }
  if (run.result && run.result->contains("estimate"))
    page.text("\n" + describe(comparisons_of((*run.result)["estimate"])));
  add_plans(page, steps);
  add_models(page, steps);
  add_races(page, steps);
  add_confirmations(page, steps);
  add_tuning(page, steps);
  if (!experiences.empty()) page.heading("Experiences");
  for (const model::Experience& experience : experiences) {
    page.text(fmt::format("  {} {} ({} {})\n", experience.id, experience.title, model::to_string(experience.polarity),
                          experience.effect ? report::format_ratio(*experience.effect) : std::string("-")));
  }
  add_times(page, steps);
  if (samples) add_samples(page, run, steps);
  return page;
}

base::Result<Exit> show(const ShowOptions& options) {
  const bool whole = options.candidate.empty() && !options.timeline && !options.decisions && !options.json;
  if (!options.export_markdown.empty() && !whole) {
    return refuse_options(
        {base::ErrorCode::invalid_argument,
         "--export-markdown writes what `show` prints of a whole run; leave out CANDIDATE, --timeline, "
         "--decisions and --json"});
  }
  TRY_ASSIGN(const auto journal, open_workspace(find_workspace(options.workspace), journal::Access::read_only));
  TRY_ASSIGN(const journal::RunInfo run, journal->find_run(options.run));
  TRY_ASSIGN(const auto steps, journal->steps(run.id));
  if (!options.candidate.empty()) return show_candidate(*journal, steps, options.candidate);
  if (options.timeline) return show_timeline(run, steps, options);
  if (options.decisions) return show_decisions(run, steps);
  if (options.json) return show_json(run, steps, options.samples);
  TRY_ASSIGN(const auto experiences, journal->experiences(run.id));
  const report::Document page = page_of(run, steps, experiences, options.samples);
  fmt::print("{}", page.to_text());
  TRY(report::export_markdown(page, options.export_markdown));
  return Exit::done;
}

}  // namespace

void add_show(CommandLine& app, Action& chosen) {
  Command command = app.add("show", "Show what a run did: plans, races, experiences, time");
  command.footer(
      "Examples:\n"
      "  accelopt show\n"
      "  accelopt show last i0.b0.p1.a0.f0      the source of one candidate\n"
      "  accelopt show last --samples           the raw times that every verdict rests on\n"
      "  accelopt show last --timeline          where the time went, and how busy the device was\n");
  auto options = std::make_shared<ShowOptions>();
  command.option("run", &options->run, "A run's id, the beginning of one, or last").show_default();
  command.option("candidate", &options->candidate, "An identity or the beginning of a source id: prints its source");
  command.flag("--samples", options->samples, "Also the raw samples");
  command.flag("--timeline", options->timeline,
               "Where the time went (model, build, verify, measure, idle), and the device's utilisation");
  command.flag("--decisions", options->decisions, "The log of decisions, one JSON object a line, that the hash is of");
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.flag("--json", options->json, "One JSON object (docs/json.md)");
  command.option("--export-markdown", &options->export_markdown, "Also write what is shown to this file, as Markdown");
  command.chosen([&chosen, options] { chosen = [options](Shell&) { return show(*options); }; });
}

}  // namespace accelopt::cli
