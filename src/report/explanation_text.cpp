// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/explanation.hpp"
#include "report/format.hpp"
#include "report/text_table.hpp"
#include "report/text_width.hpp"

namespace accelopt::report {
namespace {

/// Of another's words in a line, columns.
constexpr std::size_t kMostWhy = 240;
/// Of a step's diff, lines; `--json` and the report have all.
constexpr int kMostDiffLines = 60;

enum class Form { text, markdown };

/// Writes the lesson's parts for a terminal or as Markdown; words of others never become markup or control a terminal.
class Writer {
 public:
  explicit Writer(Form form) : form_(form) {}

  void heading(int level, const std::string& title) {
    if (!out_.empty()) out_ += "\n";
    const std::string clean = word(title);
    if (form_ == Form::markdown) {
      out_ += std::string(static_cast<std::size_t>(level), '#') + " " + clean + "\n\n";
    } else {
      out_ += clean + "\n";
      out_ += level < 3 ? std::string(display_width(clean), level == 1 ? '=' : '-') + "\n" : "";
    }
  }
  void paragraph(const std::string& words) {
    if (words.empty()) return;
    // Lines of others stay lines; an empty one is no end of the lesson.
    for (std::size_t at = 0; at < words.size();) {
      const std::size_t end = std::min(words.find('\n', at), words.size());
      out_ += word(words.substr(at, end - at));
      out_ += form_ == Form::markdown ? "  \n" : "\n";
      at = end + 1;
    }
    if (form_ == Form::markdown) out_ += "\n";
  }
  void item(const std::string& words) { out_ += (form_ == Form::markdown ? "* " : "  * ") + word(words) + "\n"; }
  void end_list() { out_ += form_ == Form::markdown ? "\n" : ""; }

  /// The beginning of a diff, as a block that nothing in it can end.
  void diff(const std::string& unified) {
    std::string shown;
    int lines = 0;
    std::size_t at = 0;
    for (; at < unified.size() && lines < kMostDiffLines; ++lines) {
      const std::size_t end = std::min(unified.find('\n', at), unified.size());
      shown += (form_ == Form::text ? "    " : "") + printable(unified.substr(at, end - at)) + "\n";
      at = end + 1;
    }
    const auto left =
        at < unified.size() ? std::count(unified.begin() + static_cast<std::ptrdiff_t>(at), unified.end(), '\n') : 0;
    const std::string more = left > 0 ? fmt::format("... {} more lines of the diff\n", left) : "";
    if (form_ == Form::text) {
      out_ += shown + (more.empty() ? "" : "    " + more);
      return;
    }
    std::size_t ticks = 3;
    for (std::size_t run = 0, i = 0; i < shown.size(); ++i) {
      run = shown[i] == '`' ? run + 1 : 0;
      ticks = std::max(ticks, run + 1);
    }
    const std::string fence(ticks, '`');
    out_ += fence + "diff\n" + shown + fence + "\n\n" + (more.empty() ? "" : more + "\n");
  }
  void table(const TextTable& table) { out_ += form_ == Form::markdown ? table.markdown() + "\n" : table.render(); }

  std::string take() { return std::move(out_); }

 private:
  [[nodiscard]] std::string word(const std::string& words) const {
    return form_ == Form::markdown ? markdown_cell(printable(words)) : printable(words);
  }

