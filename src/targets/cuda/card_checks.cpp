// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/card_checks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/hash.hpp"
#include "evaluation/dtype_codec.hpp"

namespace accelopt::targets::cuda {
namespace {

using evaluation::Comparison;
using evaluation::HonestErrors;
using evaluation::NumericalRule;
using model::DType;

constexpr std::array<const char*, 26> kNames{
    "accelopt_draw",    "accelopt_to_real",       "accelopt_mask",         "accelopt_fingerprint",
    "accelopt_differs", "accelopt_poison",        "accelopt_canary_write", "accelopt_canary_check",
    "accelopt_zero",    "accelopt_flush",         "accelopt_discard",      "accelopt_block",
    "accelopt_clock",   "accelopt_row_sizes",     "accelopt_norm",         "accelopt_run_error",
    "accelopt_sum",     "accelopt_compare",       "accelopt_worst",        "accelopt_examine",
    "accelopt_exact",   "accelopt_examine_exact", "accelopt_agree",        "accelopt_examine_kept",
    "accelopt_bands",   "accelopt_band_example"};

constexpr std::uint32_t kThreads = 256;
constexpr double kPerturbedRuns = 2;  ///< in double
/// Sums are taken in three steps of this fan-in: the same order whatever the device.
constexpr std::uint32_t kFanIn = 256;
constexpr std::uint32_t kSumThreads = kFanIn * kFanIn;
constexpr std::uint32_t kBlocksAMultiprocessor = 16;
constexpr std::chrono::seconds kTrustedLimit{60};  ///< with trusted kernels: far more than any of them takes

/// The kernels' struct Judged.
struct Judged {
  DevicePointer actual = 0;
  DevicePointer expected = 0;
  DevicePointer rows = 0;
  std::uint64_t expected_key = 0;
  std::uint64_t rows_key = 0;
  std::uint64_t count = 0;
  std::uint64_t row_length = 1;
  double relative = 0;
  double scale = 1;
  double threshold = 0;
  std::int32_t dtype = 0;
  std::int32_t has_infinity = 1;
};

Judged judged(DevicePointer actual, const KeptOutput& kept) {
  Judged out;
  out.actual = actual;
  out.expected = kept.expected.memory.address();
  out.rows = kept.rows.memory.address();
  out.expected_key = kept.expected.key;
  out.rows_key = kept.rows.key;
  out.count = kept.count;
  out.row_length = static_cast<std::uint64_t>(kept.bounds.row_length);
  out.relative = kept.bounds.relative;
  out.scale = kept.bounds.scale;
  out.threshold = evaluation::overflow_threshold(kept.dtype);
  out.dtype = static_cast<std::int32_t>(kept.dtype);
  out.has_infinity = kept.dtype == DType::float8_e4m3fn ? 0 : 1;
  return out;
}

/// The bits of a NaN pattern that are fixed, and those that are drawn; 64 bits of elements.
struct Poison {
  std::uint64_t fixed = 0;
  std::uint64_t random = ~std::uint64_t{0};
};

Poison poison_of(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return {0x7ff8000000000000ULL, 0x8003ffffffffffffULL};
    case DType::float32:
      return {0x7fc000007fc00000ULL, 0x801fffff801fffffULL};
    case DType::float16:
      return {0x7e007e007e007e00ULL, 0x80ff80ff80ff80ffULL};
    case DType::bfloat16:
      return {0x7fc07fc07fc07fc0ULL, 0x801f801f801f801fULL};
    case DType::float8_e4m3fn:
      return {0x7f7f7f7f7f7f7f7fULL, 0x8080808080808080ULL};
    case DType::float8_e5m2:
      return {0x7e7e7e7e7e7e7e7eULL, 0x8181818181818181ULL};
    default:
      return {};
  }
}

bool is_unsigned(DType dtype) {
  return dtype == DType::uint8 || dtype == DType::boolean;
}

std::span<std::byte> bytes_of(std::vector<double>& values) {
  return std::as_writable_bytes(std::span(values));
}

std::uint64_t row_count(const KeptOutput& output, std::int64_t row_length) {
  return output.count / static_cast<std::uint64_t>(row_length);
}

}  // namespace

base::Result<std::unique_ptr<Checks>> Checks::create(CardDevice& device, const std::string& cubin) {
  TRY_ASSIGN(DeviceModule module, device.load(cubin));
  std::unique_ptr<Checks> out(new Checks(device, std::move(module)));
  TRY(out->prepare());
  return out;
}

