// SPDX-License-Identifier: Apache-2.0
#include "capture/answer.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>

#include "base/base64.hpp"
#include "capture/dependence.hpp"

namespace accelopt::capture {
namespace {

using base::Json;

/// x and y of four floats, and what an honest answer says of their sum.
struct AnswerTest : testing::Test {
  model::Solution solution{model::Language("python"), {{"main.py", "..."}}};
  Request request{
      .solution = solution,
      .function = "run",
      .architecture = 90,
      .workloads = {{"w0", {{"x", model::DType::float32, {4}, false}}, {{"y", model::DType::float32, {4}, false}}}}};
  Json answer = {{"cubins", {{{"data", "AAECAw=="}, {"kernel", "add_kernel"}, {"ptxas", "ptxas info"}}}},
                 {"plans",
                  {{{"workload", "w0"},
                    {"buffers",
                     {{{"name", "x"}, {"kind", "input"}, {"dtype", "float32"}, {"bytes", 16}},
                      {{"name", "y"}, {"kind", "output"}, {"dtype", "float32"}, {"bytes", 16}},
                      {{"name", "%1"}, {"kind", "scratch"}, {"dtype", "float32"}, {"bytes", 64}}}},
                    {"ops",
                     {{{"op", "launch"},
                       {"cubin", 0},
                       {"grid", {1, 1, 1}},
                       {"block", {128, 1, 1}},
                       {"cluster", {0, 0, 0}},
                       {"shared_bytes", 0},
                       {"arguments",
                        {{{"tensor", "x"}, {"offset", 0}},
                         {{"tensor", "%1"}, {"offset", 16}},
                         {{"constant", "int32"}, {"bits", 4}}}}}}}}}},
                 {"findings", {{{"file", "main.py"}, {"line", 3}, {"message", "num_warps has no effect"}}}},
                 {"seconds", {{"host", 0.25}, {"compile", 0.5}}}};

  Json& plan() { return answer["plans"][0]; }
  Json& launch() { return plan()["ops"][0]; }
  /// The error of the answer after a change.
  std::string refused(const std::function<void()>& change) {
    const Json honest = answer;
    change();
    const auto read = read_captured(answer, request);
    answer = honest;
    return read ? "it was taken" : read.error().message;
  }
};

TEST_F(AnswerTest, HonestPlan_IsAProgram) {
  const auto read = read_captured(answer, request);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->program.cubins.at(0).bytes, std::string("\0\1\2\3", 4));
  const devices::cuda::LaunchPlan& plan = read->program.plans.at("w0");
  ASSERT_EQ(plan.launches.size(), 1U);
  EXPECT_EQ(plan.launches[0].kernel, "add_kernel");
  EXPECT_EQ(plan.launches[0].block[0], 128U);
  ASSERT_EQ(plan.launches[0].arguments.size(), 3U);
  EXPECT_EQ(plan.launches[0].arguments[1].name, "%1");
  EXPECT_EQ(plan.launches[0].arguments[1].offset, 16U);
  EXPECT_EQ(plan.launches[0].arguments[2].bits, 4U);
  ASSERT_EQ(plan.scratch.size(), 1U);
  EXPECT_FALSE(plan.scratch[0].zero);
  EXPECT_EQ(read->findings.at(0).line, 3);
  EXPECT_DOUBLE_EQ(read->seconds, 0.75);
  EXPECT_FALSE(read->host_ops);
}

TEST_F(AnswerTest, ReadsOfTheHost_AreTold) {
  plan()["reads"] = {{"x", 3}};
  const auto read = read_captured(answer, request);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->reads, (std::map<std::string, std::uint64_t>{{"x", 3}}));
  EXPECT_NE(refused([&] { plan()["reads"] = {{"z", 3}}; }), "it was taken");
  EXPECT_NE(refused([&] { plan()["reads"] = {{"x", -1}}; }), "it was taken");
}

