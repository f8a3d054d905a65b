// SPDX-License-Identifier: Apache-2.0
// Reading, checking and executing traces, honest and not.
#include "targets/trainium/program.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "targets/trainium/check.hpp"
#include "targets/trainium/execute.hpp"
#include "targets/trainium/traces.hpp"

namespace accelopt::targets::trainium {
namespace {

using base::Json;

/// What the kernel makes of these; `problem` is what it says.
std::vector<float> outputs_of(const Program& program, const std::vector<float>& x, std::string* problem = nullptr) {
  std::vector<float> y(x.size());
  const auto said = execute(program, {x}, {y}, {});
  EXPECT_TRUE(said);
  if (said && problem != nullptr) *problem = *said;
  return y;
}

std::vector<float> numbers() {
  std::vector<float> x(1024);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = (static_cast<float>(i) - 512.0F) / 64.0F;
  return x;
}

TEST(TrainiumProgram, Silu_IsComputed) {
  const std::vector<float> x = numbers();
  const std::vector<float> y = outputs_of(program_of(silu_trace()), x);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], x[i] / (1.0F + std::exp(-x[i])), 1e-6F) << i;
}

TEST(TrainiumProgram, ScanAndReduce_GoAlongElements) {
  Json trace = silu_trace();
  trace["buffers"].push_back({"sbuf", "sum", 9, nullptr, {128, 1}});
  trace["views"].push_back({7, 0, 128, 1, 1, 1});
  trace["views"].push_back({7, 0, 128, 1, 8, 0});
  trace["instructions"] = Json::parse(R"([["load", 4, 0, 2, [0], [], [], 0], ["memset", 5, 0, 3, [], [], [0.5], 0],
    ["scan", 6, 0, 4, [3, 2], ["multiply", "add"], [0.0], 0], ["reduce", 7, 0, 7, [4], ["max"], [1.0], 1],
    ["tensor_scalar", 8, 0, 6, [4, 8], ["add"], [null], 0], ["store", 9, 0, 1, [6], [], [], 0]])");
  const std::vector<float> x = numbers();
  const std::vector<float> y = outputs_of(program_of(trace), x);
  float last = 0;
  float largest = -INFINITY;
  std::vector<float> scan;
  for (std::size_t i = 0; i < 8; ++i) {
    scan.push_back(last = 0.5F * last + x[i]);
    largest = std::max(largest, last);
  }
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(y[i], scan[i] - largest, 1e-5F);
}

TEST(TrainiumProgram, ScanOfReversedOperands_SubtractsTheOtherWayRound) {
  for (const int flags : {0, 1, 2, 3}) {
    Json trace = silu_trace();
    trace["instructions"] = Json::parse(R"([["load", 4, 0, 2, [0], [], [], 0], ["memset", 5, 0, 3, [], [], [0.5], 0],
      ["scan", 6, 0, 6, [2, 3], ["subtract", "subtract"], [1.0], 0], ["store", 9, 0, 1, [6], [], [], 0]])");
    trace["instructions"][2][7] = flags;
    const std::vector<float> x = numbers();
    const std::vector<float> y = outputs_of(program_of(trace), x);
    float last = 1;
    for (std::size_t i = 0; i < 8; ++i) {
      last = (flags & 1) != 0 ? last - x[i] : x[i] - last;
      last = (flags & 2) != 0 ? 0.5F - last : last - 0.5F;
      EXPECT_EQ(y[i], last) << flags << " " << i;
    }
  }
}

TEST(TrainiumProgram, Infinities_AreReadByTheirNames) {
  Json trace = silu_trace();
  trace["buffers"][3][3] = "-inf";
  trace["instructions"] = Json::parse(R"([["load", 4, 0, 2, [0], [], [], 0],
    ["tensor_tensor", 5, 0, 4, [2, 3], ["max"], [], 0], ["tensor_scalar", 6, 0, 5, [4], ["min"], ["inf"], 0],
    ["tensor_scalar", 7, 0, 6, [5], ["min"], [1e60], 0], ["store", 9, 0, 1, [6], [], [], 0]])");
  EXPECT_EQ(outputs_of(program_of(trace), numbers()), numbers());
  trace["instructions"][2][5] = {"max"};
  EXPECT_EQ(outputs_of(program_of(trace), numbers())[0], INFINITY);
}

