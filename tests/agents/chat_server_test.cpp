// SPDX-License-Identifier: Apache-2.0
// The four roles over real HTTP against the scripted chat server: what the black-box tests of whole runs stand on.
#include "fakes/chat_server.hpp"

#include <gtest/gtest.h>

#include "agents/model_agents.hpp"
#include "agents/questions.hpp"
#include "fakes/fake_clock.hpp"
#include "llm/endpoint.hpp"

namespace accelopt::agents {
namespace {

using base::ErrorCode;
using base::Json;

class ChatServerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!fakes::ChatServer::available()) GTEST_SKIP() << "python3 is not installed";
  }

  /// Starts the server and a model that asks it.
  void start(const Json& script, const std::string& key = "sk-test") {
    server_ = std::make_unique<fakes::ChatServer>(ACCELOPT_CHAT_SERVER, script);
    llm::EndpointOptions options;
    options.base_url = server_->base_url();
    options.model = "asked-for";
    options.key = llm::Secret(key);
    options.limits.stall = std::chrono::milliseconds(200);
    model_ = llm::make_endpoint_model(std::move(options), client_, clock_).value();
  }

  std::unique_ptr<fakes::ChatServer> server_;
  http::Client client_;
  fakes::FakeClock clock_;
  std::unique_ptr<llm::ChatModel> model_;
  const model::Task task_ = example_task();
};

TEST_F(ChatServerTest, PlaysAllRolesOfAnIteration) {
  start({{"key", "sk-test"},
         {"model", "scripted-1"},
         {"roles",
          {{"planner",
            {{{"when", {{"contains", "| Title: Swap the loops"}}},
              {"text", "Title: With memory ${answer}\nRests on: e12\nGo on."}},
             {{"texts", {"Title: First\nRests on: none\nBegin.", "Title: Second\nRests on: none\nBegin."}}}}},
           {"executor",
            {{{"edit", {{"block", "the kernel"}, {"replace", {{"2\\.0f \\* x", "broken + x"}}}}},
              {"text", "Done:\n```cpp\n${edited}```"}}}},
           {"fixer",
            {{{"when", {{"contains", "COMPILE_ERROR"}}},
              {"text", {"```cpp", "${block:correct kernel}// mended", "```"}}}}},
           {"summarizer",
            {{{"reasoning", "hm"},
              {"stream", false},
              {"text", R"({"title":"t","strategy":"s","before":"b","after":"a"})"}}}}}}});
  const auto planner = make_model_planner(*model_, prompts());
  PlanQuestion question = example_plan_question(task_);
  const auto with_memory = planner->plan(question, {});
  ASSERT_TRUE(with_memory.has_value()) << with_memory.error().message;
  ASSERT_TRUE(with_memory->value.has_value()) << with_memory->lost;
  EXPECT_EQ(with_memory->value->title, "With memory 1");
  EXPECT_GT(with_memory->usage.input_tokens, 500);
  EXPECT_GT(with_memory->usage.output_tokens, 0);
  question.memory.clear();
  for (const char* title : {"First", "Second", "Second"}) EXPECT_EQ(planner->plan(question, {})->value->title, title);

  const auto broken = make_model_executor(*model_, prompts())->execute(example_execute_question(task_), {});
  ASSERT_TRUE(broken.has_value()) << broken.error().message;
  ASSERT_TRUE(broken->value.has_value()) << broken->lost;
  EXPECT_TRUE(holds(model::main_text(broken->value->solution()), "y[i] = broken + x[i];"));

  const auto mended = make_model_fixer(*model_, prompts())->fix(example_fix_question(task_), {});
  ASSERT_TRUE(mended.has_value()) << mended.error().message;
  ASSERT_TRUE(mended->value.has_value()) << mended->lost;
  EXPECT_EQ(model::main_text(mended->value->solution()), std::string(kKernel) + "// mended\n");

  const auto lesson = make_model_summarizer(*model_, prompts())->summarize(example_summarize_question(task_), {});
  ASSERT_TRUE(lesson.has_value()) << lesson.error().message;
  ASSERT_TRUE(lesson->value.has_value() && lesson->value->has_value());

  EXPECT_EQ(server_->answered("planner").size(), 4U);
  EXPECT_EQ(server_->answered("executor").size(), 1U);
  EXPECT_EQ(server_->answered("fixer").size(), 1U);
  EXPECT_EQ(server_->answered("summarizer").size(), 1U);
  const Json first = server_->log().at(0);
  EXPECT_EQ(first["authorization"], "Bearer sk-test");
  EXPECT_EQ(first["path"], "/v1/chat/completions");
  EXPECT_EQ(first["body"]["model"], "asked-for");
  EXPECT_TRUE(holds(first["body"]["messages"][1]["content"].get<std::string>(), "Swap the loops"));
  EXPECT_EQ(first["rule"], "planner[0]");
}

