// SPDX-License-Identifier: Apache-2.0
// How programs that work on one run hear of each other: who works on it and when it was last alive, what it tells while
// it goes on, what others ask of it, what it has spent. All of it lies in the journal's database.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "journal/journal.hpp"
#include "model/usage.hpp"
#include "model/vocabulary.hpp"

namespace accelopt::journal {

/// One process's work on a run, from its start or resumption on.
struct Session {
  std::int64_t number = 0;
  std::int64_t pid = 0;
  std::string host;             ///< tells processes of other machines apart (Process::host)
  std::string born;             ///< tells a process from a later one with the same pid (Process::born)
  std::int64_t started_ms = 0;  ///< UNIX time
  std::int64_t beat_ms = 0;     ///< UNIX time of its last sign of life
  double wall_seconds = 0;      ///< that it has worked
  double device_seconds = 0;    ///< that it has measured
  bool ended = false;           ///< it said so
};

/// What another program asks of the one that works on a run. `stop`: come to a confirmed result of what there is;
/// `stop_now`: end at once, to be resumed. `taken_over`, which nobody asks: a later session of the run has begun, as
/// this one gave no sign of life; leave the run to it.
enum class Request { none, stop, stop_now, taken_over };

/// One event of a run, as a line of JSON.
struct EventLine {
  std::int64_t number = 0;
  std::int64_t at_ms = 0;  ///< UNIX time
  std::string text;
};

/// What a run has used, over all its sessions.
struct Spent {
  model::Usage usage;                                ///< of every answer on record, and of questions without one
  std::map<std::string, model::Usage> unanswered{};  ///< of it, of questions without an answer, by who was asked
  int evaluations = 0;                               ///< builds on record
  double wall_seconds = 0;
  double device_seconds = 0;
};

class Control {
 public:
  virtual ~Control() = default;

  /// Enters a session, ends those of the run that did not say so themselves, and takes back requests that an earlier
  /// one did not hear. Its number. Of two that are begun at
  /// the same time one is refused. @error unavailable: another process works on the run, or this one already does.
  virtual base::Result<std::int64_t> begin_session(std::string_view run, const Session& session) = 0;
  /// A sign of life with what was told since the last one; gives what is asked. All in one transaction. What is told by
  /// a session that was taken over is not kept.
  virtual base::Result<Request> beat(const Session& session, const std::vector<EventLine>& events) = 0;
  /// Every session of the run, oldest first.
  virtual base::Result<std::vector<Session>> sessions(std::string_view run) = 0;

  virtual base::Result<void> ask(std::string_view run, Request request) = 0;

  /// Removes a run of which nothing is on record yet, neither an answer nor a measurement: one whose start failed.
  /// False: something is on record, or a session goes on, and all of it stays. @error not_found.
  virtual base::Result<bool> discard_unbegun(std::string_view run) = 0;

  /// The run's events after that number, at most `most` of them.
  virtual base::Result<std::vector<EventLine>> events(std::string_view run, std::int64_t after, int most) = 0;

  virtual base::Result<Spent> spent(std::string_view run) = 0;
  /// @error not_found; corrupt: it is none that there is.
  virtual base::Result<model::RunStatus> status(std::string_view run) = 0;

  /// A fact about the workspace, by name; nothing when it was never set.
  virtual base::Result<std::optional<base::Json>> fact(std::string_view name) = 0;
  virtual base::Result<void> set_fact(std::string_view name, const base::Json& value) = 0;
  /// Appends to a fact that is a list, in one transaction; begins the list where there is none.
  virtual base::Result<void> append_to_fact(std::string_view name, const base::Json& value) = 0;
};

/// A connection of its own to the database of the journal in `folder`: it may be used by another thread than the
/// journal, and one that waits does not hold up the other. Used by one thread at a time. A journal that an older
/// version wrote has no sessions, events and facts when it is only read. @error as open_journal.
base::Result<std::unique_ptr<Control>> open_control(const std::filesystem::path& folder, Access access);

/// This process, as sessions name it. Of another machine, or another container, `host` differs.
struct Process {
  std::int64_t pid = 0;
  std::string host;
  std::string born;
};
Process this_process();

enum class Alive { yes, no, unknown };
/// Whether the session's process still works: it is looked up where it is this machine's, else its last sign of life
/// tells: `unknown` when that was too long ago to be sure, or is still to come by this machine's clock; `no` after an
/// hour.
Alive is_alive(const Session& session);

/// Waits for so long.
using Wait = std::function<void(std::chrono::milliseconds)>;
void sleep_for(std::chrono::milliseconds time);

/// Where is_alive() is unknown: whether signs of life go on to come within three seconds, by whatever clock. False at
/// once where it is known. Not to be called in a transaction, which would keep them from coming.
base::Result<bool> shows_life(Control& control, std::string_view run, const Session& session,
                              const Wait& wait = sleep_for);
/// @error unavailable: the run goes on in another process, which shows_life(); else as sessions().
base::Result<void> look_for_life(Control& control, std::string_view run, const Wait& wait = sleep_for);

/// "process 4711", "process 4711 of another machine or container": for messages.
std::string process_of(const Session& session);

/// Milliseconds of UNIX time.
std::int64_t unix_ms();

}  // namespace accelopt::journal
