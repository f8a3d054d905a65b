// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/buffers.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace accelopt::targets::cpu {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kVectorBytes = 16;     ///< bytes: the smallest alignment that an instruction can insist on
constexpr std::size_t kOffsets = 3;          ///< so many tensors in a row lie differently
constexpr std::size_t kCanaryBefore = 4096;  ///< bytes watched before a tensor, at least
constexpr std::size_t kGuard = 16 * kPage;   ///< without access between two regions

std::size_t rounded(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

struct SharedFile {
  base::FileDescriptor file;
  std::byte* map = nullptr;
};

base::Result<SharedFile> make_shared_file(const char* name, std::size_t bytes) {
  SharedFile out{base::FileDescriptor(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)), nullptr};
  if (!out.file.valid()) return base::fail_errno(errno, "shared memory for tensors");
  if (ftruncate(out.file.get(), static_cast<off_t>(bytes)) != 0)
    return base::fail_errno(errno, "shared memory for tensors");
  void* map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, out.file.get(), 0);
  if (map == MAP_FAILED) return base::fail_errno(errno, "shared memory for tensors");
  out.map = static_cast<std::byte*>(map);
  fcntl(out.file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
  return out;
}

}  // namespace

base::Result<Buffers> Buffers::create(const std::vector<BufferPlan>& plans, std::uint64_t secret) {
  if (plans.size() > kMaxRegions) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "the task has more than " + std::to_string(kMaxRegions) + " tensors; split the operator");
  }
  Buffers out;
  out.secret_ = secret;
  std::uint64_t address = kBaseAddress + kGuard;
  for (const BufferPlan& plan : plans) {
    Region region;
    region.capacity = plan.capacity_bytes;
    region.element = plan.element_bytes;
    region.output = plan.output;
    region.bytes = rounded(rounded(plan.capacity_bytes, kAlignment) + kCanaryBefore, kPage);
    region.address = address;
    std::size_t& total = plan.output ? out.outputs_bytes_ : out.inputs_bytes_;
    region.offset = total;
    total += region.bytes;
    address += region.bytes + kGuard;
    out.regions_.push_back(region);
  }
  out.span_bytes_ = address - kBaseAddress;
  out.inputs_bytes_ = std::max(out.inputs_bytes_, kPage);
  out.outputs_bytes_ = std::max(out.outputs_bytes_, kPage);
  TRY_ASSIGN(SharedFile inputs, make_shared_file("inputs", out.inputs_bytes_));
  out.inputs_ = std::move(inputs.file);
  out.inputs_map_ = inputs.map;
  TRY_ASSIGN(SharedFile outputs, make_shared_file("outputs", out.outputs_bytes_));
  out.outputs_ = std::move(outputs.file);
  out.outputs_map_ = outputs.map;
  // From here on nobody can map the inputs for writing; the worker's own map stays writable.
  constexpr int kSealFutureWrite = 0x0010;
  out.sealed_ = fcntl(out.inputs_.get(), F_ADD_SEALS, kSealFutureWrite) == 0;
  return out;
}

Buffers::Buffers(Buffers&& other) noexcept {
  *this = std::move(other);
}

Buffers& Buffers::operator=(Buffers&& other) noexcept {
  std::swap(regions_, other.regions_);
  std::swap(inputs_, other.inputs_);
  std::swap(outputs_, other.outputs_);
  std::swap(inputs_map_, other.inputs_map_);
  std::swap(outputs_map_, other.outputs_map_);
  std::swap(inputs_bytes_, other.inputs_bytes_);
  std::swap(outputs_bytes_, other.outputs_bytes_);
  std::swap(span_bytes_, other.span_bytes_);
  std::swap(secret_, other.secret_);
  std::swap(sealed_, other.sealed_);
  return *this;
}

Buffers::~Buffers() {
  if (inputs_map_ != nullptr) munmap(inputs_map_, inputs_bytes_);
  if (outputs_map_ != nullptr) munmap(outputs_map_, outputs_bytes_);
}

