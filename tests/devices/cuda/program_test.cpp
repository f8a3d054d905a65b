// SPDX-License-Identifier: Apache-2.0
// Programs made by hand, without a front end: two cubins, arguments of every kind, a plan for each workload.
#include "devices/cuda/program.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/files.hpp"
#include "devices/cuda/open_task.hpp"
#include "fakes/cuda/compile.hpp"

namespace accelopt::devices::cuda {
namespace {

using evaluation::CallEnd;

/// sums[i] = x[i] * factor + shift
constexpr const char* kScale = R"(
extern "C" __global__ void scale(const float* x, float factor, double shift, int count, float* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sums[i] = x[i] * factor + shift;
}
)";
/// y[i] = s + wide - sums[i]
constexpr const char* kFinish = R"(
extern "C" __global__ void finish(const float* sums, float s, bool negative, long long wide, int count, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = (negative ? -sums[i] : sums[i]) + s + wide;
}
)";
constexpr const char* kReference = R"(
extern "C" __global__ void right(const real* x, real s, long long count, real* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = s + 3 - (x[i] * 2 + 0.5);
}
)";

std::string cubin_of(const std::string& text, const std::string& option = "") {
  const auto out = fakes::compile_cubin(text, "", option);
  EXPECT_TRUE(out) << out.error().message;
  return out.value_or("");
}

Launch launch_of(std::size_t cubin, const std::string& kernel, std::uint32_t blocks, std::vector<Argument> arguments) {
  Launch out;
  out.cubin = cubin;
  out.kernel = kernel;
  out.grid = {blocks, 1, 1};
  out.block = {64, 1, 1};
  out.arguments = std::move(arguments);
  return out;
}

/// For workloads "64" and "100", of so many elements.
Program by_hand() {
  Program out;
  out.cubins = {{cubin_of(kScale), {}}, {cubin_of(kFinish), {}}};
  for (const std::int32_t count : {64, 100}) {
    LaunchPlan plan;
    plan.scratch.push_back({"room", model::DType::float32, 256 + 4 * static_cast<std::uint64_t>(count), false});
    const Argument sums = tensor_argument("room", 256);
    plan.launches = {launch_of(0, "scale", 2,
                               {tensor_argument("x"), constant_argument(2.0F), constant_argument(0.5),
                                constant_argument(count), sums}),
                     launch_of(1, "finish", 2,
                               {sums, scalar_argument("s", model::DType::float32), constant_argument(true),
                                constant_argument(std::int64_t{3}), constant_argument(count), tensor_argument("y")})};
    out.plans[std::to_string(count)] = plan;
  }
  return out;
}

ProgramPtr reference_of(const std::string& real, model::DType dtype, const std::string& text = kReference) {
  auto out = std::make_shared<Program>();
  out->cubins = {{cubin_of(text, "-Dreal=" + real), {}}};
  for (const std::int64_t count : {64, 100, 4096}) {
    out->plans[std::to_string(count)].launches = {
        launch_of(0, "right", static_cast<std::uint32_t>(count + 63) / 64,
                  {tensor_argument("x"), scalar_argument("s", dtype), constant_argument(count), tensor_argument("y")})};
  }
  return out;
}

/// y[M] of x[M] and s, in float32.
model::Definition definition() {
  model::Definition out;
  out.axes = {{"M", std::nullopt}};
  for (const char* name : {"x", "s"}) out.inputs.emplace_back().name = name;
  out.outputs.emplace_back().name = "y";
  for (model::TensorSpec* tensor : {&out.inputs[0], &out.outputs[0]}) tensor->shape = std::vector<std::string>{"M"};
  return out;
}

class Programs : public testing::Test {
 protected:
  void SetUp() override {
    auto process = ServerProcess::create(ACCELOPT_DEVICE_PATH);
    ASSERT_TRUE(process) << process.error().message;
    task_.emplace(OpenTask{definition(), DeviceClient(std::move(*process), {0, ACCELOPT_FAKE_DRIVER, "", 0}),
                           [this](const evaluation::Invocation&) { return plan_; }});
    const auto checks = base::read_file(ACCELOPT_FAKE_CHECK_KERNELS);
    ASSERT_TRUE(checks) << checks.error().message;
    task_->device.set_check_kernels(*checks);
    in_double_ = task_->device.add(reference_of("double", model::DType::float64));
    in_float_ = task_->device.add(reference_of("float", model::DType::float32));
    for (const std::int64_t count : {64, 100}) prepare(count);
  }

