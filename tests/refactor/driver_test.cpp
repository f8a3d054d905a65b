// SPDX-License-Identifier: Apache-2.0
#include "refactor/driver.hpp"

#include <gtest/gtest.h>

#include <set>

#include "refactor/time_zone.hpp"
#include "sandbox/probe.hpp"

namespace accelopt::refactor {
namespace {

namespace fs = std::filesystem;

TEST(TimeZone, InTurn_OneWestOneEastAndUtc) {
  const auto own = *base::TemporaryFolder::create("zones");
  ASSERT_TRUE(base::make_folders(own.path() / "America"));
  ASSERT_TRUE(base::write_file(own.path() / "America" / "New_York", "TZif"));
  const auto all = [&](const char* language) {
    std::vector<std::string> zones;
    for (std::size_t turn = 0; turn < 3; ++turn) zones.push_back(time_zone(turn, code_language(language), own.path()));
    return zones;
  };
  const std::vector<std::string> named{"America/New_York", "Australia/Lord_Howe", "UTC"};
  EXPECT_EQ(all("go"), named) << "takes names alone";
  EXPECT_EQ(all("typescript"), named);
  EXPECT_EQ(all("python"), (std::vector<std::string>{named[0], "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "UTC0"}));
  EXPECT_EQ(time_zone(3, code_language("python"), own.path()), named[0]);
}

/// A task of shell scripts: `f.sh` of a tree writes the results.
class DriverInTrees : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto able = sandbox::capabilities();
    if (!able.filters || able.landlock == 0) GTEST_SKIP() << "needs Landlock and system call filters";
    task_.folder = own_.path() / "task";
    task_.repository = own_.path() / "repository";
    task_.language = code_language("sh");
    task_.cases = {"sh", "-c", "echo case > {out}"};
    task_.run = {"sh", "-c", "sh ./f.sh > {results}"};
    ASSERT_TRUE(base::make_folders(task_.folder));
    jail_ = std::make_unique<Jail>(*Jail::create(task_, {}, {}));
    driver_ = std::make_unique<Driver>(*Driver::create(task_, *jail_, 1));
  }
  fs::path tree(const std::string& name, const std::string& script) {
    EXPECT_TRUE(base::make_folders(own_.path() / name));
    EXPECT_TRUE(base::write_file(own_.path() / name / "f.sh", script));
    return own_.path() / name;
  }

  base::TemporaryFolder own_ = *base::TemporaryFolder::create("driver-test");
  Task task_;
  std::unique_ptr<Jail> jail_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(DriverInTrees, LocalTimeThatBecameUtc_IsSeenInOtherZones) {
  const Trees trees{tree("old", "date -d @1720000000 +%H:%M\n"), tree("new", "date -u -d @1720000000 +%H:%M\n")};
  std::set<std::string> differences;
  for (int turn = 0; turn < 3; ++turn) {
    const auto pair = driver_->run_pair(trees, CaseRequest{.workload = "w", .size = 1, .count = 1, .seed = 1});
    ASSERT_TRUE(pair) << pair.error().message;
    differences.insert(pair->difference);
  }
  ASSERT_EQ(differences.size(), 3) << "two zones, and none in UTC";
  EXPECT_TRUE(differences.contains(""));
  EXPECT_NE(differences.rbegin()->find("; both ran with TZ="), std::string::npos) << *differences.rbegin();
}

TEST_F(DriverInTrees, ReadsBeforeResults_AreComparedWhereNobodyTimes) {
  const auto reads = [](const std::string& text) {
    return "[ -z \"$ACCELOPT_WATCH_READS\" ] || echo 'reads before results: [[[9, " + text + "]]]' >&2\n";
  };
  const Trees trees{tree("old", reads("1, 2, true")), tree("new", reads("9, 9, true"))};
  const CaseRequest request{.workload = "w", .size = 1, .count = 1, .seed = 1};
  const auto pair = driver_->run_pair(trees, request);
  ASSERT_TRUE(pair) << pair.error().message;
  EXPECT_NE(pair->difference.find("the iterator is less lazy"), std::string::npos) << pair->difference;
  const auto cases = driver_->make_cases(trees.old_tree, request);
  const auto timed = driver_->run_pair(trees, *cases);
  ASSERT_TRUE(timed) << timed.error().message;
  EXPECT_EQ(timed->difference, "");
}

TEST_F(DriverInTrees, TimedPairs_RunInTheMachinesZone) {
  const Trees same{tree("old", "echo \"zone $TZ\"\n"), tree("new", "echo 'zone '\n")};
  const auto cases = driver_->make_cases(same.old_tree, CaseRequest{.workload = "w", .size = 1, .count = 1, .seed = 1});
  ASSERT_TRUE(cases) << cases.error().message;
  const auto pair = driver_->run_pair(same, *cases);
  ASSERT_TRUE(pair) << pair.error().message;
  EXPECT_EQ(pair->difference, "");
}

}  // namespace
}  // namespace accelopt::refactor
