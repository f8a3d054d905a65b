// SPDX-License-Identifier: Apache-2.0
// Search/replace blocks: how executor and fixer may change a long file without writing all of it.
#pragma once

#include <string>
#include <string_view>

#include "agents/answers.hpp"
#include "model/solution.hpp"

namespace accelopt::agents {

/// Whether answers are edits of files by their paths: those of a repository.
bool is_edited_by_path(const model::Solution& solution);

/// Whether the file is long enough for edits to be worth it: over 200 lines.
bool may_be_edited(const model::Solution& solution);

/// How an answer has to look, for the prompt: the whole file, or, of a long one, edits of it.
std::string answer_form(const model::Solution& solution);

/// Whether the answer has search/replace blocks.
bool has_edits(std::string_view answer);

/// The source after the answer's blocks, each applied to what the ones before it left; blanks at the ends of lines do
/// not count, and special tokens that the question broke up get their spelling back. The reason says which block is not
/// there, with the nearest lines of the source, or is there several times.
Parsed<std::string> edited(std::string_view answer, std::string_view source);

/// The same with several files: each block belongs to the file that the line above it names, or to the one of the block
/// before; of a single file none needs to. Lines that no block touches stay as they are.
Parsed<model::Solution> edited_files(std::string_view answer, const model::Solution& start);

}  // namespace accelopt::agents
