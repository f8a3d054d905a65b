// SPDX-License-Identifier: Apache-2.0
// Recipes for Triton on the suite's own baselines, by the real Triton's interpreter: what they make computes what the
// baseline does. Needs build/python.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <span>

#include "base/files.hpp"
#include "evaluation/verify/dtype_codec.hpp"
#include "evaluation/verify/known_outputs.hpp"
#include "model/tuning.hpp"
#include "recipes/engine.hpp"
#include "recipes/triton_recipes.hpp"
#include "suites/task_folder.hpp"
#include "targets/triton/capturer.hpp"

namespace accelopt::targets::triton {
namespace {

constexpr std::uint64_t kSeed = 20261124;

recipes::KernelSource source_of(const model::Task& task) {
  return {.source = model::main_text(task.baseline), .task_header = "", .language = task.baseline.language};
}

/// One task of the suite with its smallest workload, and what its baseline computes on one set of inputs.
class Interpreted {
 public:
  static std::unique_ptr<Interpreted> open(const std::string& name) {
    CaptureOptions options;
    for (const char* variable : {"ACCELOPT_PYTHON", "VIRTUAL_ENV", "PATH"}) {
      if (const char* const value = std::getenv(variable)) options.python.environment[variable] = value;
    }
    if (!capture::find_python(options.python)) return nullptr;
    auto task = suites::load_task(std::string(ACCELOPT_TRITON_SUITE) + "/" + name);
    auto folder = base::TemporaryFolder::create("recipes-test");
    EXPECT_TRUE(task && folder);
    std::erase_if(task->workloads, [](const model::Workload& one) { return one.role != model::Role::check; });
    options.folder = folder->path();
    std::unique_ptr<Interpreted> out(new Interpreted(std::move(*task), std::move(*folder)));
    auto made = Capturer::create(out->task, options, {});
    EXPECT_TRUE(made) << made.error().message;
    out->capturer = std::move(*made);
    out->draw();
    out->expected = out->run(model::main_text(out->task.baseline));
    return out;
  }

  /// Of the solution with this text, its outputs, one after the other.
  std::vector<double> run(const std::string& text) {
    const model::Kernel kernel(model::with_main_text(task.baseline, text));
    const auto built = capturer->build(kernel, {});
    EXPECT_TRUE(built && (*built)->report.built)
        << (built ? (*built)->report.diagnostics : built.error().message) << text;
    const auto outputs =
        capturer->interpret(kernel, {1, model::bind_axes(task.definition, task.workloads[0]), inputs}, inputs, {});
    EXPECT_TRUE(outputs && *outputs) << (outputs ? outputs->error().reason : outputs.error().message) << text;
    std::vector<double> values;
    for (std::size_t i = 0; outputs && *outputs && i < (*outputs)->size(); ++i) {
      const auto one =
          evaluation::decode(task.definition.outputs[i].dtype, std::as_bytes(std::span((*outputs)->at(i))));
      values.insert(values.end(), one.begin(), one.end());
    }
    return values;
  }

  /// How far the outputs are from the baseline's, of the largest of its finite ones; what is not finite is so in both.
  double difference(const std::string& text) {
    const std::vector<double> values = run(text);
    if (values.size() != expected.size()) return INFINITY;
    double largest = 0;
    double most = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] == expected[i]) continue;
      if (std::isfinite(expected[i])) largest = std::max(largest, std::abs(expected[i]));
      most = std::isnan(values[i]) ? INFINITY : std::max(most, std::abs(values[i] - expected[i]));
    }
    return most == 0 ? 0 : most / largest;
  }

  std::string made(const recipes::Application& application) const {
    return recipes::apply_triton(source_of(task), application).value_or("");
  }

  model::Task task;
  base::TemporaryFolder folder;
  std::unique_ptr<Capturer> capturer;
  std::vector<evaluation::Bytes> inputs;
  std::vector<double> expected;

 private:
  Interpreted(model::Task own, base::TemporaryFolder files) : task(std::move(own)), folder(std::move(files)) {}
  void draw() {
    const auto draws = evaluation::known_draws(task.definition, task.workloads[0], kSeed, kSeed);
    ASSERT_TRUE(draws);
    const model::AxisValues axes = model::bind_axes(task.definition, task.workloads[0]);
    for (std::size_t i = 0; i < draws->size(); ++i) {
      const model::TensorSpec& input = task.definition.inputs[i];
      evaluation::Bytes bytes(static_cast<std::size_t>(model::element_count(input, axes)) *
                              model::size_of(input.dtype));
      ASSERT_TRUE(evaluation::draw_input(draws->at(i), bytes));
      inputs.push_back(std::move(bytes));
    }
  }
};

/// Applies every proposal that `wanted` names, and expects the baseline's results.
void expect_same(const std::string& task, const std::vector<std::string>& wanted, double tolerance) {
  const auto own = Interpreted::open(task);
  if (own == nullptr) GTEST_SKIP() << "no Triton in build/python (make fetch)";
  std::map<std::string, int> tried;
  for (const recipes::Application& one : recipes::enumerate_triton(source_of(own->task))) {
    // One number of parts is as good as another.
    const auto parts = one.parameters.find("parts");
    if (parts != one.parameters.end() && parts->second != "4") continue;
    if (std::ranges::find(wanted, one.recipe) == wanted.end()) continue;
    ++tried[one.recipe];
    EXPECT_LE(own->difference(own->made(one)), tolerance) << one.title << "\n" << own->made(one);
  }
  EXPECT_EQ(tried.size(), wanted.size()) << task;
}

TEST(TritonRecipes, ProductOfMatrices_IsTheSame) {
  expect_same("gemm", {"open tile sizes", "cache hint", "split loop"}, 2e-3);
}

TEST(TritonRecipes, Decode_SplitOverKeysIsTheSame) {
  expect_same("gqa_paged_decode_h32_kv4", {"split loop"}, 2e-2);
}

TEST(TritonRecipes, LatentDecode_SplitOverKeysIsTheSame) {
  expect_same("mla_paged_decode_h16", {"split loop"}, 2e-2);
}

TEST(TritonRecipes, Norm_IsTheSame) {
  expect_same("rmsnorm_h128", {"open warps and stages", "cache hint"}, 0);
}

/// Whatever tiles the tuner takes, the grid follows.
TEST(TritonRecipes, OpenTiles_AreRightInEveryConfiguration) {
  const auto own = Interpreted::open("gemm");
  if (own == nullptr) GTEST_SKIP() << "no Triton in build/python (make fetch)";
  for (const recipes::Application& one : recipes::enumerate_triton(source_of(own->task))) {
    if (one.recipe != "open tile sizes") continue;
    const std::string text = own->made(one);
    const model::Solution open = model::with_main_text(own->task.baseline, text);
    const auto space = own->capturer->space(model::Kernel(open), {});
    ASSERT_TRUE(space) << space.error().message;
    ASSERT_EQ(space->configurations.size(), 7U) << text;
    for (const std::size_t place : {std::size_t{1}, std::size_t{4}}) {
      const std::string fixed = model::main_text(model::with_values(open, space->configurations[place]));
      EXPECT_LE(own->difference(fixed), 2e-3) << fixed;
    }
  }
}

}  // namespace
}  // namespace accelopt::targets::triton