base::Result<void> Checks::prepare() {
  static_assert(kNames.size() == k_count);
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    TRY_ASSIGN(functions_[i], module_.function(kNames[i]));
  }
  TRY_ASSIGN(partial_, device_.allocate((kSumThreads + kFanIn + 1) * evaluation::kBands * sizeof(double)));
  TRY_ASSIGN(small_, device_.allocate(16 * sizeof(double)));
  TRY_ASSIGN(flush_, device_.allocate(2 * static_cast<std::size_t>(std::max(device_.facts().l2_bytes, 1 << 20))));
  return {};
}

template <class... Arguments>
base::Result<void> Checks::run(Kernel kernel, std::uint32_t blocks, std::uint32_t threads, Arguments... arguments) {
  std::array<void*, sizeof...(Arguments)> parameters{&arguments...};
  LaunchConfig config;
  config.grid[0] = blocks;
  config.block[0] = threads;
  config.stream = device_.stream();
  return device_.checked(device_.driver()->launch(&config, functions_[kernel], parameters.data(), nullptr),
                         std::string("launching ") + kNames[kernel]);
}

template <class... Arguments>
base::Result<void> Checks::each(Kernel kernel, std::uint64_t elements, Arguments... arguments) {
  if (elements == 0) return {};
  const std::uint64_t most =
      std::uint64_t{kBlocksAMultiprocessor} * static_cast<std::uint64_t>(std::max(device_.facts().multiprocessors, 1));
  const auto blocks =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>((elements + kThreads - 1) / kThreads, 1, most));
  return run(kernel, blocks, kThreads, arguments...);
}

base::Result<void> Checks::draw(DevicePointer to, const SlotInput& input) {
  return each(k_draw, input.count, to, static_cast<int>(input.dtype), input.count, input.row_length, input.kind,
              input.first, input.second, input.family, input.seed);
}

base::Result<void> Checks::to_real(DevicePointer to, DType real, DevicePointer from, DType dtype, std::uint64_t count,
                                   double step, std::uint64_t seed) {
  return each(k_to_real, count, to, static_cast<int>(real), from, static_cast<int>(dtype), count, step, seed);
}

base::Result<MaskedMemory> Checks::hide(DevicePointer from, std::uint64_t bytes) {
  MaskedMemory out;
  out.bytes = bytes;
  out.key = base::random_seed();
  const std::uint64_t words = std::max<std::uint64_t>((bytes + 7) / 8, 1);
  TRY_ASSIGN(out.memory, device_.allocate(words * 8));
  TRY(each(k_mask, words, out.memory.address(), from, words, out.key));
  TRY_ASSIGN(const auto sum, fingerprints({&out}));
  out.fingerprint = sum.front();
  return out;
}

base::Result<std::vector<std::uint64_t>> Checks::fingerprints(const std::vector<const MaskedMemory*>& hidden) {
  std::vector<std::uint64_t> out(hidden.size());
  if (sums_.bytes() < out.size() * 8) {
    TRY_ASSIGN(sums_, device_.allocate(out.size() * 8));
  }
  TRY(zero(sums_.address(), out.size() * 8));
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    const std::uint64_t words = hidden[i]->memory.bytes() / 8;
    TRY(each(k_fingerprint, words, hidden[i]->memory.address(), words, ~hidden[i]->key, sums_.address() + i * 8));
  }
  TRY(device_.finish(kTrustedLimit));
  TRY(device_.copy_out(std::as_writable_bytes(std::span(out)), sums_.address()));
  return out;
}

base::Result<bool> Checks::intact(const std::vector<const MaskedMemory*>& hidden) {
  TRY_ASSIGN(const auto sums, fingerprints(hidden));
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    if (hidden[i]->memory.bytes() > 0 && sums[i] != hidden[i]->fingerprint) return false;
  }
  return true;
}

base::Result<void> Checks::reveal(DevicePointer to, const MaskedMemory& from) {
  const std::uint64_t words = (from.bytes + 7) / 8;
  return each(k_mask, words, to, from.memory.address(), words, from.key);
}

base::Result<void> Checks::differs(DevicePointer bytes, const MaskedMemory& hidden, DevicePointer flag) {
  return each(k_differs, std::max<std::uint64_t>(hidden.bytes / 8, 8), bytes, hidden.memory.address(), hidden.bytes,
              hidden.key, flag);
}

