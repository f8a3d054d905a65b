// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/doctor.hpp"

#include <utility>

#include "capture/server.hpp"
#include "targets/trainium/chip.hpp"
#include "targets/trainium/neuron_device.hpp"

namespace accelopt::targets::trainium {

using evaluation::Finding;

namespace {

/// Says nothing where nobody has the vendor's package: the model needs none.
void examine_device(const evaluation::Environment& environment, const evaluation::Report& report) {
  if (!capture::find_python_with({environment}, "neuronxcc")) return;
  NeuronOptions options;
  options.python.environment = environment;
  const auto device = NeuronDevice::open(std::move(options), {});
  if (device)
    report({"trainium", Finding::State::ok, (*device)->version() + " runs NKI kernels on neuron:N"});
  else
    report({"trainium", Finding::State::degraded, "neuron:N cannot be used", device.error().message});
}

}  // namespace

int examine(const evaluation::Environment& environment, const evaluation::Report& report) {
  examine_device(environment, report);
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
