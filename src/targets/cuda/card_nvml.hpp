// SPDX-License-Identifier: Apache-2.0
// Who else is on the device, as NVIDIA's management library tells it, where there is one. Nothing is ever set.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

namespace accelopt::targets::cuda {

class Neighbours {
 public:
  /// Loads `library`, or libnvidia-ml.so.1 where it is empty. Without it nobody is ever seen.
  explicit Neighbours(const std::string& library);
  /// To be called before this process has a context, and again once it has: who is new then is this process, whatever
  /// number it has there.
  void settle(const std::string& uuid);
  /// Whether others were on the device when it was last looked at, a fifth of a second ago at most; their numbers, as
  /// in "4711, 4712".
  std::string others();
  /// Whether the last call of `others` looked anew.
  [[nodiscard]] bool looked() const { return looked_; }

 private:
  struct Library;
  std::set<unsigned> listed() const;

  std::shared_ptr<Library> library_;
  void* device_ = nullptr;
  std::set<unsigned> own_;
  std::string seen_;
  std::chrono::steady_clock::time_point last_look_;
  bool looked_ = false;
};

}  // namespace accelopt::targets::cuda
