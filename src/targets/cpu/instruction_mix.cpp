// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/instruction_mix.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "base/files.hpp"

namespace accelopt::targets::cpu {
namespace {

constexpr std::uint64_t kLongestLoop = 16 << 10;  // bytes

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (problem != std::errc{} || end == text.data()) return std::nullopt;
  return value;
}

/// "  4010f0:\tvfmadd231ps (%rax),%ymm1,%ymm0"
std::optional<Instruction> instruction_of(std::string_view line) {
  const std::size_t colon = line.find(":\t");
  const std::size_t begin = line.find_first_not_of(' ');
  if (colon == std::string_view::npos || begin > colon) return std::nullopt;
  const auto address = hexadecimal(line.substr(begin, colon - begin));
  if (!address) return std::nullopt;
  Instruction out{*address, {}, {}, std::nullopt, 0};
  std::string_view text = line.substr(colon + 2);
  for (const std::string_view prefix : {"bnd ", "notrack ", "rep ", "repz ", "lock ", "data16 ", "cs "}) {
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  }
  const std::size_t space = text.find(' ');
  out.name = text.substr(0, space);
  if (space != std::string_view::npos) out.operands = text.substr(text.find_first_not_of(' ', space));
  if (const std::size_t note = out.operands.find('#'); note != std::string_view::npos)
    out.operands = out.operands.substr(0, note);
  if (out.name.starts_with('j')) out.target = hexadecimal(out.operands);
  return out;
}

/// "/folder/kernel.cpp:12" and "/folder/kernel.cpp:12 (discriminator 3)"; 0 of a file beside the kernel's own.
std::optional<int> source_line(std::string_view line) {
  if (!line.starts_with('/')) return std::nullopt;
  const std::size_t colon = line.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view file = line.substr(0, colon);
  int number = 0;
  const std::string_view digits = line.substr(colon + 1);
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (problem != std::errc{}) return std::nullopt;
  return file.ends_with("/kernel.cpp") || file.ends_with("/kernel.c") ? number : 0;
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](auto beginning) { return text.starts_with(beginning); });
}

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](auto ending) { return text.ends_with(ending); });
}

/// The name without the v of the AVX forms.
std::string_view plain(std::string_view name) {
  return name.size() > 3 && name.starts_with('v') ? name.substr(1) : name;
}

enum class Kind { fused, division, arithmetic, shuffle, call, other };

Kind kind_of(std::string_view name) {
  const std::string_view base = plain(name);
  if (name.starts_with("call")) return Kind::call;
  if (starts_with_any(base, {"fmadd", "fmsub", "fnmadd", "fnmsub", "dpbf16", "dpbusd"})) return Kind::fused;
  const bool floating = ends_with_any(base, {"ps", "pd", "ss", "sd"});
  if (floating && starts_with_any(base, {"div", "sqrt"})) return Kind::division;
  if (starts_with_any(
          base, {"shuf", "perm", "unpck", "broadcast", "insert", "extract", "blend", "movddup", "movsldup", "movshdup",
                 "pshuf", "punpck", "pblend", "gather", "palignr", "pinsr", "pextr", "movhlps", "movlhps"})) {
    return Kind::shuffle;
  }
  if (floating && starts_with_any(base, {"add", "sub", "mul", "min", "max", "cmp", "round", "rcp", "rsqrt", "hadd",
                                         "and", "or", "xor", "ucomi", "comi"})) {
    return Kind::arithmetic;
  }
  return base.starts_with("cvt") ? Kind::arithmetic : Kind::other;
}

int width_of(const Instruction& instruction) {
  if (ends_with_any(instruction.name, {"ss"})) return 32;
  if (ends_with_any(instruction.name, {"sd"})) return 64;
  if (instruction.operands.find("%zmm") != std::string_view::npos) return 512;
  return instruction.operands.find("%ymm") != std::string_view::npos ? 256 : 128;
}

/// In AT&T order the last operand is the one that is written.
void count_memory(const Instruction& instruction, LoopMix& mix) {
  const std::size_t memory = instruction.operands.find('(');
  if (memory == std::string_view::npos || starts_with_any(instruction.name, {"lea", "nop", "prefetch", "j", "call"}))
    return;
  const std::size_t close = instruction.operands.find(')', memory);
  const bool last = close == std::string_view::npos || instruction.operands.find(',', close) == std::string_view::npos;
  const bool only_reads = starts_with_any(instruction.name, {"cmp", "test", "ucomi", "comi", "vucomi", "vcomi"});
  const bool moves = starts_with_any(plain(instruction.name), {"mov", "set"});
  if (!last || only_reads) {
    ++mix.loads;
    return;
  }
  ++mix.stores;
  if (!moves && !starts_with_any(plain(instruction.name), {"extract", "pextr"})) ++mix.loads;  // add %eax,(%rdi)
}

void count(const Instruction& instruction, LoopMix& mix) {
  ++mix.instructions;
  count_memory(instruction, mix);
  const Kind kind = kind_of(instruction.name);
  if (kind == Kind::shuffle) ++mix.shuffles;
  if (kind == Kind::call) ++mix.calls;
  if (kind != Kind::fused && kind != Kind::arithmetic && kind != Kind::division) return;
  (kind == Kind::fused ? mix.fused : kind == Kind::division ? mix.divisions : mix.arithmetic) += 1;
  const int bits = width_of(instruction);
  mix.vector_bits = std::max(mix.vector_bits, bits);
  mix.packed += bits >= 128 ? 1 : 0;
}

bool contains(const LoopSpan& outer, const LoopSpan& inner) {
  return outer.begin <= inner.begin && inner.end <= outer.end && (outer.begin != inner.begin || outer.end != inner.end);
}

