// SPDX-License-Identifier: Apache-2.0
// Vectors for innermost loops: maps, sums, maxima, exponentials, with vector types in place of what the compiler may
// not do under strict floating-point rules; or pragmas where the compiler can do it once it is told that iterations are
// independent.
#include <algorithm>

#include "recipes/recipes.hpp"
#include "recipes/simd_body.hpp"

namespace accelopt::recipes {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using syntax::Loop;

/// How loops are written.
struct Form {
  int vectors = 2;
  bool stream = false;  ///< outputs that the kernel never reads go past the caches
  bool pack = false;    ///< strided operands are packed first
};

/// Whether what the loop writes is an output that nothing in the function reads or writes elsewhere.
bool can_stream(const Part& part, const Loop& loop) {
  const syntax::IndexScope& scope = part.tree->scope();
  const syntax::Effects inside = syntax::effects_of(body_of(loop), scope);
  const syntax::Effects whole = syntax::effects_of(part.function->block, scope);
  bool writes = false;
  for (const syntax::ElementAccess& access : inside.accesses) {
    if (!access.write) continue;
    writes = true;
    const bool is_parameter = std::any_of(
        part.function->parameters.begin(), part.function->parameters.end(),
        [&](const syntax::Parameter& parameter) { return parameter.declaration == access.base.declaration; });
    const bool elsewhere =
        std::any_of(whole.accesses.begin(), whole.accesses.end(), [&](const syntax::ElementAccess& other) {
          return other.base == access.base && (other.read || !loop.statement->extent.contains(other.extent));
        });
    if (!is_parameter || elsewhere) return false;
  }
  return writes;
}

Result<std::string> vectorize_at(Subject& subject, const Place& place, const Form& form) {
  const Loop& loop = *place.loop;
  const int vectors = form.vectors;
  const bool stream = form.stream && can_stream(*place.part, loop);
  SimdBody body(subject, *place.part, loop, nullptr);
  if (stream) body.stream_stores();
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
  if (stream) text += std::string("  simd_stream_end") + (body.is_double() ? "_f64" : "") + "();\n";
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
  while (trip && vectors > 1 && *trip < std::int64_t{vectors} * 16) vectors /= 2;
  return std::max(1, vectors);
}

/// The kernel with the loop's operands packed, read again, when the loop can be written for vectors then and could not
/// before.
std::unique_ptr<Subject> packed_for(const syntax::Clang& clang, Subject& subject, const Part& part, const Loop& loop) {
  if (subject.is_generated(loop) || can_vectorize(subject, part, loop)) return nullptr;
  auto text = pack_operands(subject, part, loop);
  if (!text) return nullptr;
  KernelSource next = subject.kernel();
  next.source = std::move(*text);
  auto again = Subject::read(clang, next);
  if (!again) return nullptr;
  // The copies' own loops stand before the nest; the loop is the last one of its name and depth.
  for (const Part& other : (*again)->parts()) {
    if (other.function->name != part.function->name) continue;
    for (auto at = other.tree->loops().rbegin(); at != other.tree->loops().rend(); ++at) {
      const bool alike = (*at)->header().variable == loop.header().variable && (*at)->depth == loop.depth;
      if (alike && can_vectorize(**again, other, **at)) return std::move(*again);
    }
  }
  return nullptr;
}

/// Writes the first loop that can be written. None: there is none.
std::optional<std::string> vectorize_one(const syntax::Clang& clang, Subject& subject, const Form& form) {
  for (const Part& part : subject.parts()) {
    for (const auto& loop : part.tree->loops()) {
      if (can_vectorize(subject, part, *loop)) {
        Form fitted = form;
        fitted.vectors = fitting(part, *loop, form.vectors);
        if (auto written = vectorize_at(subject, {&part, loop.get()}, fitted)) return std::move(*written);
      } else if (form.pack) {
        if (const auto packed = packed_for(clang, subject, part, *loop)) return packed->kernel().source;
      }
    }
  }
  return std::nullopt;
}

Result<std::string> vectorize_everywhere(const syntax::Clang& clang, Subject& subject, const Form& form) {
  constexpr int kMostLoops = 48;
  std::string source;
  std::unique_ptr<Subject> current;
  Subject* at = &subject;
  for (int round = 0; round < kMostLoops; ++round) {
    auto written = vectorize_one(clang, *at, form);
    if (!written) break;
    source = std::move(*written);
    KernelSource next = at->kernel();
    next.source = source;
    TRY_ASSIGN(current, Subject::read(clang, next));
    at = current.get();
  }
  if (source.empty())
    return fail(ErrorCode::unsupported, "no innermost loop of this kernel can be written for vectors");
  return source;
}

Application application_of(const std::string& location, const std::string& where, const Form& form) {
  const std::string count = std::to_string(form.vectors);
  Application result;
  result.recipe = "vectorize";
  result.location = location;
  result.parameters = {{"vectors", count}, {"stream", form.stream ? "1" : "0"}, {"pack", form.pack ? "1" : "0"}};
  result.title = "Write " + where + " for vectors, " + count + " at a time" +
                 (form.stream ? ", outputs stored past the caches" : "") +
                 (form.pack ? ", strided operands packed" : "");
  result.text =
      "Vectorize: the iterations of an innermost loop become the lanes of GCC vector types. Sums and maxima are "
      "accumulated in " +
      count +
      " independent vectors, which the compiler must not do by itself under strict floating-point rules, and the "
      "exponential is "
      "computed in the lanes by a polynomial of full precision instead of a library call an element. Elements left "
      "over are "
      "computed as before.";
  if (form.stream)
    result.text +=
        " Outputs that the kernel does not read again are stored past the caches, which saves reading their lines "
        "first.";
  if (form.pack) result.text += " Operands that the loop walks with a stride are copied, transposed, before the nest.";
  return result;
}

/// What the loops that can be written have in common.
struct Candidates {
  std::vector<Place> places;
  double share = 0;
  double gain = 0;  ///< sum of share times gain
  bool stream = false;
  bool pack = false;
};

Candidates candidates(const syntax::Clang& clang, Subject& subject) {
  Candidates result;
  for (const Part& part : subject.parts()) {
    for (const auto& loop : part.tree->loops()) {
      const bool can = can_vectorize(subject, part, *loop);
      const bool packed = !can && packed_for(clang, subject, part, *loop) != nullptr;
      if (!can && !packed) continue;
      const double share = cost_of(subject, part, *loop).share;
      SimdBody body(subject, part, *loop, nullptr);
      const bool checked = body.analyze(SimdBody::Packing::none).has_value();
      // What the compiler leaves scalar gains most: calls, roots that may set errno, accumulations.
      const bool hard = packed || (checked && (body.calls_exp() || body.calls_sqrt() || !body.reductions().empty()));
      result.share += share;
      result.gain += share * (hard ? 5.0 : 1.05);
      result.stream = result.stream || (can && can_stream(part, *loop));
      result.pack = result.pack || packed;
      if (can) result.places.push_back({&part, loop.get()});
      if (packed && result.places.empty()) result.places.push_back({&part, loop.get()});
    }
  }
  return result;
}

void propose_vectors(const syntax::Clang& clang, Subject& subject, std::vector<Application>& result) {
  const Candidates found = candidates(clang, subject);
  if (found.places.empty()) return;
  const double share = std::min(0.97, found.share);
  const double gain = found.share > 0 ? found.gain / found.share : 1.0;
  const std::string where = found.places.size() > 1 ? "every innermost loop" : "the innermost loop";
  const auto add_all = [&](const Form& form, double factor, double extra) {
    Application all = application_of("*", where, form);
    all.prior = 1 + (overall(share, gain * extra) - 1) * factor;
    all.shape = shape_of(subject, *found.places.front().part, *found.places.front().loop);
    result.push_back(std::move(all));
  };
  for (const auto& [vectors, factor] : {std::pair{2, 1.0}, std::pair{4, 0.8}, std::pair{1, 0.7}}) {
    add_all({vectors, false, found.pack}, factor, 1.0);
  }
  if (found.stream) add_all({2, true, found.pack}, 0.95, 1.25);
  if (found.places.size() < 2) return;
  for (const Place& place : found.places) {
    Application one =
        application_of(Subject::location(*place.part, *place.loop), "the loop " + place.loop->path, {2, false, false});
    if (!can_vectorize(subject, *place.part, *place.loop)) continue;
    one.prior = 1 + (overall(std::min(0.97, cost_of(subject, *place.part, *place.loop).share), gain) - 1) * 0.6;
    one.shape = shape_of(subject, *place.part, *place.loop);
    result.push_back(std::move(one));
  }
}

Result<std::string> apply_vectorize(const syntax::Clang& clang, Subject& subject, const Application& application) {
  Form form;
  TRY_ASSIGN(form.vectors, number(application, "vectors"));
  if (form.vectors < 1 || form.vectors > 8) return fail(ErrorCode::invalid_argument, "1 to 8 vectors at a time");
  const auto is_set = [&](const char* name) {
    const auto at = application.parameters.find(name);
    return at != application.parameters.end() && at->second == "1";
  };
  form.stream = is_set("stream");
  form.pack = is_set("pack");
  if (application.location == "*") return vectorize_everywhere(clang, subject, form);
  TRY_ASSIGN(const Place place, subject.find(application.location));
  return vectorize_at(subject, place, form);
}

}  // namespace

Recipe vectorize_recipe() {
  return {"vectorize", propose_vectors, apply_vectorize};
}

}  // namespace accelopt::recipes
