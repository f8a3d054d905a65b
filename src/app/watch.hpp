// SPDX-License-Identifier: Apache-2.0
// A run in another process: following it, and asking it to end.
#pragma once

#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>

#include "app/run_state.hpp"
#include "base/result.hpp"

namespace accelopt::app {

/// Hears what a followed run tells.
class WatchSink {
 public:
  virtual ~WatchSink() = default;
  /// An event of the run's present session. @error anything: the watching ends with it.
  virtual base::Result<void> on(const journal::EventLine& event) = 0;
  /// All events so far have been told.
  virtual void catch_up() = 0;
  virtual void note(const std::string& text) = 0;
};

class WatchedRun {
 public:
  /// The run of that name, as pick_run finds it. @error as open_workspace and pick_run.
  static base::Result<WatchedRun> open(const std::filesystem::path& workspace, const std::string& name);

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const RunState& state() const { return state_; }  ///< when it was last looked at
  /// UNIX time in milliseconds; 0: nobody has worked on it.
  [[nodiscard]] std::int64_t session_began_ms() const { return state_.session ? state_.session->started_ms : 0; }

  /// Tells events until the run ends or `stop` is asked for.
  base::Result<void> follow(WatchSink& sink, const std::stop_token& stop);
  /// The run as it is on record now.
  base::Result<journal::RunInfo> info();

  /// Where state() cannot tell whether its process lives: whether it gives signs of life, within three seconds.
  base::Result<bool> shows_life() { return journal::shows_life(*control_, id_, *state_.session); }
  /// Asks it to end. It must be running.
  base::Result<void> ask(journal::Request request);

 private:
  WatchedRun() = default;
  base::Result<void> tell_news(WatchSink& sink, std::int64_t since_ms);

  std::filesystem::path workspace_;
  std::unique_ptr<journal::Journal> journal_;
  std::unique_ptr<journal::Control> control_;
  std::string id_;
  RunState state_;
  std::int64_t last_event_ = 0;
};

}  // namespace accelopt::app
