// SPDX-License-Identifier: Apache-2.0
// Which variables a candidate's text declares constant, and which of them keep a value.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/c_tokens.hpp"
#include "model/solution.hpp"

namespace accelopt::targets::cuda {

/// A variable as its declaration names it.
struct DeclaredName {
  std::string text;
  bool is_instance = false;  ///< of a variable template: the template's name, without its arguments
};

/// The name in a demangled one: what stands behind the last "::". A name whose template arguments cannot be told is
/// given back whole.
DeclaredName declared_name(const std::string& demangled);

/// Names declared as constants, and names of other variables in memory that lasts. Reads text, not C++: what it takes
/// for a constant may at worst be one that is written by force. Instances of variable templates are constant only where
/// no other template may have the name.
class Declarations {
 public:
  explicit Declarations(const model::Solution& solution);

  [[nodiscard]] bool constant(const DeclaredName& name) const;
  [[nodiscard]] bool variable(const std::string& name) const { return variables_.contains(name); }
  [[nodiscard]] bool opens_namespace(std::string_view name) const { return namespaces_.contains(std::string(name)); }

 private:
  class Statements;

  void read_directive(std::string_view text);
  void read_templates(const std::vector<model::Token>& tokens);
  void read_template(const std::vector<model::Token>& tokens, std::size_t begin);

  std::set<std::string> constants_;
  std::set<std::string> variables_;
  std::set<std::string> namespaces_;
  std::set<std::string> macros_;
  std::set<std::string> constant_templates_;
  std::set<std::string> other_templates_;
  bool hides_templates_ = false;  ///< the text may declare templates that are not seen here
};

}  // namespace accelopt::targets::cuda
