// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/execute.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>

#include "targets/trainium/product.hpp"
#include "targets/trainium/side_by_side.hpp"
#include "targets/trainium/slices.hpp"

namespace accelopt::targets::trainium {
namespace {

/// What an element holds that nobody wrote: a NaN that arithmetic hands on, and that says whose it was.
constexpr std::uint32_t kPoison = 0x7fe00000U;
constexpr std::uint32_t kPoisonNumber = 0x001fffffU;
/// Memory of tiles that is kept for the next ones: fresh pages cost more than what most instructions do.
constexpr std::size_t kMostSpareBytes = std::size_t{32} << 20;

float poison_of(std::size_t buffer) {
  return std::bit_cast<float>(kPoison | (static_cast<std::uint32_t>(buffer) & kPoisonNumber));
}

float calculate(Arithmetic operation, float a, float b) {
  switch (operation) {
    case Arithmetic::add:
      return a + b;
    case Arithmetic::subtract:
      return a - b;
    case Arithmetic::multiply:
      return a * b;
    case Arithmetic::divide:
      return a / b;
    case Arithmetic::max:
      return std::isnan(a) || a > b ? a : b;
    case Arithmetic::min:
      return std::isnan(a) || a < b ? a : b;
    default:
      break;
  }
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? a : b;
  const bool holds = operation == Arithmetic::equal           ? a == b
                     : operation == Arithmetic::not_equal     ? a != b
                     : operation == Arithmetic::greater       ? a > b
                     : operation == Arithmetic::greater_equal ? a >= b
                     : operation == Arithmetic::less          ? a < b
                                                              : a <= b;
  return holds ? 1.0F : 0.0F;
}

float calculate(Function function, float x) {
  constexpr float kHalfRoot = 0.70710678F;
  switch (function) {
    case Function::copy:
      return x;
    case Function::exp:
      return std::exp(x);
    case Function::log:
      return std::log(x);
    case Function::sqrt:
      return std::sqrt(x);
    case Function::rsqrt:
      return 1.0F / std::sqrt(x);
    case Function::square:
      return x * x;
    case Function::abs:
      return std::fabs(x);
    case Function::tanh:
      return std::tanh(x);
    case Function::sigmoid:
      return 1.0F / (1.0F + std::exp(-x));
    case Function::silu:
      return x / (1.0F + std::exp(-x));
    case Function::relu:
      return x < 0 ? 0.0F : x;
    case Function::reciprocal:
      return 1.0F / x;
    case Function::sin:
      return std::sin(x);
    case Function::gelu:
      return 0.5F * x * (1.0F + std::erf(x * kHalfRoot));
    case Function::erf:
      return std::erf(x);
    case Function::sign:
      return x > 0 ? 1.0F : x < 0 ? -1.0F : x;
    case Function::softplus:
      return x > 20.0F ? x : std::log1p(std::exp(x));
  }
  return x;
}

/// Calls `row(place)` for every run along the last axis of a partition, and tells its first element.
template <class Row>
void for_rows(const View& view, std::int64_t base, std::size_t axis, Row& row) {
  if (axis + 1 >= view.axes.size()) {
    row(base);
    return;
  }
  for (std::int64_t i = 0; i < view.axes[axis].count; ++i)
    for_rows(view, base + i * view.axes[axis].stride, axis + 1, row);
}

/// A partition's elements, one after the other.
void gather(const float* memory, const View& view, std::int64_t partition, std::vector<float>& out) {
  out.resize(static_cast<std::size_t>(view.per_partition()));
  const Axis last = view.axes.size() > 1 ? view.axes.back() : Axis{1, 0};
  float* to = out.data();
  auto row = [&](std::int64_t base) {
    const float* from = memory + base;
    if (last.stride == 1) {
      to = std::copy_n(from, last.count, to);
      return;
    }
    for (std::int64_t i = 0; i < last.count; ++i) *to++ = from[i * last.stride];
  };
  for_rows(view, view.offset + partition * view.axes[0].stride, 1, row);
}

void scatter(float* memory, const View& view, std::int64_t partition, const std::vector<float>& values) {
  const Axis last = view.axes.size() > 1 ? view.axes.back() : Axis{1, 0};
  const float* from = values.data();
  auto row = [&](std::int64_t base) {
    float* to = memory + base;
    for (std::int64_t i = 0; i < last.count; ++i) to[i * last.stride] = *from++;
  };
  for_rows(view, view.offset + partition * view.axes[0].stride, 1, row);
}

/// The rows of a view, where each lies in one piece.
std::optional<Rows> rows_of(const float* memory, const View& view) {
  std::int64_t run = 1;
  for (std::size_t i = view.axes.size(); i-- > 1;) {
    if (view.axes[i].count == 1) continue;
    if (view.axes[i].stride != run) return std::nullopt;
    run *= view.axes[i].count;
  }
  return Rows{memory + view.offset, view.axes[0].stride};
}

class Machine {
 public:
  Machine(const Program& program, const std::vector<bool>& wanted, const std::vector<std::span<const float>>& inputs,
          const std::vector<std::span<float>>& outputs)
      : program_(program), own_(program.buffers.size()), last_use_(program.buffers.size(), 0) {
    memory_.resize(program.buffers.size(), nullptr);
    // Inputs are only read: the check refuses a store to one, and so does every instruction here.
    for (std::size_t i = 0; i < inputs.size(); ++i) memory_[program.inputs[i]] = const_cast<float*>(inputs[i].data());
    for (std::size_t i = 0; i < outputs.size(); ++i) memory_[program.outputs[i]] = outputs[i].data();
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
      if (!wanted[i]) continue;
      const Instruction& one = program.instructions[i];
      last_use_[program.view(one.target).buffer] = i;
      for (const std::uint32_t source : one.sources) last_use_[program.view(source).buffer] = i;
    }
  }