base::Result<void> Checks::poison(DevicePointer to, std::uint64_t bytes, DType dtype, std::uint64_t seed) {
  const Poison pattern = poison_of(dtype);
  return each(k_poison, std::max<std::uint64_t>(bytes / 8, 8), to, bytes, pattern.fixed, pattern.random, seed);
}

base::Result<void> Checks::write_canaries(DevicePointer base, std::uint64_t begin, std::uint64_t end,
                                          std::uint64_t seed) {
  return each(k_canary_write, end - begin, base, begin, end, seed);
}

base::Result<void> Checks::check_canaries(DevicePointer base, std::uint64_t begin, std::uint64_t end,
                                          std::uint64_t seed, DevicePointer flag) {
  return each(k_canary_check, end - begin, base, begin, end, seed, flag);
}

base::Result<void> Checks::zero(DevicePointer to, std::uint64_t bytes) {
  return each(k_zero, std::max<std::uint64_t>(bytes / 8, 8), to, bytes);
}

base::Result<void> Checks::flush() {
  const std::uint64_t bytes = flush_.bytes();
  TRY(each(k_flush, bytes / 8, flush_.address(), bytes / 8, std::uint64_t{1}));
  return each(k_discard, bytes / 128, flush_.address(), bytes);
}

base::Result<void> Checks::block(DevicePointer flag, std::uint64_t limit_ns) {
  return run(k_block, 1, 1, flag, limit_ns);
}

base::Result<void> Checks::measure_clock(DevicePointer out, std::uint64_t span_ns) {
  return run(k_clock, 1, 1, out, span_ns);
}

base::Result<double> Checks::summed() {
  const DevicePointer sums = partial_.address() + kSumThreads * sizeof(double);
  const DevicePointer total = sums + kFanIn * sizeof(double);
  TRY(each(k_sum, kFanIn, partial_.address(), std::uint64_t{kFanIn}, std::uint64_t{kFanIn}, sums));
  TRY(run(k_sum, 1, 1, sums, std::uint64_t{kFanIn}, std::uint64_t{1}, total));
  double sum = 0;
  TRY(device_.finish(kTrustedLimit));
  TRY(device_.copy_out(std::as_writable_bytes(std::span(&sum, 1)), total));
  return sum;
}

base::Result<evaluation::BandSums> Checks::bands(const BandRequest& request, const KeptOutput& output, double scale) {
  constexpr std::uint64_t kSums = std::uint64_t{kFanIn} * evaluation::kBands;
  const DevicePointer sums = partial_.address() + kSumThreads * evaluation::kBands * sizeof(double);
  const DevicePointer totals = sums + kSums * sizeof(double);
  TRY(run(k_bands, kFanIn, kFanIn, request.expected, request.key, request.masked ? 1 : 0, request.other,
          static_cast<int>(request.other_dtype), static_cast<int>(request.sum), static_cast<int>(output.dtype),
          output.count, scale, evaluation::overflow_threshold(output.dtype), partial_.address()));
  TRY(each(k_sum, kSums, partial_.address(), std::uint64_t{kFanIn}, kSums, sums));
  TRY(each(k_sum, evaluation::kBands, sums, std::uint64_t{kFanIn}, std::uint64_t{evaluation::kBands}, totals));
  evaluation::BandSums out{};
  TRY(device_.finish(kTrustedLimit));
  TRY(device_.copy_out(std::as_writable_bytes(std::span(out)), totals));
  return out;
}

base::Result<Comparison> Checks::compare_bands(DevicePointer actual, const KeptOutput& kept, Comparison right) {
  TRY_ASSIGN(const auto squares,
             bands({kept.expected.memory.address(), kept.expected.key, true, actual, kept.dtype, BandSum::errors}, kept,
                   kept.bounds.scale));
  const auto band = evaluation::violated_band(squares, kept.bounds.bands);
  if (!band) return right;
  const evaluation::BandError error = evaluation::band_error(kept.bounds, squares, *band);
  std::uint64_t index = ~std::uint64_t{0};
  const DevicePointer first = small_.address();
  TRY(device_.copy_in(first, std::as_bytes(std::span(&index, 1))));
  TRY(each(k_band_example, kept.count, judged(actual, kept), *band, error.bound, first));
  TRY(device_.finish(kTrustedLimit));
  TRY(device_.copy_out(std::as_writable_bytes(std::span(&index, 1)), first));
  TRY_ASSIGN(Comparison out,
             refused(kept, actual, index == ~std::uint64_t{0} ? 0 : index, NumericalRule::band, error.error));
  out.mismatch.normwise_bound = error.bound;
  return out;
}