TEST_F(AnswerTest, UploadsOfTheHost_AreBounded) {
  const auto upload = [&](std::size_t bytes) {
    plan()["buffers"][2]["bytes"] = 2 * kMostUploadedBytes;
    const auto elements = static_cast<std::int64_t>(bytes / 4);
    plan()["ops"].push_back(
        {{"op", "upload"},
         {"data", base::to_base64(std::string(bytes, 'a'))},
         {"to", {{"buffer", "%1"}, {"offset", 0}, {"dtype", "float32"}, {"shape", {elements}}, {"strides", {1}}}}});
  };
  EXPECT_EQ(refused([&] { upload(kMostUploadedBytes); }), "it was taken");
  EXPECT_NE(refused([&] { upload(kMostUploadedBytes + 4); }).find("more than the host may derive"), std::string::npos);
  EXPECT_NE(refused([&] {
              upload(kMostUploadedBytes);
              upload(1 << 10);
            }).find("more than the host may derive"),
            std::string::npos);
}

TEST_F(AnswerTest, ValuesThatTheHostKnows_AreAsked) {
  request.workloads[0].inputs.push_back({"indptr", model::DType::int32, {2}, false, {}, std::string("\0\1\2\3", 4)});
  request.workloads[0].inputs.push_back({"scale", model::DType::float32, {}, false, 0.5});
  const Json inputs = capture_request(request)["workloads"][0]["inputs"];
  EXPECT_FALSE(inputs[0].contains("visible"));
  EXPECT_EQ(inputs[1]["visible"], "AAECAw==");
  EXPECT_EQ(inputs[2]["value"], 0.5);
}

TEST_F(AnswerTest, OutputOfWhatTheHostKnows_IsFound) {
  using devices::cuda::Launch;
  using devices::cuda::tensor_argument;
  Shapes shapes = request.workloads[0];
  shapes.inputs.push_back({"indptr", model::DType::int32, {2}, false, {}, std::string(8, '\0')});
  const auto launch = [](std::initializer_list<const char*> tensors) {
    Launch out;
    for (const char* tensor : tensors) out.arguments.push_back(tensor_argument(tensor));
    return out;
  };
  const auto found = [&](std::vector<Launch> launches) {
    devices::cuda::LaunchPlan plan;
    plan.launches = std::move(launches);
    return known_output(shapes, plan).value_or("none");
  };
  EXPECT_EQ(found({launch({"x", "y"})}), "none");
  EXPECT_EQ(found({launch({"indptr", "y"})}), "y");
  EXPECT_EQ(found({launch({"y"})}), "y");
  EXPECT_EQ(found({launch({"x", "%1"}), launch({"%1", "indptr", "y"})}), "none");
  EXPECT_EQ(found({launch({"%1", "y"}), launch({"x", "%1"})}), "y") << "what comes later is too late";
  devices::cuda::LaunchPlan mapped;
  mapped.tensor_maps = {{"map0", "x", 0, model::DType::float32, {4}, {4}, 0}};
  mapped.launches = {launch({"y"})};
  mapped.launches[0].arguments.push_back(devices::cuda::tensor_map_argument("map0"));
  EXPECT_FALSE(known_output(shapes, mapped));
  shapes.outputs[0].shape = {0};
  EXPECT_FALSE(known_output(shapes, {}));
}

TEST(Choices, InAnotherOrder_AreFoundByName) {
  const std::vector<Choice> known{{"a", {{}, {}}}, {"b", {{}, {}, {}}}};
  const std::vector<Choice> here{{"b", {}}, {"c", {}}, {"a", {}}};
  EXPECT_EQ(reordered({1, 2}, known, here), (Selection{2, kAnyConfiguration, 1}));
}

TEST_F(AnswerTest, ClearedScratch_IsTheDevicesToClear) {
  const Json fill = {
      {"op", "fill"},
      {"bits", 0},
      {"to", {{"buffer", "%1"}, {"offset", 0}, {"dtype", "float32"}, {"shape", {4, 4}}, {"strides", {4, 1}}}}};
  plan()["ops"].insert(plan()["ops"].begin(), fill);
  auto read = read_captured(answer, request);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->program.plans.at("w0").scratch.at(0).zero);
  EXPECT_FALSE(read->host_ops);
  EXPECT_EQ(read->program.plans.at("w0").launches.size(), 1U);

  plan()["ops"][0]["to"]["shape"] = {4, 2};  // half of it
  read = read_captured(answer, request);
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->program.plans.at("w0").scratch.at(0).zero);
  EXPECT_TRUE(read->host_ops);
  EXPECT_EQ(read->program.plans.at("w0").launches.at(0).kernel, "accelopt_host_fill");
}

