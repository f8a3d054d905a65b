// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/device_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

namespace accelopt::targets::cuda {

base::Result<DeviceLock> DeviceLock::open(const std::string& uuid) {
  const std::string path = "/tmp/accelopt-cuda-" + uuid + ".lock";
  // A file of another user's in a sticky folder may be opened, but not with the flag that would make it.
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW;
  base::FileDescriptor file(::open(path.c_str(), kFlags));
  if (!file.valid()) file = base::FileDescriptor(::open(path.c_str(), kFlags | O_CREAT, 0644));
  if (!file.valid()) return base::fail_errno(errno, "the device's lock " + path);
  return DeviceLock(std::move(file));
}

void DeviceLock::acquire() {
  if (depth_++ > 0) return;
  while (flock(file_.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
}

void DeviceLock::release() {
  if (--depth_ == 0) flock(file_.get(), LOCK_UN);
}

}  // namespace accelopt::targets::cuda
