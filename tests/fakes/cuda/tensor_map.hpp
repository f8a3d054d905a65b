// SPDX-License-Identifier: Apache-2.0
// Tensor maps and barriers in shared memory as plain C++: what stands for cp.async.bulk.tensor and mbarrier in kernels
// that are compiled for the CPU, where inline PTX cannot be. A copy is done at once; who does not wait for it is not
// found out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "fakes/cuda/fibers.hpp"

#ifndef __grid_constant__
#define __grid_constant__
#endif

struct alignas(64) CUtensorMap {
  unsigned long long opaque[16];
};

namespace accelopt_shim {

constexpr int kMostAxes = 5;

/// What an encoded map holds here. Of an axis that is not there extent and box are 1.
struct MapContents {
  std::uint64_t mark = 0;
  std::uint64_t address = 0;
  std::uint64_t extents[kMostAxes] = {1, 1, 1, 1, 1};  ///< elements, innermost first
  std::uint64_t strides[kMostAxes] = {};               ///< bytes; of the innermost axis an element's
  std::uint16_t box[kMostAxes] = {1, 1, 1, 1, 1};      ///< elements
  std::uint8_t steps[kMostAxes] = {1, 1, 1, 1, 1};
  std::uint8_t rank = 0;
  std::uint8_t swizzle = 0;  ///< 0, or 16-byte pieces within 32, 64 or 128 bytes: 1, 2, 3
};
static_assert(sizeof(MapContents) <= sizeof(CUtensorMap));
constexpr std::uint64_t kMapMark = 0x70616d726f736e74;

/// Elements that a box has along an axis.
inline std::uint64_t box_count(const MapContents& map, int axis) {
  return (map.box[axis] + map.steps[axis] - 1U) / map.steps[axis];
}

/// Bytes of shared memory that a box takes.
inline std::uint64_t box_bytes(const MapContents& map) {
  std::uint64_t bytes = map.strides[0];
  for (int axis = 0; axis < kMostAxes; ++axis) bytes *= box_count(map, axis);
  return bytes;
}

inline MapContents contents_of(const CUtensorMap* map) {
  MapContents out;
  std::memcpy(static_cast<void*>(&out), map, sizeof out);
  if (out.mark != kMapMark) throw Trap();
  return out;
}

/// Where a byte of a box lies in shared memory: the pattern is one of addresses.
inline char* swizzled(const MapContents& map, char* place) {
  const auto address = reinterpret_cast<std::uintptr_t>(place);
  const std::uintptr_t pieces = (std::uintptr_t{1} << map.swizzle) - 1;
  return place + ((address ^ ((address >> 7 & pieces) << 4)) - address);
}

/// Calls `each` with every element of a box: in shared memory, and in the tensor; null: beyond the tensor.
template <class Each>
void over_box(const MapContents& map, char* shared, const int* at, const Each& each) {
  if (reinterpret_cast<std::uintptr_t>(shared) % 128 != 0) throw Trap();
  std::uint64_t counts[kMostAxes];
  std::uint64_t total = 1;
  for (int axis = 0; axis < kMostAxes; ++axis) total *= counts[axis] = box_count(map, axis);
  for (std::uint64_t i = 0; i < total; ++i) {
    bool inside = true;
    std::uint64_t place = map.address;
    std::uint64_t rest = i;
    for (int axis = 0; axis < kMostAxes; ++axis) {
      const std::int64_t first = axis < map.rank ? at[axis] : 0;
      const std::int64_t index = first + static_cast<std::int64_t>(rest % counts[axis] * map.steps[axis]);
      rest /= counts[axis];
      inside = inside && index >= 0 && static_cast<std::uint64_t>(index) < map.extents[axis];
      place += static_cast<std::uint64_t>(index) * map.strides[axis];
    }
    each(swizzled(map, shared + i * map.strides[0]), inside ? reinterpret_cast<char*>(place) : nullptr);
  }
}

/// An mbarrier: eight bytes of shared memory.
struct Mbarrier {
  std::int32_t bytes = 0;          ///< that are still to come in this phase
  std::uint16_t expected = 0;      ///< arrivals a phase
  std::uint16_t pending : 15 = 0;  ///< arrivals that are still to come
  std::uint16_t parity : 1 = 0;
};
static_assert(sizeof(Mbarrier) == sizeof(std::uint64_t));

inline void change(std::uint64_t* barrier, std::int64_t arrivals, std::int64_t bytes) {
  Mbarrier state;
  std::memcpy(static_cast<void*>(&state), barrier, sizeof state);
  if (arrivals > state.pending) throw Trap();
  state.pending = static_cast<std::uint16_t>(state.pending - arrivals) & 0x7fff;
  state.bytes += static_cast<std::int32_t>(bytes);
  if (state.pending == 0 && state.bytes == 0) {
    state.pending = state.expected & 0x7fff;
    state.parity ^= 1;
  }
  std::memcpy(barrier, &state, sizeof state);
}

}  // namespace accelopt_shim

