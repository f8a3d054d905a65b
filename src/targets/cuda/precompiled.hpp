// SPDX-License-Identifier: Apache-2.0
// CUDA's largest headers, compiled once and kept: reading them takes NVRTC a second or more.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "targets/cuda/nvrtc.hpp"

namespace accelopt::targets::cuda {

/// The lines that a source with precompiled headers begins with.
std::string_view large_headers();

/// Whether the source includes one of them, so that starting with all of them saves time.
bool uses_large_headers(std::string_view source);

/// The precompiled headers of one NVRTC and one list of options. May be called from many threads.
class PrecompiledHeaders {
 public:
  /// `cache`: where they are kept, a folder of its own for each NVRTC and list of options; empty: there are none.
  PrecompiledHeaders(std::filesystem::path cache, const Nvrtc& nvrtc, std::vector<std::string> options);

  /// Their folder, made at the first call. None where they cannot be made: a compilation then takes longer.
  std::optional<std::filesystem::path> folder(const std::stop_token& stop);

  /// What a compilation that begins with `large_headers` must be told to use them.
  [[nodiscard]] static std::vector<std::string> options_to_use(const std::filesystem::path& folder);

 private:
  bool make(const std::filesystem::path& place, const std::stop_token& stop) const;

  std::filesystem::path place_;
  const Nvrtc& nvrtc_;
  std::vector<std::string> options_;
  std::mutex mutex_;
  bool tried_ = false;
  bool usable_ = false;
};

}  // namespace accelopt::targets::cuda
