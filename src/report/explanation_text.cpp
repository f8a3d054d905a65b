// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/explanation.hpp"
#include "report/format.hpp"
#include "report/text_table.hpp"
#include "report/text_width.hpp"
#include "report/tuning_text.hpp"

namespace accelopt::report {
namespace {

/// Of another's words in a line, columns.
constexpr std::size_t kMostWhy = 240;
/// Of a step's change, lines; `--json` has all.
constexpr int kMostChangeLines = 320;
/// Of a paragraph on a terminal, columns.
constexpr std::size_t kColumns = 110;
/// Configurations of a tuned kernel that are told.
constexpr int kConfigurations = 4;

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
      const std::string line = word(words.substr(at, end - at));
      out_ += form_ == Form::markdown ? line + "  \n" : wrapped(line, "") + "\n";
      at = end + 1;
    }
    if (form_ == Form::markdown) out_ += "\n";
  }
  void item(const std::string& words) {
    out_ += form_ == Form::markdown ? "* " + word(words) + "\n" : "  * " + wrapped(word(words), "    ") + "\n";
  }
  void end_list() { out_ += form_ == Form::markdown ? "\n" : ""; }

  /// The beginning of a diff or of a kernel's text, as a block that nothing in it can end; `whole` says where all of it
  /// is.
  void change(const std::string& unified, const std::string& language, const std::string& whole) {
    std::string shown;
    int lines = 0;
    std::size_t at = 0;
    for (; at < unified.size() && lines < kMostChangeLines; ++lines) {
      const std::size_t end = std::min(unified.find('\n', at), unified.size());
      shown += (form_ == Form::text ? "    " : "") + printable(unified.substr(at, end - at)) + "\n";
      at = end + 1;
    }
    const auto left =
        at < unified.size() ? std::count(unified.begin() + static_cast<std::ptrdiff_t>(at), unified.end(), '\n') : 0;
    const std::string more = left > 0 ? fmt::format("... {} more lines; {}\n", left, whole) : "";
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
    out_ += fence + language + "\n" + shown + fence + "\n\n" + (more.empty() ? "" : more + "\n");
  }
  /// The meaning of a figure, once in a lesson.
  void meaning(const ChangedFigure& figure) {
    if (!figure.meaning.empty() && told_.insert(figure.name).second)
      item(fmt::format("{}: {}", figure.name, figure.meaning));
  }
  /// Lines whose columns have to stay.
  void block(const std::string& lines) { out_ += form_ == Form::markdown ? "```\n" + lines + "```\n\n" : lines; }
  void table(const TextTable& table) { out_ += form_ == Form::markdown ? table.markdown() + "\n" : table.render(); }

  std::string take() { return std::move(out_); }

 private:
  /// Broken between words; all lines but the first begin with the indent. Words that are longer stay whole.
  static std::string wrapped(const std::string& line, const std::string& indent) {
    std::string out;
    std::size_t column = indent.size();
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t end = std::min(line.find(' ', at + 1), line.size());
      const std::string next = line.substr(at, end - at);
      const std::size_t width = display_width(next);
      if (column + width > kColumns && column > indent.size()) {
        out += "\n" + indent + (next.starts_with(' ') ? next.substr(1) : next);
        column = indent.size() + width - 1;
      } else {
        out += next;
        column += width;
      }
      at = end;
    }
    return out;
  }

  [[nodiscard]] std::string word(const std::string& words) const {
    return form_ == Form::markdown ? markdown_cell(printable(words)) : printable(words);
  }

  Form form_;
  std::string out_;
  std::set<std::string> told_;  ///< figures whose meaning was told
};

std::string name_of(const model::Identity& identity) {
  return identity == model::Identity{} ? "the baseline" : model::to_string(identity);
}

std::string first_of(const std::string& why) {
  const std::string_view line = base::first_line(why);
  return clip(printable(line), kMostWhy);
}

