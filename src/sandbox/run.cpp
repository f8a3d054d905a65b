// SPDX-License-Identifier: Apache-2.0
#include "sandbox/run.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "sandbox/peak_memory.hpp"

namespace accelopt::sandbox {
namespace {

using Clock = std::chrono::steady_clock;

/// Registers a process group for as long as it lives.
class GateEntry {
 public:
  GateEntry(PauseGate* gate, pid_t group) : gate_(gate), group_(group) {
    if (gate_ != nullptr) gate_->add(group_);
  }
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
bool drain(int pipe, std::string& output, std::size_t limit) {
  std::array<char, 16384> chunk;
  const ssize_t got = read(pipe, chunk.data(), chunk.size());
  if (got <= 0) return got < 0 && (errno == EINTR || errno == EAGAIN);
  const std::size_t room = limit - std::min(limit, output.size());
  output.append(chunk.data(), std::min(room, static_cast<std::size_t>(got)));
  return true;
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
  const auto running_time = [&] {
    return Clock::now() - began - (gate != nullptr ? gate->paused() - paused_before : std::chrono::nanoseconds{0});
  };
  std::optional<PeakMemory> peak;
  if (limits.peak == Peak::followed) peak.emplace();
  TRY_ASSIGN(Process process, spawn(options));
  writer.reset();
  RunResult result;
  const GateEntry entry(gate, process.pid());
  bool open = true;
  while (true) {
    if (stop.stop_requested()) return base::fail(base::ErrorCode::cancelled, options.program + ": stopped as asked");
    if (running_time() > limits.wall) {
      result.timed_out = true;
      break;
    }
    // Short enough that a stop or a time limit is noticed soon; the pipe's end wakes at once.
    constexpr int kWaitMilliseconds = 20;
    if (peak) peak->look(process.pid());
    pollfd wait{reader.get(), POLLIN, 0};
    const bool more = open && poll(&wait, 1, peak ? 1 : kWaitMilliseconds) > 0;
    if (more) open = drain(reader.get(), result.output, limits.output_bytes);
    if (more && open) continue;
    // The program's end counts: a process that it left behind may hold the pipe for ever.
    if (const auto state = process.try_wait()) {
      result.state = *state;
      if (peak) result.state.peak_bytes = peak->bytes(state->peak_bytes);
      while (open && poll(&wait, 1, 0) > 0 && running_time() <= limits.wall)
        open = drain(reader.get(), result.output, limits.output_bytes);
      break;
    }
    if (!open) poll(nullptr, 0, 1);
  }
  process.end();
  result.seconds = std::chrono::duration<double>(running_time()).count();
  return result;
}

}  // namespace accelopt::sandbox
