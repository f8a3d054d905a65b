// SPDX-License-Identifier: Apache-2.0
#include "journal/garbage.hpp"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/files.hpp"
#include "journal/control.hpp"
#include "journal/object_store.hpp"
#include "journal/sqlite_journal.hpp"

namespace accelopt::journal {
namespace {

using base::Database;
using base::ErrorCode;
using base::fail;
using base::Query;
using base::Result;
using base::Transaction;
namespace fs = std::filesystem;

constexpr std::size_t kDigits = 64;

bool is_digit(char letter) {
  return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
}

/// Adds every run of exactly 64 hexadecimal digits.
void find_hashes(std::string_view text, std::vector<std::string>& hashes) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end - at == kDigits) hashes.emplace_back(text.substr(at, kDigits));
    at = end + 1;
  }
}

Result<std::vector<std::string>> names(Database& database, std::string_view sql, std::string_view about) {
  return database.all(
      sql, [](const Query& row) { return row.text(0); }, about);
}

/// All hashes that occur in any text of the database.
Result<std::vector<std::string>> hashes_on_record(Database& database) {
  std::vector<std::string> hashes;
  TRY_ASSIGN(const auto tables, names(database, "SELECT name FROM sqlite_master WHERE type = ?", "table"));
  for (const std::string& table : tables) {
    if (table == "texts") continue;  // objects themselves
    TRY_ASSIGN(const auto columns, names(database, "SELECT name FROM pragma_table_info(?)", table));
    for (const std::string& column : columns) {
      TRY(database.each("SELECT \"" + column + "\" FROM \"" + table + "\" WHERE length(\"" + column + "\") >= 64",
                        [&](const Query& row) { find_hashes(row.text(0), hashes); }));
    }
  }
  return hashes;
}

/// A session that has not said that it ended.
struct OpenSession {
  std::string run;
  Session session;
  bool may_go_on = false;  ///< the last to begin a run that has not ended
};

Result<std::vector<OpenSession>> open_sessions(Database& database) {
  return database.all(
      "SELECT runs.id, pid, host, born, beat_ms, runs.status = 'running' AND NOT EXISTS (SELECT 1 FROM sessions later "
      "WHERE later.run = sessions.run AND later.number > sessions.number), sessions.number FROM sessions JOIN runs ON "
      "runs.number = sessions.run WHERE ended = 0",
      [](const Query& row) {
        return OpenSession{.run = row.text(0),
                           .session = {.number = row.integer(6),
                                       .pid = row.integer(1),
                                       .host = row.text(2),
                                       .born = row.text(3),
                                       .beat_ms = row.integer(4)},
                           .may_go_on = row.integer(5) != 0};
      });
}

tl::unexpected<base::Error> goes_on_beside(const OpenSession& open) {
  return fail(ErrorCode::unavailable, "run " + open.run + " goes on in " + process_of(open.session) +
                                          " and nothing is removed beside it; wait for it, or end it with: accelopt "
                                          "stop " +
                                          open.run);
}

/// Where it cannot be found out whether a process works on a run, it is looked whether its signs of life go on.
Result<void> look_for_signs_of_life(const fs::path& folder, Database& database, const Wait& wait) {
  TRY_ASSIGN(const auto all, open_sessions(database));
  TRY_ASSIGN(const auto control, open_control(folder, Access::read_only));
  for (const OpenSession& open : all) {
    TRY_ASSIGN(const bool lives, open.may_go_on ? shows_life(*control, open.run, open.session, wait) : false);
    if (lives) return goes_on_beside(open);
  }
  return {};
}

/// Runs that a process works on, or may work on where that cannot be found out. One whose last sign of life is of a
/// time to come by this clock was looked at just now.
Result<void> check_that_none_goes_on(Database& database) {
  TRY_ASSIGN(const auto all, open_sessions(database));
  for (const OpenSession& open : all) {
    const Alive alive = is_alive(open.session);
    if (alive == Alive::yes) return goes_on_beside(open);
    if (alive == Alive::no || !open.may_go_on || open.session.beat_ms > unix_ms()) continue;
    return fail(ErrorCode::unavailable,
                "run " + open.run + " may go on in " + process_of(open.session) +
                    ", which counts as dead once it has been silent for an hour; if it is dead, continue the run with: "
                    "accelopt resume " +
                    open.run);
  }
  return {};
}

