// SPDX-License-Identifier: Apache-2.0
#include "evaluation/device_lock.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

#include <fmt/format.h>

namespace accelopt::evaluation {

using base::ErrorCode;
using base::Result;
using model::DeviceHolder;
using model::DeviceWait;
using model::printable_name;

namespace {

constexpr std::chrono::milliseconds kFirstPause{1};
constexpr std::chrono::milliseconds kLongestPause{20};
constexpr std::chrono::milliseconds kLongestOfNext{2};  ///< of whoever is next: until then nobody measures
constexpr std::size_t kSignatureBytes = 64;             ///< that are read of a lock's file

/// Opens without following a link and without waiting for a pipe's other end. First without O_CREAT: in a sticky folder
/// that flag is refused for another user's file. Reading is enough to lock; only one's own file can be signed.
Result<base::FileDescriptor> open_lock_file(const std::string& path) {
  constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  base::FileDescriptor file(::open(path.c_str(), O_RDWR | kFlags));
  if (!file.valid() && errno == ENOENT)
    file = base::FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | kFlags, 0644));
  if (!file.valid()) file = base::FileDescriptor(::open(path.c_str(), O_RDONLY | kFlags));
  if (!file.valid()) return base::fail_errno(errno, "the device's lock " + path);
  return file;
}

/// The process that holds the file's lock, as the kernel lists it; 0: none, or one that cannot be seen.
/// @source proc(5), /proc/locks: "1: FLOCK  ADVISORY  WRITE 4711 fe:00:9977900 0 EOF"; waiting ones have "->".
std::int64_t pid_that_locks(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return 0;
  const std::string inode = ":" + std::to_string(status.st_ino);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream fields(line);
    std::string number;
    std::string kind;
    std::string advice;
    std::string mode;
    std::string place;
    std::int64_t pid = 0;
    if (fields >> number >> kind >> advice >> mode >> pid >> place && kind == "FLOCK" && place.ends_with(inode))
      return pid;
  }
  return 0;
}

/// Since when the process says that it holds the lock; 0: it does not say so. The file may hold anything.
std::int64_t signed_since(int descriptor, std::int64_t pid, std::int64_t now_ms) {
  std::array<char, kSignatureBytes> text{};
  const ssize_t count = ::pread(descriptor, text.data(), text.size(), 0);
  if (count <= 0) return 0;
  const char* const end = text.data() + count;
  std::int64_t who = 0;
  std::int64_t since_ms = 0;
  const auto first = std::from_chars(text.data(), end, who);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ' ') return 0;
  const auto second = std::from_chars(first.ptr + 1, end, since_ms);
  const bool whole = second.ec == std::errc() && second.ptr != end && *second.ptr == '\n';
  return whole && who == pid && since_ms > 0 && since_ms <= now_ms ? since_ms : 0;
}

void add_names(DeviceHolder& holder) {
  const std::string process = "/proc/" + std::to_string(holder.pid);
  std::ifstream stream(process + "/comm");
  std::string name;
  std::getline(stream, name);
  holder.command = printable_name(name);
  struct stat status {};
  if (::stat(process.c_str(), &status) != 0) return;
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(status.st_uid, &entry, buffer.data(), buffer.size(), &found);
  holder.user = found != nullptr ? printable_name(found->pw_name) : std::to_string(status.st_uid);
}

std::int64_t system_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

class LockHold final : public Hold {
 public:
  explicit LockHold(DeviceLock& lock) : lock_(lock) {}
  LockHold(const LockHold&) = delete;
  LockHold& operator=(const LockHold&) = delete;
  ~LockHold() override { lock_.release(); }

 private:
  DeviceLock& lock_;
};

}  // namespace

bool DeviceLock::Place::take() {
  if (!held) held = ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
  if (held) hopeless = false;
  return held;
}

void DeviceLock::Place::leave() {
  if (held) ::flock(file.get(), LOCK_UN);
  held = false;
}

