// SPDX-License-Identifier: Apache-2.0
// Tensor maps and barriers, from the directive over worker, card and driver to the kernel's shared memory.
#include <gtest/gtest.h>

#include "evaluation/local_evaluator.hpp"
#include "evaluation/slots.hpp"
#include "fakes/cuda/encode.hpp"
#include "targets/cuda/card_device.hpp"
#include "targets/cuda/card_launch.hpp"
#include "targets/cuda/fake_card.hpp"

namespace accelopt::targets::cuda {
namespace {

using model::Status;

/// The squares' rows by a tensor map into shared memory, the sums by another one out of it. PLACE is where element
/// (row, k) of a box lies; what lies beyond x must be zero.
constexpr const char* kMapped = R"(//@ tensormap rows of x box=(K, 64) swizzle=SWIZZLE
//@ tensormap sums of y box=(64) swizzle=none
//@ launch squares grid=(cdiv(M, 64)) block=(64) args=(rows, sums, g, s, y, n, M)
extern "C" __global__ void squares(const __grid_constant__ CUtensorMap rows, const __grid_constant__ CUtensorMap sums,
                                   const float* g, float s, float* y, int* n, int64_t M) {
  __shared__ __align__(1024) float box[64 * K];
  __shared__ __align__(128) float out[64];
  __shared__ uint64_t barrier;
  const int row = threadIdx.x;
  const int first = blockIdx.x * 64;
  if (row == 0) accelopt_barrier_init(&barrier, 1);
  __syncthreads();
  if (row == 0) {
    accelopt_barrier_expect(&barrier, sizeof box);
    accelopt_load_box(box, &rows, &barrier, 0, first);
  }
  accelopt_barrier_wait(&barrier, 0);
  float sum = 0;
  int negative = 0;
  for (int k = 0; k < K; ++k) {
    const float x = box[PLACE];
    if (first + row >= M && x != 0) __trap();
    sum += x * x * g[k];
    negative += x < 0;
  }
  out[row] = sum + s;
  if (first + row < M) n[first + row] = negative;
  __syncthreads();
  if (row == 0) accelopt_store_box(&sums, out, first);
}
)";

std::string replaced(std::string text, const std::string& what, const std::string& instead) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), instead);
}

std::string mapped(const std::string& swizzle, const std::string& place) {
  return replaced(replaced(kMapped, "SWIZZLE", swizzle), "PLACE", place);
}

class TensorMaps : public testing::Test {
 protected:
  void SetUp() override {
    target_ = make_cuda_target(fake_options());
    evaluator_ = evaluation::make_local_evaluator(*target_);
    evaluation::MeasureSettings settings;
    settings.seed = 20261122;
    settings.slots = 3;
    settings.protocol = "verify";
    settings.call_limit_seconds = 0.5;
    const auto opened = evaluator_->ask(evaluation::Open{task_, settings}, {});
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_EQ(opened->baseline.status, Status::passed) << opened->baseline.reason;
  }
  model::Evaluation judge(const std::string& text) {
    const auto evaluation = evaluator_->ask(evaluation::Race{cuda_solution(text), task_.baseline}, {});
    EXPECT_TRUE(evaluation) << evaluation.error().message;
    return evaluation.value_or(model::Evaluation{});
  }
  /// Why a plan of this kernel is refused.
  std::string refusal(const std::string& text) {
    evaluation::Slots slots(*target_, task_, 1, 2);
    const auto slot = slots.get(0, 0);
    const auto live = target_->start(cuda_solution(text), evaluation::Placement::usual, {});
    if (!slot || !live) return "";
    const auto outcome = (*live)->call((*slot)->invocation, {});
    return outcome ? "" : outcome.error().message;
  }

  /// The baseline waits as the kernels do: nothing of them may take many times its time.
  const model::Task task_ = [] {
    model::Task task = squares_task();
    task.baseline = cuda_solution(mapped("none", "row * K + k"));
    return task;
  }();
  std::unique_ptr<evaluation::Target> target_;
  std::unique_ptr<evaluation::Evaluator> evaluator_;
};

TEST_F(TensorMaps, BoxesComeAndGoInTheOrderOfTheirSwizzle) {
  // Without a swizzle: the baseline.
  const auto swizzled = judge(mapped("128B", "row * K + ((k / 4) ^ (row % 8)) * 4 + k % 4"));
  EXPECT_EQ(swizzled.status, Status::passed) << swizzled.reason;
  EXPECT_EQ(judge(mapped("128B", "row * K + k")).status, Status::incorrect_numerical);
}

