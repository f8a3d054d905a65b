// SPDX-License-Identifier: Apache-2.0
#include "mcp/calls.hpp"

#include <system_error>
#include <thread>
#include <utility>

namespace accelopt::mcp {

std::shared_ptr<void> ByteBudget::take(std::size_t bytes) {
  std::size_t left = left_;
  do {
    if (left < bytes) return nullptr;
  } while (!left_.compare_exchange_weak(left, left - bytes));
  return {this, [bytes](void* budget) { static_cast<ByteBudget*>(budget)->left_ += bytes; }};
}

Calls::~Calls() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return going_ == 0; });
}

bool Calls::begin(std::function<void()> work) {
  {
    const std::scoped_lock lock(mutex_);
    if (going_ == most_) return false;
    ++going_;
  }
  const auto end = [this] {
    const std::scoped_lock lock(mutex_);
    --going_;
    ended_.notify_all();
  };
  try {
    std::thread([work = std::move(work), end]() mutable {
      work();
      work = nullptr;  // what it holds may be given back to what lives only as long as somebody waits for the end
      end();
    }).detach();
  } catch (const std::system_error&) {  // the machine has no more threads
    end();
    return false;
  }
  return true;
}

}  // namespace accelopt::mcp
