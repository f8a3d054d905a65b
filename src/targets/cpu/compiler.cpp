// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/compiler.hpp"

#include <unistd.h>

#include <array>
#include <chrono>

#include "sandbox/landlock.hpp"
#include "sandbox/probe.hpp"
#include "syntax/machine_failure.hpp"
#include "targets/cpu/compile_cache.hpp"

namespace accelopt::targets::cpu {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kCompileWall{60'000};
constexpr std::uint64_t kCompileCpuSeconds = 45;
constexpr std::uint64_t kCompileMemoryBytes = 6ULL << 30;
constexpr std::uint64_t kCompileFileBytes = 64ULL << 20;
constexpr std::uint64_t kCompileProcesses = 64;

/// Toolchains live under these; nothing else can be read by a compiler.
sandbox::FileRules compiler_files(const Compiler& compiler, const CompileJob& job) {
  sandbox::FileRules rules{{"/usr", "/lib", "/lib64", "/bin", "/opt", "/etc/ld.so.cache", "/etc/alternatives"},
                           {job.folder}};
  rules.readable.insert(rules.readable.end(), job.readable.begin(), job.readable.end());
  rules.readable.emplace_back("/nix/store");
  rules.readable.push_back(fs::path(compiler.cpp).parent_path().parent_path());
  rules.readable.push_back(fs::path(compiler.c).parent_path().parent_path());
  rules.writable.emplace_back("/dev/null");
  return rules;
}

base::Result<std::string> output_of(const Compiler& compiler, const fs::path& folder,
                                    std::vector<std::string> arguments) {
  TRY_ASSIGN(const auto ran, compile(compiler, {folder, std::move(arguments), true, {}}, nullptr, {}));
  if (!ran.state.exited || ran.state.code != 0) {
    if (const auto failure = syntax::machine_failure(ran.output)) return tl::make_unexpected(failure->error());
    return base::fail(base::ErrorCode::unsupported, compiler.cpp + " does not work: " + ran.output);
  }
  return ran.output;
}

base::Result<Compiler> examine(Compiler compiler) {
  TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-compiler"));
  TRY_ASSIGN(const std::string version, output_of(compiler, folder.path(), {"-dumpfullversion", "-dumpversion"}));
  compiler.name = fs::path(compiler.cpp).filename().string() + " " + version.substr(0, version.find('\n'));
  TRY(base::write_file(folder.path() / "probe.cpp", "int probe;\n"));
  if (compiler.clang) return compiler;
  const auto kept =
      output_of(compiler, folder.path(), {"-c", "-Wa,-mbranches-within-32B-boundaries", "probe.cpp", "-o", "probe.o"});
  if (!kept && kept.error().code != base::ErrorCode::unsupported) return tl::make_unexpected(kept.error());
  compiler.keeps_branches = kept.has_value();
  return compiler;
}

}  // namespace

std::string find_program(const std::string& name, std::string_view search_path) {
  std::string_view rest = search_path;
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : std::string();
  while (!rest.empty()) {
    const auto end = rest.find(':');
    const fs::path candidate = fs::path(rest.substr(0, end)) / name;
    if (candidate.is_absolute() && access(candidate.c_str(), X_OK) == 0) return candidate.string();
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return {};
}

base::Result<Compiler> find_compiler(const std::string& wanted, const std::string& search_path, const fs::path& cache) {
  const std::array<std::string, 2> known{"g++", "clang++"};
  for (const std::string& name : known) {
    if (!wanted.empty() && fs::path(wanted).filename().string().find(name) == std::string::npos) continue;
    const std::string chosen = wanted.empty() ? name : wanted;
    Compiler compiler;
    compiler.cache = cache;
    compiler.clang = name == "clang++";
    compiler.cpp = find_program(chosen, search_path);
    std::string c_name = chosen;
    c_name.replace(c_name.rfind(name), name.size(), compiler.clang ? "clang" : "gcc");
    compiler.c = find_program(c_name, search_path);
    if (!compiler.cpp.empty() && !compiler.c.empty()) return examine(compiler);
  }
  return base::fail(base::ErrorCode::unsupported,
                    (wanted.empty() ? "no C++ compiler was found" : "the compiler \"" + wanted + "\" was not found") +
                        std::string("; install one, e.g. apt-get install g++ (or clang), or name another"));
}

std::vector<std::string> compile_flags(const Compiler& compiler, model::Language language, int threads) {
  std::vector<std::string> flags{"-O3",
                                 "-march=native",
                                 "-fPIC",
                                 "-fno-ident",
                                 "-falign-functions=64",
                                 "-falign-loops=32",
                                 "-fvisibility=hidden",
                                 "-w",
                                 language == model::Language::c ? "-std=gnu17" : "-std=gnu++20"};
  if (compiler.keeps_branches) flags.emplace_back("-Wa,-mbranches-within-32B-boundaries");
  if (!compiler.clang) {
    for (const char* flag : {"-fno-semantic-interposition", "-frandom-seed=accelopt", "-fdiagnostics-color=never",
                             "-fmax-errors=12", "-ftemplate-depth=256", "-fmax-include-depth=64"}) {
      if (language == model::Language::c && std::string_view(flag).starts_with("-ftemplate")) continue;
      flags.emplace_back(flag);
    }
  } else {
    for (const char* flag : {"-fno-color-diagnostics", "-ferror-limit=12", "-mbranches-within-32B-boundaries"}) {
      flags.emplace_back(flag);
    }
  }
  if (threads > 1) flags.emplace_back("-fopenmp");
  return flags;
}

namespace {

base::Result<sandbox::RunResult> compile_now(const Compiler& compiler, const CompileJob& job, sandbox::PauseGate* gate,
                                             const std::stop_token& stop) {
  static const auto filter = sandbox::compile_filter(sandbox::FilterKind::compile);
  sandbox::SpawnOptions options;
  options.program = job.cpp ? compiler.cpp : compiler.c;
  options.arguments = job.arguments;
  options.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "TMPDIR=" + job.folder.string()};
  options.directory = job.folder.string();
  options.limits = {.address_space_bytes = kCompileMemoryBytes,
                    .file_bytes = kCompileFileBytes,
                    .cpu_seconds = kCompileCpuSeconds,
                    .processes = kCompileProcesses,
                    .descriptors = 256};
  options.cores = job.cores;
  options.filter = filter ? &*filter : nullptr;
  base::FileDescriptor rules;
  if (sandbox::capabilities().landlock > 0) {
    TRY_ASSIGN(rules, sandbox::make_rule_set(compiler_files(compiler, job)));
    options.file_rules = &rules;
  }
  return sandbox::run(std::move(options), {kCompileWall, 2U << 20}, gate, stop);
}

}  // namespace

base::Result<sandbox::RunResult> compile(const Compiler& compiler, const CompileJob& job, sandbox::PauseGate* gate,
                                         const std::stop_token& stop) {
  const CompileCache cache(compiler.cache);
  const CompileCache::Job known = cache.examine(compiler, job);
  if (known.key.empty()) return compile_now(compiler, job, gate, stop);
  if (auto found = cache.find(known, job.folder)) return std::move(*found);
  CompileJob telling = job;
  CompileCache::ask_for_headers(telling.arguments);
  TRY_ASSIGN(auto made, compile_now(compiler, telling, gate, stop));
  cache.keep(known, job.folder, made);
  return made;
}

}  // namespace accelopt::targets::cpu
