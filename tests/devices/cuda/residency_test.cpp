// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/residency.hpp"

#include <gtest/gtest.h>

namespace accelopt::devices::cuda {
namespace {

Launch launch_of(std::uint32_t threads, std::uint32_t shared = 0) {
  Launch out;
  out.kernel = "k";
  out.block = {threads, 1, 1};
  out.shared_bytes = shared;
  return out;
}

KernelResources taking(int registers, int static_shared = 0) {
  KernelResources out;
  out.kernel = "k";
  out.registers = registers;
  out.static_shared_bytes = static_shared;
  return out;
}

TEST(Occupancy, IsWhatTheScarcestResourceAllows) {
  const DeviceLimits limits;
  EXPECT_DOUBLE_EQ(occupancy(taking(32), launch_of(256), limits), 1.0);
  EXPECT_DOUBLE_EQ(occupancy(taking(64), launch_of(256), limits), 0.5);
  EXPECT_DOUBLE_EQ(occupancy(taking(32), launch_of(32), limits), 0.5);  // 32 blocks at most
  EXPECT_DOUBLE_EQ(occupancy(taking(32), launch_of(256, 100000), limits), 0.25);
  EXPECT_DOUBLE_EQ(occupancy(taking(255), launch_of(1024), limits), 0.0);
  EXPECT_NE(resource_remark(taking(64), launch_of(256), limits).find("50 % occupancy, limited by registers"),
            std::string::npos);
}

TEST(DescribeLaunches, NamesWhatEachKernelTakes) {
  Program program;
  program.cubins = {{"", {taking(32)}}, {"", {taking(64)}}};
  program.cubins[1].kernels[0].kernel = "other";
  LaunchPlan plan;
  plan.launches = {launch_of(256), launch_of(256), launch_of(256)};
  plan.launches[1].cubin = 1;
  plan.launches[1].kernel = "other";
  plan.launches[2].kernel = "of nobody";
  std::vector<std::string> occupancies;
  for (const model::ProfileItem& item : describe_launches(program, plan, {})) {
    if (item.name.ends_with("occupancy")) occupancies.push_back(item.name + " " + std::to_string(item.value));
  }
  EXPECT_EQ(occupancies, (std::vector<std::string>{"k: occupancy 100.000000", "other: occupancy 50.000000"}));
}

}  // namespace
}  // namespace accelopt::devices::cuda
