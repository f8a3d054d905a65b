// SPDX-License-Identifier: Apache-2.0
// Tensors in a safetensors file: eight bytes with the length of a header in JSON, the header, the data. Everything that
// the header says is held against the file before it is believed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "model/dtype.hpp"

namespace accelopt::suites::flashinfer_trace {

struct StoredTensor {
  std::string dtype;  ///< as the file says it: "I32"
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  ///< in the data
  std::uint64_t end = 0;
};

/// What is missing where a pointer lies in the place of a file that Git LFS keeps elsewhere.
inline constexpr const char* kLfsPointer = "is a Git LFS pointer, not the file; fetch it with: git lfs pull";

class Safetensors {
 public:
  /// Reads the header. @error not_found: no such file, or a Git LFS pointer in its place; corrupt: the header and the
  /// file contradict each other; io: no regular file.
  static base::Result<Safetensors> open(const std::filesystem::path& file);

  [[nodiscard]] const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }
  /// The elements. Requires a tensor of this file, of a dtype that `is_readable`. @error io, corrupt.
  [[nodiscard]] base::Result<std::vector<double>> read(const StoredTensor& tensor) const;

 private:
  base::FileDescriptor file_;
  std::uint64_t data_begin_ = 0;
  std::map<std::string, StoredTensor> tensors_;
};

/// How a safetensors file calls the dtype.
std::string_view safetensors_name(model::DType dtype);
/// Whether Safetensors::read knows its numbers: integers, bool, float32 and float64.
bool is_readable(std::string_view dtype);

}  // namespace accelopt::suites::flashinfer_trace
