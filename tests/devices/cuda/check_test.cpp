// SPDX-License-Identifier: Apache-2.0
// The check kernels, run by the fake driver, against what evaluation/ does on the host: the same data, the same
// answers.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <random>

#include "base/files.hpp"
#include "devices/cuda/checks.hpp"
#include "devices/cuda/spread.hpp"
#include "evaluation/verify/dtype_codec.hpp"
#include "evaluation/verify/inputs.hpp"
#include "evaluation/verify/numerics.hpp"
#include "evaluation/verify/spread.hpp"

namespace accelopt::devices::cuda {
namespace {

using evaluation::Bytes;
using evaluation::Comparison;
using evaluation::Expected;
using evaluation::InputDraw;
using evaluation::NumericalRule;
using model::DType;
using model::Family;
using model::InitKind;

constexpr std::array kAllTypes{DType::float64,       DType::float32,     DType::float16, DType::bfloat16,
                               DType::float8_e4m3fn, DType::float8_e5m2, DType::int64,   DType::int32,
                               DType::int16,         DType::int8,        DType::uint8,   DType::boolean};
constexpr std::array kFloats{DType::float64,  DType::float32,       DType::float16,
                             DType::bfloat16, DType::float8_e4m3fn, DType::float8_e5m2};

class CheckKernels : public testing::Test {
 protected:
  void SetUp() override {
    auto device = Device::open(0, ACCELOPT_FAKE_DRIVER);
    ASSERT_TRUE(device) << device.error().message;
    device_ = std::move(*device);
    const auto cubin = base::read_file(ACCELOPT_FAKE_CHECK_KERNELS);
    ASSERT_TRUE(cubin) << cubin.error().message;
    auto checks = Checks::create(*device_, *cubin);
    ASSERT_TRUE(checks) << checks.error().message;
    checks_ = std::move(*checks);
  }
  DeviceMemory upload(std::span<const std::byte> bytes) {
    auto memory = device_->allocate(bytes.size() + 16);
    EXPECT_TRUE(memory && device_->copy_in(memory->address(), bytes));
    return std::move(*memory);
  }
  DeviceMemory upload(const std::vector<double>& values) { return upload(std::as_bytes(std::span(values))); }
  Bytes download(DevicePointer from, std::size_t bytes) {
    Bytes out(bytes);
    EXPECT_TRUE(device_->finish(std::chrono::seconds(10)) && device_->copy_out(out, from));
    return out;
  }

