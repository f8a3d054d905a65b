// SPDX-License-Identifier: Apache-2.0
// What every journal must do, run against the one in a folder and the one in memory.
#include <thread>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "journal/journal.hpp"
#include "journal/samples.hpp"

namespace accelopt::journal {
namespace {

using base::ErrorCode;
using base::Json;

enum class Place { folder, memory };

class JournalContract : public testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    auto folder = base::TemporaryFolder::create("accelopt-journal");
    ASSERT_TRUE(folder) << folder.error().message;
    folder_.emplace(std::move(*folder));
    auto journal = GetParam() == Place::memory ? open_memory_journal() : open_journal(folder_->path() / "w");
    ASSERT_TRUE(journal) << journal.error().message;
    journal_ = std::move(*journal);
  }

  void make_run(const std::string& id) {
    const auto made = journal_->create_run(sample_run(id));
    ASSERT_TRUE(made) << made.error().message;
  }

  void record(const StepRecord& step) {
    const auto recorded = journal_->record_step("r1", step);
    ASSERT_TRUE(recorded) << recorded.error().message;
  }

  Journal& journal() { return *journal_; }

 private:
  std::optional<base::TemporaryFolder> folder_;
  std::unique_ptr<Journal> journal_;
};

INSTANTIATE_TEST_SUITE_P(All, JournalContract, testing::Values(Place::folder, Place::memory),
                         [](const auto& place) { return place.param == Place::folder ? "Folder" : "Memory"; });

TEST_P(JournalContract, ARunIsKeptWhole) {
  RunInfo run = sample_run("20250117-100000-abcd");
  run.result = Json{{"type", "result"}};
  ASSERT_TRUE(journal().create_run(run));
  const auto found = journal().find_run(run.id);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->id, run.id);
  EXPECT_EQ(found->task_name, run.task_name);
  EXPECT_EQ(found->task_folder, run.task_folder);
  EXPECT_EQ(Json(found->task), Json(run.task));
  EXPECT_EQ(found->settings, run.settings);
  EXPECT_EQ(found->seed, run.seed);
  EXPECT_EQ(found->created, run.created);
  EXPECT_EQ(found->status, model::RunStatus::running);
  EXPECT_EQ(found->result, run.result);
  EXPECT_EQ(found->decision_hash, "");
  EXPECT_EQ(found->program_version, "0.1.0");
}

TEST_P(JournalContract, ARunIsMadeOnce) {
  make_run("r1");
  RunInfo again = sample_run("r1");
  again.task_name = "other";
  const auto made = journal().create_run(again);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::already_exists);
  EXPECT_EQ(journal().find_run("r1")->task_name, "scale");
  make_run("r2");  // the refusal left no transaction behind
}

TEST_P(JournalContract, RunsAreFoundByPrefixAndLast) {
  EXPECT_EQ(journal().find_run("last").error().code, ErrorCode::not_found);
  make_run("20250117-aa");
  make_run("20250117-ab");
  make_run("20250117-a");
  EXPECT_EQ(journal().find_run("20250117-aa")->id, "20250117-aa");
  EXPECT_EQ(journal().find_run("20250117-ab")->id, "20250117-ab");
  EXPECT_EQ(journal().find_run("20250117-a")->id, "20250117-a");  // a full id, and a prefix of others
  EXPECT_EQ(journal().find_run("last")->id, "20250117-a");
  const auto several = journal().find_run("2025");
  ASSERT_FALSE(several);
  EXPECT_EQ(several.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(several.error().message.find("fits 3 runs: 20250117-a, 20250117-ab, 20250117-aa"), std::string::npos)
      << several.error().message;
  const auto none = journal().find_run("20250117-b");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  EXPECT_NE(none.error().message.find("accelopt runs"), std::string::npos);
  EXPECT_EQ(journal().find_run("20250117-_").error().code, ErrorCode::not_found);  // no pattern
  EXPECT_EQ(journal().find_run("20250117-%").error().code, ErrorCode::not_found);
}

TEST_P(JournalContract, RunsAreListedNewestFirstAndFinished) {
  make_run("r1");
  make_run("r2");
  ASSERT_TRUE(journal().finish_run("r1", model::RunStatus::done,
                                   std::optional<Json>(std::in_place, Json{{"outcome", "improved"}}), "abc"));
  const auto runs = journal().list_runs();
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 2U);
  EXPECT_EQ((*runs)[0].id, "r2");
  EXPECT_EQ((*runs)[0].status, model::RunStatus::running);
  EXPECT_EQ((*runs)[0].result, std::nullopt);
  EXPECT_EQ((*runs)[1].status, model::RunStatus::done);
  EXPECT_EQ((*runs)[1].result, (Json{{"outcome", "improved"}}));
  EXPECT_EQ((*runs)[1].decision_hash, "abc");
  EXPECT_EQ(journal().finish_run("r3", model::RunStatus::done, std::nullopt, "").error().code, ErrorCode::not_found);
}

