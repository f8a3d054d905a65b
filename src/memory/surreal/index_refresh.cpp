// SPDX-License-Identifier: Apache-2.0
#include "memory/surreal/index_refresh.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "memory/surreal/records.hpp"
#include "memory/surreal/schema.hpp"

namespace accelopt::memory::surreal {
namespace {

using base::Json;

/// Entries that are read at once at first.
constexpr int kMostCardsAtOnce = 2000;
/// Entries whose words, which are bounded (surreal_schema.cpp), make an answer that no client refuses for its length.
constexpr int kLeastCardsAtOnce = 500;
/// Entries read one by one that are worth a new digest, as a share of those that the last one held.
constexpr double kShareWorthADigest = 0.25;

const Json& rows_at(const std::vector<Json>& results, std::size_t place) {
  static const Json nothing;
  return place < results.size() ? results[place] : nothing;
}

/// Whether the answer was refused for its length and fewer can be asked for, as `count` then says.
bool too_long(const base::Result<std::vector<Json>>& answer, int& count) {
  if (answer || answer.error().code != base::ErrorCode::exhausted || count <= kLeastCardsAtOnce) return false;
  count = std::max(kLeastCardsAtOnce, count / 4);
  return true;
}

/// One index on its way up to date.
struct Reading {
  IndexName name;
  Index* index;
  Json stamp;
  Json key = "";
  bool first;  ///< nothing of it was read before
  bool done = false;
  std::vector<Json> rows{};  ///< for a digest: those that it had, then those read one by one
  std::size_t digested = 0;  ///< how many it had
};

/// Takes what the digest of the index holds.
base::Result<void> begin(Client& client, Reading& reading) {
  TRY_ASSIGN(auto digest, read_digest(client, reading.name));
  if (!digest) return {};
  for (const Json& row : digest->rows) reading.index->take(row);
  reading.rows = std::move(digest->rows);
  reading.digested = reading.rows.size();
  reading.stamp = digest->stamp;
  reading.key = digest->key;
  return {};
}

/// Writes what was read as the index's digest where much of it was read one by one. Who may not write goes without.
void keep(Client& client, Reading& reading, std::int64_t now_us) {
  const std::size_t read = reading.rows.size() - reading.digested;
  if (read < client.options().worth_a_digest ||
      static_cast<double>(read) < kShareWorthADigest * static_cast<double>(reading.digested))
    return;
  Digest digest;
  for (Json& row : reading.rows) {
    const Json& id = row["id"];
    if (id[2] > now_us - client.options().overlap.count()) continue;  // others of its time may still come
    digest.stamp = id[2];
    digest.key = id[3];
    if (reading.index->holds(id)) digest.rows.push_back(std::move(row));
  }
  std::ignore = write_digest(client, reading.name, digest);
}

/// Reads the entries after the one with this id, up to those of `next`, or all (null).
base::Result<void> read_between(Client& client, AllEntries& all, Json from, const IndexName* next) {
  for (int count = kMostCardsAtOnce;;) {
    Json variables = {
        {"language", from[0]}, {"target", from[1]}, {"stamp", from[2]}, {"key", from[3]}, {"count", count}};
    if (next != nullptr) variables.update({{"to_language", next->first}, {"to_target", next->second}});
    const auto answer = client.ask(next != nullptr ? kReadCardsBetween : kReadAllCards, variables);
    if (too_long(answer, count)) continue;
    TRY_ASSIGN(const auto results, answer);
    const Json& rows = rows_at(results, 0);
    if (!rows.is_array()) return {};
    for (const Json& row : rows) {
      all.index.take(row);
      const Json& id = row["id"];
      if (id.is_array() && id.size() > 1 && id[0].is_string() && id[1].is_string())
        all.names.emplace(id[0].get<std::string>(), id[1].get<std::string>());
    }
    if (rows.size() < static_cast<std::size_t>(count)) return {};
    from = rows.back().at("id");
  }
}

}  // namespace

base::Result<void> refresh(Client& client, std::map<IndexName, Index>& indexes, const std::vector<IndexName>& names) {
  std::vector<Reading> readings;
  Json variables;
  int count = kMostCardsAtOnce;
  for (const IndexName& name : names) {
    const std::string place = std::to_string(readings.size());
    Index& index = indexes[name];
    const bool first =
        index.read_until_us() == 0 && std::ranges::find(readings, &index, &Reading::index) == readings.end();
    readings.push_back({.name = name,
                        .index = &index,
                        .stamp = std::max<std::int64_t>(0, index.read_until_us() - client.options().overlap.count()),
                        .first = first});
    if (first) TRY(begin(client, readings.back()));
    variables["language" + place] = name.first;
    variables["target" + place] = name.second;
  }
  std::int64_t now_us = 0;  // of the server, at the first reading
  while (!std::ranges::all_of(readings, &Reading::done)) {
    for (std::size_t i = 0; i < readings.size(); ++i) {
      variables["stamp" + std::to_string(i)] = readings[i].stamp;
      variables["key" + std::to_string(i)] = readings[i].key;
    }
    variables["count"] = count;
    const auto answer = client.ask(kReadCards, clean(variables));
    if (too_long(answer, count)) continue;
    TRY_ASSIGN(const auto results, answer);
    if (now_us == 0) now_us = last_number(results).value_or(0);
    for (std::size_t i = 0; i < readings.size(); ++i) {
      const Json& rows = rows_at(results, i);
      readings[i].done = !rows.is_array() || rows.size() < static_cast<std::size_t>(count);
      if (!rows.is_array() || rows.empty()) continue;
      for (const Json& row : rows) {
        readings[i].index->take(row);
        if (readings[i].first) readings[i].rows.push_back(digested(row));
      }
      readings[i].stamp = rows.back().at("id").at(2);
      readings[i].key = rows.back().at("id").at(3);
    }
  }
  for (Reading& reading : readings) {
    if (reading.first) keep(client, reading, now_us);
    reading.index->set_read_until(now_us);
  }
  return {};
}

base::Result<void> refresh(Client& client, AllEntries& all) {
  TRY_ASSIGN(const auto time, client.ask(kServerTime, Json::object()));
  const std::int64_t now_us = last_number(time).value_or(0);
  const std::int64_t since = std::max<std::int64_t>(0, all.index.read_until_us() - client.options().overlap.count());
  // Of each language and target that is known, what changed since, and on to the next one that is known: what lies
  // between is new.
  const std::vector<IndexName> known(all.names.begin(), all.names.end());
  Json from = Json::array({"", "", 0, ""});
  for (const IndexName& next : known) {
    TRY(read_between(client, all, from, &next));
    from = Json::array({next.first, next.second, since, ""});
  }
  TRY(read_between(client, all, from, nullptr));
  all.index.set_read_until(now_us);
  return {};
}

}  // namespace accelopt::memory::surreal
