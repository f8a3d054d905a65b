// SPDX-License-Identifier: Apache-2.0
// Parts of a program that run side by side, and what they compute.
#include "targets/trainium/slices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <random>

#include "targets/trainium/execute.hpp"
#include "targets/trainium/product.hpp"
#include "targets/trainium/side_by_side.hpp"
#include "targets/trainium/traces.hpp"

namespace accelopt::targets::trainium {
namespace {

using base::Json;

constexpr std::int64_t kColumns = 512;
constexpr std::int64_t kTile = 128 * kColumns;

/// y = w.T @ x, tile by tile of x; w is loaded once.
Json product_trace(std::int64_t tiles) {
  Json trace = {{"outputs", {2}},
                {"buffers",
                 {{"input", "x", 0, nullptr, {tiles * 128, kColumns}},
                  {"input", "w", 0, nullptr, {128, 128}},
                  {"output", "y", 1, nullptr, {tiles * 128, kColumns}},
                  {"sbuf", "weights", 2, nullptr, {128, 128}}}},
                {"views", {{1, 0, 128, 128, 128, 1}, {3, 0, 128, 128, 128, 1}}},
                {"loops", Json::array()},
                {"iterations", {{0, -1, 0}}},
                {"instructions", Json::array()}};
  const Json none = Json::array();
  trace["instructions"].push_back({"load", 2, 0, 1, {0}, none, none, 0});
  for (std::int64_t i = 0; i < tiles; ++i) {
    const auto buffer = static_cast<std::int64_t>(trace["buffers"].size());
    const auto view = static_cast<std::int64_t>(trace["views"].size());
    for (const char* space : {"sbuf", "psum", "sbuf"})
      trace["buffers"].push_back({space, "tile", 3, nullptr, {128, kColumns}});
    trace["views"].push_back({0, i * kTile, 128, kColumns, kColumns, 1});
    for (int k = 0; k < 3; ++k) trace["views"].push_back({buffer + k, 0, 128, kColumns, kColumns, 1});
    trace["views"].push_back({2, i * kTile, 128, kColumns, kColumns, 1});
    trace["instructions"].push_back({"load", 4, 0, view + 1, {view}, none, none, 0});
    trace["instructions"].push_back({"matmul", 5, 0, view + 2, {1, view + 1}, none, none, 0});
    trace["instructions"].push_back({"copy", 6, 0, view + 3, {view + 2}, none, none, 0});
    trace["instructions"].push_back({"store", 7, 0, view + 4, {view + 3}, none, none, 0});
  }
  return trace;
}

Program read_trace(const Json& trace, std::int64_t tiles) {
  return read_program(trace, {{"x", {tiles * 128, kColumns}}, {"w", {128, 128}}}, {{"y", {tiles * 128, kColumns}}})
      .value();
}

std::vector<float> drawn(std::int64_t count) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> out(static_cast<std::size_t>(count));
  for (float& value : out) value = normal(random);
  return out;
}

TEST(TrainiumSlices, LargeProgram_FallsIntoPartsThatShareWhatTheyNeed) {
  const Program program = read_trace(product_trace(64), 64);
  const std::vector<Part> parts = independent_parts(program, 2);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_TRUE(parts[0][0] && parts[1][0]) << "both need the weights";
  for (std::size_t i = 1; i < program.instructions.size(); ++i) EXPECT_NE(parts[0][i], parts[1][i]) << i;
}

TEST(TrainiumSlices, Parts_ComputeTheBitsOfTheWhole) {
  constexpr std::int64_t kTiles = 64;
  const Program program = read_trace(product_trace(kTiles), kTiles);
  const std::vector<float> x = drawn(kTiles * kTile);
  const std::vector<float> w = drawn(std::int64_t{128} * 128);
  std::vector<float> whole(x.size());
  ASSERT_TRUE(execute_some(program, Part(program.instructions.size(), true), {x, w}, {whole}, {}));
  for (const std::size_t most : {2U, 3U}) {
    const std::vector<Part> parts = independent_parts(program, most);
    ASSERT_EQ(parts.size(), most);
    std::vector<float> y(x.size());
    for (const Part& part : parts) ASSERT_TRUE(execute_some(program, part, {x, w}, {y}, {}));
    EXPECT_EQ(y, whole);
  }
  std::vector<float> y(x.size());
  ASSERT_EQ(execute(program, {x, w}, {y}, {}).value(), "");
  EXPECT_EQ(y, whole);
}

TEST(TrainiumSlices, SmallProgram_IsOnePart) {
  EXPECT_EQ(independent_parts(read_trace(product_trace(4), 4), 2).size(), 1U);
}

TEST(TrainiumSlices, OutputThatIsReadAgain_IsOnePart) {
  Json trace = product_trace(64);
  trace["instructions"].back()[4] = {trace["instructions"].back()[3].get<int>() - 5};  // y of the tile before, to y
  EXPECT_EQ(independent_parts(read_trace(trace, 64), 2).size(), 1U);
}

TEST(TrainiumSlices, PartsThatNeedMuchOfTheSame_AreOnePart) {
  constexpr int kProducts = 100;
  Json trace = product_trace(2);
  const Json first = trace["instructions"][2];
  Json& instructions = trace["instructions"];
  for (int i = 0; i < kProducts; ++i) {
    Json more = first;
    more[7] = 1;  // added to what is there
    instructions.insert(instructions.begin() + 3, more);
  }
  const std::size_t copy = instructions.size() - 2;
  instructions[copy][4] = {first[3]};  // both outputs are of the first tile's product
  const Program program = read_trace(trace, 2);
  EXPECT_GE(work_of(program, Part(program.instructions.size(), true)), 2e7) << "worth two threads";
  EXPECT_EQ(independent_parts(program, 2).size(), 1U);
}

TEST(TrainiumSlices, EachElementOnce_IsWrittenOnce) {
  EXPECT_TRUE(written_once(read_trace(product_trace(4), 4)));
  Json twice = product_trace(4);
  twice["instructions"].push_back(twice["instructions"].back());
  EXPECT_FALSE(written_once(read_trace(twice, 4)));
  Json missing = product_trace(4);
  missing["instructions"].erase(missing["instructions"].size() - 1);
  EXPECT_FALSE(written_once(read_trace(missing, 4)));
  Json shifted = product_trace(4);  // one row twice, and one not at all
  shifted["views"].back()[1] = 3 * kTile - kColumns;
  EXPECT_FALSE(written_once(read_trace(shifted, 4)));
  Json scattered = product_trace(4);  // every second element, and those in between
  Json& view = scattered["views"].back();
  view = {2, 3 * kTile, 128, kColumns, 2, kColumns / 2, kColumns / 2, 1};
  EXPECT_TRUE(written_once(read_trace(scattered, 4)));
  view = {2, 3 * kTile, 128, kColumns, kColumns, 0};  // one element of each row, again and again
  EXPECT_FALSE(written_once(read_trace(scattered, 4)));
}

/// The bits do not hang on blocks, vectors or threads.
TEST(TrainiumProduct, AnySizes_AddInTheOrderOfTheDepth) {
  struct Sizes {
    std::size_t depth, rows, columns;
  };
  for (const auto& [depth, rows, columns] :
       std::vector<Sizes>{{128, 128, 512}, {1, 1, 1}, {7, 5, 19}, {128, 127, 33}, {3, 4, 16}, {64, 2, 500}}) {
    const std::vector<float> a = drawn(static_cast<std::int64_t>(depth * rows));
    const std::vector<float> b = drawn(static_cast<std::int64_t>(depth * columns));
    std::vector<float> expected(rows * columns, 0.0F);
    for (std::size_t k = 0; k < depth; ++k) {
      for (std::size_t m = 0; m < rows; ++m) {
        for (std::size_t n = 0; n < columns; ++n) {
          const volatile float product = a[k * rows + m] * b[k * columns + n];  // rounded before it is added
          expected[m * columns + n] += product;
        }
      }
    }
    Product product;
    EXPECT_EQ(product.of({a.data(), static_cast<std::int64_t>(rows)}, {b.data(), static_cast<std::int64_t>(columns)},
                         depth, rows, columns),
              expected)
        << depth << " " << rows << " " << columns;
  }
}

TEST(TrainiumSlices, TilesInUseAtOnce_AreCountedFromFirstToLastUse) {
  const Resident most = most_resident(program_of(silu_trace()));
  EXPECT_EQ(most.bytes, std::int64_t{3} * 128 * 8 * 4) << "of five tiles";
  EXPECT_EQ(most.line, 6);
}

TEST(TrainiumSlices, KernelThatFillsTheMemoryAllowed_RunsAlone) {
  base::Json trace = silu_trace();
  trace["buffers"][3] = {"scratch", "large", 5, nullptr, {1 << 20, 768}};  // 3 GiB
  EXPECT_EQ(most_parts(program_of(trace)), 1U);
}

TEST(TrainiumSlices, MemoryThatRunsOut_IsAnErrorOfTheKernel) {
  for (const std::size_t where : {0U, 1U}) {
    const auto ended = side_by_side(2, [&](std::size_t i) -> base::Result<void> {
      if (i == where) throw std::bad_alloc();
      return {};
    });
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, base::ErrorCode::exhausted);
  }
}

}  // namespace
}  // namespace accelopt::targets::trainium