TEST_F(AnswerTest, ClearingAfterUse_IsNoClearingBefore) {
  const Json fill = {
      {"op", "fill"},
      {"bits", 0},
      {"to", {{"buffer", "%1"}, {"offset", 0}, {"dtype", "float32"}, {"shape", {16}}, {"strides", {1}}}}};
  plan()["ops"].push_back(fill);
  const auto read = read_captured(answer, request);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_FALSE(read->program.plans.at("w0").scratch.at(0).zero);
  ASSERT_EQ(read->program.plans.at("w0").launches.size(), 2U);
  EXPECT_EQ(read->program.plans.at("w0").launches[1].kernel, "accelopt_host_fill");
  EXPECT_EQ(read->program.plans.at("w0").launches[1].cubin, 1U);
}

TEST_F(AnswerTest, WaysOfLaunching_ArePassedOn) {
  launch()["cooperative"] = true;
  launch()["pdl"] = true;
  launch()["cluster"] = {2, 1, 1};
  const auto read = read_captured(answer, request);
  ASSERT_TRUE(read) << read.error().message;
  const devices::cuda::Launch& got = read->program.plans.at("w0").launches.at(0);
  EXPECT_TRUE(got.cooperative);
  EXPECT_TRUE(got.overlaps);
  EXPECT_TRUE(got.spread);
}

TEST_F(AnswerTest, DescriptorsOfTheHost_AreTensorMaps) {
  const Json map = {{"buffer", "x"},   {"offset", 16},  {"element_type", 7},  {"dims", {4, 2}},
                    {"strides", {32}}, {"box", {4, 2}}, {"swizzle_bytes", 0}, {"nan_fill", true}};
  launch()["arguments"][0] = {{"tensor_map", map}};
  const auto read = read_captured(answer, request);
  ASSERT_TRUE(read) << read.error().message;
  const devices::cuda::LaunchPlan& plan = read->program.plans.at("w0");
  ASSERT_EQ(plan.tensor_maps.size(), 1U);
  EXPECT_EQ(plan.launches[0].arguments[0].name, plan.tensor_maps[0].name);
  EXPECT_EQ(plan.tensor_maps[0].tensor, "x");
  EXPECT_EQ(plan.tensor_maps[0].dtype, model::DType::float32);
  EXPECT_EQ(plan.tensor_maps[0].strides, std::vector<std::uint64_t>{32});
  EXPECT_TRUE(plan.tensor_maps[0].nan_fill);
  const auto refused_with = [&](const char* key, const Json& value) {
    return refused([&] { launch()["arguments"][0]["tensor_map"][key] = value; }) != "it was taken";
  };
  EXPECT_TRUE(refused_with("buffer", "expected"));
  EXPECT_TRUE(refused_with("offset", 1 << 20));
  EXPECT_TRUE(refused_with("element_type", 12));
  EXPECT_TRUE(refused_with("dims", Json::array()));
  EXPECT_TRUE(refused_with("dims", {4, 2, 1}));
  EXPECT_TRUE(refused_with("box", {4}));
  EXPECT_TRUE(refused_with("strides", {32, 64}));
}

