// SPDX-License-Identifier: Apache-2.0
// What the worker and accelopt-device say to each other: one JSON object a line, an answer for every request. Bulk
// bytes (machine code, drawn inputs) lie in a memory file that the worker owns, from its beginning, in the order in
// which the request names them. Doubles travel as their bits: they may be NaN.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "devices/cuda/program.hpp"
#include "evaluation/target.hpp"
#include "evaluation/verify/numerics.hpp"
#include "model/task.hpp"

namespace accelopt::devices::cuda {

/// Descriptors of accelopt-device.
inline constexpr int kChannelDescriptor = 3;
inline constexpr int kBulkDescriptor = 4;

/// "open": the first request, and again once the cubin of the check kernels is there, which is the bulk bytes then.
struct OpenRequest {
  int device = 0;
  std::string driver;      ///< library to load; empty: libcuda.so.1
  std::string management;  ///< likewise; empty: libnvidia-ml.so.1
  std::uint64_t check_bytes = 0;
};

/// What the device says of itself.
struct DeviceFacts {
  std::string name;
  std::string uuid;  ///< 32 hexadecimal digits
  int driver_version = 0;
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  int l2_bytes = 0;
  std::uint64_t memory_bytes = 0;
  int shared_bytes_per_block = 0;  ///< the most that a block may opt in to
  int shared_bytes_per_multiprocessor = 0;
  int registers_per_block = 0;
  int registers_per_multiprocessor = 0;
  int threads_per_block = 0;
  int threads_per_multiprocessor = 0;
  std::string unseen;  ///< whom on the device nobody would see, and why; empty: nobody
};

// "peaks" {bytes}: the bulk bytes are the cubin of the peak kernels; answers evaluation::Peaks.

/// "cubin": keeps machine code under a name; the bulk bytes are it.
struct CubinRequest {
  std::string id;
  std::uint64_t bytes = 0;
};

/// "program": keeps a program under a name; its cubins are there already.
struct ProgramRequest {
  std::string id;
  std::vector<std::string> cubins;  ///< their names
  std::map<std::string, LaunchPlan> plans;
};

/// One input of a slot: drawn on the device, given as bulk bytes, or a scalar.
struct SlotInput {
  std::string name;
  model::DType dtype = model::DType::float32;
  std::uint64_t count = 1;
  std::uint64_t row_length = 1;
  bool scalar = false;
  std::uint64_t scalar_bits = 0;  ///< its bytes, lowest first
  bool bulk = false;
  int kind = 0;  ///< model::InitKind
  double first = 0;
  double second = 0;
  int family = 0;  ///< model::Family
  std::uint64_t seed = 0;
  double perturbation_step = 0;  ///< 0: it is none that is perturbed
};

struct SlotOutput {
  std::string name;
  model::DType dtype = model::DType::float32;
  std::vector<std::int64_t> shape;
  std::uint64_t count = 1;
};

/// The reference, built with one type as `real`.
struct ReferenceProgram {
  std::string program;  ///< its name
  std::string plan;     ///< the name of this workload's
};

/// What a reference on the host said of one set of inputs: the bounds without their rows, and how many rows an output
/// has. Its bulk bytes lie behind those of the inputs: an output's exact values (doubles; of integers their own bytes),
/// then its rows (doubles).
struct HostOutputs {
  std::vector<evaluation::Bounds> bounds;
  std::vector<std::uint64_t> rows;
};

/// "slot": draws the inputs, runs the reference, calibrates, keeps. Asked for again it adds what is not there.
struct SlotRequest {
  std::uint64_t number = 0;
  std::vector<std::vector<SlotInput>> variants;  ///< sets of inputs; more than one for calls too short for the clock
  std::vector<SlotOutput> outputs;
  model::Numerics numerics;
  std::uint64_t perturbation = 0;
  bool every_run = true;  ///< of the reference, also those whose errors are known from earlier sets of inputs
  ReferenceProgram in_double;
  ReferenceProgram in_float;
  std::vector<HostOutputs> given;  ///< by variant; empty: the reference runs on the device
  bool compare = false;            ///< tells which outputs are the same in all variants
};

/// "start": loads a program's machine code anew, as `live`.
struct StartRequest {
  std::uint64_t live = 0;
  std::string program;
};

/// "call".
struct CallRequest {
  std::uint64_t live = 0;
  std::uint64_t slot = 0;
  std::string plan;  ///< the name of this workload's in the program
  std::int64_t limit_ns = 0;
  bool cold = true;
  std::uint64_t poison_seed = 0;
  evaluation::Repeat repeat = evaluation::Repeat::no;
  bool count = false;  ///< times every launch by itself
  evaluation::Poison poison = evaluation::Poison::nan;
  bool alone = false;  ///< over the first set of inputs only
  /// In place of the program's plan: one of this slot's own, and the machine code that it launches, by its names.
  std::optional<LaunchPlan> own{};
  std::vector<std::string> own_cubins{};
};

/// How the tensors of a call that tools watch lie: each in an allocation of exactly its size, or as where calls are
/// timed.
enum class Layout { exact, raced };

/// Behind the name of a request's file: where its outputs are written.
inline constexpr const char* kOutputsSuffix = ".outputs";

/// A file for `accelopt-device --one-call`: this on one line, then the bulk bytes: the check kernels' cubin, the
/// candidate's, and the inputs that were drawn by the worker.
struct OneCallRequest {
  OpenRequest open;
  std::vector<std::uint64_t> cubin_bytes;
  LaunchPlan plan;
  std::vector<SlotInput> inputs;
  std::vector<SlotOutput> outputs;
  int times = 1;
  /// Outputs and scratch are poisoned, as where calls are timed. Else nothing writes them before the kernels do, so
  /// that a tool can tell what is read before it is written.
  bool poison = true;
  Layout layout = Layout::exact;
  std::uint64_t poison_seed = 0;
  int limit_seconds = 60;     ///< the process ends itself then, whoever watches it
  bool keep_outputs = false;  ///< their bytes are written, one after the other, where kOutputsSuffix says
};

/// The outcome of a call as the device server saw it.
struct CallReply {
  evaluation::CallOutcome outcome;
  bool dead = false;  ///< the device server cannot go on and ends
};

void to_json(base::Json& out, const OpenRequest& value);
void from_json(const base::Json& in, OpenRequest& value);
void to_json(base::Json& out, const DeviceFacts& value);
void from_json(const base::Json& in, DeviceFacts& value);
void to_json(base::Json& out, const CubinRequest& value);
void from_json(const base::Json& in, CubinRequest& value);
void to_json(base::Json& out, const ProgramRequest& value);
void from_json(const base::Json& in, ProgramRequest& value);
void to_json(base::Json& out, const SlotRequest& value);
void from_json(const base::Json& in, SlotRequest& value);
void to_json(base::Json& out, const StartRequest& value);
void from_json(const base::Json& in, StartRequest& value);
void to_json(base::Json& out, const CallRequest& value);
void from_json(const base::Json& in, CallRequest& value);
void to_json(base::Json& out, const OneCallRequest& value);
void from_json(const base::Json& in, OneCallRequest& value);
void to_json(base::Json& out, const CallReply& value);
void from_json(const base::Json& in, CallReply& value);
/// Bounds of a slot's outputs, without rows.
base::Json bounds_json(const std::vector<evaluation::Bounds>& bounds);
std::vector<evaluation::Bounds> bounds_from(const base::Json& in);

}  // namespace accelopt::devices::cuda
