// SPDX-License-Identifier: Apache-2.0
// Costs by the formulas, and what waits for what.
#include "targets/trainium/schedule.hpp"

#include <gtest/gtest.h>

#include <string_view>

#include "targets/trainium/traces.hpp"

namespace accelopt::targets::trainium {
namespace {

using base::Json;

constexpr auto kVector = static_cast<std::size_t>(Queue::vector);
constexpr auto kScalar = static_cast<std::size_t>(Queue::scalar);

Timing timing_of(const Json& trace, Policy policy = Policy::literal) {
  const Program program = program_of(trace);
  return schedule(program, lower(program, kTrn1, policy), kTrn1).value();
}

TEST(TrainiumSchedule, Silu_CostsWhatTheFormulasSay) {
  const Timing timing = timing_of(silu_trace());
  // exp: 64 cycles and 60 to start at 1.4 GHz. 1 + x: 64 + 100 at 1.12; reciprocal: 1.3 x 8 + 100; product: 2 x 8 +
  // 100.
  EXPECT_NEAR(timing.busy_ns[kScalar], (64 + 60) / 1.4, 1e-9);
  EXPECT_NEAR(timing.busy_ns[kVector], (164 + 110.4 + 116) / 1.12, 1e-9);
  // A descriptor for each of the tile's 128 rows? No: the rows lie behind each other, and a partition's part is one.
  const double descriptor = 98 + 32 / 27.2;
  EXPECT_NEAR(timing.ns, 30000 + 2 * (8 * descriptor + 2000) + timing.busy_ns[kScalar] + timing.busy_ns[kVector], 1e-6);
  EXPECT_EQ(timing.sbuf_bytes, 5 * 32);
}

TEST(TrainiumSchedule, SameLoadAgain_IsKept) {
  Json trace = silu_trace();
  trace["buffers"].push_back({"sbuf", "again", 7, nullptr, {128, 8}});
  trace["views"].push_back({7, 0, 128, 8, 8, 1});
  trace["instructions"].insert(trace["instructions"].begin() + 4,
                               Json::array({"load", 8, 0, 7, {0}, Json::array(), Json::array(), 0}));
  trace["instructions"][5][4] = {7, 5};
  const Program program = program_of(trace);
  EXPECT_EQ(lower(program, kTrn1, Policy::hoist).read_bytes, 4096);
  EXPECT_EQ(lower(program, kTrn1, Policy::literal).read_bytes, 4096);
}

/// x is loaded, transposed through the tensor engine, copied and stored, twice.
TEST(TrainiumSchedule, SameTransposeAgain_IsSharedByOnePolicy) {
  Json trace = {{"outputs", {1}},
                {"buffers", {{"input", "x", 0, nullptr, {128, 128}}, {"output", "y", 1, nullptr, {2, 128, 128}}}},
                {"views", {{0, 0, 128, 128, 128, 1}, {1, 0, 128, 128, 128, 1}, {1, 16384, 128, 128, 128, 1}}},
                {"loops", Json::array()},
                {"iterations", {{0, -1, 0}}},
                {"instructions", Json::array()}};
  const Json none = Json::array();
  for (int i = 0; i < 2; ++i) {
    const int first = 2 + 3 * i;
    const int view = 3 + 3 * i;
    for (const char* space : {"sbuf", "psum", "sbuf"}) trace["buffers"].push_back({space, "t", 2, nullptr, {128, 128}});
    for (int k = 0; k < 3; ++k) trace["views"].push_back({first + k, 0, 128, 128, 128, 1});
    trace["instructions"].push_back({"load", 2, 0, view, {0}, none, none, 0});
    trace["instructions"].push_back({"transpose", 3, 0, view + 1, {view}, none, none, 0});
    trace["instructions"].push_back({"copy", 4, 0, view + 2, {view + 1}, none, none, 0});
    trace["instructions"].push_back({"store", 5, 0, 1 + i, {view + 2}, none, none, 0});
  }
  const Program program = read_program(trace, {{"x", {128, 128}}}, {{"y", {2, 128, 128}}}).value();
  const Lowered literal = lower(program, kTrn1, Policy::literal);
  const Lowered hoist = lower(program, kTrn1, Policy::hoist);
  EXPECT_EQ(literal.work.size(), 7U) << "one load";
  EXPECT_EQ(hoist.work.size(), 5U) << "one load, transpose and copy";
  EXPECT_EQ(hoist.counters.transpose_flops * 2, literal.counters.transpose_flops);
  EXPECT_EQ(hoist.written_bytes, literal.written_bytes);
}

/// silu of so many tiles in a loop of that kind.
double looped_time(const char* kind, int iterations) {
  Json trace = silu_trace();
  const int rows = 128 * iterations;
  trace["buffers"][0][4] = {rows, 8};
  trace["buffers"][1][4] = {rows, 8};
  trace["loops"] = {{3, kind, iterations}};
  trace["iterations"] = {{0, -1, 0}, {0, 0, 0}};
  const Json first = trace["instructions"];
  for (Json& one : trace["instructions"]) one[2] = 1;
  for (int iteration = 1; iteration < iterations; ++iteration) {
    trace["iterations"].push_back({0, 0, iteration});
    for (int i = 2; i < 7; ++i) {
      const Json buffer = trace["buffers"][static_cast<std::size_t>(i)];
      trace["buffers"].push_back(buffer);
      trace["views"].push_back({i + 5 * iteration, 0, 128, 8, 8, 1});
    }
    trace["views"].push_back({0, 1024 * iteration, 128, 8, 8, 1});
    trace["views"].push_back({1, 1024 * iteration, 128, 8, 8, 1});
    const auto moved = [&](const Json& view) {
      const int number = view.get<int>();
      return 7 * iteration + (number < 2 ? number + 5 : number - 2);
    };
    for (Json one : first) {
      one[2] = iteration + 1;
      one[3] = moved(one[3]);
      for (Json& source : one[4]) source = moved(source);
      trace["instructions"].push_back(one);
    }
  }
  const Program program = read_program(trace, {{"x", {rows, 8}}}, {{"y", {rows, 8}}}).value();
  return schedule(program, lower(program, kTrn1, Policy::literal), kTrn1).value().ns - kTrn1.start_ns;
}

TEST(TrainiumSchedule, SequentialLoop_HasOneBufferForEachTile) {
  const double once = looped_time("affine", 1);
  EXPECT_LT(looped_time("sequential", 2), 2 * once);
  // The second load waits for the first tile's last use.
  EXPECT_GT(looped_time("sequential", 2), looped_time("affine", 2));
  EXPECT_LT(looped_time("affine", 2), 1.5 * once);
}

TEST(TrainiumSchedule, UnrolledLoop_TakesAsLongAsAnAffineOne) {
  EXPECT_EQ(looped_time("static", 6), looped_time("affine", 6));
  EXPECT_GT(looped_time("affine", 6), looped_time("affine", 2));
}

/// silu, then what it stored is loaded and stored again so many times, through `space`.
double time_through(const char* space, int times) {
  Json trace = silu_trace();
  trace["buffers"].push_back({space, "through", 3, nullptr, {128, 8}});
  trace["buffers"].push_back({"sbuf", "back", 3, nullptr, {128, 8}});
  trace["views"].push_back({7, 0, 128, 8, 8, 1});
  trace["views"].push_back({8, 0, 128, 8, 8, 1});
  const Json none = Json::array();
  const bool whole = std::string_view(space) == "output";
  trace["instructions"][5][3] = 7;
  for (int i = 0; i < times; ++i) {
    trace["instructions"].push_back({"load", 10, 0, 8, {7}, none, none, 0});
    trace["instructions"].push_back({"store", 11, 0, 7, {8}, none, none, 0});
  }
  if (whole) {
    trace["outputs"] = {7};
    return timing_of(trace).ns;
  }
  trace["instructions"].push_back({"load", 12, 0, 8, {7}, none, none, 0});
  trace["instructions"].push_back({"store", 13, 0, 1, {8}, none, none, 0});
  return timing_of(trace).ns;
}

TEST(TrainiumSchedule, LoadFromAnOutput_WaitsForWhatWasStoredThere) {
  const double each = time_through("scratch", 11) - time_through("scratch", 10);
  EXPECT_GT(each, 2 * kTrn1.dma_latency_ns) << "there and back";
  EXPECT_NEAR(time_through("output", 11) - time_through("output", 10), each, 1e-6);
  EXPECT_NEAR(time_through("output", 11), time_through("scratch", 10), 1e-6) << "the last of them is to the output";
}

TEST(TrainiumSchedule, StoreToAPlaceOfAnOutput_WaitsForTheLastOneThere) {
  Json trace = silu_trace();
  const double once = timing_of(trace).ns;
  trace["instructions"].push_back(trace["instructions"][5]);
  EXPECT_GT(timing_of(trace).ns, once + kTrn1.dma_latency_ns);
}

TEST(TrainiumSchedule, TilesThatDoNotFit_AreRefused) {
  Json trace = silu_trace();
  for (std::size_t i = 2; i < 7; ++i) trace["buffers"][i][4] = {128, 20000};
  for (std::size_t i = 2; i < 7; ++i) trace["views"][i] = {i, 0, 128, 20000, 8, 1};
  const Program program = program_of(trace);
  const auto timing = schedule(program, lower(program, kTrn1, Policy::literal), kTrn1);
  ASSERT_FALSE(timing);
  EXPECT_EQ(timing.error().code, base::ErrorCode::unsupported);
  EXPECT_NE(timing.error().message.find("do not fit on the chip"), std::string::npos);
}

/// A tile of x is loaded, `count` others of 20 KiB a partition are filled and all of them added to it.
Program many_tiles(int count) {
  Json trace = {{"outputs", {1}},
                {"buffers",
                 {{"input", "x", 0, nullptr, {128, 8}},
                  {"output", "y", 1, nullptr, {128, 8}},
                  {"sbuf", "sum", 2, nullptr, {128, 8}}}},
                {"views", {{0, 0, 128, 8, 8, 1}, {1, 0, 128, 8, 8, 1}, {2, 0, 128, 8, 8, 1}}},
                {"loops", Json::array()},
                {"iterations", {{0, -1, 0}}},
                {"instructions", {{"load", 2, 0, 2, {0}, Json::array(), Json::array(), 0}}}};
  for (int i = 0; i < count; ++i) {
    trace["buffers"].push_back({"sbuf", "filled", 3, nullptr, {128, 5120}});
    trace["views"].push_back({3 + i, 0, 128, 5120, 5120, 1});
    trace["instructions"].push_back({"memset", 3, 0, 3 + 2 * i, Json::array(), Json::array(), {1.0}, 0});
    trace["views"].push_back({3 + i, 0, 128, 5120, 8, 1});
  }
  for (int i = 0; i < count; ++i) {
    trace["instructions"].push_back({"tensor_tensor", 4, 0, 2, {2, 4 + 2 * i}, {"add"}, Json::array(), 0});
  }
  trace["instructions"].push_back({"store", 5, 0, 1, {2}, Json::array(), Json::array(), 0});
  return program_of(trace);
}

TEST(TrainiumResidency, TilesThatFit_StayWhereTheyAre) {
  const Lowered lowered = lower(many_tiles(8), kTrn1, Policy::literal);
  EXPECT_EQ(lowered.saved_bytes, 0);
  EXPECT_EQ(lowered.work.size(), 18U);
}

TEST(TrainiumResidency, OneTileTooMany_LeavesRoomForWhatComesBack) {
  const Program program = many_tiles(9);
  const Lowered lowered = lower(program, kTrn1, Policy::literal);
  constexpr std::int64_t kTwoTiles = std::int64_t{2} * 128 * 20480;  // an eighth of SBUF stays free for transfers
  EXPECT_EQ(lowered.saved_bytes, kTwoTiles);
  EXPECT_EQ(lowered.reloaded_bytes, kTwoTiles);
  EXPECT_EQ(lowered.read_bytes, 4096 + kTwoTiles);
  EXPECT_EQ(lowered.written_bytes, 4096 + kTwoTiles);
  const Timing timing = schedule(program, lowered, kTrn1).value();
  EXPECT_LE(timing.sbuf_bytes, kTrn1.sbuf_bytes);
  EXPECT_GT(timing.ns, schedule(program, lower(many_tiles(8), kTrn1, Policy::literal), kTrn1).value_or(Timing{}).ns);
}

/// A row of `width` elements, broadcast to all partitions `rows` times in one iteration, and multiplied in iteration
/// `reader`.
Program broadcasts(std::int64_t width, int rows, std::uint32_t reader) {
  const std::vector<Extent> inputs{{"x", {1, width}}};
  const std::vector<Extent> outputs{{"y", {128, width}}};
  Json trace = {{"outputs", {1}},
                {"buffers",
                 {{"input", "x", 0, nullptr, {1, width}},
                  {"output", "y", 1, nullptr, {128, width}},
                  {"sbuf", "row", 2, nullptr, {1, width}},
                  {"sbuf", "other", 3, nullptr, {128, width}}}},
                {"views",
                 {{0, 0, 1, width, width, 1},
                  {1, 0, 128, width, width, 1},
                  {2, 0, 1, width, width, 1},
                  {2, 0, 1, width, width, 1},
                  {3, 0, 128, width, width, 1}}},
                {"loops", {{2, "static", 2}}},
                {"iterations", {{0, -1, 0}, {0, 0, 0}, {0, 0, 1}}},
                {"instructions",
                 {{"load", 2, 0, 2, {0}, Json::array(), Json::array(), 0},
                  {"memset", 3, 0, 4, Json::array(), Json::array(), {1.0}, 0}}}};
  for (int i = 0; i < rows; ++i) {
    trace["buffers"].push_back({"sbuf", "every", 4, nullptr, {128, width}});
    trace["views"].push_back({4 + i, 0, 128, width, width, 1});
    trace["instructions"].push_back({"broadcast", 4, 1, 5 + i, {3}, Json::array(), Json::array(), 0});
  }
  for (int i = 0; i < rows; ++i)
    trace["instructions"].push_back({"tensor_tensor", 5, reader, 4, {4, 5 + i}, {"multiply"}, Json::array(), 0});
  trace["instructions"].push_back({"store", 6, 0, 1, {4}, Json::array(), Json::array(), 0});
  return read_program(trace, inputs, outputs).value();
}

/// Of all instructions of the engine.
double work_ns(const Lowered& lowered, Queue queue) {
  double out = 0;
  for (const Work& work : lowered.work) out += work.queue == queue ? work.ns : 0;
  return out;
}

TEST(TrainiumLower, BroadcastOfABank_IsReadFromPsum) {
  const Lowered lowered = lower(broadcasts(512, 1, 1), kTrn1, Policy::literal);
  EXPECT_NEAR(work_ns(lowered, Queue::vector), (512 + 100 + 512 + 100) / 1.12, 1e-6) << "fills, and multiplies";
  EXPECT_EQ(work_ns(lowered, Queue::scalar), 0);
  EXPECT_GT(schedule(broadcasts(512, 1, 1), lowered, kTrn1).value_or(Timing{}).psum_bytes, 0);
}

TEST(TrainiumLower, BroadcastThatIsWiderOrUsedLater_IsCopiedToSbuf) {
  for (const auto& [width, reader] : {std::pair<std::int64_t, std::uint32_t>{1024, 1}, {512, 2}}) {
    const Lowered lowered = lower(broadcasts(width, 1, reader), kTrn1, Policy::literal);
    const auto n = static_cast<double>(width);
    EXPECT_NEAR(work_ns(lowered, Queue::scalar), (n + 60 * n / 512) / 1.4, 1e-6);
    EXPECT_NEAR(work_ns(lowered, Queue::vector), (n + 100 + 2 * n + 100) / 1.12, 1e-6);
  }
}

TEST(TrainiumLower, MoreBroadcastsThanBanks_LeaveTheRestInSbuf) {
  const Program program = broadcasts(512, 10, 1);
  const Lowered lowered = lower(program, kTrn1, Policy::literal);
  EXPECT_NEAR(work_ns(lowered, Queue::scalar), 2 * (512 + 60) / 1.4, 1e-6);
  const auto timing = schedule(program, lowered, kTrn1);
  ASSERT_TRUE(timing) << timing.error().message;
  EXPECT_EQ(timing->psum_bytes, kTrn1.psum_bytes);
}

TEST(TrainiumCounters, Multiplication_CountsAsTheProfilerDoes) {
  const std::vector<Extent> inputs{{"a", {128, 128}}, {"b", {128, 512}}};
  const std::vector<Extent> outputs{{"y", {128, 512}}};
  const Json trace = {{"outputs", {2}},
                      {"buffers",
                       {{"input", "a", 0, nullptr, {128, 128}},
                        {"input", "b", 0, nullptr, {128, 512}},
                        {"output", "y", 1, nullptr, {128, 512}},
                        {"sbuf", "s", 2, nullptr, {128, 128}},
                        {"sbuf", "m", 3, nullptr, {128, 512}},
                        {"psum", "p", 4, 0.0, {128, 512}},
                        {"sbuf", "r", 5, nullptr, {128, 512}}}},
                      {"views",
                       {{0, 0, 128, 128, 128, 1},
                        {1, 0, 128, 512, 512, 1},
                        {2, 0, 128, 512, 512, 1},
                        {3, 0, 128, 128, 128, 1},
                        {4, 0, 128, 512, 512, 1},
                        {5, 0, 128, 512, 512, 1},
                        {6, 0, 128, 512, 512, 1}}},
                      {"loops", Json::array()},
                      {"iterations", {{0, -1, 0}}},
                      {"instructions",
                       {{"load", 2, 0, 3, {0}, Json::array(), Json::array(), 0},
                        {"load", 3, 0, 4, {1}, Json::array(), Json::array(), 0},
                        {"matmul", 4, 0, 5, {3, 4}, Json::array(), {512.0}, 1},
                        {"copy", 5, 0, 6, {5}, Json::array(), Json::array(), 0},
                        {"store", 6, 0, 2, {6}, Json::array(), Json::array(), 0}}}};
  const Lowered lowered = lower(read_program(trace, inputs, outputs).value(), kTrn1, Policy::literal);
  const Counters& counted = lowered.counters;
  EXPECT_EQ(counted.psum_written, 2 * 4 * 512);
  EXPECT_EQ(counted.psum_read, 4 * 512);
  EXPECT_EQ(counted.sbuf_read - lowered.written_bytes, 2 * 4 * (512 + 128));
  EXPECT_EQ(counted.sbuf_written - lowered.read_bytes, 4 * 512);
  EXPECT_EQ(counted.flops, 2.0 * 2 * 128 * 128 * 512);
  EXPECT_EQ(counted.transpose_flops, 0);
}

}  // namespace
}  // namespace accelopt::targets::trainium
