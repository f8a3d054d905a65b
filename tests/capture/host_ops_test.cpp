// SPDX-License-Identifier: Apache-2.0
// Host operations from their JSON to the numbers that come out, by the real kernels on this processor.
#include "capture/host_ops.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>

#include "capture/host_op_kernels.hpp"
#include "model/dtype.hpp"

namespace accelopt::capture {
namespace {

using base::Json;
using devices::cuda::Argument;

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string out(values.size() * sizeof(T), '\0');
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

Json view(const char* buffer, const char* dtype, std::vector<int> shape, std::vector<int> strides, int offset = 0) {
  return {{"buffer", buffer}, {"offset", offset}, {"dtype", dtype}, {"shape", shape}, {"strides", strides}};
}

/// Of a multiple of three bytes.
std::string base64_of(const std::string& bytes) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i + 2 < bytes.size(); i += 3) {
    unsigned three = 0;
    for (std::size_t j = 0; j < 3; ++j) three = 256 * three + static_cast<unsigned char>(bytes[i + j]);
    for (const unsigned shift : {18U, 12U, 6U, 0U}) out += digits[three >> shift & 63U];
  }
  return out;
}

class HostOps : public testing::Test {
 protected:
  std::map<std::string, std::string> memory;

  base::Result<HostOp> lower(const Json& op) const {
    return lowered(
        op,
        [this](const std::string& name) -> std::optional<std::uint64_t> {
          const auto found = memory.find(name);
          if (found == memory.end()) return std::nullopt;
          return found->second.size();
        },
        3, 7);
  }

  void run(const Json& op) {
    const auto done = lower(op);
    ASSERT_TRUE(done) << done.error().message;
    for (const auto& buffer : done->scratch) memory[buffer.name] = std::string(buffer.bytes, '\x7f');
    for (const auto& launch : done->launches) {
      EXPECT_EQ(launch.cubin, 3U);
      const HostOpKernel* const kernel = host_op_kernel(launch.kernel);
      ASSERT_NE(kernel, nullptr) << launch.kernel;
      std::vector<std::vector<std::uint64_t>> values;
      for (const Argument& argument : launch.arguments) {
        if (argument.kind == Argument::Kind::tensor)
          values.push_back({reinterpret_cast<std::uint64_t>(memory.at(argument.name).data()) + argument.offset});
        else
          values.push_back(argument.kind == Argument::Kind::words ? argument.words : std::vector{argument.bits});
        EXPECT_EQ(kernel->parameter(values.size() - 1), 8 * values.back().size()) << launch.kernel;
      }
      EXPECT_EQ(kernel->parameter(values.size()), 0U) << launch.kernel;
      std::vector<void*> pointers;
      for (auto& value : values) pointers.push_back(value.data());
      EXPECT_TRUE(kernel->launch(launch.grid.data(), launch.block.data(), pointers.data()));
    }
  }

  template <class T>
  std::vector<T> values(const std::string& name) const {
    std::vector<T> out(memory.at(name).size() / sizeof(T));
    std::memcpy(out.data(), memory.at(name).data(), out.size() * sizeof(T));
    return out;
  }

  std::string refused(const Json& op) const {
    const auto done = lower(op);
    return done ? "it was taken" : done.error().message;
  }
};

TEST_F(HostOps, Fill_WritesItsViewAlone) {
  memory["y"] = bytes_of(std::vector<std::int16_t>(12, 1));
  run({{"op", "fill"}, {"bits", 0xfffe}, {"to", view("y", "int16", {2, 2}, {6, 2}, 2)}});
  EXPECT_EQ(values<std::int16_t>("y"), (std::vector<std::int16_t>{1, -2, 1, -2, 1, 1, 1, -2, 1, -2, 1, 1}));
}

