// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/neighbours.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

namespace accelopt::devices::cuda {
namespace {

constexpr std::chrono::milliseconds kLookAgain{200};
constexpr int kLooksShare = 20;  ///< looking takes one part in so many of the time, unless that would be too seldom
constexpr std::size_t kFirstRoom = 64;
constexpr std::size_t kMostRoom = 65536;
constexpr int kTooLittleRoom = 7;

// A process as the library lays it out begins with its number: {unsigned pid; unsigned long long used_memory; unsigned
// gpu_instance, compute_instance}. Some drivers of the 535 series put eight more bytes behind it, under the same name
// of the function.
constexpr std::size_t kUsualStride = 24;
constexpr std::size_t kWideStride = 32;
constexpr unsigned char kUntouched = 0xee;

/// "GPU-fafafafa-fafa-fafa-fafa-fafafafafafa"; of a part of a device that is divided, "MIG-...".
std::string uuid_text(const std::string& prefix, const std::string& digits) {
  if (digits.size() != 32) return {};
  return prefix + digits.substr(0, 8) + "-" + digits.substr(8, 4) + "-" + digits.substr(12, 4) + "-" +
         digits.substr(16, 4) + "-" + digits.substr(20);
}

/// The numbers in `count` records; what the library did not write is still kUntouched.
std::set<unsigned> numbers_in(const std::vector<unsigned char>& room, std::size_t count) {
  const auto behind = room.begin() + static_cast<std::ptrdiff_t>(kUsualStride * count);
  const bool wide = std::any_of(behind, room.begin() + static_cast<std::ptrdiff_t>(kWideStride * count),
                                [](unsigned char byte) { return byte != kUntouched; });
  std::set<unsigned> out;
  for (std::size_t i = 0; i < count; ++i) {
    unsigned pid = 0;
    std::memcpy(&pid, room.data() + i * (wide ? kWideStride : kUsualStride), sizeof pid);
    out.insert(pid);
  }
  return out;
}

/// Whether this process's numbers are the machine's: the first namespace has the same name everywhere.
bool first_namespace() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/ns/pid", ignored) == "pid:[4026531836]";
}

struct ProcessName {
  std::string name;  ///< letters, digits and ._- alone: it is printed; empty: it cannot be read
  bool ending = false;
};

/// From /proc/PID/stat: "4711 (python3) S ...".
ProcessName name_of(unsigned pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const auto open = line.find('(');
  const auto close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  ProcessName out;
  for (const char letter : line.substr(open + 1, close - open - 1)) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9') || letter == '.' || letter == '_' || letter == '-';
    out.name += plain ? letter : '?';
  }
  out.ending = close + 2 < line.size() && (line[close + 2] == 'Z' || line[close + 2] == 'X');
  return out;
}

}  // namespace

struct Neighbours::Library {
  int (*init)() = nullptr;
  int (*device_by_uuid)(const char*, void**) = nullptr;
  int (*processes)(void*, unsigned*, void*) = nullptr;
  const char* (*error_text)(int) = nullptr;
};

Neighbours::Neighbours(const std::string& library) {
  blind("NVIDIA's management library is not there");
  void* const handle = dlopen(library.empty() ? "libnvidia-ml.so.1" : library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return;
  auto out = std::make_shared<Library>();
  out->init = reinterpret_cast<int (*)()>(dlsym(handle, "nvmlInit_v2"));
  out->device_by_uuid = reinterpret_cast<int (*)(const char*, void**)>(dlsym(handle, "nvmlDeviceGetHandleByUUID"));
  out->error_text = reinterpret_cast<const char* (*)(int)>(dlsym(handle, "nvmlErrorString"));
  for (const char* name : {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"}) {
    if (out->processes == nullptr)
      out->processes = reinterpret_cast<int (*)(void*, unsigned*, void*)>(dlsym(handle, name));
  }
  blind("NVIDIA's management library is too old");
  if (out->init == nullptr || out->device_by_uuid == nullptr || out->processes == nullptr) return;
  library_ = std::move(out);
  unseen_.clear();
  if (const int code = library_->init(); code != 0) {
    blind("NVIDIA's management library does not start (" + text_of(code) + ")");
    library_.reset();
  }
}

void Neighbours::blind(const std::string& why) {
  unseen_ = "other processes on the device are not seen: " + why;
}

std::string Neighbours::text_of(int code) const {
  const char* const text = library_->error_text == nullptr ? nullptr : library_->error_text(code);
  return text == nullptr ? "error " + std::to_string(code) : text;
}

Neighbours::Listed Neighbours::listed() {
  for (std::size_t room = kFirstRoom; room <= kMostRoom; room *= 4) {
    std::vector<unsigned char> infos(room * kWideStride, kUntouched);
    auto count = static_cast<unsigned>(room);
    const int code = library_->processes(device_, &count, infos.data());
    if (code == kTooLittleRoom) continue;
    if (code == 0) return numbers_in(infos, std::min<std::size_t>(count, room));
    blind("NVIDIA's management library does not list processes (" + text_of(code) + ")");
    return std::nullopt;
  }
  blind("NVIDIA's management library lists more processes than can be");
  return std::nullopt;
}

void Neighbours::find_device(const std::string& uuid) {
  int code = 0;
  for (const char* prefix : {"GPU-", "MIG-"}) {
    code = library_->device_by_uuid(uuid_text(prefix, uuid).c_str(), &device_);
    if (code == 0) return;
  }
  blind("NVIDIA's management library does not know the device (" + text_of(code) + ")");
  library_.reset();
}

void Neighbours::settle(const std::string& uuid) {
  if (!library_) return;
  if (device_ == nullptr) {
    find_device(uuid);
    if (library_) before_ = listed().value_or(std::set<unsigned>());
    return;
  }
  unseen_.clear();
  const Listed now = listed();
  if (!now) return;
  const auto self = static_cast<unsigned>(getpid());
  numbers_are_ours_ = now->count(self) != 0;
  if (numbers_are_ours_) {
    own_ = {self};  // whoever else is new is not
    if (!first_namespace()) unseen_ = "processes outside this container may be on the device unseen";
    return;
  }
  std::set_difference(now->begin(), now->end(), before_.begin(), before_.end(), std::inserter(own_, own_.end()));
  // In a container the list may be that of another namespace, or empty: who does not see this process sees nobody.
  if (own_.empty()) blind("NVIDIA's management library does not list this process, as in some containers");
}

std::string Neighbours::others() {
  const auto now = std::chrono::steady_clock::now();
  if (!library_ || own_.empty() || now < next_look_) return seen_;
  seen_.clear();
  const Listed there = listed();
  const auto end = std::chrono::steady_clock::now();
  next_look_ = end + std::min<std::chrono::steady_clock::duration>(kLookAgain, kLooksShare * (end - now));
  if (!there) return seen_;
  for (const unsigned pid : *there) {
    if (own_.count(pid) != 0) continue;
    const ProcessName process = numbers_are_ours_ ? name_of(pid) : ProcessName();
    if (process.name == "accelopt-device" && !process.ending) continue;
    seen_ += (seen_.empty() ? "" : ", ") + std::to_string(pid);
    if (!process.name.empty()) seen_ += " (" + process.name + ")";
  }
  return seen_;
}

}  // namespace accelopt::devices::cuda
