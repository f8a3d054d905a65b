// SPDX-License-Identifier: Apache-2.0
#include "syntax/tree/grammar_table.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace accelopt::syntax::tree {
namespace {

struct Table {
  std::map<std::string_view, NodeKind> kinds;
  std::set<std::string_view> statements;      ///< besides what ends in "_statement"
  std::set<std::string_view> not_statements;  ///< that end so
  std::set<std::string_view> text_runners;
  std::set<std::string_view> macro_branches{};  ///< words of a branch, loop or choice in what a macro makes up
};

Table of_python() {
  return {.kinds = {{"if_statement", NodeKind::branch},
                    {"elif_clause", NodeKind::alternative},
                    {"else_clause", NodeKind::alternative},
                    {"for_statement", NodeKind::loop},
                    {"while_statement", NodeKind::loop},
                    {"for_in_clause", NodeKind::loop},
                    {"if_clause", NodeKind::loop},
                    {"match_statement", NodeKind::choice},
                    {"except_clause", NodeKind::handler},
                    {"except_group_clause", NodeKind::handler},
                    {"conditional_expression", NodeKind::conditional},
                    {"boolean_operator", NodeKind::logical},
                    {"lambda", NodeKind::closure},
                    {"function_definition", NodeKind::function},
                    {"class_definition", NodeKind::type},
                    {"call", NodeKind::call}},
          .statements = {"function_definition", "class_definition"},
          .not_statements = {},
          .text_runners = {"eval", "exec", "compile", "__import__", "import_module", "builtins", "__builtins__",
                           "getattr", "runpy", "CodeType", "FunctionType"}};
}

Table of_script() {
  return {.kinds = {{"if_statement", NodeKind::branch},
                    {"else_clause", NodeKind::alternative},
                    {"for_statement", NodeKind::loop},
                    {"for_in_statement", NodeKind::loop},
                    {"while_statement", NodeKind::loop},
                    {"do_statement", NodeKind::loop},
                    {"switch_statement", NodeKind::choice},
                    {"catch_clause", NodeKind::handler},
                    {"ternary_expression", NodeKind::conditional},
                    {"binary_expression", NodeKind::logical},
                    {"break_statement", NodeKind::jump},
                    {"continue_statement", NodeKind::jump},
                    {"arrow_function", NodeKind::function},
                    {"function_expression", NodeKind::function},
                    {"function", NodeKind::function},
                    {"generator_function", NodeKind::function},
                    {"function_declaration", NodeKind::function},
                    {"generator_function_declaration", NodeKind::function},
                    {"method_definition", NodeKind::function},
                    {"class_declaration", NodeKind::type},
                    {"abstract_class_declaration", NodeKind::type},
                    {"class", NodeKind::type},
                    {"call_expression", NodeKind::call},
                    {"new_expression", NodeKind::call}},
          .statements = {"lexical_declaration", "variable_declaration", "function_declaration", "class_declaration",
                         "generator_function_declaration", "method_definition"},
          .not_statements = {"empty_statement", "labeled_statement", "export_statement"},
          .text_runners = {"eval", "Function", "constructor", "vm", "node:vm", "runInContext", "runInThisContext",
                           "runInNewContext", "compileFunction"}};
}

Table of_c() {
  return {.kinds = {{"if_statement", NodeKind::branch},
                    {"else_clause", NodeKind::alternative},
                    {"for_statement", NodeKind::loop},
                    {"for_range_loop", NodeKind::loop},
                    {"while_statement", NodeKind::loop},
                    {"do_statement", NodeKind::loop},
                    {"switch_statement", NodeKind::choice},
                    {"catch_clause", NodeKind::handler},
                    {"conditional_expression", NodeKind::conditional},
                    {"binary_expression", NodeKind::logical},
                    {"goto_statement", NodeKind::jump},
                    {"preproc_if", NodeKind::branch},
                    {"preproc_ifdef", NodeKind::branch},
                    {"preproc_elif", NodeKind::alternative},
                    {"preproc_else", NodeKind::alternative},
                    {"lambda_expression", NodeKind::closure},
                    {"function_definition", NodeKind::function},
                    {"class_specifier", NodeKind::type},
                    {"struct_specifier", NodeKind::type},
                    {"namespace_definition", NodeKind::type},
                    {"call_expression", NodeKind::call}},
          .statements = {"declaration", "function_definition", "for_range_loop"},
          .not_statements = {"compound_statement", "labeled_statement", "case_statement"},
          .text_runners = {"system", "popen", "dlopen", "dlsym"},
          .macro_branches = {"if", "for", "while", "switch", "catch"}};
}

Table of_go() {
  return {.kinds = {{"if_statement", NodeKind::branch},
                    {"for_statement", NodeKind::loop},
                    {"expression_switch_statement", NodeKind::choice},
                    {"type_switch_statement", NodeKind::choice},
                    {"select_statement", NodeKind::choice},
                    {"binary_expression", NodeKind::logical},
                    {"goto_statement", NodeKind::jump},
                    {"break_statement", NodeKind::jump},
                    {"continue_statement", NodeKind::jump},
                    {"func_literal", NodeKind::closure},
                    {"function_declaration", NodeKind::function},
                    {"method_declaration", NodeKind::function},
                    {"call_expression", NodeKind::call}},
          .statements = {"short_var_declaration", "var_declaration", "const_declaration", "function_declaration",
                         "method_declaration"},
          .not_statements = {"labeled_statement", "empty_statement"},
          .text_runners = {}};
}

Table of_rust() {
  return {.kinds = {{"if_expression", NodeKind::branch},
                    {"else_clause", NodeKind::alternative},
                    {"for_expression", NodeKind::loop},
                    {"while_expression", NodeKind::loop},
                    {"loop_expression", NodeKind::loop},
                    {"match_expression", NodeKind::choice},
                    {"binary_expression", NodeKind::logical},
                    {"let_chain", NodeKind::logical},
                    {"break_expression", NodeKind::jump},
                    {"continue_expression", NodeKind::jump},
                    {"closure_expression", NodeKind::closure},
                    {"function_item", NodeKind::function},
                    {"impl_item", NodeKind::type},
                    {"mod_item", NodeKind::type},
                    {"call_expression", NodeKind::call}},
          .statements = {"let_declaration", "function_item", "const_item", "static_item"},
          .not_statements = {"empty_statement"},
          .text_runners = {},
          .macro_branches = {"if", "for", "while", "loop", "match"}};
}

const Table* table_of(std::string_view language) {
  static const std::map<std::string_view, Table> kTables{
      {"python", of_python()}, {"javascript", of_script()}, {"typescript", of_script()}, {"c", of_c()}, {"c++", of_c()},
      {"go", of_go()},         {"rust", of_rust()}};
  const auto found = kTables.find(language);
  return found == kTables.end() ? nullptr : &found->second;
}

}  // namespace

bool has_table(std::string_view language) {
  return table_of(language) != nullptr;
}

NodeKind kind_of(std::string_view language, std::string_view type) {
  const Table* const table = table_of(language);
  if (table == nullptr) return NodeKind::other;
  const auto found = table->kinds.find(type);
  return found == table->kinds.end() ? NodeKind::other : found->second;
}

bool is_statement(std::string_view language, std::string_view type) {
  const Table* const table = table_of(language);
  if (table == nullptr) return false;
  if (table->statements.contains(type)) return true;
  return type.ends_with("_statement") && !table->not_statements.contains(type);
}

bool holds_expressions_as_statements(std::string_view language, std::string_view type) {
  return language == "rust" && type == "block";
}

bool runs_text(std::string_view language, std::string_view name) {
  const Table* const table = table_of(language);
  return table != nullptr && table->text_runners.contains(name);
}

bool branches_in_macro(std::string_view language, std::string_view word) {
  const Table* const table = table_of(language);
  return table != nullptr && table->macro_branches.contains(word);
}

}  // namespace accelopt::syntax::tree
