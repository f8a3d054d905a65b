// SPDX-License-Identifier: Apache-2.0
#include "report/progress.hpp"

#include <cmath>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace accelopt::report {
namespace {

using model::AttemptMoved;
using model::AttemptState;
using model::Status;

/// A stream whose text can be read back.
class Memory {
 public:
  Memory() : stream_(::open_memstream(&text_, &size_)) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    std::fclose(stream_);
    std::free(text_);
  }
  [[nodiscard]] std::FILE* stream() const { return stream_; }
  [[nodiscard]] std::string text() const {
    std::fflush(stream_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* stream_;
};

class Progress : public testing::Test {
 protected:
  std::unique_ptr<model::EventSink> make(bool live, std::size_t columns = 200, Detail detail = Detail::events) {
    TerminalOptions options;
    options.live = live;
    options.detail = detail;
    options.now = [this] { return now_; };
    options.columns = columns;
    options.heartbeat = std::chrono::milliseconds(0);
    return make_terminal_progress(memory_.stream(), std::move(options));
  }

  /// What was written since the last call.
  std::string fresh() {
    const std::string all = memory_.text();
    std::string text = all.substr(seen_);
    seen_ = all.size();
    return text;
  }

  void pass(std::chrono::milliseconds time) { now_ += time; }

  Memory memory_;

 private:
  std::chrono::steady_clock::time_point now_{std::chrono::hours(1)};
  std::size_t seen_ = 0;
};

const model::RunStarted kStarted{"20250117-aa", "matmul", "CPU model", 6, 1.24e6, 0.042, 1200};

AttemptMoved attempt(int plan, int number, AttemptState state) {
  AttemptMoved moved;
  moved.identity = {.iteration = 0, .parent = 0, .plan = plan, .attempt = number, .fix = number < 0 ? -1 : 0};
  moved.state = state;
  return moved;
}

AttemptMoved done(int plan, int number, Status status, std::optional<model::Interval> ratio, std::string note) {
  AttemptMoved moved = attempt(plan, number, AttemptState::done);
  moved.title = "swap loops";
  moved.status = status;
  moved.ratio = ratio;
  moved.note = std::move(note);
  return moved;
}

model::Selected selected(int iteration, double score) {
  model::Selected event;
  event.iteration = iteration;
  event.incumbent = model::BeamMember{{0, 0, 1, 0, 0}, "swap loops", {score, score - 0.1, score + 0.1}};
  event.beam = {*event.incumbent, model::BeamMember{{}, "", {1, 1, 1}}};
  event.evaluations = 14;
  event.usage.input_tokens = 12000;
  event.usage.output_tokens = 345;
  return event;
}

/// One iteration with an attempt of each kind, and the end of the run.
void play_a_run(model::EventSink& progress) {
  progress.on(kStarted);
  progress.on(model::IterationStarted{0, 1});
  progress.on(attempt(1, -1, AttemptState::planning));
  progress.on(attempt(1, 0, AttemptState::measuring));
  progress.on(done(1, 0, Status::passed, model::Interval{9.123, 9.05, 9.2}, ""));
  progress.on(done(2, 0, Status::compile_error, std::nullopt, "after 3 fixes"));
  progress.on(done(3, 0, Status::not_measured, std::nullopt, "no answer: timed out"));
  progress.on(done(3, 1, Status::not_measured, std::nullopt, "not measured: is the machine busy?"));
  progress.on(done(4, 0, Status::not_measured, std::nullopt, "not measured: is the machine busy?"));
  progress.on(done(4, 1, Status::passed, model::Interval{1, 1, 1}, model::kKnownAlready));
  progress.on(done(5, 0, Status::passed, model::Interval{1.02, 0.99, 1.05}, ""));
  progress.on(model::Learned{"interchange", model::Polarity::improves, {9.12, 9.05, 9.2}});
  progress.on(model::Learned{"unroll", model::Polarity::regresses, {0.8, 0.79, 0.81}});
  progress.on(selected(0, 9.0));
  progress.on(model::Note{"the machine is noisy"});
  progress.on(model::IterationStarted{1, 2});
  progress.on(selected(1, 9.1));
  progress.on(model::Confirming{{0, 0, 1, 0, 0}, "swap loops"});
  progress.on(model::RunFinished{"improved", "iterations", model::Interval{9.0, 8.9, 9.1}, 125});
}

TEST_F(Progress, ATieIsNotTalliedAsAGain) {
  auto progress = make(false);
  progress->on(kStarted);
  progress->on(model::IterationStarted{0, 1});
  AttemptMoved tie = done(1, 0, Status::passed, model::Interval{1.008, 1.006, 1.01}, "");
  tie.verdict = model::Verdict::tie;
  progress->on(tie);
  progress->on(model::Learned{"a mend", model::Polarity::mends, {29.9, 22.6, 39.7}});
  progress->on(selected(0, 1.0));
  progress.reset();
  EXPECT_NE(memory_.text().find("1 attempt: 1 no faster; 1 lesson, 1 without a gain\n"), std::string::npos)
      << memory_.text();
}

TEST_F(Progress, ALogHasALinePerEventThatMatters) {
  auto progress = make(false);
  play_a_run(*progress);
  progress.reset();
  const std::string text = memory_.text();
  EXPECT_EQ(text,
            "run 20250117-aa of matmul\n"
            "  baseline 1.24 ms, 4.2 % of the roofline on CPU model\n"
            "  at most 6 iterations and 1,200 evaluations\n"
            "iteration 1/6: beam of 1\n"
            "  warning: not measured: is the machine busy?\n"
            "  7 attempts: 1 faster, 1 no faster, 1 known, 1 COMPILE_ERROR, 2 not measured, 1 without an answer; "
            "2 lessons, 1 without a gain\n"
            "  new best 9.00x [8.90, 9.10]: i0.b0.p1.a0.f0 swap loops\n"
            "  note: the machine is noisy\n"
            "iteration 2/6: beam of 2\n"
            "  0 attempts\n"
            "confirming i0.b0.p1.a0.f0 swap loops in fresh processes\n"
            "improved, 9.00x [8.90, 9.10] confirmed; 2m 05s; stopped by iterations\n");
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
}

TEST_F(Progress, AVerboseLogListsAttemptsAndLessons) {
  auto progress = make(false, 200, Detail::all);
  play_a_run(*progress);
  progress.reset();
  const std::string text = memory_.text();
  for (const char* line :
       {"  i0.b0.p1.a0.f0 swap loops: PASSED 9.12x [9.05, 9.20] against its parent\n",
        "  i0.b0.p2.a0.f0 swap loops: COMPILE_ERROR, after 3 fixes\n",
        "  i0.b0.p3.a0.f0 swap loops: no answer: timed out\n",
        "  i0.b0.p4.a0.f0 swap loops: not measured: is the machine busy?\n",
        "  i0.b0.p4.a1.f0 swap loops: PASSED 1.00x [1.00, 1.00] against its parent, known already\n",
        "  learned: interchange (9.12x [9.05, 9.20])\n", "  learned: unroll (to avoid, 0.80x [0.79, 0.81])\n",
        "  new best 9.00x [8.90, 9.10]: i0.b0.p1.a0.f0 swap loops\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "is not in\n" << text;
  }
}

TEST_F(Progress, ALostBestIsAWarning) {
  auto progress = make(false);
  progress->on(selected(0, 9.0));
  fresh();
  progress->on(model::Selected{});
  EXPECT_NE(fresh().find("  warning: the best so far failed"), std::string::npos);
}

TEST_F(Progress, ALowerScoreOfAnotherPlayOff_IsNoNewBest) {
  auto progress = make(false);
  progress->on(selected(0, 5.45));
  EXPECT_NE(fresh().find("  new best 5.45x [5.35, 5.55]: i0.b0.p1.a0.f0 swap loops\n"), std::string::npos);
  model::Selected event = selected(1, 4.94);
  event.incumbent->identity = {1, 0, 1, 0, 0};
  progress->on(event);
  const std::string text = fresh();
  EXPECT_NE(
      text.find("  the lead goes to i1.b0.p1.a0.f0 swap loops: 4.94x [4.84, 5.04] in this iteration's play-off\n"),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("new best"), std::string::npos) << text;
}

TEST_F(Progress, ALogIsNeverSilentForMoreThanAMinute) {
  auto progress = make(false);
  progress->on(kStarted);
  progress->on(model::IterationStarted{0, 1});
  fresh();
  pass(std::chrono::seconds(59));
  progress->on(attempt(0, 0, AttemptState::executing));
  EXPECT_EQ(fresh(), "");
  pass(std::chrono::seconds(1));
  progress->on(attempt(1, 0, AttemptState::executing));
  EXPECT_EQ(fresh(), "  iteration 1/6 | 1m 00s | 2 executing | CPU model\n");
  pass(std::chrono::seconds(30));
  progress->on(attempt(1, 0, AttemptState::measuring));
  EXPECT_EQ(fresh(), "");
}

TEST_F(Progress, TheLastLineCanBeLeftOut) {
  TerminalOptions options;
  options.last_line = LastLine::left_out;
  options.heartbeat = std::chrono::milliseconds(0);
  const auto progress = make_terminal_progress(memory_.stream(), std::move(options));
  progress->on(model::RunFinished{"no_gain", "patience", std::nullopt, 12});
  EXPECT_EQ(memory_.text(), "");
}

TEST_F(Progress, Log_WithAPrefix_HasItBeforeEveryLine) {
  TerminalOptions options;
  options.heartbeat = std::chrono::milliseconds(0);
  options.prefix = "silu: ";
  const auto progress = make_terminal_progress(memory_.stream(), std::move(options));
  progress->on(kStarted);
  progress->on(attempt(1, 0, AttemptState::measuring));
  progress->on(model::Note{"hello"});
  EXPECT_EQ(memory_.text(),
            "silu: run 20250117-aa of matmul\n"
            "silu:   baseline 1.24 ms, 4.2 % of the roofline on CPU model\n"
            "silu:   at most 6 iterations and 1,200 evaluations\n"
            "silu:   note: hello\n");
}

TEST_F(Progress, ATerminalHasAStatusLineThatIsRedrawn) {
  auto progress = make(true);
  pass(std::chrono::seconds(2));
  progress->on(kStarted);
  EXPECT_NE(fresh().find("\r\x1b[Kverifying and measuring the baseline | 2.00 s"), std::string::npos);
  pass(std::chrono::seconds(1));
  progress->on(model::IterationStarted{0, 1});
  EXPECT_EQ(fresh(), "\r\x1b[Kiteration 1/6 | 3.00 s | CPU model");
  for (const auto& moved : {attempt(0, -1, AttemptState::planning), attempt(1, -1, AttemptState::planning),
                            attempt(0, 0, AttemptState::executing), attempt(0, 1, AttemptState::executing),
                            attempt(0, 0, AttemptState::building)}) {
    progress->on(moved);
  }
  EXPECT_EQ(fresh(), "");  // within a tenth of a second
  pass(std::chrono::milliseconds(100));
  progress->on(attempt(0, 0, AttemptState::measuring));
  EXPECT_EQ(fresh(), "\r\x1b[Kiteration 1/6 | 3.10 s | 1 planning, 1 executing, 1 measuring | CPU model");
  pass(std::chrono::milliseconds(100));
  progress->on(done(0, 0, Status::passed, model::Interval{2, 1.9, 2.1}, ""));
  EXPECT_EQ(fresh(),
            "\r\x1b[Kiteration 1/6 | 3.20 s | 1 planning, 1 executing, 1 of 3 done | 1 evaluation | CPU model");
  pass(std::chrono::seconds(7));
  progress->on(selected(0, 9.0));
  EXPECT_EQ(
      fresh(),
      "\r\x1b[Kiteration 1/6: 1 attempt: 1 faster\n"
      "  new best 9.00x [8.90, 9.10]: i0.b0.p1.a0.f0 swap loops\n"
      "\r\x1b[Kiteration 1/6 | best 9.00x [8.90, 9.10] | 12,345 tokens | 10.2 s, about 36.0 s left | 14 evaluations "
      "| CPU model");
  pass(std::chrono::seconds(1));
  progress->on(model::Confirming{{0, 0, 1, 0, 0}, "swap loops"});
  EXPECT_NE(fresh().find("\r\x1b[Kconfirming swap loops | best 9.00x"), std::string::npos);
  progress->on(model::RunFinished{"no_gain", "patience", std::nullopt, 12});
  EXPECT_EQ(fresh(), "\r\x1b[Kno gain found; 12.0 s; stopped by patience\n");
  progress.reset();
  EXPECT_EQ(fresh(), "");
}

TEST_F(Progress, TheStatusLineFitsAndObeysNobody) {
  auto progress = make(true, 40);
  progress->on(model::IterationStarted{0, 1});
  fresh();
  pass(std::chrono::seconds(1));
  progress->on(model::Confirming{{0, 0, 1, 0, 0}, "evil\x1b]0;title\x07 name that is much longer than the line is"});
  const std::string text = fresh();
  const std::size_t status = text.rfind("\r\x1b[K") + 4;
  EXPECT_EQ(text.size() - status, 39U) << text;
  EXPECT_EQ(text.find("\x1b]"), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
}

TEST_F(Progress, AnInterruptedRunLeavesNoStatusLine) {
  auto progress = make(true);
  progress->on(model::IterationStarted{0, 1});
  fresh();
  progress.reset();
  EXPECT_EQ(fresh(), "\r\x1b[K");
}

TEST_F(Progress, SpendIsMoneyWhereThePriceIsKnown) {
  auto progress = make(true);
  model::Selected event = selected(0, 2.0);
  event.usage.usd = 0.1234;
  progress->on(event);
  EXPECT_NE(fresh().find(" | $0.12 | "), std::string::npos);
}

TEST(TerminalProgress, MayBeCalledFromManyThreadsWhileTheClockTicks) {
  Memory memory;
  constexpr int kThreads = 4;
  constexpr int kNotes = 50;
  {
    TerminalOptions options;
    options.live = true;
    options.heartbeat = std::chrono::milliseconds(1);
    auto progress = make_terminal_progress(memory.stream(), std::move(options));
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&] {
        for (int i = 0; i < kNotes; ++i) progress->on(model::Note{"hello"});
      });
    }
    threads.clear();
  }
  const std::string text = memory.text();
  int notes = 0;
  for (std::size_t at = text.find("  note: hello\n"); at != std::string::npos;
       at = text.find("  note: hello\n", at + 1)) {
    ++notes;
  }
  EXPECT_EQ(notes, kThreads * kNotes);
}

std::vector<base::Json> json_lines(const std::vector<model::Event>& events) {
  Memory memory;
  {
    const auto progress = make_json_progress(memory.stream());
    for (const model::Event& event : events) progress->on(event);
  }
  std::vector<base::Json> lines;
  std::string text = memory.text();
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    EXPECT_NE(end, std::string::npos);
    lines.push_back(base::parse_json(text.substr(0, end), "line").value_or(base::Json()));
    text.erase(0, end + 1);
  }
  return lines;
}