  /// The slot of so many elements, which is its number too.
  void prepare(std::int64_t count) {
    const auto bounds = prepared(count, count);
    ASSERT_TRUE(bounds) << bounds.error().message;
  }
  base::Result<std::vector<evaluation::Bounds>> prepared(std::int64_t count, std::int64_t number,
                                                         bool every_run = true) {
    const model::Workload workload{std::to_string(count * columns_), {{"M", count}}, model::Role::race, 1.0};
    const evaluation::Invocation invocation{static_cast<std::uint64_t>(number), {}, {}, {count}};
    evaluation::SlotPlan plan{workload, invocation, {}, 7, every_run};
    for (const model::TensorSpec& input : task_->definition.inputs) {
      const auto shape = input.shape ? std::vector<std::int64_t>{count, columns_} : std::vector<std::int64_t>{};
      const model::InitSpec init{input.shape ? model::InitKind::normal : model::InitKind::constant, 0.25, 1};
      plan.inputs.push_back({init, input.dtype, shape, model::Family::as_declared, 11});
    }
    TRY_ASSIGN(auto recipe, slot_recipe(task_->definition, plan));
    recipe.request.in_double = {in_double_, workload.name};
    recipe.request.in_float = {in_float_, workload.name};
    return task_->device.prepare(invocation.number, std::move(recipe));
  }

  /// x and y have rows of 64 elements.
  model::Definition& make_rows() {
    columns_ = 64;
    model::Definition& definition = task_->definition;
    definition.axes.push_back({"N", columns_});
    for (model::TensorSpec* tensor : {&definition.inputs[0], &definition.outputs[0]}) tensor->shape->emplace_back("N");
    return definition;
  }

  /// The sixth run of the reference in double fails.
  void count_runs_in_double() {
    std::string counting = kReference;
    counting.replace(counting.find("  const int i"), 0,
                     "  static int runs; if (threadIdx.x == 0 && blockIdx.x == 0 && ++runs > 5) __trap();\n");
    in_double_ = task_->device.add(reference_of("double", model::DType::float64, counting));
  }

  base::Result<evaluation::CallOutcome> call(const Program& program, std::int64_t slot, const std::string& plan) {
    plan_ = plan;
    evaluation::CallOptions options;
    options.limit = std::chrono::seconds(10);
    options.alone = true;
    return start_program(*task_, std::make_shared<Program>(program))
        ->call({static_cast<std::uint64_t>(slot), {}, {}, {slot}}, options);
  }
  /// "right", "wrong", or why the call did not end.
  std::string outcome_of(const Program& program, std::int64_t slot = 64, const std::string& plan = "64") {
    const auto outcome = call(program, slot, plan);
    if (!outcome) return outcome.error().message;
    if (outcome->end != CallEnd::returned) return outcome->reason;
    return outcome->comparisons.at(0).passed() ? "right" : "wrong";
  }
  /// The same of a program whose plan for 64 elements is changed.
  std::string outcome_with(const std::function<void(LaunchPlan&)>& change) {
    Program program = by_hand();
    change(program.plans.at("64"));
    return outcome_of(program);
  }

  std::optional<OpenTask> task_;
  std::int64_t columns_ = 1;
  std::string plan_;
  std::string in_double_;
  std::string in_float_;
};

TEST(SlotRecipes, RowsDrawnWhole_ComeFromTheWorker) {
  const model::InitSpec listed{.kind = model::InitKind::values, .values = {0, 5, 9}};
  using enum model::InitKind;
  using enum model::DType;
  for (const auto& [init, dtype, bulk] : {std::tuple{model::InitSpec{integers, 0, 9}, int32, false},
                                          {{indptr, 9}, int32, true},
                                          {{distinct, 0, 9}, int32, true},
                                          {listed, int32, true},
                                          {{integers, 0, 0x1p63}, int64, true}}) {
    model::Definition definition;
    definition.axes = {{"M", std::nullopt}};
    definition.inputs = definition.outputs = std::vector<model::TensorSpec>(1);
    definition.inputs[0].name = "ids";
    definition.inputs[0].dtype = dtype;
    definition.inputs[0].shape = definition.outputs[0].shape = std::vector<std::string>{"M"};
    const model::Workload workload{"three", {{"M", 3}}, model::Role::race, 1.0};
    const evaluation::SlotPlan plan{workload, {1, {}, {}, {3}}, {{init, dtype, {3}}}, 7};
    const auto recipe = slot_recipe(definition, plan);
    ASSERT_TRUE(recipe) << recipe.error().message;
    EXPECT_EQ(recipe->request.variants.at(0).at(0).bulk, bulk) << to_string(init);
    EXPECT_EQ(recipe->draws.at(0).at(0).init, init);
    definition.inputs[0].visible = true;
    EXPECT_TRUE(slot_recipe(definition, plan)->request.variants.at(0).at(0).bulk) << "the host sees these very bytes";
  }
}

