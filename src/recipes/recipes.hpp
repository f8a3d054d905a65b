// SPDX-License-Identifier: Apache-2.0
// The list of recipes: each one proposes applications on a kernel that was read, and applies them.
#pragma once

#include <string>
#include <vector>

#include "recipes/subject.hpp"

namespace accelopt::recipes {

/// One kind of transformation.
struct Recipe {
  std::string name;
  /// Adds every application that the kernel permits.
  void (*propose)(const syntax::Clang& clang, Subject& subject, std::vector<Application>& result);
  /// The kernel's text with the application made. @error invalid_argument, unsupported: it does not apply.
  base::Result<std::string> (*apply)(const syntax::Clang& clang, Subject& subject, const Application& application);
};

/// All of them, in a fixed order.
const std::vector<Recipe>& all_recipes();

Recipe register_tile_recipe();
Recipe tile_size_recipe();
Recipe vectorize_recipe();
Recipe flags_recipe();
Recipe fission_recipe();
Recipe interchange_recipe();
Recipe tile_recipe();
Recipe unroll_recipe();
Recipe unroll_and_jam_recipe();
Recipe restrict_recipe();
Recipe parallelize_recipe();
Recipe hoist_recipe();
Recipe fusion_recipe();
Recipe packing_recipe();
Recipe scalar_replacement_recipe();

/// A parameter as a number. @error invalid_argument: it is missing or none.
base::Result<int> number(const Application& application, const std::string& parameter);

/// Splits a loop's body before the statements numbered in `cuts`, in blocks of `block` iterations (0: all at once).
/// Values that cross a cut are kept in one place an iteration. @error unsupported: a dependence or a value forbids it.
base::Result<std::string> split_loop(Subject& subject, const Part& part, const syntax::Loop& loop,
                                     const std::vector<std::size_t>& cuts, int block);
/// In the text that split_loop gave, read again: the loop of that group. `path` is the split loop's old one.
const syntax::Loop* loop_of_group(const Part& part, std::string_view path, std::size_t group);

/// The kernel with the strided operands of an innermost loop copied, transposed, before the nest around it.
/// @error unsupported: the loop has none that can be packed.
base::Result<std::string> pack_operands(Subject& subject, const Part& part, const syntax::Loop& loop);

/// What the cost model says of a loop nest.
struct NestCost {
  double share = 0;       ///< of the kernel's operations, 0 to 1
  double iterations = 1;  ///< of the whole nest
};
NestCost cost_of(const Subject& subject, const Part& part, const syntax::Loop& loop);

/// What a nest has in common with nests of other kernels, as one word: "d3.reduction.strided.calls".
std::string shape_of(const Subject& subject, const Part& part, const syntax::Loop& loop);

/// Expected speed-up of a kernel when a part of it that takes `share` of the time becomes `gain` times faster.
double overall(double share, double gain);

}  // namespace accelopt::recipes