TEST(TrainiumProgram, Matmul_TransposesTheStationaryAndAccumulates) {
  Json trace = silu_trace();
  trace["buffers"] = Json::parse(R"([["input", "x", 0, null, [128, 8]], ["output", "y", 3, null, [128, 8]],
    ["sbuf", "a", 4, null, [128, 8]], ["sbuf", "w", 4, 2.0, [128, 128]], ["psum", "p", 4, 1.0, [128, 8]], ["sbuf", "r", 4, null, [128, 8]]])");
  trace["views"] =
      Json::parse(R"([[0, 0, 128, 8, 8, 1], [1, 0, 128, 8, 8, 1], [2, 0, 128, 8, 8, 1], [3, 0, 128, 128, 128, 1],
    [4, 0, 128, 8, 8, 1], [5, 0, 128, 8, 8, 1]])");
  trace["instructions"] = Json::parse(R"([["load", 4, 0, 2, [0], [], [], 0], ["matmul", 5, 0, 4, [3, 2], [], [], 1],
    ["copy", 6, 0, 5, [4], [], [], 0], ["store", 7, 0, 1, [5], [], [], 0]])");
  const Program program = program_of(trace);
  EXPECT_EQ(check(program, kTrn1).message, "");
  const std::vector<float> x = numbers();
  const std::vector<float> y = outputs_of(program, x);
  float sum = 1;
  for (std::size_t k = 0; k < 128; ++k) sum += 2.0F * x[8 * k + 3];
  EXPECT_NEAR(y[8 * 77 + 3], sum, 1e-2F);
}

TEST(TrainiumProgram, UninitialisedTile_IsNamedWithItsLine) {
  Json trace = silu_trace();
  trace["instructions"].erase(0);  // nothing is loaded
  std::string problem;
  outputs_of(program_of(trace), numbers(), &problem);
  EXPECT_NE(problem.find("\"load\" (line 4) reach output \"y\""), std::string::npos) << problem;
}

/// y = y + silu(x): the output is loaded in place of x for the product.
Json output_read_trace() {
  Json trace = silu_trace();
  trace["instructions"].insert(trace["instructions"].begin() + 4,
                               Json::array({"load", 8, 0, 2, {1}, Json::array(), Json::array(), 0}));
  return trace;
}

TEST(TrainiumProgram, OutputReadBeforeItIsWritten_IsNamedWithItsLine) {
  std::string problem;
  outputs_of(program_of(output_read_trace()), numbers(), &problem);
  EXPECT_NE(problem.find("\"y\" (line 3) reach output \"y\""), std::string::npos) << problem;
}

TEST(TrainiumProgram, PartThatReadsAnOutput_FindsNoZerosThere) {
  const std::vector<float> x = numbers();
  std::vector<float> y(x.size());  // zeros, as fresh pages are
  const Program program = program_of(output_read_trace());
  ASSERT_TRUE(execute_some(program, std::vector<bool>(program.instructions.size(), true), {x}, {y}, {}));
  for (const float value : y) ASSERT_TRUE(std::isnan(value));
}

/// Every change makes it no trace: refused by name, whatever it would access.
TEST(TrainiumProgram, HostileTraces_AreCorrupt) {
  const std::vector<std::pair<const char*, Json>> changes{
      {"/views/0", {0, 1, 128, 8, 8, 1}},   // one element beyond
      {"/views/2", {2, 8, 128, 8, 8, 1}},   // a partition beyond
      {"/views/2", {2, 0, 128, 8, 9, 1}},   // into the next partition
      {"/views/2", {2, 0, 128, 8, 8, -1}},  // before the first
      {"/views/2", {2, -1, 128, 8, 8, 1}},
      {"/views/2", {2, 0, 4294967296, 8, 8, 1}},
      {"/views/2", {2, 0, 128, 8, 2147483647, 2147483647}},  // its reach overflows
      {"/views/2", {77, 0, 128, 8, 8, 1}},
      {"/views/2", {2, 0}},
      {"/buffers/2/4", {128, 8, 1}},
      {"/buffers/2/4", {65536, 65536}},
      {"/buffers/0/4", {128, 9}},  // another input than the task's
      {"/outputs", {2}},
      {"/outputs", Json::array()},
      {"/iterations", Json::array()},
      {"/iterations", Json::array({{0, -1, 0}, {1, 0, 0}})},  // its own parent
      {"/instructions/0/0", "teleport"},
      {"/instructions/0/3", 7},
      {"/instructions/0/4", Json::array()},
      {"/instructions/1/6", Json::array({nullptr})},  // a scale that is nowhere
      {"/instructions/1/7", 3},
      {"/instructions/2/6", {"nan"}},
      {"/buffers/2/3", "nan"},
      {"/instructions/2/5", {"add", "add"}},
      {"/instructions/4/4", {2}},
      {"/views", "none"},
  };
  for (const auto& [at, value] : changes) {
    Json trace = silu_trace();
    trace[Json::json_pointer(at)] = value;
    const auto read = read_program(trace, kInputs, kOutputs);
    ASSERT_FALSE(read) << at << " " << value.dump();
    EXPECT_EQ(read.error().code, base::ErrorCode::corrupt) << at;
  }
}

std::string refusal_of(const char* at, const Json& value) {
  Json trace = silu_trace();
  trace[Json::json_pointer(at)] = value;
  const Refusal refusal = check(program_of(trace), kTrn1);
  return refusal.message.substr(0, refusal.message.find(':'));
}

