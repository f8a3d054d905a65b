// SPDX-License-Identifier: Apache-2.0
// The store as a run uses it, while it comes and goes.
#include "memory/knowledge.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "base/files.hpp"
#include "memory/knowledge_file.hpp"
#include "memory/sanitation.hpp"
#include "memory/store_contract.hpp"

namespace accelopt::memory {
namespace {

using base::ErrorCode;

class KnowledgeTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = base::TemporaryFolder::create("accelopt-knowledge");
    ASSERT_TRUE(folder) << folder.error().message;
    folder_.emplace(std::move(*folder));
    for (const char* run : {"r1", "r2"}) {
      journal::RunInfo info;
      info.id = run;
      ASSERT_TRUE(journal_->create_run(info));
    }
  }

  Knowledge knowledge() {
    return Knowledge({.place = "the store",
                      .open = [this]() -> base::Result<std::unique_ptr<KnowledgeStore>> {
                        if (down_) return base::fail(ErrorCode::unavailable, "the store: nobody answers");
                        return open_knowledge_file(file());
                      },
                      .journal = journal_.get(),
                      .notice = [this](const std::string& text) { notices_.push_back(text); }});
  }

  [[nodiscard]] std::filesystem::path file() const { return folder_->path() / "k.db"; }

  std::vector<std::string> arrived() {
    std::vector<std::string> ids;
    auto store = open_knowledge_file(file());
    EXPECT_TRUE((*store)->for_each([&](const Item& item) -> base::Result<void> {
      ids.push_back(item.experience.title);
      return {};
    }));
    return ids;
  }

  std::unique_ptr<journal::Journal> journal_ = std::move(*journal::open_memory_journal());
  bool down_ = false;
  std::vector<std::string> notices_;

 private:
  std::optional<base::TemporaryFolder> folder_;
};

Contribution lesson(int number) {
  const model::Experience it = sample_experience(number);
  return {{it},
          {},
          {{.id = "event" + std::to_string(number),
            .experience = made_fit(it).experience.id,
            .kind = CreditEvent::Kind::confirmed,
            .run = "r1"}}};
}

TEST_F(KnowledgeTest, WhatIsLearnedArrivesOnceHoweverOftenItIsGiven) {
  Knowledge it = knowledge();
  ASSERT_TRUE(it.contribute("r1", "i0", lesson(1)));
  ASSERT_TRUE(it.contribute("r1", "i0", lesson(1)));  // a resumed run
  EXPECT_EQ(arrived(), std::vector<std::string>{"Strategy number1"});
  EXPECT_TRUE(notices_.empty());
  EXPECT_TRUE(journal_->waiting_for("the store", 10)->empty());
}

TEST_F(KnowledgeTest, DownStore_GetsAllInOrderLater) {
  Knowledge it = knowledge();
  ASSERT_TRUE(it.contribute("r1", "i0", lesson(1)));
  down_ = true;
  Knowledge during = knowledge();
  ASSERT_TRUE(during.contribute("r1", "i1", lesson(2)));
  ASSERT_TRUE(during.contribute("r1", "i2", lesson(3)));
  EXPECT_EQ(journal_->waiting_for("the store", 10)->size(), 2U);
  ASSERT_EQ(notices_.size(), 1U);  // said once
  EXPECT_NE(notices_[0].find("nobody answers"), std::string::npos);
  down_ = false;
  ASSERT_TRUE(during.contribute("r1", "i3", lesson(4)));
  EXPECT_EQ(arrived(),
            (std::vector<std::string>{"Strategy number1", "Strategy number2", "Strategy number3", "Strategy number4"}));
  ASSERT_EQ(notices_.size(), 3U);
  EXPECT_NE(notices_[1].find("is back"), std::string::npos);
  EXPECT_NE(notices_[2].find("3 deliveries"), std::string::npos);
}

TEST_F(KnowledgeTest, AnExperienceIsDatedWhenItIsLearnedAndNotWhenItArrives) {
  down_ = true;
  Contribution undated = lesson(1);
  undated.experiences[0].created.clear();
  ASSERT_TRUE(knowledge().contribute("r1", "i0", undated));
  const auto waiting = journal_->waiting_for("the store", 10);
  ASSERT_EQ(waiting->size(), 1U);
  EXPECT_FALSE(waiting->at(0).content.at("experiences").at(0).value("created", std::string()).empty());
}

