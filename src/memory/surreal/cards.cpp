// SPDX-License-Identifier: Apache-2.0
#include "memory/surreal/cards.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "memory/words.hpp"
#include "memory/worth.hpp"
#include "model/experience.hpp"

namespace accelopt::memory::surreal {
namespace {

using base::Json;

// BM25 over different words: how soon a long text's words count less, as full-text indexes have it.
constexpr double kSaturation = 1.2;
constexpr double kLengthShare = 0.75;
/// Most different words of one card that are indexed.
constexpr std::size_t kMostWordsOfACard = 600;
/// Most different words of a query that are looked for.
constexpr std::size_t kMostWordsOfAQuery = 400;

std::int64_t integer_at(const Json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

double worth_at(const Json& row) {
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
  return worth_of(known);
}

}  // namespace

void CardPile::take(const Json& row) {
  if (!row.is_object() || !row.contains("id") || !row["id"].is_array() || row["id"].size() != 4) return;
  const Json& id = row["id"];  // [language, target, stamp, key]
  if (!id[2].is_number_integer()) return;
  const auto stamp = id[2].get<std::int64_t>();
  const std::string key = id[3].dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto known = last_.find(key);
  if (known != last_.end()) {
    if (known->second.second >= stamp) return;
    drop(id[3]);
  }
  const auto place = static_cast<std::uint32_t>(cards_.size());
  const std::string text = base::text_at(row, "w");
  const std::vector<std::string> words =
      words_ == Words::telling ? words_of(text, kMostWordsOfACard) : spelled_words(text, kMostWordsOfACard);
  const auto quarantined = row.find("q");
  cards_.push_back({.key = id[3],
                    .op_type = base::text_at(row, "o"),
                    .bound = base::text_at(row, "b"),
                    .run = base::text_at(row, "r"),
                    .quarantined = quarantined != row.end() && quarantined->is_boolean() && quarantined->get<bool>(),
                    .inserted_us = integer_at(row, "i"),
                    .worth = worth_at(row),
                    .words = words.size()});
  for (const std::string& word : words) places_[word].push_back(place);
  last_[key] = {place, stamp};
  ++live_;
  live_words_ += words.size();
}

bool CardPile::holds(const Json& id) const {
  const auto known = last_.find(id[3].dump(-1, ' ', false, Json::error_handler_t::replace));
  return known != last_.end() && known->second.second == id[2] && !cards_[known->second.first].stale;
}

void CardPile::drop(const Json& key) {
  const auto known = last_.find(key.dump(-1, ' ', false, Json::error_handler_t::replace));
  if (known == last_.end()) return;
  Card& card = cards_[known->second.first];
  if (card.stale) return;
  card.stale = true;
  --live_;
  live_words_ -= card.words;
}

/// Adds what one word says of the cards that have it.
void CardPile::count(const std::vector<std::uint32_t>& places,
                     std::unordered_map<std::uint32_t, double>& scores) const {
  const double average = live_ == 0 ? 1 : std::max(1.0, static_cast<double>(live_words_) / static_cast<double>(live_));
  const auto total = static_cast<double>(cards_.size());
  const auto having = static_cast<double>(places.size());
  const double rarity = std::log(1 + (total - having + 0.5) / (having + 0.5));
  for (const std::uint32_t place : places) {
    const Card& card = cards_[place];
    if (card.stale) continue;
    const double length = static_cast<double>(card.words) / average;
    scores[place] += rarity * (kSaturation + 1) / (1 + kSaturation * (1 - kLengthShare + kLengthShare * length));
  }
}

std::vector<CardPile::Hit> CardPile::find(const std::vector<std::string>& words,
                                          const std::function<bool(const Card&)>& fits) const {
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
    if (fits(cards_[place])) hits.push_back({&cards_[place], score});
  return hits;
}

std::vector<CardPile::Hit> CardPile::all(const std::function<bool(const Card&)>& fits) const {
  std::vector<Hit> hits;
  for (const Card& card : cards_)
    if (!card.stale && fits(card)) hits.push_back({&card, 0});
  return hits;
}

std::vector<CardPile::Hit> chosen_cards(const std::vector<const CardPile*>& piles, const Query& query) {
  const auto limit = static_cast<std::size_t>(std::max(0, query.limit));
  const auto fits = [&](const Card& card) {
    return !card.quarantined && (query.without_run.empty() || card.run != query.without_run) &&
           std::ranges::find(query.without_op_types, card.op_type) == query.without_op_types.end();
  };
  const auto words = words_of(query.text + " " + query.op_type + " " + query.bound, kMostWordsOfAQuery);
  std::vector<CardPile::Hit> alike;
  std::vector<CardPile::Hit> rest;
  for (const CardPile* pile : piles) {
    std::ranges::copy(pile->find(words, fits), std::back_inserter(alike));
    std::ranges::copy(pile->all(fits), std::back_inserter(rest));
  }
  const auto newer = [](const Card& a, const Card& b) {
    return a.inserted_us != b.inserted_us ? a.inserted_us > b.inserted_us : a.key > b.key;
  };
  std::ranges::sort(alike, [&](const CardPile::Hit& a, const CardPile::Hit& b) {
    return a.score != b.score ? a.score > b.score : newer(*a.card, *b.card);
  });
  if (alike.size() > (limit + 1) / 2) alike.resize((limit + 1) / 2);
  const double best = alike.empty() ? 0 : alike.front().score;
  std::vector<CardPile::Hit> picked;
  std::set<const Card*> known;
  for (const CardPile::Hit& hit : alike) {
    known.insert(hit.card);
    picked.push_back({hit.card, best > 0 ? hit.score / best : 0});
  }
  const auto add = [&](std::size_t most, auto&& wanted) {
    for (const CardPile::Hit& hit : rest) {
      if (picked.size() >= std::min(most, limit)) return;
      if (wanted(*hit.card) && known.insert(hit.card).second) picked.push_back({hit.card, 0});
    }
  };
  std::ranges::sort(rest, [&](const CardPile::Hit& a, const CardPile::Hit& b) {
    return a.card->worth != b.card->worth ? a.card->worth > b.card->worth : newer(*a.card, *b.card);
  });
  add(picked.size() + limit / 8, [](const Card&) { return true; });
  std::ranges::sort(rest, [&](const CardPile::Hit& a, const CardPile::Hit& b) { return newer(*a.card, *b.card); });
  add(limit - limit / 8, [&](const Card& c) { return c.op_type == query.op_type && c.bound == query.bound; });
  add(limit - limit / 16, [&](const Card& c) { return c.op_type == query.op_type; });
  add(limit, [](const Card&) { return true; });
  return picked;
}

}  // namespace accelopt::memory::surreal
