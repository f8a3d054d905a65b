// SPDX-License-Identifier: Apache-2.0
#include "scaffold/cuda_kernel.hpp"

#include <gtest/gtest.h>

namespace accelopt::scaffold {
namespace {

/// Like "x:input y:output", or the reason why there are none.
std::string parameters_of(const std::string& source, const std::string& name = "k") {
  const auto kernel = find_cuda_kernel(source, name, "k.cu");
  if (!kernel) return kernel.error().message;
  std::string out;
  for (const CudaParameter& parameter : kernel->parameters) {
    const char* kind = parameter.kind == CudaParameter::Kind::input    ? "input"
                       : parameter.kind == CudaParameter::Kind::output ? "output"
                                                                       : "axis";
    out += (out.empty() ? "" : " ") + parameter.name + ":" + kind;
  }
  return out;
}

/// The text with the linkage of C, or the reason why there is none.
std::string linked_text(const std::string& source) {
  const auto kernel = find_cuda_kernel(source, "k", "k.cu");
  return kernel ? kernel->source : kernel.error().message;
}

TEST(CudaKernel, CommentsInParameters_AreNone) {
  EXPECT_EQ(parameters_of("// k(a) is __global__ void k(b) {\n"
                          "__global__ void k(const float* x,   // input (M, K)\n"
                          "                  float* y,         /* output (M, K), */\n"
                          "                  int M, int K) {}\n"),
            "x:input y:output M:axis K:axis");
  EXPECT_EQ(parameters_of("const char* s = \"__global__ void k(int a) {}\";\n__global__ void k(float* y) {}"),
            "y:output");
}

TEST(CudaKernel, ConstIsReadLeftOfTheStar) {
  EXPECT_EQ(parameters_of("__global__ void k(float* const y, float const* __restrict__ x, const float* const w) {}"),
            "y:output x:input w:input");
  EXPECT_EQ(parameters_of("__global__ void k(Pair<const int, 2>* y, const float x[4], float z[], const int n) {}"),
            "y:output x:input z:output n:axis");
  EXPECT_EQ(parameters_of("__global__ void k(float eps, size_t n, unsigned m = f(1, 2), long long l = 3) {}"),
            "eps:input n:axis m:axis l:axis");
}

TEST(CudaKernel, WithoutParameters_HasNone) {
  EXPECT_EQ(parameters_of("__global__ void k() {}"), "");
  EXPECT_EQ(parameters_of("__global__ void k(void) {}"), "");
}

TEST(CudaKernel, StaticAndInline_GiveWayToTheLinkage) {
  EXPECT_EQ(linked_text("static __global__ void k() {}"), "extern \"C\" __global__ void k() {}");
  EXPECT_EQ(linked_text("__global__ static inline void k() {}"), "extern \"C\" __global__ void k() {}");
  EXPECT_EQ(linked_text("int a;\n__global__ void __launch_bounds__(f(2), 1) k() {}"),
            "int a;\nextern \"C\" __global__ void __launch_bounds__(f(2), 1) k() {}");
  EXPECT_EQ(linked_text("extern \"C\" __global__ void k() {}"), "extern \"C\" __global__ void k() {}");
  // Its declarations as well.
  EXPECT_EQ(linked_text("static __global__ void k(int);\nstatic __global__ void k(int n) {}"),
            "extern \"C\" __global__ void k(int);\nextern \"C\" __global__ void k(int n) {}");
}

TEST(CudaKernel, Templates_AreRefused) {
  for (const char* text : {"template <typename T>\n__global__ void k(T* y) {}",
                           "template <typename T, typename = std::enable_if_t<true>> __global__ void k(T* y) {}",
                           "template <typename T, typename = A<B<C>>>\nstatic __global__ void k(T* y) {}",
                           "template <int S> requires (S > 0) __global__ void k(float* y) {}"})
    EXPECT_NE(parameters_of(text).find("k is a template"), std::string::npos) << text;
}

TEST(CudaKernel, AbsentOrWithoutNames_IsAnError) {
  EXPECT_EQ(parameters_of("__global__ void kk(int a) {}"), "k.cu: no kernel `__global__ void k(...)`");
  EXPECT_EQ(parameters_of("__global__ void k(int a);"), "k.cu: no kernel `__global__ void k(...)`");
  EXPECT_EQ(parameters_of("__global__ void k(int a"), "k.cu: no kernel `__global__ void k(...)`");
  EXPECT_NE(parameters_of("__global__ void k(float* y, int) {}").find("parameter 2 of k has no name"),
            std::string::npos);
}

TEST(CudaKernel, LaunchIsItsOwn) {
  const auto kernel = find_cuda_kernel(
      "__global__ void k(float* y) {}\n// k<<<1, 2>>>(y);\nvoid run() { j<<<3, 4>>>(y); k<<<dim3(n >> 1), 256 >>>(y); "
      "}",
      "k", "k.cu");
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(kernel->launch, "dim3(n >> 1), 256");
}

}  // namespace
}  // namespace accelopt::scaffold
