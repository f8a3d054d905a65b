// SPDX-License-Identifier: Apache-2.0
#include "app/kept_knowledge.hpp"

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "memory/surreal/address.hpp"

namespace accelopt::app {

using base::ErrorCode;
using base::fail;
using base::Result;
using Between = KeptKnowledgePorts::Between;

struct KeptKnowledge::Job {
  KnowledgeUse use;
  Work work;
  bool begun = false;
  std::optional<Result<void>> outcome{};
  std::exception_ptr bug{};  ///< what the work threw, for its caller
};

KeptKnowledge::KeptKnowledge(const Shell& shell, const std::filesystem::path& workspace)
    : KeptKnowledge(KeptKnowledgePorts{
          .open = [&shell, workspace](KnowledgeUse use) { return open_knowledge(shell, "", workspace, use); },
          .reused = [&shell, workspace] { send_waiting(shell, "", workspace); },
          .between = memory::surreal::is_address(chosen_knowledge("", shell.environment)) ? Between::open
                                                                                          : Between::closed}) {}

KeptKnowledge::KeptKnowledge(KeptKnowledgePorts ports) : ports_(std::move(ports)) {}

KeptKnowledge::~KeptKnowledge() = default;

Result<void> KeptKnowledge::carry_out(KnowledgeUse use, const std::stop_token& stop, Work work) {
  const auto job = std::make_shared<Job>(Job{.use = use, .work = std::move(work)});
  std::unique_lock lock(mutex_);
  if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& end) { serve(end); });
  waiting_.push_back(job);
  changed_.notify_all();
  changed_.wait_for(lock, stop, ports_.patience, [&] { return job->outcome.has_value(); });
  if (job->bug) std::rethrow_exception(job->bug);
  if (job->outcome) return std::move(*job->outcome);
  std::erase(waiting_, job);
  if (stop.stop_requested()) return fail(ErrorCode::cancelled, "nobody waits for the knowledge store any more");
  const auto seconds = std::chrono::duration<double>(ports_.patience).count();
  return fail(ErrorCode::timed_out,
              job->begun ? fmt::format("the knowledge store has given no answer within {:g} s; it hangs, or much of it "
                                       "is read for the first time. That goes on, so call again in half a minute (what "
                                       "has arrived by then is not added twice); if it stays so, look at its server",
                                       seconds)
                         : fmt::format("the knowledge store has been busy with earlier calls for {:g} s, and this one "
                                       "was not begun; call again in half a minute, and if it stays so, look at its "
                                       "server",
                                       seconds));
}

void KeptKnowledge::serve(const std::stop_token& end) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, end, [this] { return !waiting_.empty(); }) && !end.stop_requested()) {
    const auto job = waiting_.front();
    waiting_.pop_front();
    job->begun = true;
    lock.unlock();
    Result<void> outcome;
    std::exception_ptr bug;
    try {
      outcome = done(*job);
    } catch (...) {
      bug = std::current_exception();
      store_.reset();
    }
    lock.lock();
    job->bug = bug;
    job->outcome = std::move(outcome);
    changed_.notify_all();
  }
}

Result<void> KeptKnowledge::done(const Job& job) {
  if (store_) {
    ports_.reused();
  } else {
    TRY_ASSIGN(store_, ports_.open(job.use));
  }
  auto outcome = job.work(*store_);
  // After a failure of the store's own another connection may fare better.
  const bool works =
      outcome || outcome.error().code == ErrorCode::not_found || outcome.error().code == ErrorCode::invalid_argument;
  if (!works || ports_.between == Between::closed) store_.reset();
  return outcome;
}

}  // namespace accelopt::app
