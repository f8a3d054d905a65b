// SPDX-License-Identifier: Apache-2.0
#include "app/run_control.hpp"

#include <tuple>

#include "app/noise.hpp"
#include "report/event_json.hpp"

namespace accelopt::app {

using base::Result;
using journal::Request;

namespace {

/// A limit on time is looked at this often.
constexpr std::chrono::milliseconds kTick{250};
/// Between signs of life. Each hears requests and files events for `watch`.
constexpr int kTicksABeat = 2;
/// Between events about what was used, where it has changed.
constexpr int kBeatsASpendingEvent = 2;

}  // namespace

Result<std::unique_ptr<RunControl>> RunControl::start(const std::filesystem::path& folder, const std::string& run,
                                                      const search::SearchSettings& settings,
                                                      const search::Stops& stops, model::EventSink& events) {
  std::unique_ptr<journal::Control> control;
  journal::Spent before;
  journal::Session session;
  if (!folder.empty()) {
    TRY_ASSIGN(control, journal::open_control(folder, journal::Access::read_write));
    TRY(journal::look_for_life(*control, run));
    const journal::Process process = journal::this_process();
    session.pid = process.pid;
    session.host = process.host;
    session.born = process.born;
    session.started_ms = session.beat_ms = journal::unix_ms();
    TRY_ASSIGN(session.number, control->begin_session(run, session));
    // From here on nobody else spends anything.
    auto spent = control->spent(run);
    if (!spent) {
      session.ended = true;
      std::ignore = control->beat(session, {});
      return tl::make_unexpected(std::move(spent).error());
    }
    before = *std::move(spent);
  }
  std::unique_ptr<RunControl> made(new RunControl(std::move(control), before, settings, stops, events));
  made->session_ = session;
  if (made->control_) {
    TRY_ASSIGN(const auto noise, made->control_->fact(kNoiseFact));
    if (noise) made->noise_ = *noise;
  }
  made->in_touch_ = std::jthread([&self = *made](const std::stop_token& stop) { self.keep_in_touch(stop); });
  made->telling_ = std::jthread([&self = *made](const std::stop_token& stop) { self.keep_telling(stop); });
  return made;
}

RunControl::RunControl(std::unique_ptr<journal::Control> control, const journal::Spent& before,
                       const search::SearchSettings& settings, const search::Stops& program, model::EventSink& events)
    : control_(std::move(control)),
      budget_(settings, std::chrono::steady_clock::now, before),
      events_(events),
      stops_{wind_down_.get_token(), abort_.get_token()},
      on_wind_down_(program.wind_down,
                    [this] {
                      wind_down_.request_stop();
                      stop_waiting_.request_stop();
                    }),
      on_abort_(program.abort, [this] { abort_.request_stop(); }) {}

RunControl::~RunControl() {
  in_touch_ = {};    // stops it and waits for it
  beat(Beat::last);  // before the rest is told, for which a slow reader may take long
  telling_ = {};     // waits until all is told
}

void RunControl::on(const model::Event& event) {
  std::string line = base::canonical(report::event_json(event));
  {
    const std::scoped_lock lock(mutex_);
    to_show_.push_back(event);
    to_file_.push_back({0, journal::unix_ms(), std::move(line)});
  }
  happened_.notify_one();
}

Request RunControl::asked() const {
  const std::scoped_lock lock(mutex_);
  return asked_;
}

Request RunControl::hear() {
  beat(Beat::going_on);
  return asked();
}

void RunControl::keep_in_touch(const std::stop_token& stop) {
  for (int tick = 0;; ++tick) {
    {
      std::unique_lock lock(mutex_);
      woken_.wait_for(lock, stop, kTick, [] { return false; });
    }
    if (stop.stop_requested()) return;
    budget_.tick();
    if (tick % (kTicksABeat * kBeatsASpendingEvent) == 0) tell_spending();
    if (tick % kTicksABeat == 0) beat(Beat::going_on);
  }
}

/// Until a stop is asked for and nothing is left to tell.
void RunControl::keep_telling(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (happened_.wait(lock, stop, [this] { return !to_show_.empty(); })) {
    const model::Event event = std::move(to_show_.front());
    to_show_.pop_front();
    lock.unlock();
    events_.on(event);
    lock.lock();
  }
}

void RunControl::tell_spending() {
  const model::Usage usage = budget_.total();
  const model::Spending spending{usage, budget_.evaluations(), budget_.device_seconds(), budget_.elapsed_seconds()};
  std::string text = base::Json(usage).dump() + std::to_string(spending.evaluations);
  const bool nothing = usage.calls == 0 && spending.evaluations == 0;
  if (text == told_spending_ || nothing) return;
  told_spending_ = std::move(text);
  on(spending);
}

void RunControl::beat(Beat beat) {
  std::unique_lock alone(beating_);
  std::vector<journal::EventLine> lines;
  {
    const std::scoped_lock lock(mutex_);
    lines.swap(to_file_);
  }
  if (!control_) return;
  session_.beat_ms = journal::unix_ms();
  session_.wall_seconds = budget_.session_seconds();
  session_.device_seconds = budget_.session_device_seconds();
  session_.ended = beat == Beat::last;
  const auto request = control_->beat(session_, lines);
  if (request) {
    alone.unlock();
    return obey(*request);
  }
  // What a full disk or a lock holds up is told later. A run is not ended for that: its steps are what counts, and
  // recording them reports such trouble.
  const std::scoped_lock lock(mutex_);
  to_file_.insert(to_file_.begin(), std::make_move_iterator(lines.begin()), std::make_move_iterator(lines.end()));
}

void RunControl::obey(Request request) {
  {
    const std::scoped_lock lock(mutex_);
    if (request <= asked_) return;
    asked_ = request;
  }
  if (request == Request::stop) {
    on(model::Note{"asked to stop: nothing new is begun, and what was found is confirmed"});
    budget_.end(model::EndReason::stop);
    stop_waiting_.request_stop();
    return;
  }
  on(model::Note{request == Request::taken_over
                     ? "another process has continued the run, as this one gave no sign of life; this one leaves it"
                     : "asked to stop at once; the run can be resumed"});
  wind_down_.request_stop();
  stop_waiting_.request_stop();
  abort_.request_stop();
}

}  // namespace accelopt::app
