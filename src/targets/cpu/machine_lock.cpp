// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/machine_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

namespace accelopt::targets::cpu {

base::Result<MachineLock> MachineLock::open() {
  return open_at("/tmp/accelopt-cpu.lock");
}

base::Result<MachineLock> MachineLock::open_at(const std::string& path) {
  // Without O_CREAT first: in a sticky folder that flag is refused for another user's file. Reading is enough to lock.
  base::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid() && errno == ENOENT) {
    file = base::FileDescriptor(::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  }
  if (!file.valid()) return base::fail_errno(errno, "the machine's lock " + path);
  return MachineLock(std::move(file));
}

void MachineLock::acquire() const {
  while (flock(file_.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
}

void MachineLock::release() const {
  flock(file_.get(), LOCK_UN);
}

}  // namespace accelopt::targets::cpu
