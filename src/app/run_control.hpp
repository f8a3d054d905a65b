// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "journal/control.hpp"
#include "model/events.hpp"
#include "search/attempt.hpp"
#include "search/budget.hpp"

namespace accelopt::app {

/// Keeps a run in touch while it goes on, all through the journal's database: signs of life and events for `watch`, the
/// requests of `stop`, and the clock of the budget. The run's events go through it: it tells them on a thread of its
/// own, so that neither the run nor its signs of life wait for a slow reader.
class RunControl final : public model::EventSink {
 public:
  /// Enters a session. `folder`: of the journal; empty (a journal in memory): nobody else can take part. `stops`: the
  /// program's own; `events` are told too and outlive it.
  /// @error unavailable: another process works on this run; else what the journal says.
  static base::Result<std::unique_ptr<RunControl>> start(const std::filesystem::path& folder, const std::string& run,
                                                         const search::SearchSettings& settings,
                                                         const search::Stops& stops, model::EventSink& events);
  RunControl(const RunControl&) = delete;
  RunControl& operator=(const RunControl&) = delete;
  /// Tells what is left, and gives the last sign of life, which says that the session has ended.
  ~RunControl() override;

  void on(const model::Event& event) override;

  [[nodiscard]] search::Budget& budget() { return budget_; }
  /// The program's stops, and what was asked of this run alone.
  [[nodiscard]] const search::Stops& stops() const { return stops_; }
  /// Fires at the first request or signal, whatever it asks for: nobody waits for another's device then.
  [[nodiscard]] std::stop_token stop_waiting() const { return stop_waiting_.get_token(); }
  [[nodiscard]] journal::Request asked() const;
  /// The same as of now, after a sign of life.
  journal::Request hear();
  /// The machine's noise as the workspace last had it measured; null: never.
  [[nodiscard]] const base::Json& noise() const { return noise_; }

 private:
  using Callback = std::stop_callback<std::function<void()>>;

  RunControl(std::unique_ptr<journal::Control> control, const journal::Spent& before,
             const search::SearchSettings& settings, const search::Stops& program, model::EventSink& events);
  void keep_in_touch(const std::stop_token& stop);
  void keep_telling(const std::stop_token& stop);
  enum class Beat { going_on, last };
  void beat(Beat beat);
  void tell_spending();
  void obey(journal::Request request);

  std::mutex beating_;  ///< guards the next two once `in_touch_` runs
  std::unique_ptr<journal::Control> control_;
  journal::Session session_;
  base::Json noise_;
  search::Budget budget_;
  model::EventSink& events_;
  std::stop_source wind_down_;
  std::stop_source abort_;
  std::stop_source stop_waiting_;
  search::Stops stops_;
  Callback on_wind_down_;
  Callback on_abort_;

  mutable std::mutex mutex_;  ///< guards the next five; not held while anybody is told
  std::condition_variable_any woken_;
  std::condition_variable_any happened_;
  std::deque<model::Event> to_show_;         ///< for `events_`
  std::vector<journal::EventLine> to_file_;  ///< the same for the journal, in the same order
  journal::Request asked_ = journal::Request::none;

  std::string told_spending_;  ///< of `in_touch_`
  std::jthread in_touch_;
  std::jthread telling_;
};

}  // namespace accelopt::app
