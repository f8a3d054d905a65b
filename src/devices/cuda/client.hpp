// SPDX-License-Identifier: Apache-2.0
// What the worker wants of the device, remembered: a new accelopt-device is told lazily what the next call needs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "devices/cuda/protocol.hpp"
#include "devices/cuda/server_process.hpp"
#include "evaluation/verify/inputs.hpp"

namespace accelopt::devices::cuda {

/// A slot as it is made, and made again by a successor.
struct SlotRecipe {
  SlotRequest request;
  std::vector<std::vector<evaluation::InputDraw>> draws;  ///< by variant, by input

  /// What a reference on the host said of a set of inputs; kept unless it is large.
  struct HostResult {
    HostOutputs outputs;
    std::vector<std::string> bulk;
  };
  /// Asks it; empty: the reference runs on the device.
  std::function<base::Result<HostResult>(std::size_t variant, const std::vector<evaluation::InputDraw>& draws)> host;
  std::vector<HostResult> said;  ///< by variant
};

/// Asks the host's reference what it was not asked yet. @error as the reference.
base::Result<void> ask_host(SlotRecipe& recipe);

/// The bytes of those inputs that are drawn by the worker, one entry an input that is. @error as draw_input.
base::Result<std::vector<std::string>> drawn_here(const std::vector<SlotInput>& inputs,
                                                  const std::vector<evaluation::InputDraw>& draws);

class DeviceClient {
 public:
  DeviceClient(ServerProcess process, OpenRequest open) : process_(std::move(process)), open_(std::move(open)) {}

  /// The device's facts; starts what is not started. @error unsupported: no driver or device.
  base::Result<DeviceFacts> facts();
  void set_check_kernels(std::string cubin) { check_cubin_ = std::move(cubin); }
  /// Keeps a program under the name that it gives: a hash of its machine code and plans.
  std::string add(ProgramPtr program);

  /// Makes the slot, or the variants that it lacks. @error as the server says.
  base::Result<std::vector<evaluation::Bounds>> prepare(std::uint64_t number, SlotRecipe recipe);
  /// Makes the slot for once, and tells which outputs are the same in all of its variants. @error as `prepare`.
  base::Result<std::vector<std::size_t>> equal_outputs(std::uint64_t number, SlotRecipe recipe);
  /// How the device is opened, and the check kernels' cubin.
  [[nodiscard]] const OpenRequest& open_request() const { return open_; }
  [[nodiscard]] const std::string& check_kernels() const { return check_cubin_; }
  [[nodiscard]] SlotRecipe* find(std::uint64_t number);
  /// Of the device's memory, when the slot was made last; 0: it is not known.
  [[nodiscard]] std::uint64_t bytes_of(std::uint64_t number) const;
  void forget(std::uint64_t number);
  /// Slots that were not needed for longest lose their device memory where all of them hold more than this. They are
  /// made again when they are needed.
  void keep_at_most(std::uint64_t bytes) { most_slot_bytes_ = bytes; }
  /// Has the device's memory freed of all slots: another process needs it. They are made again when they are needed.
  base::Result<void> release_memory();

  /// A number for a program whose machine code is loaded anew. Requires that it was added.
  std::uint64_t new_live(const std::string& program);
  void end_live(std::uint64_t live);
  /// Calls a program that was given a number; brings up what is not there. A kernel that ends the process is an
  /// outcome.
  /// @error exhausted: device memory; unavailable: the process cannot be kept alive; invalid_argument: a plan of the
  /// program makes no sense (check_plan); not_found: it has none of that name.
  /// `own` has the plan instead, where it is not null, and machine code of its own beside the program's.
  base::Result<CallReply> call(const CallRequest& request, const Program* own = nullptr);

  /// Measures the device's peaks with the kernels of this cubin.
  base::Result<evaluation::Peaks> measure_peaks(const std::string& cubin);

 private:
  struct Known {
    ProgramPtr program;
    std::vector<std::string> cubins;  ///< their names
    std::uint64_t generation = 0;     ///< of the process that has it
  };
  struct Live {
    std::string program;
    std::uint64_t generation = 0;
    std::string refusal;  ///< why it does not load
  };
  struct KnownSlot {
    SlotRecipe recipe;
    std::uint64_t generation = 0;
    std::size_t variants = 0;          ///< that the process has
    std::uint64_t bytes = 0;           ///< of the device's memory
    std::vector<std::size_t> equal{};  ///< outputs that are the same in all variants, where that is asked
    std::uint64_t needed = 0;          ///< when, counted in slots that were needed
  };
  base::Result<CallReply> call_once(const CallRequest& request, const Program* own);
  base::Result<void> ready_cubin(const std::string& name, const std::string& bytes);
  base::Result<void> ready();
  base::Result<void> ready_program(const std::string& id);
  base::Result<void> ready_live(std::uint64_t number);
  base::Result<std::vector<evaluation::Bounds>> ready_slot(std::uint64_t number);
  base::Result<std::vector<evaluation::Bounds>> make_slot(KnownSlot& slot);
  base::Result<void> free_slots(const KnownSlot& but);

  ServerProcess process_;
  OpenRequest open_;
  DeviceFacts facts_;
  std::uint64_t opened_ = 0;  ///< generation that is open with its check kernels
  std::string check_cubin_;
  std::map<std::string, Known> programs_;
  std::map<std::string, std::uint64_t> cubins_;  ///< generation of the process that has them
  std::map<std::uint64_t, Live> lives_;
  std::map<std::uint64_t, KnownSlot> slots_;
  std::uint64_t most_slot_bytes_ = ~std::uint64_t{0};
  std::uint64_t needed_ = 0;
  std::uint64_t last_live_ = 0;
  std::uint64_t kept_ = 0;  ///< generation that holds the outputs of the last call that was to be kept
};

}  // namespace accelopt::devices::cuda