  /// What the device keeps of an output whose honest runs are given, with what it may be off by.
  KeptOutput keep(const Expected& expected, const evaluation::HonestRuns& runs, const model::Numerics& numerics) {
    KeptOutput out;
    out.dtype = expected.dtype;
    out.count = expected.values.size();
    out.shape = expected.shape;
    const DeviceMemory exact = upload(expected.values);
    evaluation::HonestErrors errors;
    EXPECT_TRUE(checks_->begin_calibration(exact.address(), out, expected.shape, errors));
    const double share = evaluation::share_of_float_error(expected.dtype, numerics);
    using Kind = Checks::HonestKind;
    const auto add = [&](std::span<const double> run, double counts, bool says, Kind kind) {
      const DeviceMemory there = upload(std::as_bytes(run));
      const bool finite = errors.float_is_finite;
      EXPECT_TRUE(
          checks_->add_run(exact.address(), out, expected.shape, {there.address(), false, counts, kind}, errors));
      if (!says) errors.float_is_finite = finite;
    };
    add(runs.in_float, share, true, Kind::in_float);
    add(runs.perturbed_a, 1, false, Kind::perturbed);
    add(runs.perturbed_b, 1, false, Kind::perturbed);
    add(runs.perturbed_in_float, share, false, Kind::perturbed_in_float);
    out.bounds = evaluation::bounds_of(expected.dtype, expected.shape, errors, numerics);
    out.expected = kept_.emplace_back(upload(expected.values)).address();
    out.rows = kept_.emplace_back(upload(out.bounds.rows)).address();
    EXPECT_TRUE(device_->finish(std::chrono::seconds(10)));
    return out;
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Checks> checks_;
  std::deque<DeviceMemory> kept_;  ///< of slots that begin at address 0
};

TEST_F(CheckKernels, DrawTheSameBytesAsTheHost) {
  const std::vector<model::InitSpec> inits{{InitKind::normal, 0.5, 2},   {InitKind::abs_normal, 0, 1},
                                           {InitKind::uniform, -3, 5},   {InitKind::integers, -4, 9},
                                           {InitKind::zeros, 0, 0},      {InitKind::ones, 0, 0},
                                           {InitKind::constant, 1.25, 0}};
  for (const DType dtype : kAllTypes) {
    for (const auto& init : inits) {
      std::vector<Family> families{Family::as_declared};
      families.insert(families.end(), model::kTransformations.begin(), model::kTransformations.end());
      for (const Family family : families) {
        const InputDraw draw{init, dtype, {7, 13}, family, 4711};
        Bytes here(91 * model::size_of(dtype));
        ASSERT_TRUE(evaluation::draw_input(draw, here));
        SlotInput input;
        input.dtype = dtype;
        input.count = 91;
        input.row_length = 13;
        input.kind = static_cast<int>(init.kind);
        input.first = init.first;
        input.second = init.second;
        input.family = static_cast<int>(evaluation::drawn_family(draw));
        input.seed = 4711;
        const auto there = device_->allocate(here.size());
        ASSERT_TRUE(there && checks_->draw(there->address(), input));
        EXPECT_EQ(download(there->address(), here.size()), here)
            << model::to_string(dtype) << " " << model::to_string(init) << " " << model::to_string(family);
      }
    }
  }
}

TEST_F(CheckKernels, DecodeEveryPatternOfTheSmallTypes) {
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float8_e4m3fn, DType::float8_e5m2}) {
    const std::size_t count = std::size_t{1} << (8 * model::size_of(dtype));
    Bytes patterns(count * model::size_of(dtype));
    for (std::size_t i = 0; i < count; ++i)
      std::memcpy(&patterns[i * model::size_of(dtype)], &i, model::size_of(dtype));
    const DeviceMemory there = upload(patterns);
    const auto real = device_->allocate(count * sizeof(double));
    ASSERT_TRUE(real && checks_->to_real(real->address(), DType::float64, there.address(), dtype, count, 0, 0));
    const std::vector<double> wanted = evaluation::decode(dtype, patterns);
    const std::vector<double> got =
        evaluation::decode(DType::float64, download(real->address(), count * sizeof(double)));
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i])))
          << model::to_string(dtype) << " pattern " << i << ": " << got[i] << ", " << wanted[i];
    }
  }
}

TEST_F(CheckKernels, PerturbAsTheHostDoes) {
  std::vector<double> values{1, -2, 0, 3.5, std::numeric_limits<double>::infinity(), 1e-3, 7};
  const model::Numerics numerics;
  const DeviceMemory there = upload(values);
  const auto real = device_->allocate(values.size() * sizeof(double));
  ASSERT_TRUE(real && checks_->to_real(real->address(), DType::float64, there.address(), DType::float64, values.size(),
                                       evaluation::perturbation_step(DType::float32, numerics), 99));
  evaluation::perturb(values, DType::float32, numerics, 99);
  EXPECT_EQ(evaluation::decode(DType::float64, download(real->address(), values.size() * sizeof(double))), values);
}