/// The loop that must be hot: the only one that computes, or the only one that does so on vectors, as a compiler makes
/// one for the bulk and scalar ones for the rest. nullptr: the code alone does not tell.
const LoopMix* only_hot(const std::vector<LoopMix>& loops) {
  const auto computes = [](const LoopMix& loop) { return loop.floating() > 0; };
  const auto on_vectors = [](const LoopMix& loop) { return loop.packed > 0; };
  if (std::ranges::count_if(loops, computes) == 1) return &*std::ranges::find_if(loops, computes);
  if (std::ranges::count_if(loops, on_vectors) == 1) return &*std::ranges::find_if(loops, on_vectors);
  return nullptr;
}

}  // namespace

base::Result<std::string> disassemble(const Compiler& compiler, const std::string& search_path,
                                      const std::string& object, Lines lines, const std::stop_token& stop) {
  const std::string tool = find_program("objdump", search_path);
  if (tool.empty()) return base::fail(base::ErrorCode::unsupported, "objdump is not installed; install binutils");
  TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-code"));
  TRY(base::write_file(folder.path() / "kernel.so", object));
  Compiler disassembler = compiler;
  disassembler.cpp = tool;
  std::vector<std::string> arguments{"-d", "--no-show-raw-insn", "--section=.text", "--section=.text.hot"};
  if (lines == Lines::shown) arguments.emplace_back("-l");
  arguments.emplace_back("kernel.so");
  TRY_ASSIGN(const auto ran, compile(disassembler, {folder.path(), std::move(arguments), true, {}}, nullptr, stop));
  if (!ran.state.exited || ran.state.code != 0)
    return base::fail(base::ErrorCode::unsupported, "objdump fails: " + ran.output);
  return ran.output;
}

std::vector<LoopSpan> spans_of(const std::vector<Instruction>& code) {
  std::map<std::uint64_t, std::uint64_t> ends;
  for (const Instruction& instruction : code) {
    if (!instruction.target || *instruction.target > instruction.address) continue;
    if (instruction.address - *instruction.target > kLongestLoop) continue;
    std::uint64_t& end = ends[*instruction.target];
    end = std::max(end, instruction.address);
  }
  std::vector<LoopSpan> out;
  for (const auto& [begin, end] : ends) out.push_back({begin, end});
  return out;
}

std::vector<Instruction> read_code(std::string_view disassembly) {
  std::vector<Instruction> code;
  int line_number = 0;
  while (!disassembly.empty()) {
    const std::size_t end = std::min(disassembly.find('\n'), disassembly.size());
    const std::string_view line = disassembly.substr(0, end);
    if (const auto read = instruction_of(line)) {
      code.push_back(*read);
      code.back().line = line_number;
    } else if (const auto source = source_line(line)) {
      line_number = *source;
    }
    disassembly.remove_prefix(std::min(end + 1, disassembly.size()));
  }
  return code;
}

LoopMix mix_of(const std::vector<Instruction>& code, const LoopSpan& span) {
  LoopMix mix;
  for (const Instruction& instruction : code) {
    if (instruction.address >= span.begin && instruction.address <= span.end) count(instruction, mix);
  }
  return mix;
}

std::vector<LoopMix> loops_of(std::string_view disassembly) {
  const std::vector<Instruction> code = read_code(disassembly);
  const std::vector<LoopSpan> spans = spans_of(code);
  std::vector<LoopMix> out;
  for (const LoopSpan& span : spans) {
    const auto inside = [&](const LoopSpan& other) { return contains(span, other); };
    if (std::any_of(spans.begin(), spans.end(), inside)) continue;
    LoopMix mix = mix_of(code, span);
    mix.depth += static_cast<int>(
        std::count_if(spans.begin(), spans.end(), [&](const LoopSpan& other) { return contains(other, span); }));
    out.push_back(mix);
  }
  std::stable_sort(out.begin(), out.end(), [](const LoopMix& a, const LoopMix& b) {
    return std::tuple(a.floating() > 0, a.depth, a.floating()) > std::tuple(b.floating() > 0, b.depth, b.floating());
  });
  return out;
}

std::vector<model::ProfileItem> describe(const std::vector<LoopMix>& loops) {
  const LoopMix* const sure = only_hot(loops);
  if (sure == nullptr) return {};
  const LoopMix& loop = *sure;
  std::vector<model::ProfileItem> out;
  const auto add = [&](const char* name, int value, const char* unit, const std::string& meaning) {
    out.push_back({name, static_cast<double>(value), unit, meaning});
  };
  add("inner loop", loop.instructions, "instructions",
      "one turn of the only innermost loop that computes (beside scalar rests), read from the machine code; the next "
      "lines are of it too");
  add("inner loop: fused multiply-adds", loop.fused, "instructions", "multiply and add at once");
  add("inner loop: other arithmetic", loop.arithmetic, "instructions",
      "floating-point adds, multiplies, compares, conversions");
  if (loop.divisions > 0)
    add("inner loop: divisions", loop.divisions, "instructions", "floating-point divisions and roots");
  add("inner loop: vector share", 100 * loop.packed / loop.floating(), "%",
      "floating-point instructions on whole vectors");
  add("inner loop: vector width", loop.vector_bits, "bits", "widest floating-point instruction");
  add("inner loop: loads", loop.loads, "instructions", "instructions that read memory");
  add("inner loop: stores", loop.stores, "instructions", "instructions that write memory");
  if (loop.shuffles > 0)
    add("inner loop: shuffles", loop.shuffles, "instructions", "permutes, broadcasts, inserts, gathers");
  if (loop.calls > 0) add("inner loop: calls", loop.calls, "instructions", "function calls");
  return out;
}

}  // namespace accelopt::targets::cpu
