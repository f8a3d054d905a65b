// SPDX-License-Identifier: Apache-2.0
// What a cubin holds: an ELF file of the GPU's machine code. Read as hostile bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace accelopt::devices::cuda {

struct CubinParameter {
  std::uint32_t offset = 0;  ///< bytes, in the block of parameters
  std::uint32_t size = 0;    ///< bytes
};

struct CubinKernel {
  std::string name;  ///< as it is linked: "gemm", or mangled
  std::vector<CubinParameter> parameters;
  std::array<std::uint32_t, 3> max_threads{0, 0, 0};       ///< of __launch_bounds__; 0: not stated
  std::array<std::uint32_t, 3> required_threads{0, 0, 0};  ///< of .reqntid; 0: not stated
  std::array<std::uint32_t, 3> cluster{0, 0, 0};           ///< of __cluster_dims__; 0: not stated
  std::int64_t code_bytes = 0;
  std::int64_t code_offset = 0;  ///< bytes behind the first function of the file
};

/// A variable in global memory or in the constant bank of declared constants: it keeps its value from launch to launch.
struct CubinVariable {
  std::string name;  ///< as it is linked
  std::uint64_t bytes = 0;
};

struct Cubin {
  std::vector<CubinKernel> kernels;  ///< in the order of their names
  std::vector<CubinVariable> variables;
  std::vector<std::string> missing;  ///< functions that are called and not defined: "vprintf", "malloc", ...
};

/// @error corrupt: not a cubin, or damaged.
base::Result<Cubin> read_cubin(std::string_view bytes);

/// SHA-256 over what the launched kernels do: their code, constants, attributes, and the data and functions that they
/// refer to. Names do not count, nor kernels that `launched` does not name. Requires a readable cubin with the kernels.
base::Result<std::string> cubin_code_id(std::string_view bytes, const std::vector<std::string>& launched);

/// Whether the launched kernels do the same in two cubins of one machine. Unlike their ids this does not see the file's
/// flags, in which the number of a section stands, which lines of the source change. False where one is damaged.
bool is_same_code(std::string_view one, std::string_view other, const std::vector<std::string>& launched);

}  // namespace accelopt::devices::cuda