TEST_F(CheckKernels, FingerprintsTellEveryChange) {
  Bytes bytes(1000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7);
  const DeviceMemory there = upload(bytes);
  const std::vector<Checks::Region> regions{{there.address(), 504}, {there.address() + 504, 496}};
  const auto before = checks_->fingerprints(regions, 77);
  ASSERT_TRUE(before);
  EXPECT_EQ(*checks_->fingerprints(regions, 77), *before);
  for (const std::size_t changed : {std::size_t{0}, std::size_t{503}, std::size_t{999}}) {
    const std::byte other = bytes[changed] ^ std::byte{0x10};
    ASSERT_TRUE(device_->copy_in(there.address() + changed, std::span(&other, 1)));
    const auto after = checks_->fingerprints(regions, 77);
    ASSERT_TRUE(after);
    EXPECT_EQ(after->front() == before->front(), changed > 503) << changed;
    EXPECT_EQ(after->back() == before->back(), changed <= 503) << changed;
    ASSERT_TRUE(device_->copy_in(there.address() + changed, std::span(&bytes[changed], 1)));
  }
}

TEST_F(CheckKernels, PoisonOfEveryKindIsWhatItsNameSays) {
  for (const DType dtype : kAllTypes) {
    std::vector<double> values;
    for (int i = 0; i < 40; ++i) values.push_back(dtype == DType::boolean ? i % 2 : 1 + i % 30);
    KeptOutput output;
    output.dtype = dtype;
    output.count = values.size();
    Bytes right(values.size() * model::size_of(dtype));
    evaluation::encode(dtype, values, right);
    const bool floating = model::is_floating(dtype);
    const DeviceMemory from = floating ? upload(values) : upload(right);
    const DeviceMemory to = upload(right);
    const auto poisoned = [&](evaluation::Poison kind) {
      EXPECT_TRUE(checks_->poison(to.address(), output, kind, from.address(), 5));
      return evaluation::decode(dtype, download(to.address(), right.size()));
    };
    EXPECT_EQ(poisoned(evaluation::Poison::zeros), std::vector<double>(40, 0.0)) << model::to_string(dtype);
    std::vector<double> plausible = poisoned(evaluation::Poison::plausible);
    EXPECT_NE(plausible, values) << model::to_string(dtype);
    for (const double value : plausible)
      EXPECT_NE(std::find(values.begin(), values.end(), value), values.end()) << model::to_string(dtype);
    for (const double value : poisoned(evaluation::Poison::infinity)) {
      EXPECT_TRUE(std::isinf(value) || dtype == DType::boolean || std::fabs(value) >= 127) << model::to_string(dtype);
    }
    const std::vector<double> complement = poisoned(evaluation::Poison::complement);
    for (std::size_t i = 0; i < values.size() && !floating; ++i) EXPECT_NE(complement[i], values[i]);
  }
}

TEST_F(CheckKernels, PoisonOfFewElementsIsNoneOfTheirRightValues) {
  const std::vector<double> right{3, 5};
  KeptOutput output;
  output.dtype = DType::float32;
  const DeviceMemory from = upload(right);
  for (output.count = 1; output.count <= right.size(); ++output.count) {
    const DeviceMemory to = upload(Bytes(output.count * sizeof(float)));
    for (const evaluation::Poison kind : evaluation::kPoisons) {
      ASSERT_TRUE(checks_->poison(to.address(), output, kind, from.address(), 5));
      for (const double value :
           evaluation::decode(DType::float32, download(to.address(), output.count * sizeof(float))))
        EXPECT_EQ(std::find(right.begin(), right.end(), value), right.end()) << static_cast<int>(kind);
    }
  }
}

TEST_F(CheckKernels, PoisonIsNanOfEveryFloatingTypeUpToTheLastByte) {
  for (const DType dtype : kFloats) {
    const std::size_t bytes = 21 * model::size_of(dtype);
    const auto there = device_->allocate(bytes + 8);
    ASSERT_TRUE(there && checks_->zero(there->address(), bytes + 8));
    ASSERT_TRUE(checks_->poison(there->address(), bytes, dtype, 5));
    for (const double value : evaluation::decode(dtype, download(there->address(), bytes))) {
      EXPECT_TRUE(std::isnan(value)) << model::to_string(dtype);
    }
    EXPECT_EQ(download(there->address() + bytes, 8), Bytes(8, std::byte{0}));
  }
}

