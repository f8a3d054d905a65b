// SPDX-License-Identifier: Apache-2.0
// Tensor maps as the driver is given them.
#include <gtest/gtest.h>

#include "devices/cuda/device.hpp"
#include "devices/cuda/prepared_plan.hpp"
#include "fakes/cuda/compile.hpp"
#include "fakes/cuda/encode.hpp"

namespace accelopt::devices::cuda {
namespace {

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

TEST(TensorMapOfTheServer, WhatTheDriverRefusesIsToldWithTheMapsName) {
  const auto device = Device::open(0, ACCELOPT_FAKE_DRIVER);
  ASSERT_TRUE(device) << device.error().message;
  const auto cubin =
      fakes::compile_cubin("extern \"C\" __global__ void squares(const float* x, float* y) { y[0] = x[0]; }\n", "", "");
  ASSERT_TRUE(cubin) << cubin.error().message;
  auto module = (*device)->load(*cubin);
  ASSERT_TRUE(module);
  const auto memory = (*device)->allocate(1 << 20);
  ASSERT_TRUE(memory);
  Modules modules;
  modules.push_back(std::move(*module));
  const auto refusal = [&](const TensorMap& map, std::uint64_t offset) {
    LaunchPlan plan;
    plan.tensor_maps.push_back(map);
    Launch launch;
    launch.kernel = "squares";
    launch.arguments.push_back(tensor_map_argument("tile"));
    plan.launches.push_back(launch);
    PlanBinding binding;
    binding.tensors["x"] = {memory->address() + offset, 32 * 100 * sizeof(float)};
    const auto prepared = PreparedPlan::prepare(**device, {modules, plan}, binding);
    return prepared ? std::string() : prepared.error().message;
  };
  const TensorMap good{"tile", "x", 0, model::DType::float32, {32, 100}, {32, 64}, 128};
  const std::string expected =
      "tensor map tile is refused: CUDA_ERROR_INVALID_VALUE: invalid argument (rows of a multiple of 16 bytes, a box "
      "of at most 256 elements an axis, its inner extent within the swizzle)";
  EXPECT_NE(refusal(good, 0), expected);  // its kernel takes other parameters
  EXPECT_EQ(refusal(good, 8), expected);
  TensorMap bad = good;
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
}  // namespace accelopt::devices::cuda