TEST_F(Programs, ErrorsOfEarlierSlots_StandForThreeRunsOfTheReference) {
  count_runs_in_double();
  const auto all = prepared(64, 1);  // three runs in double
  ASSERT_TRUE(all) << all.error().message;
  for (const std::int64_t number : {2, 3}) {
    const auto two = prepared(64, number, false);
    ASSERT_TRUE(two) << two.error().message;
    EXPECT_NEAR(two->at(0).normwise, all->at(0).normwise, all->at(0).normwise * 1e-9) << "the inputs are the same";
    EXPECT_NEAR(two->at(0).honest_elementwise, all->at(0).honest_elementwise, all->at(0).honest_elementwise);
  }
  EXPECT_FALSE(prepared(64, 4)) << "a slot of the first generation meets all of them";
}

TEST_F(Programs, WhereARowStandsAloneMoreRunsAreMade) {
  make_rows();
  const auto prepared_with = [&](int most_runs) {
    std::string text = kReference;
    text.replace(text.find("0.5"), 3, "real(0.5) + (i < 64 ? real(4096) : 0) - (i < 64 ? 4096 : 0)");  // the first row
    text.replace(text.find("  const"), 0, "static int n; if (sizeof(real) == 4 && i0 && ++n > MOST) __trap();");
    text = "#define i0 (threadIdx.x + blockIdx.x == 0)\n#define MOST " + std::to_string(most_runs) + text;
    in_double_ = task_->device.add(reference_of("double", model::DType::float64, text));
    in_float_ = task_->device.add(reference_of("float", model::DType::float32, text));
    return prepared(64, 1000 + most_runs).has_value();
  };
  EXPECT_FALSE(prepared_with(2 + evaluation::kMoreRuns - 1));
  EXPECT_TRUE(prepared_with(2 + evaluation::kMoreRuns));
}

TEST_F(Programs, ErrorsOfEarlierSlots_StandForThoseOfEachBand) {
  make_rows().outputs[0].dtype = model::DType::bfloat16;
  const auto all = prepared(64, 1);
  const auto two = prepared(64, 2, false);
  ASSERT_TRUE(all && two);
  int judged = 0;
  for (std::size_t band = 0; band < all->at(0).bands.size(); ++band) {
    const double allowed = all->at(0).bands[band];
    if (!std::isfinite(allowed)) continue;
    ++judged;
    EXPECT_NEAR(two->at(0).bands[band], allowed, allowed * 1e-9) << band << ": the inputs are the same";
  }
  EXPECT_GE(judged, 3);
}

TEST_F(Programs, WidelyPerturbedInputs_BothRunsInFloatStandForTheOthers) {
  model::Definition& definition = make_rows();
  definition.inputs[0].dtype = definition.outputs[0].dtype = model::DType::bfloat16;
  count_runs_in_double();
  const auto all = prepared(64, 1);  // three runs in double
  ASSERT_TRUE(all) << all.error().message;
  for (const std::int64_t number : {2, 3}) {
    const auto less = prepared(64, number, false);
    ASSERT_TRUE(less) << less.error().message;
    EXPECT_LE(less->at(0).normwise, all->at(0).normwise) << "the inputs are the same, and so are the runs";
    EXPECT_GE(less->at(0).normwise, all->at(0).normwise / 1.5);
    EXPECT_LE(less->at(0).honest_elementwise, all->at(0).honest_elementwise);
    int judged = 0;
    for (std::size_t band = 0; band < all->at(0).bands.size(); ++band) {
      const double allowed = all->at(0).bands[band];
      judged += std::isfinite(allowed) ? 1 : 0;
      EXPECT_LE(less->at(0).bands[band], allowed * (1 + 1e-9)) << band;
    }
    EXPECT_GE(judged, 3);
  }
  EXPECT_FALSE(prepared(64, 4)) << "a slot of the first generation meets all of them";
}

