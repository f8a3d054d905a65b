// SPDX-License-Identifier: Apache-2.0
#include "journal/step_filter.hpp"

#include <utility>

namespace accelopt::journal {
namespace {

/// Of two steps with equal hashes one is looked for in vain, now and then.
std::uint64_t hash_of(const StepKey& key, std::string_view input_hash) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15U;  // 2^64 over the golden ratio
  std::uint64_t hash = 0;
  const auto mix = [&hash](std::uint64_t value) {
    hash = (hash ^ value) * kMultiplier;
    hash ^= hash >> 32U;
  };
  const model::Identity& id = key.identity;
  for (const int part : {id.iteration, id.parent, id.plan, id.attempt, id.fix}) mix(static_cast<std::uint64_t>(part));
  mix(std::hash<std::string_view>()(key.kind));
  mix(std::hash<std::string_view>()(input_hash));
  return hash;
}

}  // namespace

bool StepFilter::lacks(std::string_view run, const StepKey& key, std::string_view input_hash) {
  const std::uint64_t hash = hash_of(key, input_hash);
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(run);
  return found != runs_.end() && !found->second.contains(hash);
}

base::Result<void> StepFilter::add(std::string_view run, const StepKey& key, std::string_view input_hash,
                                   const std::function<base::Result<void>(const See& see)>& list) {
  const std::uint64_t hash = hash_of(key, input_hash);
  const std::lock_guard lock(mutex_);
  auto found = runs_.find(run);
  if (found == runs_.end()) {
    std::unordered_set<std::uint64_t> hashes;
    TRY(list([&](const StepKey& other, std::string_view other_input) { hashes.insert(hash_of(other, other_input)); }));
    found = runs_.emplace(std::string(run), std::move(hashes)).first;
  }
  found->second.insert(hash);
  return {};
}

void StepFilter::forget(std::string_view run) {
  const std::lock_guard lock(mutex_);
  if (const auto found = runs_.find(run); found != runs_.end()) runs_.erase(found);
}

}  // namespace accelopt::journal
