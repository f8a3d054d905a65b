// SPDX-License-Identifier: Apache-2.0
// Packing: an operand that an innermost loop walks with a stride is copied, transposed, to memory of its own before the
// nest.
#include <algorithm>

#include "recipes/legality.hpp"
#include "recipes/recipes.hpp"

namespace accelopt::recipes {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using syntax::ElementAccess;
using syntax::Loop;
using syntax::Polynomial;

/// A strided operand: `base[fast * stride + slow + ...]` read in the loop `fast`, `slow` being a loop around it.
struct Operand {
  ElementAccess access;
  const Loop* slow = nullptr;
};

const Loop& outermost(const Loop& loop) {
  const Loop* at = &loop;
  while (at->parent != nullptr) at = at->parent;
  return *at;
}

/// The operands of the loop that are only read, walk two loops that begin at zero, and nothing else.
std::vector<Operand> operands_of(const Part& part, const Loop& loop) {
  std::vector<Operand> result;
  const syntax::IndexScope& scope = part.tree->scope();
  if (!loop.children.empty() || !loop.header().canonical || loop.header().step != 1) return result;
  const auto zero = begin_of(loop, scope);
  if (!zero || !zero->is_zero()) return result;
  const syntax::Effects inside = syntax::effects_of(body_of(loop), scope);
  const syntax::Effects whole = syntax::effects_of(*outermost(loop).statement, scope);
  for (const ElementAccess& access : inside.accesses) {
    const auto stride = access.subscript ? access.subscript->coefficient(loop.symbol()) : std::nullopt;
    if (!stride || stride->is_zero() || *stride == Polynomial(1)) continue;
    const bool is_parameter = std::any_of(
        part.function->parameters.begin(), part.function->parameters.end(), [&](const syntax::Parameter& parameter) {
          return parameter.declaration == access.base.declaration && parameter.is_const &&
                 parameter.pointer_depth == 1 && parameter.value_type == "float";
        });
    const bool written = std::any_of(whole.accesses.begin(), whole.accesses.end(), [&](const ElementAccess& other) {
      return other.write && other.base == access.base;
    });
    if (!is_parameter || written) continue;
    const bool known = std::any_of(result.begin(), result.end(),
                                   [&](const Operand& operand) { return operand.access.base == access.base; });
    if (known) continue;
    // A copy pays when it is read more than once: some loop around does not move the operand.
    bool reused = false;
    for (const Loop* at = loop.parent; at != nullptr; at = at->parent) {
      reused = reused || !access.subscript->uses(at->symbol());
    }
    for (const Loop* slow = loop.parent; slow != nullptr; slow = slow->parent) {
      const auto step = access.subscript->coefficient(slow->symbol());
      const auto begin = begin_of(*slow, scope);
      const Polynomial rest = *access.subscript - *stride * Polynomial(loop.symbol()) - Polynomial(slow->symbol());
      const auto end = end_of(*slow, scope);
      // The rows must lie one after another: their distance is the length of the other loop.
      if (reused && step && *step == Polynomial(1) && rest.is_zero() && begin && begin->is_zero() && end &&
          *end == *stride && slow->header().step == 1) {
        result.push_back({access, slow});
      }
    }
  }
  return result;
}

Result<std::string> pack(const syntax::Clang&, Subject& subject, const Application& application) {
  TRY_ASSIGN(const Place place, subject.find(application.location));
  return pack_operands(subject, *place.part, *place.loop);
}

void propose_packing(const syntax::Clang&, Subject& subject, std::vector<Application>& result) {
  for (const Part& part : subject.parts()) {
    for (const auto& loop : part.tree->loops()) {
      if (subject.is_generated(*loop)) continue;
      const auto found = operands_of(part, *loop);
      if (found.empty()) continue;
      std::string names;
      for (const Operand& operand : found) names += (names.empty() ? "" : ", ") + operand.access.base.name;
      Application application;
      application.recipe = "packing";
      application.location = Subject::location(part, *loop);
      application.title = "Pack " + names + " so that the loop " + loop->path + " reads neighbours";
      application.text = "Packing: the innermost loop reads " + names +
                         " with a stride. A transposed copy, made once before the nest, puts what the loop "
                         "reads next to each other: fewer cache lines, and loads that vectorize.";
      application.prior = overall(std::min(0.97, cost_of(subject, part, *loop).share), 1.8);
      application.shape = shape_of(subject, part, *loop);
      result.push_back(std::move(application));
    }
  }
}

}  // namespace

Result<std::string> pack_operands(Subject& subject, const Part& part, const Loop& loop) {
  const auto found = operands_of(part, loop);
  if (found.empty()) return fail(ErrorCode::unsupported, "no operand of the loop can be packed");
  const Loop& outer = outermost(loop);
  const syntax::IndexScope& scope = part.tree->scope();
  const syntax::Effects inside = syntax::effects_of(body_of(loop), scope);
  const syntax::Extent whole = with_pragmas(subject, outer);
  const std::string indent = syntax::indentation_at(subject.unit().source, whole.begin);
  const auto fast_end = end_of(loop, scope);
  if (!fast_end) return fail(ErrorCode::unsupported, "the loop's end cannot be read");
  syntax::Edits edits;
  std::string before;
  std::string after;
  for (const Operand& operand : found) {
    const std::string name = subject.fresh(operand.access.base.name + "_packed");
    const std::string fast = loop.header().variable;
    const std::string slow = operand.slow->header().variable;
    const std::string type = variable_type(loop.header());
    const std::string slow_end = end_of(*operand.slow, scope)->text();
    const std::string count = "(" + fast_end->text() + ")";
    before += "float* const " + name + " = (float*)malloc(sizeof(float) * (size_t)(" + slow_end + ") * (size_t)" +
              count + ");\n" + indent;
    before += "for (" + type + " " + slow + " = 0; " + slow + " < " + slow_end + "; ++" + slow + ")\n" + indent +
              "  for (" + type + " " + fast + " = 0; " + fast + " < " + fast_end->text() + "; ++" + fast + ") " + name +
              "[" + slow + " * " + count + " + " + fast + "] = " + operand.access.base.name + "[" +
              operand.access.subscript->text() + "];\n" + indent;
    after += "\n" + indent + "free(" + name + ");";
    for (const ElementAccess& access : inside.accesses) {
      if (access.base == operand.access.base && access.subscript == operand.access.subscript) {
        edits.replace(access.extent, name + "[" + slow + " * " + count + " + " + fast + "]");
      }
    }
  }
  edits.insert(whole.begin, before);
  edits.insert(whole.end, after);
  TRY_ASSIGN(std::string source, edits.apply(subject.unit().source));
  return with_include(std::move(source), "<stdlib.h>");
}

Recipe packing_recipe() {
  return {"packing", propose_packing, pack};
}

}  // namespace accelopt::recipes
