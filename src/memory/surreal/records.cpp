// SPDX-License-Identifier: Apache-2.0
#include "memory/surreal/records.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <set>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"

namespace accelopt::memory::surreal {
namespace {

using base::Json;

/// What an experience's record holds (model/experience.cpp), by type.
constexpr auto kTexts = std::to_array<const char*>({"title", "strategy", "before", "after", "diff", "polarity",
                                                    "language", "op_type", "target", "device", "bound", "task", "slow",
                                                    "fast", "run", "created", "model", "toolchain"});
constexpr auto kNumbers = std::to_array<const char*>({"iteration", "shown", "used", "confirmed", "refuted"});
/// Key of the counter of experiences that say no language: a key may not be empty (kInsert).
constexpr std::string_view kNoLanguage = "*";
constexpr const char* kSomeStoreId = "0000000000000000";
/// Beyond this a count says nothing more, and a sum of two cannot overflow.
constexpr std::int64_t kMostCount = 1'000'000'000;

std::int64_t number_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return 0;
  const double value = found->get<double>();
  return static_cast<std::int64_t>(std::clamp(value, 0.0, static_cast<double>(kMostCount)));
}

std::optional<model::Interval> interval_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_object()) return std::nullopt;
  auto read = base::decode<model::Interval>(*found, "");
  return read ? std::optional(*read) : std::nullopt;
}

/// Longest title that is made of a strategy, bytes.
constexpr std::size_t kLongestTitleOfStrategy = 80;

/// A record of any form as the JSON of an experience. One without a title, as other tools write them, is named by its
/// strategy.
Json experience_json(const Json& row) {
  Json out = Json::object();
  for (const char* key : kTexts) {
    const auto found = row.find(key);
    if (found == row.end() || found->is_null()) continue;
    if (found->is_string()) out[key] = *found;
    if (found->is_number()) out[key] = found->dump();
  }
  for (const char* key : kNumbers) out[key] = number_at(row, key);
  if (!out.contains("title"))
    out["title"] = std::string(base::first_line(base::text_at(row, "strategy"), kLongestTitleOfStrategy));
  if (const auto effect = interval_at(row, "effect")) out["effect"] = Json(*effect);
  if (const auto workloads = row.find("workloads"); workloads != row.end()) {
    if (base::decode<model::Experience>(Json{{"workloads", *workloads}}, "")) out["workloads"] = *workloads;
  }
  return out;
}

std::string short_hash(const std::string& text) {
  return base::sha256_hex(text).substr(0, 32);
}

std::string speedup_text(const Json& row) {
  const auto interval = interval_at(row, "speedup");
  char text[32] = "";
  if (interval) std::snprintf(text, sizeof text, "%.2fx", interval->estimate);
  return text;
}

/// The key of a link, which is [table, key].
std::string linked(const Json& row, const char* field) {
  const auto found = row.find(field);
  return found != row.end() && found->is_array() && found->size() == 2 ? text_of_key((*found)[1]) : std::string();
}

}  // namespace

Json fields_of(const Fit& fit) {
  Json fields = fit.experience;
  fields.erase("id");
  fields["suspicions"] = fit.suspicions;
  // What it had when it was inserted: its events are counted on top.
  const model::Credit& credit = fit.experience.credit;
  fields["had"] = {
      {"shown", credit.shown}, {"used", credit.used}, {"confirmed", credit.confirmed}, {"refuted", credit.refuted}};
  fields["quarantined"] = false;
  return fields;
}

Json fields_of(const SolutionRecord& solution) {
  return {{"hash", solution.id},
          {"language", solution.language},
          {"task", solution.task},
          {"run", solution.run},
          {"sources", base::canonical(solution.sources)},
          {"evaluation", solution.evaluation.is_null() ? Json() : Json(base::canonical(solution.evaluation))}};
}

Json row_of(const CreditEvent& event, const Json& record) {
  const bool shown = event.kind == CreditEvent::Kind::shown;
  const std::string_view kind = base::name_in(kCreditKinds, event.kind);
  return {{"key", Json::array({record, kind, short_hash(event.id)})},
          {"record", record},
          {"plan_key", shown ? "" : short_hash(event.run + "\n" + event.plan)},
          {"fields",
           {{"event", event.id},
            {"experience", event.experience},
            {"kind", kind},
            {"run", event.run},
            {"plan", event.plan},
            {"speedup", Json(event.speedup)}}}};
}

Json clean(const Json& value) {
  return Json::parse(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::size_t bytes_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace).size();
}

std::optional<Json> key_of(const Json& row) {
  if (!row.is_object()) return std::nullopt;
  const auto id = row.find("id");
  if (id == row.end() || !id->is_array() || id->size() != 2) return std::nullopt;
  return std::make_optional<Json>((*id)[1]);
}

std::string text_of_key(const Json& key) {
  return key.is_string() ? key.get<std::string>() : key.dump();
}

std::optional<std::int64_t> number_key(std::string_view id) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(id.data(), id.data() + id.size(), number);
  if (problem != std::errc() || end != id.data() + id.size()) return std::nullopt;
  return number;
}

void add_keys(const std::string& id, Json& keys) {
  if (id.empty()) return;
  keys.push_back(id);
  if (const auto number = number_key(id)) keys.push_back(*number);
}

Counters counters_of(const Json& rows) {
  Counters counters;
  if (!rows.is_array()) return counters;
  for (const Json& row : rows) {
    if (!row.is_object()) continue;
    const auto id = row.find("id");  // [language, one of several]
    if (id == row.end() || !id->is_array() || id->empty() || !(*id)[0].is_string()) continue;
    const auto language = (*id)[0].get<std::string>();
    counters[language == kNoLanguage ? "" : language] += number_at(row, "n");
  }
  return counters;
}

