// SPDX-License-Identifier: Apache-2.0
// The slots that lie on the device: inputs, expected outputs and bounds, none of them mapped but while it is used.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "targets/cuda/card_checks.hpp"
#include "targets/cuda/card_launch.hpp"
#include "targets/cuda/card_protocol.hpp"

namespace accelopt::targets::cuda {

/// Machine code by its name, as the worker gave it.
using Cubins = std::map<std::string, std::string>;

/// One set of inputs with what must come out.
struct Variant {
  struct Input {
    bool scalar = false;
    std::uint64_t bits = 0;         ///< of a scalar
    std::size_t size = 0;           ///< of a scalar: bytes
    PhysicalMemory memory;          ///< of a tensor: what candidates are given, to read
    Placement placement;            ///< of the tensor in it
    std::uint64_t fingerprint = 0;  ///< of all that lies there
  };
  std::vector<Input> inputs;
  std::vector<KeptOutput> outputs;
  std::size_t kept = 0;  ///< which of the slot's workspaces holds what is expected
};
struct CardSlot {
  std::vector<Variant> variants;
  std::deque<Workspace> kept;  ///< what is expected; closed but while outputs are poisoned or judged
  std::uint64_t key = 0;       ///< of the inputs' fingerprints
};

/// Device memory that the slot holds.
std::uint64_t bytes_of(const CardSlot& slot);

class CardSlots {
 public:
  CardSlots(CardDevice& device, Checks& checks, const Cubins& cubins)
      : device_(device), checks_(checks), cubins_(cubins), space_(device.space()) {}

  /// Adds the variants that are not there yet; gives the bounds of the first one's outputs. `bulk` reads so many of the
  /// request's bulk bytes.
  /// @error invalid_argument: the reference failed; exhausted.
  using Bulk = std::function<base::Result<std::string>(std::uint64_t bytes)>;
  base::Result<std::vector<evaluation::Bounds>> prepare(const SlotRequest& request, const Bulk& bulk);
  [[nodiscard]] CardSlot* find(std::uint64_t number);
  void forget(std::uint64_t number) { slots_.erase(number); }
  void forget_all_but(std::uint64_t number);

 private:
  struct Work;
  base::Result<void> add(const SlotRequest& request, const Bulk& bulk, CardSlot& slot);
  base::Result<Variant> make(const SlotRequest& request, std::size_t index, const Bulk& bulk, CardSlot& slot);
  base::Result<void> draw(const SlotRequest& request, std::size_t index, const Bulk& bulk, Work& work,
                          Variant& variant);
  base::Result<void> keep_rows(std::span<const std::byte> rows, Work& work, KeptOutput& output);
  base::Result<void> seal(const CardSlot& slot, Work& work, Variant& variant);
  base::Result<void> run(const SlotRequest& request, std::size_t index, bool in_float, bool perturbed,
                         std::uint64_t seed, const std::vector<DevicePointer>& outputs, Work& work,
                         const Variant& variant);
  base::Result<void> calibrate(const SlotRequest& request, std::size_t index, Work& work, Variant& variant);
  base::Result<void> take(const SlotRequest& request, const HostOutputs& given, const Bulk& bulk, Work& work,
                          Variant& variant);
  base::Result<const DeviceModule*> module_of(const std::string& cubin);

  CardDevice& device_;
  Checks& checks_;
  const Cubins& cubins_;
  Workspace space_;
  std::map<std::string, DeviceModule> references_;
  std::map<std::uint64_t, CardSlot> slots_;
};

}  // namespace accelopt::targets::cuda