/// A kernel that was built, or was to be.
std::string beside_text(const TriedBeside& one) {
  std::string words =
      fmt::format("{} {}, made from {}: {}", model::to_string(one.identity), one.title, name_of(one.parent), one.fate);
  if (one.ratio) words += fmt::format(", {} {}", format_ratio(*one.ratio), one.than);
  if (one.score)
    words += fmt::format(", {} over the baseline by the play-off", format_ratio(*one.score));
  else if (one.ratio)
    words += ", in no play-off";
  if (!one.why.empty() && one.why != model::kKnownAlready) words += ": " + first_of(one.why);
  if (!one.refused.empty()) words += "; REFUSED when it was confirmed: " + first_of(one.refused);
  std::string times;
  for (const model::ProfileItem& item : one.times)
    times += fmt::format("{}{} {}", times.empty() ? "" : ", ", item.name, format_quantity(item.value, item.unit));
  if (!times.empty()) words += "; its profile: " + times;
  return words;
}

/// Without the words that the fate says already.
std::string why_not(const TriedBeside& one) {
  const std::string prefix = one.fate + ": ";
  std::string why = one.why;
  while (why.starts_with(prefix)) why = why.substr(prefix.size());
  return first_of(why);
}

/// What was tried, and below it what no kernel came of: plans that were not given, a line for all of a parent's.
void write_tried(Writer& out, const std::vector<TriedBeside>& all, int level, const std::string& heading) {
  const auto untried = [](const TriedBeside& one) { return one.fate == "no answer" || one.fate == "no plan"; };
  std::vector<std::string> lines;
  std::map<std::string, int> without_plan;
  for (const TriedBeside& one : all) {
    if (one.fate == "no plan") {
      const std::string line = fmt::format("from {} in round {}: no plan came, the answer was of no use: {}",
                                           name_of(one.parent), one.identity.iteration + 1, why_not(one));
      if (++without_plan[line] == 1) lines.push_back(line);
    } else if (one.fate == "no answer") {
      lines.push_back(fmt::format("{} {}, from {}: never built, the answer held no kernel: {}",
                                  model::to_string(one.identity), one.title, name_of(one.parent), why_not(one)));
    }
  }
  if (!std::ranges::all_of(all, untried)) {
    out.heading(level, heading);
    for (const TriedBeside& one : all) {
      if (!untried(one)) out.item(beside_text(one));
    }
    out.end_list();
  }
  if (lines.empty()) return;
  out.heading(level, "Not tried");
  for (const std::string& line : lines) {
    const auto plans = without_plan.find(line);
    const bool several = plans != without_plan.end() && plans->second > 1;
    out.item(several ? fmt::format("{} (its {} attempts were not made)", line, plans->second) : line);
  }
  out.end_list();
}

void write_profile(Writer& out, const LessonStep& step) {
  if (step.profile.empty()) {
    out.paragraph("No profile of both kernels is on record: a kernel is profiled when others are made from it.");
    return;
  }
  out.heading(3, "What the profile said");
  TextTable table({{"figure"}, {"before", Align::right}, {"after", Align::right}});
  const auto quantity = [](const std::optional<double>& value, const std::string& unit) {
    return value ? format_quantity(*value, unit) : std::string("-");
  };
  for (const ChangedFigure& figure : step.profile)
    table.add({printable(figure.name), quantity(figure.before, figure.unit), quantity(figure.after, figure.unit)});
  out.table(table);
  for (const ChangedFigure& figure : step.profile) out.meaning(figure);
  if (step.figures_left_out > 0)
    out.item(fmt::format("{} more figures changed by a tenth or more", step.figures_left_out));
  out.end_list();
}

void write_step(Writer& out, const Explanation& explanation, const LessonStep& step, std::size_t number) {
  const bool first = step.parent == model::Identity{};
  out.heading(2, fmt::format("Step {}: {}", number, step.plan.title));
  std::string effect = fmt::format("{}, made from {}.", model::to_string(step.identity),
                                   first ? "the baseline" : model::to_string(step.parent));
  if (step.ratio)
    effect += fmt::format(" Effect over {}: {}.", first ? "the baseline" : "its parent", format_ratio(*step.ratio));
  if (step.score) effect += fmt::format(" Over the baseline by the play-off: {}.", format_ratio(*step.score));
  const bool last = number == explanation.steps.size();
  if (!last && step.lines_written > 0)
    effect +=
        fmt::format(" Of the {} lines that it wrote, {} are left in the winner.", step.lines_written, step.lines_left);
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
  const std::string whole =
      fmt::format("the whole kernel: accelopt show {} {}", explanation.run, model::to_string(step.identity));
  if (!step.rewritten.empty()) {
    out.heading(3, "The kernel, of whose parent hardly a line is left");
    out.change(step.rewritten, "", whole);
  } else if (!step.diff.empty()) {
    out.heading(3, "The change");
    out.change(step.diff, "diff", whole);
  }
  if (step.tuning) {
    out.heading(3, "What was tuned");
    out.paragraph(tuning_line(*step.tuning));
    out.block(tuning_table(*step.tuning, kConfigurations));
  }
  write_profile(out, step);
  if (!step.beside.empty()) write_tried(out, step.beside, 3, "Tried beside it");
}

