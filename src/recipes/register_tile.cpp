// SPDX-License-Identifier: Apache-2.0
// Unroll-and-jam with scalar replacement: a block of rows by a block of columns is computed at once, its sums held in
// vector registers over the whole inner loop.
#include <algorithm>

#include "recipes/legality.hpp"
#include "recipes/recipes.hpp"
#include "recipes/simd_body.hpp"

namespace accelopt::recipes {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using syntax::Loop;

/// Shape of a tile.
struct Tile {
  int rows = 6;
  int vectors = 2;
  SimdBody::Packing packing = SimdBody::Packing::all;
  int block = 48;  ///< iterations of a loop that has to be split first
};

/// Elements of a panel that stays on the stack; more comes from the heap.
constexpr std::int64_t kStackTrip = 2048;

bool bounds_vary(const Loop& loop, const syntax::IndexScope& scope, const Loop& by) {
  const auto begin = begin_of(loop, scope);
  const auto end = end_of(loop, scope);
  return !begin || !end || begin->uses(by.symbol()) || end->uses(by.symbol());
}

/// The rows' body is the lanes' loop and nothing else that computes.
bool is_alone(const Loop& rows, const Loop& lanes, const syntax::IndexScope& scope) {
  return std::all_of(rows.body.begin(), rows.body.end(), [&](const syntax::Statement* statement) {
    return statement == lanes.statement || is_alias(*statement, scope);
  });
}

class TileWriter {
 public:
  TileWriter(Subject& subject, const Part& part, const Loop& lanes, const Tile& tile)
      : subject_(subject),
        part_(part),
        scope_(part.tree->scope()),
        lanes_(lanes),
        rows_(*lanes.parent),
        tile_(tile),
        body_(subject, part, lanes, lanes.parent) {}

  /// @error unsupported: the nest has another form.
  Result<void> check() {
    if (!is_alone(rows_, lanes_, scope_)) return fail(ErrorCode::unsupported, "other statements stand beside the loop");
    if (bounds_vary(lanes_, scope_, rows_)) return fail(ErrorCode::unsupported, "the inner bounds vary with the rows");
    TRY(body_.analyze(tile_.packing));
    if (body_.accumulators() == 0) return fail(ErrorCode::unsupported, "nothing is accumulated over an inner loop");
    return {};
  }

  Result<std::string> write() {
    TRY(check());
    declare();
    open_panels();
    write_columns();
    const std::string indent = syntax::indentation_at(subject_.unit().source, rows_.statement->extent.begin);
    syntax::Edits edits;
    edits.replace(with_pragmas(subject_, rows_), indented(text_, indent).substr(indent.size()));
    TRY_ASSIGN(std::string source, edits.apply(subject_.unit().source));
    if (heap_) source = with_include(std::move(source), "<stdlib.h>");
    if (body_.calls_sqrt()) source = with_flags(std::move(source), {"-fno-math-errno"});
    return with_prelude(subject_, std::move(source), part_.function->name, body_.helpers(), element());
  }

 private:
  [[nodiscard]] std::string element() const { return body_.is_double() ? "double" : "float"; }

  void declare() {
    rows_count_ = subject_.fresh("tile_rows");
    vectors_ = subject_.fresh("tile_vectors");
    width_ = subject_.fresh("tile_width");
    columns_ = std::to_string(tile_.vectors) + " * " + simd_width(element());
    text_ = "{  " + std::string(kGeneratedMark) + ": " + std::to_string(tile_.rows) + " rows by " +
            std::to_string(tile_.vectors) + " vectors in registers\n";
    text_ += "  enum { " + rows_count_ + " = " + std::to_string(tile_.rows) + ", " + vectors_ + " = " +
             std::to_string(tile_.vectors) + ", " + width_ + " = " + columns_ + " };\n";
    first_row_ = bound(rows_, begin_of(rows_, scope_), "first");
    last_row_ = bound(rows_, end_of(rows_, scope_), "end");
    first_column_ = bound(lanes_, begin_of(lanes_, scope_), "first");
    last_column_ = bound(lanes_, end_of(lanes_, scope_), "end");
  }

  std::string bound(const Loop& loop, const std::optional<syntax::Polynomial>& value, const std::string& word) {
    const std::string name = subject_.fresh(loop.header().variable + "_" + word);
    const std::string text = value             ? value->text()
                             : word == "first" ? begin_text(subject_, loop.header())
                                               : end_text(subject_, loop.header());
    text_ += "  const " + variable_type(loop.header()) + " " + name + " = " + text + ";\n";
    return name;
  }

