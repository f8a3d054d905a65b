// SPDX-License-Identifier: Apache-2.0
// What the compiler is told: that pointers do not overlap, that iterations are independent, that threads may share
// them.
#include <algorithm>

#include "recipes/legality.hpp"
#include "recipes/recipes.hpp"

namespace accelopt::recipes {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// ---- restrict

std::vector<const syntax::Parameter*> unrestricted(const Subject& subject, const Part& part) {
  std::vector<const syntax::Parameter*> result;
  for (const syntax::Parameter& parameter : part.function->parameters) {
    const bool plain = parameter.pointer_depth == 1 && !parameter.is_restrict && !parameter.name.empty() &&
                       subject.text(parameter.extent).find('*') != std::string_view::npos;
    if (plain && subject.text(parameter.extent).ends_with(parameter.name)) result.push_back(&parameter);
  }
  return result;
}

Result<std::string> add_restrict(const syntax::Clang&, Subject& subject, const Application& application) {
  syntax::Edits edits;
  bool changed = false;
  for (const Part& part : subject.parts()) {
    if (part.function->name != application.location) continue;
    for (const syntax::Parameter* parameter : unrestricted(subject, part)) {
      edits.insert(parameter->extent.end - parameter->name.size(), "__restrict ");
      changed = true;
    }
  }
  if (!changed) return fail(ErrorCode::unsupported, "there is no pointer to declare so");
  return edits.apply(subject.unit().source);
}

void propose_restrict(const syntax::Clang&, Subject& subject, std::vector<Application>& result) {
  for (const Part& part : subject.parts()) {
    if (part.tree->loops().empty() || unrestricted(subject, part).size() < 2) continue;
    const bool writes = std::any_of(
        part.function->parameters.begin(), part.function->parameters.end(),
        [](const syntax::Parameter& parameter) { return parameter.pointer_depth == 1 && !parameter.is_const; });
    if (!writes) continue;
    Application application;
    application.recipe = "restrict";
    application.location = part.function->name;
    application.title = "Declare that the arrays of " + part.function->name + " do not overlap";
    application.text =
        "Restrict: inputs and outputs are different memory. With __restrict the compiler need not check it at run "
        "time, and may keep "
        "loaded values over stores.";
    application.prior = 1.08;
    application.shape = "function";
    result.push_back(std::move(application));
  }
}

// ---- threads

/// Outermost loops whose iterations are independent.
Result<std::string> parallelize(const syntax::Clang&, Subject& subject, const Application& application) {
  TRY_ASSIGN(const Place place, subject.find(application.location));
  if (subject.kernel().threads < 2) return fail(ErrorCode::unsupported, "the task allows one thread");
  if (!is_parallel(*place.part, *place.loop))
    return fail(ErrorCode::unsupported, "the loop's iterations depend on each other");
  const syntax::Extent whole = with_pragmas(subject, *place.loop);
  const std::string indent = syntax::indentation_at(subject.unit().source, whole.begin);
  syntax::Edits edits;
  edits.insert(whole.begin, "#pragma omp parallel for schedule(static) num_threads(" +
                                std::to_string(subject.kernel().threads) + ")\n" + indent);
  return edits.apply(subject.unit().source);
}

void propose_parallelize(const syntax::Clang&, Subject& subject, std::vector<Application>& result) {
  const int threads = subject.kernel().threads;
  if (threads < 2) return;
  for (const Part& part : subject.parts()) {
    for (const auto& loop : part.tree->loops()) {
      if (loop->parent != nullptr && is_parallel(part, *loop->parent)) continue;
      const bool marked = mentions(subject, {with_pragmas(subject, *loop).begin, loop->statement->extent.begin}, "omp");
      if (marked || subject.is_generated(*loop) || loop->header().variable_type.empty() || !is_parallel(part, *loop))
        continue;
      Application application;
      application.recipe = "parallelize";
      application.location = Subject::location(part, *loop);
      application.title = "Share the loop " + loop->path + " among " + std::to_string(threads) + " threads";
      application.text =
          "Parallelize: the iterations of this loop are independent; OpenMP gives every thread an equal share of them.";
      application.prior = overall(std::min(0.97, cost_of(subject, part, *loop).share), 0.85 * threads);
      application.shape = shape_of(subject, part, *loop);
      result.push_back(std::move(application));
    }
  }
}

}  // namespace

Recipe restrict_recipe() {
  return {"restrict", propose_restrict, add_restrict};
}
Recipe parallelize_recipe() {
  return {"parallelize", propose_parallelize, parallelize};
}

}  // namespace accelopt::recipes
