// SPDX-License-Identifier: Apache-2.0
// Tries what its first argument names and prints "done" or the reason why not.
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace {

int report(bool worked) {
  std::puts(worked ? "done" : std::strerror(errno));
  return worked ? 0 : 1;
}

int count_descriptors() {
  int count = 0;
  for (int number = 0; number < 4096; ++number) count += fcntl(number, F_GETFD) >= 0 ? 1 : 0;
  std::printf("%d\n", count);
  return 0;
}

bool touch(std::size_t bytes) {
  void* const kept = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (kept != MAP_FAILED) std::memset(kept, 1, bytes);
  return kept != MAP_FAILED;
}

bool maps(int flags) {
  return mmap(nullptr, 2UL << 20, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0) != MAP_FAILED;
}

/// `high`: of the register, which the kernel does not look at.
bool pages_out(unsigned long high) {
  constexpr unsigned long kPageOut = 21;
  void* const kept = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return kept != MAP_FAILED && syscall(SYS_madvise, kept, 4096UL, kPageOut | high) == 0;
}

bool enlarges_a_pipe(unsigned long high) {
  int ends[2];
  return pipe(ends) == 0 && syscall(SYS_fcntl, static_cast<long>(ends[0]), F_SETPIPE_SZ | high, 1UL << 17) > 0;
}

bool keeps_a_semaphore() {
  const int set = semget(IPC_PRIVATE, 1, 0600);
  return set >= 0 && semctl(set, 0, IPC_RMID) == 0;
}

bool thread_has_its_own_descriptors() {
  constexpr int kThread = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  static char stack[1 << 16];
  return clone([](void*) { return 0; }, stack + sizeof stack, kThread, nullptr) > 0;
}

bool leaves_its_descriptors() {
  constexpr unsigned kUnshare = 2;  // CLOSE_RANGE_UNSHARE
  return syscall(SYS_close_range, 100U, 200U, kUnshare) == 0;
}

bool locks_an_open_file() {
  struct flock lock {};
  lock.l_type = F_RDLCK;
  return fcntl(open("/proc/self/exe", O_RDONLY), F_OFD_SETLK, &lock) == 0;
}

/// What a filter of counted programs refuses; 64: none of it.
int keep(const std::string& what) {
  constexpr unsigned long kHigh = 1UL << 32;
  if (what == "memfd") return report(memfd_create("kept", 0) >= 0);
  if (what == "pageout") return report(pages_out(0));
  if (what == "pageout, high") return report(pages_out(kHigh));
  if (what == "pipe") return report(enlarges_a_pipe(0));
  if (what == "pipe, high") return report(enlarges_a_pipe(kHigh));
  if (what == "shared") return report(maps(MAP_SHARED));
  if (what == "huge") return report(maps(MAP_PRIVATE | MAP_HUGETLB | MAP_NORESERVE));
  if (what == "private") return report(maps(MAP_PRIVATE));
  if (what == "semaphore") return report(keeps_a_semaphore());
  if (what == "own table") return report(thread_has_its_own_descriptors());
  if (what == "new table") return report(leaves_its_descriptors());
  if (what == "lock") return report(locks_an_open_file());
  return 64;
}

/// Ways to end right after so many bytes were touched; 64: none of them.
int end(const std::string& what, std::size_t bytes, char* self) {
  if (what == "grow and end") {
    touch(bytes);
    _exit(0);
  }
  if (what == "grow and be another") {
    touch(bytes);
    char print[] = "print";
    char text[] = "another";
    char* const arguments[] = {self, print, text, nullptr};
    return report(execv(self, arguments) == 0);
  }
  if (what == "grow without a leader") {
    std::thread([bytes] {
      touch(bytes);
      _exit(0);
    }).detach();
    syscall(SYS_exit, 0);
  }
  return 64;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const char* argument = argc > 2 ? argv[2] : "";
  if (what == "print") return std::printf("%s\n", argument) > 0 ? 0 : 1;
  if (what == "exit") return std::atoi(argument);
  if (what == "spin") {
    volatile int zero = 0;
    while (zero == 0) {
    }
    return 0;
  }
  if (what == "flood") {
    for (;;) std::puts("a line that is repeated until somebody stops it");
  }
  if (what == "socket") return report(socket(AF_INET, SOCK_STREAM, 0) >= 0);
  if (what == "pair") {
    int ends[2];
    const int type = std::strcmp(argument, "datagrams") == 0 ? SOCK_DGRAM : SOCK_SEQPACKET;
    const int domain = std::strcmp(argument, "elsewhere") == 0 ? AF_TIPC : AF_UNIX;
    return report(socketpair(domain, type | SOCK_CLOEXEC, 0, ends) == 0);
  }
  if (what == "read") return report(open(argument, O_RDONLY) >= 0);
  if (what == "write") {
    const int file = open(argument, O_WRONLY | O_CREAT, 0600);
    return report(file >= 0 && write(file, "x", 1) == 1);
  }
  if (what == "memory")
    return report(mmap(nullptr, std::strtoull(argument, nullptr, 10), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
  if (what == "touch")  // and stays for long enough to be looked at
    return report(touch(std::strtoull(argument, nullptr, 10)) && usleep(500'000) == 0);
  if (what == "fork") {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    return report(child > 0 && waitpid(child, nullptr, 0) == child);
  }
  if (what == "thread") {
    std::thread([] {}).join();
    return report(true);
  }
  if (what == "mode") return report(chmod(argument, 0600) == 0);
  if (what == "times") return report(utimensat(AT_FDCWD, argument, nullptr, 0) == 0);
  if (what == "attribute") return report(setxattr(argument, "user.kept", "x", 1, 0) == 0);
  if (what == "append") {  // and reads it back
    const int file = open(argument, O_RDWR);
    return report(file >= 0 && write(file, "x", 1) == 1);
  }
  if (what == "descriptors") return count_descriptors();
  if (what == "environment") {
    for (char** entry = environ; *entry != nullptr; ++entry) std::puts(*entry);
    return 0;
  }
  if (what == "core") {
    rlimit limit{};
    getrlimit(RLIMIT_CORE, &limit);
    std::printf("%llu\n", static_cast<unsigned long long>(limit.rlim_max));
    return 0;
  }
  if (what == "sacrifice") {
    std::FILE* const file = std::fopen("/proc/self/oom_score_adj", "r");
    int score = 0;
    if (file == nullptr || std::fscanf(file, "%d", &score) != 1) return 1;
    std::printf("%d\n", score);
    return 0;
  }
  if (what == "leave") {  // a process that holds the output
    const pid_t child = fork();
    if (child == 0) {
      for (;;) pause();
    }
    std::printf("%d\n", static_cast<int>(child));
    return 0;
  }
  if (what == "child") {
    if (fork() == 0) {
      for (;;) pause();
    }
    std::puts("started");
    std::fflush(stdout);
    pause();
  }
  const int kept = keep(what);
  return kept != 64 ? kept : end(what, std::strtoull(argument, nullptr, 10), argv[0]);
}
