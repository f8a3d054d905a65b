// SPDX-License-Identifier: Apache-2.0
#include "targets/registry.hpp"

#include <gtest/gtest.h>

#include "app/device.hpp"

namespace accelopt::targets {
namespace {

TEST(Registry, MeasuredTargets_AllHaveAnEntry) {
  std::vector<const model::TargetDescription*> measured;
  for (const model::TargetDescription* target : model::targets()) {
    if (model::is_measured(*target)) measured.push_back(target);
  }
  std::vector<const model::TargetDescription*> entered;
  for (const Entry& entry : registry()) entered.push_back(&entry.description);
  EXPECT_EQ(entered, measured);
}

TEST(Registry, FindEntry_PlannedTarget_HasNone) {
  EXPECT_NE(find_entry("cuda"), nullptr);
  EXPECT_EQ(find_entry("triton"), nullptr);
}

TEST(Registry, ParseDevice_EveryEntrysDevice_IsItsOwn) {
  for (const Entry& entry : registry()) {
    const auto device = app::parse_device(entry.description.device);
    ASSERT_TRUE(device) << device.error().message;
    EXPECT_EQ(device->kind, entry.description.name);
  }
  EXPECT_EQ(app::parse_device("triton:0").error().message,
            "device \"triton:0\" is of no kind that this version measures on; write cpu, cpu:N for kernels on core N, "
            "or cuda:N for CUDA device N");
}

}  // namespace
}  // namespace accelopt::targets