  void open_panels() {
    for (Packed& panel : body_.packed()) {
      panel.panel = subject_.fresh(panel.base.name + "_panel");
      const syntax::LoopHeader& header = *panel.loop->loop;
      const auto begin = syntax::polynomial(*header.begin, scope_);
      auto end = syntax::polynomial(*header.end, scope_);
      if (end && header.inclusive) *end += syntax::Polynomial(1);
      const std::string from = begin ? begin->text() : begin_text(subject_, header);
      const std::string to = end ? end->text() : end_text(subject_, header);
      text_ += "  enum { " + panel.panel + "_width = " + columns_ + " };\n";
      const auto trip = begin && end ? (*end - *begin).value(scope_.constants) : std::nullopt;
      if (trip && *trip > 0 && *trip <= kStackTrip) {
        text_ += "  " + element() + " " + panel.panel + "[" + std::to_string(*trip) + " * " + panel.panel +
                 "_width] __attribute__((aligned(64)));\n";
      } else {
        heap_ = true;
        text_ += "  " + element() + "* const " + panel.panel + " = (" + element() + "*)aligned_alloc(64, ((size_t)(" +
                 to + " - (" + from + ")) * " + panel.panel + "_width * sizeof(" + element() + ") + 63) / 64 * 64);\n";
        closing_ += "  free(" + panel.panel + ");\n";
      }
    }
  }

  void write_panel(const Packed& packed) {
    const syntax::LoopHeader& header = *packed.loop->loop;
    const std::string column = subject_.fresh("tc");
    const auto begin = syntax::polynomial(*header.begin, scope_);
    const std::string from = begin ? begin->text() : begin_text(subject_, header);
    const auto source = packed.subscript.replaced(
        lanes_.symbol(), syntax::Polynomial(lanes_.symbol()) + syntax::Polynomial(syntax::Symbol{column, -1}));
    const std::string place = from == "0" ? header.variable : "(" + header.variable + " - (" + from + "))";
    text_ += "    for (" + variable_type(header) + " " + header.variable + " = " + from + "; " + header.variable +
             " < " + end_text(subject_, header) + "; ++" + header.variable + ")\n";
    text_ += "      for (int " + column + " = 0; " + column + " < " + width_ + "; ++" + column + ") " + packed.panel +
             "[" + place + " * " + width_ + " + " + column + "] = " + packed.base.name + "[" + source.text() + "];\n";
  }

  void write_columns() {
    const std::string j = lanes_.header().variable;
    const std::string i = rows_.header().variable;
    const std::string j_type = variable_type(lanes_.header());
    const std::string i_type = variable_type(rows_.header());
    const std::string column = subject_.fresh(j + "_from");
    text_ += "  " + j_type + " " + column + " = " + first_column_ + ";\n";
    const bool again = body_.idempotent();
    if (again) {
      text_ += "  for (; " + column + " < " + last_column_ + " && " + last_column_ + " - " + first_column_ +
               " >= " + width_ + "; " + column + " += " + width_ + ") {\n";
      text_ += "    // The last tile overlaps the one before it where the width is no multiple.\n";
      text_ += "    const " + j_type + " " + j + " = " + last_column_ + " - " + column + " < " + width_ + " ? " +
               last_column_ + " - " + width_ + " : " + column + ";\n";
    } else {
      text_ +=
          "  for (; " + last_column_ + " - " + column + " >= " + width_ + "; " + column + " += " + width_ + ") {\n";
      text_ += "    const " + j_type + " " + j + " = " + column + ";\n";
    }
    for (const Packed& packed : body_.packed()) write_panel(packed);
    const std::string row = subject_.fresh(i + "_from");
    text_ += "    " + i_type + " " + row + " = " + first_row_ + ";\n";
    if (again) {
      text_ += "    for (; " + row + " < " + last_row_ + " && " + last_row_ + " - " + first_row_ +
               " >= " + rows_count_ + "; " + row + " += " + rows_count_ + ") {\n";
      text_ += "      const " + i_type + " " + i + " = " + last_row_ + " - " + row + " < " + rows_count_ + " ? " +
               last_row_ + " - " + rows_count_ + " : " + row + ";\n";
    } else {
      text_ +=
          "    for (; " + last_row_ + " - " + row + " >= " + rows_count_ + "; " + row + " += " + rows_count_ + ") {\n";
      text_ += "      const " + i_type + " " + i + " = " + row + ";\n";
    }
    text_ += indented(body_.emit(rows_count_, vectors_), "      ");
    text_ += "    }\n";
    text_ += "    for (; " + row + " < " + last_row_ + "; ++" + row + ") {\n";
    text_ += "      const " + i_type + " " + i + " = " + row + ";\n";
    text_ += indented(body_.emit("1", vectors_), "      ");
    text_ += "    }\n  }\n";
    text_ += closing_;
    write_rest(column);
    text_ += "}";
  }