struct Sample {
  Expected expected;
  std::vector<double> in_float, a, b, both;
  [[nodiscard]] evaluation::HonestRuns runs() const { return {in_float, a, b, both}; }
};

/// An output of 20 x 40 with rows of very different sizes, and runs that are off by a few u.
Sample sample_of(DType dtype) {
  std::mt19937_64 random(20261121);
  std::normal_distribution<double> normal;
  Sample out;
  out.expected.dtype = dtype;
  out.expected.shape = {20, 40};
  const double u = model::unit_roundoff(dtype);
  for (std::size_t i = 0; i < 800; ++i) {
    const double value = normal(random) * std::ldexp(1.0, static_cast<int>(i / 40) % 6 - 3);
    out.expected.values.push_back(value);
    for (auto* run : {&out.in_float, &out.a, &out.b, &out.both})
      run->push_back(value + normal(random) * u * std::abs(value));
  }
  return out;
}

TEST_F(CheckKernels, CalibrateAsTheHostDoes) {
  for (const DType dtype : kFloats) {
    for (const bool infinite : {false, true}) {
      Sample sample = sample_of(dtype);
      if (infinite) sample.in_float[77] = std::numeric_limits<double>::infinity();
      const model::Numerics numerics;
      const auto here = evaluation::calibrate(sample.expected, sample.runs(), numerics);
      const KeptOutput there = keep(sample.expected, sample.runs(), numerics);
      EXPECT_EQ(there.bounds.rows, here.rows) << model::to_string(dtype);
      EXPECT_EQ(there.bounds.scale, here.scale);
      EXPECT_EQ(there.bounds.row_length, here.row_length);
      EXPECT_EQ(there.bounds.float_is_finite, here.float_is_finite);
      EXPECT_NEAR(there.bounds.norm / here.norm, 1, 1e-12);
      EXPECT_NEAR(there.bounds.normwise / here.normwise, 1, 1e-12);
    }
  }
}

TEST_F(CheckKernels, CompareAsTheHostDoes) {
  for (const DType dtype : kFloats) {
    const Sample sample = sample_of(dtype);
    const model::Numerics numerics;
    const auto bounds = evaluation::calibrate(sample.expected, sample.runs(), numerics);
    const KeptOutput kept = keep(sample.expected, sample.runs(), numerics);
    const double infinity = std::numeric_limits<double>::infinity();
    const auto changed = [&](std::size_t index, double value) {
      std::vector<double> values = sample.expected.values;
      values[index] = value;
      return values;
    };
    const std::vector<std::vector<double>> outputs{sample.expected.values,
                                                   changed(799, 100),
                                                   changed(0, std::nan("")),
                                                   changed(400, infinity),
                                                   changed(41, -sample.expected.values[41]),
                                                   std::vector<double>(800, 64.0)};
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      Bytes bytes(800 * model::size_of(dtype));
      evaluation::encode(dtype, outputs[i], bytes);
      const Comparison here = evaluation::compare(sample.expected, bounds, bytes);
      const DeviceMemory actual = upload(bytes);
      const auto there = checks_->compare(actual.address(), kept, 0);
      ASSERT_TRUE(there) << there.error().message;
      EXPECT_EQ(there->violated, here.violated) << model::to_string(dtype) << " case " << i;
      if (std::isfinite(here.normwise_error)) {
        EXPECT_NEAR(there->normwise_error, here.normwise_error, 1e-9);
      }
      if (here.passed()) continue;
      EXPECT_EQ(there->mismatch.index, here.mismatch.index) << model::to_string(dtype) << " case " << i;
      EXPECT_EQ(there->mismatch.expected, here.mismatch.expected);
      EXPECT_TRUE(there->mismatch.actual == here.mismatch.actual ||
                  (std::isnan(there->mismatch.actual) && std::isnan(here.mismatch.actual)));
    }
  }
}

