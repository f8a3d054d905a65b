// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/machine.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "base/files.hpp"
#include "base/text.hpp"

namespace accelopt::targets::cpu {
namespace {

using base::ErrorCode;

/// The value after "key : " in /proc/cpuinfo.
std::string cpu_info(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    const auto start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return {};
}

/// "32K" or "8M" as bytes.
std::int64_t size_of_text(const std::string& text) {
  std::int64_t value = 0;
  const auto [after, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{}) return 0;
  if (after != text.data() + text.size() && *after == 'K') return value << 10;
  if (after != text.data() + text.size() && *after == 'M') return value << 20;
  return value;
}

void read_caches(Machine& machine) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const std::string type = base::first_line_of_file(folder + "type");
    if (type.empty()) break;
    if (type == "Instruction") continue;
    const std::string level = base::first_line_of_file(folder + "level");
    const std::int64_t bytes = size_of_text(base::first_line_of_file(folder + "size"));
    if (level == "1") machine.l1_bytes = bytes;
    if (level == "2") machine.l2_bytes = bytes;
    machine.last_level_bytes = std::max(machine.last_level_bytes, bytes);
  }
  constexpr std::int64_t kAssumed = 32LL << 20;  // where the system does not say: flush generously
  if (machine.last_level_bytes == 0) machine.last_level_bytes = kAssumed;
}

void read_features(Machine& machine) {
#if defined(__x86_64__)
  const std::string flags = " " + cpu_info("flags") + " ";
  const auto has = [&flags](const char* name) {
    return flags.find(" " + std::string(name) + " ") != std::string::npos;
  };
  machine.line_flush = has("clflushopt");
  machine.vector_set = has("avx512f") ? "AVX-512" : has("avx2") ? "AVX2" : has("avx") ? "AVX" : "SSE2";
  machine.vector_bits = has("avx512f") ? 512 : has("avx") ? 256 : 128;
  if (has("fma") && machine.vector_bits == 256) machine.vector_set += "+FMA";
  for (const char* name : {"sse4_2", "bmi2", "f16c", "avx_vnni", "avx512dq", "avx512bw", "avx512vl", "avx512_vnni",
                           "avx512_bf16", "avx512_fp16", "avx512vbmi", "amx_tile", "amx_bf16", "amx_int8"}) {
    if (has(name)) machine.instruction_sets += (machine.instruction_sets.empty() ? "" : " ") + std::string(name);
  }
  if (has("avx512f")) machine.vector_registers = 32;
#elif defined(__aarch64__)
  machine.vector_set = "NEON";
  machine.vector_registers = 32;
  machine.line_flush = true;
#endif
}

/// Cores that share execution units with `core`, itself included.
std::vector<int> siblings_of(int core) {
  std::string text =
      base::first_line_of_file("/sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/thread_siblings_list");
  std::vector<int> out;
  std::replace(text.begin(), text.end(), ',', ' ');
  std::istringstream parts(text);
  for (std::string part; parts >> part;) {
    int low = 0;
    const auto [after, failure] = std::from_chars(part.data(), part.data() + part.size(), low);
    if (failure != std::errc{}) continue;
    int high = low;
    if (after != part.data() + part.size() && *after == '-')
      std::from_chars(after + 1, part.data() + part.size(), high);
    for (int sibling = low; sibling <= high; ++sibling) out.push_back(sibling);
  }
  if (out.empty()) out.push_back(core);
  return out;
}

/// The cores that this process was given, before it put any of its threads on one of them.
const std::vector<int>& cores_at_start() {
  static const std::vector<int> cores = [] {
    std::vector<int> out;
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(static_cast<std::size_t>(core), &set)) out.push_back(core);
    }
    return out;
  }();
  return cores;
}

}  // namespace

Machine examine_machine() {
  Machine machine;
  machine.cpu_model = cpu_info("model name");
  if (machine.cpu_model.empty())
    machine.cpu_model = cpu_info("CPU part").empty() ? "unknown CPU" : "ARM part " + cpu_info("CPU part");
  machine.cores = cores_at_start();
  read_caches(machine);
  read_features(machine);
  if (const long line = sysconf(_SC_LEVEL1_DCACHE_LINESIZE); line > 0) machine.line_bytes = line;
  if (const long page = sysconf(_SC_PAGESIZE); page > 0) machine.page_bytes = page;
  return machine;
}

base::Result<CorePlan> plan_cores(const Machine& machine, const std::string& device, int threads) {
  const int count = static_cast<int>(machine.cores.size());
  int core = machine.cores.back();
  if (const auto colon = device.find(':'); colon != std::string::npos) {
    const char* end = device.data() + device.size();
    const auto [after, failure] = std::from_chars(device.data() + colon + 1, end, core);
    if (failure != std::errc{} || after != end ||
        std::find(machine.cores.begin(), machine.cores.end(), core) == machine.cores.end()) {
      return base::fail(ErrorCode::invalid_argument,
                        "device \"" + device + "\": no such core; name one of this process's cores, cpu:" +
                            std::to_string(machine.cores.front()) + " to cpu:" + std::to_string(machine.cores.back()));
    }
  }
  CorePlan plan;
  if (count == 1) {
    if (threads > 1) return base::fail(ErrorCode::unsupported, "one core cannot measure a kernel of several threads");
    return CorePlan{core, {core}, {}, true};
  }
  if (threads > count - 1) {
    return base::fail(ErrorCode::unsupported, "the task asks for " + std::to_string(threads) +
                                                  " threads; this process has " + std::to_string(count) +
                                                  " cores, and one must stay free to measure");
  }
  // The worker sits as far from the arena's execution units as the machine allows.
  const std::vector<int> near = siblings_of(core);
  std::vector<int> rest;
  for (const int other : machine.cores) {
    if (other != core && std::find(near.begin(), near.end(), other) == near.end()) rest.push_back(other);
  }
  for (const int sibling : near) {
    if (sibling != core && std::find(machine.cores.begin(), machine.cores.end(), sibling) != machine.cores.end()) {
      rest.push_back(sibling);
    }
  }
  plan.worker = rest.front();
  rest.erase(rest.begin());
  plan.arenas = {core};
  for (int extra = 1; extra < threads; ++extra) {
    plan.arenas.push_back(rest.front());
    rest.erase(rest.begin());
  }
  constexpr int kEnoughToBuildBeside = 4;
  if (count >= kEnoughToBuildBeside) plan.others = rest;
  return plan;
}

}  // namespace accelopt::targets::cpu
