// SPDX-License-Identifier: Apache-2.0
#include "recipes/recipes_agents.hpp"

#include "kernels.hpp"

namespace accelopt::recipes {
namespace {

using agents::ExecuteQuestion;
using agents::FixQuestion;
using agents::Lesson;
using agents::Planner;
using agents::PlanQuestion;
using agents::SummarizeQuestion;

model::Solution solution(const Sample& sample) {
  return {model::Language::cpp, {{"kernel.cpp", sample.kernel.source}}};
}

PlanQuestion question(const Sample& sample, int number) {
  PlanQuestion result;
  result.context.identity.plan = number;
  result.context.task_header = sample.kernel.task_header;
  result.kernel = model::Kernel(solution(sample));
  return result;
}

model::Plan plan_of(Planner& planner, const PlanQuestion& asked) {
  const auto answer = planner.plan(asked, {});
  if (!answer || !answer->value) {
    ADD_FAILURE() << (answer ? answer->lost : answer.error().message);
    return {};
  }
  return *answer->value;
}

/// What is made of the kernel itself.
Application first_step(const model::Plan& plan) {
  const std::vector<Application> steps = route_from_text(plan.text);
  if (steps.empty()) ADD_FAILURE() << plan.text;
  return steps.empty() ? Application() : steps.front();
}

TEST(RecipesPlanner, NumbersGiveDifferentPlansBestFirst) {
  const auto planner = make_recipes_planner(clang());
  const model::Plan first = plan_of(*planner, question(matmul(), 0));
  const model::Plan second = plan_of(*planner, question(matmul(), 1));
  EXPECT_NE(first.title, second.title);
  EXPECT_EQ(first_step(first).recipe, "register tile");
  EXPECT_EQ(route_from_text(first.text).size(), 2U) << "no memory is needed for a second step";
  EXPECT_EQ(plan_of(*planner, question(matmul(), 0)).text, first.text) << "asked again, answered again";
}

TEST(RecipesPlanner, ReadsTunedValuesAsMacros) {
  const auto planner = make_recipes_planner(clang());
  PlanQuestion asked = question(matmul(), 0);
  std::string text = model::main_text(asked.kernel.solution());
  text.replace(text.find("++k"), 3, "k += STEP");
  text.insert(0, "//@ tune STEP in {1}\n");
  asked.kernel = model::Kernel(model::with_main_text(asked.kernel.solution(), text));
  const model::Plan plan = plan_of(*planner, asked);
  ASSERT_FALSE(plan.title.empty());
  const auto executor = make_recipes_executor(clang());
  const auto answer = executor->execute({asked.context, asked.kernel, plan}, {});
  ASSERT_TRUE(answer && answer->value) << (answer ? answer->lost : answer.error().message);
  EXPECT_NE(model::main_text(answer->value->solution()).find("#define STEP 1\n"), std::string::npos)
      << model::main_text(answer->value->solution());
}

TEST(RecipesPlanner, TriedPlansAreLeftOut) {
  const auto planner = make_recipes_planner(clang());
  PlanQuestion asked = question(matmul(), 0);
  const model::Plan first = plan_of(*planner, asked);
  const model::Plan second = plan_of(*planner, question(matmul(), 1));
  asked.tried = {{first.title, "1.1x"}};
  EXPECT_EQ(plan_of(*planner, asked).title, second.title);
}

TEST(RecipesPlanner, MemoryRaisesAndLowersPriors) {
  const auto planner = make_recipes_planner(clang());
  PlanQuestion asked = question(matmul(), 0);
  const auto applications = enumerate(clang(), matmul().kernel);
  ASSERT_TRUE(applications.has_value());
  std::vector<model::Experience> memory;
  for (const Application& application : *applications) {
    if (application.recipe != "register tile") continue;
    model::Experience experience;
    experience.id = "e" + std::to_string(memory.size() + 1);
    experience.strategy = "It did not help.\n" + to_line(application);
    experience.polarity = model::Polarity::regresses;
    experience.effect = {0.2, 0.1, 0.3};
    memory.push_back(experience);
  }
  asked.memory = memory;
  const model::Plan avoided = plan_of(*planner, asked);
  EXPECT_NE(first_step(avoided).recipe, "register tile");
  EXPECT_TRUE(avoided.rests_on.empty());

  const auto wanted = std::find_if(applications->begin(), applications->end(),
                                   [](const Application& a) { return a.recipe == "interchange"; });
  ASSERT_NE(wanted, applications->end());
  model::Experience good;
  good.id = "e99";
  good.strategy = to_line(*wanted);
  good.effect = {12, 11, 13};
  asked.memory.push_back(good);
  const model::Plan raised = plan_of(*planner, asked);
  EXPECT_EQ(first_step(raised).recipe, "interchange");
  EXPECT_EQ(raised.rests_on, std::vector<std::string>{"e99"});
  asked.memory.back().strategy = to_line(*wanted) + ".of.another.kind";
  EXPECT_TRUE(plan_of(*planner, asked).rests_on.empty()) << "loops of another shape teach nothing";
}

TEST(RecipesPlanner, NoPlanLeftIsLostNotAnError) {
  const auto planner = make_recipes_planner(clang());
  const auto answer = planner->plan(question(matmul(), 1000), {});
  ASSERT_TRUE(answer.has_value());
  EXPECT_FALSE(answer->value.has_value());
  EXPECT_NE(answer->lost.find("no recipe"), std::string::npos);
  EXPECT_EQ(answer->author, "recipes");
}

TEST(RecipesExecutor, MakesTheSolutionOfThePlan) {
  const Sample sample = matmul();
  const auto planner = make_recipes_planner(clang());
  const auto executor = make_recipes_executor(clang());
  ExecuteQuestion asked;
  asked.context.task_header = sample.kernel.task_header;
  asked.kernel = model::Kernel(solution(sample));
  asked.plan = plan_of(*planner, question(sample, 0));
  const auto answer = executor->execute(asked, {});
  ASSERT_TRUE(answer.has_value() && answer->value.has_value()) << answer->lost;
  EXPECT_EQ(answer->value->solution().sources.at(0).name, "kernel.cpp");
  expect_same(sample, model::main_text(answer->value->solution()));
  asked.plan.text = "Just make it fast.";
  const auto nothing = executor->execute(asked, {});
  ASSERT_TRUE(nothing.has_value());
  EXPECT_EQ(nothing->lost, "the plan names no recipe");
}

FixQuestion failing(const Sample& sample, const Application& application, int fix) {
  FixQuestion result;
  result.context.task_header = sample.kernel.task_header;
  result.context.identity.fix = fix;
  result.parent = model::Kernel(solution(sample));
  result.broken = model::Kernel(model::with_main_text(result.parent.solution(), applied(sample, application)));
  result.plan.text = to_line(application);
  result.status = model::Status::incorrect_numerical;
  return result;
}

TEST(RecipesFixer, StepsDownToMilderForms) {
  const Sample sample = matmul();
  const auto fixer = make_recipes_fixer(clang());
  const Application fast = application("flags", "*", {{"flags", "-ffast-math"}});
  const auto first = fixer->fix(failing(sample, fast, 1), {});
  ASSERT_TRUE(first.has_value() && first->value.has_value());
  EXPECT_NE(model::main_text(first->value->solution()).find("-fassociative-math"), std::string::npos);
  EXPECT_EQ(model::main_text(first->value->solution()).find("-ffast-math"), std::string::npos);
  const auto second = fixer->fix(failing(sample, fast, 2), {});
  ASSERT_TRUE(second.has_value() && second->value.has_value());
  EXPECT_EQ(model::main_text(second->value->solution()).find("-fassociative-math"), std::string::npos);
  const auto third = fixer->fix(failing(sample, fast, 3), {});
  ASSERT_TRUE(third.has_value());
  EXPECT_FALSE(third->value.has_value());
  EXPECT_NE(third->lost.find("no safer form"), std::string::npos);
}

TEST(RecipesFixer, SmallerTiles) {
  const Sample sample = matmul();
  const Application tile =
      application("register tile", "*", {{"rows", "6"}, {"vectors", "2"}, {"pack", "2"}, {"block", "48"}});
  const auto answer = make_recipes_fixer(clang())->fix(failing(sample, tile, 2), {});
  ASSERT_TRUE(answer.has_value() && answer->value.has_value());
  EXPECT_NE(model::main_text(answer->value->solution()).find("tile_rows = 4"), std::string::npos);
  expect_same(sample, model::main_text(answer->value->solution()));
}

/// The question after the fix's first answer, and the fixer's solution.
SummarizeQuestion mended(const Sample& sample, const Application& application) {
  const FixQuestion broken = failing(sample, application, 1);
  const auto fix = make_recipes_fixer(clang())->fix(broken, {});
  SummarizeQuestion asked;
  asked.context.task_header = sample.kernel.task_header;
  asked.context.identity.fix = 1;
  asked.parent = asked.slow = broken.parent;
  asked.fast = fix->value.value();
  asked.plan = {"Compile with relaxed floating-point rules", {}, broken.plan.text};
  asked.effect = {2, 1.9, 2.1};
  return asked;
}

TEST(RecipesSummarizer, AMendedSolutionIsPutDownToWhatItHolds) {
  const Sample sample = matmul();
  const Application fast = application("flags", "*", {{"flags", "-ffast-math"}});
  SummarizeQuestion asked = mended(sample, fast);
  const auto summarizer = make_recipes_summarizer(clang());
  const Lesson lesson = summarizer->summarize(asked, {})->value->value();
  const auto steps = route_from_text(lesson.strategy);
  ASSERT_FALSE(steps.empty());
  EXPECT_TRUE(steps.back().parameters.at("flags").find("-fassociative-math") != std::string::npos);
  EXPECT_EQ(lesson.strategy.find("-ffast-math"), std::string::npos);
  asked.fast = model::Kernel(model::with_main_text(asked.parent.solution(), "int somebody_elses;"));
  EXPECT_FALSE(summarizer->summarize(asked, {})->value->has_value()) << "nobody knows what made it";
}

TEST(RecipesSummarizer, AMendSaysWhatFailedAndWhatWorked) {
  const Sample sample = matmul();
  const Application fast = application("flags", "*", {{"flags", "-ffast-math"}});
  SummarizeQuestion asked = mended(sample, fast);
  asked.context.identity.fix = 0;
  asked.polarity = model::Polarity::mends;
  asked.slow = failing(sample, fast, 1).broken;
  asked.slow_evaluation.status = model::Status::incorrect_numerical;
  asked.slow_evaluation.reason = "y[3] is 1\nand more";
  const Lesson lesson = make_recipes_summarizer(clang())->summarize(asked, {})->value->value();
  EXPECT_TRUE(lesson.title.starts_with("Failed: "));
  EXPECT_EQ(route_from_text(lesson.strategy).size(), 1U);
  EXPECT_EQ(route_from_text(lesson.strategy).at(0).parameters.at("flags"), "-ffast-math");
  for (const char* part : {"INCORRECT_NUMERICAL: y[3] is 1)", "This worked: flags flags=-fno-math-errno"})
    EXPECT_NE(lesson.strategy.find(part), std::string::npos) << lesson.strategy;
}

TEST(RecipesSummarizer, LessonsCarryRecipeAndShape) {
  SummarizeQuestion asked;
  Application interchange = application("interchange", "kernel:i.0/j.0");
  interchange.shape = "d2.reduction.strided";
  asked.plan = {"Interchange the loops", {}, "Why.\n\n" + to_line(interchange) + "\n"};
  const auto summarizer = make_recipes_summarizer(clang());
  const auto answer = summarizer->summarize(asked, {});
  ASSERT_TRUE(answer.has_value() && answer->value.has_value() && answer->value->has_value());
  const Lesson& lesson = **answer->value;
  EXPECT_EQ(route_from_text(lesson.strategy).at(0).shape, "d2.reduction.strided");
  EXPECT_EQ(route_from_text(lesson.strategy).at(0).recipe, "interchange");
  EXPECT_FALSE(lesson.before.empty() || lesson.after.empty());
  asked.polarity = model::Polarity::regresses;
  asked.effect = {1.0, 0.98, 1.02};
  EXPECT_TRUE((**summarizer->summarize(asked, {})->value).title.starts_with("No gain: "));
  asked.effect = {0.8, 0.7, 0.9};
  EXPECT_TRUE((**summarizer->summarize(asked, {})->value).title.starts_with("Avoid: "));
  asked.plan.text = "no line";
  const auto none = summarizer->summarize(asked, {});
  ASSERT_TRUE(none.has_value() && none->value.has_value());
  EXPECT_FALSE(none->value->has_value());
}

}  // namespace
}  // namespace accelopt::recipes
