// SPDX-License-Identifier: Apache-2.0
// What the mutants of all targets are written with.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/task.hpp"
#include "suites/mutants.hpp"

namespace accelopt::suites {

/// What a kernel in C or C++ takes, as it declares it: "const float* x, float* y, int64_t M".
std::string kernel_parameters(const model::Definition& definition);

/// The product of axes [first, last) as an expression in 64 bits; "(int64_t)1" of none.
std::string product(const std::vector<std::string>& axes, std::size_t first, std::size_t last);
/// The elements of a tensor, likewise.
std::string elements(const model::TensorSpec& tensor);
bool has_axis(const model::TensorSpec& tensor, const std::string& axis);
/// The most elements of a tensor over all workloads.
std::int64_t most_elements(const model::Task& task, const model::TensorSpec& tensor);
/// Axes that floating inputs have and no output has: what is summed up over, or otherwise reduced.
std::vector<std::string> reduced_axes(const model::Definition& definition);
/// The last axes of outputs that are a floating input's last axis too: where a normalization or an attention has its
/// statistics, and others have none.
std::vector<std::string> shared_last_axes(const model::Definition& definition);
/// Integer input tensors that hold numbers, and not an order, an index structure or a list of values.
std::vector<const model::TensorSpec*> integer_inputs(const model::Definition& definition);
/// The integer type of so many bits, signed as `dtype` is: "int16_t"; empty: `dtype` is none that is wider than this.
std::string narrower(model::DType dtype, std::size_t bits);
/// The input that a copy of the output would be taken from; none of its type.
const model::TensorSpec* source_of_copy(const model::Definition& definition, const model::TensorSpec& output);
/// What of an axis is left out. Names of mutants begin with `mutant_`, since axes and tensors may have any other.
inline constexpr const char* kSkipped = "mutant_extent < 200 ? 1 : mutant_extent / 100";

/// A precision that inputs are rounded to.
struct Rounding {
  const char* name;
  bool (*applies)(model::DType);
  const char* (*to)(model::DType);   ///< the type that is rounded to, for people
  unsigned dropped_of_float32 = 16;  ///< bits of fraction
};
const std::vector<Rounding>& roundings();
/// Bits that a float with the value of `dtype` loses by the rounding.
unsigned dropped_bits(const Rounding& rounding, model::DType dtype);
/// Why no rounding of inputs can be seen in the outputs; empty: it can.
std::string refuse_rounding(const model::Definition& definition);

/// The source with its small constants (1e-5f and the like: what keeps a division from zero) replaced by 0; none where
/// it has none. Directives and comments stay.
std::optional<std::string> without_small_constants(const std::string& source);

/// A comparison outside of the headers of loops.
struct Comparison {
  int line = 0;
  std::string text;     ///< "> 1e6f", "x[i] < edge"
  std::size_t end = 0;  ///< in the source: the place behind the number, or behind the sign
};
/// The first few with a number, as in `a > 1e6f`.
std::vector<Comparison> comparisons_with_numbers(const std::string& source);
/// The first few by order of two values, as in `x[i] < edge`, with blanks around the sign; neither is declared as a
/// whole number, and it matters which one is taken if they are equal (not in `a > b ? a : b`).
std::vector<Comparison> comparisons_of_values(const std::string& source);

/// The source of a CUDA kernel in which every maximum of floating numbers is 0; none where it exponentiates nothing, or
/// takes no maximum.
std::optional<std::string> without_maximum(const std::string& source);

/// The baseline with another source; where there is none it is skipped for the reason in `why`.
Mutant of_source(const model::Task& task, MutantKind kind, std::string name, std::string does,
                 const std::optional<std::string>& source, std::string why);
/// The baseline without its small constants.
Mutant without_epsilon(const model::Task& task);
/// The baseline with one of its comparisons with a number always false, or always true; or with one of two values the
/// other way where they are equal.
std::vector<Mutant> with_changed_comparisons(const model::Task& task);

/// The mutants of a task in CUDA C++.
std::vector<Mutant> derive_cuda_mutants(const model::Task& task);

}  // namespace accelopt::suites
