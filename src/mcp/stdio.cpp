// SPDX-License-Identifier: Apache-2.0
#include "mcp/stdio.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/files.hpp"
#include "mcp/calls.hpp"
#include "mcp/server.hpp"

namespace accelopt::mcp {
namespace {

using base::Result;

constexpr int kLookForStopMs = 200;

/// Lines from a descriptor. Of one that is too long, nothing is kept.
class Lines {
 public:
  explicit Lines(int in) : in_(in) {}

  struct Line {
    std::string text;
    bool too_long = false;
  };
  /// None: the stream has ended, or the end is asked for.
  Result<std::optional<Line>> next(const std::stop_token& stop) {
    std::array<char, 65536> bytes{};
    for (;;) {
      if (const std::size_t end = buffer_.find('\n', searched_); end != std::string::npos) return take(end);
      searched_ = buffer_.size();
      if (buffer_.size() > kMostMessageBytes) {
        skipping_ = true;
        buffer_.clear();
        searched_ = 0;
      }
      pollfd ready{in_, POLLIN, 0};
      const int polled = ::poll(&ready, 1, kLookForStopMs);
      if (stop.stop_requested()) return std::nullopt;
      if (polled <= 0) continue;
      const ssize_t got = ::read(in_, bytes.data(), bytes.size());
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got < 0) return base::fail_errno(errno, "the client's stream");
      if (got == 0) return std::nullopt;
      buffer_.append(bytes.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  std::optional<Line> take(std::size_t end) {
    Line line{buffer_.substr(0, end), std::exchange(skipping_, false)};
    buffer_.erase(0, end + 1);
    searched_ = 0;
    if (line.too_long) line.text.clear();
    return line;
  }

  int in_;
  std::string buffer_;
  std::size_t searched_ = 0;  ///< up to here there is no end of a line
  bool skipping_ = false;
};

/// Writes whole lines, from any thread. Once the client has gone, nothing more. A client that does not read is waited
/// for, unless it has closed its own end: then not longer than kLastWords.
class Writer {
 public:
  Writer(int in, int out) : in_(in), out_(out) {}

  void write(const base::Json& message) {
    const std::string line = base::canonical(message) + "\n";
    const std::scoped_lock lock(mutex_);
    auto deadline = Clock::time_point::max();
    for (std::size_t at = 0; at < line.size() && !gone_;) {
      std::array<pollfd, 2> ready{{{out_, POLLOUT, 0}, {in_, 0, 0}}};
      ::poll(ready.data(), ready.size(), deadline == Clock::time_point::max() ? kLookForStopMs : kLookForGoneMs);
      if ((ready[0].revents & POLLOUT) != 0) {
        // So little never waits where there is room.
        const ssize_t put = ::write(out_, line.data() + at, std::min<std::size_t>(line.size() - at, PIPE_BUF));
        if (put > 0) at += static_cast<std::size_t>(put);
        if (put < 0 && errno != EINTR && errno != EAGAIN) gone_ = true;
        deadline = Clock::time_point::max();
      } else if ((ready[0].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) {
        gone_ = true;
      } else if (deadline == Clock::time_point::max()) {
        if ((ready[1].revents & POLLHUP) != 0) deadline = Clock::now() + kLastWords;
      } else if (Clock::now() >= deadline) {
        gone_ = true;
      }
    }
  }
  [[nodiscard]] bool gone() const { return gone_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLastWords{3};
  static constexpr int kLookForGoneMs = 50;

  int in_;
  int out_;
  std::mutex mutex_;
  std::atomic<bool> gone_ = false;
};

Unreadable too_long() {
  return {{},
          {RpcCode::invalid_request,
           "the message is longer than " + std::to_string(kMostMessageBytes) +
               " bytes and was not read; give large inputs as files, by their paths",
           {}}};
}

const std::string kTooMuch = std::to_string(kMostCalls) + " calls, or " + std::to_string(kMostBytesAtOnce) +
                             " bytes of them, are in progress; try again when one has been answered";

bool takes_time(const std::string& method) {
  return method == "tools/call" || method == "resources/read" || method.starts_with("tasks/");
}

}  // namespace

Result<void> serve_streams(const Catalogue& catalogue, int in, int out, const std::stop_token& stop) {
  Lines lines(in);
  Writer writer(in, out);
  Connection connection(catalogue, [&writer](const base::Json& message) { writer.write(message); });
  ByteBudget bytes(kMostBytesAtOnce);
  Calls calls(kMostCalls);
  Result<void> end;
  for (;;) {
    auto line = lines.next(stop);
    if (!line) end = tl::make_unexpected(line.error());
    if (!line || !*line || writer.gone()) break;
    if ((*line)->too_long) {
      connection.refuse(too_long());
      continue;
    }
    const std::string& text = (*line)->text;
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    auto message = read_message(text);
    if (!message) {
      connection.refuse(message.error());
      continue;
    }
    if (!*message) continue;
    // What changes the connection is done in order; what may take time, beside everything else.
    if (!takes_time((*message)->method)) {
      connection.handle(**message);
      continue;
    }
    connection.expect(**message);
    const auto& id = (*message)->id;
    const auto held = bytes.take(text.size());
    if (held == nullptr || !calls.begin([&connection, held, call = **message] { connection.handle(call); }))
      connection.refuse({id, {RpcCode::busy, kTooMuch, {}}});
  }
  connection.close();
  return end;
}

}  // namespace accelopt::mcp
