// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.hpp"

namespace accelopt::model {

/// A process that holds a device's lock, as far as it can be seen.
struct DeviceHolder {
  std::int64_t pid = 0;  ///< 0: it cannot be seen, e.g. from within a container
  std::string command;   ///< its program's name, printable; empty: unknown
  std::string user;      ///< likewise
  std::int64_t since_ms =
      0;  ///< UNIX time: as it says itself, else when it was first seen to hold the lock; 0: unknown
};
/// "process 4711 (sleep, user ann), since 14:03:22 UTC".
std::string describe(const DeviceHolder& holder);

/// A wait for a device that takes long enough to be told.
struct DeviceWait {
  enum class State {
    waiting,
    over,   ///< the device is free, or the wait was ended
    shared  ///< nobody is waited for longer: it is measured although the lock is held
  } state = State::waiting;
  DeviceHolder holder;
  double seconds = 0;  ///< waited so far
};
std::string_view to_string(DeviceWait::State state);
/// One line for people: who holds the device, or what became of the wait.
std::string describe(const DeviceWait& wait);

void to_json(base::Json& out, const DeviceWait& value);
/// Names become printable and short: they may come from anybody.
void from_json(const base::Json& in, DeviceWait& value);
/// Text of another user's or machine's, as a name in messages: short, without control characters.
std::string printable_name(std::string_view text);

}  // namespace accelopt::model