TEST_F(TensorMaps, HalfABoxIsHalfTheBytes) {
  // The barrier waits for bytes that never come.
  const std::string text = replaced(mapped("none", "row * K + k"), "box=(K, 64)", "box=(K, 32)");
  EXPECT_EQ(judge(text).status, Status::timeout);
}

TEST_F(TensorMaps, MapsThatNoDeviceTakesAreRefusedWithTheirPlace) {
  const auto with_box = [](const std::string& box) {
    return replaced(mapped("128B", "row * K + k"), "box=(K, 64)", "box=" + box);
  };
  EXPECT_NE(refusal(with_box("(K, 257)")).find("an extent of the box"), std::string::npos)
      << refusal(with_box("(K, 257)"));
  EXPECT_NE(refusal(with_box("(3, 64)")).find("12 bytes; it must be a multiple of 16"), std::string::npos);
  EXPECT_NE(refusal(with_box("(2 * K, 8)")).find("256 bytes; with swizzle=128B it may not be longer"),
            std::string::npos);
  EXPECT_NE(refusal(with_box("(K)")).find("one extent an axis"), std::string::npos);
  const std::string odd =
      replaced("//@ scratch odd float32 [M, 5]\n" + mapped("none", "row * K + k"), "rows of x", "rows of odd");
  EXPECT_NE(refusal(odd).find("rows of odd are 20 bytes long"), std::string::npos) << refusal(odd);
}

TEST_F(TensorMaps, ThreadsWaitForOneAnother) {
  // Every thread sums one row of its block and writes its neighbour's; the last block's threads end early.
  const std::string text = replaced(
      kSquares, "  y[i] = sum + s;",
      "  __shared__ float passed[64]; const int t = threadIdx.x; const int there = M - blockIdx.x * 64 < 64 ? M - "
      "blockIdx.x * 64 : 64;\n  passed[t] = sum + s; __syncthreads();\n  y[blockIdx.x * 64 + (t + 1) % there] = "
      "passed[(t + 1) % there];");
  EXPECT_EQ(judge(text).status, Status::passed) << judge(text).reason;
  // Without the barrier the neighbour's sum is not there yet.
  EXPECT_EQ(judge(replaced(text, "__syncthreads();", "")).status, Status::incorrect_numerical);
}

TEST_F(TensorMaps, HalvesOfABlockMeetAtBarriersOfTheirOwn) {
  const std::string body =
      "  __shared__ float given[64]; const int t = threadIdx.x;\n"
      "  if (t < 32) { given[t] = sum; __barrier_sync_count(1, 64); }\n"
      "  else { __barrier_sync_count(1, 64); __barrier_sync_count(2, 32); }\n"
      "  y[i] = (t < 32 ? sum : sum + given[t - 32] - given[t - 32]) + s;";
  std::string text = replaced(kSquares, "  if (i >= M) return;\n", "");
  text = replaced(text, "  for (int k = 0; k < K; ++k) {", "  for (int k = 0; k < (i < M ? K : 0); ++k) {");
  text = replaced(text, "  y[i] = sum + s;\n  n[i] = negative;", body + "\n  n[i] = negative;");
  text = replaced(text, "  y[i] = (t", "  if (i >= M) return;\n  y[i] = (t");
  EXPECT_EQ(judge(text).status, Status::passed) << judge(text).reason;
  // One that nobody else comes to.
  EXPECT_EQ(judge(replaced(text, "__barrier_sync_count(2, 32)", "__barrier_sync_count(2, 33)")).status,
            Status::timeout);
}

/// A map of a float32 tensor of 100 x 32 elements, and what the driver says of it after a change.
struct Given {
  std::uint64_t extents[5] = {32, 100, 1, 1, 1};
  std::uint64_t strides[5] = {128, 12800, 12800, 12800, 12800};
  std::uint32_t box[5] = {32, 64, 1, 1, 1};
  std::uint32_t steps[5] = {1, 1, 2, 3, 8};
  accelopt_shim::TiledArguments arguments{7, 2, 4096, extents, strides, box, steps, 0, 3, 2, 0};
  [[nodiscard]] bool taken() const { return accelopt_shim::encode_tiled(arguments).has_value(); }
};

