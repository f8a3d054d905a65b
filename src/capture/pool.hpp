// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "capture/server.hpp"

namespace accelopt::capture {

/// Several capturing processes, each started when a request finds all others busy. Any thread.
class CapturePool {
 public:
  CapturePool(ServerOptions options, std::size_t most);
  CapturePool(const CapturePool&) = delete;
  CapturePool& operator=(const CapturePool&) = delete;
  ~CapturePool();

  /// As CaptureServer::ask, by one that is free: if it can be, one that was asked for the same solution before, and so
  /// has its machine code. @error as there.
  base::Result<Answer> ask(base::Json request, const std::string& solution, const std::stop_token& stop);
  /// As CaptureServer::version.
  base::Result<std::string> version(const std::stop_token& stop);

 private:
  class Member;
  class Turn;
  /// A free one, now busy; null: stopped.
  Member* take(const std::string& solution, const std::stop_token& stop);

  ServerOptions options_;
  std::size_t most_;
  std::mutex mutex_;
  std::condition_variable_any freed_;
  std::vector<std::unique_ptr<Member>> members_;
  std::uint64_t requests_ = 0;
};

}  // namespace accelopt::capture
