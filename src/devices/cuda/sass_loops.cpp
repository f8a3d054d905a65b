// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/sass_loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/line_ranges.hpp"
#include "devices/cuda/sass.hpp"

namespace accelopt::devices::cuda {
namespace {

constexpr std::size_t kMostLoopsTold = 3;
constexpr double kLeastWeight = 0.1;  ///< of all loops' weight
constexpr double kTurns = 8;          ///< that a loop is taken to have: only the order of the loops depends on it
constexpr int kMostDepth = 8;         ///< from here on deeper is not heavier
constexpr const char* kMainFile = "kernel.cu";

/// What is told by name, in this order: matrix units, arithmetic, memory from far to near, threads that wait and talk.
constexpr std::array kTold = std::to_array<std::string_view>(
    {"HGMMA", "IGMMA", "QGMMA", "BGMMA",     "UTCHMMA", "UTCIMMA",   "UTCQMMA",   "UTCOMMA", "HMMA",    "IMMA",
     "QMMA",  "OMMA",  "DMMA",  "BMMA",      "FFMA",    "FFMA2",     "DFMA",      "HFMA2",   "FADD",    "FADD2",
     "DADD",  "HADD2", "FMUL",  "FMUL2",     "DMUL",    "HMUL2",     "FMNMX",     "FMNMX3",  "HMNMX2",  "MUFU",
     "IMAD",  "IDP",   "F2F",   "F2FP",      "F2I",     "I2F",       "I2FP",      "UTMALDG", "UTMASTG", "UBLKCP",
     "LDG",   "LD",    "STG",   "ST",        "ATOMG",   "ATOM",      "REDG",      "RED",     "LDGSTS",  "LDL",
     "STL",   "LDS",   "LDSM",  "STS",       "STSM",    "ATOMS",     "LDTM",      "STTM",    "SHFL",    "REDUX",
     "VOTE",  "BAR",   "SYNCS", "LDGDEPBAR", "DEPBAR",  "WARPGROUP", "NANOSLEEP", "CALL"});
constexpr std::array kMemory =
    std::to_array<std::string_view>({"LDG", "LD", "STG", "ST", "LDGSTS", "LDL", "STL", "LDS", "STS"});
constexpr std::array kWaiting = std::to_array<std::string_view>({"SYNCS", "NANOSLEEP"});

template <std::size_t N>
bool is_among(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::ranges::find(names, name) != names.end();
}

/// The instruction's name as it is counted: "FFMA", "LDG.128"; empty: among the others.
std::string counted_name(const SassInstruction& instruction) {
  const std::string_view name = instruction.name;
  const std::string base(name.substr(0, name.find('.')));
  // Both have nothing to multiply: they put a constant or a register into another.
  const bool moves = name.starts_with("IMAD.MOV") ||
                     (base == "HFMA2" && instruction.operands.find("-RZ, RZ") != std::string_view::npos);
  if (moves || !is_among(base, kTold)) return {};
  if (is_among(base, kMemory)) {
    for (const std::string_view width : {".64", ".128", ".256"}) {
      if (name.find(width) != std::string_view::npos) return base + std::string(width);
    }
  }
  return base;
}

using Counts = std::map<std::pair<std::ptrdiff_t, std::string>, int>;  ///< by place in the table and name

struct RankedLoop {
  std::string kernel;
  std::set<int> lines;
  Counts counts;
  int others = 0;
  int depth = 1;
  double weight = 0;
  [[nodiscard]] bool only_waits() const {
    const auto is_wait = [](const auto& count) { return is_among(count.first.second, kWaiting); };
    return !counts.empty() && std::ranges::all_of(counts, is_wait);
  }
};

RankedLoop ranked(const std::string& name, const SassKernel& kernel, const SassLoop& loop) {
  RankedLoop out{name, {}, {}, 0, loop.depth, 0};
  for (const std::size_t at : loop.own) {
    const SassInstruction& instruction = kernel.code[at];
    if (instruction.line > 0) out.lines.insert(instruction.line);
    const std::string counted = counted_name(instruction);
    const auto place = std::ranges::find(kTold, std::string_view(counted).substr(0, counted.find('.')));
    counted.empty() ? ++out.others : ++out.counts[{place - kTold.begin(), counted}];
  }
  out.weight = static_cast<double>(loop.own.size()) * std::pow(kTurns, std::min(loop.depth, kMostDepth));
  return out;
}

std::string meaning_of(const RankedLoop& loop) {
  std::string out = base::lines_text(loop.lines);
  if (!out.empty()) out += "; ";
  if (loop.depth > 1) out += fmt::format("inside {} more; ", loop.depth - 1);
  out += "a turn: ";
  for (const auto& [key, number] : loop.counts) out += fmt::format("{} {}, ", number, key.second);
  const char* const rest = loop.counts.empty() ? " without arithmetic or memory"
                           : loop.others == 1  ? " other"
                                               : " others";
  out += std::to_string(loop.others) + rest;
  return out + "; found by nesting, not by samples";
}

}  // namespace

std::vector<model::ProfileItem> describe_sass_loops(std::string_view disassembly,
                                                    const std::vector<std::string>& kernels) {
  std::vector<RankedLoop> loops;
  for (const std::string& name : std::set<std::string>(kernels.begin(), kernels.end())) {
    const SassKernel kernel = read_sass(disassembly, name, kMainFile);
    for (const SassLoop& loop : loops_of(kernel)) loops.push_back(ranked(name, kernel, loop));
  }
  std::erase_if(loops, [](const RankedLoop& loop) { return loop.only_waits(); });
  double all = 0;
  for (const RankedLoop& loop : loops) all += loop.weight;
  std::erase_if(loops, [&](const RankedLoop& loop) { return loop.weight < kLeastWeight * all; });
  std::ranges::stable_sort(loops, std::greater<>(), &RankedLoop::weight);
  if (loops.size() > kMostLoopsTold) loops.resize(kMostLoopsTold);
  std::vector<model::ProfileItem> out;
  for (const RankedLoop& loop : loops) {
    int instructions = loop.others;
    for (const auto& [key, number] : loop.counts) instructions += number;
    out.push_back({fmt::format("{}: hot loop {}", loop.kernel, out.size() + 1), static_cast<double>(instructions),
                   "instructions", meaning_of(loop)});
  }
  return out;
}

}  // namespace accelopt::devices::cuda
