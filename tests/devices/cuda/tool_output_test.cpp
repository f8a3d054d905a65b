// SPDX-License-Identifier: Apache-2.0
// What Nsight Compute and compute-sanitizer print, as it is read: whatever a kernel is named and a tool prints, nobody
// is misled and nothing is overrun.
#include <gtest/gtest.h>

#include "devices/cuda/counters.hpp"
#include "devices/cuda/sanitizer_report.hpp"
#include "devices/cuda/tool_text.hpp"

namespace accelopt::devices::cuda {
namespace {

TEST(Counters, ATableIsReadWhateverStandsAroundIt) {
  const CounterTable table = read_counters(
      "==PROF== Connected to process 1 (/a/b)\n"
      "a line of the program's\n"
      "\"ID\",\"Process ID\",\"Kernel Name\",\"lts__t_bytes.sum\",\"dram__bytes_read.sum\"\r\n"
      "\"\",\"\",\"\",\"byte\",\"byte\"\r\n"
      "\"0\",\"1\",\"void sum(float const *, int)\",\"1,024\",\"n/a\"\r\n"
      "\"1\",\"1\",\"odd \"\"name\"\"\",\"7.5\",\"nan\"\r\n"
      "\"2\",\"1\",\"cut\"\n");
  ASSERT_EQ(table.launches.size(), 2);
  EXPECT_EQ(table.launches[0].kernel, "sum");
  EXPECT_EQ(table.launches[0].values, (std::map<std::string, double>{{"lts__t_bytes.sum", 1024}}));
  EXPECT_EQ(table.launches[1].values, (std::map<std::string, double>{{"lts__t_bytes.sum", 7.5}}));
  EXPECT_TRUE(table.problem.empty());
}

TEST(Counters, ComplaintsAreKeptWithoutPaths) {
  const CounterTable table = read_counters(
      "==ERROR== Failed to find metric regex:^lts__t_bytes\\.(sum|min)$\n"
      "==ERROR== Failed to prepare kernel for profiling in /tmp/secret/place/call\n");
  EXPECT_EQ(table.unknown, std::vector<std::string>{"lts__t_bytes"});
  EXPECT_FALSE(table.refused);
  EXPECT_EQ(table.problem, "Failed to find metric regex:^lts__t_bytes\\.(sum|min)$");
  EXPECT_EQ(
      read_counters("==ERROR== Failed to access the following 2 metrics: dram__a.sum, lts__b_c.avg.pct\n").unknown,
      (std::vector<std::string>{"dram__a", "lts__b_c"}));
  EXPECT_EQ(read_counters("==ERROR== no room in /tmp/secret/place/call\n").problem, "no room in call");
}

TEST(Counters, TheLongestLaunchOfAKernelDescribesIt) {
  const auto launch = [](const std::string& kernel, double time) {
    return KernelCounters{kernel, {{"gpu__time_duration.sum", time}}};
  };
  const auto items = describe_counters(
      {launch("a", 1000), launch("b", 5000), launch("a", 9000), launch("c", 10), launch("d", 20), launch("e", 30)});
  std::vector<std::pair<std::string, double>> seen;
  for (const model::ProfileItem& item : items) seen.emplace_back(item.name, item.value);
  EXPECT_EQ(seen, (std::vector<std::pair<std::string, double>>{
                      {"a: counted time", 9}, {"b: counted time", 5}, {"e: counted time", 0.03}}));
}

TEST(Counters, MemoryThroughputHasEitherName) {
  for (const std::string name : {"dram__throughput", "gpu__dram_throughput"}) {
    const auto items = describe_counters({{"a", {{name + ".avg.pct_of_peak_sustained_elapsed", 50}}}});
    ASSERT_EQ(items.size(), 1);
    EXPECT_EQ(items[0].name, "memory throughput");
  }
  const auto both = describe_counters({{"a",
                                        {{"dram__throughput.avg.pct_of_peak_sustained_elapsed", 50},
                                         {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 60}}}});
  ASSERT_EQ(both.size(), 1);
  EXPECT_EQ(both[0].value, 50);
}

TEST(SanitizerReports, SayWhatWasFound) {
  const std::vector<std::string> kernels{"sum"};
  const auto clean = read_sanitizer("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", true, kernels);
  EXPECT_EQ(clean.state, Sanitized::clean);
  // A program that died half-way was not checked.
  EXPECT_EQ(read_sanitizer("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", false, kernels).state,
            Sanitized::unknown);
  EXPECT_EQ(read_sanitizer("", true, kernels).state, Sanitized::unknown);
  const auto older = read_sanitizer(
      "========= Invalid __shared__ write of size 8\n=========     at 0x00000cd8 in sum\n=========     by thread "
      "(1,0,0) "
      "in block (0,0,0)\n========= ERROR SUMMARY: 1 error\n",
      false, kernels);
  EXPECT_EQ(older.state, Sanitized::faulty);
  EXPECT_EQ(older.text, "Invalid __shared__ write of size 8 in sum by thread (1,0,0) in block (0,0,0)");
  const auto ours = read_sanitizer(
      "========= Uninitialized __global__ memory read of size 8 bytes\n=========     at accelopt_mask+0x10\n", true,
      kernels);
  EXPECT_EQ(ours.state, Sanitized::unknown);
  const auto options = read_sanitizer("========= Invalid option --padding\n", false, kernels);
  EXPECT_EQ(options.state, Sanitized::unknown);
  EXPECT_FALSE(options.unsupported);
}

TEST(ToolText, HasNoPathsAddressesOrControls) {
  EXPECT_EQ(plain_tool_line("  at k+0x1f in /home/u/a b.cu:3\t\x1b[1m\r"), "at k in a b.cu:3 ?[1m");
  EXPECT_EQ(plain_tool_line("Address 0x7f00 is near 0x7f10 of (/usr/lib/x.so)"), "Address is near of (x.so)");
  EXPECT_EQ(plain_tool_line(std::string(1000, 'x')).size(), 243);
}

TEST(Counters, AKernelNamedLikeAComplaintIsNone) {
  const CounterTable table = read_counters(
      "==PROF== Profiling \"ERR_NVGPUCTRPERM\" - 0: 0%....50%....100% - 8 passes\n"
      "==ERROR== Failed to profile \"ERR_NVGPUCTRPERM\" in process 7\n");
  EXPECT_FALSE(table.refused);
  EXPECT_EQ(table.problem, "Failed to profile \"ERR_NVGPUCTRPERM\" in process 7");
  EXPECT_TRUE(read_counters("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n").refused);
}

TEST(Counters, WhatTheCallItselfSaidTellsMost) {
  EXPECT_EQ(read_counters("/opt/ncu: 3: exec: not found\n").problem, "ncu: 3: exec: not found");
  EXPECT_EQ(read_counters("a word\n==ERROR== The application returned an error code (1).\n").problem,
            "The application returned an error code (1).");
  EXPECT_EQ(read_counters("==ERROR== The application returned an error code (1).\n"
                          "accelopt-device: kernel k was not launched: CUDA_ERROR_INVALID_VALUE: invalid argument\n")
                .problem,
            "accelopt-device: kernel k was not launched: CUDA_ERROR_INVALID_VALUE: invalid argument");
}

TEST(Counters, LinesOfAnyLengthAreRead) {
  const std::string much(4 << 20, 'a');
  EXPECT_EQ(read_counters("==ERROR== " + much + "\n").problem.size(), 243);
  EXPECT_TRUE(read_counters("==ERROR== Failed to find metric " + much + "\n").unknown.front().size() < 3000);
  EXPECT_EQ(read_counters("\"" + much + "\n" + much).launches.size(), 0);
}

/// One finding in a function, under callers.
std::string finding_in(const std::string& function, const std::string& callers = "") {
  return "========= Invalid __global__ read of size 4 bytes\n=========     at " + function +
         "\n=========     by thread (0,0,0) in block (0,0,0)\n=========     Address 0x7f00 is out of bounds\n"
         "=========     and is 1 bytes after the nearest allocation at 0x7e00 of size 4 bytes\n" +
         callers + "========= ERROR SUMMARY: 1 error\n";
}

TEST(SanitizerReports, BlameTheKernelThatCalls) {
  const std::vector<std::string> kernels{"sum"};
  for (const std::string caller : {"=========     Device Frame:sum+0x30 [0x30]\n",
                                   "=========     Device Frame:sum(const float *) in k.cu:4 [0x30]\n",
                                   "=========     Device Frame:of no known form\n"}) {
    EXPECT_EQ(read_sanitizer(finding_in("accelopt_helper(int)+0x10 in k.cu:3", caller), true, kernels).state,
              Sanitized::faulty)
        << caller;
  }
  EXPECT_EQ(read_sanitizer(finding_in("accelopt_helper+0x10 in accelopt_.cuh:3"), true, {"accelopt_helper"}).state,
            Sanitized::faulty);
  EXPECT_EQ(read_sanitizer(finding_in("sum+0x10 in accelopt_.cuh:3"), true, kernels).state, Sanitized::faulty);
}

TEST(SanitizerReports, BlameNoKernelForAWordOfTheReport) {
  for (const std::string name : {"read", "at", "size", "accelopt", "a"}) {
    const auto verdict = read_sanitizer(finding_in("accelopt_mask+0x10"), true, {name});
    EXPECT_EQ(verdict.state, Sanitized::unknown) << name;
    EXPECT_TRUE(verdict.text.starts_with("it blames a trusted kernel: ")) << verdict.text;
  }
}

TEST(SanitizerReports, OneCallThatIsNotSupportedSaysNothingOfTheNext) {
  const auto verdict = read_sanitizer(
      "========= COMPUTE-SANITIZER\n"
      "accelopt-device: kernel k was not launched: CUDA_ERROR_NOT_SUPPORTED: operation not supported\n"
      "========= Error: Target application returned an error\n========= ERROR SUMMARY: 0 errors\n",
      false, {"k"});
  EXPECT_EQ(verdict.state, Sanitized::unknown);
  EXPECT_FALSE(verdict.unsupported);
  EXPECT_EQ(verdict.text,
            "accelopt-device: kernel k was not launched: CUDA_ERROR_NOT_SUPPORTED: operation not supported");
  EXPECT_TRUE(read_sanitizer("========= Error: Device not supported.\n", false, {"k"}).unsupported);
}

TEST(ToolText, LinesOfAnyLengthAreShort) {
  const std::string much(4 << 20, 'a');
  EXPECT_EQ(plain_tool_line(" /" + much + "/b").size(), 243);
  EXPECT_EQ(plain_tool_line(std::string(4 << 20, ' ') + "x"), "");
  EXPECT_EQ(plain_tool_line("at 0x" + much), "");
  const std::string report = "========= Invalid __global__ read of size 4\n=========     at " + much + "+0x10\n";
  EXPECT_EQ(read_sanitizer(report, false, {"sum"}).state, Sanitized::faulty);
}

}  // namespace
}  // namespace accelopt::devices::cuda
