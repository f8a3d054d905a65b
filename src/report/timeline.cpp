// SPDX-License-Identifier: Apache-2.0
#include "report/timeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "model/stages.hpp"
#include "report/format.hpp"

namespace accelopt::report {
namespace {

using journal::StepRecord;
using model::StepKind;

enum class Work { model, build, device, session, other };

/// A clock that goes back by more than this between two steps was begun anew, in journals that mark no sessions.
constexpr double kClockJitterSeconds = 0.25;

Work work_of(std::string_view name) {
  const auto kind = model::step_kind(name);
  if (model::role_of(kind)) return Work::model;
  if (!kind) return Work::other;
  switch (*kind) {
    case StepKind::build:
      return Work::build;
    case StepKind::session:
      return Work::session;
    case StepKind::open:
    case StepKind::triage:
    case StepKind::profile:
    case StepKind::playoff:
    case StepKind::held_out:
    case StepKind::confirm:
      return Work::device;
    default:
      return Work::other;  // a chat is inside a question; a stop and the like take no time
  }
}

/// The part of a device step that was spent verifying, seconds, as its evaluation says.
double verify_seconds(const StepRecord& step) {
  const auto& output = step.output;
  if (model::step_kind(step.key.kind) == StepKind::held_out)
    return std::chrono::duration<double>(step.duration).count();
  if (!output.is_object()) return 0;
  const auto baseline = output.find("baseline");
  const auto& evaluation = baseline != output.end() && baseline->is_object() ? *baseline : output;
  return model::seconds_of(model::stages_in(evaluation), model::Stage::verify);
}

struct Piece {
  TimeSpan span;
  const StepRecord* step;
};

struct Pieces {
  std::vector<Piece> model, build, device;
  double wall_seconds = 0;
  int sessions = 0;
};

/// The run's own clock: its sessions one after the other.
class Clock {
 public:
  explicit Clock(const std::vector<StepRecord>& steps)
      : marked_(std::any_of(steps.begin(), steps.end(),
                            [](const StepRecord& step) { return work_of(step.key.kind) == Work::session; })) {}

  /// The next step's span.
  TimeSpan place(const StepRecord& step) {
    const Work work = work_of(step.key.kind);
    const double begin = std::chrono::duration<double>(step.started).count();
    const double end = begin + std::chrono::duration<double>(step.duration).count();
    if (work == Work::other) return {offset_ + begin, offset_ + end};
    const bool anew = marked_ ? work == Work::session : end < last_end_ - kClockJitterSeconds;
    if (anew || sessions_ == 0) {
      offset_ = wall_seconds_;
      last_end_ = 0;
      ++sessions_;
    }
    if (work == Work::session) return {offset_, offset_};
    last_end_ = std::max(last_end_, end);
    wall_seconds_ = std::max(wall_seconds_, offset_ + end);
    return {offset_ + begin, offset_ + end};
  }

  [[nodiscard]] double wall_seconds() const { return wall_seconds_; }
  [[nodiscard]] int sessions() const { return sessions_; }

