// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/experience.hpp"

namespace accelopt::memory {

/// The different words of a text in lower case, in order of first appearance: letters and digits, three to 40 of them,
/// without those that every kernel has ("for", "int", "const"). Of a long text the first `most`.
std::vector<std::string> words_of(std::string_view text, std::size_t most);

/// The same with what begins with a digit, however short: "4x16" tells one strategy from another.
std::vector<std::string> words_and_numbers_of(std::string_view text, std::size_t most);

/// All different words of a text, with its capitals made small: runs of ASCII letters and digits and of whatever is no
/// ASCII. Of a long text the first `most`.
std::vector<std::string> spelled_words(std::string_view text, std::size_t most);

/// The words of what somebody searches for: as spelled_words(), without those that every kernel has where others are
/// left.
std::vector<std::string> search_words(std::string_view text, std::size_t most);

/// Whether each letter of the word is ASCII.
bool is_ascii(std::string_view word);

/// The word in small letters, in capitals, and with one capital at its beginning (ASCII, Latin-1, Greek, Cyrillic).
std::vector<std::string> spellings_of(std::string_view word);

/// What the full-text index holds of an experience: all that it says but the diff.
std::string indexed_text(const model::Experience& experience);

}  // namespace accelopt::memory
