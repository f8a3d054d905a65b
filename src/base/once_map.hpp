// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/result.hpp"

namespace accelopt::base {

/// Values that are made once a key and kept: all of them, or those that were asked for last. Who asks for one that
/// another thread is making waits for it. Every function may be called from many threads.
template <class Value>
class OnceMap {
 public:
  using Pointer = std::shared_ptr<const Value>;
  using BytesOf = std::function<std::uint64_t(const Value&)>;

  OnceMap() = default;
  /// Keeps no more than so many bytes of values, or the last one alone.
  OnceMap(std::uint64_t most_bytes, BytesOf bytes_of) : most_bytes_(most_bytes), bytes_of_(std::move(bytes_of)) {}

  /// The key's value, made by `make()`, a Result<Pointer>, where there is none. An error is not kept: the next one
  /// tries again.
  template <class Make>
  Result<Pointer> get(const std::string& key, Make make) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] {
        const auto found = values_.find(key);
        return found == values_.end() || found->second.value != nullptr;
      });
      if (Pointer known = touched(key)) return known;
      values_.emplace(key, Kept{});
    }
    Result<Pointer> made = make();
    const std::lock_guard lock(mutex_);
    if (made && *made != nullptr) {
      keep(key, *made);
    } else {
      values_.erase(key);
    }
    changed_.notify_all();
    return made;
  }

  /// The key's value; null: there is none.
  Pointer find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    return touched(key);
  }

  /// In place of what the key has. Nobody may be making it.
  void put(const std::string& key, Pointer value) {
    const std::lock_guard lock(mutex_);
    keep(key, std::move(value));
  }

 private:
  struct Kept {
    Pointer value;  ///< null: a thread is at it
    std::uint64_t bytes = 0;
    std::uint64_t used = 0;  ///< when, counted in uses
  };

  Pointer touched(const std::string& key) {
    const auto found = values_.find(key);
    if (found == values_.end()) return nullptr;
    found->second.used = ++uses_;
    return found->second.value;
  }

  void keep(const std::string& key, Pointer value) {
    Kept& kept = values_[key];
    const std::uint64_t bytes = bytes_of_ ? bytes_of_(*value) : 0;
    bytes_ += bytes - kept.bytes;
    kept = {std::move(value), bytes, ++uses_};
    while (bytes_ > most_bytes_) {
      auto oldest = values_.end();
      for (auto one = values_.begin(); one != values_.end(); ++one) {
        const bool other = one->second.value != nullptr && one->first != key;
        if (other && (oldest == values_.end() || one->second.used < oldest->second.used)) oldest = one;
      }
      if (oldest == values_.end()) return;
      bytes_ -= oldest->second.bytes;
      values_.erase(oldest);
    }
  }

  std::uint64_t most_bytes_ = ~std::uint64_t{0};
  BytesOf bytes_of_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Kept> values_;
  std::uint64_t bytes_ = 0;
  std::uint64_t uses_ = 0;
};

}  // namespace accelopt::base
