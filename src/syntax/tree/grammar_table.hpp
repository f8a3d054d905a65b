// SPDX-License-Identifier: Apache-2.0
// What the kinds of nodes of each grammar mean to a reader of the code.
#pragma once

#include <string_view>

namespace accelopt::syntax::tree {

/// How a node counts, in the words of SonarSource's cognitive complexity.
enum class NodeKind {
  other,
  branch,       ///< if: one and its nesting; its condition is not nested in it
  alternative,  ///< else, elif: one
  loop,         ///< for, while, and each clause of a comprehension
  choice,       ///< switch, match, select
  handler,      ///< catch, except
  conditional,  ///< a ? b : c
  jump,         ///< goto: one; break and continue where they name a label
  logical,      ///< a sequence of like operators: one
  closure,      ///< nests what is in it, and counts nothing itself
  function,     ///< a closure too, where it stands in another
  type,         ///< a class or an implementation: its name is part of its functions' names
  call,
};

/// Of a node in the tree of this language: "python", "javascript", "typescript", "c", "c++", "go", "rust".
NodeKind kind_of(std::string_view language, std::string_view type);
/// Whether it is a statement: what stands for itself in a block.
bool is_statement(std::string_view language, std::string_view type);
/// Whether the children that are expressions of a node of this type stand for themselves: a block of Rust.
bool holds_expressions_as_statements(std::string_view language, std::string_view type);
/// Whether something of this name runs text as code, or gives what does.
bool runs_text(std::string_view language, std::string_view name);
/// Whether this word begins a branch, a loop or a choice in the text of a macro, of which the grammar has no tree.
bool branches_in_macro(std::string_view language, std::string_view word);
/// Languages that have a table.
bool has_table(std::string_view language);

}  // namespace accelopt::syntax::tree