TEST_P(JournalContract, SettingsAreReplacedAndNothingElse) {
  make_run("r1");
  make_run("r2");
  const auto before = journal().find_run("r1");
  ASSERT_TRUE(before);
  const Json other = {{"device", {{"worker", "ssh host"}}}};
  ASSERT_TRUE(journal().change_settings("r1", other));
  const auto changed = journal().find_run("r1");
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->settings, other);
  EXPECT_EQ(changed->status, before->status);
  EXPECT_EQ(changed->seed, before->seed);
  EXPECT_EQ(journal().find_run("r2")->settings, before->settings);
  EXPECT_EQ(journal().change_settings("r3", other).error().code, ErrorCode::not_found);
}

TEST_P(JournalContract, AStepIsFoundByKeyAndInput) {
  make_run("r1");
  const StepRecord step = sample_step(0, "execute", "in", {{"text", "\xC3\xA9\n\"q\""}});
  record(step);
  const auto found = journal().find_step("r1", step.key, "in");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->key.identity, step.key.identity);
  EXPECT_EQ((*found)->key.kind, "execute");
  EXPECT_EQ((*found)->input_hash, "in");
  EXPECT_EQ((*found)->output, step.output);
  EXPECT_EQ((*found)->usage.input_tokens, 1000);
  EXPECT_EQ((*found)->usage.usd, 0.25);
  EXPECT_EQ((*found)->started, step.started);
  EXPECT_EQ((*found)->duration, step.duration);

  EXPECT_EQ(journal().find_step("r1", step.key, "other")->has_value(), false);
  StepKey other = step.key;
  other.kind = "execute:2";
  EXPECT_EQ(journal().find_step("r1", other, "in")->has_value(), false);
  other = step.key;
  other.identity.fix = 1;
  EXPECT_EQ(journal().find_step("r1", other, "in")->has_value(), false);
}

TEST_P(JournalContract, TheSameInputIsWrittenOnceAndAnotherReplaces) {
  make_run("r1");
  record(sample_step(0, "plan", "in", "first"));
  record(sample_step(1, "plan", "in", "second"));
  record(sample_step(0, "plan", "in", "ignored"));
  const StepKey key = sample_step(0, "plan", "", {}).key;
  EXPECT_EQ((*journal().find_step("r1", key, "in"))->output, "first");
  record(sample_step(0, "plan", "changed", "third"));
  EXPECT_EQ(journal().find_step("r1", key, "in")->has_value(), false);
  EXPECT_EQ((*journal().find_step("r1", key, "changed"))->output, "third");
  const auto steps = journal().steps("r1");
  ASSERT_TRUE(steps);
  ASSERT_EQ(steps->size(), 2U);
  EXPECT_EQ((*steps)[0].output, "second");  // in order of writing
  EXPECT_EQ((*steps)[1].output, "third");
}

TEST_P(JournalContract, RunsDoNotShareSteps) {
  make_run("r1");
  make_run("r2");
  record(sample_step(0, "plan", "in", "first"));
  const StepKey key = sample_step(0, "plan", "", {}).key;
  EXPECT_EQ(journal().find_step("r2", key, "in")->has_value(), false);
  EXPECT_TRUE(journal().steps("r2")->empty());
}