TEST_F(Programs, WidelyPerturbedInputs_OfFewRowsMeetAllRuns) {
  count_runs_in_double();
  for (model::TensorSpec* tensor : {&task_->definition.inputs[0], &task_->definition.outputs[0]})
    tensor->dtype = model::DType::bfloat16;
  ASSERT_TRUE(prepared(64, 1));
  EXPECT_FALSE(prepared(64, 2, false));
}

TEST_F(Programs, EachWorkload_HasItsPlan) {
  EXPECT_EQ(outcome_of(by_hand(), 64, "64"), "right");
  EXPECT_EQ(outcome_of(by_hand(), 100, "100"), "right");
  EXPECT_EQ(outcome_of(by_hand(), 100, "64"), "wrong");
}

TEST_F(Programs, Arguments_ReachTheKernelAsTyped) {
  const auto with = [&](std::size_t launch, std::size_t argument, const Argument& given) {
    return outcome_with([&](LaunchPlan& plan) { plan.launches.at(launch).arguments.at(argument) = given; });
  };
  EXPECT_EQ(with(0, 1, constant_argument(3.0F)), "wrong");
  EXPECT_EQ(with(0, 2, constant_argument(0.75)), "wrong");
  EXPECT_EQ(with(0, 3, constant_argument(63)), "wrong");
  EXPECT_EQ(with(1, 0, tensor_argument("room")), "wrong");
  EXPECT_EQ(with(1, 1, constant_argument(0.0F)), "wrong");
  EXPECT_EQ(with(1, 1, constant_argument(0.25F)), "right");
  EXPECT_EQ(with(1, 2, constant_argument(false)), "wrong");
  EXPECT_EQ(with(1, 2, constant_argument(model::DType::uint8, 1)), "right");
  EXPECT_EQ(with(1, 3, constant_argument(std::int64_t{1} << 32)), "wrong");
  EXPECT_EQ(with(1, 4, constant_argument(std::int64_t{64})), "right");  // as a shorter integer
}

TEST_F(Programs, Structures_ArePassedByValue) {
  Program program = by_hand();
  program.cubins[0].bytes = cubin_of(R"(
struct Numbers { double factor; long long shifts[2]; };
extern "C" __global__ void scale(const float* x, const Numbers numbers, int count, float* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sums[i] = x[i] * numbers.factor + numbers.shifts[1] / 2.0;
}
)");
  Launch& launch = program.plans.at("64").launches.at(0);
  const auto with = [&](std::vector<std::uint64_t> words) {
    launch.arguments = {tensor_argument("x"), words_argument(std::move(words)), constant_argument(64),
                        tensor_argument("room", 256)};
    return outcome_of(program);
  };
  const auto two = std::bit_cast<std::uint64_t>(2.0);
  EXPECT_EQ(with({two, 7, 1}), "right");
  EXPECT_EQ(with({two, 1, 7}), "wrong");
  EXPECT_EQ(with({two, 1}),
            "could not be launched: parameter 2 of kernel scale has 24 bytes, its launch gives 16 (an axis is an "
            "int64_t or an int)");
}

TEST_F(Programs, WaysOfLaunching_ReachTheDriver) {  // which refuses a kernel that would overlap with anything else
  EXPECT_EQ(outcome_with([](LaunchPlan& plan) {
              for (Launch& launch : plan.launches) {
                launch.overlaps = launch.cooperative = launch.spread = true;
                launch.cluster = {2, 1, 1};
              }
            }),
            "right");
}

TEST_F(Programs, LaunchesOfOneKernel_HaveTheirOwnSharedMemory) {
  EXPECT_EQ(outcome_with([](LaunchPlan& plan) {
              plan.launches.insert(plan.launches.begin(), plan.launches.front());
              plan.launches[0].shared_bytes = 64 << 10;
              plan.launches[1].shared_bytes = 1 << 10;
            }),
            "right");
}

