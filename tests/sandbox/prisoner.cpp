// SPDX-License-Identifier: Apache-2.0
// Tries what its first argument names and prints "done" or the reason why not.
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
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
  if (what == "touch") {  // keeps so many bytes for a moment
    const std::size_t bytes = std::strtoull(argument, nullptr, 10);
    void* const kept = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (kept == MAP_FAILED) return report(false);
    std::memset(kept, 1, bytes);
    return report(munmap(kept, bytes) == 0 && usleep(20'000) == 0);
  }
  if (what == "fork") {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    return report(child > 0 && waitpid(child, nullptr, 0) == child);
  }
  if (what == "thread") {
    std::thread([] {}).join();
    return report(true);
  }
  if (what == "memfd") return report(memfd_create("kept", 0) >= 0);
  if (what == "pageout") {
    void* const kept = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    constexpr int kPageOut = 21;
    return report(kept != MAP_FAILED && madvise(kept, 4096, kPageOut) == 0);
  }
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
  return 64;
}