TEST_F(AnswerTest, OneConfiguration_OfAChoice) {
  const Json alternative = launch();
  answer["cubins"].push_back({{"data", "BAUG"}, {"kernel", "wide_kernel"}, {"ptxas", "second"}});
  answer["choices"] = {{{"name", "add_kernel"},
                        {"configurations",
                         {{{"BLOCK", 128}, {"num_warps", 4}},
                          {{"BLOCK", 512}, {"num_warps", 4}},
                          {{"BLOCK", 64}, {"num_warps", 4}},
                          {{"BLOCK", 32}, {"num_warps", 4}}}}}};
  Json wide = alternative;
  wide["cubin"] = 1;
  plan()["ops"] = {{{"op", "choose"},
                    {"choice", 0},
                    {"alternatives",
                     {{{"configuration", 0}, {"ops", {alternative}}},
                      {{"configuration", 1}, {"ops", {wide}}},
                      {{"configuration", 2}, {"error", {{"message", "too many registers"}}}}}}}};
  const auto choices = choices_of(answer);
  ASSERT_TRUE(choices) << choices.error().message;
  const OpenChoices open = opened(*choices);
  EXPECT_EQ(open.space.names, std::vector<std::string>{"BLOCK"});
  EXPECT_EQ(open.space.configurations, (std::vector<model::TuningValues>{{128}, {512}, {64}, {32}}));
  const auto read = read_captured(answer, request, &open.selections[1]);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->program.cubins.size(), 1U) << "the other configuration's is left out";
  EXPECT_EQ(read->program.plans.at("w0").launches.at(0).kernel, "wide_kernel");
  EXPECT_EQ(read->program.plans.at("w0").launches.at(0).cubin, 0U);
  EXPECT_EQ(read->ptxas, std::vector<std::string>{"second"});
  const auto message = [&](std::size_t configuration) {
    return read_captured(answer, request, &open.selections[configuration]).error().message;
  };
  EXPECT_EQ(message(2), "error: too many registers");
  EXPECT_NE(message(3).find("pruned"), std::string::npos);
  EXPECT_EQ(read_captured(answer, request)->program.plans.at("w0").launches.at(0).kernel, "add_kernel");
  EXPECT_NE(refused([&] { plan()["ops"][0]["choice"] = 7; }), "");
}

TEST(Choices, AreNamedByWhatDiffers) {
  const auto open = [](const std::vector<Choice>& choices) { return opened(choices).space; };
  const Choice tiles{"gemm", {{{"M", 64}, {"N", 64}}, {{"M", 64}, {"N", 128}}}};
  const Choice kinds{"norm", {{{"kind", "row"}}, {{"kind", "tile"}}, {{"kind", "all"}}}};
  const Choice alone{"copy", {{{"BLOCK", 8}}}};
  EXPECT_EQ(open({}).names, std::vector<std::string>{});
  EXPECT_FALSE(open({alone}).open());
  EXPECT_EQ(open({alone, tiles}).names, std::vector<std::string>{"N"});
  EXPECT_EQ(open({kinds}).configurations, (std::vector<model::TuningValues>{{0}, {1}, {2}}));
  const OpenChoices both = opened({tiles, alone, kinds});
  EXPECT_EQ(both.space.names, (std::vector<std::string>{"gemm_N", "norm"}));
  EXPECT_EQ(both.space.sets, (std::vector<model::TuningValues>{{64, 128}, {0, 1, 2}}));
  EXPECT_EQ(both.space.combinations, 6);
  EXPECT_EQ(both.space.configurations.at(4), (model::TuningValues{128, 1}));
  EXPECT_EQ(both.selections.at(4), (Selection{1, 0, 1}));
  const Choice twice{"same", {{{"M", 64}}, {{"M", 64}}}};
  EXPECT_EQ(open({twice}).names, std::vector<std::string>{"same"});
  const Choice bad{"a b\n", {{{"x\x1b", 1}}, {{"x\x1b", 2}}}};
  EXPECT_EQ(open({bad}).names, std::vector<std::string>{"x_"});
}

TEST(Choices, OfTooManyCombinations_KeepTheirFirst) {
  Choice many{"many", {}};
  for (int i = 0; i < 200; ++i) many.configurations.push_back({{"X", i}});
  const OpenChoices open = opened({many, many});
  EXPECT_EQ(open.space.configurations.size(), 200U);
  EXPECT_EQ(open.selections.at(199), (Selection{199, 0}));
}

TEST(Choices, OfNoForm_AreRefused) {
  for (const Json& choices :
       {Json(), Json::array({1}), Json::array({{{"name", "k"}, {"configurations", Json::array()}}}),
        Json::array({{{"name", "k"}, {"configurations", {1}}}})})
    EXPECT_FALSE(choices_of({{"choices", choices}})) << choices.dump();
  EXPECT_FALSE(choices_of(Json::object()));
}

