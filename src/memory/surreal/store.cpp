// SPDX-License-Identifier: Apache-2.0
#include "memory/surreal/store.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>

#include "base/text.hpp"
#include "base/utc.hpp"
#include "memory/sanitation.hpp"
#include "memory/surreal/index.hpp"
#include "memory/surreal/index_refresh.hpp"
#include "memory/surreal/prepare.hpp"
#include "memory/surreal/records.hpp"
#include "memory/surreal/schema.hpp"
#include "memory/words.hpp"

namespace accelopt::memory::surreal {
namespace {

using base::Error;
using base::ErrorCode;
using base::Json;
using base::Result;

/// Most rows and bytes of one request that writes: the server takes 4 MiB, and a shorter transaction meets others less.
constexpr std::size_t kRowsAtOnce = 250;
constexpr std::size_t kBytesAtOnce = std::size_t{2} << 20U;
/// Records whose credit is written in one transaction: others write to the same ones.
constexpr std::size_t kCountsAtOnce = 25;
/// Items that are read at once: their texts are bounded (sanitation.hpp), so an answer stays below 32 MB.
constexpr std::size_t kItemsAtOnce = 256;
/// Most items that are kept of what was read, without their code.
constexpr std::size_t kMostRead = 20'000;
constexpr int kKeysAtOnce = 2000;
/// Solutions that are read at once: sources are longer than notes.
constexpr std::size_t kSolutionsAtOnce = 16;
/// Most words of a search.
constexpr std::size_t kMostWordsOfASearch = 40;
/// How often an edit is tried again that others got in the way of.
constexpr int kMostTries = 50;
/// The target of entries whose record has none.
constexpr const char* kAnyTarget = "*";

class SurrealStore final : public KnowledgeStore {
 public:
  explicit SurrealStore(std::unique_ptr<Client> client) : client_(std::move(client)) {}

  [[nodiscard]] const std::string& name() const override { return client_->address().name; }

  Result<int> insert(std::span<const model::Experience> experiences, Forgotten forgotten,
                     const std::set<std::string>& hidden) override;
  Result<void> put_solutions(std::span<const SolutionRecord> solutions) override;
  Result<std::vector<SolutionRecord>> solutions(std::span<const std::string> ids) override;
  Result<Item> get(std::string_view id) override;
  Result<std::vector<Match>> retrieve(const Query& query) override;
  Result<std::vector<Item>> list(const Filter& filter) override;
  Result<std::vector<Item>> search(std::string_view text, const Filter& filter) override;
  Result<void> for_each(const std::function<Result<void>(const Item&)>& visit) override;
  Result<Item> edit(std::string_view id, const Change& change) override;
  Result<Removal> forget(std::string_view id) override;
  Result<void> quarantine(std::string_view id, Visibility visibility) override;
  Result<std::vector<std::string>> hidden(std::span<const std::string> ids) override;
  Result<int> credit(std::span<const CreditEvent> events) override;
  Result<StoreStats> stats() override;
  Result<Graph> graph(int limit) override;
  [[nodiscard]] const std::vector<Unreadable>& unreadable() const override { return unreadable_; }

 private:
  using Hit = Index::Hit;
  struct Keyed {
    Json key;
    Item item;
    Json inserted;
    Json stamp;              ///< when it was last changed
    std::int64_t place = 0;  ///< of its language's insertions
  };

  [[nodiscard]] tl::unexpected<Error> failed(ErrorCode code, const std::string& words) const {
    return base::fail(code, name() + ": " + words);
  }
  /// One answer of several, null where it is missing.
  static const Json& at(const std::vector<Json>& results, std::size_t place) {
    static const Json nothing;
    return place < results.size() ? results[place] : nothing;
  }

