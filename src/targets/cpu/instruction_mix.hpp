// SPDX-License-Identifier: Apache-2.0
// What the innermost loops of a kernel are made of, read from its machine code.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/evaluation.hpp"
#include "targets/cpu/compiler.hpp"

namespace accelopt::targets::cpu {

enum class Lines { hidden, shown };  ///< of the source, before the instructions that were made of them

/// What objdump prints of a shared object, confined as a compiler is. @error unsupported: there is no objdump, or it
/// fails.
base::Result<std::string> disassemble(const Compiler& compiler, const std::string& search_path,
                                      const std::string& object, Lines lines, const std::stop_token& stop);

/// One instruction of a disassembly, whose text it points into.
struct Instruction {
  std::uint64_t address = 0;
  std::string_view name;
  std::string_view operands;
  std::optional<std::uint64_t> target;  ///< of a jump inside the object
  int line = 0;                         ///< of the kernel's main file; 0: not known, or of another file
};

/// A backward branch within 16 KiB.
struct LoopSpan {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  ///< address of the branch back
};

std::vector<Instruction> read_code(std::string_view disassembly);
/// Loops by their head; of several branches back to one head the last one ends it.
std::vector<LoopSpan> spans_of(const std::vector<Instruction>& code);

/// One innermost loop: how many instructions of each kind one turn of it has.
struct LoopMix {
  int instructions = 0;
  int depth = 1;        ///< loops around it, itself included
  int vector_bits = 0;  ///< of the widest floating-point instruction; 0: none
  int fused = 0;        ///< fused multiply-adds
  int arithmetic = 0;   ///< other floating-point arithmetic: add, multiply, min, max, compare, convert
  int divisions = 0;    ///< floating-point divisions and square roots
  int packed = 0;       ///< of fused, arithmetic and divisions: those on whole vectors
  int loads = 0;        ///< instructions that read memory
  int stores = 0;       ///< instructions that write memory
  int shuffles = 0;     ///< permutes, broadcasts, inserts, extracts, blends, gathers
  int calls = 0;
  [[nodiscard]] int floating() const { return fused + arithmetic + divisions; }
};

/// Of all instructions in the loop, inner loops included; the depth is not known.
LoopMix mix_of(const std::vector<Instruction>& code, const LoopSpan& span);

/// Reads `objdump -d --no-show-raw-insn` of an x86-64 object. Innermost loops only, the likeliest to be hot first: the
/// deepest, then those with the most floating-point work.
std::vector<LoopMix> loops_of(std::string_view disassembly);

/// The loop that must be hot, as profile items: the only one that computes, or that does so on vectors. Empty when
/// there is none, or more than one.
std::vector<model::ProfileItem> describe(const std::vector<LoopMix>& loops);

}  // namespace accelopt::targets::cpu