TEST_F(AnswerTest, ForgedPlans_AreRefused) {
  EXPECT_NE(refused([&] { launch()["cubin"] = 1; }).find("\"cubin\""), std::string::npos);
  EXPECT_NE(refused([&] { launch()["cubin"] = -1; }).find("\"cubin\""), std::string::npos);
  EXPECT_NE(refused([&] { launch()["grid"] = {1, 1}; }).find("\"grid\""), std::string::npos);
  EXPECT_NE(refused([&] { launch()["grid"] = {0, 1, 1}; }).find("no blocks"), std::string::npos);
  EXPECT_NE(refused([&] { launch()["block"] = {1e9, 1, 1}; }).find("\"block\""), std::string::npos);
  EXPECT_NE(refused([&] { launch()["shared_bytes"] = 1U << 30; }).find("\"shared_bytes\""), std::string::npos);
  EXPECT_NE(refused([&] { launch()["arguments"][0]["offset"] = 17; }).find("\"offset\""), std::string::npos);
  EXPECT_NE(refused([&] { launch()["arguments"][0]["tensor"] = "expected"; }).find("not there"), std::string::npos);
  EXPECT_NE(refused([&] { launch()["arguments"][2]["constant"] = "void"; }).find("no kind"), std::string::npos);
  EXPECT_NE(refused([&] { plan()["buffers"][0]["bytes"] = 32; }).find("another size"), std::string::npos);
  EXPECT_NE(refused([&] { plan()["buffers"][0]["name"] = "secret"; }).find("has not"), std::string::npos);
  EXPECT_NE(refused([&] { plan()["buffers"][2]["name"] = "x"; }).find("no name"), std::string::npos);
  EXPECT_NE(refused([&] { plan()["buffers"][2]["bytes"] = 1ULL << 50; }).find("\"bytes\""), std::string::npos);
  EXPECT_NE(refused([&] { plan()["workload"] = "w1"; }).find("not asked for"), std::string::npos);
  EXPECT_NE(refused([&] { answer["plans"].push_back(plan()); }).find("not asked for"), std::string::npos);
  EXPECT_NE(refused([&] { answer["plans"].clear(); }).find("missing"), std::string::npos);
  EXPECT_NE(refused([&] { answer["cubins"][0]["kernel"] = "a b"; }).find("no name"), std::string::npos);
  EXPECT_NE(refused([&] { answer["cubins"][0]["data"] = "AAE\n"; }).find("base64"), std::string::npos);
  EXPECT_NE(refused([&] { answer["cubins"].clear(); }).find("has none"), std::string::npos);
  EXPECT_NE(refused([&] { answer["cubins"] = 7; }).find("none"), std::string::npos);
  EXPECT_NE(refused([&] { plan()["ops"][0] = "launch"; }).find("none"), std::string::npos);
}

TEST_F(AnswerTest, ChoiceInAChoice_IsRefused) {
  const Json inner = {{"op", "choose"}, {"choice", 0}, {"alternatives", {{{"ops", Json::array()}}}}};
  plan()["ops"].push_back({{"op", "choose"}, {"choice", 0}, {"alternatives", {{{"ops", {inner}}}}}});
  EXPECT_NE(refused([] {}).find("choice in a choice"), std::string::npos);
  plan()["ops"].back() = {{"op", "choose"}, {"choice", 0}, {"alternatives", {{{"error", Json::object()}}}}};
  EXPECT_NE(refused([] {}).find("choice of nothing"), std::string::npos);
}

TEST(Diagnostics, SayWhere) {
  EXPECT_EQ(diagnostics_of({{"kind", "refused"},
                            {"file", "main.py"},
                            {"line", 41},
                            {"call", "Tensor.softmax"},
                            {"message", "arithmetic on device data"},
                            {"text", "more"}}),
            "main.py:41: error: Tensor.softmax: arithmetic on device data\nmore");
  EXPECT_EQ(diagnostics_of({{"message", "a process died"}}), "error: a process died");
  EXPECT_EQ(diagnostics_of({{"message", "\x1b]0;x\a red \x1b[31m, h\xc3\xa9, \xff"}}),
            "error: ?]0;x? red ?[31m, h\xc3\xa9, ?");
  EXPECT_EQ(diagnostics_of(Json()), "error: ");
}

}  // namespace
}  // namespace accelopt::capture
