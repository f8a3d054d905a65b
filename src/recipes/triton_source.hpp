// SPDX-License-Identifier: Apache-2.0
// The text of a Triton solution: its kernels, and the statements that launch them. Whatever is not understood is left
// alone.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/nki_source.hpp"

namespace accelopt::recipes::triton {

using nki::Statement;
using nki::Token;
using Statements = std::vector<Statement>;

/// A @triton.jit function.
struct JitKernel {
  std::size_t head = 0;  ///< place of its def; @triton.jit stands right before it
  std::size_t end = 0;   ///< behind its last statement
  bool plain = true;     ///< it has no other decorators
  std::string name;
  std::vector<std::string> parameters;  ///< as written, "BLOCK: tl.constexpr"
};

/// kernel[grid](arguments), a statement of its own.
struct Launch {
  std::size_t place = 0;
  std::string grid;
  std::vector<std::string> arguments;
};

/// The file, as people lay it out.
std::string text_of(const Statements& all);

/// Parts of a text at its outermost commas.
std::vector<std::string> parts_of(std::string_view text);
/// The number that the text is; none: it is something else, or no positive one.
std::optional<int> number_of(std::string_view text);

std::vector<JitKernel> kernels_of(const Statements& all);
bool is_constant(const JitKernel& kernel, std::string_view parameter);

/// Empty where the kernel is mentioned otherwise, too: then nobody knows who launches it.
std::vector<Launch> launches_of(const Statements& all, const JitKernel& kernel);
Statement launch_of(std::size_t indent, const std::string& kernel, const std::string& grid,
                    const std::vector<std::string>& arguments);
/// The value of a named argument; empty: it is not there.
std::string argument_of(const Launch& launch, std::string_view name);

/// What the statement gives a value: "x" of x = 1, x += 1, x: T = 1, x, y = 1, 2 and for x in ...
std::set<std::string> given_by(const Statement& statement);

/// The function around a place: from behind its def to behind its last statement.
struct Scope {
  std::size_t begin = 0;
  std::size_t end = 0;
};
Scope scope_of(const Statements& all, std::size_t place);
/// The statement's place that alone gives the name a value in the scope.
std::optional<std::size_t> only_giver(const Statements& all, const Scope& scope, std::string_view name);
/// What stands behind the = of "name = ...".
std::string value_text(const Statement& statement);

}  // namespace accelopt::recipes::triton
