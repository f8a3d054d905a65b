// SPDX-License-Identifier: Apache-2.0
// Who else is on the device, as NVIDIA's management library tells it, where there is one. Nothing is ever set.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace accelopt::devices::cuda {

class Neighbours {
 public:
  /// Loads `library`, or libnvidia-ml.so.1 where it is empty. Without it nobody is ever seen.
  explicit Neighbours(const std::string& library);
  /// To be called before this process has a context, and again once it has: who is new then is this process, whatever
  /// number it has there.
  void settle(const std::string& uuid);
  /// Whether others were on the device when it was last looked at, a fifth of a second ago at most and more often where
  /// looking takes little; their numbers and, where they can be read, their names, as in "4711 (python3), 4712".
  /// Another accelopt-device is none of them: it keeps still while this one measures.
  std::string others();
  /// Who would not be seen, and why, as half a sentence; empty: whoever is there is seen.
  [[nodiscard]] const std::string& unseen() const { return unseen_; }

 private:
  struct Library;
  using Listed = std::optional<std::set<unsigned>>;  ///< none: `unseen_` says why
  void find_device(const std::string& uuid);
  void blind(const std::string& why);
  Listed listed();
  [[nodiscard]] std::string text_of(int code) const;

  std::shared_ptr<Library> library_;
  void* device_ = nullptr;
  std::set<unsigned> before_;      ///< on the device before this process
  std::set<unsigned> own_;         ///< numbers of this process
  bool numbers_are_ours_ = false;  ///< those of this process's own namespace: names can be looked up
  std::string unseen_;
  std::string seen_;
  std::chrono::steady_clock::time_point next_look_;
};

}  // namespace accelopt::devices::cuda
