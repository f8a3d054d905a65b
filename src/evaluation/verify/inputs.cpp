// SPDX-License-Identifier: Apache-2.0
// Built with -ffp-contract=off: a fused multiply-add would change last bits from machine to machine.
#include "evaluation/verify/inputs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>

#include "evaluation/verify/dtype_codec.hpp"
#include "evaluation/verify/random_numbers.hpp"

namespace accelopt::evaluation {
namespace {

using model::DType;
using model::Family;
using model::InitKind;

constexpr double kHeavyFloor = 0x1p-8;
constexpr double kScale = 1000;
constexpr double kLeastSpread = 0x1p-1000;
constexpr std::uint64_t kShortestBlock = 4;
constexpr std::uint64_t kBlockLengths = 5;  ///< each twice the one before it

/// Elements [first, first + out.size()) as declared; at most kChunk of them.
void draw_declared(const model::InitSpec& init, std::uint64_t seed, std::uint64_t first, std::span<double> out) {
  const Bits bits(seed, Stream::value);
  switch (init.kind) {
    case InitKind::normal:
    case InitKind::abs_normal:
      draw_normals(seed, first, out);
      for (double& value : out) value = init.first + init.second * value;
      if (init.kind == InitKind::abs_normal) {
        for (double& value : out) value = std::abs(value);
      }
      return;
    case InitKind::uniform:
    case InitKind::sorted:
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = init.first + (init.second - init.first) * bits.uniform(first + i);
      }
      return;
    case InitKind::integers:
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = init.first + std::floor((init.second - init.first) * bits.uniform(first + i));
      }
      return;
    case InitKind::zeros:
      std::fill(out.begin(), out.end(), 0.0);
      return;
    case InitKind::ones:
      std::fill(out.begin(), out.end(), 1.0);
      return;
    default:
      std::fill(out.begin(), out.end(), init.first);
  }
}

/// Integers of 64 bits that numbers of 52 random bits, or doubles at all, do not reach.
struct WideRange {
  std::uint64_t low = 0;    ///< modulo 2^64
  std::uint64_t count = 0;  ///< 0: 2^64
};

/// The range of a draw that has one; others, and ranges that the dtype does not hold, are drawn as doubles.
std::optional<WideRange> wide_range(const InputDraw& draw) {
  const model::InitSpec& init = draw.init;
  const bool is_signed = draw.dtype == DType::int64;
  if (init.kind != InitKind::integers || !(is_signed || draw.dtype == DType::uint64)) return std::nullopt;
  const double least = is_signed ? -0x1p63 : 0;
  const double end = is_signed ? 0x1p63 : 0x1p64;
  const bool is_held = init.first >= least && (init.second < end || (init.second == end && init.rest[1] <= 0));
  const bool is_narrow = init.second - init.first <= 0x1p52 && init.first >= -0x1p53 && init.second <= 0x1p53;
  if (!is_held || is_narrow) return std::nullopt;
  model::InitSpec whole = init;
  whole.first = std::ceil(init.first);
  whole.second = std::ceil(init.second);
  const std::uint64_t low = model::whole_argument(whole, 0);
  return WideRange{low, model::whole_argument(whole, 1) - low};
}

void draw_declared(const WideRange& range, std::uint64_t seed, std::uint64_t first, std::span<std::uint64_t> out) {
  const Bits bits(seed, Stream::value);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint64_t drawn = bits(first + i);
    out[i] = range.low + (range.count == 0 ? drawn : drawn % range.count);
  }
}

/// The families that leave an input's meaning intact; see draw_input.
bool applies(InitKind kind, Family family) {
  if (family == Family::extremes) return kind == InitKind::integers;
  if (family == Family::outliers && kind == InitKind::indptr) return true;
  const bool scales = family == Family::scaled_up || family == Family::scaled_down;
  switch (kind) {
    case InitKind::permutation:
    case InitKind::indptr:
    case InitKind::distinct:
    case InitKind::values:
      return false;
    case InitKind::sorted:
      return scales || family == Family::coarse;
    case InitKind::integers:
      return !scales && family != Family::heavy && family != Family::near_ties && family != Family::outliers &&
             family != Family::coarse;
    default:
      return true;
  }
}

