// SPDX-License-Identifier: Apache-2.0
// The instructions of an NKI kernel, as data. A kernel's code ran in the process that they come from: what is read here
// is hostile, and is checked until every access of every instruction lies in its buffer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace accelopt::targets::trainium {

/// Where a buffer lies: a tensor in HBM, of which inputs and outputs are the kernel's; or one tile on the chip.
enum class Space { input, output, scratch, constant, sbuf, psum };
bool on_chip(Space space);

struct Buffer {
  Space space = Space::sbuf;
  std::string name;
  int line = 0;                     ///< of its declaration
  std::optional<float> fill;        ///< what it holds before anything is written; none: nothing
  bool identity = false;            ///< a constant: the identity matrix
  std::vector<std::int64_t> shape;  ///< of a tile: partitions, elements in each
  [[nodiscard]] std::int64_t size() const;
};

struct Axis {
  std::int64_t count = 1;
  std::int64_t stride = 0;  ///< elements
};

/// The elements that an instruction reads or writes. The first axis is the partition axis.
struct View {
  std::uint32_t buffer = 0;
  std::int64_t offset = 0;
  std::vector<Axis> axes;
  [[nodiscard]] std::int64_t partitions() const { return axes.front().count; }
  [[nodiscard]] std::int64_t per_partition() const;
};

enum class Op {
  load,
  store,
  memset,
  copy,
  activation,     ///< function(data * scale + bias)
  tensor_scalar,  ///< (data op0 a) op1 b
  tensor_tensor,
  scan,
  reduce,
  matmul,     ///< stationary.T @ moving
  transpose,  ///< through the tensor engine
  broadcast   ///< of one partition to all, through the tensor engine
};

enum class Arithmetic {
  add,
  subtract,
  multiply,
  divide,
  max,
  min,
  equal,
  not_equal,
  greater,
  greater_equal,
  less,
  less_equal
};

enum class Function {
  copy,
  exp,
  log,
  sqrt,
  rsqrt,
  square,
  abs,
  tanh,
  sigmoid,
  silu,
  relu,
  reciprocal,
  sin,
  gelu,
  erf,
  sign,
  softplus
};

/// Flags: of matmul 1, added to what is there, and 2, a transpose by the identity matrix, which moves bits; of
/// activation 1, there is a bias, and 2, the scale is a tile; of tensor_scalar and scan 1 and 2, operands of the first
/// and of the second operation are swapped; of reduce 1, the result is negated.
struct Instruction {
  Op op = Op::copy;
  int line = 0;
  std::uint32_t iteration = 0;
  std::uint32_t target = 0;  ///< views
  std::vector<std::uint32_t> sources;
  std::vector<Arithmetic> operations{};
  Function function = Function::copy;
  std::vector<std::optional<float>> numbers{};  ///< none: a tile is the operand, the next of the sources
  int flags = 0;
};

enum class LoopKind { affine, sequential, unrolled };

struct Loop {
  int line = 0;
  LoopKind kind = LoopKind::affine;
};

/// One iteration of a loop; the first of the list is the kernel as a whole.
struct Iteration {
  std::uint32_t parent = 0;
  std::int32_t loop = -1;
  std::int64_t index = 0;
};

struct Program {
  std::vector<Buffer> buffers;
  std::vector<View> views;
  std::vector<Loop> loops;
  std::vector<Iteration> iterations;
  std::vector<Instruction> instructions;
  std::vector<std::uint32_t> inputs;  ///< buffers, in the order of the task's tensors
  std::vector<std::uint32_t> outputs;

  [[nodiscard]] const View& view(std::uint32_t number) const { return views[number]; }
  [[nodiscard]] const Buffer& buffer_of(std::uint32_t view) const { return buffers[views[view].buffer]; }
};

/// A tensor as the task has it.
struct Extent {
  std::string name;
  std::vector<std::int64_t> shape;
};

/// @error corrupt: this is no trace of a kernel with these tensors.
base::Result<Program> read_program(const base::Json& trace, const std::vector<Extent>& inputs,
                                   const std::vector<Extent>& outputs);

}  // namespace accelopt::targets::trainium
