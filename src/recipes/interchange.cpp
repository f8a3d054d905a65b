// SPDX-License-Identifier: Apache-2.0
// Interchange of two loops, and tiling, which is strip-mining followed by interchange. Where a sum stands between the
// loops
// (`acc = 0; for k acc += ...; c = acc`), it is first moved into the array that it ends in, so that the loops become
// adjacent.
#include <algorithm>

#include "recipes/legality.hpp"
#include "recipes/recipes.hpp"

namespace accelopt::recipes {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using syntax::Expression;
using syntax::ExpressionKind;
using syntax::Loop;
using syntax::Statement;
using syntax::StatementKind;

/// `T acc = first; for (k) { ... acc += ...; } place[...] = f(acc);`
struct SumForm {
  const syntax::Variable* sum = nullptr;
  const Loop* loop = nullptr;         ///< over k
  const Expression* store = nullptr;  ///< the assignment
};

std::optional<SumForm> sum_form(const Part& part, const Loop& columns) {
  const syntax::IndexScope& scope = part.tree->scope();
  if (columns.body.size() != 3 || columns.children.size() != 1) return std::nullopt;
  const Statement& first = *columns.body[0];
  const Statement& last = *columns.body[2];
  if (first.kind != StatementKind::declaration || first.variables.size() != 1 || !columns.body[1]->loop)
    return std::nullopt;
  if (last.kind != StatementKind::expression || last.expression->kind != ExpressionKind::assign ||
      last.expression->text != "=") {
    return std::nullopt;
  }
  const syntax::Variable& sum = first.variables.front();
  const auto target = syntax::element_access(last.expression->operands[0], scope);
  if (!sum.initializer || !sum.dimensions.empty() || !target || !target->subscript ||
      last.expression->operands[0].type != sum.type) {
    return std::nullopt;
  }
  const Loop& inner = *columns.children.front();
  if (!inner.header().canonical || !columns.header().canonical || bounds_use(inner, columns, scope))
    return std::nullopt;
  if (!inner.children.empty()) return std::nullopt;
  const auto stride = target->subscript->coefficient(columns.symbol());
  if (!stride || stride->is_zero()) return std::nullopt;
  // The sum is the only thing that the inner loop changes, and the array that takes it is touched by nothing else.
  const syntax::Effects effects = syntax::effects_of(body_of(inner), scope);
  if (effects.opaque) return std::nullopt;
  for (const syntax::Symbol& symbol : effects.scalars_assigned) {
    if (symbol.declaration != sum.declaration &&
        std::find(effects.declared.begin(), effects.declared.end(), symbol) == effects.declared.end()) {
      return std::nullopt;
    }
  }
  for (const syntax::ElementAccess& access : effects.accesses) {
    if (access.write || access.base == target->base) return std::nullopt;
  }
  for (const auto& access : syntax::effects_of(last, scope).accesses) {
    if (access.base == target->base && !access.write) return std::nullopt;
  }
  return SumForm{&sum, &inner, &*last.expression};
}

std::string body_text(Subject& subject, const Part& part, const Loop& loop,
                      const std::map<std::int64_t, std::string>& names) {
  const syntax::Extent body = loop.statement->children.front().extent;
  return syntax::with_names(subject.unit(), *part.function, body, names);
}

Result<std::string> interchange_sum(Subject& subject, const Part& part, const Loop& columns, const SumForm& form) {
  const std::string place(subject.text(form.store->operands[0].extent));
  const std::map<std::int64_t, std::string> names = {{form.sum->declaration, place}};
  const std::string outer(subject.text(columns.header().extent));
  const std::string inner(subject.text(form.loop->header().extent));
  std::string text =
      outer + " {\n  " + place + " = " + std::string(subject.text(form.sum->initializer->extent)) + ";\n}\n";
  text += inner + " {\n  " + outer + " " + body_text(subject, part, *form.loop, names) + "\n}";
  const Expression& value = form.store->operands[1];
  const bool plain = value.kind == ExpressionKind::name && value.declaration == form.sum->declaration;
  if (!plain) {
    text += "\n" + outer + " {\n  " + place + " = " +
            syntax::with_names(subject.unit(), *part.function, value.extent, names) + ";\n}";
  }
  text = as_one_statement(columns, text);
  syntax::Edits edits;
  const std::string indent = syntax::indentation_at(subject.unit().source, columns.statement->extent.begin);
  edits.replace(with_pragmas(subject, columns), indented(text, indent).substr(indent.size()));
  return edits.apply(subject.unit().source);
}

Result<std::string> interchange(const syntax::Clang&, Subject& subject, const Application& application) {
  TRY_ASSIGN(const Place place, subject.find(application.location));
  if (const auto form = sum_form(*place.part, *place.loop))
    return interchange_sum(subject, *place.part, *place.loop, *form);
  if (!can_interchange(*place.part, *place.loop))
    return fail(ErrorCode::unsupported, "the loops cannot be interchanged");
  return interchanged(subject, *place.loop);
}

/// Mean cost of an access when the loop is innermost: lines of 64 bytes touched an iteration.
double access_cost(const Part& part, const Loop& nest, const Loop& innermost) {
  const syntax::Effects effects = syntax::effects_of(*nest.statement, part.tree->scope());
  double cost = 0;
  for (const syntax::ElementAccess& access : effects.accesses) {
    const auto stride = access.subscript ? access.subscript->coefficient(innermost.symbol()) : std::nullopt;
    cost += !stride ? 1.0 : stride->is_zero() ? 0.02 : *stride == syntax::Polynomial(1) ? 0.0625 : 1.0;
  }
  return cost;
}

void propose_interchange(const syntax::Clang&, Subject& subject, std::vector<Application>& result) {
  for (const Part& part : subject.parts()) {
    for (const auto& loop : part.tree->loops()) {
      if (subject.is_generated(*loop)) continue;
      const auto form = sum_form(part, *loop);
      if (!form && !can_interchange(part, *loop)) continue;
      const Loop& inner = form ? *form->loop : *only_child(*loop);
      const double now = access_cost(part, *loop, inner) + (form ? 0.2 : 0.0);
      const double then = access_cost(part, *loop, *loop);
      const double gain = inner.children.empty() ? std::clamp(now / std::max(then, 0.01), 0.3, 8.0) : 1.0;
      Application application;
      application.recipe = "interchange";
      application.location = Subject::location(part, *loop);
      application.title =
          "Interchange the loops " + loop->header().variable + " and " + inner.header().variable + " of " + loop->path;
      application.text =
          "Interchange: the loop over " + loop->header().variable +
          " becomes the inner one, so that its accesses, which lie next to each "
          "other, follow each other in time and the compiler can vectorize them." +
          std::string(form ? " The sum is kept in the array element that it ends in, set before and finished after."
                           : "");
      application.prior = overall(std::min(0.97, cost_of(subject, part, *loop).share), gain);
      application.shape = shape_of(subject, part, *loop);
      result.push_back(std::move(application));
    }
  }
}

/// Strips the loop, and moves the loop over strips outside of the loop around it where there is one that it may pass.
Result<std::string> tile(const syntax::Clang&, Subject& subject, const Application& application) {
  TRY_ASSIGN(const Place place, subject.find(application.location));
  TRY_ASSIGN(const int size, number(application, "size"));
  if (size < 2) return fail(ErrorCode::invalid_argument, "a tile has at least 2 iterations");
  const Loop& loop = *place.loop;
  const Loop* outer = loop.parent;
  if (outer == nullptr || only_child(*outer) != &loop || !can_interchange(*place.part, *outer) ||
      loop.header().step != 1) {
    return fail(ErrorCode::unsupported, "the loop cannot be tiled past the loop around it");
  }
  const syntax::LoopHeader& header = loop.header();
  const std::string start = subject.fresh(header.variable + "_tile");
  const std::string last = subject.fresh(header.variable + "_last");
  const std::string type = variable_type(header);
  const std::string end = end_text(subject, header);
  const std::string step = std::to_string(size);
  std::string text = "for (" + type + " " + start + " = " + begin_text(subject, header) + "; " + start + " < " + end +
                     "; " + start + " += " + step + ") {\n";
  text += "  const " + type + " " + last + " = " + end + " - " + start + " < " + step + " ? " + end + " : " + start +
          " + " + step + ";\n";
  text += "  " + std::string(subject.text(outer->header().extent)) + " {\n    " + header_text(header, start, last) +
          " " + std::string(subject.text(loop.statement->children.front().extent)) + "\n  }\n}";
  syntax::Edits edits;
  const std::string indent = syntax::indentation_at(subject.unit().source, outer->statement->extent.begin);
  edits.replace(with_pragmas(subject, *outer), indented(text, indent).substr(indent.size()));
  return edits.apply(subject.unit().source);
}

void propose_tile(const syntax::Clang&, Subject& subject, std::vector<Application>& result) {
  for (const Part& part : subject.parts()) {
    for (const auto& loop : part.tree->loops()) {
      const Loop* outer = loop->parent;
      if (outer == nullptr || subject.is_generated(*loop) || only_child(*outer) != loop.get() ||
          !can_interchange(part, *outer))
        continue;
      if (loop->header().step != 1 || loop->header().variable.find("_tile") != std::string::npos ||
          outer->header().variable.find("_tile") != std::string::npos) {
        continue;
      }
      for (const int size : {64, 256}) {
        if (const auto trip = trip_count(*loop, part.tree->scope()); trip && *trip <= size) continue;
        Application application;
        application.recipe = "tile";
        application.location = Subject::location(part, *loop);
        application.parameters = {{"size", std::to_string(size)}};
        application.title = "Tile the loop " + loop->path + " by " + std::to_string(size);
        application.text = "Tile: the loop is cut into strips of " + std::to_string(size) +
                           " iterations, and the loop around it runs once for each "
                           "strip, so that what a strip touches stays in the cache while the outer loop reuses it.";
        application.prior = size == 64 ? 1.02 : 1.01;
        application.shape = shape_of(subject, part, *loop);
        result.push_back(std::move(application));
      }
    }
  }
}

}  // namespace

Recipe interchange_recipe() {
  return {"interchange", propose_interchange, interchange};
}
Recipe tile_recipe() {
  return {"tile", propose_tile, tile};
}

}  // namespace accelopt::recipes
