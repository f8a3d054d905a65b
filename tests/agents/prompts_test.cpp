// SPDX-License-Identifier: Apache-2.0
#include "agents/prompts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "agents/builtin_prompts.hpp"
#include "agents/kernel_file.hpp"
#include "agents/prompt_text.hpp"
#include "agents/questions.hpp"
#include "base/files.hpp"
#include "model/launch_plan.hpp"
#include "targets/cuda/description.hpp"

namespace accelopt::agents {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;

constexpr model::Language kLanguages[] = {model::Language::c, model::Language::cpp, model::Language("cuda"),
                                          model::Language("python")};
constexpr Role kRoles[] = {Role::planner, Role::executor, Role::fixer, Role::summarizer};

/// A copy of the source tree's prompts that a test may change.
struct PromptFolder {
  base::TemporaryFolder folder = base::TemporaryFolder::create("accelopt_prompts").value();

  PromptFolder() { fs::copy(ACCELOPT_PROMPTS, folder.path(), fs::copy_options::recursive); }
  [[nodiscard]] fs::path path(const std::string& name) const { return folder.path() / name; }
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(base::write_file(path(name), text).has_value());
  }
};

TEST(PromptTemplate, FillsItsPlaces) {
  const auto parsed = PromptTemplate::parse("{{a}} and {{b}}, {{a}} { } }}", "file", {"a", "b"});
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  EXPECT_EQ(parsed->fill({{"a", "1"}, {"b", "2"}}), "1 and 2, 1 { } }}");
  EXPECT_EQ(parsed->places(), (std::vector<std::string>{"a", "b", "a"}));
}

TEST(PromptTemplate, DoesNotFillPlacesInsideOfValues) {
  const auto parsed = PromptTemplate::parse("{{a}}{{b}}", "file", {"a", "b"});
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->fill({{"a", "{{b}}"}, {"b", "secret"}}), "{{b}}secret");
}

TEST(PromptTemplate, RefusesAnUnknownNameWithFileLineAndKnownNames) {
  const auto parsed = PromptTemplate::parse("one\ntwo {{kernle}}", "x.txt", {"kernel", "plan"});
  ASSERT_FALSE(parsed.has_value());
  EXPECT_EQ(parsed.error().code, ErrorCode::parse);
  EXPECT_EQ(parsed.error().message, "x.txt:2: unknown place {{kernle}}; known here: kernel plan");
}

TEST(PromptTemplate, RefusesAPlaceWithoutEnd) {
  for (const char* text : {"\n{{kernel", "\n{{kernel\n}}", "\n{{"}) {
    const auto parsed = PromptTemplate::parse(text, "x.txt", {"kernel"});
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::parse);
    EXPECT_TRUE(holds(parsed.error().message, "x.txt:2: ")) << parsed.error().message;
  }
}

TEST(LoadPrompts, BuiltInOnesAreThoseOfTheSourceTree) {
  const auto built_in = load_prompts();
  const auto from_folder = load_prompts(fs::path(ACCELOPT_PROMPTS));
  ASSERT_TRUE(built_in.has_value()) << built_in.error().message;
  ASSERT_TRUE(from_folder.has_value()) << from_folder.error().message;
  EXPECT_EQ(built_in->id(), from_folder->id());
}

TEST(LoadPrompts, EachRoleSaysWhoItIsInItsFirstLine) {
  const Prompts prompts = load_prompts().value();
  for (const model::Language language : kLanguages) {
    for (const Role role : kRoles) {
      PlaceValues values;
      for (const std::string_view place : places_of(role)) values[std::string(place)] = "";
      const std::string system = prompts.of(language).value()->roles.at(role).system.fill(values);
      EXPECT_TRUE(system.starts_with("You are the " + std::string(to_string(role)))) << system;
    }
  }
}

class ShownPlaces : public testing::TestWithParam<model::Language> {};
INSTANTIATE_TEST_SUITE_P(Languages, ShownPlaces, testing::ValuesIn(kLanguages));

TEST_P(ShownPlaces, EveryRoleIsShownWhatItNeeds) {
  const Prompts prompts = load_prompts().value();
  const auto shown = [&](Role role) {
    const RolePrompt& prompt = prompts.of(GetParam()).value()->roles.at(role);
    auto names = prompt.system.places();
    for (std::string& name : prompt.user.places()) names.push_back(std::move(name));
    return names;
  };
  const bool no_header = GetParam() == model::Language("python");  // a file that includes nothing
  const auto expect = [&](Role role, const std::vector<std::string>& needed) {
    const auto names = shown(role);
    for (const std::string& name : needed) {
      if (no_header && name == "task_header") continue;
      EXPECT_NE(std::ranges::find(names, name), names.end()) << to_string(role) << " " << name;
    }
  };
  expect(Role::planner, {"contract", "definition", "task_header", "kernel", "lineage", "timing", "profile", "device",
                         "memory", "tried", "hints", "plans_wanted"});
  expect(Role::executor, {"contract", "definition", "task_header", "kernel", "plan", "answer_form"});
  expect(Role::fixer, {"contract", "definition", "task_header", "parent", "earlier", "broken", "plan", "status",
                       "diagnostics", "answer_form"});
  expect(Role::summarizer, {"definition", "kernel", "timing", "profile", "changes"});
}

