// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "targets/trainium/chip.hpp"
#include "targets/trainium/neuron_device.hpp"
#include "targets/trainium/trainium_target.hpp"

namespace accelopt::targets::trainium {

/// Compiles, runs and times kernels by the vendor's package on a Neuron core. `options.device` is "neuron:N".
std::unique_ptr<evaluation::Target> make_neuron_target(TrainiumOptions options, NeuronOptions device);

/// What the documents say of a core's peaks.
evaluation::Peaks documented_peaks(const Generation& chip);

}  // namespace accelopt::targets::trainium
