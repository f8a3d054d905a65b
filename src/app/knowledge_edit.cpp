// SPDX-License-Identifier: Apache-2.0
#include "app/knowledge_edit.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "app/knowledge_import.hpp"

namespace accelopt::app {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

/// What stays as it is, whatever an edit says, and why.
struct Kept {
  std::string_view field;
  std::string_view reason;
};
constexpr std::string_view kMadeOfContent = "it is the experience's name in every store";
constexpr std::string_view kProvenance = "it records where the experience comes from";
constexpr std::string_view kCredit = "runs count it";
constexpr auto kKept = std::to_array<Kept>({{"id", kMadeOfContent},
                                            {"run", kProvenance},
                                            {"iteration", kProvenance},
                                            {"created", kProvenance},
                                            {"shown", kCredit},
                                            {"used", kCredit},
                                            {"confirmed", kCredit},
                                            {"refuted", kCredit}});

/// Of `memory show --json` beside the experience itself. Whether it is hidden is not an edit's to say.
constexpr auto kBeside = std::to_array<std::string_view>({"type", "schema", "suspicions", "solutions"});

}  // namespace

Result<Edited> edited(const model::Experience& was, const Json& fields, const std::string& where) {
  const Json old = was;
  Json merged = old;
  Edited out;
  for (const auto& [field, value] : fields.items()) {
    if (std::ranges::find(kBeside, field) != kBeside.end()) continue;
    if (field == "quarantined") {
      return fail(ErrorCode::invalid_argument, where +
                                                   ": quarantined is changed by `accelopt memory quarantine ID` and "
                                                   "its --lift; leave it out");
    }
    if (!old.contains(field))
      return fail(ErrorCode::invalid_argument, where + ": an experience has no \"" + field + "\"");
    if (old[field] == value) continue;
    const auto kept = std::ranges::find(kKept, field, &Kept::field);
    if (kept != kKept.end()) {
      return fail(ErrorCode::invalid_argument,
                  where + ": " + field + " cannot be changed, " + std::string(kept->reason) + "; leave it out");
    }
    merged[field] = value;
    out.changed.push_back(field);
  }
  TRY_ASSIGN(out.experience, base::decode<model::Experience>(merged, where));
  TRY(check_says_something(out.experience, where));
  const bool says_otherwise = std::ranges::any_of(
      out.changed, [](const std::string& field) { return field == "polarity" || field == "effect"; });
  if (says_otherwise) TRY(check_polarity(out.experience, where));
  return out;
}

Result<Json> read_edit(std::string_view text, const std::string& where) {
  TRY_ASSIGN(Json fields, base::parse_json(text, where));
  if (!fields.is_object()) {
    return fail(ErrorCode::parse,
                where + ": a JSON object is needed, of the fields to change, such as {\"title\": \"...\"}");
  }
  TRY(check_fields(fields, where));
  return fields;
}

Result<EditedItem> edit_item(memory::KnowledgeStore& store, const std::string& id, const Json& fields,
                             const std::string& where) {
  std::vector<std::string> changed;
  TRY_ASSIGN(memory::Item item, store.edit(id, [&](const model::Experience& was) -> Result<model::Experience> {
    TRY_ASSIGN(Edited made, edited(was, fields, where));
    changed = std::move(made.changed);
    return std::move(made.experience);
  }));
  return EditedItem{std::move(item), std::move(changed)};
}

}  // namespace accelopt::app
