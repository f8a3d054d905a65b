// SPDX-License-Identifier: Apache-2.0
#include "capture/pool.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

namespace accelopt::capture {
namespace {

constexpr std::size_t kMostSolutions = 64;  ///< that a process is known to have machine code of

}  // namespace

/// A process, and a thread that starts and asks it: a process ends with the thread that started it, and those who ask
/// come and go.
class CapturePool::Member {
 public:
  explicit Member(const ServerOptions& options)
      : server_(options), thread_([this](const std::stop_token& end) { serve(end); }) {}

  /// What the work gives, on the member's thread. By one at a time.
  template <class Work>
  auto run(Work work) {
    std::optional<decltype(work(server_))> out;
    std::unique_lock lock(mutex_);
    job_ = [&] { out.emplace(work(server_)); };
    changed_.notify_all();
    changed_.wait(lock, [&] { return !job_; });
    return std::move(*out);
  }

  // The pool's, under its lock.
  bool busy = false;
  std::uint64_t used = 0;             ///< when, counted in requests
  std::deque<std::string> solutions;  ///< the last ones

 private:
  void serve(const std::stop_token& end) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, end, [&] { return static_cast<bool>(job_); })) {
      job_();
      job_ = nullptr;
      changed_.notify_all();
    }
  }

  CaptureServer server_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::function<void()> job_;
  std::jthread thread_;  ///< ends first
};

CapturePool::CapturePool(ServerOptions options, std::size_t most) : options_(std::move(options)), most_(most) {}
CapturePool::~CapturePool() = default;

/// A member that is busy for as long as this lives.
class CapturePool::Turn {
 public:
  Turn(CapturePool& pool, Member& member) : pool_(pool), member_(member) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    const std::scoped_lock lock(pool_.mutex_);
    member_.busy = false;
    pool_.freed_.notify_one();
  }

 private:
  CapturePool& pool_;
  Member& member_;
};

CapturePool::Member* CapturePool::take(const std::string& solution, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  Member* chosen = nullptr;
  const auto choose = [&] {
    for (const auto& member : members_) {
      if (member->busy) continue;
      const bool knows = std::ranges::find(member->solutions, solution) != member->solutions.end();
      if (knows) {
        chosen = member.get();
        return true;
      }
      if (chosen == nullptr || member->used < chosen->used) chosen = member.get();
    }
    if (chosen == nullptr && members_.size() < std::max<std::size_t>(most_, 1))
      chosen = members_.emplace_back(std::make_unique<Member>(options_)).get();
    return chosen != nullptr;
  };
  if (!freed_.wait(lock, stop, choose)) return nullptr;
  chosen->busy = true;
  chosen->used = ++requests_;
  std::erase(chosen->solutions, solution);
  chosen->solutions.push_back(solution);
  if (chosen->solutions.size() > kMostSolutions) chosen->solutions.pop_front();
  return chosen;
}

base::Result<Answer> CapturePool::ask(base::Json request, const std::string& solution, const std::stop_token& stop) {
  Member* const member = take(solution, stop);
  if (member == nullptr) return base::fail(base::ErrorCode::cancelled, "capturing was stopped as asked");
  const Turn turn(*this, *member);
  return member->run([&](CaptureServer& server) { return server.ask(std::move(request), stop); });
}

base::Result<std::string> CapturePool::version(const std::stop_token& stop) {
  Member* const member = take({}, stop);
  if (member == nullptr) return base::fail(base::ErrorCode::cancelled, "capturing was stopped as asked");
  const Turn turn(*this, *member);
  return member->run([&](CaptureServer& server) { return server.version(stop); });
}

}  // namespace accelopt::capture