TEST_P(JournalContract, StepsNeedTheirRun) {
  const StepRecord step = sample_step(0, "plan", "in", "text");
  EXPECT_EQ(journal().record_step("r1", step).error().code, ErrorCode::not_found);
  EXPECT_EQ(journal().find_step("r1", step.key, "in").error().code, ErrorCode::not_found);
  EXPECT_EQ(journal().steps("r1").error().code, ErrorCode::not_found);
  EXPECT_EQ(journal().record_experience("r1", {}).error().code, ErrorCode::not_found);
  EXPECT_EQ(journal().experiences("r1").error().code, ErrorCode::not_found);
}

TEST_P(JournalContract, LargeAndOddOutputsComeBackEqual) {
  make_run("r1");
  const std::vector<Json> outputs{nullptr,
                                  Json::array(),
                                  "",
                                  1.0 / 3,
                                  std::string(16 * 1024, 'x'),
                                  Json{{"text", std::string(1 << 20, 'y') + std::string("\0z", 2)}}};
  for (std::size_t i = 0; i < outputs.size(); ++i) record(sample_step(static_cast<int>(i), "chat", "in", outputs[i]));
  const auto steps = journal().steps("r1");
  ASSERT_TRUE(steps) << steps.error().message;
  ASSERT_EQ(steps->size(), outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_EQ((*steps)[i].output, outputs[i]);
    EXPECT_EQ((*journal().find_step("r1", (*steps)[i].key, "in"))->output, outputs[i]);
  }
}

TEST_P(JournalContract, ObjectsAreAddressedByTheirContents) {
  const std::string bytes("bytes\0with\xFFzero", 15);
  const auto hash = journal().store(bytes);
  ASSERT_TRUE(hash) << hash.error().message;
  EXPECT_EQ(*hash, base::sha256_hex(bytes));
  EXPECT_EQ(journal().store(bytes).value_or(""), *hash);
  EXPECT_EQ(journal().load(*hash).value_or(""), bytes);
  EXPECT_EQ(journal().load(journal().store("").value_or("")).value_or("?"), "");
  EXPECT_EQ(journal().load(std::string(64, '0')).error().code, ErrorCode::not_found);
  EXPECT_EQ(journal().load("../accelopt.db").error().code, ErrorCode::not_found);
}

TEST_P(JournalContract, SolutionsComeBackBySourceId) {
  const model::Kernel kernel(
      model::Solution{model::Language::c, {{"kernel.c", "void kernel(void) {}\n"}, {"h.h", ""}}});
  EXPECT_EQ(journal().load_solution(kernel.id()).error().code, ErrorCode::not_found);
  ASSERT_TRUE(journal().record_solutions({kernel}));
  EXPECT_EQ(journal().load_solution(kernel.id()), kernel.solution());
}

TEST_P(JournalContract, ExperiencesKeepTheirOrder) {
  make_run("r1");
  for (const char* id : {"e2", "e1", "e10"}) {
    model::Experience experience;
    experience.id = id;
    experience.title = "tile";
    experience.effect = {2.0, 1.9, 2.1};
    ASSERT_TRUE(journal().record_experience("r1", experience));
  }
  model::Experience again;
  again.id = "e2";
  again.title = "changed";
  ASSERT_TRUE(journal().record_experience("r1", again));
  const auto list = journal().experiences("r1");
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 3U);
  EXPECT_EQ((*list)[0].id, "e2");
  EXPECT_EQ((*list)[0].title, "changed");
  EXPECT_EQ((*list)[1].id, "e1");
  EXPECT_EQ((*list)[1].effect->low, 1.9);
  EXPECT_EQ((*list)[2].id, "e10");
}

TEST_P(JournalContract, SolutionsOfEachSizeAreRecordedTogetherAndOnce) {
  const model::Kernel small(model::Solution{model::Language::cpp, {{"main.cpp", "small"}}});
  const model::Kernel large(model::Solution{model::Language::cpp, {{"main.cpp", std::string(40'000, 'x')}}});
  ASSERT_TRUE(journal().record_solutions({small, large, small}));
  ASSERT_TRUE(journal().record_solutions({small}));
  EXPECT_EQ(journal().load_solution(small.id()).value(), small.solution());
  EXPECT_EQ(journal().load_solution(large.id()).value(), large.solution());
}

TEST_P(JournalContract, ManyThreadsWriteAndRead) {
  make_run("r1");
  constexpr int kThreads = 8;
  constexpr int kSteps = 40;
  std::atomic<int> failures = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < kSteps; ++i) {
          const std::size_t size = i % 4 == 0 ? 20'000 : 20;
          const StepRecord step =
              sample_step(thread * kSteps + i, "chat", "in", std::string(size, static_cast<char>('a' + thread)));
          if (!journal().record_step("r1", step)) ++failures;
          const auto found = journal().find_step("r1", step.key, "in");
          if (!found || !*found || (*found)->output != step.output) ++failures;
          if (!journal().store("shared " + std::to_string(i))) ++failures;
          if (i % 16 == 0 && !journal().steps("r1")) ++failures;
        }
      });
    }
  }
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(journal().steps("r1")->size(), std::size_t{kThreads * kSteps});
}

