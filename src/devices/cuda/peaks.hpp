// SPDX-License-Identifier: Apache-2.0
// Peaks of a device, measured once and kept: one file a device's name, driver and way of measuring.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "base/result.hpp"
#include "devices/cuda/protocol.hpp"
#include "evaluation/reports.hpp"

namespace accelopt::devices::cuda {

/// The file below `folder`; empty without a folder.
std::filesystem::path peaks_file(const std::filesystem::path& folder, const DeviceFacts& facts);
/// What the file holds; none: nothing that can be used.
std::optional<evaluation::Peaks> stored_peaks(const std::filesystem::path& file);
/// Keeps of each peak the best ever seen, and gives those. Keeping them is a convenience: a folder that cannot be
/// written costs the next worker a second.
evaluation::Peaks store_peaks(const std::filesystem::path& file, const DeviceFacts& facts,
                              const evaluation::Peaks& peaks);

}  // namespace accelopt::devices::cuda