/// Of four elements two are the largest number of the range and one the smallest: sums of them grow.
template <class Value>
void take_extremes(std::uint64_t seed, std::uint64_t first, std::span<Value> values, Value smallest, Value largest) {
  const Bits bits(seed, Stream::extreme);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t drawn = bits(first + i) >> 62;
    if (drawn < 2) values[i] = largest;
    if (drawn == 2) values[i] = smallest;
  }
}

template <class Value>
void make_sparse(std::uint64_t seed, std::uint64_t first, std::span<Value> values) {
  const Bits bits(seed, Stream::sparse);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = bits(first + i) >> 61 == 0 ? values[i] : 0;
}

struct Rows {
  std::size_t count = 1;
  std::size_t length = 1;  ///< of the last axis
};

Rows rows_of(const std::vector<std::int64_t>& shape) {
  Rows rows;
  if (shape.empty()) return rows;
  rows.length = static_cast<std::size_t>(shape.back());
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows.count *= static_cast<std::size_t>(shape[i]);
  return rows;
}

/// In about one row of eight, and in two at least, one element is kScale times what it is declared.
void add_outliers(const InputDraw& draw, std::uint64_t first, std::span<double> values) {
  const Bits bits(draw.seed, Stream::outlier);
  const Rows rows = rows_of(draw.shape);
  const std::uint64_t last = first + values.size();
  const std::uint64_t certain = bits(2 * std::uint64_t{rows.count}) % rows.count;  // and the one behind it
  for (std::uint64_t row = first / rows.length; row * rows.length < last; ++row) {
    const bool is_certain = (row + rows.count - certain) % rows.count < 2;
    if (!is_certain && bits(2 * row) >> 61 != 0) continue;
    const std::uint64_t place = row * rows.length + bits(2 * row + 1) % rows.length;
    if (place >= first && place < last) values[place - first] *= kScale;
  }
}

/// To a grid of 8 to 16 steps of what is declared. Steps are powers of two, so that inputs of like spread share one.
void make_coarse(const model::InitSpec& init, std::span<double> values) {
  const bool is_normal = init.kind == InitKind::normal || init.kind == InitKind::abs_normal;
  const double spread = is_normal ? 6 * std::abs(init.second) : init.second - init.first;
  if (!(spread >= kLeastSpread) || !(is_normal || init.kind == InitKind::uniform || init.kind == InitKind::sorted))
    return;
  // The power of two at or below the spread.
  const double step = std::bit_cast<double>(std::bit_cast<std::uint64_t>(spread) & 0x7ff0000000000000) / 8;
  for (double& value : values) {
    const double steps = value / step;
    value = step * (init.kind == InitKind::abs_normal ? std::ceil(steps) : std::floor(is_normal ? steps + 0.5 : steps));
    if (!is_normal && value < init.first) value = init.first;
  }
}

void transform(const InputDraw& draw, std::uint64_t first, std::span<double> values) {
  const Family family = drawn_family(draw);
  const std::uint64_t seed = draw.seed;
  switch (family) {
    case Family::as_declared:
    case Family::rows:
    case Family::late:
    case Family::blocks:
    case Family::near_ties:
      return;
    case Family::positive:
      for (double& value : values) value = std::abs(value);
      return;
    case Family::scaled_up:
      for (double& value : values) value *= kScale;
      return;
    case Family::scaled_down:
      for (double& value : values) value /= kScale;
      return;
    case Family::heavy: {
      const Bits bits(seed, Stream::heavy);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] /= kHeavyFloor + (1 - kHeavyFloor) * bits.uniform(first + i);
      }
      return;
    }
    case Family::sparse:
      return make_sparse(seed, first, values);
    case Family::signed_zeros: {
      const Bits bits(seed, Stream::sign);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint64_t drawn = bits(first + i) >> 62;
        if (drawn < 2) values[i] = drawn == 0 ? 0.0 : -0.0;
      }
      return;
    }
    case Family::extremes: {
      const double low = draw.init.first;
      return take_extremes(seed, first, values, low, low + std::ceil(draw.init.second - low) - 1);
    }
    case Family::outliers:
      return draw.init.kind == InitKind::indptr ? void() : add_outliers(draw, first, values);
    case Family::coarse:
      return make_coarse(draw.init, values);
  }
}