bool same_standings(const LessonRound& one, const LessonRound& other) {
  return std::ranges::equal(one.kept, other.kept, [](const Standing& a, const Standing& b) {
    return a.identity == b.identity && a.score.estimate == b.score.estimate;
  });
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
                   {"kernels measured so far", Align::right},
                   {"place", Align::right},
                   {"candidate"},
                   {"over the baseline [95 %]", Align::right},
                   {"leads to the winner"}});
  const LessonRound* before = nullptr;
  std::vector<std::string> notes;
  for (const LessonRound& round : explanation.rounds) {
    std::size_t place = 0;
    if (before != nullptr && same_standings(*before, round))
      notes.push_back(fmt::format("Round {} kept what round {} kept: nothing new was raced.", round.iteration + 1,
                                  before->iteration + 1));
    before = &round;
    for (const Standing& one : round.kept) {
      const bool baseline = one.identity == model::Identity{};
      table.add({std::to_string(round.iteration + 1), std::to_string(round.evaluations), std::to_string(++place),
                 baseline ? "the baseline" : model::to_string(one.identity), format_ratio(one.score),
                 one.on_the_way ? "yes" : ""});
    }
  }
  out.table(table);
  const std::vector<Standing>& last = explanation.rounds.back().kept;
  if (last.size() > 1 && last[0].score.low <= last[1].score.high && last[1].score.low <= last[0].score.high)
    notes.push_back("The first two of the last play-off cannot be told apart; the first is confirmed first.");
  notes.push_back(
      "Races and play-offs only steer the search; the confirmed figure counts, and need not be their product.");
  for (const std::string& note : notes) out.item(note);
  out.end_list();
}

/// Notes that differ in the workload alone become one.
std::vector<std::string> gathered(const std::vector<std::string>& notes) {
  constexpr std::string_view kWorkload = "workload ";
  std::vector<std::pair<std::string, std::string>> found;  // what is said, of which workloads
  for (const std::string& note : notes) {
    const std::size_t colon = note.find(": ");
    const bool of_one = note.starts_with(kWorkload) && colon != std::string::npos;
    const std::string said = of_one ? note.substr(colon + 2) : note;
    const std::string workload = of_one ? note.substr(kWorkload.size(), colon - kWorkload.size()) : "";
    const auto same = std::ranges::find(found, said, &std::pair<std::string, std::string>::first);
    if (same == found.end() || workload.empty())
      found.emplace_back(said, workload);
    else
      same->second += ", " + workload;
  }
  std::vector<std::string> out;
  for (const auto& [said, workloads] : found) out.push_back(workloads.empty() ? said : said + " (" + workloads + ")");
  return out;
}

std::string role_text(model::Role role) {
  switch (role) {
    case model::Role::race:
      return "searched on";
    case model::Role::held_out:
      return "never seen by the search";
    case model::Role::check:
      return "results only";
  }
  return "";
}

std::string roofline_text(const model::WorkloadTiming& workload) {
  if (!workload.roofline) return "-";
  const model::RooflinePoint& point = *workload.roofline;
  // A float32 roofline does not bind a kernel whose products run on tensor cores.
  if (point.floor_ns > workload.time_ns) return "passed (" + format_ns(point.floor_ns) + ")";
  return format_percent(point.fraction) + ", " + point.bound;
}

