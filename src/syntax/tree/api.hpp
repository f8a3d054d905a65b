// SPDX-License-Identifier: Apache-2.0
// tree-sitter's C interface as this folder uses it. Only for its own sources: it needs the library's header.
#pragma once

#include <tree_sitter/api.h>

#include "syntax/tree/library.hpp"

namespace accelopt::syntax::tree {

// clang-format off
#define ACCELOPT_TREE_FUNCTIONS(X)                                                                             \
  X(language_version) X(parser_new) X(parser_delete) X(parser_set_language) X(parser_set_timeout_micros)       \
  X(parser_parse_string) X(tree_delete) X(tree_root_node) X(node_type) X(node_is_named) X(node_has_error)      \
  X(node_start_byte) X(node_end_byte) X(node_start_point) X(node_child_by_field_name) X(node_is_null)          \
  X(tree_cursor_new) X(tree_cursor_delete) X(tree_cursor_goto_first_child) X(tree_cursor_goto_next_sibling)    \
  X(tree_cursor_current_node) X(tree_cursor_current_field_name)
// clang-format on

/// The functions, found in the library that was opened.
struct Api {
  /// @error unsupported: the library lacks one.
  static base::Result<Api> bind(const Library& library);

#define ACCELOPT_DECLARE(name) decltype(&ts_##name) name = nullptr;
  ACCELOPT_TREE_FUNCTIONS(ACCELOPT_DECLARE)
#undef ACCELOPT_DECLARE
};

}  // namespace accelopt::syntax::tree
