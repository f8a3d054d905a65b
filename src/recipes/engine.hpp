// SPDX-License-Identifier: Apache-2.0
// Loop transformations for C and C++ kernels (and for NKI's and Triton's, nki_recipes.hpp, triton_recipes.hpp), found
// on a kernel's own syntax tree and applied to its text. The engine knows loop nests and subscripts and nothing of
// operators: what it proposes depends on the shape of the loops alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/solution.hpp"
#include "syntax/clang.hpp"

namespace accelopt::recipes {

/// The kernel to work on.
struct KernelSource {
  std::string source;
  std::string task_header;                          ///< text of the generated task.h
  model::Language language = model::Language::cpp;  ///< one that `rewrites` knows
  int threads = 1;                                  ///< over 1: loops may be distributed over threads
};

/// One recipe at one place of a kernel, with its parameters.
struct Application {
  std::string recipe;    ///< "register tile", "vectorize", "interchange", ...
  std::string location;  ///< "function:i.0/j.0": loop by nesting path; "function" or "*" where no single loop is meant
  std::map<std::string, std::string> parameters;
  std::string title;  ///< one line, unique among the applications of a kernel
  std::string text;   ///< what is done and why it should help, a few sentences
  double prior = 1;   ///< expected speed-up of the kernel by a static cost model; over 1 is faster
  std::string shape;  ///< shape of the loop: what it has in common with loops of other kernels
};

/// The application as a line that a plan's text carries:
/// "Recipe: ... | at: ... (expected 1.25x) | with: a=1 b=2 | shape: ...". Place and expectation are the kernel's own;
/// what is left is what the line has in common with others.
std::string to_line(const Application& application);

/// The applications named in a plan's text, to be made one after another; empty where it has no such line, or one that
/// cannot be read. Title and text are not part of a line; the prior is 0 where the line does not tell it.
std::vector<Application> route_from_text(std::string_view text);

/// Whether there are recipes for kernels in this language: C, C++, NKI, Triton.
bool rewrites(model::Language language);

/// Whether libclang reads kernels in this language; the others are read without it.
bool reads_with_clang(model::Language language);

/// Every recipe that applies to the kernel, best prior first. Deterministic; threads: any number at once.
/// @error invalid_argument: no recipe is for the language; unsupported, internal: as syntax::parse.
base::Result<std::vector<Application>> enumerate(const syntax::Clang& clang, const KernelSource& kernel);

/// The kernel with the recipe applied. Same threads and errors as `enumerate`, and
/// @error invalid_argument: an unknown recipe, no such place, a parameter missing, or the loops do not permit it.
base::Result<std::string> apply(const syntax::Clang& clang, const KernelSource& kernel, const Application& application);

}  // namespace accelopt::recipes
