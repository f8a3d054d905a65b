// SPDX-License-Identifier: Apache-2.0
// NVRTC of this machine, and compilations with it in processes of their own.
#pragma once

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "sandbox/pause_gate.hpp"
#include "targets/cuda/nvrtc_protocol.hpp"

namespace accelopt::targets::cuda {

/// Where to look for NVRTC.
struct NvrtcPlaces {
  std::filesystem::path helper;                    ///< the program accelopt-nvrtc; empty: beside this program
  std::string library;                             ///< to load, a path; empty: looked for
  std::filesystem::path headers;                   ///< CUDA's include folder; empty: found beside the library
  std::map<std::string, std::string> environment;  ///< CUDA_HOME CUDA_PATH LD_LIBRARY_PATH VIRTUAL_ENV HOME, where set
};

/// An NVRTC that works.
struct Nvrtc {
  std::filesystem::path helper;
  std::string library;  ///< absolute path
  int major = 0;
  int minor = 0;
  std::vector<int> architectures;              ///< 90 for sm_90 and sm_90a
  std::vector<std::filesystem::path> headers;  ///< CUDA's include folders; empty: none were found

  /// "NVRTC 13.0".
  [[nodiscard]] std::string name() const;
};

/// Finds NVRTC 12 or 13 where the loader, CUDA_HOME and CUDA_PATH, /usr/local/cuda*, and Python's site-packages have
/// it, and tries whether it can be loaded.
/// @error unsupported: there is none, or it cannot be used; says where it was looked for and what to install.
base::Result<Nvrtc> locate_nvrtc(const NvrtcPlaces& places);

struct NvrtcJob {
  std::string name;    ///< of the source, as diagnostics show it
  std::string source;  ///< not empty
  std::vector<std::string> options;
  std::vector<std::pair<std::string, std::string>> headers;  ///< besides CUDA's own: name in #include, text
  std::filesystem::path precompiled;                         ///< a folder that NVRTC may read; empty: none
  std::filesystem::path writable;                            ///< a folder that NVRTC may write; empty: none
  std::vector<int> cores;                                    ///< where it may run; empty: anywhere
};

/// What came of a compilation.
struct NvrtcOutcome {
  bool compiled = false;
  std::string log;       ///< the compiler's, unfiltered; of one that ended by a limit: what ended it
  bool limited = false;  ///< a limit on time, memory or output ended it
  std::string cubin;
  double seconds = 0;
};

/// Compiles in a sandbox: with limits on time and memory, without network, and with no file in reach but the system's
/// libraries, NVRTC and CUDA's headers. @error io, cancelled; internal: the helper does not answer.
base::Result<NvrtcOutcome> compile(const Nvrtc& nvrtc, const NvrtcJob& job, sandbox::PauseGate* gate,
                                   const std::stop_token& stop);

}  // namespace accelopt::targets::cuda