Result<DeviceLock> DeviceLock::open(const std::string& path, WaitClock clock) {
  TRY_ASSIGN(base::FileDescriptor device, open_lock_file(path));
  TRY_ASSIGN(base::FileDescriptor queue, open_lock_file(path + ".queue"));
  if (!clock.pause) clock.pause = [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); };
  if (!clock.unix_ms) clock.unix_ms = system_ms;
  return DeviceLock({.file = std::move(queue)}, {.file = std::move(device)}, std::move(clock));
}

bool DeviceLock::advance() {
  if (!queue_.take() && !queue_.hopeless) return false;
  return device_.take() || device_.hopeless;
}

Result<void> DeviceLock::acquire(DeviceUse& use) {
  if (depth_ == 0) {
    if (!advance()) TRY(wait(use));
    if (device_.held) {
      queue_.leave();
      sign();
    } else {
      use.shared_with = model::describe(keeper_);  // the place in the queue is kept: others like this one stay apart
    }
  }
  ++depth_;
  return {};
}

void DeviceLock::release() {
  if (--depth_ > 0) return;
  device_.leave();
  queue_.leave();
}

Result<void> DeviceLock::wait(DeviceUse& use) {
  const auto began = clock_.now();
  auto pause = kFirstPause;
  bool telling = false;
  const auto tell = [&](DeviceWait::State state) {
    if (!use.told) return;
    use.told({state, keeper_, std::chrono::duration<double>(clock_.now() - began).count()});
  };
  for (bool through = false; !through; through = advance()) {
    const auto waited = clock_.now() - began;
    if (use.stop.stop_requested() || (use.stop_waiting.stop_requested() && waited >= kWaitsToTell)) {
      use.waited += waited;
      queue_.leave();
      if (telling) tell(DeviceWait::State::over);
      return base::fail(ErrorCode::cancelled,
                        "stopped while waiting for the device, held by " + model::describe(keeper_));
    }
    if (waited >= kPatience) {
      keeper_ = holder();
      (queue_.held ? device_ : queue_).hopeless = true;
      if (advance()) break;
      device_.hopeless = true;
      break;
    }
    if (!telling && waited >= kWaitsToTell) {
      keeper_ = holder();
      telling = !std::exchange(use.was_told, true);
      if (telling) tell(DeviceWait::State::waiting);
    }
    const auto longest = queue_.held ? kLongestOfNext : kLongestPause;
    clock_.pause(std::min({pause, longest, std::chrono::ceil<std::chrono::milliseconds>(kPatience - waited)}));
    pause = std::min(2 * pause, kLongestPause);
  }
  use.waited += clock_.now() - began;
  if (!device_.held || telling) tell(device_.held ? DeviceWait::State::over : DeviceWait::State::shared);
  return {};
}

DeviceHolder DeviceLock::holder() const {
  const Place& awaited = queue_.held ? device_ : queue_;
  DeviceHolder out;
  out.pid = pid_that_locks(awaited.file.get());
  const std::int64_t now = clock_.unix_ms();
  if (out.pid > 0) {
    add_names(out);
    out.since_ms = signed_since(device_.file.get(), out.pid, now);
  } else {
    out.pid = 0;
  }
  if (out.since_ms == 0) out.since_ms = out.pid == keeper_.pid && keeper_.since_ms > 0 ? keeper_.since_ms : now;
  return out;
}

/// Writes who holds the lock, and since when, into a file of one's own; whatever else lies there is left alone.
void DeviceLock::sign() const {
  struct stat status {};
  const int file = device_.file.get();
  const bool own = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
                   status.st_uid == ::geteuid() && static_cast<std::size_t>(status.st_size) <= kSignatureBytes;
  if (!own) return;
  const std::string text = fmt::format("{} {}\n", ::getpid(), clock_.unix_ms());
  std::ignore = ::pwrite(file, text.data(), text.size(), 0);
}

Result<std::unique_ptr<Hold>> hold(DeviceLock& lock, DeviceUse& use) {
  TRY(lock.acquire(use));
  return std::make_unique<LockHold>(lock);
}

}  // namespace accelopt::evaluation
