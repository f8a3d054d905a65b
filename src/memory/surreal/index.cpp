// SPDX-License-Identifier: Apache-2.0
#include "memory/surreal/index.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/whole_number.hpp"
#include "memory/utility.hpp"
#include "memory/words.hpp"
#include "model/experience.hpp"

namespace accelopt::memory::surreal {
namespace {

using base::Json;

// BM25 over different words: how soon a long text's words count less, as full-text indexes have it.
constexpr double kSaturation = 1.2;
constexpr double kLengthShare = 0.75;
/// Most different words of one entry that are indexed.
constexpr std::size_t kMostWordsOfACard = 600;
/// Most different words of a query that are looked for.
constexpr std::size_t kMostWordsOfAQuery = 400;

std::int64_t integer_at(const Json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() ? base::whole_number(*found).value_or(0) : 0;
}

double utility_at(const Json& row) {
  model::Experience known;
  known.polarity = model::parse_polarity(base::text_at(row, "p"));
  known.credit.confirmed = integer_at(row, "c");
  known.credit.refuted = integer_at(row, "f");
  if (const auto effect = row.find("e"); effect != row.end() && effect->is_object()) {
    const auto estimate = effect->find("estimate");
    if (estimate != effect->end() && estimate->is_number()) {
      const double value = estimate->get<double>();
      known.effect = model::Interval{value, value, value};
    }
  }
  return utility_of(known);
}

}  // namespace

void Index::take(const Json& row) {
  if (!row.is_object() || !row.contains("id") || !row["id"].is_array() || row["id"].size() != 4) return;
  const Json& id = row["id"];  // [language, target, stamp, key]
  const auto told = base::whole_number(id[2]);
  if (!told) return;
  const std::int64_t stamp = *told;
  const std::string key = id[3].dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto known = last_.find(key);
  if (known != last_.end()) {
    if (known->second.second >= stamp) return;
    drop(id[3]);
  }
  const auto place = static_cast<std::uint32_t>(entries_.size());
  const std::string text = base::text_at(row, "w");
  const std::vector<std::string> words =
      words_ == Words::telling ? words_of(text, kMostWordsOfACard) : spelled_words(text, kMostWordsOfACard);
  const auto quarantined = row.find("q");
  entries_.push_back({.key = id[3],
                      .op_type = base::text_at(row, "o"),
                      .bound = base::text_at(row, "b"),
                      .run = base::text_at(row, "r"),
                      .quarantined = quarantined != row.end() && quarantined->is_boolean() && quarantined->get<bool>(),
                      .inserted_us = integer_at(row, "i"),
                      .utility = utility_at(row),
                      .words = words.size()});
  for (const std::string& word : words) places_[word].push_back(place);
  last_[key] = {place, stamp};
  ++live_;
  live_words_ += words.size();
}

bool Index::holds(const Json& id) const {
  const auto known = last_.find(id[3].dump(-1, ' ', false, Json::error_handler_t::replace));
  return known != last_.end() && known->second.second == id[2] && !entries_[known->second.first].stale;
}

void Index::drop(const Json& key) {
  const auto known = last_.find(key.dump(-1, ' ', false, Json::error_handler_t::replace));
  if (known == last_.end()) return;
  IndexEntry& entry = entries_[known->second.first];
  if (entry.stale) return;
  entry.stale = true;
  --live_;
  live_words_ -= entry.words;
}

/// Adds what one word says of the entries that have it.
void Index::count(const std::vector<std::uint32_t>& places, std::unordered_map<std::uint32_t, double>& scores) const {
  const double average = live_ == 0 ? 1 : std::max(1.0, static_cast<double>(live_words_) / static_cast<double>(live_));
  const auto total = static_cast<double>(entries_.size());
  const auto having = static_cast<double>(places.size());
  const double rarity = std::log(1 + (total - having + 0.5) / (having + 0.5));
  for (const std::uint32_t place : places) {
    const IndexEntry& entry = entries_[place];
    if (entry.stale) continue;
    const double length = static_cast<double>(entry.words) / average;
    scores[place] += rarity * (kSaturation + 1) / (1 + kSaturation * (1 - kLengthShare + kLengthShare * length));
  }
}

std::vector<Index::Hit> Index::find(const std::vector<std::string>& words,
                                    const std::function<bool(const IndexEntry&)>& fits) const {
  std::unordered_map<std::uint32_t, double> scores;
  for (const std::string& word : words) {
    if (!is_ascii(word)) {
      for (const auto& [whole, places] : places_)
        if (whole.find(word) != std::string::npos) count(places, scores);
    } else if (const auto found = places_.find(word); found != places_.end()) {
      count(found->second, scores);
    }
  }
  std::vector<Hit> hits;
  for (const auto& [place, score] : scores)
    if (fits(entries_[place])) hits.push_back({&entries_[place], score});
  return hits;
}

std::vector<Index::Hit> Index::all(const std::function<bool(const IndexEntry&)>& fits) const {
  std::vector<Hit> hits;
  for (const IndexEntry& entry : entries_)
    if (!entry.stale && fits(entry)) hits.push_back({&entry, 0});
  return hits;
}

std::vector<Index::Hit> chosen_entries(const std::vector<const Index*>& indexes, const Query& query) {
  const auto limit = static_cast<std::size_t>(std::max(0, query.limit));
  const auto fits = [&](const IndexEntry& entry) {
    return !entry.quarantined && (query.without_run.empty() || entry.run != query.without_run) &&
           std::ranges::find(query.without_op_types, entry.op_type) == query.without_op_types.end();
  };
  const auto words = words_of(query.text + " " + query.op_type + " " + query.bound, kMostWordsOfAQuery);
  std::vector<Index::Hit> alike;
  std::vector<Index::Hit> rest;
  for (const Index* index : indexes) {
    std::ranges::copy(index->find(words, fits), std::back_inserter(alike));
    std::ranges::copy(index->all(fits), std::back_inserter(rest));
  }
  const auto newer = [](const IndexEntry& a, const IndexEntry& b) {
    return a.inserted_us != b.inserted_us ? a.inserted_us > b.inserted_us : a.key > b.key;
  };
  std::ranges::sort(alike, [&](const Index::Hit& a, const Index::Hit& b) {
    return a.score != b.score ? a.score > b.score : newer(*a.entry, *b.entry);
  });
  if (alike.size() > (limit + 1) / 2) alike.resize((limit + 1) / 2);
  const double best = alike.empty() ? 0 : alike.front().score;
  std::vector<Index::Hit> picked;
  std::set<const IndexEntry*> known;
  for (const Index::Hit& hit : alike) {
    known.insert(hit.entry);
    picked.push_back({hit.entry, best > 0 ? hit.score / best : 0});
  }
  const auto add = [&](std::size_t most, auto&& wanted) {
    for (const Index::Hit& hit : rest) {
      if (picked.size() >= std::min(most, limit)) return;
      if (wanted(*hit.entry) && known.insert(hit.entry).second) picked.push_back({hit.entry, 0});
    }
  };
  std::ranges::sort(rest, [&](const Index::Hit& a, const Index::Hit& b) {
    return a.entry->utility != b.entry->utility ? a.entry->utility > b.entry->utility : newer(*a.entry, *b.entry);
  });
  add(picked.size() + limit / 8, [](const IndexEntry&) { return true; });
  std::ranges::sort(rest, [&](const Index::Hit& a, const Index::Hit& b) { return newer(*a.entry, *b.entry); });
  add(limit - limit / 8, [&](const IndexEntry& c) { return c.op_type == query.op_type && c.bound == query.bound; });
  add(limit - limit / 16, [&](const IndexEntry& c) { return c.op_type == query.op_type; });
  add(limit, [](const IndexEntry&) { return true; });
  return picked;
}

}  // namespace accelopt::memory::surreal