/// mbarrier.init.
inline void accelopt_barrier_init(std::uint64_t* barrier, unsigned arrivals) {
  accelopt_shim::Mbarrier state;
  state.expected = static_cast<std::uint16_t>(arrivals);
  state.pending = arrivals & 0x7fff;
  state.parity = 0;
  std::memcpy(barrier, &state, sizeof state);
}
/// mbarrier.arrive, and mbarrier.arrive.expect_tx.
inline void accelopt_barrier_arrive(std::uint64_t* barrier) {
  accelopt_shim::change(barrier, 1, 0);
}
inline void accelopt_barrier_expect(std::uint64_t* barrier, unsigned bytes) {
  accelopt_shim::change(barrier, 0, bytes);
  accelopt_shim::change(barrier, 1, 0);
}
/// mbarrier.try_wait.parity until it is true: the phase of this parity has ended.
inline void accelopt_barrier_wait(std::uint64_t* barrier, unsigned parity) {
  accelopt_shim::Threads::current()->wait_until([=] {
    accelopt_shim::Mbarrier state;
    std::memcpy(static_cast<void*>(&state), barrier, sizeof state);
    return state.parity != (parity & 1);
  });
}
/// cp.async.bulk.tensor from global to shared memory: the box at these coordinates (elements, innermost first), zeros
/// for what is beyond the tensor; its bytes count on the barrier.
template <class... Coordinates>
void accelopt_load_box(void* shared, const CUtensorMap* map, std::uint64_t* barrier, Coordinates... coordinates) {
  const accelopt_shim::MapContents contents = accelopt_shim::contents_of(map);
  const int at[] = {static_cast<int>(coordinates)...};
  if (sizeof...(coordinates) != contents.rank) throw accelopt_shim::Trap();
  accelopt_shim::over_box(contents, static_cast<char*>(shared), at, [&](char* to, const char* from) {
    if (from == nullptr)
      std::memset(to, 0, contents.strides[0]);
    else
      std::memcpy(to, from, contents.strides[0]);
  });
  accelopt_shim::change(barrier, 0, -static_cast<std::int64_t>(accelopt_shim::box_bytes(contents)));
}
/// The same from shared to global memory; what is beyond the tensor is left out.
template <class... Coordinates>
void accelopt_store_box(const CUtensorMap* map, void* shared, Coordinates... coordinates) {
  const accelopt_shim::MapContents contents = accelopt_shim::contents_of(map);
  const int at[] = {static_cast<int>(coordinates)...};
  if (sizeof...(coordinates) != contents.rank) throw accelopt_shim::Trap();
  accelopt_shim::over_box(contents, static_cast<char*>(shared), at, [&](const char* from, char* to) {
    if (to != nullptr) std::memcpy(to, from, contents.strides[0]);
  });
}