TEST(JsonProgress, Events_OfSeveralRuns_NameTheirTask) {
  Memory memory;
  make_json_progress(memory.stream(), "silu")->on(model::Note{"hello"});
  EXPECT_EQ(base::parse_json(memory.text(), "line").value_or(base::Json())["suite_task"], "silu");
  EXPECT_FALSE(json_lines({model::Note{"hello"}}).at(0).contains("suite_task"));
}

TEST(JsonProgress, WritesOneObjectALine) {
  auto lines = json_lines({kStarted, model::IterationStarted{0, 1}, attempt(1, 0, AttemptState::measuring),
                           done(1, 0, Status::passed, model::Interval{2, 1.9, 2.1}, "known already"),
                           model::Learned{"tile\n\"x\"", model::Polarity::regresses, {0.8, 0.7, 0.9}}, selected(0, 9.0),
                           model::Confirming{{0, 0, 1, 0, 0}, "swap loops"},
                           model::RunFinished{"budget", "max-usd", std::nullopt, 12.5}, model::Note{"\xFF bytes"}});
  ASSERT_EQ(lines.size(), 9U);
  for (base::Json& line : lines) {
    EXPECT_GT(line["at_ms"].get<std::int64_t>(), 1'600'000'000'000);
    line.erase("at_ms");
  }
  EXPECT_EQ(lines[0], (base::Json{{"type", "run_started"},
                                  {"schema", 1},
                                  {"run", "20250117-aa"},
                                  {"task", "matmul"},
                                  {"device", "CPU model"},
                                  {"iterations", 6},
                                  {"baseline_ns", 1.24e6},
                                  {"baseline_roofline", 0.042},
                                  {"planned_evaluations", 1200}}));
  EXPECT_EQ(lines[1]["type"], "iteration_started");
  EXPECT_EQ(lines[1]["beam"], 1);
  EXPECT_EQ(lines[2]["type"], "attempt");
  EXPECT_EQ(lines[2]["id"], "i0.b0.p1.a0.f0");
  EXPECT_EQ(lines[2]["state"], "measuring");
  EXPECT_TRUE(lines[2]["status"].is_null());
  EXPECT_TRUE(lines[2]["ratio"].is_null());
  EXPECT_EQ(lines[3]["status"], "PASSED");
  EXPECT_EQ(lines[3]["ratio"]["low"], 1.9);
  EXPECT_EQ(lines[3]["note"], "known already");
  EXPECT_EQ(lines[4]["title"], "tile\n\"x\"");
  EXPECT_EQ(lines[4]["polarity"], "regresses");
  EXPECT_EQ(lines[5]["beam"].size(), 2U);
  EXPECT_EQ(lines[5]["beam"][1]["id"], "baseline");
  EXPECT_EQ(lines[5]["incumbent"]["score"]["estimate"], 9.0);
  EXPECT_EQ(lines[5]["usage"]["input_tokens"], 12000);
  EXPECT_EQ(lines[6]["type"], "confirming");
  EXPECT_TRUE(lines[7]["speedup"].is_null());
  EXPECT_EQ(lines[7]["wall_seconds"], 12.5);
  EXPECT_EQ(lines[8]["text"],
            "\xEF\xBF\xBD bytes");  // what is no UTF-8 is replaced, never invalid JSON
}

TEST(JsonProgress, NoIncumbentAndNoNumberAreNull) {
  model::RunStarted started = kStarted;
  started.baseline_ns = std::nan("");
  const auto lines = json_lines({started, model::Selected{}});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[0]["baseline_ns"].is_null());
  EXPECT_TRUE(lines[1]["incumbent"].is_null());
  EXPECT_EQ(lines[1]["beam"], base::Json::array());
}

}  // namespace
}  // namespace accelopt::report
