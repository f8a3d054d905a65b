// SPDX-License-Identifier: Apache-2.0
#include "report/html/run_plots.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "model/measure.hpp"
#include "report/explanation.hpp"
#include "report/format.hpp"
#include "report/html/page.hpp"
#include "report/html/plot.hpp"

namespace accelopt::report::html {
namespace {

/// Something that is spent, of a round or until an attempt was built.
struct Spending {
  std::string title;
  std::string unit;
  double (*until)(const StoryRound& round);
};

double evaluations_until(const StoryRound& round) {
  return round.evaluations;
}
double dollars_until(const StoryRound& round) {
  return round.usage.total_usd().value_or(0);
}
double tokens_until(const StoryRound& round) {
  return static_cast<double>(round.usage.tokens());
}

/// A candidate of a convergence plot.
struct Dot {
  const StoryAttempt* attempt;
  double x = 0;
  model::Interval speedup;
};

double last_of(const RunStory& story, const Spending& spending) {
  double last = 0;
  for (const StoryRound& round : story.rounds) last = std::max(last, spending.until(round));
  return last;
}

void draw_best(Plot& plot, const RunStory& story, const Spending& spending, double end) {
  std::vector<Plot::Point> steps{{0, 1}};
  for (const StoryRound& round : story.rounds) {
    if (round.incumbent) steps.push_back({spending.until(round), round.incumbent->score.estimate});
  }
  plot.steps(Mark::best, steps, end);
  for (const StoryRound& round : story.rounds) {
    if (!round.incumbent) continue;
    plot.interval(Mark::best, spending.until(round), round.incumbent->score);
    plot.mark(Mark::best, spending.until(round), round.incumbent->score.estimate,
              fmt::format("best after iteration {}: {}", round.iteration + 1, format_ratio(round.incumbent->score)));
  }
}

Markup convergence(const RunStory& story, const Spending& spending, const std::string& name,
                   const std::vector<Dot>& dots) {
  if (story.rounds.empty()) return {};
  const model::Evaluation* const confirmed = story.winner() != nullptr ? story.confirmation() : nullptr;
  std::vector<double> values;
  for (const Dot& dot : dots) values.push_back(dot.speedup.estimate);
  for (const StoryRound& round : story.rounds) {
    if (round.incumbent) values.insert(values.end(), {round.incumbent->score.low, round.incumbent->score.high});
  }
  if (confirmed != nullptr && confirmed->ratio)
    values.insert(values.end(), {confirmed->ratio->low, confirmed->ratio->high});
  double end = last_of(story, spending);
  for (const Dot& dot : dots) end = std::max(end, dot.x);
  if (end <= 0) return {};
  Plot plot(name, {spending.title, {0, end * 1.06}, Scale::linear, spending.unit},
            ratio_axis(fmt::format("{} over the baseline", model::measure_of(story.run.task).gain), values));
  plot.reference(1, "baseline");
  for (const Dot& dot : dots) {
    plot.mark(mark_of(dot.attempt->status, dot.attempt->verdict), dot.x, dot.speedup.estimate,
              fmt::format("{} {}: {}", model::to_string(dot.attempt->identity), dot.attempt->plan.title,
                          format_ratio(dot.speedup)));
  }
  draw_best(plot, story, spending, end);
  if (confirmed != nullptr && confirmed->ratio) {
    plot.interval(Mark::confirmed, end * 1.03, *confirmed->ratio);
    plot.mark(Mark::confirmed, end * 1.03, confirmed->ratio->estimate, "confirmed: " + format_ratio(*confirmed->ratio));
  }
  std::string description =
      "The line is the best candidate so far by the play-offs, with 95 % intervals; the diamond is the confirmed "
      "winner, "
      "measured again in fresh processes.";
  if (!dots.empty())
    description += " Every other symbol is a candidate: its own race's ratio times its parent's score.";
  return plot.finish(fmt::format("Best {} so far against {}", model::measure_of(story.run.task).gain, spending.title),
                     description);
}

Markup rounds_table(const RunStory& story, const std::string& caption) {
  Table table{caption,
              {{"iteration", Align::right},
               {"evaluations", Align::right},
               {"tokens", Align::right},
               {"cost", Align::right},
               {"best candidate"},
               {"best so far, in its play-off [95 %]", Align::right}},
              {}};
  for (const StoryRound& round : story.rounds) {
    const auto usd = round.usage.total_usd();
    table.rows.push_back(cells(
        {std::to_string(round.iteration + 1), std::to_string(round.evaluations), format_count(round.usage.tokens()),
         round.usage.calls == 0 ? "-"
         : usd                  ? format_usd(*usd)
                                : "unknown",
         round.incumbent ? model::to_string(round.incumbent->identity) + " " + round.incumbent->title : "the baseline",
         round.incumbent ? format_ratio(round.incumbent->score) : "1.00x"}));
  }
  const model::Evaluation* const confirmed = story.winner() != nullptr ? story.confirmation() : nullptr;
  if (confirmed != nullptr) {
    table.rows.push_back(
        cells({"confirmed", "", "", "", model::to_string(story.winner()->identity), ratio_text(confirmed->ratio)}));
  }
  return to_markup(table);
}

Markup candidates_table(const RunStory& story) {
  Table table{"Candidates in the order of their builds",
              {{"evaluation", Align::right},
               {"candidate"},
               {"plan"},
               {"fate"},
               {"over its parent [95 %]", Align::right},
               {"over the baseline, chained", Align::right},
               {"in its first play-off [95 %]", Align::right}},
              {}};
  std::vector<const StoryAttempt*> sorted;
  for (const StoryAttempt& attempt : story.attempts) sorted.push_back(&attempt);
  std::ranges::stable_sort(sorted, {}, [](const StoryAttempt* attempt) { return attempt->evaluation; });
  for (const StoryAttempt* attempt : sorted) {
    const auto chained = story.chained_speedup(*attempt);
    table.rows.push_back(
        cells({attempt->evaluation > 0 ? std::to_string(attempt->evaluation) : "-", model::to_string(attempt->identity),
               attempt->plan.title, fate_of(*attempt, model::measure_of(story.run.task)), ratio_text(attempt->ratio),
               chained ? format_ratio(chained->estimate) : "-", ratio_text(attempt->score)}));
  }
  return to_markup(table);
}

bool is_raced(const StoryAttempt& attempt) {
  return attempt.ratio && attempt.status == model::Status::passed && attempt.evaluation > 0 &&
         attempt.note != model::kKnownAlready;
}

const model::WorkloadTiming* workload_of(const std::vector<model::WorkloadTiming>& workloads, const std::string& name) {
  const auto found = std::ranges::find(workloads, name, &model::WorkloadTiming::name);
  return found == workloads.end() ? nullptr : &*found;
}

/// Spans that overlap or lie closer than `gap` become one.
std::vector<TimeSpan> merged(std::vector<TimeSpan> spans, double gap) {
  std::ranges::sort(spans, {}, &TimeSpan::begin);
  std::vector<TimeSpan> out;
  for (const TimeSpan& span : spans) {
    if (!out.empty() && span.begin <= out.back().end + gap)
      out.back().end = std::max(out.back().end, span.end);
    else
      out.push_back(span);
  }
  return out;
}

}  // namespace

std::string ratio_text(const std::optional<model::Interval>& ratio) {
  return ratio ? format_ratio(*ratio) : "-";
}

Markup convergence_by_evaluations(const RunStory& story) {
  std::vector<Dot> dots;
  for (const StoryAttempt& attempt : story.attempts) {
    if (is_raced(attempt))
      dots.push_back({&attempt, static_cast<double>(attempt.evaluation), *story.chained_speedup(attempt)});
  }
  Markup out = convergence(story, {"evaluations", "", evaluations_until}, "by-evaluations", dots);
  if (out.empty()) return out;
  Markup tables = rounds_table(story, "Best so far by iteration");
  tables += candidates_table(story);
  out += folded("The numbers of this plot", tables);
  return out;
}

Markup convergence_by_cost(const RunStory& story) {
  if (story.rounds.empty() || story.rounds.back().usage.calls == 0) return {};
  const bool priced = story.rounds.back().usage.total_usd().has_value();
  const Spending spending = priced ? Spending{"dollars", "", dollars_until} : Spending{"tokens", "", tokens_until};
  Markup out = convergence(story, spending, "by-cost", {});
  if (!out.empty()) out += folded("The numbers of this plot", rounds_table(story, "Best so far by " + spending.title));
  return out;
}

Markup speedup_by_workload(const RunStory& story) {
  const model::Evaluation* const confirmation = story.confirmation();
  if (confirmation == nullptr) return {};
  std::vector<std::string> names;
  std::vector<double> values;
  const model::Measure& measure = model::measure_of(story.run.task);
  Table table{measure.goal == "memory" ? "Confirmed peaks of memory by workload" : "Confirmed times by workload",
              {{"workload"},
               {"role"},
               {"baseline", Align::right},
               {"candidate", Align::right},
               {fmt::format("{} [95 %]", measure.by_workload), Align::right},
               {"of the roofline", Align::right}},
              {}};
  for (const model::WorkloadTiming& workload : confirmation->workloads) {
    if (!workload.ratio) continue;
    names.push_back(workload.name);
    values.insert(values.end(), {workload.ratio->low, workload.ratio->high});
    table.rows.push_back(cells({workload.name, std::string(to_string(workload.role)), format_reference(workload),
                                format_amount(workload), format_ratio(*workload.ratio),
                                workload.roofline ? format_percent(workload.roofline->fraction) : "-"}));
  }
  if (names.empty()) return {};
  Plot plot("by-workload",
            ratio_axis(measure.by_workload == measure.gain ? fmt::format("{} over the baseline", measure.gain)
                                                           : std::string(measure.by_workload),
                       values),
            {}, names);
  plot.reference(1, "baseline");
  double row = 0;
  for (const model::WorkloadTiming& workload : confirmation->workloads) {
    if (!workload.ratio) continue;
    plot.interval(Mark::confirmed, row, *workload.ratio);
    plot.mark(Mark::confirmed, workload.ratio->estimate, row,
              fmt::format("{}: {}", workload.name, format_ratio(*workload.ratio)));
    row += 1;
  }
  std::string title = fmt::format("{} by workload", measure.by_workload);
  title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
  Markup out = plot.finish(
      title,
      fmt::format("Each workload's {} with its 95 % interval as the confirmation measured it; held-out workloads "
                  "were never told to a model.",
                  measure.by_workload));
  out += to_markup(table);
  return out;
}

Markup roofline_shares(const RunStory& story) {
  std::vector<std::string> names;
  for (const model::WorkloadTiming& workload : story.baseline.workloads) {
    if (workload.role == model::Role::race && workload.roofline) names.push_back(workload.name);
  }
  if (names.empty()) return {};
  Plot plot("roofline", {"share of what the device's measured peaks allow", {0, 105}, Scale::linear, " %"}, {}, names);
  Table table{"Share of the roofline",
              {{"workload"}, {"bound by"}, {"kernel"}, {"time", Align::right}, {"share", Align::right}},
              {}};
  for (std::size_t row = 0; row < names.size(); ++row) {
    const auto add = [&](Mark mark, const std::string& kernel, const std::vector<model::WorkloadTiming>& workloads) {
      const model::WorkloadTiming* const workload = workload_of(workloads, names[row]);
      if (workload == nullptr || !workload->roofline) return;
      const double share = workload->roofline->fraction;
      plot.mark(mark, share * 100, static_cast<double>(row),
                fmt::format("{} on {}: {}", kernel, names[row], format_percent(share)));
      table.rows.push_back(cells({names[row], workload->roofline->bound == "memory" ? "memory" : "arithmetic", kernel,
                                  format_ns(workload->time_ns), format_percent(share)}));
    };
    add(Mark::baseline, "the baseline", story.baseline.workloads);
    for (const StoryAttempt& attempt : story.attempts) {
      if (is_raced(attempt))
        add(mark_of(attempt.status, attempt.verdict), model::to_string(attempt.identity), attempt.workloads);
    }
    if (story.winner() != nullptr) add(Mark::confirmed, "the winner, confirmed", story.confirmation()->workloads);
  }
  Markup out = plot.finish(
      "Roofline: baseline, candidates, winner",
      "How near each kernel's time comes to the least time that the device's measured bandwidth and arithmetic "
      "allow for the task's least bytes and operations. A kernel at 100 % may do other arithmetic than is counted.");
  out += folded("The numbers of this plot", to_markup(table));
  return out;
}

Markup timeline_rows(const RunStory& story) {
  const Timeline& time = story.timeline;
  if (time.wall_seconds <= 0) return {};
  const std::vector<std::pair<std::string, const WorkTime*>> rows{{"questions", &time.model},
                                                                  {"builds", &time.build},
                                                                  {"verification", &time.verify},
                                                                  {"measuring", &time.measure}};
  std::vector<std::string> names;
  Table table{"Where the time went (the rows overlap)",
              {{"work"}, {"steps", Align::right}, {"seconds", Align::right}, {"share of the run", Align::right}},
              {}};
  for (const auto& [name, work] : rows) {
    names.push_back(name);
    table.rows.push_back(cells({name, std::to_string(work->count), format_seconds(work->seconds),
                                format_percent(work->covered_seconds / time.wall_seconds)}));
  }
  table.rows.push_back(cells({"the device was idle", "", format_seconds(time.idle_seconds),
                              format_percent(time.idle_seconds / time.wall_seconds)}));
  Plot plot("timeline", {"seconds of the run", {0, time.wall_seconds}, Scale::linear, " s"}, {}, names);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    // Spans that no screen tells apart are drawn as one.
    for (const TimeSpan& span : merged(rows[row].second->spans, time.wall_seconds / 2000))
      plot.bar(row < 2 ? "first" : "second", static_cast<double>(row), {span.begin, span.end}, "");
  }
  Markup out = plot.finish("Timeline", "When questions, builds, verification and measuring went on.");
  out += folded("The numbers of this plot", to_markup(table));
  return out;
}

