// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/server_process.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "devices/cuda/protocol.hpp"

namespace accelopt::devices::cuda {
namespace {

using base::ErrorCode;
using base::Json;
using Clock = std::chrono::steady_clock;

/// A process whose kernel hangs needs the driver to take the device from it.
constexpr std::chrono::seconds kEndPatience{2};

}  // namespace

std::vector<std::string> server_environment() {
  // All machine code at once, and none of the user's files: what is loaded while the clock runs would be timed.
  std::vector<std::string> out{"CUDA_MODULE_LOADING=EAGER", "CUDA_CACHE_DISABLE=1"};
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "LD_LIBRARY_PATH", "NVIDIA_VISIBLE_DEVICES",
                           "NVIDIA_DRIVER_CAPABILITIES"}) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets variables
    if (value != nullptr) out.push_back(std::string(name) + "=" + value);
  }
  return out;
}

base::Result<std::string> find_server() {
  const std::string name = "accelopt-device";
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const std::array<std::filesystem::path, 2> places{self / name, self / "../libexec/accelopt" / name};
  for (const auto& place : places) {
    if (access(place.c_str(), X_OK) == 0) return place.lexically_normal().string();
  }
  return base::fail(ErrorCode::not_found, name + " was found neither at " + places[0].lexically_normal().string() +
                                              " nor at " + places[1].lexically_normal().string() +
                                              "; install it beside accelopt");
}

base::Result<ServerProcess> ServerProcess::create(std::string program) {
  ServerProcess out(std::move(program));
  out.bulk_ = base::FileDescriptor(memfd_create("bulk", MFD_CLOEXEC));
  if (!out.bulk_.valid()) return base::fail_errno(errno, "memory shared with accelopt-device");
  return out;
}

base::Result<void> ServerProcess::start() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return base::fail_errno(errno, "the channel to accelopt-device");
  channel_ = base::FileDescriptor(ends[0]);
  const base::FileDescriptor theirs(ends[1]);
  sandbox::SpawnOptions options;
  options.program = program_;
  options.environment = server_environment();
  options.descriptors = {
      {STDERR_FILENO, STDERR_FILENO}, {theirs.get(), kChannelDescriptor}, {bulk_.get(), kBulkDescriptor}};
  options.own_namespaces = false;
  TRY_ASSIGN(process_, sandbox::spawn(options));
  buffer_.clear();
  ++generation_;
  return {};
}

void ServerProcess::end() {
  process_.end();
  channel_.reset();
}

std::string ServerProcess::reap() {
  // It is ending by itself: let it, so that it can be told how.
  std::optional<sandbox::ExitState> state;
  for (const auto deadline = Clock::now() + kEndPatience; !state && Clock::now() < deadline;) {
    state = process_.try_wait();
    if (!state) poll(nullptr, 0, 1);
  }
  end();
  if (!state) return "was killed";
  if (state->exited) return "ended with exit code " + std::to_string(state->code);
  return "was ended by signal " + std::to_string(state->signal);
}

base::Result<void> ServerProcess::lay_out(const std::vector<std::string_view>& bulk) {
  std::uint64_t bytes = 0;
  for (const std::string_view piece : bulk) bytes += piece.size();
  if (bytes > bulk_bytes_) {
    if (ftruncate(bulk_.get(), static_cast<off_t>(bytes)) != 0)
      return base::fail_errno(errno, "memory shared with accelopt-device");
    bulk_bytes_ = bytes;
  }
  off_t at = 0;
  for (const std::string_view piece : bulk) {
    for (std::size_t done = 0; done < piece.size();) {
      const ssize_t put = pwrite(bulk_.get(), piece.data() + done, piece.size() - done, at);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return base::fail_errno(errno, "memory shared with accelopt-device");
      done += static_cast<std::size_t>(put);
      at += put;
    }
  }
  return {};
}

base::Result<void> ServerProcess::send_line(const Json& request) {
  const std::string line = base::canonical(request) + "\n";
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t sent = send(channel_.get(), line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return base::fail_errno(errno, "asking accelopt-device");
    done += static_cast<std::size_t>(sent);
  }
  return {};
}

base::Result<std::string> ServerProcess::receive_line(Clock::time_point deadline) {
  for (;;) {
    if (const auto end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return base::fail(ErrorCode::timed_out, "accelopt-device did not answer in time");
    pollfd wait{channel_.get(), POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(std::min<long>(left, 1000))) <= 0) continue;
    std::array<char, 65536> piece{};
    const ssize_t got = recv(channel_.get(), piece.data(), piece.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return base::fail(ErrorCode::unavailable, "accelopt-device closed its channel");
    buffer_.append(piece.data(), static_cast<std::size_t>(got));
  }
}

base::Result<Json> ServerProcess::ask(const Json& request, const std::vector<std::string_view>& bulk,
                                      std::chrono::nanoseconds limit) {
  if (!process_.valid()) TRY(start());
  TRY(lay_out(bulk));
  const auto sent = send_line(request);
  auto line = sent ? receive_line(Clock::now() + std::chrono::duration_cast<Clock::duration>(limit))
                   : base::Result<std::string>(tl::make_unexpected(sent.error()));
  if (!line) {
    if (line.error().code == ErrorCode::timed_out) {
      end();
      return tl::make_unexpected(line.error());
    }
    return base::fail(ErrorCode::unavailable, "accelopt-device " + reap());
  }
  TRY_ASSIGN(const Json answer, base::parse_json(*line, "accelopt-device"));
  if (answer.value("lost", false)) reap();
  if (const auto problem = answer.find("error"); problem != answer.end()) {
    TRY_ASSIGN(const auto code, base::decode<ErrorCode>(problem->value("code", Json()), "accelopt-device"));
    return base::fail(code, base::text_at(*problem, "message"));
  }
  return answer.value("result", Json::object());
}

}  // namespace accelopt::devices::cuda
