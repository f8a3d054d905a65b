// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "memory/knowledge_store.hpp"
#include "model/experience.hpp"

namespace accelopt::app {

/// What an edit makes of an experience.
struct Edited {
  model::Experience experience;
  std::vector<std::string> changed{};  ///< names of the fields whose values are others now
};

/// The experience with these fields changed. A field that an edit never changes (id, provenance, credit; whether it is
/// hidden or looks hostile) may stand there as it is: `memory show --json` writes it.
/// @error invalid_argument: another field, or one of these with another value, by name; parse: it then says nothing, or
/// a field is of another type. Messages begin with `where`.
base::Result<Edited> edited(const model::Experience& was, const base::Json& fields, const std::string& where);

/// The fields of an edit, from a text. @error parse: it is no JSON object; invalid_argument: as check_fields. Messages
/// begin with `where`.
base::Result<base::Json> read_edit(std::string_view text, const std::string& where);

struct EditedItem {
  memory::Item item;
  std::vector<std::string> changed;  ///< as Edited's
};
/// Changes fields of an experience in a store. @error as edited() and KnowledgeStore::edit.
base::Result<EditedItem> edit_item(memory::KnowledgeStore& store, const std::string& id, const base::Json& fields,
                                   const std::string& where);

}  // namespace accelopt::app
