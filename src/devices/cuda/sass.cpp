// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/sass.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace accelopt::devices::cuda {
namespace {

constexpr std::size_t kMostInstructions = 1U << 16U;
constexpr std::size_t kMostBlocks = 4096;  ///< more, and the time that loops take to find could be felt
constexpr std::size_t kMostEdges = 16384;  ///< between blocks: likewise
constexpr int kMostPasses = 32;            ///< over the blocks: code of structured loops takes two or three
constexpr std::size_t kLongestName = 32;   ///< characters
constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

std::string_view without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// The text's next line, taken from its front.
std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

/// The part of the text that is the kernel's section; empty where there is none.
std::string_view section_of(std::string_view text, std::string_view kernel) {
  const std::string wanted = ".text." + std::string(kernel) + ",";
  const char* begin = nullptr;
  while (!text.empty()) {
    const std::string_view line = without_blanks(take_line(text));
    if (!line.starts_with(".section")) continue;
    if (begin != nullptr) return {begin, static_cast<std::size_t>(line.data() - begin)};
    if (without_blanks(line.substr(std::string_view(".section").size())).starts_with(wanted)) begin = text.data();
  }
  return begin == nullptr ? std::string_view() : std::string_view(begin, static_cast<std::size_t>(text.data() - begin));
}

/// `## File "/folder/kernel.cu", line 12`: the line where the file is the wanted one, else 0. The file's name is the
/// source's own to choose, so the last words count.
int line_of(std::string_view comment, std::string_view main_file) {
  constexpr std::string_view kWords = "\", line ";
  const auto at = comment.rfind(kWords);
  if (at == std::string_view::npos) return 0;
  const std::string_view path = comment.substr(0, at);
  if (path.substr(path.find_last_of("/\"") + 1) != main_file) return 0;
  int line = 0;
  const std::string_view digits = comment.substr(at + kWords.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), line);
  return std::max(line, 0);
}

std::string_view base_name(std::string_view name) {
  return name.substr(0, name.find('.'));
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

/// Labels in the operands: `(.L_x_1), or BRANCH_TARGETS .L_x_1,.L_x_2 of a jump through a register.
std::vector<std::string_view> labels_in(std::string_view operands) {
  std::vector<std::string_view> out;
  if (const auto at = operands.rfind("`("); at != std::string_view::npos) {
    const std::string_view label = operands.substr(at + 2);
    out.push_back(label.substr(0, label.find(')')));
  }
  constexpr std::string_view kTargets = "BRANCH_TARGETS ";
  const auto at = operands.find(kTargets);
  if (at == std::string_view::npos) return out;
  std::string_view rest = operands.substr(at + kTargets.size());
  rest = rest.substr(0, rest.find('"'));
  while (!rest.empty()) {
    const std::string_view label = rest.substr(0, rest.find(','));
    out.push_back(without_blanks(label));
    rest.remove_prefix(std::min(label.size() + 1, rest.size()));
  }
  return out;
}

/// Whether control never goes on with the next instruction.
bool ends_flow(const SassInstruction& instruction) {
  const std::string_view name = base_name(instruction.name);
  if (instruction.guarded) return false;
  if (is_one_of(name, {"EXIT", "RET", "KILL", "BRX", "BRXU", "JMX", "JMXU"})) return true;
  // With a predicate among its operands it is conditional, and so it is with a suffix: BRA.DIV, BRA.U UP0, ...
  return is_one_of(instruction.name, {"BRA", "JMP"}) && instruction.operands.starts_with("`(");
}

bool may_jump(const SassInstruction& instruction) {
  return is_one_of(base_name(instruction.name), {"BRA", "JMP", "BRX", "BRXU", "JMX", "JMXU", "CALL"});
}

/// "/*0050*/  @!P0 BRA `(.L_x_0) ;", without the address.
std::optional<SassInstruction> read_instruction(std::string_view line) {
  const auto end = line.find("*/");
  if (!line.starts_with("/*") || end == std::string_view::npos) return std::nullopt;
  std::string_view rest = without_blanks(line.substr(end + 2));
  if (const auto semicolon = rest.rfind(';'); semicolon != std::string_view::npos) rest = rest.substr(0, semicolon);
  SassInstruction out;
  if (rest.starts_with('@')) {
    out.guarded = true;
    rest = without_blanks(rest.substr(std::min(rest.find(' '), rest.size())));
  }
  const std::string_view name = rest.substr(0, rest.find(' '));
  const bool plain = !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || (c >= 'a' && c <= 'z');
  });
  if (!plain) return std::nullopt;
  out.name = name;
  out.operands = without_blanks(rest.substr(name.size()));
  return out;
}

