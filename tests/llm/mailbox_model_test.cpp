// SPDX-License-Identifier: Apache-2.0
#include "llm/mailbox_model.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "fakes/fake_clock.hpp"

namespace accelopt::llm {
namespace {

using base::ErrorCode;
using fakes::FakeClock;

class Mailbox : public testing::Test {
 protected:
  Mailbox() : folder_(base::TemporaryFolder::create("accelopt-mailbox").value()) {}

  std::unique_ptr<ChatModel> model(Unanswered unanswered) {
    return make_mailbox_model({.folder = folder_.path() / "box",
                               .name = "a person",
                               .unanswered = unanswered,
                               .blank = [this](const std::filesystem::path& answer) { blank_.push_back(answer); }},
                              clock_)
        .value();
  }
  static ChatRequest question(const std::string& text = "what now?") {
    ChatRequest request;
    request.label = "planner i0.b0.p1 try0";
    request.messages = {{Speaker::system, "rules"}, {Speaker::user, text}};
    return request;
  }
  [[nodiscard]] std::filesystem::path file(const ChatRequest& request, const std::string& end) const {
    return folder_.path() / "box" / (mailbox_name(request) + end);
  }

  static void write(const std::filesystem::path& path, const std::string& text) {
    ASSERT_TRUE(base::write_file(path, text).has_value());
  }

  base::TemporaryFolder folder_;
  FakeClock clock_;
  std::vector<std::filesystem::path> blank_;
};

TEST_F(Mailbox, PutsAQuestionOffAndTakesTheAnswerLater) {
  const auto waiting = model(Unanswered::put_off)->chat(question(), {});
  ASSERT_FALSE(waiting.has_value());
  EXPECT_EQ(waiting.error().why, base::Why::put_off);
  const std::string text = base::read_file(file(question(), ".question.md")).value();
  EXPECT_NE(text.find("planner i0.b0.p1 try0"), std::string::npos);
  EXPECT_NE(text.find("======== system ========\n\nrules\n"), std::string::npos);
  EXPECT_NE(text.find("======== user ========\n\nwhat now?\n"), std::string::npos);
  EXPECT_NE(text.find(mailbox_name(question()) + ".answer.md"), std::string::npos);

  ASSERT_TRUE(base::write_file(file(question(), ".answer.md"), "Title: this\n"));
  const auto reply = model(Unanswered::put_off)->chat(question(), {});
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->text, "Title: this\n");
  EXPECT_EQ(reply->model, "a person");
  EXPECT_EQ(reply->usage.calls, 1);
}

TEST_F(Mailbox, WaitsUntilTheAnswerIsThereAndGrowsNoMore) {
  int looks = 0;
  clock_.on_wait([&] {
    ++looks;
    if (looks == 2) write(file(question(), ".answer.md"), "half");
    if (looks == 3) write(file(question(), ".answer.md"), "half and half");
  });
  const auto reply = model(Unanswered::wait)->chat(question(), {});
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->text, "half and half");
}

TEST_F(Mailbox, AStopEndsTheWait) {
  std::stop_source stop;
  clock_.on_wait([&stop] { stop.request_stop(); });
  const auto reply = model(Unanswered::wait)->chat(question(), stop.get_token());
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().why, base::Why::ending) << "it was stopped, not put off";
}

TEST_F(Mailbox, AnAnswerIsNeverTakenForAnotherQuestion) {
  EXPECT_NE(mailbox_name(question("a")), mailbox_name(question("b")));
  ChatRequest later = question();
  later.label = "planner i1.b0.p1 try0";
  EXPECT_NE(mailbox_name(later), mailbox_name(question()));
  EXPECT_EQ(mailbox_name(question()).find('/'), std::string::npos);
  ASSERT_TRUE(base::make_folders(folder_.path() / "box"));
  ASSERT_TRUE(base::write_file(file(question("a"), ".answer.md"), "of a"));
  EXPECT_FALSE(model(Unanswered::put_off)->chat(question("b"), {}).has_value());
}

TEST_F(Mailbox, AFileOfWhiteSpaceIsNoAnswerYetAndIsTold) {
  ASSERT_TRUE(base::make_folders(folder_.path() / "box"));
  std::size_t put_off = 0;
  for (const char* text : {"", " ", "\n\n\t \r\n"}) {
    ASSERT_TRUE(base::write_file(file(question(), ".answer.md"), text));
    const auto reply = model(Unanswered::put_off)->chat(question(), {});
    ASSERT_FALSE(reply.has_value());
    EXPECT_EQ(reply.error().why, base::Why::put_off);
    ASSERT_EQ(blank_.size(), ++put_off);
    EXPECT_EQ(blank_.back(), file(question(), ".answer.md"));
  }
  ASSERT_TRUE(base::write_file(file(question(), ".answer.md"), " skip\n"));
  EXPECT_EQ(model(Unanswered::put_off)->chat(question(), {})->text, " skip\n");
}

TEST_F(Mailbox, AWriterHasTimeToFillTheFileBeforeAnythingIsSaid) {
  int looks = 0;
  clock_.on_wait([&] {
    ++looks;
    if (looks == 1) write(file(question(), ".answer.md"), "");
    if (looks == 5) write(file(question(), ".answer.md"), "\n");
    if (looks == 8) write(file(question(), ".answer.md"), "at last");
  });
  const auto reply = model(Unanswered::wait)->chat(question(), {});
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->text, "at last");
  EXPECT_TRUE(blank_.empty());
}

TEST_F(Mailbox, AFileThatStaysEmptyIsToldOnce) {
  std::stop_source stop;
  ASSERT_TRUE(base::make_folders(folder_.path() / "box"));
  ASSERT_TRUE(base::write_file(file(question(), ".answer.md"), "\n"));
  int looks = 0;
  clock_.on_wait([&] {
    if (++looks == 100) stop.request_stop();
  });
  EXPECT_FALSE(model(Unanswered::wait)->chat(question(), stop.get_token()).has_value());
  EXPECT_EQ(blank_, std::vector{file(question(), ".answer.md")});
}

TEST_F(Mailbox, SaysWhichFolderCannotBeUsed) {
  ASSERT_TRUE(base::write_file(folder_.path() / "box", "a file is in the way"));
  const auto made = make_mailbox_model({.folder = folder_.path() / "box" / "inner"}, clock_);
  ASSERT_FALSE(made.has_value());
  EXPECT_NE(made.error().message.find("mailbox"), std::string::npos);
}

}  // namespace
}  // namespace accelopt::llm
