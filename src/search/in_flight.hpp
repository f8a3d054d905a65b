// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <map>
#include <mutex>
#include <optional>
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
    std::shared_future<base::Outcome<T>> shared;
    {
      const std::scoped_lock lock(mutex_);
      const auto [place, first] = at_work_.try_emplace(key);
      Waited& others = place->second;
      if (!first && !others.future.valid()) others.future = others.promise.emplace().get_future().share();
      shared = others.future;
    }
    if (shared.valid()) return shared.get();
    base::Outcome<T> result = work();
    std::optional<std::promise<base::Outcome<T>>> waited_for;
    {
      const std::scoped_lock lock(mutex_);
      waited_for = std::move(at_work_.extract(key).mapped().promise);
    }
    if (waited_for) waited_for->set_value(result);
    return result;
  }

 private:
  /// Made by the second thread that wants it: mostly there is none.
  struct Waited {
    std::optional<std::promise<base::Outcome<T>>> promise;
    std::shared_future<base::Outcome<T>> future;
  };

  std::mutex mutex_;
  std::map<std::string, Waited> at_work_;
};

}  // namespace accelopt::search
