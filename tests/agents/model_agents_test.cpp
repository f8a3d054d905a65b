// SPDX-License-Identifier: Apache-2.0
#include "agents/model_agents.hpp"

#include <gtest/gtest.h>

#include "agents/questions.hpp"
#include "fakes/scripted_chat_model.hpp"

namespace accelopt::agents {
namespace {

using base::ErrorCode;
using fakes::ScriptedChatModel;
using llm::Speaker;
using Answers = ScriptedChatModel::Answers;

constexpr const char* kPlanAnswer = "Title: Swap\nRests on: e12\nDo it.";
const std::string kFileAnswer = "```cpp\n" + std::string(kKernel) + "```";
constexpr const char* kLessonAnswer = R"({"title":"t","strategy":"s","before":"b","after":"a"})";

TEST(ModelPlanner, AnswersWithAPlan) {
  const model::Task task = example_task();
  ScriptedChatModel model(Answers{{"planner", {kPlanAnswer}}});
  const auto answer = make_model_planner(model, prompts())->plan(example_plan_question(task), {});
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  ASSERT_TRUE(answer->value.has_value()) << answer->lost;
  EXPECT_EQ(answer->value->title, "Swap");
  EXPECT_EQ(answer->value->rests_on, std::vector<std::string>{"e12"});
  EXPECT_EQ(answer->lost, "");
  EXPECT_EQ(answer->raw, kPlanAnswer);
  EXPECT_EQ(answer->author, "scripted");
  EXPECT_EQ(answer->usage.calls, 1);
  EXPECT_EQ(answer->usage.input_tokens, 100);
  const llm::ChatRequest request = model.requests().at(0);
  EXPECT_EQ(request.label, "planner i1.b0.p2 try0");
  ASSERT_EQ(request.messages.size(), 2U);
  EXPECT_EQ(request.messages[0].speaker, Speaker::system);
  EXPECT_EQ(request.messages[1].speaker, Speaker::user);
}

TEST(ModelPlanner, IsToldEverythingItMayKnowAndNothingElse) {
  const model::Task task = example_task();
  ScriptedChatModel model(Answers{{"planner", {kPlanAnswer}}});
  ASSERT_TRUE(make_model_planner(model, prompts())->plan(example_plan_question(task), {}).has_value());
  const auto messages = model.requests().at(0).messages;
  const std::string text = messages[0].text + messages[1].text;
  for (const char* fact : {"You are the planner",
                           "The solution is one C++ file",
                           "-std=gnu++20 -O3 -march=native",
                           "-funroll-loops",
                           "static or thread-local",
                           "The stack is 8 MiB",
                           "one thread and starts no others",
                           "caches are cold",
                           "may not compute in a lower precision",
                           "y = 2 x",
                           "large: M = 4096",
                           "odd: M = 61",
                           "enum { K = 64 };",
                           "y[i] = 2.0f * x[i];",
                           "- rate = 0.164 GFLOP/s: least work over time",
                           "12.5 % of the roofline",
                           "the bound is memory",
                           "Imaginary CPU",
                           "Experience e12 (it made a kernel faster; effect 1.84x",
                           "| Title: Swap the loops",
                           "| Copy the rows first: 0.91x",
                           "| The rows are short.",
                           "Title: the strategy",
                           "Rests on: the ids"}) {
    EXPECT_TRUE(holds(text, fact)) << fact;
  }
  for (const char* unknown : {"hidden_axis", "97531", "held", "5.55 ms", "secret_diff_line", "{{", "}}"}) {
    EXPECT_FALSE(holds(text, unknown)) << unknown;
  }
}

TEST(ModelExecutor, AnswersWithTheWholeSolution) {
  model::Task task = example_task();
  task.baseline.sources.push_back({"table.h", "// given\n"});
  ScriptedChatModel model(Answers{{"executor", {"```cpp\nvoid kernel(int x) { }\n```"}}});
  ExecuteQuestion question = example_execute_question(task);
  question.context.identity.attempt = 1;
  const auto answer = make_model_executor(model, prompts())->execute(question, {});
  ASSERT_TRUE(answer.has_value() && answer->value.has_value());
  EXPECT_EQ(answer->value->solution().language, model::Language::cpp);
  ASSERT_EQ(answer->value->solution().sources.size(), 2U);
  EXPECT_EQ(answer->value->solution().sources[0], (model::SourceFile{"baseline.cpp", "void kernel(int x) { }\n"}));
  EXPECT_EQ(answer->value->solution().sources[1], task.baseline.sources[1]);
  const llm::ChatRequest request = model.requests().at(0);
  EXPECT_EQ(request.label, "executor i1.b0.p2.a1 try0");
  EXPECT_TRUE(holds(request.messages[1].text, "| Do it twice\n| First this,\n| then that."));
  EXPECT_TRUE(holds(request.messages[1].text, kKernel));
  for (const char* unknown : {"hidden_axis", "97531", "held"}) EXPECT_FALSE(holds(request.messages[1].text, unknown));
}

TEST(ModelAgents, QuestionsWithACommonText_AreThoseThatAreAskedAlone) {
  const model::Task task = example_task();
  ScriptedChatModel model(
      Answers{{"executor", {kFileAnswer, kFileAnswer, kFileAnswer}}, {"planner", {kPlanAnswer, kPlanAnswer}}});
  const auto executor = make_model_executor(model, prompts());
  const auto planner = make_model_planner(model, prompts());
  ExecuteQuestion question = example_execute_question(task);
  ASSERT_TRUE(executor->execute(question, {}).has_value());
  question.context.common = std::make_shared<CommonText>();
  for (question.context.identity.attempt = 1; question.context.identity.attempt < 3;
       ++question.context.identity.attempt)
    ASSERT_TRUE(executor->execute(question, {}).has_value());
  PlanQuestion plan = example_plan_question(task);
  ASSERT_TRUE(planner->plan(plan, {}).has_value());
  plan.context.common = std::make_shared<CommonText>();
  ASSERT_TRUE(planner->plan(plan, {}).has_value());

  const auto requests = model.requests();
  ASSERT_EQ(requests.size(), 5U);
  const auto same = [&](std::size_t one, std::size_t other) {
    for (std::size_t part = 0; part < 2; ++part) {
      EXPECT_EQ(requests[one].messages.at(part).text, requests[other].messages.at(part).text);
      EXPECT_EQ(requests[one].messages.at(part).speaker, requests[other].messages.at(part).speaker);
    }
  };
  same(0, 1);
  same(0, 2);
  same(3, 4);
  EXPECT_EQ(requests[1].label, "executor i1.b0.p2.a1 try0");
  EXPECT_EQ(requests[2].label, "executor i1.b0.p2.a2 try0");
}

TEST(ModelFixer, IsToldHowItFailed) {
  const model::Task task = example_task();
  ScriptedChatModel model(Answers{{"fixer", {kFileAnswer}}});
  const auto answer = make_model_fixer(model, prompts())->fix(example_fix_question(task), {});
  ASSERT_TRUE(answer.has_value() && answer->value.has_value());
  EXPECT_EQ(model::main_text(answer->value->solution()), kKernel);
  const std::string text = model.requests().at(0).messages[1].text;
  for (const char* fact : {"How it failed: COMPILE_ERROR", "| line 2: error: 'broken' was not declared",
                           "void kernel(broken) {}", kKernel, "| Do it twice"}) {
    EXPECT_TRUE(holds(text, fact)) << fact;
  }
  EXPECT_FALSE(holds(text, "hidden_axis"));
}

TEST(ModelSummarizer, AnswersWithALessonOrWithNone) {
  const model::Task task = example_task();
  ScriptedChatModel model(Answers{{"summarizer", {kLessonAnswer, "no optimization"}}});
  const auto agent = make_model_summarizer(model, prompts());
  const auto lesson = agent->summarize(example_summarize_question(task), {});
  ASSERT_TRUE(lesson.has_value() && lesson->value.has_value() && lesson->value->has_value());
  EXPECT_EQ((**lesson->value).title, "t");
  const auto none = agent->summarize(example_summarize_question(task), {});
  ASSERT_TRUE(none.has_value() && none->value.has_value());
  EXPECT_FALSE(none->value->has_value());
  EXPECT_EQ(none->lost, "");
  const std::string text = model.requests().at(0).messages[1].text;
  for (const char* fact : {"void kernel(/* the fast one */)", kKernel, "1.50x (95 % interval",
                           "- intensity = 0.125 flop/byte", "Change 1\n| Do it twice"}) {
    EXPECT_TRUE(holds(text, fact)) << fact;
  }
  EXPECT_FALSE(holds(text, "hidden_axis"));
}

TEST(ModelPlanner, GivesSeveralPlansFromOneQuestion) {
  const model::Task task = example_task();
  ScriptedChatModel model(Answers{{"planner",
                                   {"Title: Swap\nRests on: e12\nDo it.\n\n## Plan 2\nTitle: Pack\nRests on: none\n"
                                    "Copy it.\nTitle: Third\nRests on: none\nOne too many."}}});
  PlanQuestion question = example_plan_question(task);
  question.plans = 2;
  question.context.identity.plan = -1;
  const auto answer = make_model_planner(model, prompts())->plans(question, {});
  ASSERT_TRUE(answer.has_value() && answer->value.has_value()) << answer->lost;
  ASSERT_EQ(answer->value->size(), 2U);
  EXPECT_EQ((*answer->value)[0].text, "Do it.");
  EXPECT_EQ((*answer->value)[1].title, "Pack");
  EXPECT_EQ(answer->usage.calls, 1);
  EXPECT_EQ(model.requests().at(0).label, "planner i1.b0 try0");
  EXPECT_TRUE(holds(model.requests().at(0).messages[1].text, "Write 2 plans, each of another strategy"));
}

TEST(ModelPlanner, IsAskedOnceMoreWhereAPlanWouldBeLost) {
  const model::Task task = example_task();
  const std::string same = "Title: Tile\nRests on: none\nBy 4.\n\nTitle: Tile\nRests on: none\nBy 8.";
  const std::string two = "Title: Tile by 4\nRests on: none\nBy 4.\n\nTitle: Tile by 8\nRests on: none\nBy 8.";
  PlanQuestion question = example_plan_question(task);
  question.plans = 2;
  for (const std::string& again : {two, std::string("Title: Tile\nRests on: none\nBy 16."), std::string("Sorry.")}) {
    ScriptedChatModel model(Answers{{"planner", {same, again}}});
    const auto answer = make_model_planner(model, prompts())->plans(question, {});
    ASSERT_TRUE(answer.has_value() && answer->value.has_value()) << again;
    EXPECT_EQ(answer->value->size(), again == two ? 2U : 1U) << again;
    EXPECT_EQ(answer->usage.calls, 2);
    EXPECT_TRUE(holds(model.requests().at(1).messages[3].text, "two plans have the title \"Tile\""));
  }
}

/// A kernel of over 200 lines.
std::string long_kernel() {
  std::string text = kKernel;
  for (int i = 0; i < 250; ++i) text += "int line_" + std::to_string(i) + ";\n";
  return text;
}

TEST(ModelExecutor, MayEditALongFile) {
  model::Task task = example_task();
  task.baseline = model::with_main_text(task.baseline, long_kernel());
  ScriptedChatModel model(Answers{{"executor",
                                   {"<<<<<<< SEARCH\nint line_8\n=======\nint eight;\n>>>>>>> REPLACE\n",
                                    "```\n<<<<<<< SEARCH\nint line_7;\n=======\nint seven;\n>>>>>>> REPLACE\n```\n"}}});
  const auto answer = make_model_executor(model, prompts())->execute(example_execute_question(task), {});
  ASSERT_TRUE(answer.has_value() && answer->value.has_value()) << answer->lost;
  const std::string& file = model::main_text(answer->value->solution());
  EXPECT_TRUE(holds(file, "int line_6;\nint seven;\nint line_8;\n"));
  const auto requests = model.requests();
  EXPECT_TRUE(holds(requests.at(0).messages[0].text, "search/replace blocks"));
  ASSERT_EQ(requests.size(), 2U) << "a block that is not there is answered once";
  EXPECT_TRUE(holds(requests[1].messages[3].text, "The nearest lines there are:\n| int line_8;"))
      << requests[1].messages[3].text;
}

TEST(ModelExecutor, MayEditAShortFileThoughItIsNotAsked) {
  const model::Task task = example_task();
  const std::string edit = "<<<<<<< SEARCH\n}\n=======\n  kernel(x, y, 0);\n}\n>>>>>>> REPLACE\n";
  for (const std::string& text : {edit, "```cpp\n" + edit + "```\n", kFileAnswer + "\nThe change:\n" + edit}) {
    ScriptedChatModel model(Answers{{"executor", {text}}});
    const auto answer = make_model_executor(model, prompts())->execute(example_execute_question(task), {});
    ASSERT_TRUE(answer.has_value() && answer->value.has_value()) << text;
    EXPECT_TRUE(holds(model::main_text(answer->value->solution()), "x[i];\n  kernel(x, y, 0);\n}\n")) << text;
    EXPECT_FALSE(holds(model.requests().at(0).messages[0].text, "search/replace"));
  }
}

TEST(ModelAgents, WhatTheQuestionShowedIsNoAnswer) {
  const model::Task task = example_task();
  const std::string mine = "```cpp\nvoid kernel(int mine) { }\n```\n";
  FixQuestion fix = example_fix_question(task);
  const std::string broken = "```cpp\n" + model::main_text(fix.broken.solution()) + "```\n";
  const std::string answer = mine + "For reference, the original was:\n" + kFileAnswer;
  ScriptedChatModel model(Answers{{"executor", {answer}}, {"fixer", {answer + "\nand what failed:\n" + broken}}});
  const auto made = make_model_executor(model, prompts())->execute(example_execute_question(task), {});
  ASSERT_TRUE(made.has_value() && made->value.has_value());
  EXPECT_EQ(model::main_text(made->value->solution()), "void kernel(int mine) { }\n");
  const auto fixed = make_model_fixer(model, prompts())->fix(fix, {});
  ASSERT_TRUE(fixed.has_value() && fixed->value.has_value());
  EXPECT_EQ(model::main_text(fixed->value->solution()), "void kernel(int mine) { }\n");
}

TEST(ModelFixer, SaysWhatTheMendedKernelNowIs) {
  const model::Task task = example_task();
  ScriptedChatModel model(Answers{{"fixer", {"**Title:** Half of it\n" + kFileAnswer, kFileAnswer}}});
  const auto agent = make_model_fixer(model, prompts());
  EXPECT_EQ(agent->fix(example_fix_question(task), {})->title, "Half of it");
  EXPECT_EQ(agent->fix(example_fix_question(task), {})->title, "");
}

TEST(ModelFixer, AskedAgain_MayStillSayIt) {
  const model::Task task = example_task();
  ScriptedChatModel model(Answers{{"fixer", {"?", kFileAnswer}}});
  ASSERT_TRUE(make_model_fixer(model, prompts())->fix(example_fix_question(task), {})->value.has_value());
  EXPECT_TRUE(
      holds(model.requests().at(1).messages[3].text, "this form: a line \"Title: ...\", then exactly one fenced"));
}

TEST(ModelSummarizer, AnswersSeveralChangesAtOnce) {
  const model::Task task = example_task();
  const std::string second = R"({"change":2,"title":"t2","strategy":"s","before":"b","after":"a"})";
  ScriptedChatModel model(Answers{{"summarizer", {second}}});
  const std::vector<SummarizeQuestion> questions(2, example_summarize_question(task));
  const auto answer = make_model_summarizer(model, prompts())->summarize_all(questions, {});
  ASSERT_TRUE(answer.has_value() && answer->value.has_value()) << answer->lost;
  ASSERT_EQ(answer->value->size(), 2U);
  EXPECT_FALSE((*answer->value)[0].has_value());
  EXPECT_EQ((*answer->value)[1]->title, "t2");
  EXPECT_EQ(answer->usage.calls, 1);
}

TEST(ModelSummarizer, KeepsTheLessonsThatItCouldRead) {
  const model::Task task = example_task();
  const auto lesson = [](int change, const std::string& after) {
    return R"({"change": )" + std::to_string(change) + R"(, "title": "t", "strategy": "s", "before": "b")" + after +
           "}";
  };
  const std::string whole = R"(, "after": "a")";
  const std::vector<SummarizeQuestion> questions(3, example_summarize_question(task));
  const auto ask = [&](const std::string& again) {
    ScriptedChatModel model(Answers{{"summarizer", {lesson(1, whole) + lesson(2, "") + lesson(3, whole), again}}});
    const auto answer = make_model_summarizer(model, prompts())->summarize_all(questions, {});
    EXPECT_TRUE(holds(model.requests().at(1).messages[3].text, "change 2: the JSON object has no \"after\""));
    EXPECT_EQ(answer->usage.calls, 2);
    return *answer;
  };
  const auto lost = ask("Sorry.");
  ASSERT_TRUE(lost.value.has_value()) << lost.lost;
  EXPECT_TRUE((*lost.value)[0].has_value());
  EXPECT_FALSE((*lost.value)[1].has_value());
  EXPECT_TRUE((*lost.value)[2].has_value());
  EXPECT_FALSE(lost.lost.empty());
  const auto mended = ask(lesson(2, whole));
  ASSERT_TRUE(mended.value.has_value()) << mended.lost;
  for (const auto& one : *mended.value) EXPECT_TRUE(one.has_value());
  EXPECT_EQ(mended.lost, "");
}

TEST(ModelAgents, AskOnceMoreWithTheReason) {
  const model::Task task = example_task();
  ScriptedChatModel model(Answers{{"executor", {"I would rather not.", kFileAnswer}}});
  const auto answer = make_model_executor(model, prompts())->execute(example_execute_question(task), {});
  ASSERT_TRUE(answer.has_value());
  ASSERT_TRUE(answer->value.has_value()) << answer->lost;
  EXPECT_EQ(answer->lost, "");
  EXPECT_EQ(answer->raw, kFileAnswer);
  EXPECT_EQ(answer->usage.calls, 2);
  EXPECT_EQ(answer->usage.input_tokens, 200);
  ASSERT_TRUE(answer->usage.usd.has_value());
  EXPECT_DOUBLE_EQ(*answer->usage.usd, 0.002);
  const llm::ChatRequest again = model.requests().at(1);
  EXPECT_EQ(again.label, "executor i1.b0.p2 try1");
  ASSERT_EQ(again.messages.size(), 4U);
  EXPECT_EQ(again.messages[0].text, model.requests().at(0).messages[0].text);
  EXPECT_EQ(again.messages[1].text, model.requests().at(0).messages[1].text);
  EXPECT_EQ(again.messages[2].speaker, Speaker::assistant);
  EXPECT_EQ(again.messages[2].text, "I would rather not.");
  EXPECT_EQ(again.messages[3].speaker, Speaker::user);
  EXPECT_TRUE(holds(again.messages[3].text, "no fenced block")) << again.messages[3].text;
}

TEST(ModelAgents, AnAnswerThatCannotBeReadTwiceIsLost) {
  const model::Task task = example_task();
  ScriptedChatModel model(Answers{{"planner", {"first", "second"}}, {"summarizer", {"{}"}}, {"fixer", {"?"}}});
  const auto plan = make_model_planner(model, prompts())->plan(example_plan_question(task), {});
  ASSERT_TRUE(plan.has_value()) << "a lost answer is no error";
  EXPECT_FALSE(plan->value.has_value());
  EXPECT_TRUE(holds(plan->lost, "Title:")) << plan->lost;
  EXPECT_EQ(plan->raw, "second");
  EXPECT_EQ(plan->usage.calls, 2);
  const auto lesson = make_model_summarizer(model, prompts())->summarize(example_summarize_question(task), {});
  ASSERT_TRUE(lesson.has_value());
  EXPECT_FALSE(lesson->value.has_value());
  EXPECT_FALSE(lesson->lost.empty());
  const auto fix = make_model_fixer(model, prompts())->fix(example_fix_question(task), {});
  ASSERT_TRUE(fix.has_value());
  EXPECT_FALSE(fix->value.has_value());
  EXPECT_EQ(model.calls("planner"), 2U);
  EXPECT_EQ(model.calls("summarizer"), 2U);
  EXPECT_EQ(model.calls("fixer"), 2U);
}

TEST(ModelAgents, ACutOrWithheldAnswerIsNotTakenForWhole) {
  const model::Task task = example_task();
  for (const llm::Finish finish : {llm::Finish::cut_by_length, llm::Finish::filtered}) {
    ScriptedChatModel model([finish](const llm::ChatRequest&, std::size_t turn) -> base::Result<llm::ChatReply> {
      auto reply = ScriptedChatModel::text_reply(turn == 0 ? "Title: Half\nRests on: none\nDo" : kPlanAnswer);
      if (turn == 0) reply.finish = finish;
      return reply;
    });
    const auto answer = make_model_planner(model, prompts())->plan(example_plan_question(task), {});
    ASSERT_TRUE(answer.has_value() && answer->value.has_value());
    EXPECT_EQ(answer->value->title, "Swap");
    EXPECT_EQ(answer->usage.calls, 2);
  }
}

TEST(ModelAgents, CutAnswer_IsRepeatedInShort) {
  const model::Task task = example_task();
  ScriptedChatModel model([](const llm::ChatRequest&, std::size_t turn) -> base::Result<llm::ChatReply> {
    auto reply = ScriptedChatModel::text_reply(turn == 0 ? "Title: Half\n" + std::string(50'000, 'x') : kPlanAnswer);
    if (turn == 0) reply.finish = llm::Finish::cut_by_length;
    return reply;
  });
  ASSERT_TRUE(make_model_planner(model, prompts())->plan(example_plan_question(task), {})->value.has_value());
  const std::string repeated = model.requests().at(1).messages.at(2).text;
  EXPECT_TRUE(repeated.starts_with("Title: Half"));
  EXPECT_LT(repeated.size(), 4'000U) << "what filled the context window leaves no room for another answer";
}

TEST(ModelAgents, ARefusalIsShown) {
  const model::Task task = example_task();
  ScriptedChatModel model([](const llm::ChatRequest&, std::size_t) -> base::Result<llm::ChatReply> {
    auto reply = ScriptedChatModel::text_reply("I cannot help with that.\n" + std::string(1000, 'x'));
    reply.finish = llm::Finish::filtered;
    return reply;
  });
  const auto answer = make_model_planner(model, prompts())->plan(example_plan_question(task), {});
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(answer->lost.starts_with("the server withheld it; it had written \"I cannot help with that. xxx"));
  EXPECT_LT(answer->lost.size(), 300U);
}

TEST(ModelAgents, AnEmptyAnswerIsNotRepeatedToTheServer) {
  const model::Task task = example_task();
  ScriptedChatModel model(Answers{{"planner", {"", kPlanAnswer}}});
  ASSERT_TRUE(make_model_planner(model, prompts())->plan(example_plan_question(task), {})->value.has_value());
  EXPECT_EQ(model.requests().at(1).messages.size(), 3U);
}

TEST(ModelAgents, PassErrorsOn) {
  const model::Task task = example_task();
  ScriptedChatModel model([](const llm::ChatRequest&, std::size_t turn) -> base::Result<llm::ChatReply> {
    if (turn == 0) return ScriptedChatModel::text_reply("unreadable");
    return base::fail(ErrorCode::unauthenticated, "host: check the key");
  });
  const auto answer = make_model_planner(model, prompts())->plan(example_plan_question(task), {});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::unauthenticated);
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = make_model_executor(model, prompts())->execute(example_execute_question(task), stop.get_token());
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
}

TEST(ModelAgents, CudaKernelsHaveAContractOfTheirOwn) {
  const std::string source =
      "//@ launch twice grid=(M) block=(64) args=(x, y)\n\nextern \"C\" __global__ void twice(const float* x, float* "
      "y) "
      "{}\n";
  model::Task task = example_task();
  task.target = "cuda";
  task.baseline = {model::Language("cuda"), {{"baseline.cu", source}}};
  const std::string faster = "// faster\n" + source;
  ScriptedChatModel model(Answers{{"executor", {"```cu\n" + faster + "```"}}, {"planner", {kPlanAnswer}}});
  ExecuteQuestion question = example_execute_question(task);
  question.context.device = "Imaginary GPU, 132 multiprocessors, L2 cache 50 MiB";
  const auto answer = make_model_executor(model, prompts())->execute(question, {});
  ASSERT_TRUE(answer.has_value() && answer->value.has_value());
  EXPECT_EQ(answer->value->solution().sources[0], (model::SourceFile{"baseline.cu", faster}));
  ASSERT_TRUE(make_model_planner(model, prompts())->plan(example_plan_question(task), {}).has_value());
  for (const llm::ChatRequest& request : model.requests()) {
    const std::string text = request.messages[0].text + request.messages[1].text;
    for (const char* fact : {"CUDA C++", "no host code", "//@ launch KERNEL", "-maxrregcount", "second-level cache",
                             "may not compute in a lower precision", "```cuda\n"}) {
      EXPECT_TRUE(holds(text, fact)) << fact;
    }
    for (const char* of_hosts : {"{{", "-march=native", "It runs on one thread", "hidden_axis", "97531"}) {
      EXPECT_FALSE(holds(text, of_hosts)) << of_hosts;
    }
  }
  EXPECT_TRUE(holds(model.requests().at(0).messages[1].text, "Imaginary GPU, 132 multiprocessors"));
}

TEST(ModelAgents, OtherLanguagesAreUnsupported) {
  model::Task task = example_task();
  task.baseline.language = model::Language("opencl");
  ScriptedChatModel model(Answers{{"planner", {kPlanAnswer}}});
  const auto answer = make_model_planner(model, prompts())->plan(example_plan_question(task), {});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::unsupported);
  EXPECT_TRUE(model.requests().empty());
}

}  // namespace
}  // namespace accelopt::agents
