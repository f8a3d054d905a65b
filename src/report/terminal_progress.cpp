// SPDX-License-Identifier: Apache-2.0
#include <sys/ioctl.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <thread>

#include <fmt/format.h>

#include "model/measure.hpp"
#include "report/format.hpp"
#include "report/progress.hpp"
#include "report/run_view.hpp"
#include "report/text_width.hpp"

namespace accelopt::report {
namespace {

/// Redrawing more often than this is flicker, and costs time that a measurement on the same machine could notice.
constexpr std::chrono::milliseconds kLeastBetweenDraws{100};
constexpr std::size_t kUsualColumns = 80;
constexpr const char* kClearLine = "\r\x1b[K";

std::string name_of(const model::Identity& identity, const std::string& title) {
  const std::string id = to_string(identity);
  if (id.empty()) return "the baseline";
  return title.empty() ? id : id + " " + printable(title);
}

/// What became of one iteration's attempts and lessons, in numbers.
class Tally {
 public:
  void add(const model::AttemptMoved& done) {
    ++counts_[class_of(done)];
    ++attempts_;
  }

  void add(const model::Learned& lesson) {
    ++lessons_;
    if (lesson.polarity == model::Polarity::improves && lesson.effect.low > 1) ++gains_;
  }

  Tally() = default;
  explicit Tally(const model::Measure& measure)
      : better_(measure.better), no_better_(fmt::format("no {}", measure.better)) {}

  /// "12 attempts: 2 faster, 7 no faster, 3 known; 11 lessons, 8 without a gain".
  [[nodiscard]] std::string text() const {
    std::string text = fmt::format("{} attempt{}", attempts_, attempts_ == 1 ? "" : "s");
    std::string_view between = ": ";
    for (const auto& [name, count] : counts_) {
      text += fmt::format("{}{} {}", between, count, name.second);
      between = ", ";
    }
    if (lessons_ == 0) return text;
    text += fmt::format("; {} lesson{}", lessons_, lessons_ == 1 ? "" : "s");
    return gains_ == lessons_ ? text : text + fmt::format(", {} without a gain", lessons_ - gains_);
  }

 private:
  using Class = std::pair<int, std::string>;  ///< its place in the text, its name

  [[nodiscard]] Class class_of(const model::AttemptMoved& done) const {
    if (done.note == model::kKnownAlready) return {2, "known"};
    if (done.status == model::Status::passed) {
      // A race may end as a tie where what is certain is too little to count.
      const bool better = done.verdict == model::Verdict::none ? done.ratio && done.ratio->low > 1
                                                               : done.verdict == model::Verdict::faster;
      return better ? Class{0, better_} : Class{1, no_better_};
    }
    if (done.status != model::Status::not_measured) return {3, std::string(to_string(done.status))};
    const bool unanswered = done.note.starts_with("no answer") || done.note.starts_with("no plan");
    return unanswered ? Class{5, "without an answer"} : Class{4, "not measured"};
  }

  std::string better_ = "faster";
  std::string no_better_ = "no faster";
  std::map<Class, int> counts_;
  int attempts_ = 0;
  int lessons_ = 0;
  int gains_ = 0;
};

/// The lines that stay on the screen or in the log; empty for events that only change the status.
class Lines {
 public:
  explicit Lines(const TerminalOptions& options)
      : live_(options.live), all_(options.detail == Detail::all), last_line_(options.last_line) {}

  std::string operator()(const model::RunStarted& event) {
    iterations_ = event.iterations;
    goal_ = event.goal;
    std::string text =
        fmt::format("run {} of {}\n  baseline {}", event.run, printable(event.task), format_ns(event.baseline_ns));
    if (event.baseline_roofline > 0) text += ", " + format_percent(event.baseline_roofline) + " of the roofline";
    text += " on " + printable(event.device) + "\n";
    if (event.planned_evaluations > 0) {
      text += fmt::format("  at most {} iterations and {} evaluations\n", event.iterations,
                          format_count(event.planned_evaluations));
    }
    return text;
  }

  std::string operator()(const model::IterationStarted& event) {
    tally_ = Tally(model::measure_of(goal_));
    place_ = fmt::format("iteration {}/{}", event.iteration + 1, iterations_);
    return live_ && !all_ ? std::string() : fmt::format("{}: beam of {}\n", place_, event.beam);
  }

  std::string operator()(const model::AttemptMoved& event) {
    if (event.state != model::AttemptState::done) return {};
    tally_.add(event);
    if (!all_) {
      if (!event.note.starts_with(model::kNotMeasured) || !warned_of_.insert(event.note).second) return {};
      return "  warning: " + printable(event.note) + "\n";
    }
    std::string outcome;
    if (event.status != model::Status::not_measured) outcome = to_string(event.status);
    if (event.ratio) outcome += " " + format_ratio(*event.ratio) + " against its parent";
    if (!event.note.empty()) outcome += (outcome.empty() ? "" : ", ") + printable(event.note);
    return "  " + name_of(event.identity, event.title) + ": " + (outcome.empty() ? "not measured" : outcome) + "\n";
  }

  std::string operator()(const model::Learned& event) {
    tally_.add(event);
    if (!all_) return {};
    const std::string_view kind = event.polarity == model::Polarity::mends      ? "a mend, then "
                                  : event.polarity == model::Polarity::improves ? ""
                                  : event.effect.high < 1                       ? "to avoid, "
                                                                                : "no gain, ";
    return fmt::format("  learned: {} ({}{})\n", printable(event.title), kind, format_ratio(event.effect));
  }

