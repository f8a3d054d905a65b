// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/checks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/hash.hpp"
#include "evaluation/verify/dtype_codec.hpp"

namespace accelopt::devices::cuda {
namespace {

using evaluation::Comparison;
using evaluation::HonestErrors;
using evaluation::NumericalRule;
using model::DType;

constexpr std::array<const char*, 30> kNames{
    "accelopt_draw",           "accelopt_to_real",        "accelopt_fingerprint",
    "accelopt_poison",         "accelopt_poison_from",    "accelopt_canary_write",
    "accelopt_canary_check",   "accelopt_zero",           "accelopt_flush",
    "accelopt_discard",        "accelopt_touch",          "accelopt_scrub",
    "accelopt_scrub_local_1k", "accelopt_scrub_local_4k", "accelopt_scrub_local_16k",
    "accelopt_block",          "accelopt_clock",          "accelopt_row_sizes",
    "accelopt_norm",           "accelopt_run_error",      "accelopt_sum",
    "accelopt_compare",        "accelopt_worst",          "accelopt_examine",
    "accelopt_exact",          "accelopt_examine_exact",  "accelopt_agree",
    "accelopt_examine_kept",   "accelopt_bands",          "accelopt_band_example"};

constexpr std::uint32_t kThreads = 256;
constexpr double kPerturbedRuns = 2;  ///< in double
/// Sums are taken in three steps of this fan-in: the same order whatever the device.
constexpr std::uint32_t kFanIn = 256;
constexpr std::uint32_t kSumThreads = kFanIn * kFanIn;
constexpr std::uint32_t kBlocksAMultiprocessor = 16;
constexpr std::uint32_t kMostSums = 4096;
// The checks' own memory.
constexpr std::uint64_t kSmallAt = (std::uint64_t{kSumThreads} + kFanIn + 32) * evaluation::kBands * sizeof(double);
constexpr std::uint64_t kFlagAt = kSmallAt + 16 * sizeof(double);
constexpr std::uint64_t kSumsAt = kFlagAt + 128;
constexpr std::uint64_t kFlushAt = kSumsAt + kMostSums * sizeof(std::uint64_t);
constexpr std::uint32_t kScrubThreads = 512;
constexpr std::chrono::seconds kTrustedLimit{60};  ///< with trusted kernels: far more than any of them takes

/// The kernels' struct Judged.
struct Judged {
  DevicePointer actual = 0;
  DevicePointer expected = 0;
  DevicePointer rows = 0;
  std::uint64_t count = 0;
  std::uint64_t row_length = 1;
  double relative = 0;
  double scale = 1;
  double threshold = 0;
  std::int32_t dtype = 0;
  std::int32_t has_infinity = 1;
};

Judged judged(DevicePointer actual, const KeptOutput& kept, DevicePointer slot) {
  Judged out;
  out.actual = actual;
  out.expected = slot + kept.expected;
  out.rows = slot + kept.rows;
  out.count = kept.count;
  out.row_length = static_cast<std::uint64_t>(kept.bounds.row_length);
  out.relative = kept.bounds.relative;
  out.scale = kept.bounds.scale;
  out.threshold = evaluation::overflow_threshold(kept.dtype);
  out.dtype = static_cast<std::int32_t>(kept.dtype);
  out.has_infinity = kept.dtype == DType::float8_e4m3fn ? 0 : 1;
  return out;
}

/// A pattern's bits that are fixed, and those that are drawn; 64 bits of elements.
struct Pattern {
  std::uint64_t fixed = 0;
  std::uint64_t random = ~std::uint64_t{0};
};

Pattern nan_of(DType dtype) {
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

/// Infinity of both signs, or the largest value where there is none.
Pattern largest_of(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return {0x7ff0000000000000ULL, 0x8000000000000000ULL};
    case DType::float32:
      return {0x7f8000007f800000ULL, 0x8000000080000000ULL};
    case DType::float16:
      return {0x7c007c007c007c00ULL, 0x8000800080008000ULL};
    case DType::bfloat16:
      return {0x7f807f807f807f80ULL, 0x8000800080008000ULL};
    case DType::float8_e4m3fn:
      return {0x7e7e7e7e7e7e7e7eULL, 0x8080808080808080ULL};
    case DType::float8_e5m2:
      return {0x7c7c7c7c7c7c7c7cULL, 0x8080808080808080ULL};
    case DType::int64:
      return {0x7fffffffffffffffULL, 0};
    case DType::int32:
      return {0x7fffffff7fffffffULL, 0};
    case DType::int16:
      return {0x7fff7fff7fff7fffULL, 0};
    case DType::int8:
      return {0x7f7f7f7f7f7f7f7fULL, 0};
    case DType::uint64:
    case DType::uint32:
    case DType::uint16:
    case DType::uint8:
      return {~std::uint64_t{0}, 0};
    case DType::boolean:
      return {0x0101010101010101ULL, 0};
  }
  return {};
}

bool is_unsigned(DType dtype) {
  return dtype == DType::uint64 || dtype == DType::uint32 || dtype == DType::uint16 || dtype == DType::uint8 ||
         dtype == DType::boolean;
}

std::span<std::byte> bytes_of(std::vector<double>& values) {
  return std::as_writable_bytes(std::span(values));
}

std::uint64_t row_count(const KeptOutput& output, std::int64_t row_length) {
  return output.count / static_cast<std::uint64_t>(row_length);
}

}  // namespace

base::Result<std::unique_ptr<Checks>> Checks::create(Device& device, const std::string& cubin) {
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
  flush_bytes_ = 2 * static_cast<std::uint64_t>(std::max(device_.facts().l2_bytes, 1 << 20));
  TRY(device_.driver().check(device_.driver()->set_function_attribute(functions_[k_scrub], kDynamicShared,
                                                                      device_.facts().shared_bytes_per_block),
                             "taking all of the shared memory"));
  return open();
}

base::Result<void> Checks::open() {
  return own_.reserve(kFlushAt + flush_bytes_);
}

DevicePointer Checks::partial() const {
  return own_.address();
}
DevicePointer Checks::small() const {
  return own_.address() + kSmallAt;
}
DevicePointer Checks::flag() const {
  return own_.address() + kFlagAt;
}

void Checks::close() {
  own_.close();
  rows_.close();
}

template <class... Arguments>
base::Result<void> Checks::run(Kernel kernel, std::uint32_t blocks, std::uint32_t threads, std::uint32_t shared_bytes,
                               Arguments... arguments) {
  std::array<void*, sizeof...(Arguments)> parameters{&arguments...};
  LaunchConfig config;
  config.grid[0] = blocks;
  config.block[0] = threads;
  config.shared_bytes = shared_bytes;
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
  return run(kernel, blocks, kThreads, 0, arguments...);
}

base::Result<void> Checks::draw(DevicePointer to, const SlotInput& input) {
  return each(k_draw, input.count, to, static_cast<int>(input.dtype), input.count, input.row_length, input.kind,
              input.first, input.second, input.family, input.seed);
}

base::Result<void> Checks::to_real(DevicePointer to, DType real, DevicePointer from, DType dtype, std::uint64_t count,
                                   double step, std::uint64_t seed) {
  return each(k_to_real, count, to, static_cast<int>(real), from, static_cast<int>(dtype), count, step, seed);
}

base::Result<std::vector<std::uint64_t>> Checks::fingerprints(const std::vector<Region>& regions, std::uint64_t key) {
  const DevicePointer sums = own_.address() + kSumsAt;
  std::vector<std::uint64_t> out;
  for (std::size_t begin = 0; begin < regions.size(); begin += kMostSums) {
    const std::size_t count = std::min<std::size_t>(regions.size() - begin, kMostSums);
    TRY(zero(sums, count * 8));
    for (std::size_t i = 0; i < count; ++i) {
      const Region& region = regions[begin + i];
      TRY(each(k_fingerprint, region.bytes / 8, region.address, region.bytes / 8, key + begin + i, sums + i * 8));
    }
    TRY(device_.finish(kTrustedLimit));
    out.resize(begin + count);
    TRY(device_.copy_out(std::as_writable_bytes(std::span(out).subspan(begin)), sums));
  }
  return out;
}

base::Result<void> Checks::poison(DevicePointer to, std::uint64_t bytes, DType dtype, std::uint64_t seed) {
  const Pattern pattern = nan_of(dtype);
  return each(k_poison, std::max<std::uint64_t>(bytes / 8, 8), to, bytes, pattern.fixed, pattern.random, seed);
}

base::Result<void> Checks::poison(DevicePointer to, const KeptOutput& output, evaluation::Poison kind,
                                  DevicePointer right, std::uint64_t seed) {
  using evaluation::Poison;
  const std::uint64_t bytes = output.count * model::size_of(output.dtype);
  // Of few elements the places of others say whose value it is.
  const bool tells = kind == Poison::plausible || (kind == Poison::complement && model::is_floating(output.dtype));
  if (kind == Poison::nan || (tells && output.count < evaluation::kLeastPlausible))
    return poison(to, bytes, output.dtype, seed);
  if (kind == Poison::zeros) return zero(to, bytes);
  if (kind == Poison::infinity) {
    const Pattern pattern = largest_of(output.dtype);
    return each(k_poison, std::max<std::uint64_t>(bytes / 8, 8), to, bytes, pattern.fixed, pattern.random, seed);
  }
  const std::uint64_t flip = output.dtype == DType::boolean ? 1 : ~std::uint64_t{0};
  return each(k_poison_from, output.count, to, static_cast<int>(output.dtype),
              static_cast<int>(model::size_of(output.dtype)), model::is_floating(output.dtype) ? 1 : 0, right,
              output.count, kind == Poison::complement ? 1 : 0, flip, seed);
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
  const DevicePointer lines = own_.address() + kFlushAt;
  TRY(each(k_flush, flush_bytes_ / 8, lines, flush_bytes_ / 8, std::uint64_t{1}));
  return each(k_discard, flush_bytes_ / 128, lines, flush_bytes_);
}

base::Result<void> Checks::scrub(std::uint64_t local_bytes, std::uint32_t seed) {
  const DeviceFacts& facts = device_.facts();
  const auto multiprocessors = static_cast<std::uint32_t>(std::max(facts.multiprocessors, 1));
  const auto shared = static_cast<std::uint32_t>(facts.shared_bytes_per_block);
  TRY(run(k_scrub, multiprocessors, kScrubThreads, shared, seed, shared / 4, partial()));
  const Kernel local = local_bytes <= 1024   ? k_scrub_local_1k
                       : local_bytes <= 4096 ? k_scrub_local_4k
                                             : k_scrub_local_16k;
  const auto threads = static_cast<std::uint32_t>(std::max(facts.threads_per_multiprocessor, 1));
  return run(local, multiprocessors * std::max(threads / kScrubThreads, 1U), kScrubThreads, 0, seed, seed, partial());
}

base::Result<void> Checks::touch(DevicePointer spans, std::uint64_t count, std::uint64_t stride) {
  const auto multiprocessors = static_cast<std::uint32_t>(std::max(device_.facts().multiprocessors, 1));
  return run(k_touch, multiprocessors, kThreads, 0, spans, count, stride);
}

base::Result<void> Checks::block(DevicePointer flag, std::uint64_t limit_ns) {
  return run(k_block, 1, 1, 0, flag, limit_ns);
}

base::Result<void> Checks::measure_clock(DevicePointer out, std::uint64_t span_ns) {
  return run(k_clock, 1, 1, 0, out, span_ns);
}

base::Result<double> Checks::summed() {
  const DevicePointer sums = partial() + kSumThreads * sizeof(double);
  const DevicePointer total = sums + kFanIn * sizeof(double);
  TRY(each(k_sum, kFanIn, partial(), std::uint64_t{kFanIn}, std::uint64_t{kFanIn}, sums));
  TRY(run(k_sum, 1, 1, 0, sums, std::uint64_t{kFanIn}, std::uint64_t{1}, total));
  double sum = 0;
  TRY(device_.finish(kTrustedLimit));
  TRY(device_.copy_out(std::as_writable_bytes(std::span(&sum, 1)), total));
  return sum;
}

base::Result<evaluation::BandSums> Checks::bands(const BandRequest& request, const KeptOutput& output, double scale) {
  constexpr std::uint64_t kSums = std::uint64_t{kFanIn} * evaluation::kBands;
  const DevicePointer sums = partial() + std::uint64_t{kSumThreads} * evaluation::kBands * sizeof(double);
  const DevicePointer totals = sums + kSums * sizeof(double);
  TRY(run(k_bands, kFanIn, kFanIn, 0, request.expected, request.other, static_cast<int>(request.other_dtype),
          static_cast<int>(request.sum), static_cast<int>(output.dtype), output.count, scale,
          evaluation::overflow_threshold(output.dtype), partial()));
  TRY(each(k_sum, kSums, partial(), std::uint64_t{kFanIn}, kSums, sums));
  TRY(each(k_sum, evaluation::kBands, sums, std::uint64_t{kFanIn}, std::uint64_t{evaluation::kBands}, totals));
  evaluation::BandSums out{};
  TRY(device_.finish(kTrustedLimit));
  TRY(device_.copy_out(std::as_writable_bytes(std::span(out)), totals));
  return out;
}

base::Result<Comparison> Checks::compare_bands(DevicePointer actual, const KeptOutput& kept, DevicePointer slot,
                                               Comparison right) {
  TRY_ASSIGN(const auto squares,
             bands({slot + kept.expected, actual, kept.dtype, BandSum::errors}, kept, kept.bounds.scale));
  const auto band = evaluation::violated_band(squares, kept.bounds.bands);
  if (!band) return right;
  const evaluation::BandError error = evaluation::band_error(kept.bounds, squares, *band);
  std::uint64_t index = ~std::uint64_t{0};
  const DevicePointer first = small();
  TRY(device_.copy_in(first, std::as_bytes(std::span(&index, 1))));
  TRY(each(k_band_example, kept.count, judged(actual, kept, slot), *band, error.bound, first));
  TRY(device_.finish(kTrustedLimit));
  TRY(device_.copy_out(std::as_writable_bytes(std::span(&index, 1)), first));
  TRY_ASSIGN(Comparison out,
             refused(kept, actual, slot, index == ~std::uint64_t{0} ? 0 : index, NumericalRule::band, error.error));
  out.mismatch.normwise_bound = error.bound;
  return out;
}

base::Result<std::array<double, 3>> Checks::examined() {
  std::array<double, 3> out{};
  TRY(device_.finish(kTrustedLimit));
  TRY(device_.copy_out(std::as_writable_bytes(std::span(out)), small() + 8 * sizeof(double)));
  return out;
}

base::Result<void> Checks::begin_calibration(DevicePointer exact, const KeptOutput& output,
                                             const std::vector<std::int64_t>& shape, HonestErrors& errors) {
  const std::int64_t row_length = evaluation::row_length_of(shape);
  const double threshold = evaluation::overflow_threshold(output.dtype);
  errors.row_sizes.assign(row_count(output, row_length), 0.0);
  errors.row_errors.assign(errors.row_sizes.size(), 0.0);
  if (output.count == 0) return {};
  const std::uint64_t bytes = errors.row_sizes.size() * sizeof(double);
  TRY(rows_.reserve(bytes));
  TRY(zero(rows_.address(), bytes));
  TRY(each(k_row_sizes, output.count, exact, output.count, static_cast<std::uint64_t>(row_length), threshold,
           rows_.address()));
  TRY(device_.finish(kTrustedLimit));
  TRY(device_.copy_out(bytes_of(errors.row_sizes), rows_.address()));
  const double scale = evaluation::calibration_scale(errors.row_sizes);
  TRY(run(k_norm, kFanIn, kFanIn, 0, exact, output.count, scale, threshold, partial()));
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
  TRY(rows_.reserve(errors.row_errors.size() * sizeof(double)));
  TRY(device_.copy_in(rows_.address(), std::as_bytes(std::span(errors.row_errors))));
  const DevicePointer flag = small();
  TRY(zero(flag, 8));
  TRY(run(k_run_error, kFanIn, kFanIn, 0, exact, run_of.output, run_of.is_float ? 1 : 0, output.count,
          static_cast<std::uint64_t>(row_length), scale, threshold, run_of.share, rows_.address(), partial(), flag));
  TRY_ASSIGN(const double squares, summed());
  errors.error_squares = std::max(errors.error_squares, squares);
  TRY(device_.copy_out(bytes_of(errors.row_errors), rows_.address()));
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
      errors.bands.perturbed[band] += own[band] / (run_of.kind == HonestKind::perturbed ? kPerturbedRuns : 1);
  }
  return {};
}