 private:
  bool marked_;  ///< the journal says where sessions begin
  double offset_ = 0;
  double last_end_ = 0;
  double wall_seconds_ = 0;
  int sessions_ = 0;
};

Pieces lay_out(const std::vector<StepRecord>& steps) {
  Pieces out;
  Clock clock(steps);
  for (const StepRecord& step : steps) {
    const TimeSpan span = clock.place(step);
    const Work work = work_of(step.key.kind);
    if (work == Work::other || work == Work::session) continue;
    auto& pieces = work == Work::model ? out.model : work == Work::build ? out.build : out.device;
    pieces.push_back({span, &step});
  }
  out.wall_seconds = clock.wall_seconds();
  out.sessions = clock.sessions();
  return out;
}

std::vector<TimeSpan> merged(std::vector<TimeSpan> spans) {
  std::sort(spans.begin(), spans.end(), [](const TimeSpan& a, const TimeSpan& b) { return a.begin < b.begin; });
  std::vector<TimeSpan> out;
  for (const TimeSpan& span : spans) {
    if (!out.empty() && span.begin <= out.back().end)
      out.back().end = std::max(out.back().end, span.end);
    else
      out.push_back(span);
  }
  return out;
}

double length(const std::vector<TimeSpan>& spans) {
  double seconds = 0;
  for (const TimeSpan& span : spans) seconds += span.end - span.begin;
  return seconds;
}

WorkTime work_time(const std::vector<Piece>& pieces) {
  WorkTime out;
  std::vector<TimeSpan> spans;
  for (const Piece& piece : pieces) {
    ++out.count;
    out.seconds += piece.span.end - piece.span.begin;
    spans.push_back(piece.span);
  }
  out.spans = merged(std::move(spans));
  out.covered_seconds = length(out.spans);
  return out;
}

/// What of `whole` is in none of `parts`; both merged.
std::vector<TimeSpan> without(const std::vector<TimeSpan>& whole, const std::vector<TimeSpan>& parts) {
  std::vector<TimeSpan> out;
  for (TimeSpan span : whole) {
    for (const TimeSpan& part : parts) {
      if (part.end <= span.begin || part.begin >= span.end) continue;
      if (part.begin > span.begin) out.push_back({span.begin, part.begin});
      span.begin = std::min(part.end, span.end);
    }
    if (span.begin < span.end) out.push_back(span);
  }
  return out;
}

void add(WorkTime& work, const TimeSpan& span) {
  if (span.end <= span.begin) return;
  ++work.count;
  work.seconds += span.end - span.begin;
  work.spans.push_back(span);
}

/// Gives each device step the time that was its own, and splits it.
void share_device(std::vector<Piece> pieces, Timeline& timeline) {
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.span.end < b.span.end; });
  double free_from = 0;
  for (const Piece& piece : pieces) {
    const TimeSpan own{std::max(piece.span.begin, free_from), piece.span.end};
    free_from = std::max(free_from, piece.span.end);
    const double verified = std::min(verify_seconds(*piece.step), own.end - own.begin);
    add(timeline.verify, {own.begin, own.begin + verified});
    add(timeline.measure, {own.begin + verified, own.end});
  }
  for (WorkTime* work : {&timeline.verify, &timeline.measure}) {
    work->spans = merged(std::move(work->spans));
    work->covered_seconds = length(work->spans);
  }
}

constexpr int kTimelineColumns = 72;

/// One sign a column: how much of its time was covered.
std::string row_of(const WorkTime& work, double wall_seconds) {
  std::string row;
  const double width = wall_seconds / kTimelineColumns;
  for (int column = 0; column < kTimelineColumns; ++column) {
    const TimeSpan cell{column * width, (column + 1) * width};
    double covered = 0;
    for (const TimeSpan& span : work.spans)
      covered += std::max(0.0, std::min(span.end, cell.end) - std::max(span.begin, cell.begin));
    const double share = covered / width;
    row += share < 0.001 ? ' ' : share < 0.25 ? '.' : share < 0.5 ? ':' : share < 0.75 ? '+' : '#';
  }
  return row;
}

base::Json work_json(const WorkTime& work) {
  return {{"count", work.count}, {"seconds", work.seconds}, {"covered_seconds", work.covered_seconds}};
}

}  // namespace

std::vector<TimeSpan> spans_of(const std::vector<StepRecord>& steps) {
  Clock clock(steps);
  std::vector<TimeSpan> spans;
  spans.reserve(steps.size());
  for (const StepRecord& step : steps) spans.push_back(clock.place(step));
  return spans;
}

