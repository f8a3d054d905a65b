// SPDX-License-Identifier: Apache-2.0
#include "app/watch.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "app/workspace.hpp"

namespace accelopt::app {
namespace {

using journal::Alive;
using journal::EventLine;

/// How often the journal is looked at: a run writes its events down twice a second.
constexpr std::chrono::milliseconds kPause{250};
/// A run gives signs of life more often than that.
constexpr std::chrono::milliseconds kSilence{3'000};
constexpr int kWatchedAtOnce = 1000;

/// Sleeps; false when the watching is to end.
bool pause(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait_for(lock, stop, kPause, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace

base::Result<WatchedRun> WatchedRun::open(const std::filesystem::path& workspace, const std::string& name) {
  WatchedRun out;
  out.workspace_ = workspace;
  TRY_ASSIGN(out.journal_, open_workspace(workspace, journal::Access::read_only));
  TRY_ASSIGN(out.control_, journal::open_control(workspace, journal::Access::read_only));
  TRY_ASSIGN(const journal::RunInfo run, pick_run(*out.journal_, *out.control_, name));
  out.id_ = run.id;
  TRY_ASSIGN(out.state_, state_of(*out.control_, run.id));
  return out;
}

base::Result<void> WatchedRun::follow(WatchSink& sink, const std::stop_token& stop) {
  const std::int64_t since_ms = session_began_ms();
  bool warned = false;
  std::int64_t last_beat = 0;
  std::chrono::milliseconds silent{0};
  for (;;) {
    // In this order: what an ended run has told is there once it says that it has ended.
    TRY_ASSIGN(state_, state_of(*control_, id_));
    TRY(tell_news(sink, since_ms));
    sink.catch_up();
    const bool over = state_.session && state_.session->ended;
    if (state_.status != model::RunStatus::running && (over || state_.alive == Alive::no)) return {};
    // Its signs of life carry the time of its own clock, which this machine's need not agree with.
    const std::int64_t beat = state_.session ? state_.session->beat_ms : 0;
    silent = beat == last_beat ? silent + kPause : std::chrono::milliseconds(0);
    last_beat = beat;
    if (state_.alive == Alive::unknown && silent >= kSilence && !warned) {
      warned = true;
      sink.note("no sign of life from " + journal::process_of(*state_.session) + "; it may be dead");
    }
    if (state_.alive == Alive::yes) warned = false;
    if (!pause(stop)) return {};
  }
}

base::Result<void> WatchedRun::tell_news(WatchSink& sink, std::int64_t since_ms) {
  for (;;) {
    TRY_ASSIGN(const auto lines, control_->events(id_, last_event_, kWatchedAtOnce));
    for (const EventLine& line : lines) {
      last_event_ = line.number;
      if (line.at_ms >= since_ms) TRY(sink.on(line));
    }
    if (lines.size() < kWatchedAtOnce) return {};
  }
}

base::Result<journal::RunInfo> WatchedRun::info() {
  return journal_->find_run(id_);
}

base::Result<void> WatchedRun::ask(journal::Request request) {
  TRY_ASSIGN(const auto control, journal::open_control(workspace_, journal::Access::read_write));
  return control->ask(id_, request);
}

}  // namespace accelopt::app
