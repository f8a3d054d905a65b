// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/doctor.hpp"

#include "capture/server.hpp"
#include "targets/trainium/chip.hpp"

namespace accelopt::targets::trainium {

using evaluation::Finding;

int examine(const evaluation::Environment& environment, const evaluation::Report& report) {
  const auto python = capture::find_any_python({environment});
  if (!python) {
    report({"trainium", Finding::State::degraded, "NKI kernels cannot be traced", python.error().message});
    return 0;
  }
  capture::CaptureServer server({.python = *python, .front_end = capture::FrontEnd::nki});
  const auto version = server.version({});
  if (version)
    report(
        {"trainium", Finding::State::ok,
         *version + " traces NKI kernels; times are modelled (" + std::string(kModelVersion) + "), no device is used"});
  else
    report({"trainium", Finding::State::degraded, version.error().message, "install Python 3.11 or newer"});
  return 0;
}

}  // namespace accelopt::targets::trainium