TEST(LoadPrompts, AnUnknownPlaceIsAnErrorThatNamesTheFile) {
  const PromptFolder folder;
  folder.write("cpp/fixer.user.txt", "{{kernel}}");  // the planner's, not the fixer's
  const auto prompts = load_prompts(folder.folder.path());
  ASSERT_FALSE(prompts.has_value());
  EXPECT_EQ(prompts.error().code, ErrorCode::parse);
  EXPECT_TRUE(holds(prompts.error().message, folder.path("cpp/fixer.user.txt").string() + ":1"))
      << prompts.error().message;
}

TEST(LoadPrompts, AMissingFileIsAnErrorThatNamesIt) {
  const PromptFolder folder;
  fs::remove(folder.path("cpp/summarizer.system.txt"));
  const auto prompts = load_prompts(folder.folder.path());
  ASSERT_FALSE(prompts.has_value());
  EXPECT_EQ(prompts.error().code, ErrorCode::not_found);
  EXPECT_TRUE(holds(prompts.error().message, "summarizer.system.txt")) << prompts.error().message;
  EXPECT_EQ(load_prompts(fs::path("/no/such/folder")).error().code, ErrorCode::not_found);
}

TEST(LoadPrompts, AFolderReplacesTheText) {
  const PromptFolder folder;
  folder.write("cpp/executor.user.txt", "Only {{plan}}");
  const auto prompts = load_prompts(folder.folder.path());
  ASSERT_TRUE(prompts.has_value()) << prompts.error().message;
  const RolePrompt& executor = prompts->of(model::Language::cpp).value()->roles.at(Role::executor);
  EXPECT_EQ(executor.user.fill({{"plan", "this"}}), "Only this");
  EXPECT_NE(prompts->id(), load_prompts()->id());
}

TEST(LoadPrompts, LanguagesWithoutPromptsAreUnsupported) {
  EXPECT_EQ(Prompts::folder_of(model::Language::c).value(), "cpp");
  EXPECT_EQ(Prompts::folder_of(model::Language::cpp).value(), "cpp");
  EXPECT_EQ(Prompts::folder_of(model::Language("cuda")).value(), "cuda");
  EXPECT_EQ(Prompts::folder_of(model::Language("python")).value(), "triton");
  EXPECT_EQ(Prompts::folder_of(model::Language("nki")).value(), "nki");
  EXPECT_EQ(Prompts::folder_of(model::Language("opencl")).error().code, ErrorCode::unsupported);
  EXPECT_EQ(load_prompts()->of(model::Language("opencl")).error().code, ErrorCode::unsupported);
}

TEST(LoadPrompts, AFolderMayHoldTheLanguagesThatAreAskedAbout) {
  const PromptFolder folder;
  fs::remove_all(folder.path("cuda"));
  const auto prompts = load_prompts(folder.folder.path());
  ASSERT_TRUE(prompts.has_value()) << prompts.error().message;
  EXPECT_TRUE(prompts->of(model::Language::cpp).has_value());
  const auto cuda = prompts->of(model::Language("cuda"));
  ASSERT_FALSE(cuda.has_value());
  EXPECT_EQ(cuda.error().code, ErrorCode::unsupported);
  EXPECT_TRUE(holds(cuda.error().message, "cuda/")) << cuda.error().message;
}

/// The text of a built-in file.
std::string builtin_text(std::string_view name) {
  const auto files = builtin_prompts();
  const auto found = std::ranges::find(files, name, &BuiltinPrompt::name);
  return found == files.end() ? "" : std::string(found->text);
}

