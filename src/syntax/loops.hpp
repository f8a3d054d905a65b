// SPDX-License-Identifier: Apache-2.0
// The loop tree of a function, with what each loop's statements read and write.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "syntax/affine.hpp"
#include "syntax/source.hpp"

namespace accelopt::syntax {

/// One statement directly inside a loop (or function), with the effects of everything in it.
struct Effects {
  Extent extent;
  std::vector<ElementAccess> accesses;   ///< array elements, in order
  std::vector<Symbol> scalars_read;      ///< each once; loop variables and parameters included
  std::vector<Symbol> scalars_assigned;  ///< each once; declarations inside excluded
  std::vector<Symbol> declared;          ///< variables declared at any depth inside
  std::vector<std::string> calls;        ///< callees as spelled, each once
  bool opaque = false;  ///< holds something that is not modelled (while, goto, lambda, pointer changes, return)
};

/// What a statement reads and writes.
Effects effects_of(const Statement& statement, const IndexScope& scope);
/// What several statements in a row read and write.
Effects effects_of(const std::vector<Statement>& statements, const IndexScope& scope);

/// A `for` loop in the tree. Pointers stay valid as long as the Function that it was made from.
struct Loop {
  std::string path;  ///< nesting place: "i.0/j.1": variable and place among its sibling loops, from outside
  int depth = 0;     ///< 0: outermost
  const Statement* statement = nullptr;
  const Loop* parent = nullptr;
  std::vector<const Statement*> body;  ///< the statements of its body, in order
  std::vector<const Loop*> children;

  [[nodiscard]] const LoopHeader& header() const { return *statement->loop; }
  [[nodiscard]] Symbol symbol() const { return {header().variable, header().declaration}; }
};

/// All `for` loops of a function, outer before inner, in order of the text. Not movable: loops point at one another.
class LoopTree {
 public:
  explicit LoopTree(const Function& function);
  LoopTree(const LoopTree&) = delete;
  LoopTree& operator=(const LoopTree&) = delete;

  [[nodiscard]] const std::vector<std::unique_ptr<Loop>>& loops() const { return loops_; }
  [[nodiscard]] const Loop* find(std::string_view path) const;
  [[nodiscard]] const Function& function() const { return function_; }
  [[nodiscard]] const IndexScope& scope() const { return scope_; }

 private:
  void collect(const std::vector<Statement>& statements, Loop* parent);
  void collect(const Statement& statement, Loop* parent);

  const Function& function_;
  IndexScope scope_;
  std::vector<std::unique_ptr<Loop>> loops_;
};

}  // namespace accelopt::syntax
