// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/memory_image.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/files.hpp"
#include "targets/cpu/arena/protocol.hpp"
#include "targets/cpu/mappings.hpp"

namespace accelopt::targets::cpu {
namespace {

/// What the stack holds before the first call lies at its top.
constexpr std::uint64_t kStackUsed = 128ULL << 10;
/// The ends of what processes can map, with page tables of four levels and of five.
constexpr std::uint64_t kEnd = (1ULL << 47) - kPageBytes;
constexpr std::uint64_t kFarEnd = (1ULL << 56) - kPageBytes;

bool writable(const Mapping& mapping) {
  return mapping.access.find('w') != std::string::npos;
}

/// Writes steps and contents, one behind the other.
class ImageWriter {
 public:
  ImageWriter(std::byte* image, pid_t arena) : image_(image), arena_(arena) {}

  void call(long number, std::uint64_t first, std::uint64_t second = 0) {
    add({Restore::system_call, first, second, static_cast<std::uint64_t>(number)});
  }

  void unmap(std::uint64_t begin, std::uint64_t end) {
    if (begin < end) call(SYS_munmap, begin, end - begin);
  }

  void clear(std::uint64_t begin, std::uint64_t end) {
    for (; begin < end; begin += kMostCleared) {
      add({Restore::clear, begin, std::min<std::uint64_t>(end - begin, kMostCleared), 0});
    }
  }

  /// Pages of zeros are cleared, so that those that nobody touches stay untouched.
  void copy(std::uint64_t begin, std::uint64_t end) {
    std::vector<std::byte> held(end - begin);
    const iovec here{held.data(), held.size()};
    const iovec there{reinterpret_cast<void*>(begin), held.size()};
    readable_ = readable_ && process_vm_readv(arena_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(held.size());
    const auto zeros = [&held](std::size_t page) {
      const auto from = held.begin() + static_cast<std::ptrdiff_t>(page);
      return std::all_of(from, from + kPageBytes, [](std::byte value) { return value == std::byte{0}; });
    };
    for (std::size_t from = 0, to = 0; from < held.size(); from = to) {
      const bool empty = zeros(from);
      for (to = from + kPageBytes; to < held.size() && zeros(to) == empty;) to += kPageBytes;
      if (empty) {
        clear(begin + from, begin + to);
      } else {
        add_contents(begin + from, held.data() + from, to - from);
      }
    }
  }

  MemoryImage::Taken finish() {
    add({});
    if (!readable_) return MemoryImage::Taken::unreadable;
    return fits_ ? MemoryImage::Taken::whole : MemoryImage::Taken::too_large;
  }

 private:
  void add(const RestoreStep& step) {
    fits_ = fits_ && steps_ < kMaxRestoreSteps;
    if (fits_) std::memcpy(image_ + steps_++ * sizeof step, &step, sizeof step);
  }

  void add_contents(std::uint64_t at, const std::byte* from, std::size_t bytes) {
    fits_ = fits_ && used_ + bytes <= kImageBytes;
    if (!fits_) return;
    std::memcpy(image_ + used_, from, bytes);
    add({Restore::copy, at, kImageAddress + used_, bytes});
    used_ += bytes;
  }

  std::byte* image_;
  pid_t arena_;
  std::size_t steps_ = 0;
  std::size_t used_ = kRestoreStepsBytes;
  bool readable_ = true;
  bool fits_ = true;
};

/// What one mapping held: the heap from its used part on, and the stack but for its top, hold nothing.
void add_contents_of(const Mapping& mapping, std::uint64_t heap_used, ImageWriter& out) {
  std::uint64_t begin = mapping.begin;
  std::uint64_t end = mapping.end;
  // The first word behind the used part is the allocator's.
  if (mapping.name == "[heap]") end = std::min(end, heap_used / kPageBytes * kPageBytes + kPageBytes);
  if (mapping.name == "[stack]") begin = std::max(begin, end - std::min(end, kStackUsed));
  out.clear(mapping.begin, begin);
  out.copy(begin, end);
  out.clear(end, mapping.end);
}

}  // namespace

base::Result<MemoryImage> MemoryImage::map(int orders) {
  void* at = mmap(nullptr, kImageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, orders, kOrdersBytes);
  if (at == MAP_FAILED) return base::fail_errno(errno, "memory shared with an arena");
  MemoryImage out;
  out.map_ = static_cast<std::byte*>(at);
  return out;
}

MemoryImage::MemoryImage(MemoryImage&& other) noexcept {
  *this = std::move(other);
}

MemoryImage& MemoryImage::operator=(MemoryImage&& other) noexcept {
  std::swap(map_, other.map_);
  std::swap(fixed_, other.fixed_);
  return *this;
}

MemoryImage::~MemoryImage() {
  if (map_ != nullptr) munmap(map_, kImageBytes);
}

MemoryImage::Taken MemoryImage::take(pid_t arena, std::uint64_t heap_used) {
  std::vector<Mapping> mappings = mappings_of(arena);
  std::erase_if(mappings,
                [](const Mapping& mapping) { return mapping.begin < kFirstFreeAddress || mapping.begin >= kFarEnd; });
  if (mappings.empty()) return Taken::unreadable;
  ImageWriter out(map_, arena);
  std::uint64_t free = kFirstFreeAddress;
  for (const Mapping& mapping : mappings) {
    if (mapping.name == "[heap]") out.call(SYS_brk, mapping.end);
  }
  for (const Mapping& mapping : mappings) {
    out.unmap(free, mapping.begin);
    free = mapping.end;
  }
  out.unmap(free, kEnd);
  out.unmap(kEnd, kFarEnd);
  for (const Mapping& mapping : mappings) {
    if (writable(mapping)) add_contents_of(mapping, heap_used, out);
  }
  out.clear(kScratchAddress, kScratchAddress + kPageBytes);
  const std::string table = base::read_file("/proc/" + std::to_string(arena) + "/maps").value_or("");
  for (std::size_t from = 0, to = 0; (to = table.find('\n', from)) != std::string::npos; from = to + 1) {
    // Place, access, offset, device and file: a file that is replaced on disk has another name from then on.
    std::size_t end = from;
    for (int field = 0; field < 5; ++field) end = table.find(' ', end) + 1;
    const std::string line = table.substr(from, end - from);
    if (line.compare(line.find(' '), 3, " rw") != 0) fixed_.push_back(line);
  }
  return out.finish();
}

bool MemoryImage::holds(pid_t arena) const {
  const std::string table = base::read_file("/proc/" + std::to_string(arena) + "/maps").value_or("");
  std::size_t at = 0;
  return std::all_of(fixed_.begin(), fixed_.end(), [&](const std::string& line) {
    at = table.find(line, at);
    return at != std::string::npos;
  });
}

}  // namespace accelopt::targets::cpu
