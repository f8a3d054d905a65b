// SPDX-License-Identifier: Apache-2.0
// What the innermost loops of a kernel are made of, read from its machine code.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/evaluation.hpp"
#include "targets/cpu/compiler.hpp"

namespace accelopt::targets::cpu {

/// What objdump prints of a shared object, confined as a compiler is. @error unsupported: there is no objdump, or it
/// fails.
base::Result<std::string> disassemble(const Compiler& compiler, const std::string& search_path,
                                      const std::string& object, const std::stop_token& stop);

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

/// Reads `objdump -d --no-show-raw-insn` of an x86-64 object. Innermost loops only, the likeliest to be hot first: the
/// deepest, then those with the most floating-point work. A loop is a backward branch within 16 KiB.
std::vector<LoopMix> loops_of(std::string_view disassembly);

/// The first loop that computes, as profile items; empty when there is none.
std::vector<model::ProfileItem> describe(const std::vector<LoopMix>& loops);

}  // namespace accelopt::targets::cpu
