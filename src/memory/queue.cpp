// SPDX-License-Identifier: Apache-2.0
#include "memory/queue.hpp"

#include <algorithm>

#include "base/hash.hpp"

namespace accelopt::memory {

Queue push(const Queue& older, const std::vector<model::Experience>& fresh, int capacity) {
  Queue queue = fresh;
  queue.insert(queue.end(), older.begin(), older.end());
  if (queue.size() > static_cast<std::size_t>(capacity)) queue.resize(static_cast<std::size_t>(capacity));
  return queue;
}

Queue push_as_published(const Queue& older, const std::vector<model::Experience>& fresh, int capacity,
                        std::uint64_t seed) {
  Queue drawn = older;
  std::sort(drawn.begin(), drawn.end(), [&](const model::Experience& a, const model::Experience& b) {
    return base::derive_seed(seed, a.id) < base::derive_seed(seed, b.id);
  });
  return push(drawn, fresh, capacity);
}

}  // namespace accelopt::memory
