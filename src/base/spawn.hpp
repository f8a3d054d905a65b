// SPDX-License-Identifier: Apache-2.0
// What is common to starting other programs by posix_spawn.
#pragma once

#include <spawn.h>

#include <string>
#include <vector>

namespace accelopt::base {

/// What a program that is started is kept apart from this one's terminal by: Ctrl-C there does not reach it.
enum class Apart { own_group, own_session };

/// What posix_spawn takes besides a program, its words and its variables. No signal is blocked, and those that this
/// process may ignore or wait for do what programs expect.
class SpawnSetup {
 public:
  explicit SpawnSetup(Apart apart);
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;
  ~SpawnSetup();
  /// Descriptors and the folder, to be added to; at first all is inherited.
  [[nodiscard]] posix_spawn_file_actions_t* actions() { return &actions_; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// "NAME=value" of each variable of this process.
std::vector<std::string> inherited_variables();

/// As exec and posix_spawn take words: with a null at the end. Valid as long as the texts stay as they are.
std::vector<char*> pointers_to(std::vector<std::string>& texts);

}  // namespace accelopt::base
