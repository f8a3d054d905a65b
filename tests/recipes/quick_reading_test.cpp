// SPDX-License-Identifier: Apache-2.0
// The system's headers are a hundred times the text of a kernel: recipes, which read every kernel many times, must do
// without them. What is counted are the files that libclang opened.
#include <gtest/gtest.h>

#include "model/task.hpp"
#include "recipes/kernels.hpp"
#include "recipes/subject.hpp"
#include "targets/cpu/task_header.hpp"

namespace accelopt::recipes {
namespace {

using model::Language;

/// task.h as the evaluator writes it, with everything that it can hold.
std::string generated_header() {
  const auto definition =
      base::decode<model::Definition>(base::Json::parse(R"({"name": "scale", "op_type": "elementwise",
        "axes": [{"name": "M"}, {"name": "N", "value": 48}],
        "inputs": [{"name": "x", "shape": ["M", "N"], "dtype": "float32"},
                   {"name": "b", "shape": ["M", "N"], "dtype": "bfloat16"},
                   {"name": "m", "shape": ["M", "N"], "dtype": "bool"}],
        "outputs": [{"name": "y", "shape": ["M", "N"], "dtype": "float32"}]})"),
                                      "the test");
  EXPECT_TRUE(definition) << definition.error().message;
  return targets::cpu::kernel_header(*definition);
}

KernelSource kernel_with(const std::string& includes, Language language) {
  KernelSource kernel;
  kernel.language = language;
  kernel.task_header = generated_header();
  kernel.source = includes + "#include \"task.h\"\n\n" + (language == Language::cpp ? "extern \"C\" " : "") +
                  "void kernel(const float* x, const bf16_t* b, const bool* m, float* y, int64_t M) {\n"
                  "  for (int64_t i = 0; i < M * N; ++i) y[i] = m[i] ? 2 * x[i] : bf16_to_float(b[i]);\n}\n";
  return kernel;
}

void expect_no_file_is_read(const KernelSource& kernel, const std::string& what) {
  const auto subject = Subject::read(clang(), kernel);
  ASSERT_TRUE(subject) << what << ": " << subject.error().message;
  EXPECT_TRUE((*subject)->unit().errors.empty()) << what << ": " << (*subject)->unit().errors.front().message;
  EXPECT_EQ((*subject)->unit().functions.size(), 1U) << what;
  EXPECT_EQ((*subject)->unit().files_read, std::vector<std::string>{}) << what;
}

TEST(QuickReading, TheGeneratedHeaderOpensNoFile) {
  expect_no_file_is_read(kernel_with("", Language::cpp), "C++");
  expect_no_file_is_read(kernel_with("", Language::c), "C");
}

TEST(QuickReading, TheStandardHeadersOfKernelsOpenNoFile) {
  const std::vector<std::string> c = {"math.h", "stdint.h", "stddef.h", "stdlib.h", "string.h", "float.h", "stdbool.h"};
  const std::vector<std::string> cpp = {"cmath", "cstdint", "cstddef", "cstdlib", "cstring", "cfloat", "algorithm"};
  std::string all;
  for (const std::string& header : c) {
    expect_no_file_is_read(kernel_with("#include <" + header + ">\n", Language::c), header);
    expect_no_file_is_read(kernel_with("#include <" + header + ">\n", Language::cpp), header + " in C++");
    all += "#include <" + header + ">\n";
  }
  expect_no_file_is_read(kernel_with(all, Language::c), "all of C");
  for (const std::string& header : cpp) {
    expect_no_file_is_read(kernel_with("#include <" + header + ">\n", Language::cpp), header);
    all += "#include <" + header + ">\n";
  }
  expect_no_file_is_read(kernel_with(all, Language::cpp), "all of C and C++");
}

TEST(QuickReading, AHeaderThatNothingNeedsIsNotOpened) {
  expect_no_file_is_read(kernel_with("#include <vector>\n#include <string>\n", Language::cpp), "vector, string");
}

TEST(QuickReading, AHeaderThatIsNeededIsReadFromDiskAndCounted) {
  KernelSource kernel = kernel_with("#include <vector>\n", Language::cpp);
  kernel.source += "float first(const std::vector<float>& v) { return v.front(); }\n";
  const auto subject = Subject::read(clang(), kernel);
  ASSERT_TRUE(subject) << subject.error().message;
  EXPECT_GT((*subject)->unit().files_read.size(), 10U) << "the count counts";
}

}  // namespace
}  // namespace accelopt::recipes
