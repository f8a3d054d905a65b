// SPDX-License-Identifier: Apache-2.0
#include "journal/held_locks.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace accelopt::journal {
namespace {

/// @source sqlite3's os.h and os_unix.c: SHARED_FIRST and SHARED_SIZE; UNIX_SHM_DMS.
constexpr off_t kSharedFirst = 0x40000002;
constexpr off_t kSharedSize = 510;
constexpr off_t kDeadMansSwitch = 128;

bool is_read_locked_by(pid_t process, const char* file, off_t first, off_t size) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = first;
  lock.l_len = size;
  const int descriptor = ::open(file, O_RDWR);
  return ::fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type == F_RDLCK && lock.l_pid == process;
}

}  // namespace

bool locks_are_held(const std::filesystem::path& file) {
  const std::string index = file.string() + "-shm";
  const pid_t child = ::fork();
  if (child == 0) {
    const bool held = is_read_locked_by(::getppid(), file.c_str(), kSharedFirst, kSharedSize) &&
                      is_read_locked_by(::getppid(), index.c_str(), kDeadMansSwitch, 1);
    ::_exit(held ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace accelopt::journal
