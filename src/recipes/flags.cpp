// SPDX-License-Identifier: Apache-2.0
// Compile flags, as a directive in the kernel's first lines.
#include <algorithm>
#include <sstream>

#include "model/c_tokens.hpp"
#include "model/special_values.hpp"
#include "recipes/recipes.hpp"

namespace accelopt::recipes {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

struct FlagSet {
  const char* flags;
  const char* title;
  const char* text;
  double gain;  ///< of kernels whose innermost loops accumulate or call mathematical functions
};

/// In place of the first set where the kernel asks for NaN or infinity, or gains nothing from their absence; beside it
/// where it may.
constexpr FlagSet kFastAndSpecial = {"-ffast-math -fno-finite-math-only -mno-recip",
                                     "Compile with relaxed floating-point rules, infinities and NaN kept",
                                     "With -ffast-math the compiler may reorder sums, so that accumulating loops "
                                     "vectorize. -fno-finite-math-only behind "
                                     "it has the kernel still see NaN and infinity where they come.",
                                     2.5};

constexpr FlagSet kSets[] = {
    {"-ffast-math -mno-recip", "Compile with relaxed floating-point rules",
     "With -ffast-math the compiler may reorder sums, so that accumulating loops vectorize, and calls the vector forms "
     "of expf and "
     "the like. Values that overflow to infinity on the way may come out differently.",
     2.5},
    {"-fno-math-errno -fno-trapping-math -fno-signed-zeros -fassociative-math",
     "Let the compiler reorder sums and leave errno alone, infinities and NaN kept",
     "-fassociative-math (with the two flags that it needs) lets accumulating loops vectorize, and -fno-math-errno "
     "makes sqrtf a "
     "single instruction. Unlike -ffast-math, infinities and NaN keep their meaning.",
     2.0},
    {"-fno-math-errno -fno-trapping-math", "Leave errno and floating-point traps alone",
     "Without errno, sqrtf and the like become instructions that vectorize; the order of operations stays as written.",
     1.4},
    {"-funroll-loops", "Let the compiler unroll loops",
     "-funroll-loops unrolls loops whose trip count is known when they are entered: fewer branches, more independent "
     "work in flight.",
     1.03},
};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

/// Share of the kernel's innermost work that accumulates or calls: what relaxed rules can help.
double relaxed_share(Subject& subject) {
  double share = 0;
  for (const Part& part : subject.parts()) {
    for (const auto& loop : part.tree->loops()) {
      if (!loop->children.empty() || subject.is_generated(*loop)) continue;
      const syntax::Effects effects = syntax::effects_of(body_of(*loop), part.tree->scope());
      const bool accumulates =
          std::any_of(effects.scalars_assigned.begin(), effects.scalars_assigned.end(), [&](const auto& symbol) {
            return std::find(effects.declared.begin(), effects.declared.end(), symbol) == effects.declared.end();
          });
      if (accumulates || !effects.calls.empty()) share += cost_of(subject, part, *loop).share;
    }
  }
  return std::min(share, 0.97);
}

/// Whether -ffinite-math-only lets the compiler make vectors of something: of calls of mathematical functions (whose
/// vector forms <math.h> only has with it) and of choices such as a maximum.
bool gains_from_finite_math(const Subject& subject) {
  for (const Part& part : subject.parts()) {
    for (const auto& loop : part.tree->loops()) {
      if (!loop->children.empty() || subject.is_generated(*loop)) continue;
      if (!syntax::effects_of(body_of(*loop), part.tree->scope()).calls.empty()) return true;
      const std::vector<std::string> tokens = model::canonical_tokens(subject.text(loop->statement->extent));
      if (std::any_of(tokens.begin(), tokens.end(), [](const auto& one) { return one == "?" || one == "if"; }))
        return true;
    }
  }
  return false;
}

void propose_flags(const syntax::Clang&, Subject& subject, std::vector<Application>& result) {
  const std::vector<std::string> present = flags_of(subject.kernel().source);
  const double share = relaxed_share(subject);
  const bool gains = gains_from_finite_math(subject);
  std::vector<FlagSet> sets(std::begin(kSets), std::end(kSets));
  if (!gains || !model::special_value_named(subject.kernel().source).empty()) {
    sets.front() = kFastAndSpecial;
  } else if (model::may_handle_nan(subject.kernel().source)) {
    sets.insert(sets.begin(), kFastAndSpecial);  // a call with NaN refuses the other one where it matters
  }
  for (const FlagSet& set : sets) {
    const std::vector<std::string> words = words_of(set.flags);
    const bool implied =
        std::find(present.begin(), present.end(), "-ffast-math") != present.end() && words.front() != "-funroll-loops";
    const bool all = std::all_of(words.begin(), words.end(), [&](const std::string& word) {
      return std::find(present.begin(), present.end(), word) != present.end();
    });
    if (implied || all) continue;
    Application application;
    application.recipe = "flags";
    application.location = "*";
    application.parameters = {{"flags", set.flags}};
    application.title = set.title;
    application.text = set.text;
    application.prior = words.front() == "-funroll-loops" ? 1.015 : 1.01 + overall(share, set.gain) - 1;
    application.shape = share > 0.3 ? "kernel.relaxable" : "kernel.plain";
    result.push_back(std::move(application));
  }
}

Result<std::string> apply_flags(const syntax::Clang&, Subject& subject, const Application& application) {
  const auto found = application.parameters.find("flags");
  if (found == application.parameters.end()) return fail(ErrorCode::invalid_argument, "the parameter flags is missing");
  std::string text = with_flags(subject.kernel().source, words_of(found->second));
  const std::string named = model::special_value_named(text);
  if (!named.empty() && model::assumes_finite_math(flags_of(text)) &&
      !model::assumes_finite_math(flags_of(subject.kernel().source))) {
    return fail(ErrorCode::unsupported,
                "under these flags the compiler assumes that there is no NaN and no infinity, " +
                    ("and the kernel asks for them: " + named));
  }
  return text;
}

}  // namespace

Recipe flags_recipe() {
  return {"flags", propose_flags, apply_flags};
}

}  // namespace accelopt::recipes