base::Result<std::array<double, 3>> Checks::examined() {
  std::array<double, 3> out{};
  TRY(device_.finish(kTrustedLimit));
  TRY(device_.copy_out(std::as_writable_bytes(std::span(out)), small_.address() + 8 * sizeof(double)));
  return out;
}

base::Result<void> Checks::begin_calibration(DevicePointer exact, const KeptOutput& output,
                                             const std::vector<std::int64_t>& shape, HonestErrors& errors) {
  const std::int64_t row_length = evaluation::row_length_of(shape);
  const double threshold = evaluation::overflow_threshold(output.dtype);
  errors.row_sizes.assign(row_count(output, row_length), 0.0);
  errors.row_errors.assign(errors.row_sizes.size(), 0.0);
  if (output.count == 0) return {};
  TRY_ASSIGN(const DeviceMemory sizes, device_.allocate(errors.row_sizes.size() * sizeof(double)));
  TRY(zero(sizes.address(), sizes.bytes()));
  TRY(each(k_row_sizes, output.count, exact, output.count, static_cast<std::uint64_t>(row_length), threshold,
           sizes.address()));
  TRY(device_.finish(kTrustedLimit));
  TRY(device_.copy_out(bytes_of(errors.row_sizes), sizes.address()));
  const double scale = evaluation::calibration_scale(errors.row_sizes);
  TRY(run(k_norm, kFanIn, kFanIn, exact, output.count, scale, threshold, partial_.address()));
  TRY_ASSIGN(errors.norm_squares, summed());
  if (!evaluation::has_bands(output.dtype, {})) return {};
  TRY_ASSIGN(errors.bands.counts, bands({.expected = exact, .sum = BandSum::elements}, output, scale));
  TRY_ASSIGN(errors.bands.norms, bands({.expected = exact, .sum = BandSum::norms}, output, scale));
  TRY_ASSIGN(errors.bands.rounding, bands({.expected = exact, .sum = BandSum::rounding}, output, scale));
  return {};
}

base::Result<void> Checks::add_run(DevicePointer exact, const KeptOutput& output,
                                   const std::vector<std::int64_t>& shape, const HonestRun& run_of,
                                   HonestErrors& errors) {
  if (output.count == 0) return {};
  const std::int64_t row_length = evaluation::row_length_of(shape);
  const double threshold = evaluation::overflow_threshold(output.dtype);
  const double scale = evaluation::calibration_scale(errors.row_sizes);
  TRY_ASSIGN(const DeviceMemory rows, device_.allocate(errors.row_errors.size() * sizeof(double)));
  TRY(device_.copy_in(rows.address(), std::as_bytes(std::span(errors.row_errors))));
  const DevicePointer flag = small_.address();
  TRY(zero(flag, 8));
  TRY(run(k_run_error, kFanIn, kFanIn, exact, run_of.output, run_of.is_float ? 1 : 0, output.count,
          static_cast<std::uint64_t>(row_length), scale, threshold, run_of.share, rows.address(), partial_.address(),
          flag));
  TRY_ASSIGN(const double squares, summed());
  errors.error_squares = std::max(errors.error_squares, squares);
  TRY(device_.copy_out(bytes_of(errors.row_errors), rows.address()));
  std::uint32_t not_finite = 0;
  TRY(device_.copy_out(std::as_writable_bytes(std::span(&not_finite, 1)), flag));
  if (not_finite != 0) errors.float_is_finite = false;
  if (run_of.kind == HonestKind::perturbed_in_float || !evaluation::has_bands(output.dtype, {})) return {};
  TRY_ASSIGN(const auto own, bands({.expected = exact,
                                    .other = run_of.output,
                                    .other_dtype = run_of.is_float ? DType::float32 : DType::float64,
                                    .sum = BandSum::errors},
                                   output, scale));
  for (std::size_t band = 0; band < own.size(); ++band) {
    if (run_of.kind == HonestKind::in_float)
      errors.bands.in_float[band] = own[band];
    else
      errors.bands.perturbed[band] += own[band] / kPerturbedRuns;
  }
  return {};
}

