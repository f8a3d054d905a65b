// SPDX-License-Identifier: Apache-2.0
// What this program and accelopt-nvrtc send each other: one request, one reply, as texts behind their lengths.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace accelopt::targets::cuda {

struct NvrtcRequest {
  std::string library;  ///< to load: a path, or a name for the loader to find
  std::string name;     ///< of the source, as diagnostics show it
  std::string source;   ///< empty: only what the library is, is asked
  std::vector<std::string> options;
  std::vector<std::pair<std::string, std::string>> headers;  ///< name in #include, text
};

struct NvrtcReply {
  std::string failure;  ///< why the library cannot be used; empty: it can
  std::string library;  ///< its path, as it was loaded
  int major = 0;        ///< version
  int minor = 0;
  std::vector<int> architectures;  ///< that it compiles for: 90, ...
  int result = 0;                  ///< nvrtcCompileProgram's; 0: success
  std::string log;
  std::string cubin;
};

std::string pack(const NvrtcRequest& request);
std::string pack(const NvrtcReply& reply);
/// None: the bytes are not what `pack` writes.
std::optional<NvrtcRequest> unpack_request(std::string_view bytes);
std::optional<NvrtcReply> unpack_reply(std::string_view bytes);

}  // namespace accelopt::targets::cuda
