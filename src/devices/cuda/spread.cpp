// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/spread.hpp"

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "evaluation/verify/dtype_codec.hpp"
#include "evaluation/verify/spread.hpp"

namespace accelopt::devices::cuda {
namespace {

template <class Element>
void wipe(std::vector<Element>& values) {
  if (!values.empty()) explicit_bzero(values.data(), values.size() * sizeof(Element));
}

/// Right values in the host's memory, wiped with this: some devices reach all of it.
struct RightValues {
  evaluation::Expected expected;
  std::vector<std::byte> bytes;  ///< of integers

  RightValues() = default;
  RightValues(const RightValues&) = delete;
  RightValues& operator=(const RightValues&) = delete;
  ~RightValues() {
    wipe(expected.values);
    wipe(expected.integers);
    wipe(bytes);
  }
};

}  // namespace

base::Result<std::string> spread_on_device(Device& device, DevicePointer actual, const KeptOutput& kept,
                                           DevicePointer slot, std::uint64_t most) {
  if (kept.count == 0 || kept.count > most) return std::string();
  evaluation::Bounds bounds = kept.bounds;
  std::vector<std::byte> got(kept.count * model::size_of(kept.dtype));
  TRY(device.copy_out(got, actual));
  RightValues right;
  right.expected.dtype = kept.dtype;
  right.expected.shape = kept.shape;
  if (model::is_floating(kept.dtype)) {
    right.expected.values.resize(kept.count);
    bounds.rows.resize(kept.count / static_cast<std::size_t>(bounds.row_length));
    TRY(device.copy_out(std::as_writable_bytes(std::span(right.expected.values)), slot + kept.expected));
    TRY(device.copy_out(std::as_writable_bytes(std::span(bounds.rows)), slot + kept.rows));
  } else {
    right.bytes.resize(got.size());
    TRY(device.copy_out(right.bytes, slot + kept.expected));
    right.expected.integers = evaluation::decode_integers(kept.dtype, right.bytes);
  }
  return evaluation::spread_text(right.expected, bounds, got);
}

}  // namespace accelopt::devices::cuda
