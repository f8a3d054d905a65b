// SPDX-License-Identifier: Apache-2.0
// How hard code is to follow: cognitive complexity as SonarSource defines it, nesting, statements, by function.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace accelopt::syntax::tree {

struct FunctionMeasure {
  std::string name;  ///< "f", "Class.f"; of code outside of functions ""
  int line = 0;      ///< where it begins, from 1
  int cognitive = 0;
  int nesting = 0;  ///< the deepest: 1 is a loop alone
  int statements = 0;
  int longest = 0;  ///< tokens of its longest statement, without those of statements in it
};

struct Measures {
  std::vector<FunctionMeasure> functions;  ///< in the order of the text; a function in another is part of that one
  int text_runners = 0;                    ///< calls that run a text as code: what is in it is in no figure

  [[nodiscard]] int cognitive() const;
  [[nodiscard]] int nesting() const;  ///< the deepest of all
  [[nodiscard]] int statements() const;
  [[nodiscard]] int longest() const;
};

/// Opens grammars as they are asked for. One thread at a time.
class Reader {
 public:
  /// `folders` of grammars. @error unsupported: there is no libtree-sitter here.
  static base::Result<Reader> open(std::vector<std::filesystem::path> folders);

  /// @error unsupported: there is no grammar of the language; parse: the text does not follow it, or nests too deep.
  base::Result<Measures> measure(std::string_view language, std::string_view text);

 private:
  struct State;
  explicit Reader(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace accelopt::syntax::tree
