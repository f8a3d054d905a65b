// SPDX-License-Identifier: Apache-2.0
// cuTensorMapEncodeTiled, with all that CUDA's documentation asks of its arguments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "fakes/cuda/tensor_map.hpp"

namespace accelopt_shim {

/// The arguments, in the driver's order.
struct TiledArguments {
  int type = 0;
  std::uint32_t rank = 0;
  std::uint64_t address = 0;
  const std::uint64_t* extents = nullptr;
  const std::uint64_t* strides = nullptr;
  const std::uint32_t* box = nullptr;
  const std::uint32_t* steps = nullptr;
  int interleave = 0;
  int swizzle = 0;
  int promotion = 0;
  int fill = 0;
};

/// Bytes of an element; 0: no type of the interface, or one of those that are packed, which are not modelled.
inline std::uint32_t element_bytes(int type) {
  constexpr std::uint32_t kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return type < 0 || type >= static_cast<int>(sizeof kBytes / sizeof kBytes[0]) ? 0 : kBytes[type];
}

inline bool enumerators_hold(const TiledArguments& given) {
  constexpr int kFirstFloat = 6;  // float16
  const bool known = given.interleave >= 0 && given.interleave <= 2 && given.swizzle >= 0 && given.swizzle <= 3 &&
                     given.promotion >= 0 && given.promotion <= 3 && given.fill >= 0 && given.fill <= 1;
  if (!known || element_bytes(given.type) == 0) return false;
  if (given.fill == 1 && given.type < kFirstFloat) return false;
  return given.interleave != 2 || given.swizzle == 1;
}

inline bool axes_hold(const TiledArguments& given) {
  const std::uint64_t alignment = given.interleave == 2 ? 32 : 16;
  if (given.rank < 1 || given.rank > kMostAxes || (given.interleave != 0 && given.rank < 3)) return false;
  if (given.address == 0 || given.address % alignment != 0) return false;
  for (std::uint32_t i = 0; i < given.rank; ++i) {
    if (given.extents[i] < 1 || given.extents[i] > std::uint64_t{1} << 32) return false;
    if (given.box[i] < 1 || given.box[i] > 256) return false;
    if (given.steps[i] < 1 || given.steps[i] > 8) return false;
    if (i + 1 == given.rank) continue;
    if (given.strides[i] % alignment != 0 || given.strides[i] >= std::uint64_t{1} << 40) return false;
    const std::uint64_t below = i == 0 ? given.extents[0] * element_bytes(given.type) : given.strides[i - 1];
    if (given.strides[i] < below) return false;
  }
  return true;
}

inline bool inner_extent_holds(const TiledArguments& given) {
  if (given.interleave != 0) return true;
  const std::uint32_t inner = given.box[0] * element_bytes(given.type);
  return inner % 16 == 0 && (given.swizzle == 0 || inner <= 16U << given.swizzle);
}

/// The map; none: CUDA_ERROR_INVALID_VALUE. Interleaved layouts and fills with NaN are checked and cannot be loaded.
inline std::optional<CUtensorMap> encode_tiled(const TiledArguments& given) {
  const bool pointers = given.extents != nullptr && given.box != nullptr && given.steps != nullptr &&
                        (given.strides != nullptr || given.rank == 1);
  if (!pointers || !enumerators_hold(given) || !axes_hold(given) || !inner_extent_holds(given)) return std::nullopt;
  MapContents contents;
  contents.mark = given.interleave == 0 && given.fill == 0 ? kMapMark : 0;
  contents.address = given.address;
  contents.rank = static_cast<std::uint8_t>(given.rank);
  contents.swizzle = static_cast<std::uint8_t>(given.swizzle);
  contents.strides[0] = element_bytes(given.type);
  for (std::uint32_t i = 0; i < given.rank; ++i) {
    contents.extents[i] = given.extents[i];
    contents.box[i] = static_cast<std::uint16_t>(given.box[i]);
    // The first axis's step is ignored, as the hardware does.
    contents.steps[i] = i == 0 ? std::uint8_t{1} : static_cast<std::uint8_t>(given.steps[i]);
    if (i + 1 < given.rank) contents.strides[i + 1] = given.strides[i];
  }
  CUtensorMap out{};
  std::memcpy(&out, &contents, sizeof contents);
  return out;
}

}  // namespace accelopt_shim
