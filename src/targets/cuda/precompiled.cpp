// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/precompiled.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/hash.hpp"
#include "model/c_tokens.hpp"
#include "targets/cuda/task_header.hpp"

namespace accelopt::targets::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrecompiledName = "headers.pch";

/// Since this version NVRTC has precompiled headers.
constexpr int kFirstMajor = 12;
constexpr int kFirstMinor = 8;

bool knows_precompiled(const Nvrtc& nvrtc) {
  return nvrtc.major > kFirstMajor || (nvrtc.major == kFirstMajor && nvrtc.minor >= kFirstMinor);
}

}  // namespace

std::string_view large_headers() {
  return "#include <cooperative_groups.h>\n#include <cooperative_groups/memcpy_async.h>\n"
         "#include <cooperative_groups/reduce.h>\n#include <cuda/barrier>\n#include <cuda/pipeline>\n";
}

bool uses_large_headers(std::string_view source) {
  if (source.find("cooperative_groups") == std::string_view::npos && source.find("cuda/") == std::string_view::npos)
    return false;
  const std::vector<model::Token> tokens = model::c_tokens(source);
  return std::any_of(tokens.begin(), tokens.end(), [](const model::Token& token) {
    if (token.kind != model::TokenKind::preprocessor) return false;
    constexpr std::array kNames{"<cooperative_groups", "<cuda/barrier>", "<cuda/pipeline>", "<cuda/atomic>"};
    return token.text.find("include") != std::string::npos &&
           std::any_of(kNames.begin(), kNames.end(),
                       [&](const char* name) { return token.text.find(name) != std::string::npos; });
  });
}

PrecompiledHeaders::PrecompiledHeaders(fs::path cache, const Nvrtc& nvrtc, std::vector<std::string> options)
    : nvrtc_(nvrtc), options_(std::move(options)) {
  if (cache.empty() || nvrtc.headers.empty() || !knows_precompiled(nvrtc)) return;
  std::string key = nvrtc.name() + '\n' + nvrtc.library + '\n' + nvrtc.headers.front().string() + '\n';
  for (const std::string& option : options_) key += option + '\n';
  place_ = cache / ("nvrtc-" + base::sha256_hex(key + std::string(large_headers())).substr(0, 16));
}

std::optional<fs::path> PrecompiledHeaders::folder(const std::stop_token& stop) {
  if (place_.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  std::error_code ignored;
  if (!usable_) usable_ = fs::is_regular_file(place_ / kPrecompiledName, ignored);
  if (!usable_ && !tried_) {
    tried_ = true;
    usable_ = make(place_, stop);
  }
  return usable_ ? std::optional(place_) : std::nullopt;
}

/// Under a name of its own first: another process may be at the same. The folder stays, because NVRTC takes it for one
/// of the options that must be the same when the headers are used.
bool PrecompiledHeaders::make(const fs::path& place, const std::stop_token& stop) const {
  std::error_code problem;
  fs::create_directories(place, problem);
  if (problem) return false;
  const std::string draft = std::string(kPrecompiledName) + "." + std::to_string(getpid());
  NvrtcJob job{"kernel.cu", std::string(large_headers()), options_, library_headers(), {}, place, {}};
  job.options.push_back("--create-pch=" + draft);
  job.options.push_back("--pch-dir=" + place.string());
  const auto made = compile(nvrtc_, job, nullptr, stop);
  if (made && made->compiled) fs::rename(place / draft, place / kPrecompiledName, problem);
  fs::remove(place / draft, problem);
  return fs::is_regular_file(place / kPrecompiledName, problem);
}

std::vector<std::string> PrecompiledHeaders::options_to_use(const fs::path& folder) {
  return {std::string("--use-pch=") + kPrecompiledName, "--pch-dir=" + folder.string()};
}

}  // namespace accelopt::targets::cuda