TEST_F(KnowledgeTest, WhatCannotBeReadIsPassedOverAndSaid) {
  ASSERT_TRUE(journal_->post("r1", "i0", "the store", {{"experiences", "none"}}));
  Knowledge it = knowledge();
  EXPECT_EQ(it.deliver()->sent, 1);
  ASSERT_EQ(notices_.size(), 1U);
  EXPECT_NE(notices_[0].find("cannot be read"), std::string::npos);
}

TEST_F(KnowledgeTest, AnotherRunDeliversWhatOneCouldNot) {
  down_ = true;
  Knowledge first = knowledge();
  ASSERT_TRUE(first.contribute("r1", "i0", lesson(1)));
  down_ = false;
  Knowledge second = knowledge();
  EXPECT_TRUE(first.deliver()->refused == std::nullopt);
  EXPECT_EQ(second.deliver()->sent, 0) << "it has arrived already";
  EXPECT_EQ(arrived().size(), 1U);
}

TEST_F(KnowledgeTest, ADeliverySaysWhyItIsRefused) {
  down_ = true;
  Knowledge it = knowledge();
  ASSERT_TRUE(it.contribute("r1", "i0", lesson(1)));
  const auto delivery = it.deliver();
  ASSERT_TRUE(delivery && delivery->refused);
  EXPECT_EQ(delivery->refused->code, ErrorCode::unavailable);
  EXPECT_EQ(delivery->sent, 0);
}

TEST_F(KnowledgeTest, AStoreThatHangs_IsLeftAloneForLongerAndLonger) {
  using std::chrono::minutes;
  using std::chrono::seconds;
  std::chrono::steady_clock::time_point now;
  int tries = 0;
  bool hangs = true;
  Knowledge it({.place = "the store",
                .open = [&]() -> base::Result<std::unique_ptr<KnowledgeStore>> {
                  ++tries;
                  if (!hangs) return open_knowledge_file(file());
                  now += seconds(30);
                  return base::fail(ErrorCode::timed_out, "the store: no answer within 30 s");
                },
                .journal = journal_.get(),
                .notice = {},
                .now = [&] { return now; }});
  const Query query{.language = "cpp", .target = "cpu"};
  for (int parent = 0; parent < 4; ++parent) EXPECT_TRUE(it.recall(query, 16).empty());
  ASSERT_TRUE(it.contribute("r1", "i0", lesson(1)));
  EXPECT_EQ(tries, 1);
  EXPECT_EQ(it.deliver()->refused->code, ErrorCode::timed_out);
  now += minutes(2);
  it.recall(query, 16);
  now += minutes(3);
  it.recall(query, 16);
  EXPECT_EQ(tries, 2) << "four minutes from the second time on";
  now += minutes(1);
  hangs = false;
  EXPECT_EQ(it.deliver()->sent, 1);
  EXPECT_EQ(arrived().size(), 1U);
}

TEST_F(KnowledgeTest, AFileThatIsMovedAwayInUseGetsNothingAndItsSuccessorAll) {
  Knowledge it = knowledge();
  ASSERT_TRUE(it.contribute("r1", "i0", lesson(1)));
  std::filesystem::rename(file(), file().string() + ".away");
  ASSERT_TRUE(it.contribute("r1", "i1", lesson(2)));
  EXPECT_EQ(arrived(), std::vector<std::string>{"Strategy number2"});
  EXPECT_TRUE(notices_.empty());
}

TEST_F(KnowledgeTest, AFileInWhosePlaceAFolderStandsGetsAllWhenItIsBack) {
  Knowledge it = knowledge();
  ASSERT_TRUE(it.contribute("r1", "i0", lesson(1)));
  std::filesystem::rename(file(), file().string() + ".away");
  std::filesystem::create_directory(file());
  ASSERT_TRUE(it.contribute("r1", "i1", lesson(2)));
  ASSERT_TRUE(it.contribute("r1", "i2", lesson(3)));
  EXPECT_EQ(notices_.size(), 1U);
  std::filesystem::remove(file());
  std::filesystem::rename(file().string() + ".away", file());
  ASSERT_TRUE(it.contribute("r1", "i3", lesson(4)));
  EXPECT_EQ(arrived(),
            (std::vector<std::string>{"Strategy number1", "Strategy number2", "Strategy number3", "Strategy number4"}));
}

