// SPDX-License-Identifier: Apache-2.0
// Tensor maps and barriers, from the directive over worker, device server and driver to the kernel's shared memory.
#include <gtest/gtest.h>

#include "evaluation/local_evaluator.hpp"
#include "evaluation/verify/slots.hpp"
#include "targets/cuda/fake_cuda.hpp"

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
    settings.protocol = model::Protocol::verify;
    settings.call_limit_seconds = 3;  // on a busy machine its threads wait long for each other
    const auto opened = evaluator_->ask(evaluation::Open{task_, settings}, {});
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_EQ(opened->baseline.status, Status::passed) << opened->baseline.reason;
  }
  model::Evaluation judge(const std::string& text) {
    const auto evaluation =
        evaluator_->ask(evaluation::Race{model::Kernel(cuda_solution(text)), model::Kernel(task_.baseline)}, {});
    EXPECT_TRUE(evaluation) << evaluation.error().message;
    return evaluation.value_or(model::Evaluation{});
  }
  /// Why a plan of this kernel is refused.
  std::string refusal(const std::string& text) {
    const auto live = target_->start(model::Kernel(cuda_solution(text)), evaluation::Placement::usual, {});
    return live ? "" : live.error().message;
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

}  // namespace
}  // namespace accelopt::targets::cuda
