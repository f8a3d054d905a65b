// SPDX-License-Identifier: Apache-2.0
#include "capture/pool.hpp"

#include <algorithm>
#include <utility>

namespace accelopt::capture {
namespace {

constexpr std::size_t kMostSolutions = 64;  ///< that a process is known to have machine code of

}  // namespace

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
  return member->server.ask(std::move(request), stop);
}

base::Result<std::string> CapturePool::version(const std::stop_token& stop) {
  Member* const member = take({}, stop);
  if (member == nullptr) return base::fail(base::ErrorCode::cancelled, "capturing was stopped as asked");
  const Turn turn(*this, *member);
  return member->server.version(stop);
}

}  // namespace accelopt::capture