/// Fills in where jumps go. False: of some it is not known.
bool resolve_jumps(const std::map<std::string_view, std::size_t>& labels, std::vector<SassInstruction>& code) {
  for (SassInstruction& instruction : code) {
    if (!may_jump(instruction)) continue;
    const bool call = base_name(instruction.name) == "CALL";
    const auto names = labels_in(instruction.operands);
    for (const std::string_view name : names) {
      const auto found = labels.find(name);
      const bool known = found != labels.end() && found->second < code.size();
      if (!known && !call) return false;
      if (known) instruction.jumps.push_back(found->second);
    }
    if (names.empty() && !call) return false;
  }
  return true;
}

/// Instructions without a jump into or out of their middle.
struct Block {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<std::size_t> next;      ///< blocks
  std::vector<std::size_t> previous;  ///< likewise
};

/// None where there are too many of them, or of jumps.
std::vector<Block> blocks_of(const std::vector<SassInstruction>& code) {
  std::vector<char> leads(code.size() + 1, 0);
  leads[0] = leads[code.size()] = 1;
  for (std::size_t i = 0; i < code.size(); ++i) {
    for (const std::size_t target : code[i].jumps) leads[target] = 1;
    if (may_jump(code[i]) || ends_flow(code[i])) leads[i + 1] = 1;
  }
  std::vector<Block> out;
  std::vector<std::size_t> block_at(code.size() + 1, kNowhere);
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (leads[i] != 0) {
      block_at[i] = out.size();
      out.push_back({i, i, {}, {}});
    }
    out.back().end = i + 1;
  }
  if (out.size() > kMostBlocks) return {};
  std::size_t edges = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const SassInstruction& last = code[out[i].end - 1];
    for (const std::size_t target : last.jumps) out[i].next.push_back(block_at[target]);
    if (!ends_flow(last) && i + 1 < out.size()) out[i].next.push_back(i + 1);
    for (const std::size_t next : out[i].next) out[next].previous.push_back(i);
    edges += out[i].next.size();
    if (edges > kMostEdges) return {};
  }
  return out;
}

/// Places of the blocks in an order in which every block comes before those that only it leads to; kNowhere: it cannot
/// be reached.
std::vector<std::size_t> places_in_flow(const std::vector<Block>& blocks) {
  std::vector<std::size_t> finished;
  std::vector<char> met(blocks.size(), 0);
  std::vector<std::pair<std::size_t, std::size_t>> path{{0, 0}};  // a block, and how many of its next ones were met
  met[0] = 1;
  while (!path.empty()) {
    auto& [block, number] = path.back();
    if (number == blocks[block].next.size()) {
      finished.push_back(block);
      path.pop_back();
      continue;
    }
    const std::size_t next = blocks[block].next[number++];
    if (met[next] == 0) path.emplace_back(next, 0);
    met[next] = 1;
  }
  std::vector<std::size_t> out(blocks.size(), kNowhere);
  for (std::size_t i = 0; i < finished.size(); ++i) out[finished[i]] = finished.size() - 1 - i;
  return out;
}