/// As above; the families that scale are not of integers.
void transform(const InputDraw& draw, const WideRange& range, std::uint64_t first, std::span<std::uint64_t> values) {
  switch (drawn_family(draw)) {
    case Family::positive:
      for (std::uint64_t& value : values) {
        if (draw.dtype == DType::int64 && value >> 63 == 1) value = std::min(0 - value, ~std::uint64_t{0} >> 1);
      }
      return;
    case Family::sparse:
      return make_sparse(draw.seed, first, values);
    case Family::signed_zeros: {
      const Bits bits(draw.seed, Stream::sign);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = bits(first + i) >> 63 == 0 ? 0 : values[i];
      return;
    }
    case Family::extremes:
      return take_extremes(draw.seed, first, values, range.low, range.low + range.count - 1);
    default:
      return;
  }
}

bool is_drawn_by_row(Family family) {
  return family == Family::rows || family == Family::late || family == Family::blocks || family == Family::near_ties;
}

/// Where a row departs from its pattern: somewhere in its second half.
std::size_t late_place(const Bits& bits, std::size_t row, std::size_t length) {
  return length / 2 + static_cast<std::size_t>(bits(2 * row + 1) % (length - length / 2));
}

/// Levels of near_ties: one unit in the last place apart.
std::uint64_t tie_levels(DType dtype) {
  return model::size_of(dtype) >= 4 ? 64 : 8;
}

void part_ties(const InputDraw& draw, std::size_t row, std::span<double> out) {
  const Bits level(draw.seed, Stream::tie);
  const double step = 2 * model::unit_roundoff(draw.dtype);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] *= 1 + step * static_cast<double>(level(row * out.size() + i) % tie_levels(draw.dtype));
  }
}

/// One row of a family that is_drawn_by_row; `row` numbers it, `source` says what is declared.
template <class Source, class Value>
void draw_patterned_row(const InputDraw& draw, const Source& source, std::size_t row, std::span<Value> out) {
  const Bits bits(draw.seed, Stream::late);
  const bool blocks = draw.family == Family::blocks;
  // Odd rows repeat the row before them.
  const std::size_t shown = blocks ? row / 2 * 2 : row;
  const std::size_t length = blocks ? std::size_t{kShortestBlock} << bits(2 * shown) % kBlockLengths : 1;
  draw_declared(source, draw.seed, shown * out.size(), out.first(std::min(length, out.size())));
  for (std::size_t i = length; i < out.size(); ++i) out[i] = out[i - length];
  if constexpr (std::is_floating_point_v<Value>) {
    if (draw.family == Family::near_ties) part_ties(draw, row, out);
  }
  if (draw.family != Family::late && !blocks) return;
  for (const std::size_t departing : {shown, row}) {
    const std::size_t place = late_place(bits, departing, out.size());
    draw_declared(source, draw.seed, departing * out.size() + place, out.subspan(place, 1));
  }
}

/// Largest integer up to which the dtype holds every integer exactly.
double largest_index(DType dtype) {
  switch (dtype) {
    case DType::float64:
    case DType::int64:
    case DType::uint64:
      return 0x1p53;
    case DType::float32:
      return 0x1p24;
    case DType::int32:
      return 0x1p31 - 1;
    case DType::uint32:
      return 0x1p32 - 1;
    case DType::uint16:
      return 0x1p16 - 1;
    case DType::int16:
      return 0x1p15 - 1;
    case DType::int8:
      return 127;
    case DType::uint8:
      return 255;
    case DType::boolean:
      return 1;
    default:
      return 2 / model::unit_roundoff(dtype) / 2;
  }
}