  void run(std::size_t number) {
    const Instruction& one = program_.instructions[number];
    const View& target = program_.view(one.target);
    if (program_.buffers[target.buffer].space == Space::input ||
        program_.buffers[target.buffer].space == Space::constant)
      return;
    float* const to = memory(target.buffer);
    for (const std::uint32_t source : one.sources) memory(program_.view(source).buffer);
    switch (one.op) {
      case Op::matmul:
        multiply(one, target, to);
        break;
      case Op::transpose:
        transpose(one, target, to);
        break;
      default:
        for (std::int64_t p = 0; p < target.partitions(); ++p) partition(one, target, to, p);
    }
    release(target.buffer, number);
    for (const std::uint32_t source : one.sources) release(program_.view(source).buffer, number);
  }

 private:
  float* memory(std::uint32_t number) {
    if (memory_[number] != nullptr) return memory_[number];
    const Buffer& buffer = program_.buffers[number];
    const auto size = static_cast<std::size_t>(buffer.size());
    if (std::vector<std::vector<float>>& spare = spare_[size]; !spare.empty()) {
      own_[number] = std::move(spare.back());
      spare.pop_back();
      spare_bytes_ -= size * sizeof(float);
    }
    own_[number].assign(size, buffer.identity ? 0.0F : buffer.fill.value_or(poison_of(number)));
    if (buffer.identity) {
      const auto n = static_cast<std::size_t>(buffer.shape[0]);
      for (std::size_t i = 0; i < n; ++i) own_[number][i * n + i] = 1;
    }
    return memory_[number] = own_[number].data();
  }

  void release(std::uint32_t number, std::size_t now) {
    if (last_use_[number] != now || own_[number].empty()) return;
    const std::size_t bytes = own_[number].size() * sizeof(float);
    if (spare_bytes_ + bytes <= kMostSpareBytes) {
      spare_bytes_ += bytes;
      spare_[own_[number].size()].push_back(std::move(own_[number]));
    }
    own_[number] = {};
    memory_[number] = nullptr;
  }

  void read(const Instruction& one, std::size_t source, std::int64_t partition, std::vector<float>& out) {
    const View& view = program_.view(one.sources[source]);
    gather(memory_[view.buffer], view, one.op == Op::broadcast ? 0 : partition, out);
  }

  /// The first element that a tile of one element per partition has there.
  float scalar(const Instruction& one, std::size_t source, std::int64_t partition) {
    const View& view = program_.view(one.sources[source]);
    return memory_[view.buffer][view.offset + partition * view.axes[0].stride];
  }

  void partition(const Instruction& one, const View& target, float* to, std::int64_t p) {
    if (one.op == Op::memset)
      a_.assign(static_cast<std::size_t>(target.per_partition()), *one.numbers[0]);
    else
      read(one, 0, p, a_);
    switch (one.op) {
      case Op::activation:
        activate(one, p);
        break;
      case Op::tensor_scalar:
        with_scalars(one, p);
        break;
      case Op::tensor_tensor:
        read(one, 1, p, b_);
        for (std::size_t i = 0; i < a_.size(); ++i) a_[i] = calculate(one.operations[0], a_[i], b_[i]);
        break;
      case Op::scan:
        scan(one, p);
        break;
      case Op::reduce:
        reduce(one, static_cast<std::size_t>(target.per_partition()));
        break;
      default:
        break;
    }
    scatter(to, target, p, a_);
  }

