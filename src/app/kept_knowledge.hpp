// SPDX-License-Identifier: Apache-2.0
// The knowledge store of a program that answers many calls, none of which may take long.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "app/knowledge_place.hpp"

namespace accelopt::app {

struct KeptKnowledgePorts {
  std::function<base::Result<std::unique_ptr<memory::KnowledgeStore>>(KnowledgeUse)> open;
  std::function<void()> reused;  ///< called before a store serves that was open already
  enum class Between { open, closed } between = Between::closed;  ///< what the store is between two calls
  std::chrono::milliseconds patience{8'000};                      ///< of a call; clients give up after ten seconds
};

/// A thread of its own uses the store, for one call after another. A store on a server stays open in between, with what
/// was read of it; a file is opened for each call. What runs of the workspace learned and could not deliver is sent
/// before each, as by open_knowledge(). Any number of threads may call.
class KeptKnowledge {
 public:
  /// The store that the environment names. `shell` outlives it.
  KeptKnowledge(const Shell& shell, const std::filesystem::path& workspace);
  explicit KeptKnowledge(KeptKnowledgePorts ports);
  /// Waits for the work under way: for a server that hangs, as long as its client does.
  ~KeptKnowledge();
  KeptKnowledge(const KeptKnowledge&) = delete;
  KeptKnowledge& operator=(const KeptKnowledge&) = delete;
  KeptKnowledge(KeptKnowledge&&) = delete;
  KeptKnowledge& operator=(KeptKnowledge&&) = delete;

  /// What the work gives with the store. The call lasts no longer than the patience, nor than until `stop`; work that
  /// has begun by then goes on without it, so it may refer to nothing of its caller's, and other work is dropped.
  /// @error as open_knowledge(); what the work gives; timed_out, cancelled: nobody waits for it any more.
  template <class T>
  base::Result<T> use(KnowledgeUse use, const std::stop_token& stop,
                      std::function<base::Result<T>(memory::KnowledgeStore&)> work) {
    const auto out = std::make_shared<std::optional<T>>();
    TRY(carry_out(use, stop, [out, work = std::move(work)](memory::KnowledgeStore& store) -> base::Result<void> {
      TRY_ASSIGN(*out, work(store));
      return {};
    }));
    return std::move(**out);
  }

 private:
  using Work = std::function<base::Result<void>(memory::KnowledgeStore&)>;
  struct Job;

  base::Result<void> carry_out(KnowledgeUse use, const std::stop_token& stop, Work work);
  void serve(const std::stop_token& end);
  base::Result<void> done(const Job& job);

  KeptKnowledgePorts ports_;
  std::unique_ptr<memory::KnowledgeStore> store_;  ///< of the thread alone
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::shared_ptr<Job>> waiting_;
  std::jthread thread_;  ///< begun by the first call
};

}  // namespace accelopt::app
