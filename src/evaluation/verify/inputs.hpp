// SPDX-License-Identifier: Apache-2.0
// Inputs drawn from a seed. The generator is counter-based: element i depends on the seed and on i alone, and on no
// library function whose last bit differs between machines, so a seed gives the same bytes everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/dtype.hpp"
#include "model/init.hpp"
#include "model/task.hpp"

namespace accelopt::evaluation {

struct InputDraw {
  model::InitSpec init;
  model::DType dtype = model::DType::float32;
  std::vector<std::int64_t> shape;  ///< empty: a scalar or a 0-d tensor
  model::Family family = model::Family::as_declared;
  std::uint64_t seed = 0;
};

/// Fills `out` (elements * size_of(dtype) bytes) with the input's elements, row-major. What a family does to the
/// declared value x: positive |x|; scaled_up 1000 x; scaled_down x / 1000; heavy x / v with v uniform in [2^-8, 1) (a
/// Pareto tail cut at 256); sparse x with probability 1/8, else 0; rows x of the row's first element, all along the
/// last axis; late like rows, but for one element in the row's second half; blocks repeats a block of 4 to 64
/// elements along the row, but for one element late in it, and odd rows repeat the row before them, but for another
/// one; signed_zeros x with probability 1/2, else 0 or -0; near_ties the row's first element times 1 + k units in the
/// last place, k under 64 (16 bits and less: 8); extremes the largest number of the range with probability
/// 1/2, the smallest with 1/4: of integers alone; outliers x, but 1000 x for one element in about one row of eight, in
/// two at least, and of indptr one sequence with from a third to all of the total, which runs of empty ones may stand
/// before and behind; coarse x rounded to a grid of 8 to 16 steps of the declared spread (6 deviations), powers of two:
/// to the next one below, above for abs_normal, to the nearest for normal, and never below `low`. permutation, distinct
/// and values stay as declared under every family, indptr under all but outliers; sorted takes scaled_up, scaled_down
/// and coarse alone; integers takes all but those three, heavy, near_ties and outliers.
/// @error invalid_argument: out has another size, an axis is negative, the generator's limits are reversed, an index
/// does not fit in dtype, distinct has fewer numbers than a row, values another number than the input, or an expression
/// is left.
base::Result<void> draw_input(const InputDraw& draw, std::span<std::byte> out);
/// What draw_input would refuse, for `bytes` of output; for those who draw elsewhere. @error as draw_input.
base::Result<void> check_draw(const InputDraw& draw, std::size_t bytes);
/// Whether the elements are integers of 64 bits over more of them than numbers with 52 random bits reach: draw_input
/// alone draws these, and reaches each; where they are most of 2^64, the first ones are drawn twice as often.
bool draws_wide_integers(const InputDraw& draw);
/// The family that the generator's values take: as_declared where `draw.family` would undo what they mean.
model::Family drawn_family(const InputDraw& draw);

/// The rotation over slots: as_declared first, then every family that some input permits, in the order of
/// model::Family. Slot i takes families[i % size].
std::vector<model::Family> families_of_task(const model::Task& task);
model::Family family_of_slot(const model::Task& task, int slot);
/// The family that this input takes in a slot of `slot_family`: as_declared where it does not permit it. What permits
/// scaled_up permits outliers, as indptr does.
model::Family family_of_input(const model::TensorSpec& input, model::Family slot_family);

/// A seed for one input of one slot: different for every argument that differs.
std::uint64_t input_seed(std::uint64_t run_seed, std::string_view workload, int slot, std::string_view input);

/// The step of `perturb`: 2 u.
double perturbation_step(model::DType dtype, const model::Numerics& numerics);
/// Multiplies each value by 1 + 2 u or 1 - 2 u at random: an honest kernel's rounding of its inputs. u is the unit
/// roundoff of `dtype`, or with lower_precision that of the next lower type (float64 to float32, float32 to bfloat16,
/// 16-bit to float8_e4m3fn). Integers, zeros, infinities and NaN stay as they are.
void perturb(std::span<double> values, model::DType dtype, const model::Numerics& numerics, std::uint64_t seed);

}  // namespace accelopt::evaluation
