// SPDX-License-Identifier: Apache-2.0
// The check kernels as functions: they run in the device's stream, in the order of the calls.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "evaluation/numerics.hpp"
#include "targets/cuda/card_device.hpp"

namespace accelopt::targets::cuda {

/// Bytes on the device under a secret mask: they tell nothing to who reads them, and who changes them makes noise.
struct MaskedMemory {
  DeviceMemory memory;
  std::uint64_t bytes = 0;
  std::uint64_t key = 0;
  std::uint64_t fingerprint = 0;  ///< of what lies there
};

/// One output of a slot: what it must be, and what it may be off by.
struct KeptOutput {
  model::DType dtype = model::DType::float32;
  std::uint64_t count = 0;
  MaskedMemory expected;  ///< doubles; of integers their own bytes
  MaskedMemory rows;      ///< doubles; none of integers
  evaluation::Bounds bounds;
};

class Checks {
 public:
  /// `cubin` is that of kernels/check_kernels.cu. @error as CardDevice.
  static base::Result<std::unique_ptr<Checks>> create(CardDevice& device, const std::string& cubin);

  base::Result<void> draw(DevicePointer to, const SlotInput& input);
  /// `step` over 0: perturbed.
  base::Result<void> to_real(DevicePointer to, model::DType real, DevicePointer from, model::DType dtype,
                             std::uint64_t count, double step, std::uint64_t seed);
  /// Copies the bytes under a new mask.
  base::Result<MaskedMemory> hide(DevicePointer from, std::uint64_t bytes);
  /// Whether nobody has changed what is hidden there. Waits for the device.
  base::Result<bool> intact(const std::vector<const MaskedMemory*>& hidden);
  base::Result<void> reveal(DevicePointer to, const MaskedMemory& from);
  /// Sets the flag (32 bits) unless the bytes are those that are hidden.
  base::Result<void> differs(DevicePointer bytes, const MaskedMemory& hidden, DevicePointer flag);
  /// A random NaN of the dtype, another one an element; any bits for integers.
  base::Result<void> poison(DevicePointer to, std::uint64_t bytes, model::DType dtype, std::uint64_t seed);
  base::Result<void> write_canaries(DevicePointer base, std::uint64_t begin, std::uint64_t end, std::uint64_t seed);
  base::Result<void> check_canaries(DevicePointer base, std::uint64_t begin, std::uint64_t end, std::uint64_t seed,
                                    DevicePointer flag);
  base::Result<void> zero(DevicePointer to, std::uint64_t bytes);
  /// Writes twice the last-level cache, and drops what was written.
  base::Result<void> flush();
  /// Holds the stream until flag[0], in host memory, is written; flag[1]: it was not within the limit.
  base::Result<void> block(DevicePointer flag, std::uint64_t limit_ns);
  /// {cycles, nanoseconds} over the span.
  base::Result<void> measure_clock(DevicePointer out, std::uint64_t span_ns);

  /// Compares an output with what is kept. Waits for the device.
  base::Result<evaluation::Comparison> compare(DevicePointer actual, const KeptOutput& kept);
  /// Where an output differs from one of before by more than it may. Waits for the device.
  base::Result<std::optional<evaluation::Disagreement>> disagreement(DevicePointer actual, const KeptOutput& kept,
                                                                     const MaskedMemory& before);

  // What an honest kernel may be off by: first the sizes of what is expected, in the clear at `exact`; then run by run.
  enum class HonestKind { in_float, perturbed, perturbed_in_float };
  struct HonestRun {
    DevicePointer output = 0;
    bool is_float = false;
    double share = 1;
    HonestKind kind = HonestKind::perturbed_in_float;
  };
  base::Result<void> begin_calibration(DevicePointer exact, const KeptOutput& output,
                                       const std::vector<std::int64_t>& shape, evaluation::HonestErrors& errors);
  base::Result<void> add_run(DevicePointer exact, const KeptOutput& output, const std::vector<std::int64_t>& shape,
                             const HonestRun& run, evaluation::HonestErrors& errors);

 private:
  enum Kernel : std::size_t {
    k_draw,  // in the order of the names in card_checks.cpp
    k_to_real,
    k_mask,
    k_fingerprint,
    k_differs,
    k_poison,
    k_canary_write,
    k_canary_check,
    k_zero,
    k_flush,
    k_discard,
    k_block,
    k_clock,
    k_row_sizes,
    k_norm,
    k_run_error,
    k_sum,
    k_compare,
    k_worst,
    k_examine,
    k_exact,
    k_examine_exact,
    k_agree,
    k_examine_kept,
    k_bands,
    k_band_example,
    k_count
  };
  explicit Checks(CardDevice& device, DeviceModule module) : device_(device), module_(std::move(module)) {}
  base::Result<void> prepare();
  template <class... Arguments>
  base::Result<void> run(Kernel kernel, std::uint32_t blocks, std::uint32_t threads, Arguments... arguments);
  /// Enough threads for so many elements.
  template <class... Arguments>
  base::Result<void> each(Kernel kernel, std::uint64_t elements, Arguments... arguments);
  /// The sum of what kSumThreads threads left in `partial_`.
  base::Result<std::vector<std::uint64_t>> fingerprints(const std::vector<const MaskedMemory*>& hidden);
  base::Result<double> summed();
  /// evaluation::BandSums of what lies at `expected`: counts, squares, the errors of `other`, or those of rounding.
  enum class BandSum { elements, norms, errors, rounding };
  struct BandRequest {
    DevicePointer expected = 0;
    std::uint64_t key = 0;  ///< of its mask; without one it lies in the clear
    bool masked = false;
    DevicePointer other = 0;
    model::DType other_dtype = model::DType::float64;
    BandSum sum = BandSum::errors;
  };
  base::Result<evaluation::BandSums> bands(const BandRequest& request, const KeptOutput& output, double scale);
  base::Result<evaluation::Comparison> compare_bands(DevicePointer actual, const KeptOutput& kept,
                                                     evaluation::Comparison right);
  base::Result<std::array<double, 3>> examined();
  base::Result<evaluation::Comparison> refused(const KeptOutput& kept, DevicePointer actual, std::uint64_t index,
                                               evaluation::NumericalRule rule, double error);

  CardDevice& device_;
  DeviceModule module_;
  std::array<CudaFunction*, k_count> functions_{};
  DeviceMemory partial_;  ///< a double a summing thread, then room for the sums' sums
  DeviceMemory small_;    ///< a few words for answers
  DeviceMemory flush_;
  DeviceMemory sums_;  ///< of fingerprints
};

}  // namespace accelopt::targets::cuda
