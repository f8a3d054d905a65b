// SPDX-License-Identifier: Apache-2.0
#include "worker/serve.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "base/files.hpp"
#include "evaluation/evaluator_json.hpp"
#include "evaluation/fake_target.hpp"
#include "evaluation/fake_task.hpp"
#include "evaluation/requests.hpp"
#include "fakes/fake_evaluator.hpp"
#include "worker/protocol.hpp"

namespace accelopt::worker {
namespace {

using base::Json;
using evaluation::source;
using evaluation::task;

struct Pipe {
  base::FileDescriptor reader;
  base::FileDescriptor writer;
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    reader = base::FileDescriptor(ends[0]);
    writer = base::FileDescriptor(ends[1]);
  }
};

/// A worker on another thread, and the other ends of its pipes.
class Conversation {
 public:
  explicit Conversation(evaluation::Evaluator& evaluator, WorkerOptions options = {}) : reader_(out_.reader.get()) {
    worker_ = std::thread([this, &evaluator, options] {
      served_ = serve_evaluator(evaluator, options, in_.reader.get(), out_.writer.get());
      out_.writer.reset();
    });
    const auto first = reader_.next();
    const auto hello = find_hello(first.value_or(""));
    EXPECT_TRUE(hello && hello->protocol == kProtocolVersion) << "a worker begins with its hello";
  }
  ~Conversation() {
    end_input();
    worker_.join();
    EXPECT_TRUE(served_);
  }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  void say(const std::string& line) {
    const std::string text = line + "\n";
    EXPECT_EQ(write(in_.writer.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void say(const Json& request) { say(request.dump()); }
  void end_input() { in_.writer.reset(); }

  /// The next message, or null at the end.
  Json hear() {
    const auto line = reader_.next();
    return line ? Json::parse(*line) : Json();
  }
  /// The answer to this request; answers to others that come before are dropped.
  Json answer(int id) {
    for (Json message = hear(); !message.is_null(); message = hear()) {
      if (message["id"] == id && !message.contains("event")) return message;
    }
    return {};
  }

 private:
  Pipe in_;
  Pipe out_;
  LineReader reader_;
  base::Result<void> served_;
  std::thread worker_;
};

Json solution(const std::string& text) {
  model::Solution out;
  out.sources.push_back({"kernel.cpp", text});
  return out;
}

/// Waits inside a triage until it is stopped, or lets a test see how many run at once.
class Recording final : public fakes::FakeEvaluator {
 public:
  std::atomic<int> measuring = 0, most = 0;

  base::Result<model::Evaluation> triage(const model::Solution& candidate, const model::Solution& opponent,
                                         std::stop_token stop) override {
    const int now = ++measuring;
    most = std::max<int>(most, now);
    if (fakes::claims(main_text(candidate), "wait")) {
      while (!stop.stop_requested()) std::this_thread::yield();
      --measuring;
      return base::fail(base::ErrorCode::cancelled, "stopped");
    }
    auto out = FakeEvaluator::triage(candidate, opponent, stop);
    --measuring;
    return out;
  }
};

/// Says in a triage that it is verified in part.
class Progressing final : public fakes::FakeEvaluator {
 public:
  explicit Progressing(evaluation::Target& target) : target_(target) {}
  base::Result<model::Evaluation> triage(const model::Solution& candidate, const model::Solution& opponent,
                                         std::stop_token stop) override {
    target_.use().progress({model::StepShare::Part::verifying, 2, 5});
    return FakeEvaluator::triage(candidate, opponent, std::move(stop));
  }

 private:
  evaluation::Target& target_;
};

TEST(Worker, TellsHowFarItIsButNotTooOften) {
  for (const auto& [between, number] : {std::pair{std::chrono::hours(0), 1}, std::pair{std::chrono::hours(1), 0}}) {
    evaluation::FakeTarget target;
    Progressing evaluator(target);
    Conversation worker(evaluator, {.target = &target, .between_progress = between});
    worker.say(Json{{"id", 3}, {"op", "triage"}, {"candidate", solution("")}, {"opponent", solution("")}});
    int told = 0;
    for (Json message = worker.hear(); !message.is_null() && !message.contains("result"); message = worker.hear()) {
      ASSERT_FALSE(message.contains("error")) << message;
      if (message.value("event", "") != "progress") continue;
      ++told;
      EXPECT_EQ(message,
                (Json{{"id", 3}, {"event", "progress"}, {"share", {{"part", "verifying"}, {"done", 2}, {"of", 5}}}}));
    }
    EXPECT_EQ(told, number);
  }
}

TEST(Worker, AnswersRequestsById) {
  fakes::FakeEvaluator evaluator;
  Conversation worker(evaluator);
  worker.say(Json{{"id", 7}, {"op", "build"}, {"solution", solution("compile_error")}});
  const Json built = worker.answer(7);
  EXPECT_EQ(built["result"]["built"], false);
  EXPECT_EQ(built["result"]["diagnostics"], "line 1: compile_error");
  worker.say(Json{{"id", 9}, {"op", "triage"}, {"candidate", solution("speed=2")}, {"opponent", solution("speed=1")}});
  EXPECT_EQ(worker.hear(), (Json{{"id", 9}, {"event", "started"}}));
  EXPECT_EQ(worker.answer(9)["result"]["verdict"], "FASTER");
}

TEST(Worker, MalformedRequestsAreAnsweredAndDoNotEndIt) {
  fakes::FakeEvaluator evaluator;
  Conversation worker(evaluator);
  for (const char* line : {"not json", "{}", R"({"id": 1})", "[1]", R"({"id": "x", "op": "build"})"}) {
    worker.say(std::string(line));
    const Json answer = worker.hear();
    EXPECT_EQ(answer["error"]["code"], "parse") << line;
    EXPECT_TRUE(answer["id"].is_null()) << line;
  }
  worker.say(std::string(R"({"id": 2, "op": "dance"})"));
  EXPECT_TRUE(worker.answer(2).contains("error"));
  worker.say(std::string(R"({"id": 3, "op": "build"})"));
  EXPECT_EQ(worker.answer(3)["error"]["code"], "parse");
  worker.say(Json{{"id", 4}, {"op", "dance"}, {"solution", solution("speed=1")}});
  EXPECT_EQ(worker.answer(4)["error"]["code"], "invalid_argument");
}

TEST(Worker, CancelEndsOneRequestAndTheEndOfInputAllOthers) {
  Recording evaluator;
  Conversation worker(evaluator);
  for (const int id : {1, 2}) {
    worker.say(Json{{"id", id}, {"op", "triage"}, {"candidate", solution("wait")}, {"opponent", solution("speed=1")}});
  }
  const Json started = worker.hear();
  EXPECT_EQ(started["event"], "started");
  const int first = started["id"].get<int>();
  worker.say(Json{{"op", "cancel"}, {"id", first}});
  EXPECT_EQ(worker.answer(first)["error"]["code"], "cancelled");
  worker.end_input();
  EXPECT_EQ(worker.answer(3 - first)["error"]["code"], "cancelled");
  EXPECT_LE(evaluator.most, 1) << "one measurement at a time; none where the stop came first";
}

/// Builds of sources with "slow" last until the test lets them go.
class SlowBuilds final : public fakes::FakeEvaluator {
 public:
  std::atomic<bool> let_go = false;
  base::Result<model::BuildReport> build(const model::Solution& solution, std::stop_token stop) override {
    while (fakes::claims(main_text(solution), "slow") && !let_go && !stop.stop_requested()) std::this_thread::yield();
    return FakeEvaluator::build(solution, stop);
  }
};

TEST(Worker, WhatWasBuiltIsMeasuredWhileAllBuildersAreBusy) {
  SlowBuilds evaluator;
  Conversation worker(evaluator);
  worker.say(Json{{"id", 1}, {"op", "build"}, {"solution", solution("speed=2")}});
  EXPECT_EQ(worker.answer(1)["result"]["built"], true);
  for (int id = 2; id < 6; ++id) {
    worker.say(Json{{"id", id}, {"op", "build"}, {"solution", solution("slow " + std::to_string(id))}});
  }
  worker.say(Json{{"id", 9}, {"op", "triage"}, {"candidate", solution("speed=2")}, {"opponent", solution("speed=1")}});
  // Only these messages can come: the builders are held until the triage was heard of.
  EXPECT_EQ(worker.hear(), (Json{{"id", 9}, {"event", "started"}}));
  EXPECT_EQ(worker.hear()["result"]["verdict"], "FASTER");
  evaluator.let_go = true;
  EXPECT_EQ(worker.answer(5)["result"]["built"], true);
}

/// Always has something to do ahead.
class Eager final : public fakes::FakeEvaluator {
 public:
  bool work_ahead() override {
    ++worked_ahead;
    worked_ahead.notify_all();
    return true;
  }
  std::atomic<int> worked_ahead = 0;
};

TEST(Worker, IdleWorker_WorksAheadAndStillAnswers) {
  Eager evaluator;
  Conversation worker(evaluator);
  for (int id = 0; id < 3; ++id) {
    evaluator.worked_ahead.wait(evaluator.worked_ahead);
    worker.say(
        Json{{"id", id}, {"op", "triage"}, {"candidate", solution("speed=2")}, {"opponent", solution("speed=1")}});
    EXPECT_EQ(worker.answer(id)["result"]["verdict"], "FASTER");
  }
}

/// Has something to do ahead once after each build.
class AheadOfBuilds final : public fakes::FakeEvaluator {
 public:
  base::Result<model::BuildReport> build(const model::Solution& solution, std::stop_token stop) override {
    auto report = FakeEvaluator::build(solution, stop);
    ++built;
    return report;
  }
  bool work_ahead() override {
    ahead_of = built.load();
    ahead_of.notify_all();
    return false;
  }
  std::atomic<int> built = 0;
  std::atomic<int> ahead_of = -1;  ///< builds that were done when it was last asked to work ahead
};

TEST(Worker, WorksAheadAgainAfterEveryBuild) {
  AheadOfBuilds evaluator;
  Conversation worker(evaluator);
  for (int id = 1; id <= 300; ++id) {
    worker.say(Json{{"id", id}, {"op", "build"}, {"solution", solution("speed=" + std::to_string(id))}});
    EXPECT_EQ(worker.answer(id)["result"]["built"], true);
    // A wake-up that is missed ends this test by its limit of time.
    for (int ahead = evaluator.ahead_of; ahead < id; ahead = evaluator.ahead_of) evaluator.ahead_of.wait(ahead);
  }
}

TEST(Requests, EachHasOneForm_WhichIsReadAgain) {
  const model::Solution one = source("speed=1");
  const model::Solution two = source("speed=2");
  const std::vector<std::pair<evaluation::Request, Json>> forms = {
      {evaluation::Open{task()}, {{"op", "open"}, {"task", task()}, {"settings", evaluation::MeasureSettings()}}},
      {evaluation::Build{model::Kernel(one)}, {{"op", "build"}, {"solution", one}}},
      {evaluation::Race{model::Kernel(two), model::Kernel(one)},
       {{"op", "triage"}, {"candidate", two}, {"opponent", one}}},
      {evaluation::Profile{model::Kernel(one)}, {{"op", "profile"}, {"solution", one}}},
      {evaluation::PlayOff{{{model::Kernel(one)}, {model::Kernel(two)}}, 1},
       {{"op", "playoff"}, {"arms", {{{"solution", one}}, {{"solution", two}}}}, {"places", 1}}},
      {evaluation::HeldOut{model::Kernel(one)}, {{"op", "verify_held_out"}, {"solution", one}}},
      {evaluation::Confirm{model::Kernel(one)}, {{"op", "confirm"}, {"solution", one}}}};
  for (const auto& [request, form] : forms) {
    EXPECT_EQ(to_json(request).dump(), form.dump());
    const auto read = evaluation::parse_request(form);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->index(), request.index());
    EXPECT_EQ(to_json(*read).dump(), form.dump());
  }
}

TEST(Requests, WhatIsNoObjectIsRefused) {
  for (const Json& form : {Json("op"), Json(1), Json::array({"op"}), Json()}) {
    EXPECT_FALSE(evaluation::parse_request(form)) << form;
    EXPECT_FALSE(evaluation::parse_bundled(form)) << form;
    EXPECT_FALSE(evaluation::operation_in(form)) << form;
  }
}

TEST(Requests, AReplyIsOfItsRequestsType) {
  fakes::FakeEvaluator evaluator;
  for (const evaluation::Request& request :
       std::vector<evaluation::Request>{evaluation::Open{task()}, evaluation::Build{model::Kernel(source("speed=2"))},
                                        evaluation::HeldOut{model::Kernel(source("x"))}}) {
    const auto reply = evaluator.answer(request, {});
    ASSERT_TRUE(reply);
    const auto read = evaluation::parse_reply(request, to_json(*reply), "the worker's");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(to_json(*read).dump(), to_json(*reply).dump());
  }
  const auto other = evaluation::parse_reply(evaluation::Build{model::Kernel(source("x"))},
                                             Json(model::to_string(model::Status::passed)), "the worker's");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("the worker's answer to build"), std::string::npos) << other.error().message;
}

TEST(Protocol, ErrorsKeepTheirCode) {
  const base::Error error{base::ErrorCode::unsupported, "no compiler"};
  const base::Error back = error_from_json(error_to_json(error));
  EXPECT_EQ(back.code, error.code);
  EXPECT_EQ(back.message, error.message);
  EXPECT_EQ(parse_error_code("no such code"), base::ErrorCode::internal);
  EXPECT_EQ(error_from_json(Json(3)).code, base::ErrorCode::internal);
  const base::Error odd = error_from_json({{"code", 7}, {"message", Json::array({1})}});
  EXPECT_EQ(odd.code, base::ErrorCode::internal);
  EXPECT_EQ(odd.message, "the worker sent an error that says nothing");
}

TEST(Protocol, AHelloIsFoundBehindABannerAndNowhereElse) {
  Hello hello;
  hello.version = "1.2.3";
  hello.device = "cpu:1";
  hello.target = "cpu";
  hello.cores = 8;
  const std::string line = base::canonical(hello);
  for (const std::string& text : {line, "Welcome! $ " + line, line + "\r"}) {
    const auto found = find_hello(text);
    ASSERT_TRUE(found) << text;
    EXPECT_EQ(found->version, "1.2.3");
    EXPECT_EQ(found->device, "cpu:1");
    EXPECT_EQ(found->target, "cpu");
    EXPECT_EQ(found->cores, 8);
  }
  for (const std::string& text :
       {std::string("Welcome!"), line.substr(0, line.size() / 2), std::string(R"({"accelopt":"worker"})"),
        std::string(R"({"accelopt":"worker","protocol":"one"})"), std::string(R"({"id":1,"result":true})")}) {
    EXPECT_FALSE(find_hello(text)) << text;
  }
}

TEST(Protocol, LinesArriveWhole) {
  Pipe pipe;
  const std::string text = "first\nsec";
  ASSERT_EQ(write(pipe.writer.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  LineReader reader(pipe.reader.get());
  EXPECT_EQ(reader.next(), "first");
  ASSERT_EQ(write(pipe.writer.get(), "ond\n\nrest", 9), 9);
  pipe.writer.reset();
  EXPECT_EQ(reader.next(), "second");
  EXPECT_EQ(reader.next(), "");
  EXPECT_EQ(reader.next(), std::nullopt) << "a line without its end is none";
}

}  // namespace
}  // namespace accelopt::worker
