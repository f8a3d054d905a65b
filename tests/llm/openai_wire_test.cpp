// SPDX-License-Identifier: Apache-2.0
#include "llm/openai_wire.hpp"

#include <gtest/gtest.h>

#include "llm/wire_json.hpp"

namespace accelopt::llm {
namespace {

using base::Json;

std::string request_body(const ChatRequest& request, const WireSettings& settings, const Dialect& dialect) {
  return openai_wire().body(request, settings, dialect);
}

std::optional<Dialect> other_dialect(std::string_view words, const Dialect& refused) {
  return openai_wire().other_dialect(words, refused, {.model = "m"});
}

/// A reader by value, as the tests use it.
class ReplyReader {
 public:
  auto take(std::string_view json) { return reader_->take(json); }
  [[nodiscard]] bool finished() const { return reader_->finished(); }
  [[nodiscard]] const std::string& broken_off() const { return reader_->broken_off(); }
  [[nodiscard]] bool has_usage() const { return reader_->has_usage(); }
  [[nodiscard]] ChatReply reply() const { return reader_->reply(); }

 private:
  std::unique_ptr<AnswerReader> reader_ = openai_wire().reader();
};

ChatRequest question() {
  ChatRequest request;
  request.messages = {
      {Speaker::system, "rules"}, {Speaker::user, "first"}, {Speaker::assistant, "hm"}, {Speaker::user, "again"}};
  return request;
}

TEST(RequestBody, HoldsTheMessagesAndAsksForAStreamWithUsage) {
  const Json body = Json::parse(request_body(question(), {.model = "m"}, {}));
  EXPECT_EQ(body, Json::parse(R"({"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[
      {"role":"system","content":"rules"},{"role":"user","content":"first"},
      {"role":"assistant","content":"hm"},{"role":"user","content":"again"}]})"));
}

TEST(RequestBody, CarriesTheSettings) {
  const WireSettings settings{
      .model = "m", .temperature = 0.5, .max_output_tokens = 100, .reasoning = {.effort = "high"}};
  const Json body = Json::parse(request_body(question(), settings, {}));
  EXPECT_EQ(body["temperature"], 0.5);
  EXPECT_EQ(body["max_tokens"], 100);
  EXPECT_EQ(body["reasoning_effort"], "high");
}

TEST(RequestBody, TheRequestsOwnSettingsWin) {
  ChatRequest request = question();
  request.temperature = 0;
  request.max_output_tokens = 7;
  const Json body = Json::parse(request_body(request, {.model = "m", .temperature = 0.5, .max_output_tokens = 100},
                                             {TokenLimitName::max_completion_tokens, StreamUsage::leave_out}));
  EXPECT_EQ(body["temperature"], 0);
  EXPECT_EQ(body["max_completion_tokens"], 7);
  EXPECT_FALSE(body.contains("max_tokens"));
  EXPECT_FALSE(body.contains("stream_options"));
}

TEST(RequestBody, SurvivesTextThatIsNotUtf8) {
  ChatRequest request;
  request.messages = {{Speaker::user, "a\xff\x01z"}};
  EXPECT_TRUE(Json::accept(request_body(request, {.model = "m"}, {})));
}

TEST(OtherDialect, UnderstandsWhatTheServerDoesNotKnow) {
  const auto limit = other_dialect("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", {});
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->token_limit, TokenLimitName::max_completion_tokens);
  EXPECT_EQ(limit->stream_usage, StreamUsage::ask);
  const auto usage = other_dialect("Extra inputs are not permitted: stream_options", *limit);
  ASSERT_TRUE(usage.has_value());
  EXPECT_EQ(usage->token_limit, TokenLimitName::max_completion_tokens);
  EXPECT_EQ(usage->stream_usage, StreamUsage::leave_out);
  EXPECT_EQ(other_dialect("stream_options", *usage), std::nullopt);
  EXPECT_EQ(other_dialect("temperature is too high", {}), std::nullopt);
}

TEST(ServerWords, FindsTheMessageInEveryUsualPlace) {
  EXPECT_EQ(server_words(R"({"error":{"message":"no such model","code":"x"}})", Secret()), "no such model");
  EXPECT_EQ(server_words(R"({"error":"model 'm' not found"})", Secret()), "model 'm' not found");
  EXPECT_EQ(server_words(R"({"message":"hello"})", Secret()), "hello");
  EXPECT_EQ(server_words(R"({"detail":"Not Found"})", Secret()), "Not Found");
  EXPECT_EQ(server_words(R"({"detail":[{"loc":["body","n"]}]})", Secret()), R"([{"loc":["body","n"]}])");
  EXPECT_EQ(server_words("<html>\n  gateway</html>", Secret()), "<html> gateway</html>");
  EXPECT_EQ(server_words("", Secret()), "");
}

TEST(ServerWords, AreTame) {
  EXPECT_EQ(server_words("a\x1b[31mred\n\n\nline\xc3\xa9", Secret()), "a?[31mred line??");
  EXPECT_LE(server_words(std::string(5000, 'x'), Secret()).size(), 303U);
}

TEST(ServerCode, IsTheCodeElseTheType) {
  EXPECT_EQ(server_code(R"({"error":{"code":"insufficient_quota","type":"t"}})"), "insufficient_quota");
  EXPECT_EQ(server_code(R"({"error":{"code":null,"type":"t"}})"), "t");
  EXPECT_EQ(server_code("nothing"), "");
}

TEST(ReplyReader, JoinsTheChunksOfAStream) {
  ReplyReader reader;
  for (const char* chunk : {
           R"({"model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]})",
           R"({"choices":[{"index":0,"delta":{"reasoning_content":"let me think","content":null}}]})",
           R"({"choices":[{"index":0,"delta":{"content":"Hel"}}],"usage":null})",
           R"({"choices":[{"index":1,"delta":{"content":"another answer"}}]})",
           R"({"choices":[{"index":0,"delta":{"content":"lo"}}]})",
       }) {
    ASSERT_TRUE(reader.take(chunk).has_value()) << chunk;
    EXPECT_FALSE(reader.finished());
  }
  ASSERT_TRUE(reader.take(R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})").has_value());
  EXPECT_TRUE(reader.finished());
  EXPECT_FALSE(reader.has_usage());
  ASSERT_TRUE(reader
                  .take(R"({"choices":[],"usage":{"prompt_tokens":30,"completion_tokens":20,"total_tokens":50,
                          "prompt_tokens_details":{"cached_tokens":10},"completion_tokens_details":{"reasoning_tokens":8}}})")
                  .has_value());
  const ChatReply reply = reader.reply();
  EXPECT_EQ(reply.text, "Hello");
  EXPECT_EQ(reply.model, "m-1");
  EXPECT_EQ(reply.finish, Finish::complete);
  EXPECT_TRUE(reader.has_usage());
  EXPECT_EQ(reply.usage.input_tokens, 30);
  EXPECT_EQ(reply.usage.cached_input_tokens, 10);
  EXPECT_EQ(reply.usage.output_tokens, 20);
}