Timeline timeline_of(const std::vector<StepRecord>& steps) {
  const Pieces pieces = lay_out(steps);
  Timeline out;
  out.wall_seconds = pieces.wall_seconds;
  out.sessions = pieces.sessions;
  out.model = work_time(pieces.model);
  out.build = work_time(pieces.build);
  share_device(pieces.device, out);
  std::vector<TimeSpan> busy = out.verify.spans;
  busy.insert(busy.end(), out.measure.spans.begin(), out.measure.spans.end());
  busy = merged(std::move(busy));
  out.busy_seconds = length(busy);
  const std::vector<TimeSpan> idle = without({{0, out.wall_seconds}}, busy);
  out.idle_seconds = length(idle);
  const std::vector<TimeSpan> no_build = without(idle, out.build.spans);
  const std::vector<TimeSpan> nothing = without(no_build, out.model.spans);
  out.idle_for_builds_seconds = out.idle_seconds - length(no_build);
  out.idle_for_nothing_seconds = length(nothing);
  out.idle_for_models_seconds = length(no_build) - length(nothing);
  return out;
}

std::string to_text(const Timeline& timeline) {
  if (timeline.wall_seconds <= 0) return "no step of this run took any time\n";
  const auto share = [&](double seconds) { return format_percent(seconds / timeline.wall_seconds); };
  std::string text = fmt::format("{} of work{}\n", format_seconds(timeline.wall_seconds),
                                 timeline.sessions > 1 ? fmt::format(" in {} sessions", timeline.sessions) : "");
  text += fmt::format("  device   used {} of the time\n", format_percent(timeline.utilisation()));
  for (const auto& [name, work] : {std::pair{"measure", &timeline.measure}, std::pair{"verify", &timeline.verify}})
    text += fmt::format("  {:<8} {} ({})\n", name, format_seconds(work->seconds), share(work->seconds));
  text +=
      fmt::format("  idle     {} ({}): waiting for models {}, for builds {}, for neither {}\n",
                  format_seconds(timeline.idle_seconds), share(timeline.idle_seconds),
                  format_seconds(timeline.idle_for_models_seconds), format_seconds(timeline.idle_for_builds_seconds),
                  format_seconds(timeline.idle_for_nothing_seconds));
  for (const auto& [name, one, work] :
       {std::tuple{"model", "question", &timeline.model}, std::tuple{"build", "build", &timeline.build}}) {
    text += fmt::format("  {:<8} {} {}{}, {} together; at least one under way {} of the time\n", name, work->count, one,
                        work->count == 1 ? "" : "s", format_seconds(work->seconds), share(work->covered_seconds));
  }
  const std::string last = format_seconds(timeline.wall_seconds);
  text += fmt::format("\n  {:<8} 0{:>{}}\n", "", last, kTimelineColumns - 1);
  for (const auto& [name, work] : {std::pair{"model", &timeline.model}, std::pair{"build", &timeline.build},
                                   std::pair{"verify", &timeline.verify}, std::pair{"measure", &timeline.measure}}) {
    text += fmt::format("  {:<8} {}\n", name, row_of(*work, timeline.wall_seconds));
  }
  text += fmt::format("  a column is {}: . some of it, : a quarter, + half, # three quarters and more\n",
                      format_seconds(timeline.wall_seconds / kTimelineColumns));
  return text;
}

base::Json to_json(const Timeline& timeline) {
  return {{"type", "timeline"},
          {"schema", 1},
          {"wall_seconds", timeline.wall_seconds},
          {"sessions", timeline.sessions},
          {"model", work_json(timeline.model)},
          {"build", work_json(timeline.build)},
          {"verify", work_json(timeline.verify)},
          {"measure", work_json(timeline.measure)},
          {"utilisation", timeline.utilisation()},
          {"busy_seconds", timeline.busy_seconds},
          {"idle_seconds", timeline.idle_seconds},
          {"idle_for_models_seconds", timeline.idle_for_models_seconds},
          {"idle_for_builds_seconds", timeline.idle_for_builds_seconds},
          {"idle_for_nothing_seconds", timeline.idle_for_nothing_seconds}};
}

}  // namespace accelopt::report