base::Result<Comparison> Checks::refused(const KeptOutput& kept, DevicePointer actual, DevicePointer slot,
                                         std::uint64_t index, NumericalRule rule, double error) {
  const DevicePointer answer = small() + 8 * sizeof(double);
  if (model::is_floating(kept.dtype)) {
    TRY(run(k_examine, 1, 1, 0, judged(actual, kept, slot), index, answer));
  } else {
    TRY(run(k_examine_exact, 1, 1, 0, actual, slot + kept.expected, index, static_cast<int>(model::size_of(kept.dtype)),
            is_unsigned(kept.dtype) ? 1 : 0, answer));
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

base::Result<Comparison> Checks::compare(DevicePointer actual, const KeptOutput& kept, DevicePointer slot) {
  Comparison out;
  out.mismatch.normwise_bound = kept.bounds.normwise;
  if (kept.count == 0) return out;
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  const std::array<std::uint64_t, 2> initial{kNone, 0};
  const DevicePointer first_bad = small();
  TRY(device_.copy_in(first_bad, std::as_bytes(std::span(initial))));
  std::uint64_t index = kNone;
  if (!model::is_floating(kept.dtype)) {
    TRY(each(k_exact, kept.count, actual, slot + kept.expected, kept.count,
             static_cast<int>(model::size_of(kept.dtype)), is_unsigned(kept.dtype) ? 1 : 0, first_bad));
    TRY(device_.finish(kTrustedLimit));
    TRY(device_.copy_out(std::as_writable_bytes(std::span(&index, 1)), first_bad));
    if (index == kNone) return out;
    return refused(kept, actual, slot, index, NumericalRule::exact, 0);
  }
  const Judged it = judged(actual, kept, slot);
  TRY(run(k_compare, kFanIn, kFanIn, 0, it, partial(), first_bad));
  TRY_ASSIGN(const double squares, summed());
  TRY(device_.copy_out(std::as_writable_bytes(std::span(&index, 1)), first_bad));
  const double error = kept.bounds.norm > 0 ? std::sqrt(squares) / kept.bounds.norm : 0;
  if (index != kNone) return refused(kept, actual, slot, index, NumericalRule::none, error);
  out.normwise_error = out.mismatch.normwise_error = error;
  if (error <= kept.bounds.normwise) {
    if (kept.bounds.bands == evaluation::unlimited_bands()) return out;
    return compare_bands(actual, kept, slot, std::move(out));
  }
  const std::array<std::uint64_t, 2> worst{0, kNone};
  TRY(device_.copy_in(first_bad, std::as_bytes(std::span(worst))));
  for (const int second : {0, 1}) TRY(each(k_worst, kept.count, it, first_bad, first_bad + 8, second));
  TRY(device_.finish(kTrustedLimit));
  TRY(device_.copy_out(std::as_writable_bytes(std::span(&index, 1)), first_bad + 8));
  return refused(kept, actual, slot, index == kNone ? 0 : index, NumericalRule::normwise, error);
}

base::Result<std::optional<evaluation::Disagreement>> Checks::disagreement(DevicePointer actual, const KeptOutput& kept,
                                                                           DevicePointer slot, DevicePointer before) {
  std::optional<evaluation::Disagreement> none;
  if (kept.count == 0) return none;
  std::uint64_t index = ~std::uint64_t{0};
  const DevicePointer first_bad = small();
  TRY(device_.copy_in(first_bad, std::as_bytes(std::span(&index, 1))));
  if (model::is_floating(kept.dtype)) {
    TRY(each(k_agree, kept.count, judged(actual, kept, slot), before, first_bad));
  } else {
    TRY(each(k_exact, kept.count, actual, before, kept.count, static_cast<int>(model::size_of(kept.dtype)),
             is_unsigned(kept.dtype) ? 1 : 0, first_bad));
  }
  TRY(device_.finish(kTrustedLimit));
  TRY(device_.copy_out(std::as_writable_bytes(std::span(&index, 1)), first_bad));
  if (index == ~std::uint64_t{0}) return none;
  TRY(run(k_examine_kept, 1, 1, 0, static_cast<int>(kept.dtype), before, index, actual, small() + 8 * sizeof(double)));
  TRY_ASSIGN(const auto element, examined());
  return evaluation::Disagreement{0, static_cast<std::int64_t>(index), element[0], element[1]};
}

}  // namespace accelopt::devices::cuda
