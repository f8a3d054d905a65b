// SPDX-License-Identifier: Apache-2.0
// Fusion of loops that stand next to each other and run over the same range.
#include <algorithm>

#include "recipes/legality.hpp"
#include "recipes/recipes.hpp"

namespace accelopt::recipes {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using syntax::Effects;
using syntax::ElementAccess;
using syntax::Loop;
using syntax::Symbol;

/// The loop that follows in the same body with nothing in between.
const Loop* next_sibling(const Part& part, const Loop& loop, const Subject& subject) {
  for (const auto& other : part.tree->loops()) {
    if (other->parent != loop.parent || other->statement->extent.begin < loop.statement->extent.end) continue;
    const std::string_view between = subject.text({loop.statement->extent.end, other->statement->extent.begin});
    return between.find_first_not_of(" \t\r\n") == std::string_view::npos ? other.get() : nullptr;
  }
  return nullptr;
}

bool can_fuse(const Part& part, const Loop& first, const Loop& second) {
  const syntax::IndexScope& scope = part.tree->scope();
  if (!first.header().canonical || !second.header().canonical || first.header().step != second.header().step)
    return false;
  if (first.header().variable_type.empty() || second.header().variable_type.empty()) return false;
  const auto same_bound = [&](const auto& a, const auto& b) { return a && b && *a == *b; };
  if (!same_bound(begin_of(first, scope), begin_of(second, scope)) ||
      !same_bound(end_of(first, scope), end_of(second, scope)))
    return false;
  const Effects before = syntax::effects_of(body_of(first), scope);
  const Effects after = syntax::effects_of(body_of(second), scope);
  if (before.opaque || after.opaque) return false;
  const auto touches = [](const Effects& effects, const Symbol& symbol) {
    const auto in = [&](const std::vector<Symbol>& list) {
      return std::find(list.begin(), list.end(), symbol) != list.end();
    };
    return in(effects.scalars_read) || in(effects.scalars_assigned);
  };
  for (const Symbol& symbol : before.scalars_assigned) {
    if (touches(after, symbol)) return false;
  }
  for (const Symbol& symbol : after.scalars_assigned) {
    if (touches(before, symbol)) return false;
  }
  const syntax::Polynomial variable(first.symbol());
  for (const ElementAccess& a : before.accesses) {
    for (const ElementAccess& b : after.accesses) {
      if (a.base != b.base || (!a.write && !b.write)) continue;
      if (!a.subscript || !b.subscript || b.subscript->replaced(second.symbol(), variable) != *a.subscript)
        return false;
      const auto stride = a.subscript->coefficient(first.symbol());
      if (!stride || stride->is_zero()) return false;
    }
  }
  return true;
}

Result<std::string> fuse(const syntax::Clang&, Subject& subject, const Application& application) {
  TRY_ASSIGN(const Place place, subject.find(application.location));
  const Loop* second = next_sibling(*place.part, *place.loop, subject);
  if (second == nullptr || !can_fuse(*place.part, *place.loop, *second))
    return fail(ErrorCode::unsupported, "the loops cannot be fused");
  const auto inner = [&](const Loop& loop, const std::map<std::int64_t, std::string>& names) {
    return syntax::with_names(subject.unit(), *place.part->function, loop.statement->children.front().extent, names);
  };
  const std::string indent = syntax::indentation_at(subject.unit().source, place.loop->statement->extent.begin);
  const std::map<std::int64_t, std::string> names = {{second->header().declaration, place.loop->header().variable}};
  // Each body keeps its braces, so that names declared in both do not meet.
  const std::string text = std::string(subject.text(place.loop->header().extent)) + " {\n" + indent + "  " +
                           inner(*place.loop, {}) + "\n" + indent + "  " + inner(*second, names) + "\n" + indent + "}";
  syntax::Edits edits;
  edits.replace({place.loop->statement->extent.begin, second->statement->extent.end}, text);
  return edits.apply(subject.unit().source);
}

void propose_fusion(const syntax::Clang&, Subject& subject, std::vector<Application>& result) {
  for (const Part& part : subject.parts()) {
    for (const auto& loop : part.tree->loops()) {
      const Loop* second = next_sibling(part, *loop, subject);
      if (second == nullptr || subject.is_generated(*loop) || subject.is_generated(*second) ||
          !can_fuse(part, *loop, *second))
        continue;
      Application application;
      application.recipe = "fusion";
      application.location = Subject::location(part, *loop);
      application.title = "Fuse the loop " + loop->path + " with the one that follows it";
      application.text =
          "Fusion: two loops over the same range become one, so that what the first one writes or reads is still in a "
          "register or "
          "the nearest cache when the second one needs it.";
      const double share = cost_of(subject, part, *loop).share + cost_of(subject, part, *second).share;
      application.prior = overall(std::min(0.97, share), loop->children.empty() ? 1.15 : 1.02);
      application.shape = shape_of(subject, part, *loop);
      result.push_back(std::move(application));
    }
  }
}

}  // namespace

Recipe fusion_recipe() {
  return {"fusion", propose_fusion, fuse};
}

}  // namespace accelopt::recipes
