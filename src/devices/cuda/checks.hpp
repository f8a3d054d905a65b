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
#include "devices/cuda/device.hpp"
#include "evaluation/target.hpp"
#include "evaluation/verify/numerics.hpp"

namespace accelopt::devices::cuda {

/// One output of a slot: what it must be, and what it may be off by.
struct KeptOutput {
  model::DType dtype = model::DType::float32;
  std::uint64_t count = 0;
  std::uint64_t expected = 0;  ///< doubles; of integers their own bytes. From the beginning of the slot's workspace
  std::uint64_t rows = 0;      ///< likewise; doubles, none of integers
  evaluation::Bounds bounds;
  std::vector<std::int64_t> shape;
};

class Checks {
 public:
  /// `cubin` is that of kernels/check_kernels.cu. @error as Device.
  static base::Result<std::unique_ptr<Checks>> create(Device& device, const std::string& cubin);

  base::Result<void> draw(DevicePointer to, const SlotInput& input);
  /// `step` over 0: perturbed.
  base::Result<void> to_real(DevicePointer to, model::DType real, DevicePointer from, model::DType dtype,
                             std::uint64_t count, double step, std::uint64_t seed);
  /// Keyed hashes of so many regions, {address, words}. Waits for the device.
  struct Region {
    DevicePointer address = 0;
    std::uint64_t bytes = 0;  ///< a multiple of 8
  };
  base::Result<std::vector<std::uint64_t>> fingerprints(const std::vector<Region>& regions, std::uint64_t key);
  /// A random NaN of the dtype, another one an element; any bits for integers.
  base::Result<void> poison(DevicePointer to, std::uint64_t bytes, model::DType dtype, std::uint64_t seed);
  /// What an output holds before a call. `right`: its right values, in the clear; for kinds that are made from them.
  base::Result<void> poison(DevicePointer to, const KeptOutput& output, evaluation::Poison kind, DevicePointer right,
                            std::uint64_t seed);
  base::Result<void> write_canaries(DevicePointer base, std::uint64_t begin, std::uint64_t end, std::uint64_t seed);
  base::Result<void> check_canaries(DevicePointer base, std::uint64_t begin, std::uint64_t end, std::uint64_t seed,
                                    DevicePointer flag);
  base::Result<void> zero(DevicePointer to, std::uint64_t bytes);
  /// Writes twice the last-level cache, and drops what was written.
  base::Result<void> flush();
  /// Overwrites shared memory, registers, and so much local memory a thread, at least 1 KiB.
  base::Result<void> scrub(std::uint64_t local_bytes, std::uint32_t seed);
  /// Reads a word every `stride` bytes of each of `count` spans, {address, bytes}.
  base::Result<void> touch(DevicePointer spans, std::uint64_t count, std::uint64_t stride);
  /// Holds the stream until flag[0], in host memory, is written, or the limit has passed.
  base::Result<void> block(DevicePointer flag, std::uint64_t limit_ns);
  /// {cycles, nanoseconds} over the span.
  base::Result<void> measure_clock(DevicePointer out, std::uint64_t span_ns);

  /// Compares an output with what is kept; `slot`: where the slot's workspace lies. Waits for the device.
  base::Result<evaluation::Comparison> compare(DevicePointer actual, const KeptOutput& kept, DevicePointer slot);
  /// Where an output differs from one of before by more than it may. Waits for the device.
  base::Result<std::optional<evaluation::Disagreement>> disagreement(DevicePointer actual, const KeptOutput& kept,
                                                                     DevicePointer slot, DevicePointer before);

  /// The memory of the checks themselves is out of reach while a candidate runs. It is open otherwise.
  base::Result<void> open();
  void close();
  /// A word that checks of canaries raise.
  [[nodiscard]] DevicePointer flag() const;

  // What an honest kernel may be off by: first the sizes of what is expected, in the clear at `exact`; then run by run.
  /// The last one stands for those that are perturbed in double.
  enum class HonestKind { in_float, perturbed, perturbed_in_float, for_perturbed };
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
    k_draw,  // in the order of the names in checks.cpp
    k_to_real,
    k_fingerprint,
    k_poison,
    k_poison_from,
    k_canary_write,
    k_canary_check,
    k_zero,
    k_flush,
    k_discard,
    k_touch,
    k_scrub,
    k_scrub_local_1k,
    k_scrub_local_4k,
    k_scrub_local_16k,
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
  explicit Checks(Device& device, DeviceModule module)
      : device_(device), module_(std::move(module)), own_(device.space()), rows_(device.space()) {}
  base::Result<void> prepare();
  template <class... Arguments>
  base::Result<void> run(Kernel kernel, std::uint32_t blocks, std::uint32_t threads, std::uint32_t shared_bytes,
                         Arguments... arguments);
  /// Enough threads for so many elements.
  template <class... Arguments>
  base::Result<void> each(Kernel kernel, std::uint64_t elements, Arguments... arguments);
  /// The sum of what kSumThreads threads left in `partial()`.
  base::Result<double> summed();
  /// evaluation::BandSums of what lies at `expected`: counts, squares, the errors of `other`, or those of rounding.
  enum class BandSum { elements, norms, errors, rounding };
  struct BandRequest {
    DevicePointer expected = 0;
    DevicePointer other = 0;
    model::DType other_dtype = model::DType::float64;
    BandSum sum = BandSum::errors;
  };
  base::Result<evaluation::BandSums> bands(const BandRequest& request, const KeptOutput& output, double scale);
  base::Result<evaluation::Comparison> compare_bands(DevicePointer actual, const KeptOutput& kept, DevicePointer slot,
                                                     evaluation::Comparison right);
  base::Result<std::array<double, 3>> examined();
  base::Result<evaluation::Comparison> refused(const KeptOutput& kept, DevicePointer actual, DevicePointer slot,
                                               std::uint64_t index, evaluation::NumericalRule rule, double error);

  Device& device_;
  DeviceModule module_;
  std::array<CudaFunction*, k_count> functions_{};
  [[nodiscard]] DevicePointer partial() const;  ///< a double a summing thread, then room for the sums' sums
  [[nodiscard]] DevicePointer small() const;    ///< a few words for answers
  Workspace own_;
  Workspace rows_;  ///< of the run that is being judged honest
  std::uint64_t flush_bytes_ = 0;
};

}  // namespace accelopt::devices::cuda
