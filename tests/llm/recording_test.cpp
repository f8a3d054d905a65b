// SPDX-License-Identifier: Apache-2.0
#include "llm/recording.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/json.hpp"
#include "fakes/scripted_chat_model.hpp"

namespace accelopt::llm {
namespace {

using base::ErrorCode;
using fakes::ScriptedChatModel;

constexpr const char* kRecordedKey = "sk-recorded-0123456789";

ChatRequest recorded_question(const std::string& label, const std::string& text) {
  ChatRequest request;
  request.label = label;
  request.messages = {{Speaker::system, "rules\nof the house\n"}, {Speaker::user, text}};
  return request;
}

class RecordedAnswers : public testing::Test {
 protected:
  RecordedAnswers() : folder_(base::TemporaryFolder::create("accelopt-recording").value()) {}

  void record(const ChatRequest& request, const std::string& answer, Finish finish = Finish::complete) {
    auto inner = std::make_unique<ScriptedChatModel>([&](const ChatRequest&, std::size_t) -> base::Result<ChatReply> {
      ChatReply reply = ScriptedChatModel::text_reply(answer);
      reply.finish = finish;
      return reply;
    });
    std::vector<Secret> keys;
    keys.emplace_back(kRecordedKey);
    const auto model = make_recording_model(std::move(inner), folder_.path(), std::move(keys));
    EXPECT_EQ(model->name(), "scripted");
    const auto reply = model->chat(request, {});
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
    EXPECT_EQ(reply->text, answer) << "the run gets it as it came";
  }
  base::Outcome<ChatReply> replay(const ChatRequest& request) {
    auto recording = Recording::load(folder_.path());
    if (!recording) return tl::make_unexpected(recording.error());
    const auto shared = std::make_shared<const Recording>(std::move(*recording));
    return make_replaying_model(shared, "planner")->chat(request, {});
  }
  /// Whether an answer to the one is an answer to the other.
  bool fits(const std::string& recorded, const std::string& asked) {
    const std::string label = "planner i" + std::to_string(pairs_++) + " try0";
    record(recorded_question(label, recorded), "plan");
    return replay(recorded_question(label, asked)).has_value();
  }
  std::string only_file() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) files.push_back(entry.path());
    EXPECT_EQ(files.size(), 1U);
    return files.empty() ? "" : base::read_file(files[0]).value();
  }

  base::TemporaryFolder folder_;
  int pairs_ = 0;
};

TEST_F(RecordedAnswers, ComeBackAsTheyWere) {
  const ChatRequest request = recorded_question("planner i0.b0.p0 try0", "question\n");
  record(request, "line one\n\n  line two\n", Finish::cut_by_length);
  const auto reply = replay(request);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->text, "line one\n\n  line two\n");
  EXPECT_EQ(reply->finish, Finish::cut_by_length);
  EXPECT_EQ(reply->model, "scripted");
  EXPECT_EQ(reply->usage.input_tokens, 100);
  EXPECT_EQ(reply->usage.usd, 0.001);
}

TEST_F(RecordedAnswers, CanBeReadByAPerson) {
  record(recorded_question("planner i0.b0.p0 try0", "a question\nof two lines"), "an answer\nof two");
  const base::Json file = base::Json::parse(only_file());
  EXPECT_EQ(file["label"], "planner i0.b0.p0 try0");
  EXPECT_EQ(file["messages"][1]["text"], base::Json({"a question", "of two lines"}));
  EXPECT_EQ(file["answer"], base::Json({"an answer", "of two"}));
  EXPECT_EQ(file["finish"], "complete");
}

TEST_F(RecordedAnswers, HoldNoKey) {
  const std::string key = kRecordedKey;
  const ChatRequest request = recorded_question("planner i0.b0.p0 try0", "a hint: " + key);
  record(request, "you said " + key);
  EXPECT_EQ(only_file().find(key), std::string::npos);
  EXPECT_EQ(base::Json::parse(only_file())["answer"][0], "you said [key]");
}