/// The first out.size() places of a shuffle of [low, high) that keeps only what was moved.
void draw_distinct(const model::InitSpec& init, const Bits& bits, std::uint64_t first, std::span<double> out) {
  const double low = std::ceil(init.first);
  const double count = std::ceil(init.second) - low;
  std::unordered_map<std::uint64_t, double> moved;
  const auto at = [&](std::uint64_t place) {
    const auto found = moved.find(place);
    return found == moved.end() ? low + static_cast<double>(place) : found->second;
  };
  for (std::uint64_t i = 0; i < out.size(); ++i) {
    const auto left = count - static_cast<double>(i);
    const std::uint64_t place = i + static_cast<std::uint64_t>(bits.uniform(first + i) * left);
    const double taken = at(place);
    moved[place] = at(i);
    out[i] = taken;
  }
}

/// Offsets of sequences of which one has from a third to all of the total, and which may be empty at the ends.
void draw_long_sequence(double total, const Bits& bits, std::uint64_t first, std::span<double> out) {
  const std::uint64_t sequences = out.size() - 1;
  const auto drawn = [&](std::uint64_t which) { return bits.uniform(first + out.size() + which); };
  const auto below = [&](std::uint64_t which, std::uint64_t end) {
    return static_cast<std::uint64_t>(drawn(which) * static_cast<double>(end));
  };
  const std::uint64_t empty_before = drawn(0) < 0.5 ? below(1, sequences / 4 + 1) : 0;
  const std::uint64_t empty_behind = drawn(2) < 0.5 ? below(3, sequences / 4 + 1) : 0;
  const std::uint64_t others = sequences - empty_before - empty_behind;  // the long one is one of these
  const double length = std::floor(total * (1 + 2 * drawn(4)) / 3);
  const std::uint64_t place = empty_before + below(5, others);
  for (std::uint64_t i = 0; i < out.size(); ++i) out[i] = std::floor(bits.uniform(first + i) * (total - length + 1));
  for (std::uint64_t i = 0; i <= empty_before; ++i) out[i] = 0;
  for (std::uint64_t i = 0; i <= empty_behind; ++i) out[sequences - i] = total - length;
  std::sort(out.begin(), out.end());
  for (std::uint64_t i = place + 1; i < out.size(); ++i) out[i] += length;
}

/// One row of a generator that draws_whole_rows; `row` numbers it.
void draw_structured_row(const InputDraw& draw, std::size_t row, std::span<double> out) {
  const Bits bits(draw.seed, Stream::shuffle);
  const std::uint64_t first = static_cast<std::uint64_t>(row) * out.size();
  if (draw.init.kind == InitKind::permutation) {
    std::iota(out.begin(), out.end(), 0.0);
    for (std::size_t i = out.size(); i > 1; --i) {
      std::swap(out[i - 1], out[static_cast<std::size_t>(bits.uniform(first + i) * static_cast<double>(i))]);
    }
    return;
  }
  if (draw.init.kind == InitKind::distinct) return draw_distinct(draw.init, bits, first, out);
  if (draw.init.kind == InitKind::values) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = draw.init.values[first + i];
    return;
  }
  if (draw.init.kind == InitKind::indptr && draw.family == Family::outliers)
    return draw_long_sequence(draw.init.first, bits, first, out);
  if (draw.init.kind == InitKind::indptr) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::floor(bits.uniform(first + i) * (draw.init.first + 1));
    out.front() = 0;
    out.back() = draw.init.first;
  } else {
    for (std::size_t i = 0; i < out.size(); i += kChunk) {
      draw_declared(draw.init, draw.seed, first + i, out.subspan(i, std::min(kChunk, out.size() - i)));
    }
  }
  std::sort(out.begin(), out.end());
}

}  // namespace

