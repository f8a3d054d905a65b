// SPDX-License-Identifier: Apache-2.0
// The slots that lie on the device: inputs, expected outputs and bounds, all under secret masks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
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
    std::uint64_t bits = 0;  ///< of a scalar
    std::size_t size = 0;    ///< of a scalar: bytes
    MaskedMemory hidden;     ///< of a tensor
  };
  std::vector<Input> inputs;
  std::vector<KeptOutput> outputs;
};
struct CardSlot {
  std::vector<Variant> variants;
};

/// Device memory that is handed out piece by piece, and taken back as a whole.
class Workspace {
 public:
  explicit Workspace(CardDevice& device) : device_(device) {}
  /// Makes room for `bytes` in all. @error exhausted.
  base::Result<void> reserve(std::uint64_t bytes);
  /// The next piece, aligned for anything. Requires that it was reserved.
  DevicePointer take(std::uint64_t bytes);
  static std::uint64_t padded(std::uint64_t bytes) { return (bytes + 511) / 256 * 256; }
  [[nodiscard]] const DeviceMemory& memory() const { return memory_; }
  [[nodiscard]] std::uint64_t used() const { return used_; }

 private:
  CardDevice& device_;
  DeviceMemory memory_;
  std::uint64_t used_ = 0;
};

class CardSlots {
 public:
  CardSlots(CardDevice& device, Checks& checks, const Cubins& cubins)
      : device_(device), checks_(checks), cubins_(cubins), space_(device) {}

  /// Adds the variants that are not there yet; gives the bounds of the first one's outputs. `bulk` reads so many of the
  /// request's bulk bytes.
  /// @error invalid_argument: the reference failed; exhausted.
  using Bulk = std::function<base::Result<std::string>(std::uint64_t bytes)>;
  base::Result<std::vector<evaluation::Bounds>> prepare(const SlotRequest& request, const Bulk& bulk);
  [[nodiscard]] const CardSlot* find(std::uint64_t number) const;
  void forget(std::uint64_t number) { slots_.erase(number); }
  void forget_all_but(std::uint64_t number);

 private:
  struct Work;
  base::Result<Variant> make(const SlotRequest& request, std::size_t index, const Bulk& bulk);
  base::Result<void> draw(const SlotRequest& request, std::size_t index, const Bulk& bulk, Work& work,
                          Variant& variant);
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
