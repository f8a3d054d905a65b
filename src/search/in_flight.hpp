// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <map>
#include <mutex>
#include <string>

#include "base/outcome.hpp"

namespace accelopt::search {

/// Work that several threads may want at once is done by the first and shared with the rest. Nothing is kept: whoever
/// comes later asks the record.
template <class T>
class InFlight {
 public:
  /// The result of `work` for this key, from whichever thread came first. `work` is a callable that gives Outcome<T>.
  template <class Work>
  base::Outcome<T> share(const std::string& key, Work&& work) {
    std::promise<base::Outcome<T>> promise;
    std::shared_future<base::Outcome<T>> future;
    bool first = false;
    {
      const std::scoped_lock lock(mutex_);
      const auto [place, inserted] = futures_.try_emplace(key);
      if (inserted) place->second = promise.get_future().share();
      future = place->second;
      first = inserted;
    }
    if (first) {
      promise.set_value(work());
      const std::scoped_lock lock(mutex_);
      futures_.erase(key);
    }
    return future.get();
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_future<base::Outcome<T>>> futures_;
};

}  // namespace accelopt::search