std::byte* Buffers::base_of(const Region& region) const {
  return (region.output ? outputs_map_ : inputs_map_) + region.offset;
}

// The region ends at a page. A kernel that reaches a boundary of one tensor may take the others to be at one, so that
// neighbours begin at different offsets.
std::size_t Buffers::to_end(std::size_t index, std::size_t bytes, Alignment alignment) const {
  if (alignment == Alignment::cache_line) return rounded(bytes, kAlignment);
  const std::size_t element = regions_.at(index).element;
  ACCELOPT_ASSERT(element < kVectorBytes && bytes % element == 0, "a tensor holds whole elements");
  std::size_t distance = bytes;
  for (std::size_t left = index % kOffsets;; distance += element) {
    if (distance % kVectorBytes != 0 && left-- == 0) return distance;
  }
}

std::span<std::byte> Buffers::here(std::size_t index, std::size_t bytes, Alignment alignment) const {
  const Region& region = regions_.at(index);
  ACCELOPT_ASSERT(bytes <= region.capacity, "a tensor larger than its buffer");
  return {base_of(region) + region.bytes - to_end(index, bytes, alignment), bytes};
}

std::uint64_t Buffers::there(std::size_t index, std::size_t bytes, Alignment alignment) const {
  const Region& region = regions_.at(index);
  return region.address + region.bytes - to_end(index, bytes, alignment);
}

std::uint64_t Buffers::canary(std::size_t index) const {
  std::uint64_t mixed = (secret_ ^ (index << 56)) * 0x9e3779b97f4a7c15ULL;
  mixed ^= mixed >> 29;
  return mixed * 0xbf58476d1ce4e5b9ULL;
}

// One word all over the region, so that looking at megabytes is one comparison of the memory with itself.
void Buffers::write_canaries(std::size_t index, std::size_t bytes, Alignment alignment) {
  Region& region = regions_.at(index);
  const std::uint64_t word = canary(index);
  const auto fill = [&word](std::byte* to, std::size_t size) {
    for (std::size_t at = 0; at < size; at += sizeof word)
      std::memcpy(to + at, &word, std::min(sizeof word, size - at));
  };
  const std::span<std::byte> tensor = here(index, bytes, alignment);
  const auto before = static_cast<std::size_t>(tensor.data() - base_of(region));
  if (region.canaries < before) fill(base_of(region) + region.canaries, before - region.canaries);
  region.canaries = before / sizeof word * sizeof word;  // the tensor itself may be written
  fill(tensor.data() + bytes, to_end(index, bytes, alignment) - bytes);
}

bool Buffers::canaries_whole(std::size_t index, std::size_t bytes, Alignment alignment) const {
  const Region& region = regions_.at(index);
  const std::uint64_t word = canary(index);
  const std::span<std::byte> tensor = here(index, bytes, alignment);
  const auto repeats = [&word](const std::byte* from, std::size_t size) {
    const std::size_t first = std::min(size, sizeof word);
    return std::memcmp(from, &word, first) == 0 &&
           (size <= sizeof word || std::memcmp(from, from + sizeof word, size - sizeof word) == 0);
  };
  return repeats(base_of(region), static_cast<std::size_t>(tensor.data() - base_of(region))) &&
         repeats(tensor.data() + bytes, to_end(index, bytes, alignment) - bytes);
}

void Buffers::distrust() {
  for (Region& region : regions_) region.canaries = 0;
}

std::vector<ArenaRegion> Buffers::regions() const {
  std::vector<ArenaRegion> out;
  for (const Region& region : regions_) {
    out.push_back({region.address, region.bytes, region.offset,
                   static_cast<std::uint32_t>(region.output ? kOutputsDescriptor : kInputsDescriptor),
                   region.output ? 1U : 0U});
  }
  return out;
}

}  // namespace accelopt::targets::cpu