TEST_F(KnowledgeTest, WithoutAStoreTheJournalsOtherRunsAreRecalled) {
  down_ = true;
  ASSERT_TRUE(journal_->record_experience("r1", sample_experience(1)));
  ASSERT_TRUE(journal_->record_experience("r2", sample_experience(2)));
  model::Experience other = sample_experience(3);
  other.language = "triton";
  ASSERT_TRUE(journal_->record_experience("r1", other));
  Knowledge it = knowledge();
  const Query query{.language = "cpp", .target = "cpu", .op_type = "matmul", .without_run = "r2"};
  const auto recalled = it.recall(query, 16);
  ASSERT_EQ(recalled.size(), 1U);
  EXPECT_EQ(recalled[0].title, "Strategy number1");
  EXPECT_EQ(notices_.size(), 1U);
  Query without = query;
  without.without_op_types = {"matmul"};
  EXPECT_TRUE(it.recall(without, 16).empty());
}

TEST_F(KnowledgeTest, WithoutAStoreWhatWasHiddenThereStaysHidden) {
  std::vector<std::string> ids;
  std::vector<model::Experience> made;
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(journal_->record_experience("r1", sample_experience(i)));
    made.push_back(sample_experience(i));
    ids.push_back(made_fit(made.back()).experience.id);
  }
  std::vector<std::string> kept;
  int times = 0;
  const auto opened = [&] {
    return Knowledge({.place = "the store",
                      .open = [this]() -> base::Result<std::unique_ptr<KnowledgeStore>> {
                        if (down_) return base::fail(ErrorCode::unavailable, "the store: nobody answers");
                        return open_knowledge_file(file());
                      },
                      .journal = journal_.get(),
                      .notice = {},
                      .keep_hidden = [&](const std::vector<std::string>& hidden) -> base::Result<void> {
                        kept = hidden;
                        ++times;
                        return {};
                      },
                      .kept_hidden = [&]() -> base::Result<std::vector<std::string>> { return kept; }});
  };
  {
    auto store = open_knowledge_file(file());
    ASSERT_TRUE((*store)->insert(made, Forgotten::stays));
    ASSERT_TRUE((*store)->quarantine(ids[0], Visibility::hidden));
    ASSERT_TRUE((*store)->forget(ids[1]));
  }
  const Query query{.language = "cpp", .target = "cpu", .op_type = "matmul", .without_run = "r2", .alike = Alike::each};
  Knowledge up = opened();
  EXPECT_EQ(up.recall(query, 16).size(), 1U);
  EXPECT_EQ(up.recall(query, 16).size(), 1U);
  EXPECT_EQ(times, 1) << "what has not changed is not kept again";
  EXPECT_EQ(kept.size(), 2U);
  down_ = true;
  const auto recalled = opened().recall(query, 16);
  ASSERT_EQ(recalled.size(), 1U) << "of the journal";
  EXPECT_EQ(recalled[0].title, "Strategy number3");
  down_ = false;
  ASSERT_TRUE((*open_knowledge_file(file()))->quarantine(ids[0], Visibility::shown));
  EXPECT_EQ(up.recall(query, 16).size(), 2U);
  down_ = true;
  EXPECT_EQ(opened().recall(query, 16).size(), 2U) << "what is shown again is shown without the store too";
}

TEST_F(KnowledgeTest, WhereItCannotBeToldWhatIsHiddenNothingIsShown) {
  ASSERT_TRUE(journal_->record_experience("r1", sample_experience(1)));
  Knowledge it({.place = "the store",
                .open = []() -> base::Result<std::unique_ptr<KnowledgeStore>> {
                  return base::fail(ErrorCode::unavailable, "the store: nobody answers");
                },
                .journal = journal_.get(),
                .notice = {},
                .kept_hidden = []() -> base::Result<std::vector<std::string>> {
                  return base::fail(ErrorCode::corrupt, "damaged");
                }});
  EXPECT_TRUE(it.recall({.language = "cpp", .target = "cpu", .op_type = "matmul", .without_run = "r2"}, 16).empty());
}

}  // namespace
}  // namespace accelopt::memory
