// SPDX-License-Identifier: Apache-2.0
// What a front end hands to the device server: machine code, and which kernels of it run on a workload. No source
// language is known here, nor how anybody wrote down the numbers: they are all there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "model/dtype.hpp"

namespace accelopt::devices::cuda {

/// What one kernel of a cubin takes, as its compiler reports it.
struct KernelResources {
  std::string kernel;
  int registers = 0;            ///< per thread
  int spill_bytes = 0;          ///< stored and loaded, per thread
  int stack_bytes = 0;          ///< per thread
  int static_shared_bytes = 0;  ///< per block
  int max_threads = 0;          ///< that it was compiled for, per block; 0: not stated
};

struct ProgramCubin {
  std::string bytes;
  std::vector<KernelResources> kernels;  ///< those that are launched, each once; only profiles read them
};

/// What one parameter of a kernel is given.
struct Argument {
  enum class Kind {
    tensor,      ///< the address of an input, an output or a scratch buffer
    scalar,      ///< the value of a scalar input of the workload
    constant,    ///< a value that the front end knows
    tensor_map,  ///< by value, 128 bytes
    words,       ///< by value, a structure of 8-byte numbers that the front end knows
  };
  Kind kind = Kind::tensor;
  std::string name;          ///< of the tensor, the scalar input or the tensor map
  std::uint64_t offset = 0;  ///< of a tensor: bytes behind its beginning
  model::DType dtype =
      model::DType::int64;             ///< of a scalar or constant; a kernel may take an int64 as a shorter integer
  std::uint64_t bits = 0;              ///< of a constant: its bytes, lowest first
  std::vector<std::uint64_t> words{};  ///< of a structure
};

Argument tensor_argument(std::string name, std::uint64_t offset_bytes = 0);
Argument scalar_argument(std::string name, model::DType dtype);
Argument tensor_map_argument(std::string name);
Argument words_argument(std::vector<std::uint64_t> words);
/// A constant of the type that it has in C++: an int32_t is an int32.
using Constant = std::variant<bool, std::int32_t, std::int64_t, float, double>;
Argument constant_argument(Constant value);
/// A constant of any dtype, by its bytes, lowest first.
Argument constant_argument(model::DType dtype, std::uint64_t bits);

struct Launch {
  std::size_t cubin = 0;                          ///< which one of the program's
  std::string kernel;                             ///< as it is linked
  std::array<std::uint32_t, 3> grid{1, 1, 1};     ///< blocks
  std::array<std::uint32_t, 3> block{1, 1, 1};    ///< threads
  std::array<std::uint32_t, 3> cluster{0, 0, 0};  ///< blocks; 0: none
  std::uint32_t shared_bytes = 0;                 ///< dynamic
  std::vector<Argument> arguments;
  bool cooperative = false;  ///< all of its blocks are on the device at once
  bool spread = false;       ///< the blocks of a cluster lie on different multiprocessors, where that can be had
  bool overlaps = false;     ///< may begin before the launch before it has ended, and waits for it by itself
};

/// Device memory that the launches of one call share, and nobody else.
struct ScratchBuffer {
  std::string name;                            ///< no input's or output's
  model::DType dtype = model::DType::float32;  ///< what it is poisoned as
  std::uint64_t bytes = 0;
  bool zero = false;  ///< cleared inside the timed region; else poisoned outside of it
};

/// How the hardware copies boxes of a tensor.
struct TensorMap {
  std::string name;
  std::string tensor;        ///< an input, an output or a scratch buffer
  std::uint64_t offset = 0;  ///< bytes
  model::DType dtype = model::DType::float32;
  std::vector<std::int64_t> shape;       ///< elements, innermost axis first
  std::vector<std::uint32_t> box;        ///< elements, innermost axis first
  int swizzle_bytes = 0;                 ///< 0, 32, 64 or 128
  std::vector<std::uint64_t> strides{};  ///< bytes, of every axis but the innermost; empty: rows without gaps
  bool nan_fill = false;                 ///< what lies beyond the tensor is read as NaN, not as 0
};

/// What one call on one workload launches, in this order.
struct LaunchPlan {
  std::vector<Launch> launches;
  std::vector<ScratchBuffer> scratch;
  std::vector<TensorMap> tensor_maps;
};

/// A candidate, or a reference, from any front end.
struct Program {
  std::vector<ProgramCubin> cubins;
  std::map<std::string, LaunchPlan> plans;  ///< by workload, under names that the front end chooses
};
using ProgramPtr = std::shared_ptr<const Program>;

/// Whether the plan makes sense by itself, for a program of so many cubins; the front end may have had it from a
/// candidate. What it needs of inputs and outputs, and what the device refuses, is found out when it is called.
/// @error invalid_argument: a launch of a cubin that is not there or of no blocks or threads, two scratch buffers or
/// tensor maps of one name, a map of no axes or not as many as its box, of strides that are not one fewer, or an
/// argument that names no map of the plan or has no words.
base::Result<void> check_plan(const LaunchPlan& plan, std::size_t cubins);

/// Names of the kernels that any plan launches, each once.
std::vector<std::string> launched_kernels(const Program& program);

}  // namespace accelopt::devices::cuda