std::int64_t place_of(const Json& row) {
  return number_at(row, "seq");
}

std::int64_t age_of(const std::string& language, std::int64_t place, const Counters& counters) {
  const auto counter = counters.find(language);
  return std::max<std::int64_t>(0, (counter == counters.end() ? 0 : counter->second) - place);
}

Item item_of(const Json& row, const Json& key, const Counters& counters) {
  auto read = base::decode<model::Experience>(experience_json(row), "");
  model::Experience told_of = read ? std::move(*read) : model::Experience{};
  const std::string id = text_of_key(key);
  told_of.id = is_store_id(id) ? id : kSomeStoreId;  // or an id would be made of all its content
  Fit fit = made_fit(told_of);
  Item item;
  item.experience = std::move(fit.experience);
  item.experience.id = id;
  const auto quarantined = row.find("quarantined");
  item.quarantined = quarantined != row.end() && quarantined->is_boolean() && quarantined->get<bool>();
  item.suspicions = std::move(fit.suspicions);
  if (const auto told = row.find("suspicions"); told != row.end() && told->is_array()) {
    for (const Json& one : *told) {
      if (!one.is_string()) continue;
      const auto words = one.get<std::string>();
      if (std::ranges::find(item.suspicions, words) == item.suspicions.end()) item.suspicions.push_back(words);
    }
  }
  item.age = age_of(item.experience.language, place_of(row), counters);
  return item;
}

base::Result<SolutionRecord> solution_of(const Json& row, const std::string& id, const std::string& store) {
  SolutionRecord record{.id = id,
                        .language = base::text_at(row, "language"),
                        .task = base::text_at(row, "task"),
                        .run = base::text_at(row, "run")};
  const auto read = [&](const char* key) -> base::Result<Json> {
    const std::string text = base::text_at(row, key);
    if (text.empty()) return Json();
    auto parsed = base::parse_json(text, store + ": solution " + id + ", " + key);
    if (!parsed) return base::fail(base::ErrorCode::corrupt, parsed.error().message + "; remove the record");
    return parsed;
  };
  TRY_ASSIGN(record.sources, read("sources"));
  TRY_ASSIGN(record.evaluation, read("evaluation"));
  return record;
}

bool passes(const Item& item, const Filter& filter) {
  const model::Experience& it = item.experience;
  const auto same = [](const std::string& wanted, const std::string& is) { return wanted.empty() || wanted == is; };
  return same(filter.language, it.language) && same(filter.op_type, it.op_type) && same(filter.target, it.target) &&
         same(filter.run, it.run) && (!filter.polarity || *filter.polarity == it.polarity) &&
         (!filter.quarantined || *filter.quarantined == item.quarantined) &&
         (!filter.suspicious || *filter.suspicious == !item.suspicions.empty());
}

std::optional<std::int64_t> last_number(const std::vector<Json>& results) {
  for (auto it = results.rbegin(); it != results.rend(); ++it)
    if (const auto number = base::whole_number(*it)) return number;
  return std::nullopt;
}

std::int64_t count_of(const Json& rows) {
  return rows.is_array() && !rows.empty() && rows[0].is_object() ? number_at(rows[0], "n") : 0;
}

std::vector<std::pair<std::string, std::int64_t>> groups_of(const Json& rows) {
  std::vector<std::pair<std::string, std::int64_t>> groups;
  if (!rows.is_array()) return groups;
  for (const Json& row : rows)
    if (row.is_object()) groups.emplace_back(base::text_at(row, "name"), number_at(row, "n"));
  std::ranges::sort(groups, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  return groups;
}

Graph graph_of(const Json& optimizations, const Json& improved, const Json& seen, const Json& rest) {
  Graph graph;
  std::set<std::string> known;
  std::map<std::string, std::string> titles;
  const auto node = [&](const std::string& kind, const std::string& key, const std::string& label) {
    std::string id = kind + ":" + key;
    if (known.insert(id).second) graph.nodes.push_back({id, label});
    return id;
  };
  const auto rows_of = [](const Json& rows) { return rows.is_array() ? rows : Json::array(); };
  for (const Json& row : rows_of(optimizations)) {
    const auto key = key_of(row);
    if (!key) continue;
    const Fit fit = made_fit(base::decode<model::Experience>(experience_json(row), "").value_or(model::Experience{}));
    const std::string& title = fit.experience.title.empty() ? fit.experience.strategy : fit.experience.title;
    titles[text_of_key(*key)] = title;
    node("optimization", text_of_key(*key), title);
  }
  for (const Json& row : rows_of(improved)) {
    if (!row.is_object() || linked(row, "in").empty()) continue;
    const std::string slow = linked(row, "in");
    const std::string fast = linked(row, "out");
    const auto title = titles.find(linked(row, "optimization"));
    graph.edges.push_back({node("solution", slow, slow.substr(0, 12)), "improved_by",
                           node("solution", fast, fast.substr(0, 12)),
                           speedup_text(row) + " " + (title == titles.end() ? "" : title->second)});
  }
  for (const Json& row : rows_of(seen)) {
    if (!row.is_object() || linked(row, "in").empty()) continue;
    const std::string task = linked(row, "out");
    graph.edges.push_back({node("optimization", linked(row, "in"), ""), "seen_on", node("task", task, task), ""});
  }
  for (const Json& row : rows_of(rest)) {
    if (!row.is_object() || linked(row, "in").empty()) continue;
    const std::string title = base::text_at(row, "title");
    graph.edges.push_back({node("plan", base::text_at(row, "run") + "/" + title, title), "rests_on",
                           node("optimization", linked(row, "out"), ""), base::text_at(row, "outcome")});
  }
  return graph;
}

}  // namespace accelopt::memory::surreal