TEST_F(Programs, WrongArguments_AreRefusedByName) {
  const auto with = [&](std::size_t argument, const Argument& given) {
    return outcome_with([&](LaunchPlan& plan) { plan.launches.at(0).arguments.at(argument) = given; });
  };
  EXPECT_EQ(
      with(1, constant_argument(2.0)),
      "could not be launched: parameter 2 of kernel scale has 4 bytes, its launch gives 8 (an axis is an int64_t or "
      "an int)");
  EXPECT_EQ(with(0, tensor_argument("z")), "could not be launched: the plan names z, which is no tensor of this call");
  EXPECT_EQ(with(0, tensor_argument("s")), "could not be launched: the plan names s, which is no tensor of this call");
  EXPECT_EQ(with(0, tensor_argument("x", 257)),
            "could not be launched: the plan has an address 257 bytes behind the beginning of x, which has 256");
  EXPECT_EQ(with(1, scalar_argument("s", model::DType::float64)),
            "could not be launched: the plan names s, which is no scalar of type float64");
  EXPECT_EQ(outcome_with([](LaunchPlan& plan) { plan.scratch.at(0).name = "x"; }),
            "could not be launched: the plan has a scratch buffer named like the tensor x");
  EXPECT_EQ(outcome_with([](LaunchPlan& plan) { plan.launches.at(0).arguments.pop_back(); }),
            "could not be launched: kernel scale takes more parameters than the 4 that its launch gives");
  EXPECT_EQ(outcome_with([](LaunchPlan& plan) { plan.launches.at(0).cubin = 1; }).substr(0, 44),
            "could not be launched: kernel scale: CUDA_ER");
}

TEST_F(Programs, UnknownPlan_IsAnError) {
  const auto outcome = call(by_hand(), 64, "65");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, base::ErrorCode::not_found);
  EXPECT_EQ(outcome.error().message, "the program has no plan \"65\"");
}

TEST_F(Programs, PlanWithoutSense_IsAnError) {
  Program program = by_hand();
  program.plans["100"].launches[0].cubin = 2;
  const auto outcome = call(program, 64, "64");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, base::ErrorCode::invalid_argument);
}

TEST_F(Programs, OneCall_HasBothCubinsAndThePlan) {
  const Program program = by_hand();
  const auto made = one_call(*task_, program, "100", {100, {}, {}, {100}});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->request.plan.launches.size(), 2U);
  EXPECT_EQ(made->request.cubin_bytes,
            (std::vector<std::uint64_t>{program.cubins[0].bytes.size(), program.cubins[1].bytes.size()}));
  ASSERT_EQ(made->bulk.size(), 3U);
  EXPECT_EQ(made->bulk[2], program.cubins[1].bytes);
  EXPECT_EQ(one_call(*task_, program, "none", {100, {}, {}, {100}}).error().code, base::ErrorCode::invalid_argument);
}

/// A kernel of which each slot has a program of its own.
class SlotPlans : public Programs {
 protected:
  /// The outcomes of calls on these slots, by one live program.
  std::vector<std::string> outcomes(const std::vector<std::uint64_t>& slots, int alone = 1) {
    const auto live = start_program(*task_, std::make_shared<Program>(by_hand()), [this](const auto& wanted) {
      asked_.push_back(wanted);
      std::vector<SlotProgram> out;
      for (const std::uint64_t slot : wanted) out.push_back(plans_.at(slot));
      return base::Result<std::vector<SlotProgram>>(out);
    });
    std::vector<std::string> out;
    EXPECT_TRUE(live->expect(expected_));
    for (const std::uint64_t slot : slots) {
      evaluation::CallOptions options;
      options.limit = std::chrono::seconds(10);
      options.alone = alone == 1;
      const auto outcome = live->call({slot, {}, {}, {static_cast<std::int64_t>(slot)}}, options);
      if (!outcome)
        out.push_back(outcome.error().message);
      else if (outcome->end != CallEnd::returned)
        out.push_back(outcome->reason);
      else
        out.emplace_back(outcome->comparisons.at(0).passed() ? "right" : "wrong");
    }
    return out;
  }
  /// The program for the slot alone, with its cubins the other way round.
  static SlotProgram own(std::uint64_t slot) {
    Program program = by_hand();
    std::swap(program.cubins[0], program.cubins[1]);
    LaunchPlan plan = program.plans.at(std::to_string(slot));
    for (Launch& launch : plan.launches) launch.cubin = 1 - launch.cubin;
    program.plans = {{"own", plan}};
    return {std::make_shared<Program>(program), "own", {}};
  }

  std::map<std::uint64_t, SlotProgram> plans_{{64, own(64)}, {100, own(100)}};
  std::vector<std::vector<std::uint64_t>> asked_;
  std::vector<const evaluation::Invocation*> expected_;
};