TEST_F(CheckKernels, ErrorsOfOneMagnitudeAreFoundAsOnTheHost) {
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    std::mt19937_64 random(20261122);
    std::normal_distribution<double> normal;
    Sample sample;
    sample.expected.dtype = dtype;
    sample.expected.shape = {128, 40};
    const double u = model::unit_roundoff(dtype);
    for (int i = 0; i < 128 * 40; ++i) {
      const double value = normal(random);
      sample.expected.values.push_back(value);
      sample.in_float.push_back(value * (1 + normal(random) * 1e-7));
      for (auto* run : {&sample.a, &sample.b, &sample.both})
        run->push_back(value * (1 + (normal(random) > 0 ? 2 : -2) * u));
    }
    const auto bounds = evaluation::calibrate(sample.expected, sample.runs(), {});
    const KeptOutput kept = keep(sample.expected, sample.runs(), {});
    EXPECT_EQ(kept.bounds.band_counts, bounds.band_counts);
    for (std::size_t band = 0; band < bounds.bands.size(); ++band) {
      const bool judged = std::isfinite(bounds.bands[band]);
      EXPECT_EQ(std::isfinite(kept.bounds.bands[band]), judged) << band;
      if (!judged) continue;
      EXPECT_NEAR(kept.bounds.bands[band] / bounds.bands[band], 1, 1e-9) << band;
    }
    std::vector<double> coarse = sample.expected.values;
    const std::vector<double> rounded = evaluation::rounded_to(DType::float8_e4m3fn, coarse);
    for (std::size_t i = 0; i < coarse.size(); ++i) {
      if (std::abs(coarse[i]) > 0.25 && std::abs(coarse[i]) < 0.4) coarse[i] = rounded[i];
    }
    for (const auto& [values, right] : {std::pair{sample.expected.values, true}, std::pair{coarse, false}}) {
      Bytes bytes(values.size() * model::size_of(dtype));
      evaluation::encode(dtype, values, bytes);
      const Comparison here = evaluation::compare(sample.expected, bounds, bytes);
      const DeviceMemory actual = upload(bytes);
      const auto there = checks_->compare(actual.address(), kept, 0);
      ASSERT_TRUE(there) << there.error().message;
      EXPECT_EQ(here.passed(), right) << model::to_string(dtype);
      EXPECT_EQ(there->violated, here.violated) << model::to_string(dtype);
      EXPECT_EQ(there->mismatch.index, here.mismatch.index);
      EXPECT_NEAR(there->mismatch.normwise_bound, here.mismatch.normwise_bound, 1e-9);
    }
  }
}

TEST_F(CheckKernels, ANormwiseErrorWithoutABadElementIsFound) {
  Sample sample = sample_of(DType::float32);
  model::Numerics numerics;
  numerics.normwise = 1e-6;
  const auto bounds = evaluation::calibrate(sample.expected, sample.runs(), numerics);
  const KeptOutput kept = keep(sample.expected, sample.runs(), numerics);
  std::vector<double> values = sample.expected.values;
  for (double& value : values) value *= 1 + 1.5e-6;
  Bytes bytes(800 * sizeof(float));
  evaluation::encode(DType::float32, values, bytes);
  const Comparison here = evaluation::compare(sample.expected, bounds, bytes);
  const auto there = checks_->compare(upload(bytes).address(), kept, 0);
  ASSERT_TRUE(there) << there.error().message;
  EXPECT_EQ(here.violated, NumericalRule::normwise);
  EXPECT_EQ(there->violated, NumericalRule::normwise);
  EXPECT_EQ(there->mismatch.index, here.mismatch.index);
}

