// SPDX-License-Identifier: Apache-2.0
#include "app/deferral.hpp"

#include <gtest/gtest.h>

#include "app/workspace.hpp"
#include "base/files.hpp"
#include "bundles/runner.hpp"
#include "evaluation/fake_task.hpp"
#include "fakes/fake_evaluator.hpp"

namespace accelopt::app {
namespace {

using base::ErrorCode;

/// A device on which the task does not open.
class BrokenDevice final : public fakes::FakeEvaluator {
 public:
  base::Result<evaluation::OpenReport> open(const model::Task&, const evaluation::MeasureSettings&,
                                            std::stop_token) override {
    return base::fail(ErrorCode::invalid_argument, "the task's reference does not build");
  }
};

class DeferralTest : public testing::Test {
 protected:
  void SetUp() override {
    run_.id = "20261121-101500-3fa9c1";
    run_.task = evaluation::task();
    ASSERT_TRUE(journal_->create_run(run_));
  }

  /// The run is resumed: what came back is taken in, and the task is to be opened.
  base::Outcome<evaluation::OpenReport> resume() {
    deferral_ = Deferral::open(*journal_, run_).value();
    EXPECT_TRUE(deferral_->take_in({}, Deferral::Rewrite::no, [](const std::string&) {}));
    return deferral_->evaluator().ask(evaluation::Open{run_.task, {}}, {});
  }

  /// Writes what is put off, and executes it on such a device.
  template <class Device>
  void travel() {
    ASSERT_TRUE(deferral_->write(folder_.path() / "bundles", {}, {}));
    ASSERT_EQ(deferral_->under_way().size(), 1U);
    bundles::BundleExecution execution;
    execution.make_evaluator = [](const bundles::Bundle&) -> base::Result<std::unique_ptr<evaluation::Evaluator>> {
      return std::make_unique<Device>();
    };
    execution.now = [] { return std::string("2026-11-21T10:00:00Z"); };
    const auto executed = bundles::execute_bundle(deferral_->under_way().front(), execution, {});
    ASSERT_TRUE(executed) << executed.error().message;
  }

  base::TemporaryFolder folder_ = base::TemporaryFolder::create("deferral-test").value();
  std::unique_ptr<journal::Journal> journal_ =
      open_workspace(folder_.path() / ".accelopt", journal::Access::read_write).value();
  journal::RunInfo run_;
  std::unique_ptr<Deferral> deferral_;
};

TEST_F(DeferralTest, TaskThatDidNotOpen_IsAskedForAgain) {
  EXPECT_EQ(resume().error().why, base::Why::put_off);
  travel<BrokenDevice>();
  EXPECT_EQ(resume().error().message, "the task's reference does not build");

  EXPECT_EQ(resume().error().why, base::Why::put_off);
  travel<fakes::FakeEvaluator>();
  EXPECT_TRUE(resume());
  EXPECT_TRUE(resume()) << "and what came back is on record";
}

}  // namespace
}  // namespace accelopt::app