TEST(ReplyReader, ReadsAWholeAnswer) {
  ReplyReader reader;
  ASSERT_TRUE(reader
                  .take(R"({"choices":[{"message":{"role":"assistant","content":[{"type":"text","text":"a"},
                          {"type":"text","text":"b"}]},"finish_reason":"length"}]})")
                  .has_value());
  EXPECT_EQ(reader.reply().text, "ab");
  EXPECT_EQ(reader.reply().finish, Finish::cut_by_length);
}

TEST(ReplyReader, OnlyKnownReasonsEndAWholeAnswer) {
  const auto ended_by = [](const std::string& reason) {
    ReplyReader reader;
    EXPECT_TRUE(reader.take(R"({"choices":[{"message":{"content":"a"},"finish_reason":)" + reason + "}]}").has_value());
    return std::pair(reader.finished(), reader.broken_off());
  };
  EXPECT_EQ(ended_by(R"("stop")"), std::pair(true, std::string()));
  EXPECT_EQ(ended_by(R"("STOP")"), std::pair(true, std::string()));
  EXPECT_EQ(ended_by(R"("error")"), std::pair(true, std::string("error")));
  EXPECT_EQ(ended_by(R"("")"), std::pair(false, std::string()));
  EXPECT_EQ(ended_by("null"), std::pair(false, std::string()));
}