  Form form_;
  std::string out_;
};

std::string first_of(const std::string& why) {
  const std::string_view line = base::first_line(why);
  return clip(printable(line), kMostWhy);
}

std::string beside_text(const TriedBeside& one) {
  std::string words = fmt::format("{} {}: {}", model::to_string(one.identity), one.title, one.fate);
  if (one.ratio) words += fmt::format(", {} of its parent's speed", format_ratio(*one.ratio));
  if (!one.why.empty() && one.why != model::kKnownAlready) words += ": " + first_of(one.why);
  return words;
}

void write_step(Writer& out, const LessonStep& step, std::size_t number) {
  const bool first = step.parent == model::Identity{};
  out.heading(2, fmt::format("Step {}: {}", number, step.plan.title));
  std::string effect = fmt::format("{}, made from {}.", model::to_string(step.identity),
                                   first ? "the baseline" : model::to_string(step.parent));
  if (step.ratio)
    effect += fmt::format(" Effect over {}: {}.", first ? "the baseline" : "its parent", format_ratio(*step.ratio));
  if (step.score) effect += fmt::format(" Over the baseline by the play-off: {}.", format_ratio(*step.score));
  out.paragraph(effect);
  out.heading(3, "The plan");
  out.paragraph(step.plan.text);
  for (const Foundation& one : step.rests_on) {
    out.item(one.from.empty() ? fmt::format("rests on {}, which is not on record", one.id)
                              : fmt::format("rests on {} ({}), from {}{}", one.id, one.title, one.from,
                                            one.effect ? ", where it gave " + format_ratio(*one.effect) : ""));
  }
  for (const FailedAnswer& one : step.mended)
    out.item(fmt::format("{} failed first: {}: {}", model::to_string(one.identity), model::to_string(one.status),
                         first_of(one.reason)));
  if (!step.rests_on.empty() || !step.mended.empty()) out.end_list();
  if (!step.diff.empty()) {
    out.heading(3, "The change");
    out.diff(step.diff);
  }
  if (!step.profile.empty()) {
    out.heading(3, "What the profile said");
    TextTable table({{"figure"}, {"before", Align::right}, {"after", Align::right}});
    for (const ChangedFigure& figure : step.profile)
      table.add({printable(figure.name), format_quantity(figure.before, figure.unit),
                 format_quantity(figure.after, figure.unit)});
    out.table(table);
  }
  if (step.beside.empty()) return;
  out.heading(3, "Tried beside it");
  for (const TriedBeside& one : step.beside) out.item(beside_text(one));
  out.end_list();
}

/// The winner's line in a sentence, and what each play-off kept.
void write_rounds(Writer& out, const Explanation& explanation) {
  if (explanation.rounds.empty()) return;
  out.heading(2, "The play-offs");
  if (!explanation.steps.empty()) {
    std::string line = "The winner's line: the baseline";
    for (const LessonStep& step : explanation.steps)
      line += fmt::format(", then {} in round {}", model::to_string(step.identity), step.identity.iteration + 1);
    out.paragraph(line + ".");
  }
  TextTable table({{"round", Align::right},
                   {"evaluations until then", Align::right},
                   {"place", Align::right},
                   {"candidate"},
                   {"over the baseline [95 %]", Align::right},
                   {"in the winner's line"}});
  for (const LessonRound& round : explanation.rounds) {
    std::size_t place = 0;
    for (const Standing& one : round.kept) {
      const bool baseline = one.identity == model::Identity{};
      table.add({std::to_string(round.iteration + 1), std::to_string(round.evaluations), std::to_string(++place),
                 baseline ? "the baseline" : model::to_string(one.identity), format_ratio(one.score),
                 one.on_the_way ? "yes" : ""});
    }
  }
  out.table(table);
}

void write_end(Writer& out, const Explanation& explanation) {
  if (!explanation.dead_ends.empty()) {
    out.heading(2, explanation.steps.empty() ? "What was tried" : "Rounds that led nowhere");
    for (const TriedBeside& one : explanation.dead_ends) out.item(beside_text(one));
    out.end_list();
  }
  if (!explanation.learned.empty()) {
    out.heading(2, "What was learned");
    for (const model::Experience& one : explanation.learned) {
      out.heading(3, fmt::format("{} {}", one.id, one.title));
      out.paragraph(fmt::format("{}{}.", model::to_string(one.polarity),
                                one.effect ? ": " + format_ratio(*one.effect) + " over its parent" : ""));
      out.paragraph(one.strategy);
    }
  }
  if (explanation.workloads.empty()) return;
  out.heading(2, "What was confirmed");
  TextTable table({{"workload"},
                   {"role"},
                   {"baseline", Align::right},
                   {"winner", Align::right},
                   {"speed-up [95 %]", Align::right}});
  for (const model::WorkloadTiming& workload : explanation.workloads)
    table.add({workload.name, std::string(to_string(workload.role)),
               workload.reference_ns ? format_ns(*workload.reference_ns) : "-", format_ns(workload.time_ns),
               workload.ratio ? format_ratio(*workload.ratio) : "-"});
  out.table(table);
  for (const std::string& note : explanation.checked) out.item(note);
  if (!explanation.checked.empty()) out.end_list();
}

std::string written(const Explanation& explanation, Form form) {
  Writer out(form);
  out.heading(1, fmt::format("How {} became faster", explanation.task));
  out.paragraph(explanation.answer);
  out.paragraph(
      fmt::format("From the record of run {}. Ratios are the old time / the new time: over 1 is faster; brackets hold "
                  "95 % intervals.",
                  explanation.run));
  out.paragraph(
      "A race compares a candidate with its parent, and ends as soon as it is decided; a play-off then races what is "
      "kept against each other, and chooses what is searched on from. An id counts from 0: iteration, place of the "
      "parent in the beam, plan, attempt, fix. What a kernel leaves open for tuning (//@ tune) stands in a change with "
      "the values that were kept.");
  std::size_t number = 0;
  for (const LessonStep& step : explanation.steps) write_step(out, step, ++number);
  write_rounds(out, explanation);
  write_end(out, explanation);
  return out.take();
}

}  // namespace

std::string to_text(const Explanation& explanation) {
  return written(explanation, Form::text);
}

std::string to_markdown(const Explanation& explanation) {
  return written(explanation, Form::markdown);
}

}  // namespace accelopt::report