namespace {

/// What distinct, values and unbound expressions ask of the rows.
base::Result<void> check_rows(const model::InitSpec& init, const Rows& rows) {
  const auto refuse = [&](const std::string& why) {
    return base::fail(base::ErrorCode::invalid_argument, model::to_string(init) + ": " + why);
  };
  if (!init.expressions[0].empty() || !init.expressions[1].empty()) return refuse("its axes have no values here");
  const double range = std::ceil(init.second) - std::ceil(init.first);
  if (init.kind == InitKind::distinct && !(static_cast<double>(rows.length) <= range && std::abs(range) <= 0x1p53))
    return refuse("holds fewer numbers than a row, which has " + std::to_string(rows.length));
  if (init.kind == InitKind::values && init.values.size() != rows.count * rows.length)
    return refuse("the input has " + std::to_string(rows.count * rows.length) + " elements");
  return {};
}

/// Fills `out`: row by row where elements depend on their row, else kChunk at a time. `store` writes Values as bytes.
template <class Value, class DrawRow, class DrawChunk, class Store>
void draw_elements(const InputDraw& draw, std::span<std::byte> out, const DrawRow& draw_row,
                   const DrawChunk& draw_chunk, const Store& store) {
  const Rows rows = rows_of(draw.shape);
  const std::size_t size = model::size_of(draw.dtype);
  if (model::draws_whole_rows(draw.init.kind) || is_drawn_by_row(drawn_family(draw))) {
    std::vector<Value> row(rows.length);
    for (std::size_t i = 0; i < rows.count && rows.length > 0; ++i) {
      draw_row(i, std::span(row));
      store(row, out.subspan(i * rows.length * size, rows.length * size));
    }
    return;
  }
  std::array<Value, kChunk> chunk;
  const std::size_t elements = rows.count * rows.length;
  for (std::size_t first = 0; first < elements; first += kChunk) {
    const std::span<Value> values = std::span(chunk).first(std::min(kChunk, elements - first));
    draw_chunk(first, values);
    store(values, out.subspan(first * size, values.size() * size));
  }
}

}  // namespace

base::Result<void> check_draw(const InputDraw& draw, std::size_t bytes) {
  for (const std::int64_t axis : draw.shape) {
    if (axis < 0) return base::fail(base::ErrorCode::invalid_argument, "an axis of an input is negative");
  }
  const Rows rows = rows_of(draw.shape);
  const std::size_t wanted = rows.count * rows.length * model::size_of(draw.dtype);
  if (bytes != wanted) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "an input of " + std::to_string(wanted) + " bytes cannot be drawn into " + std::to_string(bytes));
  }
  const model::InitSpec& init = draw.init;
  const std::string spec = model::to_string(init);
  const bool is_interval = init.kind == InitKind::uniform || init.kind == InitKind::sorted;
  const bool no_integer =
      init.kind == InitKind::integers &&
      !(wide_range(draw) ? model::is_ascending(init) : std::ceil(init.first) < std::ceil(init.second));
  if ((is_interval && !(init.first <= init.second)) || no_integer) {
    return base::fail(base::ErrorCode::invalid_argument, spec + ": the low end must be below the high end");
  }
  double largest = 0;
  if (init.kind == InitKind::permutation) largest = static_cast<double>(rows.length) - 1;
  if (init.kind == InitKind::indptr) largest = init.first;
  if (init.kind == InitKind::distinct) largest = std::ceil(init.second) - 1;
  if (largest > largest_index(draw.dtype)) {
    return base::fail(base::ErrorCode::invalid_argument,
                      spec + ": an index does not fit in " + std::string(model::to_string(draw.dtype)));
  }
  if (init.kind == InitKind::indptr && (init.first < 0 || init.first != std::floor(init.first) || rows.length < 2)) {
    return base::fail(base::ErrorCode::invalid_argument,
                      spec + ": needs a whole number of 0 or more and at least two entries along the last axis");
  }
  return check_rows(init, rows);
}

