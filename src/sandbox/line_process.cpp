// SPDX-License-Identifier: Apache-2.0
#include "sandbox/line_process.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

namespace accelopt::sandbox {
namespace {

using base::ErrorCode;
using Clock = std::chrono::steady_clock;

/// A process whose kernel hangs needs the driver to take the device from it.
constexpr std::chrono::seconds kEndPatience{2};
constexpr std::chrono::milliseconds kLook{100};  ///< how often a wait looks whether it is to end

}  // namespace

base::Result<LineProcess> LineProcess::start(SpawnOptions options, const std::vector<int>& at, std::string name) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return base::fail_errno(errno, "the channel to " + name);
  base::FileDescriptor ours(ends[0]);
  const base::FileDescriptor theirs(ends[1]);
  for (const int descriptor : at) options.descriptors.emplace_back(theirs.get(), descriptor);
  TRY_ASSIGN(Process process, spawn(options));
  return LineProcess(std::move(process), std::move(ours), std::move(name));
}

base::Result<void> LineProcess::wait_for(short events, Deadline deadline, const std::stop_token& stop) const {
  for (;;) {
    if (stop.stop_requested()) return base::fail(ErrorCode::cancelled, "the request to " + name_ + " was stopped");
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return base::fail(ErrorCode::timed_out, name_ + " did not answer in time");
    pollfd wait{channel_.get(), events, 0};
    if (poll(&wait, 1, static_cast<int>(std::min(left, kLook).count())) > 0) return {};
  }
}

base::Result<void> LineProcess::send(std::string_view line, Deadline deadline, const std::stop_token& stop) {
  for (std::string_view rest : {line, std::string_view("\n")}) {
    while (!rest.empty()) {
      TRY(wait_for(POLLOUT, deadline, stop));
      const ssize_t sent = ::send(channel_.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (sent <= 0) return base::fail(ErrorCode::unavailable, name_ + " closed its channel");
      rest.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  return {};
}

base::Result<std::string> LineProcess::receive(Deadline deadline, std::size_t most_bytes, const std::stop_token& stop) {
  std::size_t searched = 0;
  for (;;) {
    if (const auto end = buffer_.find('\n', searched); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    searched = buffer_.size();
    if (searched > most_bytes) return base::fail(ErrorCode::exhausted, name_ + " answered too much");
    TRY(wait_for(POLLIN, deadline, stop));
    std::array<char, 65536> piece{};
    const ssize_t got = recv(channel_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return base::fail(ErrorCode::unavailable, name_ + " closed its channel");
    buffer_.append(piece.data(), static_cast<std::size_t>(got));
  }
}

void LineProcess::end() {
  process_.end();
  channel_.reset();
  buffer_.clear();
}

std::string LineProcess::reap() {
  std::optional<ExitState> state;
  for (const auto deadline = Clock::now() + kEndPatience; !state && Clock::now() < deadline;) {
    state = process_.try_wait();
    if (!state) poll(nullptr, 0, 1);
  }
  end();
  if (!state) return "was killed";
  if (state->exited) return "ended with exit code " + std::to_string(state->code);
  return "was ended by signal " + std::to_string(state->signal);
}

}  // namespace accelopt::sandbox
