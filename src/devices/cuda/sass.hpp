// SPDX-License-Identifier: Apache-2.0
// The text that nvdisasm prints of a cubin, and the loops in it. Read as hostile text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace accelopt::devices::cuda {

struct SassInstruction {
  std::string name;                ///< "LDG.E.128"
  std::string_view operands;       ///< of the text that was read
  int line = 0;                    ///< of the source's main file; 0: unknown
  bool guarded = false;            ///< by a predicate: it may do nothing
  std::vector<std::size_t> jumps;  ///< instructions that it may go on with, besides the next one
};

/// The code of one kernel as it stands in the text.
struct SassKernel {
  std::vector<SassInstruction> code;
  bool certain = false;  ///< whether all jumps are known
};

/// Reads what `nvdisasm -c -g` printed of the kernel; its code is empty where it is not there, or longer than is read.
/// Views into `text` are kept. @param main_file lines of this file are told, of no other
SassKernel read_sass(std::string_view text, std::string_view kernel, std::string_view main_file);

struct SassLoop {
  std::vector<std::size_t> own;  ///< its instructions without those of inner loops, in order
  int depth = 1;                 ///< loops around them, itself included
};

/// The natural loops of the code that can be reached from its first instruction, in the order of their heads; none
/// where some jump is not known, or where a loop is entered in several places.
std::vector<SassLoop> loops_of(const SassKernel& kernel);

}  // namespace accelopt::devices::cuda
