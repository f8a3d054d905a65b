// SPDX-License-Identifier: Apache-2.0
// What is read out of Python without running it, and what is written for people.
#include "suites/flashinfer_trace/texts.hpp"

#include <gtest/gtest.h>

#include "suites/flashinfer_trace/constraints.hpp"
#include "suites/flashinfer_trace/datasets.hpp"
#include "suites/flashinfer_trace/python_text.hpp"
#include "suites/flashinfer_trace/structure.hpp"

namespace accelopt::suites::flashinfer_trace {
namespace {

TEST(PythonText, Parameters_AreCounted) {
  const auto names = [](const std::string& source) { return find_function(source, "run").value().parameters; };
  EXPECT_EQ(names("def run(a, b):\n  pass"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(names("@wraps\ndef run(\n  a: Dict[str, int] = {'x': ')'},  # one, two\n  b=(1, 2),\n) -> None: pass"),
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(names("def run(a, /, b, *, c): pass"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(names("def run(): pass").empty());
  EXPECT_TRUE(find_function("def run(*args, **more): pass", "run")->takes_any);
  EXPECT_FALSE(find_function("def run(a, **more): pass", "run")->takes_any);
}

TEST(PythonText, OnlyTopLevelFunctions_AreFound) {
  EXPECT_FALSE(find_function("class A:\n  def run(a): pass", "run"));
  EXPECT_FALSE(find_function("'''\ndef run(a): pass\n'''", "run"));
  EXPECT_FALSE(find_function("# def run(a)\nrun = lambda a: a", "run"));
  EXPECT_FALSE(find_function("def runner(a): pass", "run"));
  EXPECT_FALSE(find_function("def run(a, b", "run"));
  EXPECT_TRUE(find_function("x = 'it''s'\n\ndef run (a): pass", "run"));
}

TEST(PythonText, Returns_AreSeen) {
  EXPECT_TRUE(find_function("def run(*a):\n  if a: return a[0]\n", "run")->returns_value);
  EXPECT_FALSE(find_function("def run(*a):\n  a = 'return 1'  # return 1\n  return\n\ndef f():\n  return 2\n", "run")
                   ->returns_value);
  EXPECT_FALSE(find_function("def run(*a):\n  return None\n", "run")->returns_value);
}

TEST(Constraints, ThoseOverAxes_AreChecked) {
  const Definition definition = read_definition(parse_bounded(kPaged).value()).value();
  const model::AxisValues axes{
      {"len_indptr", 4}, {"num_kv_indices", 9}, {"num_pages", 30}, {"batch", 3}, {"page_size", 16}};
  const auto check = [&](const std::string& text) { return holds(text, definition, axes); };
  EXPECT_EQ(check("len_indptr == batch + 1"), true);
  EXPECT_EQ(check("len_indptr == batch"), false);
  EXPECT_EQ(check("cache.shape[-1] == page_size and batch > 2"), true);
  EXPECT_EQ(check("num_pages // page_size == 1 or num_pages % 7 == 0"), true);
  EXPECT_EQ(check("kv_indptr.shape[0] == len_indptr"), true);
  for (const char* text :
       {"num_pages / 2 == 15", "1 < batch < 4", "not batch > 3", "batch ** 2 == 9", "max(batch, 1) == 3",
        "batch.bit_length() == 2", "kv_indptr[-1].item() == 9", "cache.shape[2] == 1", "cache.shape[-3] == 1",
        "__import__('os')", "", "batch ==", "batch % 0 == 1"})
    EXPECT_EQ(check(text), std::nullopt) << text;
  EXPECT_EQ(last_element_in("num_kv_indices == kv_indptr[-1].item()", definition)->axis, "num_kv_indices");
  EXPECT_EQ(last_element_in("kv_indptr[-1].item() == num_kv_indices", definition)->input, "kv_indptr");
  EXPECT_FALSE(last_element_in("num_kv_indices == kv_indptr[-2].item()", definition));
  EXPECT_FALSE(last_element_in("num_kv_indices == cache[-1].item()", definition));
}

TEST(Structure, Generators_FollowNamesAndConstraints) {
  const Definition definition = read_definition(parse_bounded(kPaged).value()).value();
  const auto generator = [&](std::size_t input) {
    const auto init = structural_generator(definition, definition.inputs[input]);
    return init ? to_string(*init) : "none";
  };
  EXPECT_EQ(generator(0), "indptr(num_kv_indices)");
  EXPECT_EQ(generator(1), "distinct(0, num_pages)");
  EXPECT_EQ(generator(2), "integers(1, page_size + 1)");
  EXPECT_EQ(generator(3), "none");
}

TEST(OpenReference, PythonStaysAComment) {
  model::Definition definition;
  definition.name = "n";
  const std::string text = open_reference(definition, "a = 1 \\\n*/ b\rint x; ?\?/\n\x1b[31m\u00e9\nlast\\");
  std::size_t begin = text.find("}\n\n") + 3;
  ASSERT_NE(text.find("// last"), std::string::npos);
  while (begin < text.size()) {
    const std::string line = text.substr(begin, text.find('\n', begin) - begin);
    EXPECT_TRUE(line.starts_with("//")) << line;
    EXPECT_FALSE(line.ends_with('\\') || line.ends_with("?\?/")) << line;
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
    begin += line.size() + 1;
  }
}

}  // namespace
}  // namespace accelopt::suites::flashinfer_trace