TEST_F(HostOps, Copy_OfATransposedView) {
  std::vector<float> x(6);
  std::iota(x.begin(), x.end(), 0.0F);
  memory["x"] = bytes_of(x);
  memory["y"] = std::string(24, 0);
  run({{"op", "copy"}, {"from", view("x", "float32", {3, 2}, {1, 3})}, {"to", view("y", "float32", {3, 2}, {2, 1})}});
  EXPECT_EQ(values<float>("y"), (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST_F(HostOps, Copy_OfABroadcastAxis) {
  memory["x"] = bytes_of(std::vector<double>{1, 2});
  memory["y"] = std::string(48, 0);
  run({{"op", "copy"}, {"from", view("x", "float64", {3, 2}, {0, 1})}, {"to", view("y", "float64", {3, 2}, {2, 1})}});
  EXPECT_EQ(values<double>("y"), (std::vector<double>{1, 2, 1, 2, 1, 2}));
}

TEST_F(HostOps, Copy_WithoutGaps_TakesTheLastBytesToo) {
  std::vector<std::uint8_t> x(1003);
  std::iota(x.begin(), x.end(), std::uint8_t{3});
  memory["x"] = bytes_of(x);
  memory["y"] = std::string(1003, 0);
  run({{"op", "copy"}, {"from", view("x", "uint8", {17, 59}, {59, 1})}, {"to", view("y", "uint8", {17, 59}, {59, 1})}});
  EXPECT_EQ(values<std::uint8_t>("y"), x);
}

TEST_F(HostOps, Copy_ConvertsAsPyTorchDoes) {
  const auto converted = [this]<class From, class To>(const std::vector<From>& from, const char* from_dtype,
                                                      const char* to_dtype, std::vector<To> expected) {
    const int count = static_cast<int>(from.size());
    memory["x"] = bytes_of(from);
    memory["y"] = std::string(from.size() * sizeof(To), 0);
    run({{"op", "copy"}, {"from", view("x", from_dtype, {count}, {1})}, {"to", view("y", to_dtype, {count}, {1})}});
    EXPECT_EQ(values<To>("y"), expected) << from_dtype << " to " << to_dtype;
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  // To the nearest, ties to even; 16 bits of bfloat16 and float16 by their patterns.
  converted(std::vector<float>{1, 1.00390625F, 1.01171875F, -kInfinity}, "float32", "bfloat16",
            std::vector<std::uint16_t>{0x3f80, 0x3f80, 0x3f82, 0xff80});
  converted(std::vector<float>{1, 65519, 65520, 5.9604645e-8F}, "float32", "float16",
            std::vector<std::uint16_t>{0x3c00, 0x7bff, 0x7c00, 1});
  converted(std::vector<float>{448, 465, -0.0F}, "float32", "float8_e4m3fn",
            std::vector<std::uint8_t>{0x7e, 0x7f, 0x80});
  converted(std::vector<std::uint16_t>{0x3f80, 0xc000}, "bfloat16", "float32", std::vector<float>{1, -2});
  converted(std::vector<float>{1.9F, -1.9F, 3e9F, std::nanf("")}, "float32", "int32",
            std::vector<std::int32_t>{1, -1, 2147483647, 0});
  converted(std::vector<float>{0.25F, 0, std::nanf("")}, "float32", "bool", std::vector<std::uint8_t>{1, 0, 1});
  // Through double it would be rounded twice.
  converted(std::vector<std::int64_t>{(std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1, -5}, "int64", "float32",
            std::vector<float>{std::nextafterf(0x1p60F, kInfinity), -5});
  converted(std::vector<std::int64_t>{-1, 300}, "int64", "uint8", std::vector<std::uint8_t>{255, 44});
  converted(std::vector<std::uint64_t>{~std::uint64_t{0}}, "uint64", "float32", std::vector<float>{0x1p64F});
  converted(std::vector<std::int8_t>{-3, 0}, "int8", "float64", std::vector<double>{-3, 0});
}

TEST_F(HostOps, Upload_OfMoreThanOneLaunchTakes) {
  std::vector<std::int32_t> x(2001);
  std::iota(x.begin(), x.end(), -7);
  memory["y"] = bytes_of(std::vector<std::int32_t>(2002, 5));
  run({{"op", "upload"}, {"to", view("y", "int32", {2001}, {1}, 4)}, {"data", base64_of(bytes_of(x))}});
  x.insert(x.begin(), 5);
  EXPECT_EQ(values<std::int32_t>("y"), x);
}

TEST_F(HostOps, Gather_TakesRowsAndLeavesThoseOutOfRange) {
  memory["x"] = bytes_of(std::vector<float>{0, 1, 10, 11, 20, 21});
  memory["i"] = bytes_of(std::vector<std::int32_t>{2, -3, 3, 1});
  memory["y"] = bytes_of(std::vector<float>(8, -1));
  run({{"op", "gather"},
       {"from", view("x", "float32", {3, 2}, {2, 1})},
       {"index", view("i", "int32", {4}, {1})},
       {"to", view("y", "float32", {4, 2}, {1, 4})}});
  EXPECT_EQ(values<float>("y"), (std::vector<float>{20, 0, -1, 10, 21, 1, -1, 11}));
}

TEST_F(HostOps, Sum_OverAnInnerAxis) {
  memory["x"] = bytes_of(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  memory["y"] = std::string(16, 0);
  run({{"op", "sum"},
       {"from", view("x", "float32", {2, 2, 2}, {4, 2, 1})},
       {"to", view("y", "float32", {2, 1, 2}, {2, 2, 1})},
       {"dims", {1}}});
  EXPECT_EQ(values<float>("y"), (std::vector<float>{4, 6, 12, 14}));
}

TEST_F(HostOps, Sum_OfManyElements_IsSharedByBlocks) {
  const std::size_t length = 40'000;
  std::vector<std::int32_t> x(2 * length);
  std::iota(x.begin(), x.end(), -1000);
  memory["x"] = bytes_of(x);
  memory["y"] = std::string(16, 0);
  run({{"op", "sum"},
       {"from", view("x", "int32", {2, int{length}}, {int{length}, 1})},
       {"to", view("y", "int64", {2, 1}, {1, 1})},
       {"dims", {1}}});
  std::vector<std::int64_t> expected(2);
  for (std::size_t i = 0; i < x.size(); ++i) expected[i / length] += x[i];
  EXPECT_EQ(values<std::int64_t>("y"), expected);
}

TEST_F(HostOps, LargestAbsoluteValue_OfEverything) {
  std::vector<float> x(30'000, 0.5F);
  x[17'001] = -3;
  memory["x"] = bytes_of(x);
  memory["y"] = std::string(4, 0);
  const Json op = {{"op", "abs_amax"},
                   {"from", view("x", "float32", {100, 300}, {300, 1})},
                   {"to", view("y", "float32", {1, 1}, {1, 1})},
                   {"dims", {0, 1}}};
  run(op);
  EXPECT_EQ(values<float>("y"), std::vector<float>{3});
  x[29'999] = std::nanf("");
  memory["x"] = bytes_of(x);
  run(op);
  EXPECT_TRUE(std::isnan(values<float>("y")[0]));
}

TEST_F(HostOps, ForgedOperations_AreRefused) {
  memory["x"] = std::string(64, 0);
  memory["y"] = std::string(64, 0);
  const auto fill = [](const Json& to) { return Json{{"op", "fill"}, {"bits", 1}, {"to", to}}; };
  const auto beyond = [&](const Json& op) { return refused(op).find("beyond") != std::string::npos; };
  EXPECT_TRUE(beyond(fill(view("y", "float32", {17}, {1}))));
  EXPECT_TRUE(beyond(fill(view("y", "float32", {16}, {1}, 4))));
  EXPECT_TRUE(beyond(fill(view("y", "float32", {2, 2}, {16, 1}))));
  EXPECT_TRUE(beyond(fill(view("y", "float32", {1}, {1}, 2))));  // where no float32 begins
  const auto formless = [&](const Json& op) { return refused(op).find("the captured plan") != std::string::npos; };
  EXPECT_TRUE(formless(fill(view("secret", "float32", {1}, {1}))));
  EXPECT_TRUE(formless(fill(view("y", "float31", {1}, {1}))));
  EXPECT_TRUE(formless(fill(view("y", "float32", {1}, {-1}))));
  EXPECT_TRUE(formless(fill(view("y", "float32", {2147483647, 2147483647, 2147483647}, {0, 0, 0}))));
  const Json y = view("y", "float32", {4, 4}, {4, 1});
  EXPECT_TRUE(formless({{"op", "copy"}, {"from", view("x", "float32", {4}, {1})}, {"to", y}}));
  EXPECT_TRUE(formless({{"op", "sum"}, {"from", y}, {"to", y}, {"dims", {1}}}));
  EXPECT_TRUE(formless({{"op", "sum"}, {"from", y}, {"to", y}, {"dims", {2}}}));
  EXPECT_TRUE(formless({{"op", "gather"}, {"from", y}, {"to", y}, {"index", view("x", "float32", {4}, {1})}}));
  EXPECT_TRUE(formless({{"op", "upload"}, {"to", y}, {"data", "AAAA"}}));
  EXPECT_TRUE(formless({{"op", "rm"}, {"from", y}, {"to", y}}));
  const std::vector<int> twos(9, 2);
  EXPECT_NE(refused(fill(view("y", "uint8", twos, {1, 4, 1, 4, 1, 4, 1, 4, 1}))).find("9 axes"), std::string::npos);
}

}  // namespace
}  // namespace accelopt::capture
