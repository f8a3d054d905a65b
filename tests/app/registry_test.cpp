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
  EXPECT_EQ(find_entry("opencl"), nullptr);
}

TEST(Registry, ParseDevice_EveryEntrysDevice_IsOfATarget) {
  for (const Entry& entry : registry()) {
    const auto device = app::parse_device(entry.description.device);
    ASSERT_TRUE(device) << device.error().message;
    EXPECT_NE(find_entry(device->kind), nullptr) << entry.description.name;
  }
  EXPECT_EQ(app::parse_device("opencl:0").error().message,
            "device \"opencl:0\" is of no kind that this version measures on; write " + app::device_names());
}

}  // namespace
}  // namespace accelopt::targets
