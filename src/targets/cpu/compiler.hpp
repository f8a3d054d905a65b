// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/solution.hpp"
#include "sandbox/run.hpp"

namespace accelopt::targets::cpu {

/// A C and C++ compiler of this machine.
struct Compiler {
  std::string c;     ///< absolute path
  std::string cpp;   ///< absolute path
  std::string name;  ///< "g++ 12.2.0"
  bool clang = false;
  bool keeps_branches = false;    ///< the assembler can keep branches within 32-byte boundaries
  std::filesystem::path cache{};  ///< where what it made is kept, and found again; empty: nowhere
};

/// A program's path: the name itself where it has a slash, else the first of that name in the folders of `search_path`.
/// Empty: none that can be run.
std::string find_program(const std::string& name, std::string_view search_path);

/// Finds "g++" (with gcc) or "clang++" (with clang) in the folders of `search_path` (colons between them); empty takes
/// the first that there is.
/// `cache`: where what it makes is kept; empty: nowhere.
/// @error unsupported: none is installed; the message names the package.
base::Result<Compiler> find_compiler(const std::string& wanted, const std::string& search_path,
                                     const std::filesystem::path& cache = {});

/// Flags of every kernel build, in order, without those of `//@ flags`.
std::vector<std::string> compile_flags(const Compiler& compiler, model::Language language, int threads);

/// One run of the compiler in `folder`, which it may write; confined, with limits on time and memory.
struct CompileJob {
  std::filesystem::path folder;
  std::vector<std::string> arguments;
  bool cpp = true;
  std::vector<int> cores;
  std::vector<std::filesystem::path> readable{};  ///< besides the toolchain and `folder`
};
/// What the same compiler made of the same files before is taken from its cache.
/// @error as sandbox::run.
base::Result<sandbox::RunResult> compile(const Compiler& compiler, const CompileJob& job, sandbox::PauseGate* gate,
                                         const std::stop_token& stop);

}  // namespace accelopt::targets::cpu
