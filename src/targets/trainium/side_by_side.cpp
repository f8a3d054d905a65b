// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/side_by_side.hpp"

#include <future>
#include <new>
#include <vector>

namespace accelopt::targets::trainium {

namespace {

base::Result<void> within_memory(const std::function<base::Result<void>(std::size_t)>& work, std::size_t i) {
  try {
    return work(i);
  } catch (const std::bad_alloc&) {
    return base::fail(base::ErrorCode::exhausted, "too little memory for the kernel");
  }
}

}  // namespace

base::Result<void> side_by_side(std::size_t count, const std::function<base::Result<void>(std::size_t)>& work) {
  std::vector<std::future<base::Result<void>>> others;
  for (std::size_t i = 0; i + 1 < count; ++i)
    others.push_back(std::async(std::launch::async, [&work, i] { return within_memory(work, i); }));
  const base::Result<void> last = count == 0 ? base::Result<void>() : within_memory(work, count - 1);
  for (const auto& other : others) other.wait();
  for (auto& other : others) TRY(other.get());
  return last;
}

}  // namespace accelopt::targets::trainium
