// SPDX-License-Identifier: Apache-2.0
#include "memory/surreal/piles.hpp"

#include <algorithm>
#include <cstdint>

#include "memory/surreal/records.hpp"
#include "memory/surreal/schema.hpp"

namespace accelopt::memory::surreal {
namespace {

using base::Json;

/// Cards that are read at once at first.
constexpr int kMostCardsAtOnce = 2000;
/// Cards whose words, which are bounded (surreal_schema.cpp), make an answer that no client refuses for its length.
constexpr int kLeastCardsAtOnce = 500;
/// How far back changes are read again, microseconds of the server's clock: a transaction's changes carry the time of
/// its statements and are seen when it ends.
constexpr std::int64_t kOverlapUs = 3'000'000;

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

}  // namespace

base::Result<void> refresh(Client& client, std::map<PileName, CardPile>& piles, const std::vector<PileName>& names) {
  struct Reading {
    CardPile* pile;
    Json stamp;
    Json key = "";
    bool done = false;
  };
  std::vector<Reading> readings;
  Json variables;
  int count = kMostCardsAtOnce;
  for (const PileName& name : names) {
    const std::string place = std::to_string(readings.size());
    CardPile& pile = piles[name];
    readings.push_back({&pile, std::max<std::int64_t>(0, pile.read_until_us() - kOverlapUs)});
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
      for (const Json& row : rows) readings[i].pile->take(row);
      readings[i].stamp = rows.back().at("id").at(2);
      readings[i].key = rows.back().at("id").at(3);
    }
  }
  for (const Reading& reading : readings) reading.pile->set_read_until(now_us);
  return {};
}

base::Result<void> read_all(Client& client, CardPile& pile) {
  Json last = Json::array({"", "", 0, ""});
  for (int count = kMostCardsAtOnce;;) {
    const auto answer = client.ask(
        kReadAllCards,
        {{"language", last[0]}, {"target", last[1]}, {"stamp", last[2]}, {"key", last[3]}, {"count", count}});
    if (too_long(answer, count)) continue;
    TRY_ASSIGN(const auto results, answer);
    const Json& rows = rows_at(results, 0);
    if (!rows.is_array()) break;
    for (const Json& row : rows) pile.take(row);
    if (rows.size() < static_cast<std::size_t>(count)) break;
    last = rows.back().at("id");
  }
  return {};
}

}  // namespace accelopt::memory::surreal
