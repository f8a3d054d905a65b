// SPDX-License-Identifier: Apache-2.0
// Vectors for innermost loops: maps, sums, maxima, exponentials, with vector types in place of what the compiler may
// not do under strict floating-point rules; or pragmas where the compiler can do it once it is told that iterations are
// independent.
#include <algorithm>

#include "agents/recipes/recipes.hpp"
#include "agents/recipes/simd_body.hpp"

namespace accelopt::agents::recipes {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using syntax::Loop;

Result<std::string> vectorize_at(Subject& subject, const Place& place, int vectors) {
  const Loop& loop = *place.loop;
  SimdBody body(subject, *place.part, loop, nullptr);
  TRY(body.analyze(SimdBody::Packing::none));
  const syntax::LoopHeader& header = loop.header();
  const std::string element = body.is_double() ? "double" : "float";
  const std::string width = simd_width(element);
  const std::string count = std::to_string(vectors);
  const std::string j = header.variable;
  const std::string type = variable_type(header);
  const std::string end = subject.fresh(j + "_end");
  const std::string wide = body.emit("1", count);
  std::string text =
      "{  " + std::string(kGeneratedMark) + ": " + count + (vectors == 1 ? " vector" : " vectors") + " at a time\n";
  text += "  const " + type + " " + end + " = " + end_text(subject, header) + ";\n";
  text += "  " + type + " " + j + " = " + begin_text(subject, header) + ";\n";
  text += indented(body.emit_reduction_start(count), "  ");
  const std::string step = vectors == 1 ? width : count + " * " + width;
  text += "  for (; " + end + " - " + j + " >= " + step + "; " + j + " += " + step + ") {\n" + indented(wide, "    ") +
          "  }\n";
  if (vectors > 1) {
    text += "  for (; " + end + " - " + j + " >= " + width + "; " + j + " += " + width + ") {\n" +
            indented(body.emit("1", "1"), "    ") + "  }\n";
  }
  text += indented(body.emit_reduction_end(count), "  ");
  const syntax::Extent original = loop.statement->children.front().extent;
  const std::string indent = syntax::indentation_at(subject.unit().source, loop.statement->extent.begin);
  std::string rest(subject.text(original));
  for (std::size_t at = rest.find("\n" + indent); at != std::string::npos && !indent.empty();
       at = rest.find("\n" + indent, at + 1)) {
    rest.replace(at + 1, indent.size(), "  ");
  }
  text += "  for (; " + j + " < " + end + "; ++" + j + ") " + rest + "\n}";
  if (header.variable_type.empty()) return fail(ErrorCode::unsupported, "the loop's variable outlives it");
  syntax::Edits edits;
  edits.replace(with_pragmas(subject, loop), indented(text, indent).substr(indent.size()));
  TRY_ASSIGN(std::string source, edits.apply(subject.unit().source));
  if (body.calls_sqrt()) source = with_flags(std::move(source), {"-fno-math-errno"});
  return with_prelude(subject, std::move(source), place.part->function->name, body.helpers(), element);
}

bool can_vectorize(Subject& subject, const Part& part, const Loop& loop) {
  if (!loop.children.empty() || subject.is_generated(loop) || loop.header().variable_type.empty()) return false;
  if (const auto trip = trip_count(loop, part.tree->scope()); trip && *trip < 4) return false;
  SimdBody body(subject, part, loop, nullptr);
  return body.analyze(SimdBody::Packing::none).has_value();
}

/// As many vectors as asked for, or as the loop's trip count, where it is known, can fill (vectors of eight).
int fitting(const Part& part, const Loop& loop, int vectors) {
  const auto trip = trip_count(loop, part.tree->scope());
  while (trip && vectors > 1 && *trip < vectors * 16) vectors /= 2;
  return std::max(1, vectors);
}

Result<std::string> vectorize_everywhere(const syntax::Clang& clang, Subject& subject, int vectors) {
  std::string source;
  std::unique_ptr<Subject> current;
  Subject* at = &subject;
  for (int round = 0; round < 32; ++round) {
    bool changed = false;
    for (const Part& part : at->parts()) {
      for (const auto& loop : part.tree->loops()) {
        if (!can_vectorize(*at, part, *loop)) continue;
        auto written = vectorize_at(*at, {&part, loop.get()}, fitting(part, *loop, vectors));
        if (!written) continue;
        source = std::move(*written);
        changed = true;
        break;
      }
      if (changed) break;
    }
    if (!changed) break;
    KernelSource next = at->kernel();
    next.source = source;
    TRY_ASSIGN(current, Subject::read(clang, next));
    at = current.get();
  }
  if (source.empty())
    return fail(ErrorCode::unsupported, "no innermost loop of this kernel can be written for vectors");
  return source;
}

Application application_of(const std::string& location, const std::string& where, int vectors) {
  Application result;
  result.recipe = "vectorize";
  result.location = location;
  result.parameters = {{"vectors", std::to_string(vectors)}};
  result.title = "Write " + where + " for vectors, " + std::to_string(vectors) + " at a time";
  result.text =
      "Vectorize: the iterations of an innermost loop become the lanes of GCC vector types. Sums and maxima are "
      "accumulated in " +
      std::to_string(vectors) +
      " independent vectors, which the compiler must not do by itself under strict floating-point rules, and the "
      "exponential is "
      "computed in the lanes by a polynomial of full precision instead of a library call an element. Elements left "
      "over are "
      "computed as before.";
  return result;
}

void propose(const syntax::Clang&, Subject& subject, std::vector<Application>& result) {
  std::vector<Place> found;
  double gain_total = 0;
  double share_total = 0;
  for (const Part& part : subject.parts()) {
    for (const auto& loop : part.tree->loops()) {
      if (!can_vectorize(subject, part, *loop)) continue;
      found.push_back({&part, loop.get()});
      const double share = cost_of(subject, part, *loop).share;
      SimdBody body(subject, part, *loop, nullptr);
      const bool checked = body.analyze(SimdBody::Packing::none).has_value();
      // What the compiler leaves scalar gains most: calls, roots that may set errno, accumulations.
      const bool hard = checked && (body.calls_exp() || body.calls_sqrt() || !body.reductions().empty());
      gain_total += share * (hard ? 5.0 : 1.05);
      share_total += share;
    }
  }
  if (found.empty()) return;
  const double gain = share_total > 0 ? gain_total / share_total : 1.0;
  for (const auto& [vectors, factor] : {std::pair{2, 1.0}, std::pair{4, 0.8}, std::pair{1, 0.7}}) {
    Application all = application_of("*", found.size() > 1 ? "every innermost loop" : "the innermost loop", vectors);
    all.prior = 1 + (overall(std::min(0.97, share_total), gain) - 1) * factor;
    all.shape = shape_of(subject, *found.front().part, *found.front().loop);
    result.push_back(std::move(all));
  }
  if (found.size() < 2) return;
  for (const Place& place : found) {
    Application one = application_of(Subject::location(*place.part, *place.loop), "the loop " + place.loop->path, 2);
    one.prior = 1 + (overall(std::min(0.97, cost_of(subject, *place.part, *place.loop).share), gain) - 1) * 0.6;
    one.shape = shape_of(subject, *place.part, *place.loop);
    result.push_back(std::move(one));
  }
}

Result<std::string> apply_vectorize(const syntax::Clang& clang, Subject& subject, const Application& application) {
  TRY_ASSIGN(const int vectors, number(application, "vectors"));
  if (vectors < 1 || vectors > 8) return fail(ErrorCode::invalid_argument, "1 to 8 vectors at a time");
  if (application.location == "*") return vectorize_everywhere(clang, subject, vectors);
  TRY_ASSIGN(const Place place, subject.find(application.location));
  return vectorize_at(subject, place, vectors);
}

}  // namespace

Recipe vectorize_recipe() {
  return {"vectorize", propose, apply_vectorize};
}

}  // namespace accelopt::agents::recipes
