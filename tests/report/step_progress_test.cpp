// SPDX-License-Identifier: Apache-2.0
#include "report/step_progress.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

namespace accelopt::report {
namespace {

class Steps : public testing::Test {
 protected:
  Steps() : stream_(::open_memstream(&text_, &size_)) {}
  ~Steps() override {
    std::fclose(stream_);
    std::free(text_);
  }

  StepOptions options(bool live) {
    return {.live = live, .now = [this] { return now_; }, .heartbeat = std::chrono::milliseconds(0)};
  }

  std::string text() {
    std::fflush(stream_);
    return {text_, size_};
  }

  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* stream_;
  std::chrono::steady_clock::time_point now_{std::chrono::hours(1)};
};

TEST_F(Steps, ALogSaysOnlyThatALongStepGoesOn) {
  StepProgress steps(stream_, options(false));
  steps.begin("building");
  now_ += std::chrono::seconds(9);
  steps.tick();
  steps.begin("racing");
  now_ += std::chrono::seconds(9);
  steps.tick();
  EXPECT_EQ(text(), "");
  now_ += std::chrono::seconds(1);
  steps.tick();
  now_ += std::chrono::seconds(59);
  steps.tick();
  EXPECT_EQ(text(), "racing | 10.0 s\n");
  now_ += std::chrono::seconds(1);
  steps.tick();
  EXPECT_EQ(text(), "racing | 10.0 s\nracing | 1m 10s\n");
}

TEST_F(Steps, ATerminalHasOneLineThatIsGoneAtTheEnd) {
  StepProgress steps(stream_, options(true));
  steps.begin("building");
  now_ += std::chrono::seconds(2);
  steps.tick();
  steps.note("the device is waited for");
  steps.end();
  steps.tick();
  EXPECT_EQ(text(),
            "\r\x1b[Kbuilding | 0.00 s\r\x1b[Kbuilding | 2.00 s\r\x1b[Kthe device is waited for\n"
            "\r\x1b[Kbuilding | 2.00 s\r\x1b[K");
}

TEST_F(Steps, AShareStandsInATerminalsLineUntilTheNextStep) {
  StepProgress steps(stream_, options(true));
  steps.begin("racing");
  now_ += std::chrono::seconds(2);
  steps.share("12 of at most 100 blocks");
  steps.begin("profiling");
  EXPECT_EQ(text(),
            "\r\x1b[Kracing | 0.00 s\r\x1b[Kracing, 12 of at most 100 blocks | 2.00 s\r\x1b[Kprofiling | 0.00 s");
}

TEST_F(Steps, ALogHasNoShares) {
  StepProgress steps(stream_, options(false));
  steps.begin("racing");
  steps.share("40 % verified");
  now_ += std::chrono::seconds(10);
  steps.tick();
  EXPECT_EQ(text(), "racing | 10.0 s\n");
}

}  // namespace
}  // namespace accelopt::report