TEST_F(CheckKernels, TwoRunsDisagreeWhereTheHostSaysSo) {
  const Sample sample = sample_of(DType::float32);
  const auto bounds = evaluation::calibrate(sample.expected, sample.runs(), {});
  const KeptOutput kept = keep(sample.expected, sample.runs(), {});
  Bytes first(800 * sizeof(float));
  evaluation::encode(DType::float32, sample.expected.values, first);
  std::vector<double> values = sample.expected.values;
  values[700] += 1;
  Bytes second(first.size());
  evaluation::encode(DType::float32, values, second);
  const DeviceMemory one = upload(first);
  const auto same = checks_->disagreement(one.address(), kept, 0, one.address());
  ASSERT_TRUE(same);
  EXPECT_FALSE(*same);
  const auto place = checks_->disagreement(upload(second).address(), kept, 0, one.address());
  ASSERT_TRUE(place && *place);
  EXPECT_EQ((*place)->index,
            static_cast<std::int64_t>(*evaluation::first_disagreement(sample.expected, bounds, first, second)));
}

TEST_F(CheckKernels, TheSpreadOfErrorsIsThatOfTheHost) {
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::int64, DType::uint8}) {
    Expected expected{dtype, {4, 8}, std::vector<double>(32, 1.0), {}};
    std::vector<double> values = expected.values;
    for (const std::size_t wrong : {12U, 13U, 20U, 21U}) values[wrong] = 3;
    Bytes right(32 * model::size_of(dtype));
    Bytes got = right;
    evaluation::encode(dtype, expected.values, right);
    evaluation::encode(dtype, values, got);
    KeptOutput kept;
    kept.dtype = dtype;
    kept.count = 32;
    kept.shape = expected.shape;
    kept.bounds.row_length = 32;
    const std::vector<double> rows{0.5};
    const DeviceMemory wanted =
        model::is_floating(dtype) ? upload(expected.values) : upload(std::span<const std::byte>(right));
    const DeviceMemory there_rows = upload(rows);
    const DeviceMemory actual = upload(got);
    kept.expected = wanted.address();
    kept.rows = there_rows.address();
    const auto there = spread_on_device(*device_, actual.address(), kept, 0);
    ASSERT_TRUE(there) << there.error().message;
    if (!model::is_floating(dtype)) {
      expected.integers = evaluation::decode_integers(dtype, right);
      expected.values.clear();
    }
    evaluation::Bounds bounds = kept.bounds;
    if (model::is_floating(dtype)) bounds.rows = rows;
    EXPECT_EQ(*there, evaluation::spread_text(expected, bounds, got)) << model::to_string(dtype);
    EXPECT_TRUE(there->starts_with("4 of 32 elements are out of their bound, in 2 of 4 rows (1 to 2) and 2 of 8"))
        << *there;
    const auto too_many = spread_on_device(*device_, actual.address(), kept, 0, 31);
    ASSERT_TRUE(too_many);
    EXPECT_EQ(*too_many, "");
  }
}

TEST_F(CheckKernels, IntegersMustBeEqual) {
  for (const DType dtype : {DType::int64, DType::int32, DType::int16, DType::int8, DType::uint8, DType::boolean}) {
    std::vector<double> values;
    for (int i = 0; i < 100; ++i) values.push_back(dtype == DType::boolean ? i % 2 : i);
    Bytes bytes(100 * model::size_of(dtype));
    evaluation::encode(dtype, values, bytes);
    KeptOutput kept;
    kept.dtype = dtype;
    kept.count = 100;
    const DeviceMemory memory = upload(bytes);
    kept.expected = memory.address();
    const auto same = checks_->compare(memory.address(), kept, 0);
    ASSERT_TRUE(same && same->passed()) << model::to_string(dtype);
    values[63] = 0;
    evaluation::encode(dtype, values, bytes);
    const auto other = checks_->compare(upload(bytes).address(), kept, 0);
    ASSERT_TRUE(other);
    EXPECT_EQ(other->violated, NumericalRule::exact) << model::to_string(dtype);
    EXPECT_EQ(other->mismatch.index, 63);
    EXPECT_EQ(other->mismatch.expected, dtype == DType::boolean ? 1 : 63);
    EXPECT_EQ(other->mismatch.actual, 0);
  }
}

}  // namespace
}  // namespace accelopt::devices::cuda