using Outcomes = std::vector<std::string>;

TEST_F(SlotPlans, TakeThePlaceOfTheProgramsPlan) {
  EXPECT_EQ(outcomes({64, 100}), (Outcomes{"right", "right"}));
  EXPECT_EQ(asked_, (std::vector<std::vector<std::uint64_t>>{{64}, {100}}));
}

TEST_F(SlotPlans, OfExpectedSlots_AreAskedForTogether) {
  const evaluation::Invocation one{64, {}, {}, {64}};
  const evaluation::Invocation other{100, {}, {}, {100}};
  expected_ = {&one, &other};
  EXPECT_EQ(outcomes({100, 64}), (Outcomes{"right", "right"}));
  EXPECT_EQ(asked_, (std::vector<std::vector<std::uint64_t>>{{64, 100}}));
}

TEST_F(SlotPlans, BringMachineCodeThatTheProgramLacks) {
  Program program = *plans_.at(100).program;
  program.cubins[1].bytes = cubin_of(R"(
extern "C" __global__ void scale(const float* x, float factor, double shift, int count, float* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sums[i] = x[i] * factor + shift + 1;
}
)");
  plans_.at(100).program = std::make_shared<Program>(program);
  EXPECT_EQ(outcomes({64, 100, 64}), (Outcomes{"right", "wrong", "right"}));
  program.cubins[1].bytes = "no machine code";
  plans_.at(100).program = std::make_shared<Program>(program);
  EXPECT_NE(outcomes({64, 100}).at(1).find("the machine code does not load"), std::string::npos);
}

TEST_F(SlotPlans, AreCheckedLikeAnyPlan) {
  Program program = *plans_.at(64).program;
  program.plans.at("own").launches[0].cubin = 2;
  plans_.at(64).program = std::make_shared<Program>(program);
  EXPECT_NE(outcomes({64}).at(0).find("a cubin that is not there"), std::string::npos);
  plans_.at(100).plan = "none";
  EXPECT_NE(outcomes({100}).at(0).find("has no plan \"none\""), std::string::npos);
}

TEST_F(SlotPlans, OfAnotherSlot_AreWrong) {
  plans_.at(100) = own(64);
  EXPECT_EQ(outcomes({100}), (Outcomes{"wrong"}));
}

TEST_F(SlotPlans, ThatCouldNotBeMade_EndTheKernel) {
  plans_.at(64) = {nullptr, {}, "k.py:3: error: no"};
  const std::string why = "could not be captured for this set of inputs: k.py:3: error: no";
  EXPECT_EQ(outcomes({64, 100}), (Outcomes{why, why}));
}

TEST_F(SlotPlans, OfALostServer_AreGivenAgain) {
  Program crashing = *own(100).program;
  crashing.cubins[1].bytes =
      cubin_of("extern \"C\" __global__ void scale(const float*, float, double, int, float*) { __trap(); }\n");
  const auto good = plans_.at(100);
  plans_.at(100).program = std::make_shared<Program>(crashing);
  EXPECT_NE(outcomes({100}).at(0), "right");
  plans_.at(100) = good;
  EXPECT_EQ(outcomes({64, 100}), (Outcomes{"right", "right"}));
}

TEST_F(SlotPlans, HoldForAllSetsOfInputsOfACall) {
  task_->definition.inputs[0].visible = true;
  task_->variants[{64}] = 3;
  EXPECT_EQ(outcomes({64}, 0), (Outcomes{"right"}));
  const auto& sets = task_->device.find(64)->request.variants;
  ASSERT_EQ(sets.size(), 3U);
  EXPECT_EQ(sets[0][0].seed, sets[2][0].seed) << "what the host knows is the same";
  task_->definition.inputs[0].visible = false;
  task_->variants[{100}] = 2;
  EXPECT_EQ(outcomes({100}, 0), (Outcomes{"right"}));
  const auto& others = task_->device.find(100)->request.variants;
  EXPECT_NE(others.at(0)[0].seed, others.at(1)[0].seed);
}

TEST_F(Programs, EqualOutputs_AreTold) {
  const auto equal = [&](bool same) {
    SlotRecipe recipe = *task_->device.find(64);
    recipe.request.number = 7;
    recipe.request.variants.push_back(recipe.request.variants.front());
    recipe.draws.push_back(recipe.draws.front());
    if (!same) ++recipe.request.variants.back().at(0).seed;
    const auto found = task_->device.equal_outputs(7, std::move(recipe));
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(std::vector<std::size_t>{99});
  };
  EXPECT_EQ(equal(true), std::vector<std::size_t>{0});
  EXPECT_TRUE(equal(false).empty());
  EXPECT_EQ(task_->device.find(7), nullptr);
}

