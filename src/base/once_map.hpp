// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.hpp"

namespace accelopt::base {

/// Values that are made once a key and kept. Who asks for one that another thread is making waits for it. Every
/// function may be called from many threads.
template <class Value>
class OnceMap {
 public:
  using Pointer = std::shared_ptr<const Value>;

  /// The key's value, made by `make()`, a Result<Pointer>, where there is none. An error is not kept: the next one
  /// tries again.
  template <class Make>
  Result<Pointer> get(const std::string& key, Make make) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] {
        const auto found = values_.find(key);
        return found == values_.end() || found->second != nullptr;
      });
      if (const auto found = values_.find(key); found != values_.end()) return found->second;
      values_.emplace(key, nullptr);
    }
    Result<Pointer> made = make();
    const std::lock_guard lock(mutex_);
    if (made && *made != nullptr) {
      values_[key] = *made;
    } else {
      values_.erase(key);
    }
    changed_.notify_all();
    return made;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Pointer> values_;  ///< null: a thread is at it
};

}  // namespace accelopt::base