  /// Ids in stores of those that are there under keys of other tools, as an export of them gives them.
  Result<std::set<std::string>> there_otherwise(std::span<const model::Experience> experiences);
  Result<int> insert_batch(const Json& rows, Forgotten forgotten);
  /// The keys that ids stand for, by the id: a number where a record has that key and none the text.
  Result<std::map<std::string, Json>> keys_of_ids(std::span<const CreditEvent> events);
  Result<void> bring_up_credit(const Json& events);
  /// The items of the rows of a reading that ends with the counters.
  Result<std::vector<Keyed>> keyed(const std::vector<Json>& results) const;
  Result<std::vector<Keyed>> fetch(const Json& keys);
  Result<std::vector<Keyed>> fetch_without_code(const Json& keys);
  /// The items of a page of entries, each at the entry that is its own: two writers that inserted the same at once may
  /// have left a second entry beside it, on this page or on another.
  Result<std::vector<Item>> items_of_entries(const Json& entries);
  Result<Keyed> found(std::string_view id);

  std::unique_ptr<Client> client_;
  std::map<IndexName, Index> indexes_;
  AllEntries all_;                               ///< for searches
  std::unordered_map<std::string, Keyed> read_;  ///< without code, by the key's text
  std::vector<Unreadable> unreadable_;
};

// Writing ------------------------------------------------------------------------------------------------------------

Result<int> SurrealStore::insert(std::span<const model::Experience> experiences, Forgotten forgotten,
                                 const std::set<std::string>& hidden) {
  int fresh = 0;
  TRY_ASSIGN(std::set<std::string> known, there_otherwise(experiences));  // and of this batch
  std::size_t bytes = 0;
  Json rows = Json::array();
  const auto flush = [&]() -> Result<void> {
    if (rows.empty()) return {};
    TRY_ASSIGN(const int added, insert_batch(rows, forgotten));
    fresh += added;
    rows = Json::array();
    bytes = 0;
    return {};
  };
  for (const model::Experience& experience : experiences) {
    Fit fit = made_fit(experience);
    if (!known.insert(fit.experience.id).second) continue;
    if (fit.experience.created.empty()) fit.experience.created = base::utc_now();
    Json row = {
        {"key", fit.experience.id}, {"place", static_cast<std::int64_t>(rows.size())}, {"fields", fields_of(fit)}};
    row["fields"]["quarantined"] = hidden.contains(fit.experience.id);
    const std::size_t size = bytes_of(row);
    if (rows.size() >= kRowsAtOnce || (bytes + size > kBytesAtOnce && !rows.empty())) {
      TRY(flush());
      row["place"] = 0;
    }
    bytes += size;
    rows.push_back(std::move(row));
  }
  TRY(flush());
  return fresh;
}

Result<std::set<std::string>> SurrealStore::there_otherwise(std::span<const model::Experience> experiences) {
  Json keys = Json::array();
  for (const model::Experience& experience : experiences)
    if (!is_store_id(experience.id) && experience.id.size() <= kLongestWord) add_keys(experience.id, keys);
  TRY_ASSIGN(auto items, fetch(clean(keys)));
  std::set<std::string> ids;
  for (Keyed& one : items) {
    one.item.experience.id.clear();
    ids.insert(made_fit(one.item.experience).experience.id);
  }
  return ids;
}

Result<int> SurrealStore::insert_batch(const Json& rows, Forgotten forgotten) {
  TRY_ASSIGN(const auto results, client_->ask(kInsert, {{"rows", rows}, {"returns", forgotten == Forgotten::returns}}));
  const auto added = last_number(results);
  if (!added) return failed(ErrorCode::internal, "the server does not say what it inserted");
  return static_cast<int>(*added);
}

Result<void> SurrealStore::put_solutions(std::span<const SolutionRecord> solutions) {
  std::size_t bytes = 0;
  Json rows = Json::array();
  std::set<std::string> known;
  for (std::size_t i = 0; i <= solutions.size(); ++i) {
    Json row;
    if (i < solutions.size()) {
      const SolutionRecord& it = solutions[i];
      if (!known.insert(it.id).second) continue;
      row = clean({{"key", it.id}, {"fields", fields_of(it)}});
    }
    const std::size_t size = bytes_of(row);
    const bool full = rows.size() >= kRowsAtOnce || bytes + size > kBytesAtOnce || i == solutions.size();
    if (full && !rows.empty()) {
      TRY(client_->ask(kPutSolutions, {{"rows", rows}}));
      rows = Json::array();
      bytes = 0;
    }
    bytes += size;
    rows.push_back(std::move(row));
  }
  return {};
}

Result<Item> SurrealStore::edit(std::string_view id, const Change& change) {
  std::string whole(id);
  for (int i = 0; i < kMostTries; ++i) {
    TRY_ASSIGN(Keyed old, found(whole));
    const model::Experience& was = old.item.experience;
    whole = was.id;
    TRY_ASSIGN(const model::Experience edited, change(was));
    Fit fit = made_fit(edited);
    Json fields = fields_of(fit);
    for (const char* kept :
         {"run", "iteration", "created", "had", "shown", "used", "confirmed", "refuted", "quarantined"})
      fields.erase(kept);
    const bool moves = fit.experience.language != was.language;
    TRY_ASSIGN(const auto results, client_->ask(moves ? kEditLanguage : kEdit,
                                                {{"key", old.key}, {"fields", fields}, {"stamp", old.stamp}}));
    if (last_number(results).value_or(0) == 0) continue;  // changed or gone meanwhile: the next reading tells
    fit.experience.id = was.id;
    fit.experience.run = was.run;
    fit.experience.iteration = was.iteration;
    fit.experience.created = was.created;
    fit.experience.credit = was.credit;
    if (moves) old.item.age = 0;
    old.item.experience = std::move(fit.experience);
    old.item.suspicions = std::move(fit.suspicions);
    return std::move(old.item);
  }
  return failed(ErrorCode::unavailable, "others keep changing experience " + whole + "; try again later");
}

Result<Removal> SurrealStore::forget(std::string_view id) {
  TRY_ASSIGN(const Keyed old, found(id));
  const model::Experience& it = old.item.experience;
  TRY(remove_digests(*client_));
  TRY_ASSIGN(const auto results, client_->ask(kForget, {{"key", old.key}}));
  const std::int64_t solutions = last_number(results).value_or(-1);
  if (solutions < 0) return failed(ErrorCode::not_found, "no experience " + it.id);
  for (auto& [place, index] : indexes_) index.drop(old.key);
  all_.index.drop(old.key);
  return Removal{it.id, it.title, solutions};
}

Result<void> SurrealStore::quarantine(std::string_view id, Visibility visibility) {
  TRY_ASSIGN(const Keyed old, found(id));
  TRY_ASSIGN(const auto results,
             client_->ask(kQuarantine, {{"key", old.key}, {"hidden", visibility == Visibility::hidden}}));
  if (last_number(results).value_or(0) == 0)
    return failed(ErrorCode::not_found, "no experience " + old.item.experience.id);
  return {};
}

Result<std::map<std::string, Json>> SurrealStore::keys_of_ids(std::span<const CreditEvent> events) {
  std::map<std::string, Json> keys;
  Json numbers = Json::array();
  for (const CreditEvent& event : events) {
    const auto number = number_key(event.experience);
    if (keys.emplace(event.experience, event.experience).second && number) numbers.push_back(*number);
  }
  if (numbers.empty()) return keys;
  TRY_ASSIGN(const auto results, client_->ask(kNumberKeys, {{"numbers", numbers}}));
  if (!at(results, 0).is_array()) return failed(ErrorCode::internal, "the server does not say which records it has");
  for (const Json& number : at(results, 0)) keys[text_of_key(number)] = number;
  return keys;
}

Result<int> SurrealStore::credit(std::span<const CreditEvent> events) {
  TRY_ASSIGN(const auto keys, keys_of_ids(events));
  int fresh = 0;
  std::set<std::string> known;
  Json rows = Json::array();
  for (std::size_t i = 0; i <= events.size(); ++i) {
    if (!rows.empty() && (rows.size() >= kRowsAtOnce || i == events.size())) {
      TRY_ASSIGN(const auto results, client_->ask(kCredit, {{"events", rows}}));
      const auto counted = last_number(results);
      if (!counted) return failed(ErrorCode::internal, "the server does not say what it counted");
      fresh += static_cast<int>(*counted);
      TRY(bring_up_credit(rows));
      rows = Json::array();
    }
    if (i == events.size()) break;
    const CreditEvent& event = events[i];
    if (!known.insert(event.id).second) continue;
    rows.push_back(clean(row_of(event, keys.at(event.experience))));
  }
  return fresh;
}

/// Has the records' credit say what their events do. Also for events that were there: whoever sent them may have been
/// cut short.
Result<void> SurrealStore::bring_up_credit(const Json& events) {
  std::set<Json> keys;
  for (const Json& event : events) keys.insert(event["record"]);
  // Their events are there for everybody by now; one transaction could not tell that of itself.
  TRY_ASSIGN(const auto counted, client_->ask(kCountCredit, {{"keys", keys}}));
  const Json& behind = at(counted, 0);
  if (!behind.is_array()) return failed(ErrorCode::internal, "the server does not say what it counted");
  for (std::size_t start = 0; start < behind.size(); start += kCountsAtOnce) {
    Json some = Json::array();
    for (std::size_t i = start; i < std::min(behind.size(), start + kCountsAtOnce); ++i) some.push_back(behind[i]);
    TRY(client_->ask(kWriteCredit, {{"counts", some}}));
  }
  return {};
}

// Reading ------------------------------------------------------------------------------------------------------------

Result<std::vector<SolutionRecord>> SurrealStore::solutions(std::span<const std::string> ids) {
  std::vector<SolutionRecord> found;
  for (std::size_t start = 0; start < ids.size(); start += kSolutionsAtOnce) {
    Json keys = Json::array();
    for (const std::string& id : ids.subspan(start, std::min(kSolutionsAtOnce, ids.size() - start))) keys.push_back(id);
    TRY_ASSIGN(const auto results, client_->ask(kReadSolutions, clean({{"keys", keys}})));
    const Json& rows = at(results, 0);
    if (!rows.is_array()) continue;
    for (const Json& row : rows) {
      const auto key = key_of(row);
      if (!key) continue;
      const std::string id = text_of_key(*key);
      auto record = solution_of(row, id, name());
      if (record) {
        found.push_back(std::move(*record));
      } else {
        unreadable_.push_back({"kernel " + id, record.error().message});
      }
    }
  }
  return found;
}

Result<std::vector<SurrealStore::Keyed>> SurrealStore::keyed(const std::vector<Json>& results) const {
  const Json& rows = at(results, 0);
  const auto counters = counters_of(at(results, 1));
  std::vector<Keyed> items;
  if (!rows.is_array()) return items;
  for (const Json& row : rows) {
    const auto key = key_of(row);
    if (key)
      items.push_back({*key, item_of(row, *key, counters), row.value("inserted", Json()), row.value("stamp", Json()),
                       place_of(row)});
  }
  return items;
}

/// The items with these keys, in their order; those that are gone are left out.
Result<std::vector<SurrealStore::Keyed>> SurrealStore::fetch(const Json& keys) {
  std::vector<Keyed> items;
  for (std::size_t start = 0; start < keys.size(); start += kItemsAtOnce) {
    Json some = Json::array();
    for (std::size_t i = start; i < std::min(keys.size(), start + kItemsAtOnce); ++i) some.push_back(keys[i]);
    TRY_ASSIGN(const auto results, client_->ask(kReadItems, {{"keys", some}}));
    TRY_ASSIGN(auto more, keyed(results));
    std::ranges::move(more, std::back_inserter(items));
  }
  return items;
}

/// The items with these keys without their code, in their order. Of those that were read before, only whether they have
/// changed is asked.
Result<std::vector<SurrealStore::Keyed>> SurrealStore::fetch_without_code(const Json& keys) {
  if (read_.size() > kMostRead) read_.clear();
  std::set<std::string> fresh;
  Counters counters;
  Json unread = keys;
  for (int round = 0; round < 2; ++round) {  // the second reads what has changed
    Json wanted = Json::array();
    Json known = Json::array();
    for (const Json& key : unread) (read_.contains(text_of_key(key)) ? known : wanted).push_back(key);
    TRY_ASSIGN(const auto results, client_->ask(kReadItemsWithoutCode, {{"keys", wanted}, {"known", known}}));
    counters = counters_of(at(results, 1));
    TRY_ASSIGN(auto items, keyed(results));
    for (Keyed& one : items) {
      const std::string id = text_of_key(one.key);
      fresh.insert(id);
      read_.insert_or_assign(id, std::move(one));
    }
    unread = Json::array();
    const Json& stamps = at(results, 2);
    const bool all_there = stamps.is_array() && stamps.size() == known.size();
    for (std::size_t i = 0; i < known.size(); ++i) {
      const std::string id = text_of_key(known[i]);
      const Keyed& before = read_.at(id);
      if (all_there && before.stamp == stamps[i] && before.key == known[i]) {
        fresh.insert(id);
      } else {
        read_.erase(id);
        unread.push_back(known[i]);
      }
    }
    if (unread.empty()) break;
  }
  std::vector<Keyed> items;
  for (const Json& key : keys) {
    const auto found = read_.find(text_of_key(key));
    if (found == read_.end() || found->second.key != key) continue;
    if (!fresh.contains(found->first)) {
      read_.erase(found);  // it is gone
      continue;
    }
    items.push_back(found->second);
    Item& item = items.back().item;
    item.age = age_of(item.experience.language, items.back().place, counters);
  }
  return items;
}

Result<std::vector<Item>> SurrealStore::items_of_entries(const Json& entries) {
  Json keys = Json::array();
  std::set<std::string> wanted;
  for (const Json& entry : entries)
    if (entry.is_array() && entry.size() == 2 && wanted.insert(entry[1].dump()).second) keys.push_back(entry[1]);
  TRY_ASSIGN(auto read, fetch(keys));
  std::map<std::string, Keyed*> by_key;
  for (Keyed& one : read) by_key.emplace(one.key.dump(), &one);
  std::vector<Item> items;
  for (const Json& entry : entries) {
    if (!entry.is_array() || entry.size() != 2) continue;
    const auto it = by_key.find(entry[1].dump());
    if (it == by_key.end() || it->second->inserted != entry[0]) continue;
    items.push_back(std::move(it->second->item));
    by_key.erase(it);
  }
  return items;
}

Result<SurrealStore::Keyed> SurrealStore::found(std::string_view id) {
  if (id.empty()) return failed(ErrorCode::invalid_argument, "an empty id fits every experience; give more of it");
  const std::string text = clean(Json(std::string(id))).get<std::string>();
  Json exact = Json::array();
  add_keys(text, exact);
  TRY_ASSIGN(auto items, fetch(exact));
  if (!items.empty()) return std::move(items.front());
  TRY_ASSIGN(const auto results, client_->ask(kReadPrefix, {{"from", text}, {"to", text + "\xf4\x8f\xbf\xbf"}}));
  const Json& keys = at(results, 0);
  if (!keys.is_array() || keys.empty()) return failed(ErrorCode::not_found, "no experience " + text);
  if (keys.size() > 1) {
    std::string some = base::joined(keys, ", ", [&](const Json& key) { return text_of_key(key); });
    return failed(ErrorCode::invalid_argument, text + " fits several experiences, " + some + "; give more of the id");
  }
  TRY_ASSIGN(items, fetch(keys));
  if (items.empty()) return failed(ErrorCode::not_found, "no experience " + text);
  return std::move(items.front());
}

Result<Item> SurrealStore::get(std::string_view id) {
  TRY_ASSIGN(Keyed item, found(id));
  return std::move(item.item);
}

Result<std::vector<Item>> SurrealStore::list(const Filter& filter) {
  unreadable_.clear();
  const auto wanted = static_cast<std::size_t>(std::max(0, filter.limit));
  std::vector<Item> items;
  for (int offset = std::max(0, filter.offset);;) {
    const int count =
        wanted == 0 ? kKeysAtOnce : static_cast<int>(std::min<std::size_t>(kKeysAtOnce, wanted - items.size()));
    Json variables = clean({{"language", filter.language},
                            {"op_type", filter.op_type},
                            {"target", filter.target},
                            {"run", filter.run},
                            {"polarity", filter.polarity ? model::to_string(*filter.polarity) : ""},
                            {"quarantined", Json(filter.quarantined)},
                            {"suspicious", Json(filter.suspicious)},
                            {"count", count},
                            {"offset", offset}});
    TRY_ASSIGN(const auto results, client_->ask(kListKeys, variables));
    Json entries = Json::array();
    for (const Json& row : at(results, 0)) {
      auto key = key_of(row);
      if (key) entries.push_back(std::move(*key));
    }
    TRY_ASSIGN(auto some, items_of_entries(entries));
    std::ranges::move(some, std::back_inserter(items));
    offset += count;
    if (entries.size() < static_cast<std::size_t>(count) || (wanted != 0 && items.size() >= wanted)) return items;
  }
}

Result<void> SurrealStore::for_each(const std::function<Result<void>(const Item&)>& visit) {
  unreadable_.clear();
  Json last = Json::array({0, ""});
  for (;;) {
    TRY_ASSIGN(
        const auto results,
        client_->ask(kNextKeys, {{"inserted", last[0]}, {"key", last[1]}, {"count", static_cast<int>(kItemsAtOnce)}}));
    const Json& page = at(results, 0);
    if (!page.is_array() || page.empty()) return {};
    TRY_ASSIGN(const auto items, items_of_entries(page));
    for (const Item& item : items) TRY(visit(item));
    if (!page.back().is_array() || page.back().size() != 2)
      return failed(ErrorCode::internal, "the table entry is damaged; remove the record that is no [time, key]");
    last = page.back();
    if (page.size() < kItemsAtOnce) return {};
  }
}

Result<std::vector<std::string>> SurrealStore::hidden(std::span<const std::string> ids) {
  std::vector<std::string> hidden;
  for (std::size_t start = 0; start < ids.size(); start += kKeysAtOnce) {
    const auto some = ids.subspan(start, std::min<std::size_t>(kKeysAtOnce, ids.size() - start));
    TRY_ASSIGN(const auto results,
               client_->ask(kHidden, {{"keys", std::vector<std::string>(some.begin(), some.end())}}));
    for (std::size_t i = 0; i < 2; ++i) {
      if (!at(results, i).is_array()) continue;
      for (const Json& key : at(results, i)) hidden.push_back(text_of_key(key));
    }
  }
  return hidden;
}

// Choosing -----------------------------------------------------------------------------------------------------------

Result<std::vector<Match>> SurrealStore::retrieve(const Query& query) {
  unreadable_.clear();
  // Where a record says nothing of its language or target, or says "", it holds for any.
  std::vector<IndexName> names;
  for (const std::string& language : {query.language, std::string()}) {
    for (const std::string& target : {query.target, std::string(), std::string(kAnyTarget)})
      names.emplace_back(language, target);
  }
  static_assert(kIndexNames == 6);
  TRY(refresh(*client_, indexes_, names));
  std::set<const Index*> different;
  for (const IndexName& name : names) different.insert(&indexes_[name]);
  const auto hits = chosen_entries({different.begin(), different.end()}, query);
  Json keys = Json::array();
  std::map<std::string, double> similarity;
  // One whose language or target was changed may still have its older entry in another index.
  for (const Hit& hit : hits)
    if (similarity.emplace(text_of_key(hit.entry->key), hit.score).second) keys.push_back(hit.entry->key);
  TRY_ASSIGN(auto items, query.alike == Alike::each ? fetch_without_code(keys) : fetch(keys));
  std::vector<Match> matches;
  std::set<std::string> there;
  for (Keyed& one : items) {
    const model::Experience& it = one.item.experience;
    // What changed hands since its entry was read is no longer the index's.
    const bool still = !one.item.quarantined && (it.language == query.language || it.language.empty()) &&
                       (it.target == query.target || it.target.empty());
    if (!still) continue;
    there.insert(text_of_key(one.key));
    matches.push_back({std::move(one.item), similarity[text_of_key(one.key)]});
  }
  for (const Json& key : keys) {
    if (there.contains(text_of_key(key))) continue;
    for (const IndexName& name : names) indexes_[name].drop(key);
  }
  return matches;
}

Result<std::vector<Item>> SurrealStore::search(std::string_view text, const Filter& filter) {
  unreadable_.clear();
  const auto words = search_words(text, kMostWordsOfASearch);
  if (words.empty()) return std::vector<Item>();
  TRY(refresh(*client_, all_));
  auto hits = all_.index.find(words, [](const IndexEntry&) { return true; });
  std::ranges::sort(hits, [](const Hit& a, const Hit& b) {
    return a.score != b.score ? a.score > b.score : a.entry->inserted_us > b.entry->inserted_us;
  });
  std::vector<Item> items;
  int left_out = std::max(0, filter.offset);
  for (std::size_t start = 0; start < hits.size(); start += kItemsAtOnce) {
    Json keys = Json::array();
    for (std::size_t i = start; i < std::min(hits.size(), start + kItemsAtOnce); ++i)
      keys.push_back(hits[i].entry->key);
    TRY_ASSIGN(auto some, fetch(keys));
    for (Keyed& one : some) {
      if (!passes(one.item, filter) || left_out-- > 0) continue;
      items.push_back(std::move(one.item));
      if (filter.limit > 0 && items.size() == static_cast<std::size_t>(filter.limit)) return items;
    }
  }
  return items;
}

// Overviews ----------------------------------------------------------------------------------------------------------

Result<StoreStats> SurrealStore::stats() {
  TRY_ASSIGN(const auto results, client_->ask(kStats, Json::object()));
  StoreStats stats;
  std::size_t place = 0;
  for (std::int64_t* count : {&stats.experiences, &stats.quarantined, &stats.suspicious, &stats.forgotten,
                              &stats.solutions, &stats.credit_events})
    *count = count_of(at(results, place++));
  for (auto* groups : {&stats.by_language, &stats.by_op_type, &stats.by_polarity})
    *groups = groups_of(at(results, place++));
  return stats;
}

Result<Graph> SurrealStore::graph(int limit) {
  unreadable_.clear();
  TRY_ASSIGN(const auto results, client_->ask(kGraph, {{"limit", std::max(0, limit)}}));
  // Four LETs come before the four readings.
  return graph_of(at(results, 4), at(results, 5), at(results, 6), at(results, 7));
}

}  // namespace

base::Result<std::unique_ptr<KnowledgeStore>> open_store(const Address& address, std::string password,
                                                         const Options& options) {
  auto client = std::make_unique<Client>(address, std::move(password), options);
  TRY(client->connect());
  TRY(client->until_through([&] { return prepare_once(*client); }));
  client->settle();
  return std::make_unique<SurrealStore>(std::move(client));
}

}  // namespace accelopt::memory::surreal
