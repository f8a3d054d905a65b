// SPDX-License-Identifier: Apache-2.0
#include "model/device_wait.hpp"

#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/names.hpp"
#include "base/text.hpp"

namespace accelopt::model {

namespace {

constexpr std::size_t kLongestName = 32;
constexpr std::int64_t kLatestMs = 253'402'300'799'000;  ///< of the year 9999

}  // namespace

std::string printable_name(std::string_view text) {
  return base::ascii_line(text, kLongestName);
}

std::string describe(const DeviceHolder& holder) {
  std::string text =
      holder.pid == 0 ? "a process that cannot be seen from here" : "process " + std::to_string(holder.pid);
  if (!holder.command.empty() || !holder.user.empty()) {
    text += fmt::format(" ({}{}{})", holder.command, holder.command.empty() || holder.user.empty() ? "" : ", ",
                        holder.user.empty() ? "" : "user " + holder.user);
  }
  if (holder.since_ms > 0 && holder.since_ms <= kLatestMs) {
    const auto since = static_cast<std::time_t>(holder.since_ms / 1000);
    text += fmt::format(", since {:%H:%M:%S} UTC", fmt::gmtime(since));
  }
  return text;
}

constexpr auto kStateNames = std::to_array<base::Named<DeviceWait::State>>({{DeviceWait::State::waiting, "waiting"},
                                                                            {DeviceWait::State::over, "over"},
                                                                            {DeviceWait::State::shared, "shared"}});

std::string_view to_string(DeviceWait::State state) {
  return base::name_in(kStateNames, state);
}

std::string describe(const DeviceWait& wait) {
  switch (wait.state) {
    case DeviceWait::State::waiting:
      return "waiting for the device; its lock is held by " + describe(wait.holder);
    case DeviceWait::State::over:
      return fmt::format("waited {:.0f} s for the device", wait.seconds);
    case DeviceWait::State::shared:
      return fmt::format("waited {:.0f} s for the device; measured now although its lock is held by {}", wait.seconds,
                         describe(wait.holder));
  }
  return {};
}

void to_json(base::Json& out, const DeviceWait& value) {
  out = {{"state", to_string(value.state)},
         {"pid", value.holder.pid == 0 ? base::Json() : base::Json(value.holder.pid)},
         {"command", value.holder.command},
         {"user", value.holder.user},
         {"since_ms", value.holder.since_ms == 0 ? base::Json() : base::Json(value.holder.since_ms)},
         {"seconds", value.seconds}};
}

void from_json(const base::Json& in, DeviceWait& value) {
  value.state = base::value_in(kStateNames, in.at("state").get<std::string>()).value_or(value.state);
  if (!in.at("pid").is_null()) in.at("pid").get_to(value.holder.pid);
  value.holder.command = printable_name(in.at("command").get<std::string>());
  value.holder.user = printable_name(in.at("user").get<std::string>());
  if (!in.at("since_ms").is_null()) in.at("since_ms").get_to(value.holder.since_ms);
  in.at("seconds").get_to(value.seconds);
}

}  // namespace accelopt::model
