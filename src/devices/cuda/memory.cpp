// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.hpp"

namespace accelopt::devices::cuda {
namespace {

using base::ErrorCode;

constexpr std::uint64_t kRangeBytes = std::uint64_t{1} << 40;
constexpr std::uint64_t kLeastRangeBytes = std::uint64_t{1} << 38;  ///< where the driver refuses the whole
constexpr std::uint64_t kAlignment = 256;                           ///< of every tensor

}  // namespace

PhysicalMemory& PhysicalMemory::operator=(PhysicalMemory&& other) noexcept {
  if (this == &other) return *this;
  reset();
  driver_ = other.driver_;
  handle_ = other.handle_;
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void PhysicalMemory::reset() {
  if (bytes_ != 0) (*driver_)->release_handle(handle_);
  bytes_ = 0;
}

base::Result<std::unique_ptr<AddressSpace>> AddressSpace::reserve(const Driver& driver, int device) {
  std::unique_ptr<AddressSpace> out(new AddressSpace(driver, device));
  int supported = 0;
  driver->device_attribute(&supported, kMappingAttribute, device);
  std::size_t granule = 0;
  if (supported == 0 || driver->granularity(&granule, &out->properties_, 0) != 0 || granule == 0) {
    return base::fail(
        ErrorCode::unsupported,
        "the device has no virtual memory management, without which a kernel could keep what it computed; "
        "measure on another device (--device cuda:N, --worker)");
  }
  out->granule_ = granule;
  CudaCode code = 0;
  for (std::uint64_t bytes = kRangeBytes; bytes >= kLeastRangeBytes; bytes /= 2) {
    code = driver->reserve(&out->begin_, bytes, 0, 0, 0);
    if (code != 0) continue;
    out->granules_ = bytes / granule;
    return out;
  }
  return base::fail(ErrorCode::unsupported,
                    "the driver does not reserve a range of addresses: " + driver.text_of(code));
}

base::Result<PhysicalMemory> AddressSpace::create(std::uint64_t bytes) {
  const std::uint64_t whole = (std::max<std::uint64_t>(bytes, 1) + granule_ - 1) / granule_ * granule_;
  MemoryHandle handle = 0;
  TRY(driver_.check(driver_->create(&handle, whole, &properties_, 0),
                    fmt::format("allocating {} MiB of device memory", whole >> 20)));
  return PhysicalMemory(driver_, handle, whole);
}

/// So many granules, none of them mapped or beside one that is.
std::uint64_t AddressSpace::draw_place(std::uint64_t granules) const {
  for (;;) {
    const std::uint64_t first = 1 + base::random_seed() % (granules_ - granules - 1);
    const auto next = taken_.lower_bound(first);
    const bool free_behind = next == taken_.end() || first + granules < next->first;
    const bool free_before = next == taken_.begin() || std::prev(next)->first + std::prev(next)->second < first;
    if (free_behind && free_before) return first;
  }
}

base::Result<Mapping> AddressSpace::map(const PhysicalMemory& memory, Access access) {
  const std::uint64_t granules = memory.bytes() / granule_;
  const std::uint64_t first = draw_place(granules);
  const DevicePointer address = begin_ + first * granule_;
  TRY(driver_.check(driver_->map(address, memory.bytes(), 0, memory.handle(), 0), "mapping device memory"));
  taken_[first] = granules;
  Mapping out(*this, first);
  TRY(allow(first, access));
  return out;
}

base::Result<void> AddressSpace::allow(std::uint64_t first, Access access) {
  const MemoryAccess allowed{properties_.place, access == Access::read ? kReadOnly : kReadAndWrite};
  return driver_.check(driver_->set_access(begin_ + first * granule_, taken_.at(first) * granule_, &allowed, 1),
                       "opening device memory");
}

void AddressSpace::unmap(std::uint64_t first) {
  const auto found = taken_.find(first);
  driver_->unmap(begin_ + first * granule_, found->second * granule_);
  taken_.erase(found);
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  if (this == &other) return *this;
  reset();
  space_ = std::exchange(other.space_, nullptr);
  first_ = other.first_;
  return *this;
}

base::Result<void> Mapping::allow(Access access) {
  return space_->allow(first_, access);
}

void Mapping::reset() {
  if (space_ != nullptr) std::exchange(space_, nullptr)->unmap(first_);
}

Placement draw_placement(std::uint64_t bytes, std::uint64_t room) {
  const bool at_the_end = base::random_seed() % 2 == 0;
  return {at_the_end ? (room - bytes) / kAlignment * kAlignment : 0, bytes};
}

base::Result<void> Workspace::reserve(std::uint64_t bytes) {
  used_ = 0;
  if (memory_.bytes() < bytes || memory_.bytes() == 0) {
    mapping_.reset();
    memory_ = PhysicalMemory();
    TRY_ASSIGN(memory_, space_->create(bytes));
  }
  return open();
}

base::Result<void> Workspace::open() {
  if (mapping_.there()) return {};
  TRY_ASSIGN(mapping_, space_->map(memory_, Access::write));
  return {};
}

DevicePointer Workspace::take(std::uint64_t bytes) {
  const DevicePointer at = address() + used_;
  used_ += padded(bytes);
  ACCELOPT_ASSERT(used_ <= memory_.bytes(), "a workspace is as large as what is taken from it");
  return at;
}

}  // namespace accelopt::devices::cuda
