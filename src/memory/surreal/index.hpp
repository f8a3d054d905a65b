// SPDX-License-Identifier: Apache-2.0
// What a client keeps in memory of a SurrealDB store to choose from: for each experience its words and what it was seen
// on, and no text. Only what changed is read again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json.hpp"
#include "memory/knowledge_store.hpp"

namespace accelopt::memory::surreal {

struct IndexEntry {
  base::Json key;  ///< of the record: text or a whole number
  std::string op_type;
  std::string bound;
  std::string run;
  bool quarantined = false;
  std::int64_t inserted_us = 0;  ///< the server's clock
  double utility = 0;            ///< utility_of() of what the entry holds
  std::size_t words = 0;         ///< how many it has
  bool stale = false;            ///< a newer entry of the same experience is there, or the experience is gone
};

/// The entries of one language and target, with an index of their words.
class Index {
 public:
  /// Which words are indexed: those that tell kernels apart, or all, for what a user searches.
  enum class Words { telling, all };

  /// An entry and how well its words fit.
  struct Hit {
    const IndexEntry* entry = nullptr;
    double score = 0;
  };

  explicit Index(Words words = Words::telling) : words_(words) {}

  /// Takes in a row of kReadCards or kReadAllCards; an entry that is known already changes nothing. Rows of another
  /// form are left out.
  void take(const base::Json& row);
  /// Whether the row with this id is what is known last of its experience.
  [[nodiscard]] bool holds(const base::Json& id) const;
  /// The experience is gone or is another index's now.
  void drop(const base::Json& key);

  /// The entries that have one of the words and pass `fits`, with their scores (BM25 over different words), in no
  /// order. A word that is not all ASCII also fits inside of words: not every script has blanks between them.
  [[nodiscard]] std::vector<Hit> find(const std::vector<std::string>& words,
                                      const std::function<bool(const IndexEntry&)>& fits) const;
  /// All that pass, with score 0.
  [[nodiscard]] std::vector<Hit> all(const std::function<bool(const IndexEntry&)>& fits) const;

  /// Until when changes were read, microseconds of the server's clock; 0: never.
  [[nodiscard]] std::int64_t read_until_us() const { return read_until_us_; }
  void set_read_until(std::int64_t time_us) { read_until_us_ = time_us; }

 private:
  void count(const std::vector<std::uint32_t>& places, std::unordered_map<std::uint32_t, double>& scores) const;

  Words words_;
  std::vector<IndexEntry> entries_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> places_;            ///< word -> entries
  std::unordered_map<std::string, std::pair<std::uint32_t, std::int64_t>> last_;  ///< key -> entry and its stamp
  std::size_t live_ = 0;
  std::size_t live_words_ = 0;
  std::int64_t read_until_us_ = 0;
};

/// What a retrieval gives of these indexes, up to query.limit: the entries most like the query by words (scores up to
/// 1); beside them the worthiest, those of the same kind, and the newest (scores 0).
std::vector<Index::Hit> chosen_entries(const std::vector<const Index*>& indexes, const Query& query);

}  // namespace accelopt::memory::surreal
