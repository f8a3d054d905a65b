// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/card_nvml.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace accelopt::targets::cuda {
namespace {

constexpr std::chrono::milliseconds kLookAgain{200};
constexpr unsigned kMostProcesses = 64;

/// As the library lays it out.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};

/// "GPU-fafafafa-fafa-fafa-fafa-fafafafafafa".
std::string uuid_text(const std::string& digits) {
  if (digits.size() != 32) return {};
  return "GPU-" + digits.substr(0, 8) + "-" + digits.substr(8, 4) + "-" + digits.substr(12, 4) + "-" +
         digits.substr(16, 4) + "-" + digits.substr(20);
}

}  // namespace

struct Neighbours::Library {
  int (*init)() = nullptr;
  int (*device_by_uuid)(const char*, void**) = nullptr;
  int (*processes)(void*, unsigned*, ProcessInfo*) = nullptr;
};

Neighbours::Neighbours(const std::string& library) {
  void* const handle = dlopen(library.empty() ? "libnvidia-ml.so.1" : library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return;
  auto out = std::make_shared<Library>();
  out->init = reinterpret_cast<int (*)()>(dlsym(handle, "nvmlInit_v2"));
  out->device_by_uuid = reinterpret_cast<int (*)(const char*, void**)>(dlsym(handle, "nvmlDeviceGetHandleByUUID"));
  out->processes = reinterpret_cast<int (*)(void*, unsigned*, ProcessInfo*)>(
      dlsym(handle, "nvmlDeviceGetComputeRunningProcesses_v3"));
  const bool whole = out->init != nullptr && out->device_by_uuid != nullptr && out->processes != nullptr;
  if (whole && out->init() == 0) library_ = std::move(out);
}

std::set<unsigned> Neighbours::listed() const {
  std::array<ProcessInfo, kMostProcesses> infos{};
  auto count = static_cast<unsigned>(infos.size());
  std::set<unsigned> out;
  if (library_->processes(device_, &count, infos.data()) != 0) return out;
  for (unsigned i = 0; i < count && i < infos.size(); ++i) out.insert(infos[i].pid);
  return out;
}

void Neighbours::settle(const std::string& uuid) {
  if (!library_) return;
  if (device_ == nullptr) {
    if (library_->device_by_uuid(uuid_text(uuid).c_str(), &device_) != 0) library_.reset();
    if (library_) own_ = listed();  // for now: those before
    return;
  }
  const std::set<unsigned> before = std::exchange(own_, {static_cast<unsigned>(getpid())});
  for (const unsigned pid : listed()) {
    if (before.count(pid) == 0) own_.insert(pid);
  }
}

std::string Neighbours::others() {
  const auto now = std::chrono::steady_clock::now();
  looked_ = library_ && now - last_look_ > kLookAgain;
  if (!looked_) return seen_;
  last_look_ = now;
  seen_.clear();
  for (const unsigned pid : listed()) {
    if (own_.count(pid) == 0) seen_ += (seen_.empty() ? "" : ", ") + std::to_string(pid);
  }
  return seen_;
}

}  // namespace accelopt::targets::cuda
