// SPDX-License-Identifier: Apache-2.0
// Programs as users have them, and what tests do with them: compile, run, apply patches.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "base/files.hpp"
#include "syntax/clang.hpp"

namespace accelopt::scaffold {

/// Several functions in one file, another argument order than a task's, int sizes, constants of its own, doc comments.
inline constexpr const char* kUserProgram = R"(// The model's host code.
#include "settings.h"
#include <clocale>
#include <cmath>
#include <cstdio>

namespace {
constexpr int K = 48;
int calls = 0;
}  // namespace
#define N 40
#define UNUSED_MACRO 7

static float square(float v) { return v * v; }

/* Counts calls. */
void count_call() {
  static int local = 0;
  ++local;
  calls += local;
}

/// Row-wise root mean square, then a product with the weights.
/// Writes rows * N numbers.
void rms_product(float* out, int rows, const float* weights, float eps, const float* x) {
  for (int i = 0; i < rows; ++i) {
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += square(x[i * K + k]);
    const float scale = 1.0f / sqrtf(sum / K + eps);
    for (int j = 0; j < N; ++j) {
      float acc = 0;
      for (int k = 0; k < K; ++k) acc += x[i * K + k] * scale * weights[k * N + j];
      out[i * N + j] = acc;
    }
  }
}

int main() {
  std::setlocale(LC_ALL, "C");
  const int rows = 13 + SETTINGS_EXTRA;
  static float x[rows * K], w[K * N], y[rows * N];
  for (int i = 0; i < rows * K; ++i) x[i] = static_cast<float>(i % 17) - 8;
  for (int i = 0; i < K * N; ++i) w[i] = static_cast<float>(i % 23) * 0.125f - 1;
  rms_product(y, rows, w, 1e-6f, x);
  count_call();
  double total = 0;
  for (float v : y) total += std::floor(v * 1000 + 0.5);
  std::printf("%g %d\n", total, calls);
  return 0;
}
)";
inline constexpr const char* kSettingsHeader = "#pragma once\n#define SETTINGS_EXTRA 2\n";

inline constexpr const char* kCProgram = R"(#include <math.h>
#include <stdio.h>

typedef struct { double total; } Report;

static double gain(double v) { return v * 0.5; }

void scale_rows(int rows, int columns, double *out, const double *in) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) out[i * columns + j] = gain(in[i * columns + j]) + fabs(in[i * columns]);
}

int main(void) {
  double in[6 * 32], out[6 * 32];
  Report report = {0};
  for (int i = 0; i < 6 * 32; i++) in[i] = i - 50;
  scale_rows(6, 32, out, in);
  for (int i = 0; i < 6 * 32; i++) report.total += out[i];
  double small[4] = {1, 2, 3, 4}, result[4];
  scale_rows(2, 2, result, small);
  printf("%.3f %.3f %.3f\n", report.total, result[0], result[3]);
  return 0;
}
)";

/// A user's repository in a folder of its own.
class Repository {
 public:
  Repository(const std::string& file, const std::string& text) {
    auto made = base::TemporaryFolder::create("accelopt-scaffold");
    EXPECT_TRUE(made.has_value());
    folder_ = std::make_unique<base::TemporaryFolder>(std::move(*made));
    EXPECT_TRUE(base::make_folders(path() / "src").has_value());
    write("src/" + file, text);
    file_ = path() / "src" / file;
    EXPECT_EQ(run("git init -q . && git -c user.name=u -c user.email=u@e add -A").first, 0);
  }

  void write(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(base::make_folders((path() / name).parent_path()).has_value());
    EXPECT_TRUE(base::write_file(path() / name, text).has_value());
  }
  std::string read(const std::string& name) const {
    return base::read_file(path() / name).value_or("unreadable " + name);
  }
  std::filesystem::path path() const { return folder_->path(); }
  std::filesystem::path file() const { return file_; }

  /// Exit status and combined output of a shell command in the repository.
  std::pair<int, std::string> run(const std::string& command) const {
    FILE* pipe = popen(("cd '" + path().string() + "' && (" + command + ") 2>&1").c_str(), "r");
    if (pipe == nullptr) return {-1, "popen failed"};
    std::string output;
    std::array<char, 4096> buffer;
    while (const std::size_t count = fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), count);
    return {pclose(pipe), output};
  }

 private:
  std::unique_ptr<base::TemporaryFolder> folder_;
  std::filesystem::path file_;
};

/// libclang, or none with the reason printed: what reads source code is then skipped.
inline std::unique_ptr<syntax::Clang> load_clang() {
  auto clang = syntax::Clang::load();
  if (!clang) {
    std::printf("skipped: %s\n", clang.error().message.c_str());
    return nullptr;
  }
  return std::make_unique<syntax::Clang>(std::move(*clang));
}

}  // namespace accelopt::scaffold