TEST_F(ChatServerTest, FailsInBetweenAsScripted) {
  start({{"failures",
          {{{"when", {{"request", 1}}}, {"fail", {{"status", 500}}}},
           {{"when", {{"request", 2}}}, {"fail", {{"status", 429}, {"headers", {{"Retry-After", "7"}}}}}},
           {{"when", {{"request", 3}}}, {"fail", {{"drop", "before"}}}},
           {{"when", {{"request", 4}}},
            {"fail", {{"drop", "middle"}}},
            {"text", "Title: half of a long, long, long title that is cut in two"}},
           {{"when", {{"request", 5}}}, {"fail", {{"stall", "middle"}}}},
           {{"when", {{"request", 6}}}, {"fail", {{"garbage", "<<<"}}}}}},
         {"roles", {{"planner", {{{"text", "Title: ${request} ${turn} ${answer}\nRests on: none\nGo."}}}}}}});
  const auto answer = make_model_planner(*model_, prompts())->plan(example_plan_question(task_), {});
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  ASSERT_TRUE(answer->value.has_value()) << answer->lost;
  EXPECT_EQ(answer->value->title, "7 7 1");
  EXPECT_EQ(answer->usage.calls, 1);
  EXPECT_EQ(answer->usage.transport_retries, 6);
  std::vector<std::string> outcomes;
  for (const Json& entry : server_->log()) outcomes.push_back(entry["outcome"].get<std::string>());
  EXPECT_EQ(outcomes, (std::vector<std::string>{"status 500", "status 429", "drop before", "drop middle",
                                                "stall middle", "garbage", "answered"}));
  EXPECT_EQ(server_->answered("planner").size(), 1U);
}

TEST_F(ChatServerTest, TellsAQuestionThatIsAskedAgain) {
  start({{"roles",
          {{"executor",
            {{{"when", {{"again", true}}},
              {"capture", {{"reason", "cannot be used: ([^.]*)"}}},
              {"text", "```\n// ${reason}\nvoid kernel() {}\n```"}},
             {{"times", 1}, {"text", "Let me think."}}}}}}});
  const auto answer = make_model_executor(*model_, prompts())->execute(example_execute_question(task_), {});
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  ASSERT_TRUE(answer->value.has_value()) << answer->lost;
  EXPECT_EQ(model::main_text(answer->value->solution()), "// it has no fenced block with the file\nvoid kernel() {}\n");
  EXPECT_EQ(answer->usage.calls, 2);
  EXPECT_EQ(server_->answered("executor").size(), 2U);
  EXPECT_EQ(server_->answered("executor")[1]["again"], true);
}

TEST_F(ChatServerTest, RefusesAWrongKey) {
  start({{"key", "sk-right"}, {"roles", Json::object()}}, "sk-wrong-key");
  const auto answer = make_model_planner(*model_, prompts())->plan(example_plan_question(task_), {});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::unauthenticated);
  EXPECT_FALSE(holds(answer.error().message, "sk-wrong-key"));
  EXPECT_EQ(server_->log().size(), 1U);
}

TEST_F(ChatServerTest, SaysWhenTheScriptHasNoAnswer) {
  start({{"roles", {{"planner", {{{"when", {{"contains", "what is not there"}}}, {"text", "x"}}}}}}});
  const auto answer = make_model_planner(*model_, prompts())->plan(example_plan_question(task_), {});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(holds(answer.error().message, "no rule applies to request 1 of the planner")) << answer.error().message;
  EXPECT_EQ(server_->log().at(0)["outcome"], "unscripted");
}

}  // namespace
}  // namespace accelopt::agents