  std::string operator()(const model::Selected& event) {
    std::string text = fmt::format("{}{}\n", live_ ? place_ + ": " : "  ", tally_.text());
    const std::string best = event.incumbent ? to_string(event.incumbent->identity) : std::string();
    if (best != best_)
      text += event.incumbent ? new_best(*event.incumbent)
                              : "  warning: the best so far failed when it was measured again; no gain so far\n";
    best_ = best;
    best_score_ = event.incumbent ? event.incumbent->score.estimate : 0;
    return text;
  }

  std::string operator()(const model::Confirming& event) const {
    return "confirming " + name_of(event.identity, event.title) + " in fresh processes\n";
  }

  std::string operator()(const model::RunFinished& event) const {
    if (last_line_ == LastLine::left_out) return {};
    std::string text = event.outcome;
    if (text == "no_gain") text = "no gain found";
    if (event.speedup) text += ", " + format_ratio(*event.speedup) + " confirmed";
    text = fmt::format("{}; {}; stopped by {}\n", text, format_seconds(event.wall_seconds), event.stopped_by);
    if (!event.stopped_because.empty()) text += "  " + printable(event.stopped_because) + "\n";
    return text;
  }

  std::string operator()(const model::Spending&) const { return {}; }

  std::string operator()(const model::DeviceWait& event) const {
    return "  " + printable(model::describe(event)) + "\n";
  }

  std::string operator()(const model::Note& event) const { return "  note: " + printable(event.text) + "\n"; }

 private:
  /// Scores of two play-offs do not compare: their machine was not the same.
  [[nodiscard]] std::string new_best(const model::BeamMember& incumbent) const {
    const std::string name = name_of(incumbent.identity, incumbent.title);
    const std::string score = format_ratio(incumbent.score);
    if (!best_.empty() && incumbent.score.estimate < best_score_)
      return fmt::format("  the lead goes to {}: {} in this iteration's play-off\n", name, score);
    return fmt::format("  new best {}: {}\n", score, name);
  }

  bool live_;
  bool all_;
  LastLine last_line_;
  int iterations_ = 0;
  std::string goal_;
  std::string place_;      ///< "iteration 2/4"
  Tally tally_;            ///< of this iteration
  std::string best_;       ///< identity of the best so far
  double best_score_ = 0;  ///< in the last play-off
  std::set<std::string> warned_of_;
};

class TerminalProgress final : public model::EventSink {
 public:
  TerminalProgress(std::FILE* stream, TerminalOptions options)
      : stream_(stream),
        options_(std::move(options)),
        lines_(options_),
        view_(options_.now()),
        written_at_(options_.now()) {
    if (options_.heartbeat.count() > 0) {
      heartbeat_ = std::jthread([this](const std::stop_token& stop) { beat(stop); });
    }
  }
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  ~TerminalProgress() override {
    heartbeat_ = {};  // stops it and waits for it
    write(erase());
  }

  void on(const model::Event& event) override {
    const std::lock_guard lock(mutex_);
    const auto now = options_.now();
    view_.apply(event, now);
    running_ = !std::holds_alternative<model::RunFinished>(event);
    const std::string lines = std::visit(lines_, event);
    if (!options_.live) return log(lines, now);
    if (!lines.empty()) {
      write(erase() + lines);
      drawn_at_.reset();
    }
    draw(now);
  }

 private:
  void beat(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      ticks_.wait_for(lock, stop, options_.heartbeat, [] { return false; });
      if (stop.stop_requested()) return;
      if (options_.live)
        draw(options_.now());
      else
        log("", options_.now());
    }
  }

  /// Of a log: the lines, or after a long silence the status.
  void log(const std::string& lines, RunView::Time now) {
    const bool silent = lines.empty() && running_ && now - written_at_ >= options_.longest_silence;
    if (lines.empty() && !silent) return;
    written_at_ = now;
    write(prefixed(silent ? "  " + view_.status_line(now) + "\n" : lines));
  }

  /// With the prefix before every line.
  [[nodiscard]] std::string prefixed(const std::string& lines) const {
    if (options_.prefix.empty()) return lines;
    std::string out;
    for (std::size_t at = 0; at < lines.size();) {
      const std::size_t end = std::min(lines.find('\n', at), lines.size() - 1) + 1;
      out += options_.prefix + lines.substr(at, end - at);
      at = end;
    }
    return out;
  }

  /// What takes the status line off the screen; nothing when there is none.
  std::string erase() {
    if (!std::exchange(shown_, false)) return {};
    return kClearLine;
  }

  void draw(RunView::Time now) {
    if (!running_ || (drawn_at_ && now - *drawn_at_ < kLeastBetweenDraws)) return;
    drawn_at_ = now;
    // The last column stays empty: some terminals wrap when it is written.
    const std::size_t columns = std::max<std::size_t>(this->columns(), 2) - 1;
    write(kClearLine + clip(view_.status_line(now), columns));
    shown_ = true;
  }

  [[nodiscard]] std::size_t columns() const {
    if (options_.columns) return *options_.columns;
    winsize size{};
    const bool known = ::ioctl(::fileno(stream_), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : kUsualColumns;
  }

  void write(const std::string& text) {
    if (text.empty()) return;
    // A terminal that has gone away is no reason to stop a run.
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stream_));
    static_cast<void>(std::fflush(stream_));
  }

  std::FILE* stream_;
  TerminalOptions options_;
  std::mutex mutex_;  ///< guards all that follows
  std::condition_variable_any ticks_;
  Lines lines_;
  RunView view_;
  bool running_ = true;
  bool shown_ = false;
  std::optional<RunView::Time> drawn_at_;
  RunView::Time written_at_;  ///< of a log: the last line
  std::jthread heartbeat_;
};

}  // namespace

std::unique_ptr<model::EventSink> make_terminal_progress(std::FILE* stream, TerminalOptions options) {
  return std::make_unique<TerminalProgress>(stream, std::move(options));
}

}  // namespace accelopt::report
