// SPDX-License-Identifier: Apache-2.0
// Costs by the formulas, and what waits for what.
#include "targets/trainium/schedule.hpp"

#include <gtest/gtest.h>

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

TEST(TrainiumSchedule, SameLoadAgain_IsKeptByOnePolicy) {
  Json trace = silu_trace();
  trace["buffers"].push_back({"sbuf", "again", 7, nullptr, {128, 8}});
  trace["views"].push_back({7, 0, 128, 8, 8, 1});
  trace["instructions"].insert(trace["instructions"].begin() + 4,
                               Json::array({"load", 8, 0, 7, {0}, Json::array(), Json::array(), 0}));
  trace["instructions"][5][4] = {7, 5};
  const Program program = program_of(trace);
  EXPECT_EQ(lower(program, kTrn1, Policy::hoist).read_bytes, 4096);
  EXPECT_EQ(lower(program, kTrn1, Policy::literal).read_bytes, 8192);
}

TEST(TrainiumSchedule, SequentialLoop_DoesNotOverlapIterations) {
  Json trace = silu_trace();
  trace["buffers"][0][4] = {256, 8};
  trace["buffers"][1][4] = {256, 8};
  trace["loops"] = {{3, "affine", 2}};
  trace["iterations"] = {{0, -1, 0}, {0, 0, 0}, {0, 0, 1}};
  const Json first = trace["instructions"];
  for (Json& one : trace["instructions"]) one[2] = 1;
  for (int i = 2; i < 7; ++i) {
    Json buffer = trace["buffers"][static_cast<std::size_t>(i)];
    trace["buffers"].push_back(buffer);
    trace["views"].push_back({i + 5, 0, 128, 8, 8, 1});
  }
  trace["views"].push_back({0, 1024, 128, 8, 8, 1});
  trace["views"].push_back({1, 1024, 128, 8, 8, 1});
  for (Json one : first) {
    const auto moved = [](const Json& view) { return view == 0 ? 12 : view == 1 ? 13 : view.get<int>() + 5; };
    one[2] = 2;
    one[3] = moved(one[3]);
    for (Json& source : one[4]) source = moved(source);
    trace["instructions"].push_back(one);
  }
  const std::vector<Extent> inputs{{"x", {256, 8}}};
  const std::vector<Extent> outputs{{"y", {256, 8}}};
  const auto time = [&](const char* kind) {
    trace["loops"] = {{3, kind, 2}};
    const Program program = read_program(trace, inputs, outputs).value();
    return schedule(program, lower(program, kTrn1, Policy::literal), kTrn1).value().ns - kTrn1.start_ns;
  };
  const double once = timing_of(silu_trace()).ns - kTrn1.start_ns;
  EXPECT_NEAR(time("sequential"), 2 * once, 100);  // 1 + x goes to the other engine once
  EXPECT_LT(time("affine"), 1.5 * once);
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

}  // namespace
}  // namespace accelopt::targets::trainium