TEST_P(JournalContract, AStepThatIsRecordedSoon_IsThereAtOnce) {
  make_run("r1");
  const std::string question = "what was asked";
  const std::string hash = base::sha256_hex(question);
  const StepRecord first = sample_step(0, "chat", "in", "small");
  StepRecord second = sample_step(1, "chat", "in", std::string(20'000, 'x'));
  second.input_hash = hash;
  ASSERT_TRUE(journal().record_soon("r1", written(first)));
  ASSERT_TRUE(journal().record_soon("r1", written(second, question)));
  EXPECT_EQ((*journal().find_step("r1", first.key, "in"))->output, first.output);
  EXPECT_EQ((*journal().find_step("r1", second.key, hash))->output, second.output);
  EXPECT_EQ(journal().find_step("r1", second.key, "in")->has_value(), false);
  EXPECT_EQ(*journal().load(hash), question);
  ASSERT_TRUE(journal().record_step("r1", sample_step(2, "chat", "in", "waited for")));
  const auto steps = journal().steps("r1");
  ASSERT_EQ(steps->size(), 3U);
  for (int i = 0; i < 3; ++i) EXPECT_EQ((*steps)[static_cast<std::size_t>(i)].key.identity.attempt, i);
  EXPECT_TRUE(journal().settle("r1"));
}

TEST_P(JournalContract, AStepOfAnEarlierWriter_IsFoundByTheOneThatGoesOn) {
  make_run("r1");
  record(sample_step(0, "chat", "in", "before"));
  EXPECT_EQ(journal().find_step("r1", sample_step(1, "chat", "in", "").key, "in")->has_value(), false);
  record(sample_step(1, "chat", "in", "after"));
  EXPECT_EQ((*journal().find_step("r1", sample_step(0, "chat", "in", "").key, "in"))->output, "before");
  EXPECT_EQ((*journal().find_step("r1", sample_step(1, "chat", "in", "").key, "in"))->output, "after");
}

TEST_P(JournalContract, AStepOfNoRun_IsRefusedAtOnce) {
  EXPECT_EQ(journal().record_soon("r2", written(sample_step(0, "chat", "in", "x"))).error().code, ErrorCode::not_found);
}

TEST_P(JournalContract, WhatIsPostedWaitsInOrderAndGoesOutOnce) {
  make_run("r1");
  make_run("r2");
  ASSERT_TRUE(journal().post("r1", "i0", "there", {{"n", 1}}));
  ASSERT_TRUE(journal().post("r2", "i0", "there", {{"n", 2}}));
  ASSERT_TRUE(journal().post("r1", "i0", "there", {{"n", 3}}));  // the first one stands
  ASSERT_TRUE(journal().post("r1", "i1", "elsewhere", {{"n", 4}}));
  auto waiting = journal().waiting_for("there", 10);
  ASSERT_TRUE(waiting) << waiting.error().message;
  ASSERT_EQ(waiting->size(), 2U);
  EXPECT_EQ((*waiting)[0].content.at("n"), 1);
  EXPECT_EQ((*waiting)[1].run, "r2");
  EXPECT_EQ(journal().waiting_for("there", 1)->size(), 1U);
  ASSERT_TRUE(journal().delivered((*waiting)[0].number));
  ASSERT_TRUE(journal().post("r1", "i0", "there", {{"n", 5}}));
  waiting = journal().waiting_for("there", 10);
  ASSERT_EQ(waiting->size(), 1U);
  EXPECT_EQ(waiting->front().content.at("n"), 2);
  EXPECT_EQ(journal().post("none", "i0", "there", {}).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace accelopt::journal
