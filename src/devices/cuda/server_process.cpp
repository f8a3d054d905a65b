// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/server_process.hpp"

#include <sys/mman.h>
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

constexpr std::size_t kMostAnswerBytes = std::size_t{1} << 30;  ///< what is large lies in shared memory

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
  sandbox::SpawnOptions options;
  options.program = program_;
  options.environment = server_environment();
  options.descriptors = {{STDERR_FILENO, STDERR_FILENO}, {bulk_.get(), kBulkDescriptor}};
  options.own_namespaces = false;
  TRY_ASSIGN(process_, sandbox::LineProcess::start(std::move(options), {kChannelDescriptor}, "accelopt-device"));
  ++generation_;
  return {};
}

void ServerProcess::end() {
  process_.end();
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

base::Result<Json> ServerProcess::ask(const Json& request, const std::vector<std::string_view>& bulk,
                                      std::chrono::nanoseconds limit) {
  if (!process_.valid()) TRY(start());
  TRY(lay_out(bulk));
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  const auto sent = process_.send(base::canonical(request), deadline);
  const auto line = sent ? process_.receive(deadline, kMostAnswerBytes)
                         : base::Result<std::string>(tl::make_unexpected(sent.error()));
  if (!line) {
    if (line.error().code == ErrorCode::timed_out) {
      end();
      return tl::make_unexpected(line.error());
    }
    return base::fail(ErrorCode::unavailable, "accelopt-device " + process_.reap());
  }
  TRY_ASSIGN(const Json answer, base::parse_json(*line, "accelopt-device"));
  if (answer.value("lost", false)) process_.reap();
  if (const auto problem = answer.find("error"); problem != answer.end()) {
    TRY_ASSIGN(const auto code, base::decode<ErrorCode>(problem->value("code", Json()), "accelopt-device"));
    return base::fail(code, base::text_at(*problem, "message"));
  }
  return answer.value("result", Json::object());
}

}  // namespace accelopt::devices::cuda