/// The immediate dominator of every block, the first one's being itself; none where they are not found soon.
/// @source Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", 2001
std::vector<std::size_t> dominators_of(const std::vector<Block>& blocks, const std::vector<std::size_t>& places) {
  std::vector<std::size_t> order(blocks.size(), kNowhere);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (places[i] != kNowhere) order[places[i]] = i;
  }
  std::vector<std::size_t> out(blocks.size(), kNowhere);
  out[0] = 0;
  bool changed = true;
  for (int pass = 0; changed; ++pass) {
    if (pass == kMostPasses) return {};
    changed = false;
    for (const std::size_t block : order) {
      if (block == kNowhere || block == 0) continue;
      std::size_t common = kNowhere;
      for (std::size_t other : blocks[block].previous) {
        if (out[other] == kNowhere) continue;
        while (common != kNowhere && common != other) {
          std::size_t& later = places[common] > places[other] ? common : other;
          later = out[later];
        }
        common = other;
      }
      changed = changed || out[block] != common;
      out[block] = common;
    }
  }
  return out;
}

bool dominates(std::size_t one, std::size_t other, const std::vector<std::size_t>& dominators,
               const std::vector<std::size_t>& places) {
  while (places[other] > places[one]) other = dominators[other];
  return one == other;
}

/// The blocks from which the end of the loop is reached without its head, and the head.
std::vector<char> body_of(const std::vector<Block>& blocks, std::size_t head, const std::vector<std::size_t>& places,
                          const std::vector<std::size_t>& ends) {
  std::vector<char> out(blocks.size(), 0);
  out[head] = 1;
  std::vector<std::size_t> open = ends;
  while (!open.empty()) {
    const std::size_t block = open.back();
    open.pop_back();
    if (out[block] != 0 || places[block] == kNowhere) continue;
    out[block] = 1;
    open.insert(open.end(), blocks[block].previous.begin(), blocks[block].previous.end());
  }
  return out;
}

}  // namespace

SassKernel read_sass(std::string_view text, std::string_view kernel, std::string_view main_file) {
  SassKernel out;
  std::map<std::string_view, std::size_t> labels;
  int line_number = 0;
  for (std::string_view rest = section_of(text, kernel); !rest.empty();) {
    const std::string_view line = without_blanks(take_line(rest));
    if (line.starts_with("//## File ")) {
      line_number = line_of(line, main_file);
    } else if (auto instruction = read_instruction(line)) {
      if (out.code.size() == kMostInstructions) return {};
      instruction->line = line_number;
      out.code.push_back(std::move(*instruction));
    } else if (line.starts_with("/*")) {
      return {};  // some other kind of text
    } else if (line.ends_with(':') && !labels.emplace(line.substr(0, line.size() - 1), out.code.size()).second) {
      return {};
    }
  }
  out.certain = resolve_jumps(labels, out.code);
  return out;
}

std::vector<SassLoop> loops_of(const SassKernel& kernel) {
  if (!kernel.certain || kernel.code.empty()) return {};
  const std::vector<Block> blocks = blocks_of(kernel.code);
  if (blocks.empty()) return {};
  const std::vector<std::size_t> places = places_in_flow(blocks);
  const std::vector<std::size_t> dominators = dominators_of(blocks, places);
  if (dominators.empty()) return {};
  std::map<std::size_t, std::vector<std::size_t>> ends_by_head;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (const std::size_t next : blocks[i].next) {
      if (places[i] == kNowhere || places[next] > places[i]) continue;
      if (!dominates(next, i, dominators, places)) return {};
      ends_by_head[next].push_back(i);
    }
  }
  std::vector<int> depth(blocks.size(), 0);
  std::vector<std::size_t> smallest(blocks.size(), 0);  // blocks of the innermost loop around a block
  std::vector<std::size_t> innermost(blocks.size(), kNowhere);
  for (const auto& [head, ends] : ends_by_head) {
    const std::vector<char> body = body_of(blocks, head, places, ends);
    const auto size = static_cast<std::size_t>(std::ranges::count(body, 1));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (body[i] == 0) continue;
      ++depth[i];
      if (innermost[i] != kNowhere && smallest[i] <= size) continue;
      innermost[i] = head;
      smallest[i] = size;
    }
  }
  std::vector<SassLoop> out;
  for (const auto& [head, ends] : ends_by_head) {
    SassLoop& loop = out.emplace_back();
    loop.depth = depth[head];
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (innermost[i] != head) continue;
      for (std::size_t at = blocks[i].begin; at < blocks[i].end; ++at) loop.own.push_back(at);
    }
  }
  return out;
}

}  // namespace accelopt::devices::cuda