TEST(ReplyReader, CountsReasoningThatComesOnTop) {
  ReplyReader reader;
  ASSERT_TRUE(reader
                  .take(R"({"choices":[],"usage":{"prompt_tokens":30,"completion_tokens":20,"total_tokens":58,
                          "completion_tokens_details":{"reasoning_tokens":8}}})")
                  .has_value());
  EXPECT_EQ(reader.reply().usage.output_tokens, 28);
}

TEST(ReplyReader, SaysWhenTheServerWithheldTheAnswer) {
  ReplyReader filter;
  ASSERT_TRUE(filter.take(R"({"choices":[{"delta":{},"finish_reason":"content_filter"}]})").has_value());
  EXPECT_EQ(filter.reply().finish, Finish::filtered);
  ReplyReader refusal;
  ASSERT_TRUE(refusal.take(R"({"choices":[{"message":{"content":null,"refusal":"I can't"},"finish_reason":"stop"}]})")
                  .has_value());
  EXPECT_EQ(refusal.reply().finish, Finish::filtered);
  EXPECT_EQ(refusal.reply().text, "I can't");
}

TEST(ReplyReader, NonsenseIsNoPartOfAnAnswerAndNeverACrash) {
  const auto kind_of = [](const char* text) {
    const auto taken = ReplyReader().take(text);
    EXPECT_FALSE(taken.has_value()) << text;
    return taken ? WireProblem::Kind::server_error : taken.error().kind;
  };
  for (const char* text : {"{", R"({"choices":[{"delta":{"content":"a)", R"({"message":"boom"})"})
    EXPECT_EQ(kind_of(text), WireProblem::Kind::malformed) << text;
  for (const char* text : {"", "ping", "null", "[]", "7", "\"x\"", "{}", R"({"choices":7})", R"({"type":"ping"})"})
    EXPECT_EQ(kind_of(text), WireProblem::Kind::nothing_in_it) << text;
  for (const char* text :
       {R"({"choices":[null,7,"x",[],{}]})", R"({"choices":[{"delta":7,"index":"a","finish_reason":{}}]})",
        R"({"choices":[],"usage":{"prompt_tokens":"many","completion_tokens":-5,"total_tokens":1e300}})"}) {
    ReplyReader reader;
    ASSERT_TRUE(reader.take(text).has_value()) << text;
    EXPECT_EQ(reader.reply().text, "");
    EXPECT_EQ(reader.reply().usage.input_tokens, 0);
    EXPECT_EQ(reader.reply().usage.output_tokens, 0);
  }
}

TEST(ReplyReader, HalvesOfACharacterAreJoinedOrReplaced) {
  const auto read = [](const std::vector<std::string>& contents) {
    ReplyReader reader;
    for (const std::string& content : contents) {
      const std::string chunk = R"({"choices":[{"index":0,"delta":{"content":")" + content + R"("}}]})";
      EXPECT_TRUE(reader.take(chunk).has_value()) << chunk;
    }
    return reader.reply().text;
  };
  EXPECT_EQ(read({R"(go \ud83d)", R"(\ude80\n)"}), "go \xf0\x9f\x9a\x80\n");
  EXPECT_EQ(read({R"(\ud83d\ude80 \ud83d)", R"(\uDE80\ud83d)", R"(\ude80)"}),
            "\xf0\x9f\x9a\x80 \xf0\x9f\x9a\x80\xf0\x9f\x9a\x80");
  EXPECT_EQ(read({R"(a\ud83d)", "b"}),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(read({R"(\ude80 \ud83d\\ \\ud83d)"}), "\xef\xbf\xbd \xef\xbf\xbd\\ \\ud83d");
  EXPECT_EQ(read({"a \xf0\x9f", "\x9a\x80 \xc3\xa9"}), "a \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd \xc3\xa9");
}

TEST(ReplyReader, ReportsTheServersOwnError) {
  ReplyReader reader;
  const auto taken = reader.take(R"({"error":{"message":"overloaded","code":503}})");
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().kind, WireProblem::Kind::server_error);
  EXPECT_EQ(taken.error().words, "overloaded");
  EXPECT_EQ(taken.error().status, 503);
  const auto older = ReplyReader().take(R"({"object":"error","message":"overloaded","code":503})");
  ASSERT_FALSE(older.has_value());
  EXPECT_EQ(older.error().kind, WireProblem::Kind::server_error);
  EXPECT_EQ(older.error().words, "overloaded");
}

}  // namespace
}  // namespace accelopt::llm
