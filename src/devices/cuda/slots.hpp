// SPDX-License-Identifier: Apache-2.0
// The slots that lie on the device: inputs, expected outputs and bounds, none of them mapped but while it is used.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "devices/cuda/checks.hpp"
#include "devices/cuda/prepared_plan.hpp"
#include "devices/cuda/protocol.hpp"

namespace accelopt::devices::cuda {

/// What the worker gave, by name: machine code, and the programs that are made of it.
struct Store {
  std::map<std::string, std::string> cubins;
  std::map<std::string, ProgramRequest> programs;
};

/// Loads a program's machine code. @error not_found: there is no such program; invalid_argument: it does not load.
base::Result<Modules> load_program(Device& device, const Store& store, const std::string& id);

/// @error not_found: there is no such program, or it has no such plan.
base::Result<const LaunchPlan*> find_plan(const Store& store, const std::string& id, const std::string& plan);

/// One set of inputs with what must come out.
struct Variant {
  struct Input {
    bool scalar = false;
    model::DType dtype = model::DType::float32;
    std::uint64_t bits = 0;         ///< of a scalar
    PhysicalMemory memory;          ///< of a tensor: what candidates are given, to read
    Placement placement;            ///< of the tensor in it
    std::uint64_t fingerprint = 0;  ///< of all that lies there
  };
  std::vector<Input> inputs;
  std::vector<KeptOutput> outputs;
  std::size_t kept = 0;  ///< which of the slot's workspaces holds what is expected
};
struct DeviceSlot {
  std::vector<std::string> inputs;   ///< their names, as programs know them
  std::vector<std::string> outputs;  ///< likewise
  std::vector<Variant> variants;
  std::deque<Workspace> kept;  ///< what is expected; closed but while outputs are poisoned or judged
  std::uint64_t key = 0;       ///< of the inputs' fingerprints
};

/// Device memory that the slot holds.
std::uint64_t bytes_of(const DeviceSlot& slot);

class DeviceSlots {
 public:
  DeviceSlots(Device& device, Checks& checks, const Store& store)
      : device_(device), checks_(checks), store_(store), space_(device.space()) {}

  /// Adds the variants that are not there yet; gives the bounds of the first one's outputs. `bulk` reads so many of the
  /// request's bulk bytes.
  /// @error invalid_argument: the reference failed; exhausted.
  using Bulk = std::function<base::Result<std::string>(std::uint64_t bytes)>;
  base::Result<std::vector<evaluation::Bounds>> prepare(const SlotRequest& request, const Bulk& bulk);
  /// Places of outputs of which the expected values are the same in all of the slot's variants. @error as Checks.
  base::Result<std::vector<std::size_t>> equal_outputs(DeviceSlot& slot);
  [[nodiscard]] DeviceSlot* find(std::uint64_t number);
  void forget(std::uint64_t number) { slots_.erase(number); }
  void forget_all_but(std::uint64_t number);

 private:
  struct Work;
  /// What the honest runs of one output were off by, beside the float run alone.
  struct KnownErrors {
    std::optional<double> factor;      ///< the largest; none: the float run does not stand for the others
    bool float_runs_tell = true;       ///< it does so together with the perturbed run in float
    evaluation::BandSums perturbed{};  ///< by band the largest share of its squares; below 0: no element was seen
  };
  base::Result<void> add(const SlotRequest& request, const Bulk& bulk, DeviceSlot& slot);
  base::Result<Variant> make(const SlotRequest& request, std::size_t index, const Bulk& bulk, DeviceSlot& slot);
  base::Result<void> draw(const SlotRequest& request, std::size_t index, const Bulk& bulk, Work& work,
                          Variant& variant);
  base::Result<void> keep_rows(std::span<const std::byte> rows, Work& work, KeptOutput& output);
  base::Result<void> seal(const DeviceSlot& slot, Work& work, Variant& variant);
  /// What a run of the reference is made with.
  struct Honest {
    bool in_float = false;
    bool perturbed = false;
    std::uint64_t seed = 0;
    std::optional<int> rotated{};  ///< every input begins elsewhere: evaluation::rotation
  };
  base::Result<void> run(const SlotRequest& request, std::size_t index, const Honest& honest,
                         const std::vector<DevicePointer>& outputs, Work& work);
  /// The input as the reference sees it.
  base::Result<void> make_real(const SlotInput& input, DevicePointer raw, DevicePointer real, const Honest& honest,
                               std::uint64_t seed);
  base::Result<void> calibrate(const SlotRequest& request, std::size_t index, Work& work, Variant& variant);
  base::Result<void> run_rotated(const SlotRequest& request, std::size_t index,
                                 std::vector<evaluation::HonestErrors>& errors, Work& work);
  base::Result<void> run_more(const SlotRequest& request, std::size_t index,
                              std::vector<evaluation::HonestErrors>& errors, Work& work, const Variant& variant);
  /// Which honest runs are made beside the one in double.
  enum class Runs { all, in_float, both_in_float };
  static Runs runs_needed(const std::vector<KnownErrors>& outputs);
  /// What all runs were off by, the float run alone, and both runs in float.
  struct Learned {
    std::vector<evaluation::HonestErrors> all;
    std::vector<evaluation::HonestErrors> in_float;
    std::vector<evaluation::HonestErrors> both_in_float;
  };
  void learn(const SlotRequest& request, std::size_t index, const Learned& errors);
  base::Result<void> take(const SlotRequest& request, const HostOutputs& given, const Bulk& bulk, Work& work,
                          Variant& variant);
  base::Result<const Modules*> modules_of(const std::string& program);

  Device& device_;
  Checks& checks_;
  const Store& store_;
  Workspace space_;
  std::map<std::string, Modules> references_;
  std::map<std::uint64_t, DeviceSlot> slots_;
  std::map<std::string, std::vector<KnownErrors>> known_errors_;  ///< by workload and family
};

}  // namespace accelopt::devices::cuda
