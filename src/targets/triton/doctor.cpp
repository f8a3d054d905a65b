// SPDX-License-Identifier: Apache-2.0
#include "targets/triton/doctor.hpp"

#include "capture/server.hpp"

namespace accelopt::targets::triton {

using evaluation::Finding;

int examine(const evaluation::Environment& environment, const evaluation::Report& report) {
  const auto python = capture::find_python({environment});
  if (!python) {
    report({"triton", Finding::State::degraded, "Triton solutions cannot be captured", python.error().message});
    return 0;
  }
  capture::CaptureServer server({.python = *python});
  const auto version = server.version({});
  if (version)
    report({"triton", Finding::State::ok, *version + " captures; " + python->program.string()});
  else
    report({"triton", Finding::State::degraded, version.error().message, "reinstall triton in that environment"});
  return 0;
}

}  // namespace accelopt::targets::triton
