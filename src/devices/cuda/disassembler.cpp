// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/disassembler.hpp"

#include <cstddef>
#include <utility>

#include "base/files.hpp"
#include "sandbox/landlock.hpp"
#include "sandbox/probe.hpp"
#include "sandbox/run.hpp"

namespace accelopt::devices::cuda {
namespace {

constexpr std::size_t kMostDisassembly = std::size_t{16} << 20;  ///< bytes; cubins of large kernels make 1 MiB
constexpr std::uint64_t kDisassemblerMemory = std::uint64_t{2} << 30;

}  // namespace

base::Result<std::string> disassemble(const std::string& program, const std::string& cubin, const std::stop_token& stop,
                                      std::chrono::milliseconds limit) {
  static const auto filter = sandbox::compile_filter(sandbox::FilterKind::compile);
  TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-disassembly"));
  const std::filesystem::path file = folder.path() / "kernel.cubin";
  TRY(base::write_file(file, cubin));
  sandbox::SpawnOptions options;
  options.program = program;
  options.arguments = {"-c", "-g", file.string()};
  options.environment = {"LC_ALL=C", "PATH=/usr/bin:/bin"};
  options.limits = {.address_space_bytes = kDisassemblerMemory, .no_files = true, .descriptors = 64};
  options.filter = filter ? &*filter : nullptr;
  base::FileDescriptor rules;
  if (sandbox::capabilities().landlock > 0) {
    TRY_ASSIGN(rules, sandbox::make_rule_set({{"/bin", "/usr/bin", "/lib", "/lib64", "/usr/lib", "/usr/lib64",
                                               "/nix/store", "/etc/ld.so.cache", program, folder.path()},
                                              {"/dev/null"}}));
    options.file_rules = &rules;
  }
  TRY_ASSIGN(auto ran, sandbox::run(std::move(options), {limit, kMostDisassembly}, nullptr, stop));
  const bool whole = !ran.timed_out && ran.state.exited && ran.state.code == 0 && ran.output.size() < kMostDisassembly;
  if (!whole) return base::fail(base::ErrorCode::unsupported, "nvdisasm gave no whole disassembly of the kernel");
  return std::move(ran.output);
}

}  // namespace accelopt::devices::cuda
