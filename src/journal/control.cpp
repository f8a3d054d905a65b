// SPDX-License-Identifier: Apache-2.0
#include "journal/control.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/text.hpp"
#include "journal/rows.hpp"
#include "journal/schema.hpp"
#include "journal/sqlite_journal.hpp"
#include "model/judges.hpp"

namespace accelopt::journal {
namespace {

using base::canonical;
using base::Database;
using base::ErrorCode;
using base::fail;
using base::Json;
using base::Query;
using base::Result;
using base::Transaction;

/// A process of another machine that has given no sign of life for this long may have died; it gives one a second.
constexpr std::int64_t kSilentMs = 15'000;
/// ... and for this long is dead: its machine was restarted, or its container is gone.
constexpr std::int64_t kDeadMs = 3'600'000;

/// A process gives a sign of life more often than that.
constexpr std::chrono::seconds kLook{3};
constexpr std::chrono::milliseconds kBetweenLooks{250};

/// How long a call waits for another program's lock: signs of life come again, and a person who asks can ask again.
constexpr std::chrono::milliseconds kPatience{5'000};

/// The time at which a process began, in the kernel's own unit; empty when there is none. Fields of /proc/PID/stat are
/// counted from behind the last parenthesis, because a program's name may hold anything.
std::string born_of(std::int64_t pid) {
  constexpr int kStartTimeAfterName = 20;  // @source proc(5): starttime is field 22, the name field 2
  const std::string line = base::first_line_of_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_ends = line.rfind(')');
  if (name_ends == std::string::npos) return {};
  std::istringstream fields(line.substr(name_ends + 1));
  std::string field;
  fields >> field;
  if (field == "Z" || field == "X")
    return {};  // dead, only its parent has not looked yet (in a container: perhaps never)
  for (int i = 1; i < kStartTimeAfterName; ++i) fields >> field;
  return field;
}

tl::unexpected<base::Error> goes_on(std::string_view run, const Session& session) {
  const std::string id(run);
  return fail(ErrorCode::unavailable, "run " + id + " goes on in " + process_of(session) +
                                          "; see it with: accelopt watch " + id + ", or end it with: accelopt stop " +
                                          id);
}

std::string_view name_of(Request request) {
  return request == Request::stop_now ? "stop_now" : "stop";
}

class SqliteControl final : public Control {
 public:
  SqliteControl(std::unique_ptr<Database> database, bool has_tables)
      : database_(std::move(database)), has_tables_(has_tables) {}

  Result<std::int64_t> begin_session(std::string_view run, const Session& session) override {
    TRY_ASSIGN(Transaction transaction, Transaction::begin(*database_));
    TRY_ASSIGN(const std::int64_t number, run_number(run));
    TRY(check_that_it_rests(run));
    // Of the first session nobody else could have been meant.
    TRY(database_->run("DELETE FROM requests WHERE run = ?1 AND EXISTS (SELECT 1 FROM sessions WHERE run = ?1)",
                       number));
    // Nobody is left to say so. One that works after all says in its next beat that it has not ended.
    TRY(database_->run("UPDATE sessions SET ended = 1 WHERE run = ? AND ended = 0", number));
    TRY(
        database_->run("INSERT INTO sessions(run, pid, host, born, started_ms, beat_ms, wall_ms, device_ms, ended) "
                       "VALUES(?,?,?,?,?,?,0,0,0)",
                       number, session.pid, session.host, session.born, session.started_ms, session.beat_ms));
    const std::int64_t made = database_->last_row();
    TRY(transaction.commit());
    return made;
  }

  Result<Request> beat(const Session& session, const std::vector<EventLine>& events) override {
    TRY_ASSIGN(Transaction transaction, Transaction::begin(*database_));
    TRY_ASSIGN(
        const std::int64_t later,
        database_->number_of("SELECT later.number FROM sessions later JOIN sessions mine ON later.run = mine.run "
                             "WHERE mine.number = ?1 AND later.number > ?1 LIMIT 1",
                             session.number));
    TRY(database_->run("UPDATE sessions SET beat_ms = ?2, wall_ms = ?3, device_ms = ?4, ended = ?5 WHERE number = ?1",
                       session.number, session.beat_ms, milliseconds(session.wall_seconds),
                       milliseconds(session.device_seconds), session.ended ? 1 : 0));
    if (later != 0) {
      TRY(transaction.commit());
      return Request::taken_over;
    }
    for (const EventLine& event : events) {
      TRY(database_->run("INSERT INTO events(run, at_ms, event) SELECT run, ?2, ?3 FROM sessions WHERE number = ?1",
                         session.number, event.at_ms, event.text));
    }
    TRY_ASSIGN(const auto asked,
               database_->all(
                   "SELECT kind FROM requests WHERE run = (SELECT run FROM sessions WHERE number = ?) ORDER BY number",
                   [](const Query& row) { return row.text(0); }, session.number));
    Request request = asked.empty() ? Request::none : Request::stop;
    if (std::ranges::find(asked, name_of(Request::stop_now)) != asked.end()) request = Request::stop_now;
    TRY(transaction.commit());
    return request;
  }

  Result<std::vector<Session>> sessions(std::string_view run) override {
    if (!has_tables_) return std::vector<Session>();
    return database_->all(
        "SELECT number, pid, host, born, started_ms, beat_ms, wall_ms, device_ms, ended FROM sessions WHERE run = "
        "(SELECT number FROM runs WHERE id = ?) ORDER BY number",
        [](const Query& row) {
          return Session{.number = row.integer(0),
                         .pid = row.integer(1),
                         .host = row.text(2),
                         .born = row.text(3),
                         .started_ms = row.integer(4),
                         .beat_ms = row.integer(5),
                         .wall_seconds = seconds(row.integer(6)),
                         .device_seconds = seconds(row.integer(7)),
                         .ended = row.integer(8) != 0};
        },
        run);
  }

  Result<void> ask(std::string_view run, Request request) override {
    TRY_ASSIGN(const std::int64_t number, run_number(run));
    return database_->run("INSERT INTO requests(run, kind, made_ms) VALUES(?,?,?)", number, name_of(request),
                          unix_ms());
  }

  Result<bool> discard_unbegun(std::string_view run) override {
    TRY_ASSIGN(Transaction transaction, Transaction::begin(*database_));
    TRY_ASSIGN(const std::int64_t number, run_number(run));
    TRY_ASSIGN(const std::int64_t begun,
               database_->number_of(
                   "SELECT 1 FROM steps WHERE run = ?1 AND kind <> 'estimate' AND substr(kind, 1, 8) <> 'session:' "
                   "UNION ALL SELECT 1 FROM sessions WHERE run = ?1 AND ended = 0 LIMIT 1",
                   number));
    if (begun != 0) return false;
    for (const char* table : {"steps", "sessions", "requests", "events", "experiences", "parcels"})
      TRY(database_->run(("DELETE FROM " + std::string(table) + " WHERE run = ?"), number));
    TRY(database_->run("DELETE FROM runs WHERE number = ?", number));
    TRY(transaction.commit());
    return true;
  }

  Result<std::vector<EventLine>> events(std::string_view run, std::int64_t after, int most) override {
    if (!has_tables_) return std::vector<EventLine>();
    return database_->all(
        "SELECT number, at_ms, event FROM events WHERE run = (SELECT number FROM runs WHERE id = ?) AND number > ? "
        "ORDER BY number LIMIT ?",
        [](const Query& row) {
          return EventLine{row.integer(0), row.integer(1), row.text(2)};
        },
        run, after, most);
  }

  Result<Spent> spent(std::string_view run) override {
    TRY_ASSIGN(const std::int64_t number, run_number(run));
    Spent spent;
    TRY_ASSIGN(
        const auto usages,
        database_->all(
            "SELECT usage FROM steps WHERE run = ? AND kind >= 'chat:' AND kind < 'chat;'",
            [](const Query& row) { return decode_stored<model::Usage>(row.text(0), "usage of an answer"); }, number));
    for (const model::Usage& usage : usages) spent.usage += usage;
    TRY_ASSIGN(spent.unanswered, unanswered(number));
    for (const auto& [who, usage] : spent.unanswered) spent.usage += usage;
    TRY_ASSIGN(const std::int64_t builds,
               database_->number_of("SELECT count(*) FROM steps WHERE run = ? AND kind >= 'build:' AND kind < 'build;'",
                                    number));
    spent.evaluations = static_cast<int>(builds);
    TRY_ASSIGN(const auto all, sessions(run));
    for (const Session& session : all) {
      spent.wall_seconds += session.wall_seconds;
      spent.device_seconds += session.device_seconds;
    }
    return spent;
  }

  Result<model::RunStatus> status(std::string_view run) override {
    TRY_ASSIGN(auto found,
               database_->first(
                   "SELECT status FROM runs WHERE id = ?", [](const Query& row) { return row.text(0); }, run));
    if (!found) return no_run(run);
    return read_status(*found, run);
  }

  Result<std::optional<Json>> fact(std::string_view name) override {
    if (!has_tables_) return std::optional<Json>();
    return database_->first(
        "SELECT value FROM facts WHERE name = ?",
        [&](const Query& row) { return decode_stored<Json>(row.text(0), "fact " + std::string(name)); }, name);
  }

  Result<void> set_fact(std::string_view name, const Json& value) override {
    return database_->run("INSERT INTO facts(name, value) VALUES(?1,?2) ON CONFLICT(name) DO UPDATE SET value = ?2",
                          name, canonical(value));
  }

  Result<void> append_to_fact(std::string_view name, const Json& value) override {
    TRY_ASSIGN(Transaction transaction, Transaction::begin(*database_));
    TRY_ASSIGN(auto list, fact(name));
    Json all = list && list->is_array() ? std::move(*list) : Json::array();
    all.push_back(value);
    TRY(set_fact(name, all));
    return transaction.commit();
  }

 private:
  static std::int64_t milliseconds(double seconds) { return static_cast<std::int64_t>(seconds * 1e3); }
  static double seconds(std::int64_t milliseconds) { return static_cast<double>(milliseconds) / 1e3; }

  /// By who was asked.
  Result<std::map<std::string, model::Usage>> unanswered(std::int64_t run) {
    TRY_ASSIGN(const auto steps,
               database_->all(
                   "SELECT kind, usage FROM steps WHERE run = ? AND kind >= 'unanswered:' AND kind < 'unanswered;'",
                   [](const Query& row) { return std::pair(row.text(0), row.text(1)); }, run));
    std::map<std::string, model::Usage> out;
    for (const auto& [kind, text] : steps) {
      TRY_ASSIGN(const auto usage, decode_stored<model::Usage>(text, "usage of a question without an answer"));
      out[std::string(model::payer_of_step(kind))] += usage;
    }
    return out;
  }

  tl::unexpected<base::Error> no_run(std::string_view run) const {
    return fail(ErrorCode::not_found,
                database_->name() + ": there is no run \"" + std::string(run) + "\"; `accelopt runs` lists them");
  }

  /// To be called in the transaction that enters a session, which no other can be entered beside.
  Result<void> check_that_it_rests(std::string_view run) {
    TRY_ASSIGN(const auto all, sessions(run));
    for (const Session& other : all) {
      if (is_alive(other) == Alive::yes) return goes_on(run, other);
    }
    return {};
  }

  Result<std::int64_t> run_number(std::string_view run) {
    TRY_ASSIGN(const std::int64_t number, database_->number_of("SELECT number FROM runs WHERE id = ?", run));
    if (number == 0) return no_run(run);
    return number;
  }

  std::unique_ptr<Database> database_;
  bool has_tables_;
};

}  // namespace

Result<std::unique_ptr<Control>> open_control(const std::filesystem::path& folder, Access access) {
  TRY_ASSIGN(std::unique_ptr<Database> database,
             open_journal_database(folder, {.access = access, .busy_timeout = kPatience}));
  TRY_ASSIGN(const bool has_tables, database->has_tables({"sessions", "events", "facts"}));
  return std::make_unique<SqliteControl>(std::move(database), has_tables);
}

Process this_process() {
  std::error_code ignored;
  // The boot tells machines apart, and the namespace containers: a pid means something only within both.
  const std::string space = std::filesystem::read_symlink("/proc/self/ns/pid", ignored).string();
  return {::getpid(), base::first_line_of_file("/proc/sys/kernel/random/boot_id") + " " + space, born_of(::getpid())};
}

Alive is_alive(const Session& session) {
  if (session.ended) return Alive::no;
  if (session.host == this_process().host) return born_of(session.pid) == session.born ? Alive::yes : Alive::no;
  const std::int64_t silent_ms = unix_ms() - session.beat_ms;
  if (silent_ms < -kSilentMs) return Alive::unknown;  // its clock was ahead, or this one is behind
  return silent_ms <= kSilentMs ? Alive::yes : silent_ms <= kDeadMs ? Alive::unknown : Alive::no;
}

void sleep_for(std::chrono::milliseconds time) {
  std::this_thread::sleep_for(time);
}

Result<bool> shows_life(Control& control, std::string_view run, const Session& session, const Wait& wait) {
  if (is_alive(session) != Alive::unknown) return false;
  for (std::chrono::milliseconds waited{0}; waited < kLook; waited += kBetweenLooks) {
    wait(kBetweenLooks);
    TRY_ASSIGN(const auto all, control.sessions(run));
    const auto now = std::ranges::find(all, session.number, &Session::number);
    if (now == all.end() || now->ended) return false;
    if (now->beat_ms != session.beat_ms) return true;
  }
  return false;
}

Result<void> look_for_life(Control& control, std::string_view run, const Wait& wait) {
  TRY_ASSIGN(const auto all, control.sessions(run));
  for (const Session& session : all) {
    TRY_ASSIGN(const bool lives, shows_life(control, run, session, wait));
    if (lives) return goes_on(run, session);
  }
  return {};
}

std::string process_of(const Session& session) {
  const bool here = session.host == this_process().host;
  return "process " + std::to_string(session.pid) + (here ? "" : " of another machine or container");
}

std::int64_t unix_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace accelopt::journal
