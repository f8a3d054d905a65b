// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace accelopt::targets::cpu {

/// What a compiled file holds that decides whether it may run.
struct ObjectFacts {
  std::vector<std::string> writable;  ///< variables that keep values between calls (names as in the source)
  std::vector<std::string> thread_local_variables;
  bool runs_at_load = false;             ///< constructors or destructors of the file
  bool indirect_functions = false;       ///< chosen by code that runs while loading
  std::vector<std::string> sections;     ///< that compilers do not make, and that a linker could take for its own
  std::vector<std::string> defined;      ///< global symbols that it defines
  std::vector<std::string> undefined{};  ///< symbols that others have to define
  std::int64_t code_bytes = 0;           ///< of its executable sections
};

/// Reads a 64-bit little-endian ELF object. @error parse: it is not one, or it is damaged.
base::Result<ObjectFacts> read_object(std::string_view bytes);

/// Why a candidate's object may not run: "" when it may. `entry` is the glue's symbol, which it must not define.
std::string refusal(const ObjectFacts& facts, std::string_view entry);

}  // namespace accelopt::targets::cpu