Markup tokens_by_role(const RunStory& story) {
  if (story.usage.empty()) return {};
  std::vector<std::string> names;
  double most = 1;
  Table table{"What the roles used",
              {{"role"},
               {"calls", Align::right},
               {"input tokens", Align::right},
               {"of them cached", Align::right},
               {"output tokens", Align::right},
               {"of them reasoning", Align::right},
               {"cost", Align::right}},
              {}};
  model::Usage total;
  const auto add = [&](const std::string& role, const model::Usage& usage) {
    const auto usd = usage.total_usd();
    table.rows.push_back(cells({role, format_count(usage.calls), format_count(usage.input_tokens),
                                format_count(usage.cached_input_tokens), format_count(usage.output_tokens),
                                format_count(usage.reasoning_tokens), usd ? format_usd(*usd) : "unknown"}));
  };
  for (const auto& [role, usage] : story.usage) {
    names.push_back(role);
    most = std::max(most, static_cast<double>(usage.tokens()));
    add(role, usage);
    total += usage;
  }
  add("all", total);
  Plot plot("tokens", {"tokens: questions, then answers", {0, most * 1.02}, Scale::linear, ""}, {}, names);
  double row = 0;
  for (const auto& [role, usage] : story.usage) {
    const auto input = static_cast<double>(usage.input_tokens);
    plot.bar("second", row, {0, input}, fmt::format("{}: {} input tokens", role, format_count(usage.input_tokens)));
    plot.bar("first", row, {input, static_cast<double>(usage.tokens())},
             fmt::format("{}: {} output tokens", role, format_count(usage.output_tokens)));
    row += 1;
  }
  Markup out = plot.finish("Tokens by role", "Tokens of the questions, then of the answers, for each role.");
  out += to_markup(table);
  return out;
}

Markup legend() {
  static const std::vector<std::pair<Mark, const char*>> kMarks{{Mark::baseline, "baseline"},
                                                                {Mark::faster, "better than its parent"},
                                                                {Mark::slower, "worse"},
                                                                {Mark::tie, "a tie"},
                                                                {Mark::undecided, "undecided"},
                                                                {Mark::failed, "failed"},
                                                                {Mark::known, "known already"},
                                                                {Mark::best, "best so far"},
                                                                {Mark::confirmed, "confirmed winner"}};
  Markup items;
  for (const auto& [mark, meaning] : kMarks) {
    Markup item = element("svg", {{"viewBox", "0 0 16 16"}, {"aria-hidden", "true"}}, symbol(mark, 8, 8, ""));
    item += text(std::string(" ") + meaning);
    items += element("li", item);
  }
  return element("ul", {{"class", "legend"}}, items);
}

}  // namespace accelopt::report::html
