// SPDX-License-Identifier: Apache-2.0
// Reading JSON that a stranger wrote.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "llm/secret.hpp"

namespace accelopt::llm {

/// The member of an object, or null.
const base::Json& member(const base::Json& object, const char* key);

/// A number that is a count, 0 where it is none or negative.
std::int64_t count_of(const base::Json& value);

/// Text as a string, or as a list of parts with a `text` each.
std::string text_of(const base::Json& content);

/// Another's words for a message of ours: one line of printable ASCII, at most 300 bytes, without the key. The key is
/// blotted out first, because a part of it that a cut leaves would not be found.
std::string quoted(std::string_view words, const Secret& key);

/// What a server says in an error's body: `error.message`, `error`, `message` or `detail`, else the text itself;
/// quoted.
std::string server_words(std::string_view body, const Secret& key);

/// Likewise of a parsed value, word for word: to be quoted before it is shown. Empty where it says nothing.
std::string error_text(const base::Json& value);

/// Machine-readable reason in an error's body (`error.code`, else `error.type`, else `error.status`), or empty; to
/// compare, not to show.
std::string server_code(std::string_view body);

/// The patience that an error's body asks for (`error.details[].retryDelay`), where it does.
std::optional<std::chrono::milliseconds> server_patience(std::string_view body);

/// The status that an error object names (`code` or `status`, 400 to 599), or 0.
int status_of(const base::Json& error);

}  // namespace accelopt::llm
