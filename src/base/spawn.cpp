// SPDX-License-Identifier: Apache-2.0
#include "base/spawn.hpp"

#include <unistd.h>

#include <csignal>

namespace accelopt::base {

SpawnSetup::SpawnSetup(Apart apart) {
  posix_spawn_file_actions_init(&actions_);
  posix_spawnattr_init(&attributes_);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes_, &signals);
  for (const int number : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM}) sigaddset(&signals, number);
  posix_spawnattr_setsigdefault(&attributes_, &signals);
  const int own = apart == Apart::own_session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
  posix_spawnattr_setflags(&attributes_, static_cast<short>(own | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
}

SpawnSetup::~SpawnSetup() {
  posix_spawn_file_actions_destroy(&actions_);
  posix_spawnattr_destroy(&attributes_);
}

std::vector<std::string> inherited_variables() {
  std::vector<std::string> variables;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) variables.emplace_back(*at);
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace accelopt::base
