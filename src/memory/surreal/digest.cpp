// SPDX-License-Identifier: Apache-2.0
#include "memory/surreal/digest.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "memory/surreal/records.hpp"
#include "memory/surreal/schema.hpp"
#include "memory/words.hpp"

namespace accelopt::memory::surreal {
namespace {

using base::ErrorCode;
using base::Json;
using base::Result;

/// What one record holds about: a request may have 4 MiB.
constexpr std::size_t kBytesOfAPart = std::size_t{1} << 20U;
constexpr std::int64_t kMostParts = 4096;
constexpr std::size_t kMostWords = 600;

Json first_of(const std::vector<Json>& results) {
  return !results.empty() && results[0].is_array() && !results[0].empty() ? results[0][0] : Json();
}

/// The rows of one part that are this index's.
bool take_part(const Json& text, const IndexName& name, std::vector<Json>& rows) {
  if (!text.is_string()) return false;
  const Json part = base::json_or_discarded(text.get_ref<const std::string&>());
  if (!part.is_array()) return false;
  for (const Json& row : part) {
    const auto id = row.is_object() ? row.find("id") : row.end();
    const bool ours = row.is_object() && id != row.end() && id->is_array() && id->size() == 4 &&
                      (*id)[0] == name.first && (*id)[1] == name.second;
    if (!ours) return false;
    rows.push_back(row);
  }
  return true;
}

}  // namespace

Json digested(Json row) {
  std::string words = base::joined(words_of(base::text_at(row, "w"), kMostWords), " ");
  row["w"] = words;
  return row;
}

Result<std::optional<Digest>> read_digest(Client& client, const IndexName& name) {
  const Json place = Json::array({name.first, name.second});
  const auto answer = client.ask(kReadDigest, clean({{"name", place}}));
  if (!answer && answer.error().code == ErrorCode::not_found) return std::nullopt;  // no table: nobody has written one
  TRY_ASSIGN(const auto results, answer);
  const Json head = first_of(results);
  const bool usable = head.is_object() && head.value("generation", Json()).is_string() &&
                      base::whole_number(head.value("parts", Json())) &&
                      base::whole_number(head.value("stamp", Json()));
  const std::int64_t now_us = last_number(results).value_or(0);
  if (!usable || head["stamp"] > now_us || head["parts"] < 1 || head["parts"] > kMostParts) return std::nullopt;
  Digest digest;
  digest.stamp = head["stamp"];
  digest.key = head.value("key", Json(""));
  for (std::int64_t part = 0; part < head["parts"]; ++part) {
    const Json id = Json::array({name.first, name.second, head["generation"], part});
    TRY_ASSIGN(const auto rows, client.ask(kReadDigestPart, clean({{"id", id}})));
    if (!take_part(first_of(rows), name, digest.rows)) return std::nullopt;
  }
  return digest;
}

Result<void> write_digest(Client& client, const IndexName& name, const Digest& digest) {
  const std::string generation = fmt::format("{:016x}", base::random_seed());
  std::int64_t parts = 0;
  std::string text;
  const auto send = [&]() -> Result<void> {
    const Json id = Json::array({name.first, name.second, generation, parts++});
    TRY(client.ask(kWriteDigestPart, clean({{"id", id}, {"rows", "[" + std::exchange(text, "") + "]"}})));
    return {};
  };
  for (const Json& row : digest.rows) {
    text += (text.empty() ? "" : ",") + row.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() >= kBytesOfAPart) TRY(send());
  }
  if (!text.empty()) TRY(send());
  TRY(client.ask(kWriteDigest, clean({{"language", name.first},
                                      {"target", name.second},
                                      {"generation", generation},
                                      {"parts", parts},
                                      {"stamp", digest.stamp},
                                      {"key", digest.key}})));
  return {};
}

Result<void> remove_digests(Client& client) {
  const auto answer = client.ask(kRemoveDigests, Json::object());
  if (!answer && answer.error().code == ErrorCode::not_found) return {};
  TRY(answer);
  return {};
}

}  // namespace accelopt::memory::surreal