  /// Columns that no whole tile covers, as they were written.
  void write_rest(const std::string& column) {
    const std::string i = rows_.header().variable;
    const std::string j = lanes_.header().variable;
    text_ += "  for (" + variable_type(rows_.header()) + " " + i + " = " + first_row_ + "; " + i + " < " + last_row_ +
             " && " + column + " < " + last_column_ + "; ++" + i + ") {\n";
    for (const syntax::Statement* statement : rows_.body) {
      if (statement != lanes_.statement) text_ += "    " + std::string(subject_.text(statement->extent)) + "\n";
    }
    const syntax::Extent body = lanes_.statement->children.front().extent;
    const std::string indent = syntax::indentation_at(subject_.unit().source, lanes_.statement->extent.begin);
    std::string original(subject_.text(body));
    for (std::size_t at = original.find("\n" + indent); at != std::string::npos && !indent.empty();
         at = original.find("\n" + indent, at + 1)) {
      original.replace(at + 1, indent.size(), "    ");
    }
    text_ += "    for (" + variable_type(lanes_.header()) + " " + j + " = " + column + "; " + j + " < " + last_column_ +
             "; ++" + j + ") " + original + "\n  }\n";
  }

  Subject& subject_;
  const Part& part_;
  const syntax::IndexScope& scope_;
  const Loop& lanes_;
  const Loop& rows_;
  Tile tile_;
  SimdBody body_;
  std::string text_;
  std::string closing_;
  std::string rows_count_, vectors_, width_, columns_;
  std::string first_row_, last_row_, first_column_, last_column_;
  bool heap_ = false;
};

/// The body can be tiled once the loop around it holds nothing else.
Result<int> accumulators_of(Subject& subject, const Part& part, const Loop& lanes, SimdBody::Packing packing) {
  if (lanes.parent == nullptr || subject.is_generated(lanes)) return fail(ErrorCode::unsupported, "there are no rows");
  if (bounds_vary(lanes, part.tree->scope(), *lanes.parent)) return fail(ErrorCode::unsupported, "the bounds vary");
  SimdBody body(subject, part, lanes, lanes.parent);
  body.assume_split();
  TRY(body.analyze(packing));
  if (body.accumulators() == 0) return fail(ErrorCode::unsupported, "nothing is accumulated");
  return body.accumulators();
}

/// Cuts that leave the lanes' loop alone in its rows' loop, and the group that it is then in.
std::vector<std::size_t> cuts_around(const Loop& rows, const Loop& lanes, const syntax::IndexScope& scope,
                                     std::size_t& group) {
  std::vector<std::size_t> cuts;
  group = 0;
  for (std::size_t i = 0; i < rows.body.size(); ++i) {
    if (rows.body[i] != lanes.statement) continue;
    const bool something =
        std::any_of(rows.body.begin(), rows.body.begin() + static_cast<std::ptrdiff_t>(i),
                    [&](const syntax::Statement* statement) { return !is_alias(*statement, scope); });
    if (something) {
      cuts.push_back(i);
      group = 1;
    }
    if (i + 1 < rows.body.size()) cuts.push_back(i + 1);
  }
  return cuts;
}

Result<std::string> tile_at(const syntax::Clang& clang, Subject& subject, const Place& place, const Tile& tile) {
  const Loop* lanes = place.loop;
  if (lanes->parent == nullptr)
    return fail(ErrorCode::invalid_argument, "there is no loop of rows around " + lanes->path);
  const syntax::IndexScope& scope = place.part->tree->scope();
  if (is_alone(*lanes->parent, *lanes, scope)) return TileWriter(subject, *place.part, *lanes, tile).write();
  std::size_t group = 0;
  const auto cuts = cuts_around(*lanes->parent, *lanes, scope, group);
  TRY_ASSIGN(std::string split, split_loop(subject, *place.part, *lanes->parent, cuts, tile.block));
  KernelSource next = subject.kernel();
  next.source = std::move(split);
  TRY_ASSIGN(const auto again, Subject::read(clang, next));
  for (const Part& part : again->parts()) {
    if (part.function->name != place.part->function->name) continue;
    const Loop* rows = loop_of_group(part, lanes->parent->path, group);
    if (rows == nullptr || rows->children.size() != 1) break;
    return TileWriter(*again, part, *rows->children.front(), tile).write();
  }
  return fail(ErrorCode::unsupported, "the loop was not found again after it was split");
}

/// Every loop that can be the lanes of a tile, outermost first.
std::vector<Place> sites(Subject& subject, SimdBody::Packing packing) {
  std::vector<Place> result;
  for (const Part& part : subject.parts()) {
    for (const auto& loop : part.tree->loops()) {
      if (accumulators_of(subject, part, *loop, packing)) result.push_back({&part, loop.get()});
    }
  }
  return result;
}

Result<Tile> tile_of(const Application& application) {
  Tile tile;
  TRY_ASSIGN(tile.rows, number(application, "rows"));
  TRY_ASSIGN(tile.vectors, number(application, "vectors"));
  TRY_ASSIGN(tile.block, number(application, "block"));
  TRY_ASSIGN(const int pack, number(application, "pack"));
  if (tile.rows < 1 || tile.rows > 16 || tile.vectors < 1 || tile.vectors > 8 || tile.block < 1) {
    return fail(ErrorCode::invalid_argument, "a tile has 1 to 16 rows, 1 to 8 vectors and a block of at least 1");
  }
  tile.packing = pack == 2 ? SimdBody::Packing::all : pack == 1 ? SimdBody::Packing::strided : SimdBody::Packing::none;
  return tile;
}

/// The kernel read again from a changed text.
Result<std::unique_ptr<Subject>> reread(const syntax::Clang& clang, const Subject& subject, std::string source) {
  KernelSource next = subject.kernel();
  next.source = std::move(source);
  return Subject::read(clang, next);
}

/// Applies to the first site that takes it. None: no site does.
std::optional<std::string> tile_one(const syntax::Clang& clang, Subject& subject, const Tile& tile) {
  for (const Place& place : sites(subject, tile.packing)) {
    Tile fitted = tile;
    const int accumulators = accumulators_of(subject, *place.part, *place.loop, tile.packing).value_or(1);
    if (accumulators > 1) fitted.rows = std::max(1, tile.rows / accumulators);
    if (auto written = tile_at(clang, subject, place, fitted)) return std::move(*written);
  }
  return std::nullopt;
}

/// The loop of the same place in a kernel that was read again.
std::optional<Place> same_place(const Subject& again, const Part& part, const Loop& loop) {
  auto place = again.find(Subject::location(part, loop));
  return place ? std::optional(*place) : std::nullopt;
}

/// `for i: for k: for j: c[i,j] += ...`: with k and j interchanged, the sum can be held in registers.
std::optional<std::string> tile_interchanged(const syntax::Clang& clang, Subject& subject, const Tile& tile) {
  for (const Part& part : subject.parts()) {
    for (const auto& loop : part.tree->loops()) {
      if (loop->parent == nullptr || subject.is_generated(*loop) || loop->children.size() != 1) continue;
      if (!loop->children.front()->children.empty()) continue;
      std::unique_ptr<Subject> adjacent;
      std::optional<Place> place = Place{&part, loop.get()};
      if (only_child(*loop) == nullptr) {
        auto text = perfected(subject, part, *loop);
        if (!text) continue;
        auto again = reread(clang, subject, std::move(*text));
        if (!again) continue;
        adjacent = std::move(*again);
        place = same_place(*adjacent, part, *loop);
      }
      if (!place || !can_interchange(*place->part, *place->loop)) continue;
      auto text = interchanged(adjacent ? *adjacent : subject, *place->loop);
      if (!text) continue;
      auto again = reread(clang, subject, std::move(*text));
      if (!again) continue;
      if (auto written = tile_one(clang, **again, tile)) return written;
    }
  }
  return std::nullopt;
}

/// Applies to every site, one after another, reading the text anew in between.
Result<std::string> tile_everywhere(const syntax::Clang& clang, Subject& subject, const Tile& tile) {
  constexpr int kMostSites = 8;
  std::string source;
  std::unique_ptr<Subject> current;
  Subject* at = &subject;
  for (int round = 0; round < kMostSites; ++round) {
    auto written = tile_one(clang, *at, tile);
    if (!written) written = tile_interchanged(clang, *at, tile);
    if (!written) break;
    source = std::move(*written);
    TRY_ASSIGN(current, reread(clang, *at, source));
    at = current.get();
  }
  if (source.empty()) return fail(ErrorCode::unsupported, "no nest of this kernel can be held in registers");
  return source;
}

struct Variant {
  int rows;
  int vectors;
  int pack;
  int block;
  double factor;  ///< of the prior
};

/// Sums fill 12 to 16 of the registers that AVX2 has; AVX-512 has twice as many and needs no more to hide the latency.
constexpr Variant kVariants[] = {{6, 2, 2, 48, 1.0},  {6, 2, 1, 48, 0.9},  {4, 3, 2, 48, 0.8},
                                 {8, 3, 2, 48, 0.55}, {4, 2, 2, 32, 0.75}, {3, 4, 2, 48, 0.7},
                                 {12, 2, 2, 48, 0.5}, {6, 2, 2, 96, 0.65}, {8, 1, 2, 48, 0.6}};

Application application_of(const Variant& variant, const std::string& location, const std::string& where) {
  Application result;
  result.recipe = "register tile";
  result.location = location;
  result.parameters = {{"rows", std::to_string(variant.rows)},
                       {"vectors", std::to_string(variant.vectors)},
                       {"pack", std::to_string(variant.pack)},
                       {"block", std::to_string(variant.block)}};
  const std::string packed = variant.pack == 2   ? ", operand panels packed"
                             : variant.pack == 1 ? ", strided operands packed"
                                                 : "";
  result.title = "Hold tiles of " + std::to_string(variant.rows) + " rows by " + std::to_string(variant.vectors) +
                 " vectors of " + where + " in registers" + packed +
                 (variant.block == 48 ? "" : ", blocks of " + std::to_string(variant.block));
  result.text =
      "Unroll-and-jam: " + std::to_string(variant.rows) + " iterations of the loop over rows and " +
      std::to_string(variant.vectors) +
      " vectors of the loop over columns are computed together, their sums in vector registers over the whole inner "
      "loop (scalar "
      "replacement). Each value that is loaded then serves several multiply-adds, and the independent sums hide the "
      "latency of the "
      "multiply-add. " +
      (variant.pack > 0
           ? "A panel of the operand that the rows share is copied to contiguous memory once and reused by all rows. "
           : "") +
      "Where other statements share the rows' loop, it is split first, in blocks of " + std::to_string(variant.block) +
      " rows.";
  return result;
}

void propose_register_tiles(const syntax::Clang& clang, Subject& subject, std::vector<Application>& result) {
  const std::vector<Place> found = sites(subject, SimdBody::Packing::all);
  // Nests that have to be interchanged first are not among the sites; what else a kernel does is then small beside
  // them.
  double share = found.empty() ? 0.9 : 0;
  for (const Place& place : found) share += cost_of(subject, *place.part, *place.loop->parent).share;
  share = std::min(share, 0.97);
  const bool several = found.size() > 1;
  for (const Variant& variant : kVariants) {
    Application all = application_of(variant, "*", several ? "every accumulating nest" : "the accumulating nest");
    // The variants differ in numbers only: what the first one shows holds for all.
    if (&variant == kVariants && !apply(clang, subject.kernel(), all)) return;
    all.prior = 1 + (overall(share, 25) - 1) * variant.factor;
    all.shape = found.empty() ? "d3.map.unit" : shape_of(subject, *found.front().part, *found.front().loop->parent);
    result.push_back(std::move(all));
  }
  if (!several) return;
  for (const Place& place : found) {
    Application one =
        application_of(kVariants[0], Subject::location(*place.part, *place.loop), "the nest " + place.loop->path);
    one.prior = 1 + (overall(std::min(0.97, cost_of(subject, *place.part, *place.loop->parent).share), 25) - 1) * 0.6;
    one.shape = shape_of(subject, *place.part, *place.loop->parent);
    result.push_back(std::move(one));
  }
}

Result<std::string> apply_tile(const syntax::Clang& clang, Subject& subject, const Application& application) {
  TRY_ASSIGN(const Tile tile, tile_of(application));
  if (application.location == "*") return tile_everywhere(clang, subject, tile);
  TRY_ASSIGN(const Place place, subject.find(application.location));
  return tile_at(clang, subject, place, tile);
}

}  // namespace

Recipe register_tile_recipe() {
  return {"register tile", propose_register_tiles, apply_tile};
}

}  // namespace accelopt::recipes
