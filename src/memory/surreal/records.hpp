// SPDX-License-Identifier: Apache-2.0
// Records of the SurrealDB store as values. Other tools write into the same tables, so nothing is taken for granted: a
// field of another type reads as if it were not there, and every text is made fit.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "memory/knowledge_store.hpp"
#include "memory/sanitation.hpp"

namespace accelopt::memory::surreal {

/// What was inserted of each language so far.
using Counters = std::map<std::string, std::int64_t>;

/// The fields of an experience's record.
base::Json fields_of(const Fit& fit);
base::Json fields_of(const SolutionRecord& solution);
/// The event as kCredit takes it, of the record with this key.
base::Json row_of(const CreditEvent& event, const base::Json& record);
/// The value with every text valid UTF-8.
base::Json clean(const base::Json& value);
/// About what the value takes in a request.
std::size_t bytes_of(const base::Json& value);

/// The key of a row's "id", which is [table, key]; none: the row is of another form.
std::optional<base::Json> key_of(const base::Json& row);
/// A key as the id of an experience.
std::string text_of_key(const base::Json& key);
/// Which insertion of its language a record was.
std::int64_t place_of(const base::Json& row);
/// How many of its language came after it.
std::int64_t age_of(const std::string& language, std::int64_t place, const Counters& counters);
/// The key that an id of digits may stand for.
std::optional<std::int64_t> number_key(std::string_view id);
/// Adds the keys that the id may stand for, the likelier first.
void add_keys(const std::string& id, base::Json& keys);

Counters counters_of(const base::Json& rows);
Item item_of(const base::Json& row, const base::Json& key, const Counters& counters);
/// @error corrupt: its sources are no JSON.
base::Result<SolutionRecord> solution_of(const base::Json& row, const std::string& id, const std::string& store);
bool passes(const Item& item, const Filter& filter);

/// The last number among the answers of a transaction.
std::optional<std::int64_t> last_number(const std::vector<base::Json>& results);
/// The n of [{"n": 3}]; 0 where there is none.
std::int64_t count_of(const base::Json& rows);
/// Of [{"name": "cpp", "n": 3}], most first.
std::vector<std::pair<std::string, std::int64_t>> groups_of(const base::Json& rows);
Graph graph_of(const base::Json& optimizations, const base::Json& improved, const base::Json& seen,
               const base::Json& rest);

}  // namespace accelopt::memory::surreal
