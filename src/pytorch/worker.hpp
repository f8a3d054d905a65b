// SPDX-License-Identifier: Apache-2.0
// A process in which PyTorch itself runs: the user's Python, asked in lines of JSON, with tensors in files.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "capture/python.hpp"
#include "sandbox/json_process.hpp"

namespace accelopt::pytorch {

/// Where tensors are computed with. On the processor nothing but PyTorch and the folder of tensors can be reached; on
/// the device also the device's files, and compilers.
enum class Place { processor, device };

struct WorkerOptions {
  capture::PythonOptions python;
  Place place = Place::processor;
  std::chrono::seconds start_limit{180};  ///< importing PyTorch from a cold disk
  std::chrono::seconds answer_limit{300};
};

class Worker {
 public:
  /// @error unsupported: no Python with PyTorch, or it does not start; on the device: it sees none; timed_out.
  static base::Result<std::unique_ptr<Worker>> start(WorkerOptions options, const std::stop_token& stop);

  /// What it answers. @error invalid_argument: what Python said; unavailable: the process was lost; timed_out;
  /// cancelled; corrupt.
  base::Result<base::Json> ask(base::Json request, const std::stop_token& stop);

  /// Where requests' tensors lie.
  [[nodiscard]] const std::filesystem::path& folder() const { return tensors_; }
  /// "PyTorch 2.11.0 (Python 3.12.3)".
  [[nodiscard]] const std::string& version() const { return version_; }

 private:
  Worker(WorkerOptions options, base::TemporaryFolder files);
  base::Result<void> run(const capture::Python& python, const std::stop_token& stop);

  WorkerOptions options_;
  base::TemporaryFolder files_;  ///< the package, and what Python writes
  std::filesystem::path tensors_;
  sandbox::JsonProcess process_;
  std::string version_;
};

}  // namespace accelopt::pytorch
