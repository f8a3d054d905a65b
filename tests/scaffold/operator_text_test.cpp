// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "scaffold/example_call.hpp"
#include "scaffold/python_text.hpp"
#include "scaffold/signature.hpp"

namespace accelopt::scaffold {
namespace {

TEST(ExampleCall, NamesTypesAndShapes_AreRead) {
  const auto call =
      parse_example("x: float16[M=4096, K=512], w : bfloat16[K], eps: float32, t: int32[M, 3] -> y: float32[M,K]");
  ASSERT_TRUE(call) << call.error().message;
  ASSERT_EQ(call->inputs.size(), 4U);
  EXPECT_EQ(call->inputs[1].dtype, model::DType::bfloat16);
  EXPECT_FALSE(call->inputs[2].shape);
  EXPECT_EQ(*call->inputs[3].shape, (std::vector<std::string>{"M", "D3"}));
  ASSERT_EQ(call->axes.size(), 3U);
  EXPECT_EQ(call->axes[0].extent, 4096);
  EXPECT_TRUE(call->axes[2].is_constant);
  ASSERT_EQ(call->outputs.size(), 1U);
  EXPECT_EQ(call->outputs[0].name, "y");
}

TEST(ExampleCall, OtherForms_AreRefused) {
  for (const char* text : {"x", "x: half[M]", "x: float16[M", "x: float16[M=0]", "x: float16[M=4], x: float16[M]",
                           "x: float16[M=4], y: float16[M=5]", "1x: float16[M=4]", "x: float16[M-1]"})
    EXPECT_FALSE(parse_example(text)) << text;
}

TEST(ExampleCall, KeywordOfCAsAnAxis_IsRefused) {
  const auto call = parse_example("x: float16[int=64]");
  ASSERT_FALSE(call);
  EXPECT_NE(call.error().message.find("\"int\" is a keyword"), std::string::npos) << call.error().message;
  StatedTexts axis;
  axis.axes = {"for=64"};
  EXPECT_EQ(parse_stated(axis).error().code, base::ErrorCode::invalid_argument);
  StatedTexts constant;
  constant.constants = {"class=64"};
  EXPECT_EQ(parse_stated(constant).error().code, base::ErrorCode::invalid_argument);
}

constexpr std::string_view kFile = R"py(import torch
import triton

TABLE = {
    "a": 1,  # a bracket ( in a comment
}


@triton.jit
def kernel(x):
    pass


def helper(x):
    """def inside(text):
not code"""

    # still in it
    return x + TABLE["a"]


def plain(x, *, scale: float = (1, 2)[0], rest="a, b"):
    return helper(x)


def launching(x, /, y): return kernel[(1,)](x)
)py";

TEST(PythonText, Statements_KeepTheirLines) {
  const auto all = python_statements(kFile);
  std::vector<std::string> names;
  for (const auto& one : all) names.push_back(one.name);
  EXPECT_EQ(names, (std::vector<std::string>{"", "", "TABLE", "kernel", "helper", "plain", "launching"}));
  EXPECT_TRUE(all[3].is_kernel);
  EXPECT_NE(all[4].text.find("still in it"), std::string::npos);
  EXPECT_NE(all[4].text.find("return x + TABLE"), std::string::npos);
}

TEST(PythonText, Parameters_HaveTheirDefaults) {
  const auto all = python_statements(kFile);
  const auto plain = python_parameters(all[5]);
  ASSERT_TRUE(plain);
  ASSERT_EQ(plain->size(), 3U);
  EXPECT_EQ((*plain)[0].name, "x");
  EXPECT_FALSE((*plain)[0].has_default);
  EXPECT_EQ((*plain)[2].name, "rest");
  EXPECT_TRUE((*plain)[1].has_default && (*plain)[2].has_default);
  EXPECT_EQ(python_parameters(all[6])->size(), 2U);
  EXPECT_FALSE(python_parameters(python_statements("def f(*args):\n    pass\n")[0]));
}

TEST(PythonText, Closure_TakesWhatIsNamedAndNoKernel) {
  const auto all = python_statements(kFile);
  std::vector<std::string> kernels;
  std::vector<std::string> missing;
  std::vector<std::string> names;
  for (const auto& one : python_closure(all, "plain", kernels, missing)) names.push_back(one.name);
  EXPECT_EQ(names, (std::vector<std::string>{"TABLE", "helper", "plain"}));
  EXPECT_TRUE(kernels.empty());
  EXPECT_FALSE(python_closure(all, "launching", kernels, missing).empty());
  EXPECT_EQ(kernels, std::vector<std::string>{"kernel"});
  EXPECT_TRUE(python_closure(all, "absent", kernels, missing).empty());
}

std::string closure_text(std::string_view source, const std::string& name, std::vector<std::string>& missing) {
  std::vector<std::string> kernels;
  std::string text;
  for (const auto& one : python_closure(python_statements(source), name, kernels, missing)) text += one.text;
  EXPECT_TRUE(kernels.empty());
  return text;
}

TEST(PythonText, Closure_AttributesAndKeywordsAreNoUses) {
  std::vector<std::string> missing;
  EXPECT_EQ(closure_text("import torch\n@triton.jit\ndef dim(x): pass\n@triton.jit\ndef softmax(x): pass\n"
                         "def f(x): return torch.softmax(x, dim=-1)\n",
                         "f", missing),
            "import torch\ndef f(x): return torch.softmax(x, dim=-1)\n");
}

TEST(PythonText, Closure_ImportsKeepWhatIsNotTritons) {
  std::vector<std::string> missing;
  EXPECT_EQ(
      closure_text(
          "import torch, triton, os\nfrom utils import relu\nA, B = 1, 2\n"
          "try:\n    import math\nexcept ImportError:\n    math = None\ndef f(x): return torch.relu(x) + B + math.pi\n",
          "f", missing),
      "import torch\nA, B = 1, 2\ntry:\n    import math\nexcept ImportError:\n    math = None\n"
      "def f(x): return torch.relu(x) + B + math.pi\n");
  EXPECT_TRUE(missing.empty());
  EXPECT_EQ(closure_text("import torch, triton\ndef f(x): return x[:triton.cdiv(8, 3)]\n", "f", missing),
            "def f(x): return x[:triton.cdiv(8, 3)]\n");
  EXPECT_EQ(missing, std::vector<std::string>{"triton"});
}

}  // namespace
}  // namespace accelopt::scaffold