TEST(TensorMapOfTheDriver, EveryArgumentIsChecked) {
  EXPECT_TRUE(Given().taken());
  const auto taken_with = [](const auto& change) {
    Given given;
    change(given);
    return given.taken();
  };
  EXPECT_FALSE(taken_with([](Given& given) { given.arguments.address = 4104; }));
  EXPECT_FALSE(taken_with([](Given& given) { given.arguments.rank = 0; }));
  EXPECT_FALSE(taken_with([](Given& given) { given.arguments.rank = 6; }));
  EXPECT_TRUE(taken_with([](Given& given) { given.arguments.rank = 5; }));
  EXPECT_FALSE(taken_with([](Given& given) { given.arguments.type = 17; }));
  EXPECT_FALSE(taken_with([](Given& given) { given.extents[1] = 0; }));
  EXPECT_FALSE(taken_with([](Given& given) { given.extents[1] = (std::uint64_t{1} << 32) + 1; }));
  EXPECT_FALSE(taken_with([](Given& given) { given.strides[0] = 136; }));
  EXPECT_FALSE(taken_with([](Given& given) { given.strides[0] = std::uint64_t{1} << 40; }));
  EXPECT_FALSE(taken_with([](Given& given) { given.strides[0] = 112; }));  // shorter than a row
  EXPECT_FALSE(taken_with([](Given& given) { given.box[1] = 0; }));
  EXPECT_FALSE(taken_with([](Given& given) { given.box[1] = 257; }));
  EXPECT_FALSE(taken_with([](Given& given) { given.box[0] = 30; }));
  EXPECT_FALSE(taken_with([](Given& given) { given.arguments.swizzle = 2; }));  // a box of 128 bytes
  EXPECT_FALSE(taken_with([](Given& given) { given.arguments.swizzle = 4; }));
  EXPECT_FALSE(taken_with([](Given& given) { given.steps[1] = 0; }));
  EXPECT_FALSE(taken_with([](Given& given) { given.steps[1] = 9; }));
  EXPECT_FALSE(taken_with([](Given& given) { given.arguments.interleave = 1; }));  // of two axes
  EXPECT_TRUE(taken_with([](Given& given) {
    given.arguments.interleave = 1;
    given.arguments.rank = 3;
  }));
  EXPECT_FALSE(taken_with([](Given& given) {  // asks for a swizzle of 32 bytes
    given.arguments.interleave = 2;
    given.arguments.rank = 3;
  }));
  EXPECT_FALSE(taken_with([](Given& given) { given.arguments.promotion = 4; }));
  EXPECT_FALSE(taken_with([](Given& given) { given.arguments.fill = 2; }));
  EXPECT_TRUE(taken_with([](Given& given) { given.arguments.fill = 1; }));
  EXPECT_FALSE(taken_with([](Given& given) {  // no NaN among integers
    given.arguments.fill = 1;
    given.arguments.type = 3;
  }));
}

TEST(TensorMapOfTheCard, WhatTheDriverRefusesIsToldWithTheMapsName) {
  const auto device = CardDevice::open(0, ACCELOPT_FAKE_DRIVER);
  ASSERT_TRUE(device) << device.error().message;
  const auto shop = fake_options().make_builder(squares_task(), {}, {});
  ASSERT_TRUE(shop);
  const auto built = (*shop)->build(cuda_solution(kSquares), {});
  ASSERT_TRUE(built) << built.error().message;
  const auto module = (*device)->load((*built)->cubin);
  ASSERT_TRUE(module);
  const auto memory = (*device)->allocate(1 << 20);
  ASSERT_TRUE(memory);
  const auto refusal = [&](const model::TensorMap& map, std::uint64_t offset) {
    model::LaunchPlan plan;
    plan.tensor_maps.push_back(map);
    model::KernelLaunch launch;
    launch.kernel = "squares";
    launch.arguments.push_back({model::LaunchArgument::Kind::tensor_map, 0, 0});
    plan.launches.push_back(launch);
    PlanBinding binding;
    binding.inputs.push_back({memory->address() + offset, false, 0, 8});
    const auto prepared = PreparedPlan::prepare(**device, *module, plan, binding);
    return prepared ? std::string() : prepared.error().message;
  };
  const model::TensorMap good{
      "tile", {model::LaunchArgument::Kind::input, 0, 0}, model::DType::float32, {32, 100}, {32, 64}, 128};
  const std::string expected =
      "tensor map tile is refused: CUDA_ERROR_INVALID_VALUE: invalid argument (rows of a multiple of 16 bytes, a box "
      "of at most 256 elements an axis, its inner extent within the swizzle)";
  EXPECT_NE(refusal(good, 0), expected);  // its kernel takes other parameters
  EXPECT_EQ(refusal(good, 8), expected);
  model::TensorMap bad = good;
  bad.box = {32, 257};
  EXPECT_EQ(refusal(bad, 0), expected);
  bad = good;
  bad.swizzle_bytes = 64;
  EXPECT_EQ(refusal(bad, 0), expected);
  bad = good;
  bad.shape = {33, 100};
  EXPECT_EQ(refusal(bad, 0), expected);
  bad = good;
  bad.box = {3, 64};
  EXPECT_EQ(refusal(bad, 0), expected);
}

}  // namespace
}  // namespace accelopt::targets::cuda