base::Result<Comparison> Checks::refused(const KeptOutput& kept, DevicePointer actual, std::uint64_t index,
                                         NumericalRule rule, double error) {
  const DevicePointer answer = small_.address() + 8 * sizeof(double);
  if (model::is_floating(kept.dtype)) {
    TRY(run(k_examine, 1, 1, judged(actual, kept), index, answer));
  } else {
    TRY(run(k_examine_exact, 1, 1, actual, kept.expected.memory.address(), kept.expected.key, index,
            static_cast<int>(model::size_of(kept.dtype)), is_unsigned(kept.dtype) ? 1 : 0, answer));
  }
  TRY_ASSIGN(const auto element, examined());
  Comparison out;
  out.violated = rule == NumericalRule::none ? static_cast<NumericalRule>(static_cast<int>(element[2])) : rule;
  out.mismatch.index = static_cast<std::int64_t>(index);
  out.mismatch.expected = element[0];
  out.mismatch.actual = element[1];
  out.mismatch.normwise_bound = kept.bounds.normwise;
  out.normwise_error = out.mismatch.normwise_error = error;
  return out;
}

base::Result<Comparison> Checks::compare(DevicePointer actual, const KeptOutput& kept) {
  Comparison out;
  out.mismatch.normwise_bound = kept.bounds.normwise;
  if (kept.count == 0) return out;
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  const std::array<std::uint64_t, 2> initial{kNone, 0};
  const DevicePointer first_bad = small_.address();
  TRY(device_.copy_in(first_bad, std::as_bytes(std::span(initial))));
  std::uint64_t index = kNone;
  if (!model::is_floating(kept.dtype)) {
    TRY(each(k_exact, kept.count, actual, kept.expected.memory.address(), kept.expected.key, kept.count,
             static_cast<int>(model::size_of(kept.dtype)), is_unsigned(kept.dtype) ? 1 : 0, first_bad));
    TRY(device_.finish(kTrustedLimit));
    TRY(device_.copy_out(std::as_writable_bytes(std::span(&index, 1)), first_bad));
    if (index == kNone) return out;
    return refused(kept, actual, index, NumericalRule::exact, 0);
  }
  const Judged it = judged(actual, kept);
  TRY(run(k_compare, kFanIn, kFanIn, it, partial_.address(), first_bad));
  TRY_ASSIGN(const double squares, summed());
  TRY(device_.copy_out(std::as_writable_bytes(std::span(&index, 1)), first_bad));
  const double error = kept.bounds.norm > 0 ? std::sqrt(squares) / kept.bounds.norm : 0;
  if (index != kNone) return refused(kept, actual, index, NumericalRule::none, error);
  out.normwise_error = out.mismatch.normwise_error = error;
  if (error <= kept.bounds.normwise) {
    if (kept.bounds.bands == evaluation::unlimited_bands()) return out;
    return compare_bands(actual, kept, std::move(out));
  }
  const std::array<std::uint64_t, 2> worst{0, kNone};
  TRY(device_.copy_in(first_bad, std::as_bytes(std::span(worst))));
  for (const int second : {0, 1}) TRY(each(k_worst, kept.count, it, first_bad, first_bad + 8, second));
  TRY(device_.finish(kTrustedLimit));
  TRY(device_.copy_out(std::as_writable_bytes(std::span(&index, 1)), first_bad + 8));
  return refused(kept, actual, index == kNone ? 0 : index, NumericalRule::normwise, error);
}

base::Result<std::optional<evaluation::Disagreement>> Checks::disagreement(DevicePointer actual, const KeptOutput& kept,
                                                                           const MaskedMemory& before) {
  std::optional<evaluation::Disagreement> none;
  if (kept.count == 0) return none;
  std::uint64_t index = ~std::uint64_t{0};
  const DevicePointer first_bad = small_.address();
  TRY(device_.copy_in(first_bad, std::as_bytes(std::span(&index, 1))));
  const auto size = static_cast<int>(model::size_of(kept.dtype));
  if (model::is_floating(kept.dtype)) {
    TRY(each(k_agree, kept.count, judged(actual, kept), before.memory.address(), before.key, size, first_bad));
  } else {
    TRY(each(k_exact, kept.count, actual, before.memory.address(), before.key, kept.count, size,
             is_unsigned(kept.dtype) ? 1 : 0, first_bad));
  }
  TRY(device_.finish(kTrustedLimit));
  TRY(device_.copy_out(std::as_writable_bytes(std::span(&index, 1)), first_bad));
  if (index == ~std::uint64_t{0}) return none;
  TRY(run(k_examine_kept, 1, 1, static_cast<int>(kept.dtype), before.memory.address(), before.key, size, index, actual,
          small_.address() + 8 * sizeof(double)));
  TRY_ASSIGN(const auto element, examined());
  return evaluation::Disagreement{0, static_cast<std::int64_t>(index), element[0], element[1]};
}

}  // namespace accelopt::targets::cuda
