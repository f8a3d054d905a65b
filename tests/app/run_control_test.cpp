// SPDX-License-Identifier: Apache-2.0
#include "app/run_control.hpp"

#include <gtest/gtest.h>

#include <latch>

#include "app/workspace.hpp"
#include "base/files.hpp"
#include "base/sqlite.hpp"

namespace accelopt::app {
namespace {

/// A terminal whose reader does not scroll on until the gate is open.
class SlowReader final : public model::EventSink {
 public:
  void on(const model::Event& event) override {
    gate.wait();
    texts.push_back(std::get<model::Note>(event).text);
  }
  std::latch gate{1};
  std::vector<std::string> texts;
};

class RunControlTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto journal = open_workspace(workspace(), journal::Access::read_write).value();
    journal::RunInfo run;
    run.id = kRun;
    run.task_name = "scale";
    run.created = "2026-11-21T10:15:00Z";
    ASSERT_TRUE(journal->create_run(run));
  }

  [[nodiscard]] std::filesystem::path workspace() const { return folder_.path() / ".accelopt"; }

  std::unique_ptr<RunControl> start(model::EventSink& events) {
    auto control = RunControl::start(workspace(), kRun, {}, {}, events);
    EXPECT_TRUE(control) << control.error().message;
    return *std::move(control);
  }

  static constexpr const char* kRun = "20261121-101500-3fa9c1";
  base::TemporaryFolder folder_ = base::TemporaryFolder::create("run-control").value();
};

TEST_F(RunControlTest, SlowReader_StopIsHeard) {
  SlowReader reader;
  auto control = start(reader);
  control->on(model::Note{"first"});
  control->on(model::Note{"second"});
  std::latch heard(1);
  const std::stop_callback hear(control->stop_waiting(), [&] { heard.count_down(); });

  ASSERT_TRUE(
      journal::open_control(workspace(), journal::Access::read_write).value()->ask(kRun, journal::Request::stop));
  heard.wait();

  EXPECT_EQ(control->asked(), journal::Request::stop);
  EXPECT_FALSE(control->budget().may_ask());
  reader.gate.count_down();
  control.reset();
  ASSERT_EQ(reader.texts.size(), 3U) << "all is told before the end";
  EXPECT_EQ(reader.texts[0], "first");
  EXPECT_EQ(reader.texts[1], "second");
}

TEST_F(RunControlTest, End_FilesEventsInTheOrderOfTheReader) {
  SlowReader reader;
  reader.gate.count_down();
  {
    const auto control = start(reader);
    constexpr int kThreads = 4;
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&control, i] { control->on(model::Note{"note " + std::to_string(i)}); });
  }
  const auto journal = journal::open_control(workspace(), journal::Access::read_only).value();
  const auto lines = journal->events(kRun, 0, 100).value();
  ASSERT_EQ(lines.size(), reader.texts.size());
  for (std::size_t i = 0; i < lines.size(); ++i)
    EXPECT_NE(lines[i].text.find("\"" + reader.texts[i] + "\""), std::string::npos) << lines[i].text;
  EXPECT_TRUE(journal->sessions(kRun).value().back().ended);
}

TEST_F(RunControlTest, LaterSession_ThisOneEnds) {
  SlowReader reader;
  reader.gate.count_down();
  auto control = start(reader);
  std::latch aborted(1);
  const std::stop_callback hear(control->stops().abort, [&] { aborted.count_down(); });
  // As another machine enters one where this process has been paused.
  const auto database =
      base::Database::open(workspace() / "accelopt.db", base::OpenMode::create, std::chrono::seconds(10));
  ASSERT_TRUE(database) << database.error().message;
  ASSERT_TRUE(
      (*database)->run("INSERT INTO sessions(run, pid, host, born, started_ms, beat_ms, wall_ms, device_ms, ended) "
                       "SELECT run, 1, 'another machine', '1', 0, 0, 0, 0, 0 FROM sessions"));
  aborted.wait();
  EXPECT_EQ(control->asked(), journal::Request::taken_over);
  control.reset();
  ASSERT_EQ(reader.texts.size(), 1U);
  EXPECT_NE(reader.texts[0].find("another process has continued the run"), std::string::npos) << reader.texts[0];
}

}  // namespace
}  // namespace accelopt::app
