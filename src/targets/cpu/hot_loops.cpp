// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/hot_loops.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/line_ranges.hpp"
#include "targets/cpu/instruction_mix.hpp"

namespace accelopt::targets::cpu {
namespace {

constexpr int kLeastSamples = 50;  ///< a share of a half is then known to a seventh or so
constexpr double kLeastShare = 0.1;
constexpr int kLeastOfLoop = 5;  ///< percent of a loop's samples at one instruction: less is chance
constexpr std::size_t kMostLoops = 3;
constexpr std::size_t kMostInstructions = 3;
constexpr std::size_t kLongestOperands = 40;  ///< characters

using Samples = std::map<std::uint64_t, int>;  ///< number by address

struct HotLoop {
  LoopSpan span;
  Samples samples;  ///< none of inner loops
  int count = 0;
};

/// The smallest loop around an address.
const LoopSpan* loop_around(const std::vector<LoopSpan>& spans, std::uint64_t address) {
  const LoopSpan* smallest = nullptr;
  for (const LoopSpan& span : spans) {
    if (address < span.begin || address > span.end) continue;
    if (smallest == nullptr || span.end - span.begin < smallest->end - smallest->begin) smallest = &span;
  }
  return smallest;
}

/// The hottest first.
std::vector<HotLoop> hottest(const std::vector<Instruction>& code, const evaluation::CodeSamples& samples) {
  const std::vector<LoopSpan> spans = spans_of(code);
  std::map<std::uint64_t, HotLoop> by_head;
  for (const std::uint64_t address : samples.own) {
    const LoopSpan* const span = loop_around(spans, address);
    if (span == nullptr) continue;
    HotLoop& loop = by_head[span->begin];
    loop.span = *span;
    ++loop.samples[address];
    ++loop.count;
  }
  std::vector<HotLoop> out;
  for (auto& [head, loop] : by_head) {
    if (loop.count >= kLeastShare * samples.count()) out.push_back(std::move(loop));
  }
  std::ranges::stable_sort(out, std::greater<>(), &HotLoop::count);
  if (out.size() > kMostLoops) out.resize(kMostLoops);
  return out;
}

bool is_same_code(const std::vector<Instruction>& a, const std::vector<Instruction>& b) {
  return std::ranges::equal(a, b, [](const Instruction& one, const Instruction& other) {
    return one.address == other.address && one.name == other.name && one.target == other.target;
  });
}

std::string number_of(int number, std::string_view what) {
  return number == 0 ? std::string() : fmt::format(", {} {}", number, what);
}

std::string mix_text(const LoopMix& mix) {
  std::string out = fmt::format("{} instructions", mix.instructions);
  out += number_of(mix.fused, "fused multiply-adds") + number_of(mix.arithmetic, "other floating-point") +
         number_of(mix.divisions, "divisions or roots");
  if (mix.floating() > 0) {
    out += mix.packed == 0 ? ", scalar" : fmt::format(", {} bits wide", mix.vector_bits);
    if (mix.packed > 0 && mix.packed < mix.floating()) out += fmt::format(" in {} of them", mix.packed);
  }
  return out + number_of(mix.loads, "loads") + number_of(mix.stores, "stores") + number_of(mix.shuffles, "shuffles") +
         number_of(mix.calls, "calls");
}

/// "; most samples at: vmovups (%rsi),%ymm0 40 %; ..."; empty where they are spread.
std::string instructions_text(const HotLoop& loop, const std::vector<Instruction>& code) {
  std::vector<std::pair<int, const Instruction*>> met;
  for (const Instruction& instruction : code) {
    const auto found = loop.samples.find(instruction.address);
    if (found != loop.samples.end()) met.emplace_back(found->second, &instruction);
  }
  std::ranges::stable_sort(met, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string out;
  for (std::size_t i = 0; i < std::min(met.size(), kMostInstructions); ++i) {
    const auto& [number, instruction] = met[i];
    if (100 * number / loop.count < kLeastOfLoop) break;
    const std::string_view operands = instruction->operands.substr(0, instruction->operands.find(" <"));
    out += fmt::format("{}{}{}{} {} %", i == 0 ? "; most samples at: " : "; ", instruction->name,
                       operands.empty() ? "" : " ", operands.substr(0, kLongestOperands), 100 * number / loop.count);
  }
  return out;
}

std::string source_lines(const HotLoop& loop, const std::vector<Instruction>& code) {
  std::set<int> lines;
  for (const Instruction& instruction : code) {
    const bool inside = instruction.address >= loop.span.begin && instruction.address <= loop.span.end;
    if (inside && instruction.line > 0) lines.insert(instruction.line);
  }
  const std::string text = base::lines_text(lines);
  return text.empty() ? text : text + "; ";
}

}  // namespace

std::vector<model::ProfileItem> describe_hot_loops(std::string_view disassembly, std::string_view with_lines,
                                                   const evaluation::CodeSamples& samples) {
  if (samples.count() < kLeastSamples) return {};
  std::vector<Instruction> code = read_code(disassembly);
  if (std::vector<Instruction> lined = read_code(with_lines); is_same_code(code, lined)) code = std::move(lined);
  std::vector<model::ProfileItem> out;
  const auto add = [&](std::string name, int count, std::string meaning) {
    const double share = 100.0 * count / samples.count();
    out.push_back({std::move(name), std::round(share), "% of the samples", std::move(meaning)});
  };
  for (const HotLoop& loop : hottest(code, samples)) {
    add(fmt::format("hot loop {}", out.size() + 1), loop.count,
        source_lines(loop, code) + "a turn: " + mix_text(mix_of(code, loop.span)) + instructions_text(loop, code));
  }
  for (const auto& [name, number] : samples.library) {
    if (number >= kLeastShare * samples.count()) add("in " + name, number, "in functions of this library");
  }
  return out;
}

}  // namespace accelopt::targets::cpu