/// The hash of an object by where it lies; none: it is no object.
std::optional<std::string> hash_of(const fs::path& file) {
  const std::string hash = file.parent_path().filename().string() + file.filename().string();
  std::vector<std::string> found;
  if (hash.size() == kDigits) find_hashes(hash, found);
  if (found.empty()) return std::nullopt;
  return hash;
}

/// What a killed process was writing: write_file() renames it to the object's own name at the end.
bool is_unfinished(const fs::path& file) {
  return file.extension().string().size() == sizeof ".XXXXXX" - 1 && hash_of(fs::path(file).replace_extension());
}

Result<std::set<std::string>> referenced(Database& database, const fs::path& objects) {
  TRY_ASSIGN(std::vector<std::string> open, hashes_on_record(database));
  TRY_ASSIGN(const bool has_texts, database.has_tables({"texts"}));
  const auto store = make_file_objects(objects, Access::read_only);
  std::set<std::string> marked;
  while (!open.empty()) {
    const std::string hash = std::move(open.back());
    open.pop_back();
    if (!marked.insert(hash).second) continue;
    if (has_texts) {
      TRY_ASSIGN(const auto small,
                 database.first(
                     "SELECT bytes FROM texts WHERE hash = ?", [](const Query& row) { return row.text(0); }, hash));
      if (small) {
        find_hashes(*small, open);
        continue;
      }
    }
    const auto text = store->get(hash);
    if (text) find_hashes(*text, open);
    // A hash of something else names no object.
    if (!text && text.error().code != ErrorCode::not_found) return tl::make_unexpected(text.error());
  }
  return marked;
}

Result<Garbage> sweep_objects(const fs::path& objects, const std::set<std::string>& marked, Sweep sweep) {
  Garbage garbage;
  std::vector<fs::path> doomed;
  std::error_code problem;
  for (fs::recursive_directory_iterator entry(objects, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    if (!entry->is_regular_file(problem) || entry->is_symlink(problem)) continue;
    const auto hash = hash_of(entry->path());
    if (!hash && !is_unfinished(entry->path())) continue;
    if (hash && marked.contains(*hash)) {
      ++garbage.kept;
      continue;
    }
    ++garbage.objects;
    garbage.bytes += static_cast<std::int64_t>(entry->file_size(problem));
    doomed.push_back(entry->path());
  }
  if (problem) return base::fail_errno(problem.value(), "cannot read " + objects.string());
  if (sweep == Sweep::look) return garbage;
  for (const fs::path& file : doomed) {
    if (!fs::remove(file, problem) && problem)
      return base::fail_errno(problem.value(), "cannot remove " + file.string());
  }
  return garbage;
}

/// Adds the small objects, which are rows.
Result<void> sweep_texts(Database& database, const std::set<std::string>& marked, Sweep sweep, Garbage& garbage) {
  TRY_ASSIGN(const bool has_texts, database.has_tables({"texts"}));
  if (!has_texts) return {};
  std::vector<std::string> doomed;
  TRY(database.each("SELECT hash, length(CAST(bytes AS BLOB)) FROM texts", [&](const Query& row) {
    std::string hash = row.text(0);
    if (marked.contains(hash)) {
      ++garbage.kept;
      return;
    }
    ++garbage.objects;
    garbage.bytes += row.integer(1);
    doomed.push_back(std::move(hash));
  }));
  if (sweep == Sweep::look) return {};
  for (const std::string& hash : doomed) TRY(database.run("DELETE FROM texts WHERE hash = ?", hash));
  return {};
}

}  // namespace

Result<Garbage> collect_garbage(const fs::path& folder, Sweep sweep, const Wait& wait) {
  OpenOptions options;
  options.access = sweep == Sweep::remove ? Access::read_write : Access::read_only;
  TRY_ASSIGN(const auto database, open_journal_database(folder, options));
  std::optional<Transaction> transaction;
  if (sweep == Sweep::remove) {
    TRY(look_for_signs_of_life(folder, *database, wait));
    TRY_ASSIGN(Transaction begun, Transaction::begin(*database));
    transaction.emplace(std::move(begun));
    TRY(check_that_none_goes_on(*database));
  }
  TRY_ASSIGN(const auto marked, referenced(*database, folder / "objects"));
  TRY_ASSIGN(Garbage garbage, sweep_objects(folder / "objects", marked, sweep));
  TRY(sweep_texts(*database, marked, sweep, garbage));
  if (transaction) TRY(transaction->commit());
  return garbage;
}

}  // namespace accelopt::journal