  void activate(const Instruction& one, std::int64_t p) {
    std::size_t next = 1;
    const float bias = (one.flags & 1) != 0 ? scalar(one, next++, p) : 0.0F;
    const float scale = (one.flags & 2) != 0 ? scalar(one, next, p) : *one.numbers[0];
    if (scale == 1 && bias == 0) {
      for (float& x : a_) x = calculate(one.function, x);
      return;
    }
    for (float& x : a_) x = calculate(one.function, x * scale + bias);
  }

  void with_scalars(const Instruction& one, std::int64_t p) {
    std::size_t next = 1;
    for (std::size_t i = 0; i < one.operations.size(); ++i) {
      const float operand = one.numbers[i] ? *one.numbers[i] : scalar(one, next++, p);
      const bool swapped = ((one.flags >> i) & 1) != 0;
      for (float& x : a_)
        x = swapped ? calculate(one.operations[i], operand, x) : calculate(one.operations[i], x, operand);
    }
  }

  void scan(const Instruction& one, std::int64_t p) {
    read(one, 1, p, b_);
    float last = one.numbers[0] ? *one.numbers[0] : scalar(one, 2, p);
    for (std::size_t i = 0; i < a_.size(); ++i) {
      const float first =
          (one.flags & 1) != 0 ? calculate(one.operations[0], last, a_[i]) : calculate(one.operations[0], a_[i], last);
      last = (one.flags & 2) != 0 ? calculate(one.operations[1], b_[i], first)
                                  : calculate(one.operations[1], first, b_[i]);
      a_[i] = last;
    }
  }

  /// Along the last axes: each result is of elements that lie behind each other.
  void reduce(const Instruction& one, std::size_t results) {
    const std::size_t run = a_.size() / results;
    for (std::size_t r = 0; r < results; ++r) {
      float value = a_[r * run];
      for (std::size_t i = 1; i < run; ++i) value = calculate(one.operations[0], value, a_[r * run + i]);
      a_[r] = (one.flags & 1) != 0 ? -value : value;
    }
    a_.resize(results);
  }

  void multiply(const Instruction& one, const View& target, float* to) {
    const View& stationary = program_.view(one.sources[0]);
    const View& moving = program_.view(one.sources[1]);
    const auto rows = static_cast<std::size_t>(target.partitions());
    const auto columns = static_cast<std::size_t>(target.per_partition());
    const auto depth = static_cast<std::size_t>(stationary.partitions());
    const bool moves = (one.flags & 2) != 0;
    const std::vector<float>& sums =
        moves ? moved(stationary, moving, depth, rows, columns)
              : product_.of(rows_of(stationary, left_), rows_of(moving, right_), depth, rows, columns);
    for (std::size_t m = 0; m < rows; ++m) {
      const auto p = static_cast<std::int64_t>(m);
      if ((one.flags & 1) != 0)
        gather(to, target, p, a_);
      else
        a_.assign(columns, 0.0F);
      for (std::size_t n = 0; n < columns; ++n) a_[n] += sums[m * columns + n];
      scatter(to, target, p, a_);
    }
  }

  /// As they lie in memory, or else gathered to `copy`.
  Rows rows_of(const View& view, std::vector<float>& copy) {
    const float* const memory = memory_[view.buffer];
    if (const auto rows = trainium::rows_of(memory, view)) return *rows;
    copy.clear();
    for (std::int64_t k = 0; k < view.partitions(); ++k) {
      gather(memory, view, k, a_);
      copy.insert(copy.end(), a_.begin(), a_.end());
    }
    return {copy.data(), view.per_partition()};
  }

  /// A product whose moving matrix only says which element goes where.
  const std::vector<float>& moved(const View& stationary, const View& moving, std::size_t depth, std::size_t rows,
                                  std::size_t columns) {
    sums_.assign(rows * columns, 0.0F);
    for (std::size_t k = 0; k < depth; ++k) {
      gather(memory_[stationary.buffer], stationary, static_cast<std::int64_t>(k), a_);
      gather(memory_[moving.buffer], moving, static_cast<std::int64_t>(k), b_);
      for (std::size_t n = 0; n < columns; ++n) {
        if (b_[n] == 0) continue;
        for (std::size_t m = 0; m < rows; ++m) sums_[m * columns + n] += a_[m] * b_[n];
      }
    }
    return sums_;
  }