TEST(TrainiumCheck, Refusals_HaveTheCataloguesNames) {
  EXPECT_EQ(check(program_of(silu_trace()), kTrn1).message, "");
  EXPECT_EQ(refusal_of("/buffers/6/4", {256, 8}), "err_num_partition_exceed_arch_limit");
  Json wide = silu_trace();
  wide["buffers"][6][4] = {128, 50000};
  wide["views"][6] = {6, 0, 128, 50000, 8, 1};
  EXPECT_TRUE(check(program_of(wide), kTrn1).message.starts_with("err_size_of_dimension_exceed_arch_limit"));
  EXPECT_EQ(refusal_of("/buffers/6/0", "psum"), "err_unsupported_memory");  // stored from PSUM
  EXPECT_EQ(refusal_of("/buffers/2/0", "psum"), "err_unsupported_memory");  // loaded to PSUM
  EXPECT_EQ(refusal_of("/instructions/5/4", {0}), "err_unsupported_memory");
  EXPECT_EQ(refusal_of("/views/1", {1, 0, 128, 8, 8, 0}), "err_tensor_output_not_written_to");
  EXPECT_EQ(refusal_of("/views/2", {2, 0, 128, 0, 8, 1}), "err_unsupported_partition_step");  // loads to one partition
  EXPECT_EQ(refusal_of("/views/5", {5, 0, 128, 0, 8, 1}), "err_unsupported_partition_step");  // and of one for all
}

TEST(TrainiumCheck, OutputNotWritten_SaysWhich) {
  Json trace = silu_trace();
  trace["instructions"].erase(5);
  const Refusal refusal = check(program_of(trace), kTrn1);
  EXPECT_EQ(refusal.line, 3);
  EXPECT_NE(refusal.message.find("element 0 of output \"y\""), std::string::npos) << refusal.message;
}

TEST(TrainiumCheck, TwoIterationsOfAnAffineLoop_WriteOnePlace) {
  Json trace = silu_trace();
  trace["iterations"] = {{0, -1, 0}, {0, 0, 0}, {0, 0, 1}};
  Json again = trace["instructions"][5];
  trace["instructions"][5][2] = 1;
  again[2] = 2;
  trace["instructions"].push_back(again);
  trace["loops"] = {{3, "affine", 2}};
  EXPECT_TRUE(check(program_of(trace), kTrn1).message.starts_with("err_unexpected_output_dependencies"));
  trace["loops"] = {{3, "sequential", 2}};
  EXPECT_EQ(check(program_of(trace), kTrn1).message, "");
}

/// The name of what is refused if two iterations of a loop do this to one tile, whose result is stored after it.
std::string combined_by(const char* kind, const char* first, const char* second) {
  Json trace = silu_trace();
  trace["buffers"][4][3] = 1.0;
  trace["loops"] = {{3, kind, 2}};
  trace["iterations"] = {{0, -1, 0}, {0, 0, 0}, {0, 0, 1}};
  const Json none = Json::array();
  trace["instructions"] = Json::array({{"load", 4, 0, 2, {0}, none, none, 0},
                                       {"tensor_tensor", 5, 1, 4, {4, 2}, {first}, none, 0},
                                       {"tensor_tensor", 6, 2, 4, {4, 2}, {second}, none, 0},
                                       {"store", 7, 0, 1, {4}, none, none, 0}});
  const Refusal refusal = check(program_of(trace), kTrn1);
  return refusal.message.substr(0, refusal.message.find(':'));
}

TEST(TrainiumCheck, IterationsThatCombineOnePlaceInOneWay_MayBeInAnyOrder) {
  for (const char* one : {"add", "subtract", "multiply", "divide", "max", "min"})
    EXPECT_EQ(combined_by("affine", one, one), "");
  EXPECT_EQ(combined_by("affine", "add", "subtract"), "");
  for (const auto& [first, second] : {std::pair("add", "multiply"), {"max", "min"}, {"less", "less"}}) {
    EXPECT_EQ(combined_by("affine", first, second), "err_unexpected_output_dependencies") << first << second;
    EXPECT_EQ(combined_by("sequential", first, second), "");
  }
}

TEST(TrainiumCheck, IterationThatReadsAnotherOnesWrite_IsNamedWithBothLines) {
  Json trace = silu_trace();
  trace["loops"] = {{3, "affine", 2}};
  trace["iterations"] = {{0, -1, 0}, {0, 0, 0}, {0, 0, 1}};
  for (std::size_t i = 0; i < 3; ++i) trace["instructions"][i][2] = 1;
  for (std::size_t i = 3; i < 6; ++i) trace["instructions"][i][2] = 2;
  const Refusal refusal = check(program_of(trace), kTrn1);
  EXPECT_EQ(refusal.line, 7);
  EXPECT_NE(refusal.message.find("reads what another one writes to tile \"sum\" (line 6) (lines 6 and 7)"),
            std::string::npos)
      << refusal.message;
}

}  // namespace
}  // namespace accelopt::targets::trainium
