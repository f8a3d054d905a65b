// SPDX-License-Identifier: Apache-2.0
#include "app/builds_here.hpp"

#include <algorithm>
#include <regex>
#include <thread>

#include <fmt/format.h>

#include "app/target.hpp"
#include "model/target_description.hpp"

namespace accelopt::app {
namespace {

/// What tells the toolchains apart; empty: nothing.
std::string difference(const model::Environment& here, const model::Environment& there) {
  const auto differs = [](const char* what, const std::string& one, const std::string& other) {
    return fmt::format("the {} is \"{}\", and the device's is \"{}\"", what, one, other);
  };
  if (here.compiler != there.compiler) return differs("compiler", here.compiler, there.compiler);
  if (here.flags != there.flags) return differs("list of flags", here.flags, there.flags);
  // Without a device of its own a toolchain builds for the one that the flags name.
  if (!here.device.empty() && here.device != there.device) return differs("processor", here.device, there.device);
  return {};
}

/// "kernel.cpp:3:8: error", "kernel.cu(3): error", "line 3"
bool names_a_line(const std::string& diagnostics) {
  static const std::regex kPlace(R"((:|\(|line )[0-9]+)");
  return std::regex_search(diagnostics, kPlace);
}

}  // namespace

BuildsHere::BuildsHere(const Shell& shell, const model::Task& task, const DeviceFlags& flags, Notice notice)
    : shell_(shell),
      task_(task),
      device_(flags.device == DeviceFlags().device ? model::device_kind(task.target) : flags.device),
      compiler_(flags.compiler),
      notice_(std::move(notice)),
      free_(std::max(1, static_cast<int>(std::thread::hardware_concurrency()))) {}

evaluation::Target* BuildsHere::toolchain_like(const model::Environment& there, const std::stop_token& stop) {
  const std::lock_guard lock(mutex_);
  if (looked_) return target_.get();
  looked_ = true;
  const auto refuse = [&](const std::string& why) -> evaluation::Target* {
    target_.reset();
    notice_("kernels are compiled where bundles are executed, not here as well: " + why);
    return nullptr;
  };
  auto made = make_target(shell_, device_, compiler_);
  if (!made) return refuse(made.error().message);
  target_ = std::move(*made);
  if (const auto opened = target_->open_to_build(task_, stop); !opened) {
    looked_ = opened.error().code != base::ErrorCode::cancelled;
    return refuse(opened.error().message);
  }
  if (const std::string other = difference(target_->environment(), there); !other.empty())
    return refuse("of this machine " + other);
  notice_("kernels are compiled here first, by " + there.compiler + " as on the device: those that fail do not travel");
  return target_.get();
}

std::optional<BuildsHere::Failed> BuildsHere::failed(const model::Kernel& kernel, const model::Environment& there,
                                                     const std::stop_token& stop) {
  evaluation::Target* const target = toolchain_like(there, stop);
  if (target == nullptr) return std::nullopt;
  free_.acquire();
  auto built = target->build(kernel, stop);
  free_.release();
  // What went wrong here need not go wrong there, but for what the compiler says of a line of the kernel: its own
  // limits on time and memory are this machine's.
  if (!built || built->built || !names_a_line(built->diagnostics)) return std::nullopt;
  return Failed{std::move(*built), target->environment()};
}

}  // namespace accelopt::app