  void transpose(const Instruction& one, const View& target, float* to) {
    const View& source = program_.view(one.sources[0]);
    const auto rows = static_cast<std::size_t>(target.partitions());
    const auto columns = static_cast<std::size_t>(target.per_partition());
    std::vector<float> turned(rows * columns);
    for (std::size_t c = 0; c < columns; ++c) {
      gather(memory_[source.buffer], source, static_cast<std::int64_t>(c), a_);
      for (std::size_t r = 0; r < rows; ++r) turned[r * columns + c] = a_[r];
    }
    for (std::size_t r = 0; r < rows; ++r) {
      a_.assign(turned.begin() + static_cast<std::ptrdiff_t>(r * columns),
                turned.begin() + static_cast<std::ptrdiff_t>((r + 1) * columns));
      scatter(to, target, static_cast<std::int64_t>(r), a_);
    }
  }

  const Program& program_;
  std::vector<float*> memory_;           ///< by buffer; null: not there now
  std::vector<std::vector<float>> own_;  ///< of those that are neither inputs nor outputs
  std::vector<std::size_t> last_use_;    ///< instruction
  std::unordered_map<std::size_t, std::vector<std::vector<float>>> spare_;  ///< of tiles that are done with, by size
  std::size_t spare_bytes_ = 0;
  Product product_;
  std::vector<float> a_;
  std::vector<float> b_;
  std::vector<float> left_;
  std::vector<float> right_;
  std::vector<float> sums_;
};

/// The tile whose poison lies in an output; "": none does.
std::string poisoned(const Program& program, const std::vector<std::span<float>>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t at = 0; at < outputs[i].size(); ++at) {
      const auto bits = std::bit_cast<std::uint32_t>(outputs[i][at]);
      if ((bits & kPoison) != kPoison) continue;
      const std::uint32_t number = bits & kPoisonNumber;
      if (number >= program.buffers.size() || program.buffers[number].fill) continue;
      const Buffer& source = program.buffers[number];
      if (source.space == Space::input || source.space == Space::constant) continue;
      return "uninitialised elements of \"" + source.name + "\" (line " + std::to_string(source.line) +
             ") reach output \"" + program.buffers[program.outputs[i]].name + "\", first element " + std::to_string(at);
    }
  }
  return {};
}

/// Makes what the view covers uninitialised, along this axis and those after it.
void poison_view(std::span<float> memory, const View& view, float poison, std::size_t axis, std::int64_t base) {
  const Axis& here = view.axes[axis];
  for (std::int64_t i = 0; i < here.count; ++i) {
    const std::int64_t at = base + i * here.stride;
    if (axis + 1 < view.axes.size())
      poison_view(memory, view, poison, axis + 1, at);
    else
      memory[static_cast<std::size_t>(at)] = poison;
  }
}

/// What the instructions read of outputs is poison until they write it.
void poison_what_is_read(const Program& program, const std::vector<bool>& wanted,
                         const std::vector<std::span<float>>& outputs) {
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    if (!wanted[i]) continue;
    for (const std::uint32_t source : program.instructions[i].sources) {
      if (program.buffer_of(source).space != Space::output) continue;
      const View& view = program.view(source);
      const auto output = std::find(program.outputs.begin(), program.outputs.end(), view.buffer);
      if (output == program.outputs.end()) continue;  // memory of its own, which begins as poison
      poison_view(outputs[static_cast<std::size_t>(output - program.outputs.begin())], view, poison_of(view.buffer), 0,
                  view.offset);
    }
  }
}

base::Result<void> run_part(const Program& program, const std::vector<bool>& wanted,
                            const std::vector<std::span<const float>>& inputs,
                            const std::vector<std::span<float>>& outputs, const std::stop_token& stop) {
  Machine machine(program, wanted, inputs, outputs);
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    if (!wanted[i]) continue;
    if (stop.stop_requested()) return base::fail(base::ErrorCode::cancelled, "the kernel was stopped");
    machine.run(i);
  }
  return {};
}

}  // namespace

base::Result<std::string> execute(const Program& program, const std::vector<std::span<const float>>& inputs,
                                  const std::vector<std::span<float>>& outputs, const std::stop_token& stop) {
  for (std::size_t i = 0; i < outputs.size(); ++i)
    std::fill(outputs[i].begin(), outputs[i].end(), poison_of(program.outputs[i]));
  const std::vector<Part> parts = independent_parts(program, most_parts(program));
  TRY(side_by_side(parts.size(), [&](std::size_t i) { return run_part(program, parts[i], inputs, outputs, stop); }));
  return poisoned(program, outputs);
}

base::Result<void> execute_some(const Program& program, const std::vector<bool>& wanted,
                                const std::vector<std::span<const float>>& inputs,
                                const std::vector<std::span<float>>& outputs, const std::stop_token& stop) {
  poison_what_is_read(program, wanted, outputs);
  return run_part(program, wanted, inputs, outputs, stop);
}

}  // namespace accelopt::targets::trainium