TEST_F(Programs, LostServer_IsGivenItAgain) {
  const Program program = by_hand();
  EXPECT_EQ(outcome_of(program), "right");
  Program crashing = program;
  crashing.cubins[0].bytes =
      cubin_of("extern \"C\" __global__ void scale(const float*, float, double, int, float*) { __trap(); }\n");
  EXPECT_NE(outcome_of(crashing), "right");
  EXPECT_EQ(outcome_of(program), "right");
}

TEST_F(Programs, CubinThatDoesNotLoad_IsAnOutcome) {
  Program program = by_hand();
  program.cubins[1].bytes = "no machine code";
  EXPECT_NE(outcome_of(program).find("the machine code does not load"), std::string::npos) << outcome_of(program);
}

TEST(ProgramNames, DifferingPrograms_HaveDifferentNames) {
  auto process = ServerProcess::create("/nowhere");
  ASSERT_TRUE(process);
  DeviceClient client(std::move(*process), {});
  Program one;
  one.cubins = {{"code", {}}};
  one.plans["w"].launches = {launch_of(0, "k", 1, {})};
  Program plan = one;
  plan.plans["w"].launches[0].grid = {2, 1, 1};
  Program code = one;
  code.cubins[0].bytes = "other";
  const auto name = [&](const Program& program) { return client.add(std::make_shared<Program>(program)); };
  EXPECT_EQ(name(one), name(one));
  EXPECT_NE(name(one), name(plan));
  EXPECT_NE(name(one), name(code));
}

TEST(CheckPlan, NamesWhatIsWrong) {
  LaunchPlan good;
  good.scratch = {{"a", model::DType::float32, 4, false}};
  good.tensor_maps = {{"m", "a", 0, model::DType::float32, {1}, {1}, 0}};
  good.launches = {launch_of(0, "k", 1, {tensor_map_argument("m")})};
  EXPECT_TRUE(check_plan(good, 1));
  const auto refusal = [&](const std::function<void(LaunchPlan&)>& change) {
    LaunchPlan bad = good;
    change(bad);
    const auto checked = check_plan(bad, 1);
    return checked ? "" : checked.error().message;
  };
  EXPECT_EQ(refusal([](LaunchPlan& plan) { plan.launches[0].cubin = 1; }),
            "the launch plan launches k of a cubin that is not there");
  EXPECT_EQ(refusal([](LaunchPlan& plan) { plan.launches[0].grid[2] = 0; }),
            "the launch plan launches no blocks or no threads of k");
  EXPECT_EQ(refusal([](LaunchPlan& plan) { plan.launches[0].arguments[0].name = "n"; }),
            "the launch plan gives k a tensor map n, which it does not have");
  EXPECT_EQ(refusal([](LaunchPlan& plan) { plan.scratch.push_back(plan.scratch[0]); }),
            "the launch plan has two scratch buffers named a");
  EXPECT_EQ(refusal([](LaunchPlan& plan) { plan.tensor_maps.push_back(plan.tensor_maps[0]); }),
            "the launch plan has two tensor maps named m");
  EXPECT_EQ(refusal([](LaunchPlan& plan) { plan.tensor_maps[0].strides = {4}; }),
            "the launch plan has a tensor map m with strides of other axes");
  EXPECT_EQ(refusal([](LaunchPlan& plan) { plan.launches[0].arguments.push_back(words_argument({})); }),
            "the launch plan gives k a structure of nothing");
  EXPECT_EQ(refusal([](LaunchPlan& plan) { plan.tensor_maps[0].box.clear(); }),
            "the launch plan has a tensor map m without axes, or with a box of other axes");
}

TEST(LaunchedKernels, AreNamedOnce) {
  Program program;
  program.plans["a"].launches = {launch_of(0, "first", 1, {}), launch_of(0, "second", 1, {})};
  program.plans["b"].launches = {launch_of(0, "first", 1, {}), launch_of(0, "third", 1, {})};
  EXPECT_EQ(launched_kernels(program), (std::vector<std::string>{"first", "second", "third"}));
}

}  // namespace
}  // namespace accelopt::devices::cuda
