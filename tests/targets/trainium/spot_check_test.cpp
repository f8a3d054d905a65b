// SPDX-License-Identifier: Apache-2.0
// Places of outputs without the rest.
#include "targets/trainium/spot_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "targets/trainium/reference_places.hpp"
#include "targets/trainium/traces.hpp"

namespace accelopt::targets::trainium {
namespace {

using base::Json;

const std::vector<Extent> kTallInput{{"x", {512, 8}}};
const std::vector<Extent> kTallOutput{{"y", {512, 8}}};

/// y = x * factor[tile] of four tiles.
Program tiles(const std::vector<double>& factors) {
  Json trace = {{"outputs", {1}},
                {"buffers", {{"input", "x", 0, nullptr, {512, 8}}, {"output", "y", 1, nullptr, {512, 8}}}},
                {"views", Json::array()},
                {"loops", Json::array()},
                {"iterations", {{0, -1, 0}}},
                {"instructions", Json::array()}};
  for (int i = 0; i < 4; ++i) {
    const int tile = 2 + 2 * i;
    const int view = 4 * i;
    trace["buffers"].push_back({"sbuf", "load", 2, nullptr, {128, 8}});
    trace["buffers"].push_back({"sbuf", "product", 3, nullptr, {128, 8}});
    trace["views"].push_back({0, 1024 * i, 128, 8, 8, 1});
    trace["views"].push_back({tile, 0, 128, 8, 8, 1});
    trace["views"].push_back({tile + 1, 0, 128, 8, 8, 1});
    trace["views"].push_back({1, 1024 * i, 128, 8, 8, 1});
    trace["instructions"].push_back({"load", 2, 0, view + 1, {view}, Json::array(), Json::array(), 0});
    trace["instructions"].push_back(
        {"tensor_scalar", 3, 0, view + 2, {view + 1}, {"multiply"}, {factors[static_cast<std::size_t>(i)]}, 0});
    trace["instructions"].push_back({"store", 4, 0, view + 3, {view + 2}, Json::array(), Json::array(), 0});
  }
  return read_program(trace, kTallInput, kTallOutput).value();
}

std::string checked(const Program& candidate, std::uint64_t seed) {
  std::vector<float> x(4096);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 97) - 48;
  return spot_check(candidate, tiles({2, 2, 2, 2}), {x}, seed, {}).value();
}

TEST(TrainiumSpotCheck, OneTile_NeedsItsOwnInstructionsAlone) {
  const Program program = tiles({2, 2, 2, 2});
  const std::vector<bool> needed = needed_for(program, {{0, 2048 + 5, 2048 + 9}});
  for (std::size_t i = 0; i < needed.size(); ++i) EXPECT_EQ(needed[i], i >= 6 && i < 9) << i;
  EXPECT_EQ(std::count(needed.begin(), needed.end(), true), 3);
}

TEST(TrainiumSpotCheck, TileWrittenAgain_NeedsTheLastWriteAlone) {
  Json trace = silu_trace();
  trace["instructions"].insert(trace["instructions"].begin() + 4, trace["instructions"][3]);
  const Program program = program_of(trace);
  const std::vector<bool> needed = needed_for(program, {{0, 0, 1}});
  EXPECT_FALSE(needed[3]) << "what it wrote is replaced before anybody reads it";
  EXPECT_EQ(std::count(needed.begin(), needed.end(), true), 6);
}

TEST(TrainiumSpotCheck, SameKernel_IsRight) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) EXPECT_EQ(checked(tiles({2, 2, 2, 2}), seed), "");
}

TEST(TrainiumSpotCheck, OutputReadBeforeItIsWritten_IsWrong) {
  Program program = tiles({2, 2, 2, 2});
  ASSERT_EQ(program.instructions[1].op, Op::tensor_scalar);
  // The product of every tile adds what its place in y holds, which would be right if that were zeros.
  std::vector<Instruction> instructions;
  for (std::size_t i = 0; i < 4; ++i) {
    Instruction old = program.instructions[3 * i];
    const std::uint32_t tile = old.target;
    old.sources = {program.instructions[3 * i + 2].target};
    program.buffers.push_back(program.buffers[program.view(tile).buffer]);
    View view = program.view(tile);
    view.buffer = static_cast<std::uint32_t>(program.buffers.size() - 1);
    program.views.push_back(view);
    old.target = static_cast<std::uint32_t>(program.views.size() - 1);
    Instruction sum = program.instructions[3 * i + 1];
    sum.op = Op::tensor_tensor;
    sum.operations = {Arithmetic::add};
    sum.numbers = {};
    sum.sources = {sum.target, old.target};
    instructions.insert(instructions.end(), {program.instructions[3 * i], old, program.instructions[3 * i + 1], sum,
                                             program.instructions[3 * i + 2]});
  }
  program.instructions = instructions;
  for (std::uint64_t seed = 0; seed < 20; ++seed) EXPECT_NE(checked(program, seed), "");
}

TEST(TrainiumSpotCheck, OneTileOfFourWrong_IsSeenNearlyAlways) {
  int seen = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) seen += checked(tiles({2, 2, 2, 2.01}), seed).empty() ? 0 : 1;
  EXPECT_GE(seen, 95);
  EXPECT_NE(checked(tiles({2, 2.5, 2.5, 2.01}), 1).find("output y: elements "), std::string::npos);
}

TEST(TrainiumSpotCheck, OverflowOrOtherFormulaOfOneTile_IsSeenAlways_AndRoundingIsNone) {
  const std::vector<float> x(4096, 1e5F);
  const Program baseline = tiles({2, 2, 2, 2});
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_NE(rough_check(tiles({2, 2, 1e35, 2}), baseline, {x}, seed, {}).value().find("is inf, where"),
              std::string::npos);
    EXPECT_EQ(rough_check(tiles({2, 2, 2.1, 2}), baseline, {x}, seed, {}).value(), "");
    EXPECT_NE(rough_check(tiles({2, 2, 4, 2}), baseline, {x}, seed, {}).value().find("by 1 of their size"),
              std::string::npos);
    EXPECT_EQ(rough_check(tiles({2, 1e35, 2, 2}), tiles({2, 1e36, 2, 2}), {x}, seed, {}).value(), "");
  }
}

TEST(TrainiumSpotCheck, Places_AreDrawnAnew) {
  const Program program = tiles({2, 2, 2, 2});
  EXPECT_NE(draw_stretches(program, 1, 1).front().begin, draw_stretches(program, 1, 2).front().begin);
  for (const Stretch& one : draw_stretches(program, 1000, 3)) {
    EXPECT_LT(one.begin, one.end);
    EXPECT_LE(one.end, 4096);
  }
}

TEST(TrainiumReferencePlaces, LargeWorkload_IsCutToAFewPlacesOfEachVariableAxis) {
  model::Definition definition;
  definition.axes = {{"M", std::nullopt}, {"N", std::nullopt}, {"K", 64}};
  const model::Workload two = ReferencePlaces::cut(definition, {.name = "published", .axes = {{"M", 4096}, {"N", 3}}});
  EXPECT_EQ(two.axes, (model::AxisValues{{"M", 4}, {"N", 3}}));
  definition.axes[1].value = 4096;
  const model::Workload one = ReferencePlaces::cut(definition, {.name = "published", .axes = {{"M", 4096}}});
  EXPECT_EQ(one.axes, (model::AxisValues{{"M", 16}}));
}

}  // namespace
}  // namespace accelopt::targets::trainium
