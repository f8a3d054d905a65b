// SPDX-License-Identifier: Apache-2.0
#include "sandbox/run.hpp"

#include <fcntl.h>
#include <poll.h>
#include <seccomp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "sandbox/peak_memory.hpp"
#include "sandbox/seen_time.hpp"

namespace accelopt::sandbox {
namespace {

using Clock = std::chrono::steady_clock;

base::Error stopped(const SpawnOptions& options) {
  return {base::ErrorCode::cancelled, options.program + ": stopped as asked"};
}

/// Registered with the gate.
base::Result<Process> start(const SpawnOptions& options, PauseGate* gate, const std::stop_token& stop) {
  if (gate == nullptr) return spawn(options);
  base::Result<Process> process = tl::make_unexpected(stopped(options));
  gate->start(
      [&] {
        process = spawn(options);
        return process ? process->pid() : pid_t{-1};
      },
      stop);
  return process;
}

/// That a process group is registered, until it is about to be reaped.
class GateEntry {
 public:
  GateEntry(PauseGate* gate, pid_t group) : gate_(gate), group_(group) {}
  GateEntry(const GateEntry&) = delete;
  GateEntry& operator=(const GateEntry&) = delete;
  ~GateEntry() {
    if (gate_ != nullptr) gate_->remove(group_);
  }

 private:
  PauseGate* gate_;
  pid_t group_;
};

/// Takes what the pipe holds. False at its end.
bool drain(int pipe, RunResult& result, std::size_t limit) {
  std::array<char, 16384> chunk;
  const ssize_t got = read(pipe, chunk.data(), chunk.size());
  if (got <= 0) return got < 0 && (errno == EINTR || errno == EAGAIN);
  const std::size_t room = limit - std::min(limit, result.output.size());
  const auto bytes = static_cast<std::size_t>(got);
  result.output.append(chunk.data(), std::min(room, bytes));
  result.dropped = result.dropped || bytes > room;
  return true;
}

/// Looks at the thread whose end, or whose start of another program, is reported, and lets it go on.
void answer_end(int ends, PeakMemory& peak) {
  seccomp_notif* report = nullptr;
  seccomp_notif_resp* answer = nullptr;
  if (seccomp_notify_alloc(&report, &answer) != 0) return;
  // A signal may have taken it back meanwhile.
  if (seccomp_notify_receive(ends, report) == 0) {
    peak.look(static_cast<pid_t>(report->pid));
    answer->id = report->id;
    answer->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    seccomp_notify_respond(ends, answer);
  }
  seccomp_notify_free(report, answer);
}

}  // namespace

base::Result<RunResult> run(SpawnOptions options, const RunLimits& limits, PauseGate* gate,
                            const std::stop_token& stop) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return base::fail_errno(errno, "pipe for a child's output");
  const base::FileDescriptor reader(ends[0]);
  base::FileDescriptor writer(ends[1]);
  for (const int standard : {1, 2}) {
    const auto is_given = [standard](const auto& pair) { return pair.second == standard; };
    if (std::ranges::none_of(options.descriptors, is_given)) options.descriptors.emplace_back(writer.get(), standard);
  }

  const auto began = Clock::now();
  const auto paused_before = gate != nullptr ? gate->paused() : std::chrono::nanoseconds{0};
  SeenTime time;
  const auto take_turn = [&] {
    time.turn(Clock::now() - began - (gate != nullptr ? gate->paused() - paused_before : std::chrono::nanoseconds{0}));
  };
  std::optional<PeakMemory> peak;
  options.reports_ends = limits.peak == Peak::followed;
  if (options.reports_ends) peak.emplace();
  TRY_ASSIGN(Process process, start(options, gate, stop));
  std::optional<GateEntry> entry(std::in_place, gate, process.pid());
  writer.reset();
  RunResult result;
  bool open = true;
  while (true) {
    if (stop.stop_requested()) return tl::make_unexpected(stopped(options));
    take_turn();
    if (time.seen() > limits.wall) {
      result.timed_out = true;
      break;
    }
    // Short enough that a stop or a time limit is noticed soon; the pipe's end wakes at once.
    constexpr int kWaitMilliseconds = 20;
    const bool looks = peak && !process.ends().valid();
    if (peak) peak->look(process.pid());
    std::array waits{pollfd{open ? reader.get() : -1, POLLIN, 0}, pollfd{process.ends().get(), POLLIN, 0}};
    poll(waits.data(), waits.size(), open && !looks ? kWaitMilliseconds : 1);
    if ((waits[1].revents & POLLIN) != 0)
      answer_end(process.ends().get(), *peak);
    else if (waits[1].revents != 0)
      process.ends().reset();  // nobody is left who could end
    const bool more = open && waits[0].revents != 0;
    if (more) open = drain(reader.get(), result, limits.output_bytes);
    if (more && open) continue;
    // The program's end counts: a process that it left behind may hold the pipe for ever.
    if (!process.has_ended()) continue;
    entry.reset();
    if (const auto state = process.try_wait()) {
      result.state = *state;
      if (peak) result.state.peak_bytes = peak->bytes(state->peak_bytes);
      pollfd left{reader.get(), POLLIN, 0};
      while (open && poll(&left, 1, 0) > 0 && time.seen() <= limits.wall) {
        open = drain(reader.get(), result, limits.output_bytes);
        take_turn();
      }
      break;
    }
  }
  entry.reset();
  process.end();
  take_turn();
  auto took = time.seen();
  // The program may have run on while this process was suspended: so much as its processor time shows.
  if (time.missed().count() > 0)
    took = std::max(took, std::min<std::chrono::nanoseconds>(took + time.missed(), result.state.cpu_time));
  result.seconds = std::chrono::duration<double>(took).count();
  return result;
}

}  // namespace accelopt::sandbox