Family drawn_family(const InputDraw& draw) {
  return applies(draw.init.kind, draw.family) ? draw.family : Family::as_declared;
}

bool draws_wide_integers(const InputDraw& draw) {
  return wide_range(draw).has_value();
}

base::Result<void> draw_input(const InputDraw& draw, std::span<std::byte> out) {
  TRY(check_draw(draw, out.size()));
  if (const auto range = wide_range(draw)) {
    draw_elements<std::uint64_t>(
        draw, out,
        [&](std::size_t row, std::span<std::uint64_t> values) { draw_patterned_row(draw, *range, row, values); },
        [&](std::size_t first, std::span<std::uint64_t> values) {
          draw_declared(*range, draw.seed, first, values);
          transform(draw, *range, first, values);
        },
        [](std::span<const std::uint64_t> values, std::span<std::byte> bytes) {
          std::memcpy(bytes.data(), values.data(), bytes.size());
        });
    return {};
  }
  draw_elements<double>(
      draw, out,
      [&](std::size_t row, std::span<double> values) {
        if (!model::draws_whole_rows(draw.init.kind)) return draw_patterned_row(draw, draw.init, row, values);
        draw_structured_row(draw, row, values);
        transform(draw, row * values.size(), values);
      },
      [&](std::size_t first, std::span<double> values) {
        draw_declared(draw.init, draw.seed, first, values);
        transform(draw, first, values);
      },
      [&](std::span<const double> values, std::span<std::byte> bytes) { encode(draw.dtype, values, bytes); });
  return {};
}

std::vector<Family> families_of_task(const model::Task& task) {
  std::vector<Family> families{Family::as_declared};
  for (const Family family : model::kTransformations) {
    const bool permitted =
        std::any_of(task.definition.inputs.begin(), task.definition.inputs.end(),
                    [&](const model::TensorSpec& input) { return family_of_input(input, family) == family; });
    if (permitted) families.push_back(family);
  }
  return families;
}

Family family_of_slot(const model::Task& task, int slot) {
  const std::vector<Family> families = families_of_task(task);
  return families[static_cast<std::size_t>(slot) % families.size()];
}

Family family_of_input(const model::TensorSpec& input, Family slot_family) {
  if (slot_family == Family::outliers && input.init.kind == InitKind::indptr) return slot_family;
  // What is right for values of another size is right where few of them have it.
  const Family named = slot_family == Family::outliers ? Family::scaled_up : slot_family;
  const bool permitted = std::find(input.families.begin(), input.families.end(), named) != input.families.end();
  return permitted ? slot_family : Family::as_declared;
}

std::uint64_t input_seed(std::uint64_t run_seed, std::string_view workload, int slot, std::string_view input) {
  std::uint64_t seed = mix(run_seed + 0x9e3779b97f4a7c15);
  const auto absorb = [&](std::string_view text) {
    seed = mix(seed ^ (text.size() + 0x9e3779b97f4a7c15));
    for (const char letter : text) seed = mix(seed ^ static_cast<unsigned char>(letter));
  };
  absorb(workload);
  seed = mix(seed + static_cast<std::uint64_t>(slot) * 0x9e3779b97f4a7c15);
  absorb(input);
  return seed;
}

double perturbation_step(DType dtype, const model::Numerics& numerics) {
  DType computed = dtype;
  if (numerics.lower_precision) {
    computed = dtype == DType::float64      ? DType::float32
               : dtype == DType::float32    ? DType::bfloat16
               : model::size_of(dtype) == 2 ? DType::float8_e4m3fn
                                            : dtype;
  }
  return 2 * model::unit_roundoff(computed);
}

void perturb(std::span<double> values, DType dtype, const model::Numerics& numerics, std::uint64_t seed) {
  if (!model::is_floating(dtype)) return;
  const double step = perturbation_step(dtype, numerics);
  const Bits bits(seed, Stream::perturbation);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= bits(i) >> 63 == 0 ? 1 + step : 1 - step;
}

}  // namespace accelopt::evaluation
