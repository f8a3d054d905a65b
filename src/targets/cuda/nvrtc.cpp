// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/nvrtc.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>

#include "sandbox/landlock.hpp"
#include "sandbox/probe.hpp"
#include "sandbox/run.hpp"

namespace accelopt::targets::cuda {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;

// As much as the compilers of host code get: the largest hand-written kernels take some seconds.
constexpr std::chrono::milliseconds kNvrtcWall{60'000};
constexpr std::uint64_t kNvrtcCpuSeconds = 45;
constexpr std::uint64_t kNvrtcMemoryBytes = 6ULL << 30;
constexpr std::uint64_t kNvrtcFileBytes = 1ULL << 30;  ///< of a precompiled header
constexpr std::uint64_t kNvrtcProcesses = 64;
constexpr std::size_t kNvrtcReplyBytes = 80UL << 20;

constexpr int kOutOfMemory = 1;  ///< NVRTC_ERROR_OUT_OF_MEMORY, of nvrtc.h

constexpr std::array<const char*, 2> kLibraryNames{"libnvrtc.so.13", "libnvrtc.so.12"};

base::Result<fs::path> find_helper(const fs::path& wanted) {
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& place : {wanted, self / "accelopt-nvrtc", self / "../libexec/accelopt/accelopt-nvrtc"}) {
    if (!place.empty() && fs::is_regular_file(place, ignored)) return fs::canonical(place, ignored);
    if (place == wanted && !wanted.empty()) break;
  }
  return base::fail(ErrorCode::unsupported, (wanted.empty() ? "accelopt-nvrtc" : wanted.string()) +
                                                ": no such program; install it beside accelopt");
}

/// A file in memory with these bytes, to be read from its beginning.
base::Result<base::FileDescriptor> memory_file(const std::string& bytes) {
  base::FileDescriptor file(memfd_create("accelopt-request", MFD_CLOEXEC));
  if (!file.valid()) return base::fail_errno(errno, "a file in memory");
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t written = write(file.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return base::fail_errno(errno, "a file in memory");
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (lseek(file.get(), 0, SEEK_SET) != 0) return base::fail_errno(errno, "a file in memory");
  return file;
}

/// One run of the helper.
struct HelperRun {
  fs::path helper;
  std::string library;
  std::vector<fs::path> readable;  ///< empty: all files; for trusted requests only
  fs::path writable;
  std::vector<int> cores;
};

base::Result<sandbox::RunResult> run_helper(const HelperRun& what, const NvrtcRequest& request,
                                            sandbox::PauseGate* gate, const std::stop_token& stop) {
  static const auto filter = sandbox::compile_filter(sandbox::FilterKind::compile);
  TRY_ASSIGN(const base::FileDescriptor input, memory_file(pack(request)));
  sandbox::SpawnOptions options;
  options.program = what.helper.string();
  // The library looks for its second half, libnvrtc-builtins, beside itself.
  options.environment = {"LC_ALL=C", "CUDA_CACHE_DISABLE=1"};
  if (const fs::path folder = fs::path(what.library).parent_path(); !folder.empty())
    options.environment.push_back("LD_LIBRARY_PATH=" + folder.string());
  if (!what.writable.empty()) options.environment.push_back("TMPDIR=" + what.writable.string());
  options.descriptors.emplace_back(input.get(), 0);
  options.limits = {.address_space_bytes = kNvrtcMemoryBytes,
                    .file_bytes = what.writable.empty() ? 0 : kNvrtcFileBytes,
                    .no_files = what.writable.empty(),
                    .cpu_seconds = kNvrtcCpuSeconds,
                    .processes = kNvrtcProcesses,
                    .descriptors = 256};
  options.cores = what.cores;
  options.fixed_layout = true;  // a precompiled header is mapped where it was made
  options.filter = filter ? &*filter : nullptr;
  base::FileDescriptor rules;
  if (sandbox::capabilities().landlock > 0 && !what.readable.empty()) {
    sandbox::FileRules files{
        {"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/nix/store", "/etc/ld.so.cache", what.helper}, {"/dev/null"}};
    files.readable.insert(files.readable.end(), what.readable.begin(), what.readable.end());
    if (!what.writable.empty()) files.writable.push_back(what.writable);
    TRY_ASSIGN(rules, sandbox::make_rule_set(files));
    options.file_rules = &rules;
  }
  return sandbox::run(std::move(options), {kNvrtcWall, kNvrtcReplyBytes}, gate, stop);
}

/// The folder that really holds the library, and the one where it was found: links lead from one to the other.
std::vector<fs::path> folders_of(const std::string& library) {
  std::error_code ignored;
  std::vector<fs::path> out{fs::path(library).parent_path()};
  const fs::path real = fs::canonical(library, ignored);
  if (!ignored && real.parent_path() != out.front()) out.push_back(real.parent_path());
  return out;
}

/// What the library says of itself; the reply's failure, where it cannot be used.
base::Result<NvrtcReply> ask_version(const fs::path& helper, const std::string& library) {
  const HelperRun run{helper, library, {}, {}, {}};
  NvrtcRequest request;
  request.library = library;
  TRY_ASSIGN(const auto ran, run_helper(run, request, nullptr, {}));
  if (auto reply = unpack_reply(ran.output)) return std::move(*reply);
  NvrtcReply died;
  died.failure = "the program that loads it ended while it did";
  return died;
}

/// Folders matching prefix*, the newest version first.
std::vector<fs::path> numbered_folders(const fs::path& parent, const std::string& prefix) {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    if (entry.path().filename().string().starts_with(prefix)) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end(), [](const fs::path& a, const fs::path& b) {
    return std::pair(a.string().size(), a.string()) > std::pair(b.string().size(), b.string());
  });
  return out;
}

std::string value_of(const std::map<std::string, std::string>& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

/// Where Python's packages of CUDA put their libraries: .../site-packages/nvidia/<package>/lib.
void add_python_folders(const NvrtcPlaces& places, std::vector<fs::path>& out) {
  std::vector<fs::path> roots;
  if (const auto venv = value_of(places.environment, "VIRTUAL_ENV"); !venv.empty())
    roots.push_back(fs::path(venv) / "lib");
  if (const auto home = value_of(places.environment, "HOME"); !home.empty())
    roots.push_back(fs::path(home) / ".local/lib");
  for (const char* root : {"/usr/local/lib", "/usr/lib"}) roots.emplace_back(root);
  for (const fs::path& root : roots) {
    for (const fs::path& python : numbered_folders(root, "python3")) {
      for (const char* packages : {"site-packages", "dist-packages"}) {
        for (const fs::path& package : numbered_folders(python / packages / "nvidia", "c"))
          out.push_back(package / "lib");
      }
    }
  }
}

std::vector<fs::path> library_folders(const NvrtcPlaces& places) {
  std::vector<fs::path> out;
  const std::string paths = value_of(places.environment, "LD_LIBRARY_PATH");
  for (std::size_t at = 0; at < paths.size();) {
    const std::size_t end = std::min(paths.find(':', at), paths.size());
    if (end > at) out.emplace_back(paths.substr(at, end - at));
    at = end + 1;
  }
  const auto add_root = [&](const fs::path& root) {
    for (const char* folder : {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"})
      out.push_back(root / folder);
  };
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto root = value_of(places.environment, name); !root.empty()) add_root(root);
  }
  add_root("/usr/local/cuda");
  for (const fs::path& root : numbered_folders("/usr/local", "cuda-")) add_root(root);
  add_python_folders(places, out);
  return out;
}

/// CUDA's include folders that belong to a library: those with cuda_fp16.h, and its C++ library.
std::vector<fs::path> header_folders(const std::string& library, const fs::path& wanted) {
  std::vector<fs::path> candidates;
  if (!wanted.empty()) {
    candidates.push_back(wanted);
  } else {
    for (const fs::path& folder : folders_of(library)) {
      candidates.push_back(folder / "../include");
      candidates.push_back(folder / "../../../include");            // targets/<machine>/lib
      candidates.push_back(folder / "../../cuda_runtime/include");  // Python's packages of CUDA 12
    }
    candidates.emplace_back("/usr/local/cuda/include");
  }
  std::vector<fs::path> out;
  std::error_code ignored;
  for (const fs::path& candidate : candidates) {
    if (!fs::is_regular_file(candidate / "cuda_fp16.h", ignored)) continue;
    out.push_back(fs::canonical(candidate, ignored));
    for (const fs::path& more : {candidate / "cccl", candidate / "../../cuda_cccl/include"}) {
      if (fs::is_directory(more / "cuda/std", ignored)) out.push_back(fs::canonical(more, ignored));
    }
    break;
  }
  return out;
}

base::Result<Nvrtc> examine(const fs::path& helper, const std::string& library, const NvrtcPlaces& places) {
  TRY_ASSIGN(const NvrtcReply reply, ask_version(helper, library));
  if (!reply.failure.empty()) return base::fail(ErrorCode::unsupported, library + ": " + reply.failure);
  if (reply.major < 12) {
    return base::fail(ErrorCode::unsupported,
                      library + " is NVRTC " + std::to_string(reply.major) + "; 12 or 13 is needed");
  }
  Nvrtc out{helper, reply.library.empty() ? library : reply.library, reply.major, reply.minor, reply.architectures, {}};
  out.headers = header_folders(out.library, places.headers);
  return out;
}

}  // namespace

std::string Nvrtc::name() const {
  return "NVRTC " + std::to_string(major) + "." + std::to_string(minor);
}

base::Result<Nvrtc> locate_nvrtc(const NvrtcPlaces& places) {
  TRY_ASSIGN(const fs::path helper, find_helper(places.helper));
  if (!places.library.empty()) return examine(helper, places.library, places);
  std::string reasons;
  const auto attempt = [&](const std::string& library) -> std::optional<Nvrtc> {
    auto found = examine(helper, library, places);
    if (found) return std::move(*found);
    reasons += (reasons.empty() ? "" : "; ") + found.error().message;
    return std::nullopt;
  };
  for (const char* name : kLibraryNames) {
    if (auto found = attempt(name)) return std::move(*found);
  }
  reasons.clear();  // that the loader has none is no news
  std::error_code ignored;
  for (const fs::path& folder : library_folders(places)) {
    for (const char* name : kLibraryNames) {
      if (!fs::is_regular_file(folder / name, ignored)) continue;
      if (auto found = attempt((folder / name).string())) return std::move(*found);
    }
  }
  return base::fail(ErrorCode::unsupported,
                    "no NVRTC 12 or 13 was found" +
                        (reasons.empty() ? std::string() : " that works (" + reasons + ")") +
                        "; looked where the loader does, in CUDA_HOME and CUDA_PATH, /usr/local/cuda*/lib64 and "
                        "Python's site-packages/nvidia; install a CUDA toolkit, or the Python packages "
                        "nvidia-cuda-nvrtc and nvidia-cuda-runtime");
}

base::Result<NvrtcOutcome> compile(const Nvrtc& nvrtc, const NvrtcJob& job, sandbox::PauseGate* gate,
                                   const std::stop_token& stop) {
  HelperRun run{nvrtc.helper, nvrtc.library, folders_of(nvrtc.library), job.writable, job.cores};
  run.readable.insert(run.readable.end(), nvrtc.headers.begin(), nvrtc.headers.end());
  if (!job.precompiled.empty()) run.readable.push_back(job.precompiled);
  NvrtcRequest request{nvrtc.library, job.name, job.source, job.options, job.headers};
  for (const fs::path& folder : nvrtc.headers) request.options.push_back("-I" + folder.string());
  TRY_ASSIGN(const auto ran, run_helper(run, request, gate, stop));
  NvrtcOutcome out;
  out.seconds = ran.seconds;
  auto reply = unpack_reply(ran.output);
  if (ran.timed_out || !ran.state.exited || !reply) {
    // What the helper itself does wrong has an exit code of its own.
    if (ran.state.exited && ran.state.code == 2) {
      return base::fail(ErrorCode::internal, nvrtc.helper.string() + " did not understand its request");
    }
    out.limited = true;
    out.log = ran.timed_out ? "the compiler did not finish within its time limit; make the code smaller"
                            : "the compiler was ended by a limit on time or memory; make the code smaller";
    return out;
  }
  if (!reply->failure.empty()) return base::fail(ErrorCode::io, nvrtc.library + ": " + reply->failure);
  out.compiled = reply->result == 0 && !reply->cubin.empty();
  out.log = std::move(reply->log);
  if (reply->result == kOutOfMemory) {
    out.limited = true;
    out.log = "the compiler ran out of memory; make the code smaller";
  }
  out.cubin = std::move(reply->cubin);
  return out;
}

}  // namespace accelopt::targets::cuda
