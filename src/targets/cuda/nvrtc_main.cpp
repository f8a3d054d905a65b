// SPDX-License-Identifier: Apache-2.0
// accelopt-nvrtc: opens NVRTC, compiles the one request on standard input, writes one reply to standard output. Started
// by targets/cuda/nvrtc.cpp within a sandbox: the library reads hostile source, and nothing else runs here.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "targets/cuda/nvrtc_protocol.hpp"

namespace {

using accelopt::targets::cuda::NvrtcReply;
using accelopt::targets::cuda::NvrtcRequest;

constexpr std::size_t kLongestLog = 1UL << 20;
constexpr std::size_t kLargestCubin = 64UL << 20;

/// The part of NVRTC's interface that is used, as its documentation declares it; nvrtcResult is an int, 0 for success.
struct Library {
  using Program = void*;
  int (*version)(int* major, int* minor) = nullptr;
  int (*architecture_count)(int* count) = nullptr;
  int (*architectures)(int* list) = nullptr;
  int (*create)(Program*, const char* source, const char* name, int headers, const char* const* texts,
                const char* const* names) = nullptr;
  int (*compile)(Program, int options, const char* const* list) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*cubin_size)(Program, std::size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
};

template <class Function>
bool find(void* handle, const char* name, Function& out, std::string& failure) {
  out = reinterpret_cast<Function>(dlsym(handle, name));
  if (out == nullptr && failure.empty()) failure = std::string("it has no function ") + name;
  return out != nullptr;
}

Library open_library(const std::string& path, NvrtcReply& reply) {
  Library out;
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = dlerror();
    reply.failure = reason != nullptr ? reason : "it cannot be loaded";
    return out;
  }
  find(handle, "nvrtcVersion", out.version, reply.failure);
  find(handle, "nvrtcGetNumSupportedArchs", out.architecture_count, reply.failure);
  find(handle, "nvrtcGetSupportedArchs", out.architectures, reply.failure);
  find(handle, "nvrtcCreateProgram", out.create, reply.failure);
  find(handle, "nvrtcCompileProgram", out.compile, reply.failure);
  find(handle, "nvrtcGetProgramLogSize", out.log_size, reply.failure);
  find(handle, "nvrtcGetProgramLog", out.log, reply.failure);
  find(handle, "nvrtcGetCUBINSize", out.cubin_size, reply.failure);
  find(handle, "nvrtcGetCUBIN", out.cubin, reply.failure);
  Dl_info place{};
  if (out.version != nullptr && dladdr(reinterpret_cast<void*>(out.version), &place) != 0 && place.dli_fname != nullptr)
    reply.library = place.dli_fname;
  return out;
}

void describe(const Library& library, NvrtcReply& reply) {
  library.version(&reply.major, &reply.minor);
  int count = 0;
  if (library.architecture_count(&count) != 0 || count <= 0) return;
  reply.architectures.resize(static_cast<std::size_t>(count));
  library.architectures(reply.architectures.data());
}

using Getter = int (*)(void*, char*);
using SizeGetter = int (*)(void*, std::size_t*);

std::string fetch(void* program, SizeGetter size_of, Getter get, std::size_t largest) {
  std::size_t size = 0;
  if (size_of(program, &size) != 0 || size == 0 || size > largest) return {};
  std::string out(size, '\0');
  return get(program, out.data()) == 0 ? out : std::string();
}

void compile(const Library& library, const NvrtcRequest& request, NvrtcReply& reply) {
  std::vector<const char*> options;
  for (const std::string& option : request.options) options.push_back(option.c_str());
  std::vector<const char*> names;
  std::vector<const char*> texts;
  for (const auto& [name, text] : request.headers) {
    names.push_back(name.c_str());
    texts.push_back(text.c_str());
  }
  void* program = nullptr;
  reply.result = library.create(&program, request.source.c_str(), request.name.c_str(), static_cast<int>(names.size()),
                                texts.data(), names.data());
  if (reply.result != 0) return;
  reply.result = library.compile(program, static_cast<int>(options.size()), options.data());
  std::size_t log_size = 0;
  if (library.log_size(program, &log_size) == 0 && log_size > 1) {
    reply.log.resize(log_size);
    if (library.log(program, reply.log.data()) != 0) reply.log.clear();
    reply.log.resize(std::min(reply.log.find('\0'), reply.log.size()));
    // Errors stand at its beginning, and what the assembler reports at its end.
    if (reply.log.size() > kLongestLog) reply.log.replace(kLongestLog / 2, reply.log.size() - kLongestLog, "\n");
  }
  if (reply.result == 0) reply.cubin = fetch(program, library.cubin_size, library.cubin, kLargestCubin);
}

bool read_all(int descriptor, std::string& out) {
  std::array<char, 65536> chunk{};
  for (;;) {
    const ssize_t got = read(descriptor, chunk.data(), chunk.size());
    if (got == 0) return true;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    out.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

int main() {
  // What the library prints by itself must not reach the reply.
  const int out = dup(1);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (out < 0 || nowhere < 0 || dup2(nowhere, 1) < 0 || dup2(nowhere, 2) < 0) return 2;
  std::string bytes;
  if (!read_all(0, bytes)) return 2;
  const auto request = accelopt::targets::cuda::unpack_request(bytes);
  if (!request) return 2;
  NvrtcReply reply;
  const Library library = open_library(request->library, reply);
  if (reply.failure.empty()) {
    describe(library, reply);
    if (!request->source.empty()) compile(library, *request, reply);
  }
  const bool written = write_all(out, accelopt::targets::cuda::pack(reply));
  _exit(written ? 0 : 2);  // without the library's own cleaning up, which takes time
}
