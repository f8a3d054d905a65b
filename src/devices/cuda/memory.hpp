// SPDX-License-Identifier: Apache-2.0
// Device memory that is there only while somebody may use it: what is not mapped no kernel reads or writes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "base/result.hpp"
#include "devices/cuda/driver.hpp"

namespace accelopt::devices::cuda {

/// Physical device memory, whole granules. No kernel reaches it until it is mapped.
class PhysicalMemory {
 public:
  PhysicalMemory() = default;
  PhysicalMemory(const Driver& driver, MemoryHandle handle, std::uint64_t bytes)
      : driver_(&driver), handle_(handle), bytes_(bytes) {}
  PhysicalMemory(PhysicalMemory&& other) noexcept
      : driver_(other.driver_), handle_(other.handle_), bytes_(std::exchange(other.bytes_, 0)) {}
  PhysicalMemory& operator=(PhysicalMemory&& other) noexcept;
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;
  ~PhysicalMemory() { reset(); }
  [[nodiscard]] MemoryHandle handle() const { return handle_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  void reset();
  const Driver* driver_ = nullptr;
  MemoryHandle handle_ = 0;
  std::uint64_t bytes_ = 0;
};

enum class Access { read, write };

/// The one large range of addresses in which everything lies that is mapped.
class AddressSpace {
 public:
  class Mapping;
  /// @error unsupported: the device or the driver has no virtual memory management.
  static base::Result<std::unique_ptr<AddressSpace>> reserve(const Driver& driver, int device);
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  /// At least so many bytes. @error exhausted: there are not that many.
  base::Result<PhysicalMemory> create(std::uint64_t bytes);
  /// Maps it at a random place, with room on both sides that is not mapped. The memory must outlive the mapping.
  base::Result<Mapping> map(const PhysicalMemory& memory, Access access);
  [[nodiscard]] std::uint64_t granule() const { return granule_; }

 private:
  AddressSpace(const Driver& driver, int device) : driver_(driver) { properties_.place.device = device; }
  [[nodiscard]] std::uint64_t draw_place(std::uint64_t granules) const;
  base::Result<void> allow(std::uint64_t first, Access access);
  void unmap(std::uint64_t first);

  const Driver& driver_;
  MemoryProperties properties_;
  DevicePointer begin_ = 0;
  std::uint64_t granule_ = 0;
  std::uint64_t granules_ = 0;
  std::map<std::uint64_t, std::uint64_t> taken_;  ///< granules from the beginning: first, how many
};

/// Memory at an address, until this is destroyed.
class AddressSpace::Mapping {
 public:
  Mapping() = default;
  Mapping(AddressSpace& space, std::uint64_t first) : space_(&space), first_(first) {}
  Mapping(Mapping&& other) noexcept : space_(std::exchange(other.space_, nullptr)), first_(other.first_) {}
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { reset(); }
  void reset();
  /// What is written there already stays. Nothing that the device has still to do may need more than this.
  base::Result<void> allow(Access access);
  [[nodiscard]] bool there() const { return space_ != nullptr; }
  [[nodiscard]] DevicePointer address() const { return space_->begin_ + first_ * space_->granule_; }

 private:
  AddressSpace* space_ = nullptr;
  std::uint64_t first_ = 0;
};
using Mapping = AddressSpace::Mapping;

/// Where a tensor lies in memory of its own: at its beginning or, by draw, at its end, so that who reads beyond it
/// meets what is not mapped.
struct Placement {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
Placement draw_placement(std::uint64_t bytes, std::uint64_t room);

/// Memory of the trusted kernels, handed out piece by piece and taken back as a whole: mapped while it is open, and out
/// of every candidate's reach while it is not.
class Workspace {
 public:
  explicit Workspace(AddressSpace& space) : space_(&space) {}
  /// Makes room for `bytes` in all, and opens it. @error exhausted.
  base::Result<void> reserve(std::uint64_t bytes);
  base::Result<void> open();
  void close() { mapping_.reset(); }
  /// The next piece, aligned for anything. Requires that it was reserved and is open.
  DevicePointer take(std::uint64_t bytes);
  static std::uint64_t padded(std::uint64_t bytes) { return (bytes + 511) / 256 * 256; }
  [[nodiscard]] DevicePointer address() const { return mapping_.address(); }
  [[nodiscard]] std::uint64_t bytes() const { return memory_.bytes(); }
  [[nodiscard]] std::uint64_t used() const { return used_; }

 private:
  AddressSpace* space_;
  PhysicalMemory memory_;
  Mapping mapping_;
  std::uint64_t used_ = 0;
};

}  // namespace accelopt::devices::cuda
