// SPDX-License-Identifier: Apache-2.0
#include "sandbox/mounts.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace accelopt::sandbox {
namespace {

constexpr long kMountSetAttributes = 442;        // mount_setattr, since Linux 5.12
constexpr unsigned kRecursive = 0x8000;          // AT_RECURSIVE
constexpr std::uint64_t kReadOnly = 0x00000001;  // MOUNT_ATTR_RDONLY

/// As in linux/mount.h, which older headers lack.
struct MountAttributes {
  std::uint64_t set = 0;
  std::uint64_t clear = 0;
  std::uint64_t propagation = 0;
  std::uint64_t user_namespace = 0;
};

bool change(const char* path, const MountAttributes& attributes) {
  return syscall(kMountSetAttributes, AT_FDCWD, path, kRecursive, &attributes, sizeof attributes) == 0;
}

}  // namespace

bool make_read_only(std::span<const char* const> writable) {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  const auto bind = [](const char* path) { return mount(path, path, nullptr, MS_BIND | MS_REC, nullptr) == 0; };
  const auto open = [](const char* path) { return change(path, {.clear = kReadOnly}); };
  return std::ranges::all_of(writable, bind) && change("/", {.set = kReadOnly}) && std::ranges::all_of(writable, open);
}

}  // namespace accelopt::sandbox
