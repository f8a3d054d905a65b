// SPDX-License-Identifier: Apache-2.0
// The knowledge store as a run uses it: a store that fails never costs anything. What the run learned is posted in its
// journal first and goes out from there, in order and once; what cannot be read is made up for from the journal.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "journal/journal.hpp"
#include "memory/knowledge_store.hpp"

namespace accelopt::memory {

/// What one iteration of a run has for the store.
struct Contribution {
  std::vector<model::Experience> experiences;
  std::vector<SolutionRecord> solutions;
  std::vector<CreditEvent> credit;
};

void to_json(base::Json& out, const Contribution& value);
void from_json(const base::Json& in, Contribution& value);

/// How a run reaches its store.
struct KnowledgePorts {
  std::string place;  ///< path or address without a password: what is posted for it goes to no other
  std::function<base::Result<std::unique_ptr<KnowledgeStore>>()> open;
  journal::Journal* journal = nullptr;                  ///< outlives it
  std::function<void(const std::string& text)> notice;  ///< told when the store fails, and when it is back
  /// Keep, beside the journal, ids of its experiences that the store hides, and give them back; empty: nobody does.
  std::function<base::Result<void>(const std::vector<std::string>& ids)> keep_hidden{};
  std::function<base::Result<std::vector<std::string>>()> kept_hidden{};
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

/// What became of what waits.
struct Delivery {
  int sent = 0;
  std::optional<base::Error> refused{};  ///< why the rest goes on waiting; nothing: all has arrived
};

/// A store that takes long to fail is left alone for a while, twice as long each time: a run has better uses of its
/// time. Used by one thread at a time. Its errors are the journal's.
class Knowledge {
 public:
  explicit Knowledge(KnowledgePorts ports) : ports_(std::move(ports)) {}

  /// The best experiences for the query (rank()). Where the store cannot be read: of those that this journal's runs
  /// made, this one's (query.without_run) apart, and apart from those that were quarantined or forgotten when it could
  /// be read last.
  std::vector<model::Experience> recall(const Query& query, int places);

  /// Posts it in the journal, once for the run and key, and delivers what waits. @error as the journal's.
  base::Result<void> contribute(const std::string& run, const std::string& key, const Contribution& contribution);

  /// Sends what waits in the journal for this store, of all runs, in order; what the store refuses goes on waiting.
  /// @error as the journal's.
  base::Result<Delivery> deliver();

 private:
  base::Result<KnowledgeStore*> store();
  base::Result<void> send(const Contribution& contribution);
  std::vector<Match> local_matches(const Query& query);
  /// Runs of the journal that the fallback looks through, newest first.
  std::vector<std::string> local_runs();
  /// Notes which of the journal's experiences the store hides now; what cannot be found out stays as it was noted.
  void keep_hidden(KnowledgeStore& opened);
  void failed(const base::Error& error, std::chrono::steady_clock::duration took);
  void works();

  KnowledgePorts ports_;
  std::unique_ptr<KnowledgeStore> store_;
  bool down_ = false;                   ///< told so
  std::optional<base::Error> trouble_;  ///< why it was left alone last
  std::chrono::steady_clock::time_point left_alone_until_;
  std::chrono::steady_clock::duration pause_{};        ///< the last one since it worked
  std::optional<std::vector<std::string>> local_ids_;  ///< of the journal's experiences, when the store was first read
  std::optional<std::vector<std::string>> hidden_;     ///< as kept last, sorted
};

}  // namespace accelopt::memory
