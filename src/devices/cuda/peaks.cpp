// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/peaks.hpp"

#include <tuple>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "devices/cuda/builtin_kernels.hpp"
#include "evaluation/evaluator_json.hpp"
#include "evaluation/roofline.hpp"

namespace accelopt::devices::cuda {

using evaluation::Peaks;

std::filesystem::path peaks_file(const std::filesystem::path& folder, const DeviceFacts& facts) {
  if (folder.empty()) return {};
  const std::string what =
      facts.name + "\n" + std::to_string(facts.driver_version) + "\n" + std::string(peak_kernels_text());
  return folder / ("peaks-cuda-" + base::sha256_hex(what).substr(0, 16) + ".json");
}

std::optional<Peaks> stored_peaks(const std::filesystem::path& file) {
  if (file.empty()) return std::nullopt;
  const auto text = base::read_file(file);
  if (!text) return std::nullopt;
  const auto json = base::parse_json(*text, file.string());
  if (!json) return std::nullopt;
  const auto peaks = base::decode<Peaks>(*json, file.string());
  if (!peaks || !(peaks->flops_per_second > 0) || !(peaks->bytes_per_second > 0)) return std::nullopt;
  return *peaks;
}

Peaks store_peaks(const std::filesystem::path& file, const DeviceFacts& facts, const Peaks& peaks) {
  const auto known = stored_peaks(file);
  const Peaks best = known ? evaluation::larger_peaks(peaks, *known) : peaks;
  if (file.empty() || !base::make_folders(file.parent_path())) return best;
  base::Json json = best;
  json["device"] = facts.name;
  std::ignore = base::write_file(file, base::canonical(json) + "\n").has_value();
  return best;
}

}  // namespace accelopt::devices::cuda
