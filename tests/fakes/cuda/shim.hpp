// SPDX-License-Identifier: Apache-2.0
// CUDA kernels as plain C++: their threads run one after the other, and by turns where they wait for one another.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <utility>

#include "fakes/cuda/fibers.hpp"
#include "fakes/cuda/tensor_map.hpp"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)
// Variables as cubins have them: in sections of their own, at multiples of 256 bytes. Of the device's own only managed
// ones are told from functions here.
#define __managed__ __attribute__((section(".nv.global"), aligned(256)))
#define __constant__ __attribute__((section(".nv.constant3"), aligned(256)))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __grid_constant__

namespace accelopt_shim {

inline std::uint64_t nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000U + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace accelopt_shim

// What kernels find without including anything.
using std::exp;
using std::floor;
using std::fma;
using std::nearbyint;
using std::sqrt;

inline double __longlong_as_double(long long bits) {
  return std::bit_cast<double>(bits);
}
inline long long __double_as_longlong(double value) {
  return std::bit_cast<long long>(value);
}
inline float __int_as_float(int bits) {
  return std::bit_cast<float>(bits);
}
inline unsigned long long accelopt_nanoseconds() {
  return accelopt_shim::nanoseconds();
}
/// Two cycles a nanosecond: a clock of 2000 MHz.
inline long long clock64() {
  return static_cast<long long>(2 * accelopt_shim::nanoseconds());
}
template <class T>
T atomicMax(T* to, T value) {
  const T before = *to;
  if (value > before) *to = value;
  return before;
}
template <class T>
T atomicMin(T* to, T value) {
  const T before = *to;
  if (value < before) *to = value;
  return before;
}
template <class T>
T atomicAdd(T* to, T value) {
  return std::exchange(*to, *to + value);
}
[[noreturn]] inline void __trap() {
  throw accelopt_shim::Trap();
}

namespace accelopt_shim {

template <class... Arguments, std::size_t... Index>
bool run(void (*kernel)(Arguments...), const unsigned* grid, const unsigned* block, void** parameters,
         std::index_sequence<Index...>) {
  gridDim = {grid[0], grid[1], grid[2]};
  blockDim = {block[0], block[1], block[2]};
  const Dim blocks = gridDim;
  const auto thread = [&] { kernel(*static_cast<std::remove_reference_t<Arguments>*>(parameters[Index])...); };
  for (blockIdx.z = 0; blockIdx.z < blocks.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < blocks.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < blocks.x; ++blockIdx.x)
        if (!Threads::run(thread)) return false;
  return true;
}

template <class... Arguments>
bool launch(void (*kernel)(Arguments...), const unsigned* grid, const unsigned* block, void** parameters) {
  return run(kernel, grid, block, parameters, std::index_sequence_for<Arguments...>());
}

template <class... Arguments>
std::size_t parameter_size(void (*)(Arguments...), std::size_t index) {
  const std::size_t sizes[] = {sizeof(Arguments)..., 0};
  return index < sizeof...(Arguments) ? sizes[index] : 0;
}

}  // namespace accelopt_shim

/// Stands below a kernel's text: what the driver calls. False: the kernel trapped.
#define ACCELOPT_FAKE_KERNEL(name)                                                                 \
  extern "C" bool name##__launch(const unsigned* grid, const unsigned* block, void** parameters) { \
    return accelopt_shim::launch(&name, grid, block, parameters);                                  \
  }                                                                                                \
  extern "C" std::size_t name##__parameter(std::size_t index) {                                    \
    return accelopt_shim::parameter_size(&name, index);                                            \
  }
