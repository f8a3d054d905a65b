// SPDX-License-Identifier: Apache-2.0
// A Neuron core that runs NKI kernels through the vendor's own package and profiler.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "capture/python.hpp"
#include "evaluation/bench.hpp"
#include "model/kernel.hpp"
#include "model/task.hpp"

namespace accelopt::targets::trainium {

struct NeuronOptions {
  int core = 0;
  capture::PythonOptions python;
  std::chrono::milliseconds compile_limit{std::chrono::minutes(10)};
  std::chrono::milliseconds run_limit{std::chrono::seconds(10)};  ///< of the call that a build needs
  /// Beside a call's own limit: loading the kernel, and what goes to and from the device.
  std::chrono::milliseconds host_limit{std::chrono::seconds(20)};
};

enum class RunEnd {
  done,
  refused,    ///< by the vendor's compiler, or by what a kernel's file may hold
  failed,     ///< it was compiled, and its run ended with an error
  timed_out,  ///< it was compiled, and its run did not end
  untimed,    ///< it ran, and the profiler makes nothing of its trace
};

/// One call of a kernel on the device.
struct NeuronRun {
  RunEnd end = RunEnd::done;
  std::string reason;  ///< for people and fixer; where a line is to blame "kernel.py:12: error: ..."
  std::vector<std::string> outputs;
  double time_ns = 0;                     ///< by the device's own trace
  std::map<std::string, double> figures;  ///< of the vendor's profiler, as it names them
  std::string program_id;                 ///< of what the compiler made; empty: it made nothing
  std::int64_t program_bytes = 0;
  double seconds = 0;  ///< of everything
};

/// Every function may be called from many threads; the device runs one kernel at a time.
class NeuronDevice {
 public:
  /// @error unsupported: no Python with neuronxcc, no neuron-profile, or one of them does not start.
  static base::Result<std::unique_ptr<NeuronDevice>> open(NeuronOptions options, const std::stop_token& stop);

  /// Compiles the kernel and calls it once, in a process of its own. `inputs` are those of the definition; empty:
  /// zeros. @error unavailable: the device is lost, or somebody else's; io; cancelled.
  base::Result<NeuronRun> run(const model::Kernel& kernel, const model::Definition& definition,
                              const model::AxisValues& axes, const std::vector<evaluation::Bytes>& inputs,
                              std::chrono::nanoseconds limit, const std::stop_token& stop);

  /// "neuronxcc 2.21.33363.0 (Python 3.10.12)".
  [[nodiscard]] const std::string& version() const { return version_; }
  /// The instance's type, "trn1.32xlarge"; empty: the machine tells none.
  [[nodiscard]] const std::string& machine() const { return machine_; }

 private:
  struct Ended {
    bool timed_out = false;
    std::string how;                           ///< in words
    base::Json answer = base::Json::object();  ///< empty: it left none
  };

  NeuronDevice(NeuronOptions options, capture::Python python, std::filesystem::path profiler,
               base::TemporaryFolder files)
      : options_(std::move(options)),
        python_(std::move(python)),
        profiler_(std::move(profiler)),
        files_(std::move(files)) {}
  base::Result<void> describe(const std::stop_token& stop);
  /// Begins the folder of calls anew. @error io.
  base::Result<base::Json> write_call(const model::Kernel& kernel, const model::Definition& definition,
                                      const model::AxisValues& axes, const std::vector<evaluation::Bytes>& inputs);
  base::Result<void> blame(const base::Json& error, const std::string& name, NeuronRun& run) const;
  base::Result<Ended> ask(const base::Json& request, std::chrono::nanoseconds limit, const std::stop_token& stop);
  base::Result<void> read_profile(NeuronRun& run, const std::stop_token& stop);

  NeuronOptions options_;
  capture::Python python_;
  std::filesystem::path profiler_;
  base::TemporaryFolder files_;  ///< the package, and a folder that each call begins anew
  std::mutex mutex_;
  std::string version_;
  std::string machine_;
};

}  // namespace accelopt::targets::trainium