TEST_F(RecordedAnswers, FitTheSameQuestionAboutOtherMeasurements) {
  const std::string before = "It takes 1.23 ms (45 %), i0.b0 was 2.31x\n```cpp\nint n = 4;\n```\n";
  record(recorded_question("planner i1.b0.p0 try0", before), "plan");
  const std::string after = "It takes 987 us (7.5 %), i0.b0 was 11x\n```cpp\nint n = 4;\n```\n";
  EXPECT_EQ(replay(recorded_question("planner i1.b0.p0 try0", after))->text, "plan");
  const std::string other_code = "It takes 987 us (7.5 %), i0.b0 was 11x\n```cpp\nint n = 8;\n```\n";
  EXPECT_FALSE(replay(recorded_question("planner i1.b0.p0 try0", other_code)).has_value()) << "code is no measurement";
}

TEST_F(RecordedAnswers, AnAnswerThatWasLostIsLostAgain) {
  const auto failing = [&](ErrorCode code) {
    auto inner =
        std::make_unique<ScriptedChatModel>([code](const ChatRequest&, std::size_t) -> base::Result<ChatReply> {
          return base::fail(code, std::string("gone, with ") + kRecordedKey);
        });
    std::vector<Secret> keys;
    keys.emplace_back(kRecordedKey);
    const auto model = make_recording_model(std::move(inner), folder_.path(), std::move(keys));
    EXPECT_FALSE(model->chat(recorded_question("fixer i0 try0", "q"), {}).has_value());
  };
  failing(ErrorCode::cancelled);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path())) << "a stop is nobody's answer";
  failing(ErrorCode::timed_out);
  const auto lost = replay(recorded_question("fixer i0 try0", "q"));
  ASSERT_FALSE(lost.has_value());
  EXPECT_EQ(lost.error().code, ErrorCode::timed_out);
  EXPECT_EQ(lost.error().message, "gone, with [key]");
}

