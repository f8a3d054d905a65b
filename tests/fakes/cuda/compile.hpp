// SPDX-License-Identifier: Apache-2.0
// Kernels for the fake driver: their text, built by g++ with shim.hpp. ACCELOPT_TEST_CACHE names the folder that keeps
// what was built, ACCELOPT_TESTS_FOLDER this tree.
#pragma once

#include <filesystem>
#include <regex>
#include <string>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "sandbox/run.hpp"

namespace accelopt::fakes {

/// What the fake driver loads as a cubin: the kernels of `text` that are extern "C", behind `header`.
/// @param definition an option of g++, "-Dreal=float"; empty: none
/// @error internal: it does not build, with what g++ printed; io.
inline base::Result<std::string> compile_cubin(const std::string& text, const std::string& header,
                                               const std::string& definition) {
  std::string source = "#include \"fakes/cuda/shim.hpp\"\n" + header + text + "\n";
  const std::regex kernel(R"re(extern "C" __global__ void (\w+)\()re");
  for (std::sregex_iterator found(text.begin(), text.end(), kernel), end; found != end; ++found) {
    source += "ACCELOPT_FAKE_KERNEL(" + (*found)[1].str() + ")\n";
  }
  // Nothing else of the module lies behind its variables, up to the next multiple of 256 bytes.
  for (const char* section : {".nv.global", ".nv.constant3"})
    source += "asm(\".section " + std::string(section) + ",\\\"aw\\\"\\n.balign 256\\n.previous\");\n";
  // What does not change from run to run is compiled once.
  const std::filesystem::path cache = ACCELOPT_TEST_CACHE;
  std::string key = definition + "\n" + source;
  for (const char* file : {"shim.hpp", "fibers.hpp", "tensor_map.hpp"}) {
    TRY_ASSIGN(const std::string shim, base::read_file(ACCELOPT_TESTS_FOLDER "/fakes/cuda/" + std::string(file)));
    key += shim;
  }
  const auto known = cache / ("fake-cuda-" + base::sha256_hex(key).substr(0, 24) + ".so");
  if (auto compiled = base::read_file(known)) return compiled;
  TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-fake-cuda"));
  TRY(base::write_file(folder.path() / "kernel.cpp", source));
  sandbox::SpawnOptions options;
  options.program = "/usr/bin/g++";
  options.environment = {"PATH=/usr/bin:/bin"};
  options.directory = folder.path().string();
  options.own_namespaces = false;
  options.arguments = {"-std=c++20",
                       "-O1",
                       "-w",
                       "-ffp-contract=off",
                       "-fno-gnu-unique",
                       "-fno-toplevel-reorder",
                       "-shared",
                       "-fPIC",
                       "kernel.cpp",
                       "-o",
                       "kernel.so",
                       "-I" ACCELOPT_TESTS_FOLDER};
  if (!definition.empty()) options.arguments.push_back(definition);
  TRY_ASSIGN(const auto ran, sandbox::run(options, {}, nullptr, {}));
  if (!ran.state.exited || ran.state.code != 0) return base::fail(base::ErrorCode::internal, ran.output);
  TRY_ASSIGN(std::string compiled, base::read_file(folder.path() / "kernel.so"));
  TRY(base::make_folders(cache));
  TRY(base::write_file(known, compiled));
  return compiled;
}

}  // namespace accelopt::fakes
