// SPDX-License-Identifier: Apache-2.0
// Places of outputs without the rest.
#include "targets/trainium/spot_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
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

TEST(TrainiumSpotCheck, SmallTermLeftOut_IsSeenWhereRoundingDoesNotExplainIt) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_NE(checked(tiles({2.00002, 2.00002, 2.00002, 2.00002}), seed).find("relative difference 1e-05"),
              std::string::npos)
        << "as a weight decay of 1e-5";
    EXPECT_EQ(checked(tiles({2.000001, 2.000001, 2.000001, 2.000001}), seed), "");
  }
}

TEST(TrainiumSpotCheck, OverflowOrOtherFormulaOfOneTile_IsSeenAlways_AndRoundingIsNone) {
  const std::vector<float> x(4096, 1e5F);
  const Program baseline = tiles({2, 2, 2, 2});
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_NE(rough_check(tiles({2, 2, 1e35, 2}), baseline, {x}, seed, {}).value().find("is inf, where"),
              std::string::npos);
    EXPECT_EQ(rough_check(tiles({2, 2, 2.01, 2}), baseline, {x}, seed, {}).value(), "");
    EXPECT_NE(rough_check(tiles({2, 2, 2.1, 2}), baseline, {x}, seed, {}).value(), "")
        << "rounding explains nothing here";
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

/// y = x / sum of row, of M rows and N columns.
model::Definition shares() {
  model::Definition out;
  out.axes = {{"M", std::nullopt}, {"N", std::nullopt}};
  model::TensorSpec tensor;
  tensor.shape = {"M", "N"};
  tensor.name = "x";
  out.inputs = {tensor};
  tensor.name = "y";
  out.outputs = {tensor};
  out.cost = {.flops = "2*M*N", .bytes = "8*M*N"};
  return out;
}

/// Divides by `divisor` of a row's values.
evaluation::HostReference shares_by(std::function<double(const std::vector<double>&)> divisor) {
  return [divisor](evaluation::Precision, const std::vector<evaluation::ReferenceTensor>& inputs,
                   const evaluation::Invocation& call) -> base::Result<std::vector<evaluation::ReferenceTensor>> {
    const auto width = static_cast<std::size_t>(call.axes.at(1));
    evaluation::ReferenceTensor out = inputs.at(0);
    for (std::size_t row = 0; row < out.values.size(); row += width) {
      const auto begin = out.values.begin() + static_cast<std::ptrdiff_t>(row);
      const double by = divisor({begin, begin + static_cast<std::ptrdiff_t>(width)});
      for (std::size_t i = row; i < row + width; ++i) out.values[i] /= by;
    }
    return std::vector{out};
  };
}

double sum_of(const std::vector<double>& row) {
  return std::accumulate(row.begin(), row.end(), 0.0);
}

std::vector<float> ascending(std::size_t count) {
  std::vector<float> out(count);
  std::iota(out.begin(), out.end(), 1.0F);
  return out;
}

TEST(TrainiumReferencePlaces, AxisThatIsSummedOver_IsNotSeparable) {
  const std::vector<float> x = ascending(std::size_t{40} * 50);
  const auto separable = [&](const model::Workload& workload, const evaluation::HostReference& reference) {
    return ReferencePlaces::separable(shares(), workload, {x}, reference, 1);
  };
  const model::Workload odd{.name = "odd", .axes = {{"M", 40}, {"N", 50}}};
  const auto by_two = shares_by([](const std::vector<double>&) { return 2.0; });
  EXPECT_EQ(separable(odd, shares_by(&sum_of)), (ReferencePlaces::Axes{"M"}));
  EXPECT_EQ(separable(odd, by_two), (ReferencePlaces::Axes{"M", "N"}));
  EXPECT_EQ(separable({.name = "odd", .axes = {{"M", 5}, {"N", 400}}}, by_two), (ReferencePlaces::Axes{"N"}))
      << "of five places, a few are all";
}

TEST(TrainiumReferencePlaces, PlacesThatDependOnOthers_AreNotComparedWith) {
  const std::vector<float> x = ascending(std::size_t{512} * 8);
  const model::Workload raced{.name = "raced", .axes = {{"M", 512}, {"N", 8}}};
  const auto places = [&](const ReferencePlaces::Axes& axes) {
    return ReferencePlaces::compute_twice(shares(), raced, {x}, shares_by(&sum_of), axes, 1);
  };
  EXPECT_FALSE(places({"M", "N"}));
  ASSERT_TRUE(places({"M"}));
  EXPECT_NE(places({"M"})->check(tiles({2, 2, 2, 2}), {x}, 1, {}).value().find("not what the reference computes"),
            std::string::npos);
  const auto halved = shares_by([](const std::vector<double>&) { return 0.5; });
  const auto doubled = ReferencePlaces::compute_twice(shares(), raced, {x}, halved, {"M", "N"}, 1);
  ASSERT_TRUE(doubled);
  EXPECT_EQ(doubled->check(tiles({2, 2, 2, 2}), {x}, 1, {}).value(), "");
}

TEST(TrainiumReferencePlaces, VariableAxisOfNoOutput_IsRefused) {
  model::Definition definition = shares();
  EXPECT_TRUE(ReferencePlaces::check_definition(definition));
  definition.outputs.front().shape = {"M"};
  const auto refused = ReferencePlaces::check_definition(definition);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("write N as a constant, or add a workload of role check"), std::string::npos);
}

TEST(TrainiumReferencePlaces, LargeWorkload_IsCutToAFewPlacesOfEachAxis) {
  const model::Workload two = ReferencePlaces::cut({.name = "published", .axes = {{"M", 4096}, {"N", 3}}}, {"M", "N"});
  EXPECT_EQ(two.axes, (model::AxisValues{{"M", 4}, {"N", 3}}));
  const model::Workload one = ReferencePlaces::cut({.name = "published", .axes = {{"M", 4096}, {"N", 99}}}, {"M"});
  EXPECT_EQ(one.axes, (model::AxisValues{{"M", 16}, {"N", 99}}));
  EXPECT_TRUE(ReferencePlaces::cheap(shares(), one));
  EXPECT_FALSE(ReferencePlaces::cheap(shares(), {.name = "published", .axes = {{"M", 1 << 14}, {"N", 1 << 14}}}));
}

}  // namespace
}  // namespace accelopt::targets::trainium