TEST(CudaPrompts, TheirExampleIsAWholeKernelFile) {
  const std::string contract = builtin_text("cuda/executor.system.txt");
  EXPECT_TRUE(holds(builtin_text("cuda/fixer.system.txt"), contract.substr(contract.find("- An example"), 1000)));
  const std::string fence = "```{{fence}}\n";
  const std::size_t begin = contract.find(fence);
  ASSERT_NE(begin, std::string::npos);
  const std::string rest = contract.substr(begin + fence.size());
  const std::string example = rest.substr(0, rest.find("```"));
  EXPECT_TRUE(parse_kernel_file("```cuda\n" + example + "```\n", model::Language("cuda")).has_value());

  model::Definition definition;
  definition.axes = {{"M", std::nullopt}, {"N", std::nullopt}};
  model::TensorSpec x;
  x.name = "x";
  x.shape = {"M", "N"};
  model::TensorSpec y = x;
  y.name = "y";
  definition.inputs = {x};
  definition.outputs = {y};
  const auto directives = model::parse_device_directives(example);
  ASSERT_TRUE(directives.has_value()) << directives.error().line << ": " << directives.error().message;
  const auto plan = model::bind_launch_plan(*directives, definition, {{"M", 61}, {"N", 1000}}, {128},
                                            targets::cuda::description().launch_limits);
  ASSERT_TRUE(plan.has_value()) << plan.error().line << ": " << plan.error().message;
  EXPECT_EQ(plan->launches.size(), 2U);
  EXPECT_EQ(plan->launches[1].grid[0], 8U);
}

TEST(NkiContract, TellsTheSbufOfTheDevice) {
  EXPECT_TRUE(holds(builtin_text("nki/contract.txt"), "A partition has {{scratchpad}} of SBUF and 16 KiB of PSUM"));
}

TEST(CudaContract, TellsOfEveryDirectiveAndOfWhatIsRefused) {
  const std::string contract = builtin_text("cuda/contract.txt");
  for (const char* fact :
       {"//@ launch", "//@ scratch", "//@ tensormap", "//@ tune", "//@ require", "//@ flags", "no host code", "sm_90a",
        "232448", "CUtensorMap", "printf", "int64_t", "float64", "{{precision}}", "{{cache}}", "{{allowed_flags}}"}) {
    EXPECT_TRUE(holds(contract, fact)) << fact;
  }
  for (const char* of_hosts : {"task.h\"", "-march", "{{threads}}", "thread-local", "stack is"}) {
    EXPECT_FALSE(holds(contract, of_hosts)) << of_hosts;
  }
}

TEST(CudaContract, NamesFlagsThatAreAccepted) {
  std::istringstream words{std::string(targets::cuda::description().languages.front().allowed_flags)};
  int flags = 0;
  for (std::string word; words >> word;) {
    if (!word.starts_with("-")) continue;
    EXPECT_TRUE(model::is_allowed_device_flag(word)) << word;
    ++flags;
  }
  EXPECT_EQ(flags, 7);
}

/// The first of the stems with which a word of the text begins, in any case, or empty.
std::string_view first_word_with(std::string_view text, const std::vector<std::string_view>& stems) {
  const auto letter = [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && std::isalpha(static_cast<unsigned char>(text[at - 1])) != 0) continue;
    for (const std::string_view stem : stems) {
      const std::string_view word = text.substr(at, stem.size());
      if (std::ranges::equal(word, stem, {}, letter)) return stem;
    }
  }
  return {};
}

TEST(BuiltinPrompts, CarryNoOptimizationRecipes) {
  // Facts only: what makes kernels fast is for the agents to find. Flags are listed by the program, not by the texts.
  const std::vector<std::string_view> recipes = {
      "tile",      "tiling",   "unroll",   "interchang", "vectori",       "simd",     "intrinsic",
      "prefetch",  "fuse",     "fusing",   "fusion",     "fission",       "restrict", "pack",
      "block the", "blocking", "hoist",    "loop order", "reorder",       "register", "parallel",
      "accumulat", "transpos", "locality", "strength",   "scalar replac", "inline"};
  EXPECT_EQ(first_word_with("Then Unrolled", recipes), "unroll") << "the search itself finds";
  // Words of NKI itself: what operands are called, and what instructions do.
  std::vector<std::string_view> beside_nki = recipes;
  std::erase_if(beside_nki,
                [](std::string_view word) { return word == "tile" || word == "accumulat" || word == "transpos"; });
  for (const BuiltinPrompt& file : builtin_prompts()) {
    const bool nki = std::string_view(file.name).starts_with("nki/");
    EXPECT_EQ(first_word_with(file.text, nki ? beside_nki : recipes), "") << file.name;
  }
}

TEST(BuiltinPrompts, NeverMentionHeldOutWorkloads) {
  for (const BuiltinPrompt& file : builtin_prompts()) {
    EXPECT_EQ(first_word_with(file.text, {"held", "hidden", "secret", "hold-out", "holdout"}), "") << file.name;
  }
}

}  // namespace
}  // namespace accelopt::agents
