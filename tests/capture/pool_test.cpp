// SPDX-License-Identifier: Apache-2.0
#include "capture/pool.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <set>
#include <thread>

#include "base/files.hpp"

namespace accelopt::capture {
namespace {

/// In place of Python: answers with a name that is this process's own; a request with a "fifo" waits for what is
/// written there.
constexpr const char* kServer = R"(#!/bin/sh
echo '{"ready": {"python": "3.11"}}'
read -r own < /proc/sys/kernel/random/uuid
while read -r line; do
  id=${line##*\"id\":}
  id=${id%%[,\}]*}
  case "$line" in *fifo*) path=${line##*\"fifo\":\"}; cat "${path%%\"*}" > /dev/null;; esac
  echo "{\"id\": $id, \"ok\": {\"process\": \"$own\"}}"
done
)";

class Pool : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = base::TemporaryFolder::create("accelopt-pool");
    ASSERT_TRUE(folder) << folder.error().message;
    folder_ = std::move(*folder);
    ASSERT_TRUE(base::make_folders(folder_->path() / "bin"));
    options_.python = {folder_->path() / "bin" / "python3", folder_->path(), "3.6.0"};
    ASSERT_TRUE(base::write_file(options_.python.program, kServer));
    ASSERT_EQ(chmod(options_.python.program.c_str(), 0755), 0);
    fifo_ = folder_->path() / "fifo";
    ASSERT_EQ(mkfifo(fifo_.c_str(), 0600), 0);
    options_.folder = folder_->path();
  }
  static std::string process_of(const base::Result<Answer>& answer) {
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? base::text_at(answer->ok, "process") : "";
  }
  /// The process that answers "long", and what `meanwhile` gives while it is busy.
  template <class Meanwhile>
  std::string busy_while(CapturePool& pool, Meanwhile meanwhile) {
    std::string busy;
    std::jthread other([&] { busy = process_of(pool.ask({{"fifo", fifo_.string()}}, "long", {})); });
    {
      std::ofstream hold(fifo_);  // opens when the server has begun to read
      meanwhile();
    }
    other.join();
    return busy;
  }

  std::optional<base::TemporaryFolder> folder_;
  std::filesystem::path fifo_;
  ServerOptions options_;
};

TEST_F(Pool, OneRequestAtATime_NeedsOneProcess) {
  CapturePool pool(options_, 3);
  const std::string first = process_of(pool.ask(base::Json::object(), "a", {}));
  EXPECT_EQ(process_of(pool.ask(base::Json::object(), "b", {})), first);
  EXPECT_EQ(process_of(pool.ask(base::Json::object(), "a", {})), first);
}

TEST_F(Pool, BusyProcess_IsNotWaitedFor) {
  CapturePool pool(options_, 2);
  std::string other;
  const std::string busy = busy_while(pool, [&] { other = process_of(pool.ask(base::Json::object(), "short", {})); });
  EXPECT_NE(busy, other);
  EXPECT_EQ(process_of(pool.ask(base::Json::object(), "long", {})), busy) << "it has its machine code";
  EXPECT_EQ(process_of(pool.ask(base::Json::object(), "short", {})), other);
}

TEST_F(Pool, WithoutAFreeProcess_AStopEndsTheWait) {
  CapturePool pool(options_, 1);
  std::stop_source stop;
  busy_while(pool, [&] {
    std::jthread stopping([&] { stop.request_stop(); });
    const auto answer = pool.ask(base::Json::object(), "short", stop.get_token());
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, base::ErrorCode::cancelled);
  });
}

}  // namespace
}  // namespace accelopt::capture