TEST_F(RecordedAnswers, AMissSaysWhichPromptDiffersAndWhere) {
  record(recorded_question("planner i0.b0.p0 try0", "same\nsame\nthen this 5\nend"), "near");
  record(recorded_question("planner i0.b0.p0 try0", "other\nfrom the start"), "far");
  const auto missed = replay(recorded_question("planner i0.b0.p0 try0", "same\nsame\nthen that 7\nend"));
  ASSERT_FALSE(missed.has_value());
  EXPECT_EQ(missed.error().code, ErrorCode::invalid_argument);
  const std::string& message = missed.error().message;
  for (const char* part :
       {"planner i0.b0.p0 try0", "message 2 (user), line 3", "recorded: then this 5", "asked:    then that 7"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  const auto unknown = replay(recorded_question("fixer i0.b0.p0.a0.f1 try0", "x"));
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().message.find("fixer i0.b0.p0.a0.f1 try0"), std::string::npos);
}

TEST_F(RecordedAnswers, AMissSaysWhenAPromptHasMoreMessages) {
  ChatRequest request = recorded_question("planner i0.b0.p0 try1", "same");
  record(request, "x");
  request.messages.push_back({Speaker::user, "one more"});
  const auto missed = replay(request);
  ASSERT_FALSE(missed.has_value());
  EXPECT_NE(missed.error().message.find("message 3 (user), line 1"), std::string::npos) << missed.error().message;
  EXPECT_NE(missed.error().message.find("recorded: (no such message)"), std::string::npos);
}

TEST_F(RecordedAnswers, SayWhatIsWrongWithTheirFolder) {
  EXPECT_EQ(Recording::load(folder_.path() / "nowhere").error().code, ErrorCode::not_found);
  EXPECT_EQ(Recording::load(folder_.path()).error().code, ErrorCode::not_found);
  for (const char* wrong : {"{", "[]", R"({"label": 3})", "null"}) {
    ASSERT_TRUE(base::write_file(folder_.path() / "answer.json", wrong));
    const auto loaded = Recording::load(folder_.path());
    ASSERT_FALSE(loaded.has_value()) << wrong;
    EXPECT_EQ(loaded.error().code, ErrorCode::corrupt) << wrong;
    EXPECT_NE(loaded.error().message.find("answer.json"), std::string::npos);
  }
}

TEST_F(RecordedAnswers, AnAnswerThatCannotBeKeptIsAnError) {
  const auto model = make_recording_model(
      std::make_unique<ScriptedChatModel>(ScriptedChatModel::Answers{{"planner", {"x"}}}), folder_.path() / "gone", {});
  const auto reply = model->chat(recorded_question("planner i0 try0", "q"), {});
  ASSERT_FALSE(reply.has_value());
  EXPECT_NE(reply.error().message.find("recording an answer"), std::string::npos);
}

TEST_F(RecordedAnswers, MeasuredNumbers_FitOthers) {
  EXPECT_TRUE(fits("took 1.5 ms, then 20 ns", "took 31 ms, then 0.2 ns"));
  EXPECT_TRUE(fits("2.31x (95 % interval 2.20x to 2.40x)", "1x (95 % interval 0.9x to 11x)"));
  EXPECT_TRUE(fits("1e+06 bytes", "77 bytes"));
  EXPECT_TRUE(fits("a 5\n```\nb 5\n```\nc 5", "a 6\n```\nb 5\n```\nc 7"));
  EXPECT_TRUE(fits("```\n+//@ tune MR in {6}  NR in {16}\nint x = 6;\n```",
                   "```\n+//@ tune MR in {4}  NR in {8}\nint x = 6;\n```"));
  EXPECT_TRUE(fits("workload odd (family rows): expected -8.17, got 7.6e-3 at index 0",
                   "workload odd (family zeros): expected 3, got -1 at index 96"));
  EXPECT_TRUE(fits("a-1 - 2 (family", "a-7 - 11 (family"));
  EXPECT_TRUE(fits("AMD EPYC 7B13; each run is a process of its own", "Xeon; each run is a process of its own"));
  EXPECT_TRUE(fits("a\n- random n=800: time = 11.33 ms\nb\n- time = 2", "a\nb\n- time = 3"));
  EXPECT_TRUE(fits("a\n- L2 hit rate = 50.67 %: sectors found\n- silu: blocks = 1.147e+05: of the grid\nb", "a\nb"))
      << "which counters there are depends on the machine";
  EXPECT_TRUE(fits("a\n| modelled: 1 to 2 us, 3 instructions\n| modelled: 4 to 5 us, 6 instructions\nb",
                   "a\n| modelled, wide: 7 to 8 us, 9 instructions\nb"))
      << "which workloads a model of a device tells of depends on the version";
  EXPECT_TRUE(fits("- wide: M = 64, N = 5: race\n- odd: M = 61", "- wide: M = 32, N = 6: race\n- odd: M = 1"));
}

TEST_F(RecordedAnswers, OtherNumbers_FitNoOthers) {
  EXPECT_FALSE(fits("plan i0.b1.p2 of float32 x3", "plan i0.b1.p3 of float32 x3"));
  EXPECT_FALSE(fits("plan i0.b1.p2 of float32 x3", "plan i0.b1.p2 of float32 x4"));
  EXPECT_FALSE(fits("a 5\n```\nb 5\n```\nc 5", "a 5\n```\nb 6\n```\nc 5"));
  EXPECT_FALSE(fits("```\n- a = 1: b\n```", "```\n- a = 2: b\n```"));
  EXPECT_FALSE(fits("```\n//@ tune MR in {6}\nint x = 6;\n```", "```\n//@ tune MR in {6}\nint x = 7;\n```"));
  EXPECT_FALSE(fits("a 1", "a 1\nb"));
}

}  // namespace
}  // namespace accelopt::llm
