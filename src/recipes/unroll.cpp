// SPDX-License-Identifier: Apache-2.0
// Unrolling of innermost loops by pragma, and unroll-and-jam of two loops in the text.
#include <algorithm>

#include "recipes/legality.hpp"
#include "recipes/recipes.hpp"

namespace accelopt::recipes {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using syntax::Loop;

Result<std::string> unroll(const syntax::Clang&, Subject& subject, const Application& application) {
  TRY_ASSIGN(const Place place, subject.find(application.location));
  TRY_ASSIGN(const int factor, number(application, "factor"));
  if (factor < 2 || factor > 64) return fail(ErrorCode::invalid_argument, "loops are unrolled 2 to 64 times");
  syntax::Edits edits;
  const syntax::Extent whole = with_pragmas(subject, *place.loop);
  const std::string indent = syntax::indentation_at(subject.unit().source, whole.begin);
  edits.insert(whole.begin, "#pragma GCC unroll " + std::to_string(factor) + "\n" + indent);
  return edits.apply(subject.unit().source);
}

void propose_unroll(const syntax::Clang&, Subject& subject, std::vector<Application>& result) {
  for (const Part& part : subject.parts()) {
    for (const auto& loop : part.tree->loops()) {
      if (!loop->children.empty() || !loop->header().canonical || subject.is_generated(*loop)) continue;
      if (with_pragmas(subject, *loop).begin != loop->statement->extent.begin) continue;
      for (const int factor : {4, 8}) {
        Application application;
        application.recipe = "unroll";
        application.location = Subject::location(part, *loop);
        application.parameters = {{"factor", std::to_string(factor)}};
        application.title = "Unroll the loop " + loop->path + " " + std::to_string(factor) + " times";
        application.text = "Unroll: " + std::to_string(factor) +
                           " iterations of this innermost loop follow one another without a branch, "
                           "which leaves more independent work in flight.";
        application.prior = 1.0 + 0.03 * cost_of(subject, part, *loop).share * (factor == 4 ? 1.0 : 0.8);
        application.shape = shape_of(subject, part, *loop);
        result.push_back(std::move(application));
      }
    }
  }
}

bool can_jam(const Part& part, const Loop& outer) {
  const Loop* inner = only_child(outer);
  return inner != nullptr && outer.header().canonical && inner->header().canonical && outer.header().step == 1 &&
         !outer.header().variable_type.empty() && inner->children.empty() &&
         !bounds_use(*inner, outer, part.tree->scope()) && is_permutable(part, outer);
}

Result<std::string> unroll_and_jam(const syntax::Clang&, Subject& subject, const Application& application) {
  TRY_ASSIGN(const Place place, subject.find(application.location));
  TRY_ASSIGN(const int factor, number(application, "factor"));
  if (factor < 2 || factor > 16) return fail(ErrorCode::invalid_argument, "loops are jammed 2 to 16 at a time");
  const Loop& outer = *place.loop;
  if (!can_jam(*place.part, outer)) return fail(ErrorCode::unsupported, "the loops cannot be jammed");
  const Loop& inner = *only_child(outer);
  const syntax::LoopHeader& header = outer.header();
  const std::string i = header.variable;
  const std::string end = subject.fresh(i + "_end");
  const syntax::Extent body = inner.statement->children.front().extent;
  std::string text = "{\n  const " + variable_type(header) + " " + end + " = " + end_text(subject, header) + ";\n";
  text += "  " + variable_type(header) + " " + i + " = " + begin_text(subject, header) + ";\n";
  text += "  for (; " + end + " - " + i + " >= " + std::to_string(factor) + "; " + i + " += " + std::to_string(factor) +
          ") {\n    " + std::string(subject.text(inner.header().extent)) + " {\n";
  for (int copy = 0; copy < factor; ++copy) {
    const std::map<std::int64_t, std::string> names = {
        {header.declaration, copy == 0 ? i : "(" + i + " + " + std::to_string(copy) + ")"}};
    std::string statements = syntax::with_names(subject.unit(), *place.part->function, body, names);
    if (!statements.starts_with("{")) statements = "{ " + statements + " }";
    text += "      " + statements + "\n";
  }
  text += "    }\n  }\n  for (; " + i + " < " + end + "; ++" + i + ") {\n    " +
          std::string(subject.text(inner.statement->extent)) + "\n  }\n}";
  syntax::Edits edits;
  const std::string indent = syntax::indentation_at(subject.unit().source, outer.statement->extent.begin);
  edits.replace(with_pragmas(subject, outer), indented(text, indent).substr(indent.size()));
  return edits.apply(subject.unit().source);
}

void propose_jam(const syntax::Clang&, Subject& subject, std::vector<Application>& result) {
  for (const Part& part : subject.parts()) {
    for (const auto& loop : part.tree->loops()) {
      if (subject.is_generated(*loop) || !can_jam(part, *loop)) continue;
      const syntax::Effects effects = syntax::effects_of(body_of(*loop), part.tree->scope());
      // Jamming pays where something does not change with the outer loop and is loaded or stored once for all copies.
      const bool reuse =
          std::any_of(effects.accesses.begin(), effects.accesses.end(), [&](const syntax::ElementAccess& access) {
            return access.subscript && !access.subscript->uses(loop->symbol());
          });
      for (const int factor : {4, 2}) {
        Application application;
        application.recipe = "unroll-and-jam";
        application.location = Subject::location(part, *loop);
        application.parameters = {{"factor", std::to_string(factor)}};
        application.title =
            "Jam " + std::to_string(factor) + " iterations of the loop " + loop->path + " into its inner loop";
        application.text = "Unroll-and-jam: " + std::to_string(factor) +
                           " iterations of the outer loop run side by side in the inner one, so that what "
                           "they share is loaded once and their work overlaps.";
        application.prior =
            overall(std::min(0.97, cost_of(subject, part, *loop).share), reuse ? (factor == 4 ? 2.0 : 1.5) : 1.01);
        application.shape = shape_of(subject, part, *loop);
        result.push_back(std::move(application));
      }
    }
  }
}

}  // namespace

Recipe unroll_recipe() {
  return {"unroll", propose_unroll, unroll};
}
Recipe unroll_and_jam_recipe() {
  return {"unroll-and-jam", propose_jam, unroll_and_jam};
}

}  // namespace accelopt::recipes