void write_end(Writer& out, const Explanation& explanation) {
  if (!explanation.dead_ends.empty()) {
    write_tried(out, explanation.dead_ends, 2,
                explanation.steps.empty() ? "What was tried" : "Rounds that led nowhere");
  }
  if (!explanation.learned.empty()) {
    out.heading(2, "What was learned");
    for (const model::Experience& one : explanation.learned) {
      out.heading(3, fmt::format("{} {}", one.id, one.title));
      out.paragraph(fmt::format("{}{}.", model::to_string(one.polarity),
                                one.effect ? (one.polarity == model::Polarity::mends ? ", then " : ": ") +
                                                 format_ratio(*one.effect) + " over its parent"
                                           : ""));
      out.paragraph(one.strategy);
    }
  }
  const auto write_list = [&](const std::string& title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    out.heading(2, title);
    for (const std::string& line : lines) out.item(line);
    out.end_list();
  };
  write_list("What the tester wrote", explanation.tested);
  write_list("What the reviewer decided", explanation.reviewed);
  if (explanation.workloads.empty()) return;
  out.heading(2, "What was confirmed");
  const bool modelled = explanation.modelled;
  TextTable table(
      {{"workload"},
       {"shape"},
       {"role"},
       {modelled ? "modelled baseline" : "baseline", Align::right},
       {modelled ? "modelled winner" : "winner", Align::right},
       {fmt::format("{} [{}]", explanation.measure.by_workload, modelled ? "model's range" : "95 %"), Align::right},
       {"of roofline", Align::right}});
  for (const model::WorkloadTiming& workload : explanation.workloads) {
    const auto axes = explanation.axes.find(workload.name);
    table.add({workload.name, axes == explanation.axes.end() ? "-" : axes->second, role_text(workload.role),
               format_reference(workload), format_amount(workload),
               workload.ratio ? format_ratio(*workload.ratio) : "-", roofline_text(workload)});
  }
  out.table(table);
  std::vector<std::string> notes = explanation.differs;
  notes.emplace_back(
      "of roofline: the least time that the device's measured peaks allow for the task's own operations and bytes / "
      "the "
      "winner's time, and which of the two it is. Its peak of arithmetic is the highest that is precise enough, matrix "
      "units included; a profile's \"share of peak compute\" is of plain arithmetic.");
  for (std::string& note : gathered(explanation.checked)) notes.push_back(std::move(note));
  for (const std::string& note : notes) out.item(note);
  out.end_list();
}

/// "i1.b0.p2.a0.f0 is of round 2, made from the best candidate so far (b0), by its third plan (p2) ..."
std::string name_explained(const model::Identity& identity) {
  return fmt::format(
      "{} is of round {} (i counts from 0), made from place {} of the beam that the round began with (b), by plan {} "
      "for "
      "it (p), attempt {} at that plan (a), {} (f).",
      model::to_string(identity), identity.iteration + 1, identity.parent + 1, identity.plan + 1, identity.attempt + 1,
      identity.fix == 0 ? "no fix" : fmt::format("its fix number {}", identity.fix));
}

std::string written(const Explanation& explanation, Form form) {
  Writer out(form);
  out.heading(1, fmt::format("How {} became {}", explanation.task, explanation.measure.better));
  out.paragraph(explanation.answer);
  for (const std::string& sentence : explanation.unseen) out.paragraph(sentence);
  if (!explanation.about.empty()) out.paragraph("The task: " + explanation.about);
  if (!explanation.fixed_axes.empty()) out.paragraph("Sizes of every workload: " + explanation.fixed_axes + ".");
  out.paragraph(fmt::format(
      "From the record of run {}. Ratios are {}: over 1 is {}; brackets hold {}.", explanation.run,
      explanation.measure.ratio, explanation.measure.better,
      explanation.modelled ? "the range that the model's assumptions leave, and no measurement" : "95 % intervals"));
  out.paragraph(
      "A race compares a candidate with its parent, and ends as soon as it is decided, so its interval may be wide; a "
      "play-off then races those that are kept against the baseline, and chooses what is searched on from. A plan is "
      "what was intended, with its author's own figures; the change is what was built. `//@ tune X in {5}`: X was "
      "searched, and 5 is the value that was kept.");
  if (!explanation.steps.empty()) out.paragraph(name_explained(explanation.steps.back().identity));
  std::size_t number = 0;
  for (const LessonStep& step : explanation.steps) write_step(out, explanation, step, ++number);
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
