// SPDX-License-Identifier: Apache-2.0
// Kernels as a careful programmer writes them first, and a way to run them: every recipe's result is compiled by the
// system's compiler and compared with what it was made from.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "recipes/engine.hpp"

namespace accelopt::recipes {

inline const syntax::Clang& clang() {
  static const syntax::Clang kClang = [] {
    auto loaded = syntax::Clang::load();
    if (!loaded) ADD_FAILURE() << loaded.error().message;
    return *loaded;
  }();
  return kClang;
}

/// A kernel with the sizes that it is run with: odd ones, so that every remainder is met.
struct Sample {
  KernelSource kernel;
  std::vector<std::size_t> inputs;  ///< elements of each
  std::size_t output = 0;
  std::vector<std::int64_t> axes;  ///< passed after the output
};

inline Sample matmul(std::int64_t m = 61, std::int64_t n = 53, std::int64_t k = 37) {
  Sample sample;
  sample.kernel.task_header =
      "#include <stdint.h>\nenum { K = " + std::to_string(k) + ", N = " + std::to_string(n) + " };\n";
  sample.kernel.source = R"(#include "task.h"

extern "C" void kernel(const float* a, const float* b, float* c, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float acc = 0.0f;
      for (int64_t k = 0; k < K; ++k) {
        acc += a[i * K + k] * b[k * N + j];
      }
      c[i * N + j] = acc;
    }
  }
}
)";
  sample.inputs = {static_cast<std::size_t>(m * k), static_cast<std::size_t>(k * n)};
  sample.output = static_cast<std::size_t>(m * n);
  sample.axes = {m};
  return sample;
}

/// The sample with another body of `void kernel(a, b, c, M)`; includes may be given.
inline Sample with_body(const std::string& body, const std::string& includes = "") {
  Sample sample = matmul();
  sample.kernel.source =
      includes +
      "#include \"task.h\"\n\nextern \"C\" void kernel(const float* a, const float* b, float* c, int64_t M) {\n" +
      body + "}\n";
  return sample;
}

/// A compiled kernel in this process.
class Loaded {
 public:
  explicit Loaded(const KernelSource& kernel) {
    auto folder = base::TemporaryFolder::create("recipes-test");
    if (!folder) {
      problem_ = folder.error().message;
      return;
    }
    const std::string path = folder->path().string();
    const bool is_c = kernel.language == model::Language::c;
    const std::string source = path + (is_c ? "/kernel.c" : "/kernel.cpp");
    if (!base::write_file(source, kernel.source) || !base::write_file(path + "/task.h", kernel.task_header)) {
      problem_ = "cannot write the source";
      return;
    }
    std::string flags;
    if (kernel.source.starts_with("//@ flags ")) flags = kernel.source.substr(10, kernel.source.find('\n') - 10);
    const std::string command =
        (is_c ? std::string("gcc -std=gnu17") : std::string("g++ -std=c++20 -pedantic-errors")) +
        " -O1 -march=native -fPIC " + flags + " -I " + path + " -c " + source + " -o " + path + "/kernel.o > " + path +
        "/log 2>&1 && g++ -shared " + path + "/kernel.o -o " + path + "/kernel.so >> " + path + "/log 2>&1";
    if (std::system(command.c_str()) != 0) {
      const auto log = base::read_file(path + "/log");
      problem_ = (log ? *log : "no log") + "\n" + kernel.source;
      return;
    }
    handle_ = dlopen((path + "/kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    function_ = handle_ == nullptr ? nullptr : dlsym(handle_, "kernel");
    if (function_ == nullptr) problem_ = "cannot load the kernel";
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  ~Loaded() {
    if (handle_ != nullptr) dlclose(handle_);
  }

  [[nodiscard]] const std::string& problem() const { return problem_; }

  /// Output for inputs drawn from a fixed seed. What the kernel leaves unwritten is NaN.
  [[nodiscard]] std::vector<float> run(const Sample& sample) const {
    std::mt19937 random(20240611);
    std::normal_distribution<float> normal(0.0F, 1.0F);
    std::vector<std::vector<float>> inputs;
    std::vector<std::uintptr_t> arguments;
    for (const std::size_t count : sample.inputs) {
      auto& input = inputs.emplace_back(count);
      for (float& value : input) value = normal(random);
    }
    for (auto& input : inputs) arguments.push_back(reinterpret_cast<std::uintptr_t>(input.data()));
    // A margin behind the output shows writes past its end.
    std::vector<float> output(sample.output + kMargin, std::nanf(""));
    arguments.push_back(reinterpret_cast<std::uintptr_t>(output.data()));
    for (const std::int64_t axis : sample.axes) arguments.push_back(static_cast<std::uintptr_t>(axis));
    arguments.resize(6);
    using Function =
        void (*)(std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t);
    reinterpret_cast<Function>(function_)(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                                          arguments[5]);
    for (std::size_t i = sample.output; i < output.size(); ++i)
      EXPECT_TRUE(std::isnan(output[i])) << "written past the end";
    output.resize(sample.output);
    return output;
  }

 private:
  static constexpr std::size_t kMargin = 64;
  void* handle_ = nullptr;
  void* function_ = nullptr;
  std::string problem_;
};

/// Compiles both and compares what they compute, in norm.
inline void expect_same(const Sample& sample, const std::string& changed) {
  const Loaded before(sample.kernel);
  ASSERT_EQ(before.problem(), "");
  KernelSource kernel = sample.kernel;
  kernel.source = changed;
  const Loaded after(kernel);
  ASSERT_EQ(after.problem(), "");
  const std::vector<float> expected = before.run(sample);
  const std::vector<float> actual = after.run(sample);
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(std::isnan(expected[i]), std::isnan(actual[i])) << "at " << i << "\n" << changed;
    if (std::isnan(expected[i])) continue;
    difference += std::pow(static_cast<double>(expected[i]) - actual[i], 2);
    norm += std::pow(static_cast<double>(expected[i]), 2);
  }
  EXPECT_LE(std::sqrt(difference), 2e-6 * std::sqrt(norm)) << changed;
}

inline Application application(const std::string& recipe, const std::string& location,
                               std::map<std::string, std::string> parameters = {}) {
  Application result;
  result.recipe = recipe;
  result.location = location;
  result.parameters = std::move(parameters);
  return result;
}

/// The kernel with the application made; a failure of the test when it does not apply.
inline std::string applied(const Sample& sample, const Application& application) {
  auto text = apply(clang(), sample.kernel, application);
  if (!text) {
    ADD_FAILURE() << text.error().message;
    return sample.kernel.source;
  }
  EXPECT_NE(*text, sample.kernel.source);
  return *text;
}

inline base::ErrorCode refused(const Sample& sample, const Application& application) {
  const auto text = apply(clang(), sample.kernel, application);
  EXPECT_FALSE(text.has_value()) << *text;
  return text ? base::ErrorCode::internal : text.error().code;
}

}  // namespace accelopt::recipes
