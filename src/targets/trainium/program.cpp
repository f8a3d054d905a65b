// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/program.hpp"

#include <array>
#include <cmath>
#include <exception>
#include <limits>
#include <string_view>
#include <utility>

namespace accelopt::targets::trainium {
namespace {

using base::ErrorCode;
using base::Json;
using base::Result;

constexpr std::int64_t kMostElements = std::int64_t{1} << 31;
constexpr std::size_t kMostAxes = 8;
constexpr std::size_t kMostEntries = 2'000'000;
constexpr std::size_t kMostName = 64;

constexpr std::array<std::string_view, 6> kSpaces{"input", "output", "scratch", "constant", "sbuf", "psum"};
constexpr std::array<std::string_view, 12> kOps{"load",       "store",         "memset",        "copy",
                                                "activation", "tensor_scalar", "tensor_tensor", "scan",
                                                "reduce",     "matmul",        "transpose",     "broadcast"};
constexpr std::array<std::string_view, 12> kArithmetic{"add",     "subtract",      "multiply", "divide",
                                                       "max",     "min",           "equal",    "not_equal",
                                                       "greater", "greater_equal", "less",     "less_equal"};
constexpr std::array<std::string_view, 17> kFunctions{"copy", "exp",  "log",     "sqrt", "rsqrt",   "square",
                                                      "abs",  "tanh", "sigmoid", "silu", "relu",    "reciprocal",
                                                      "sin",  "gelu", "erf",     "sign", "softplus"};
constexpr std::array<std::string_view, 3> kLoops{"affine", "sequential", "static"};

tl::unexpected<base::Error> damaged(const std::string& what) {
  return base::fail(ErrorCode::corrupt, "the trace of the kernel " + what);
}

/// The place of a name in such a list, as the enumerator. @error corrupt.
template <class Enum, std::size_t n>
Result<Enum> named(const std::array<std::string_view, n>& names, const Json& name) {
  if (name.is_string()) {
    for (std::size_t i = 0; i < n; ++i) {
      if (names.at(i) == name.get_ref<const std::string&>()) return static_cast<Enum>(i);
    }
  }
  return damaged("names what there is not");
}

Result<std::int64_t> whole(const Json& value, std::int64_t low, std::int64_t high) {
  if (!value.is_number_integer()) return damaged("has no number where one belongs");
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(high))
    return damaged("has a number that is too large");
  const auto out = value.get<std::int64_t>();
  if (out < low || out > high) return damaged("has a number out of range");
  return out;
}

Result<std::size_t> index(const Json& value, std::size_t count) {
  if (count == 0) return damaged("points to what there is not");
  TRY_ASSIGN(const std::int64_t out, whole(value, 0, static_cast<std::int64_t>(count) - 1));
  return static_cast<std::size_t>(out);
}

/// Of float32; "inf" and "-inf" are numbers that JSON does not have.
Result<float> number(const Json& value) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (value == "inf" || value == "-inf") return value == "inf" ? kInfinity : -kInfinity;
  if (!value.is_number()) return damaged("has no number where one belongs");
  const auto exact = value.get<double>();
  if (std::abs(exact) > static_cast<double>(std::numeric_limits<float>::max()))
    return exact > 0 ? kInfinity : -kInfinity;
  return static_cast<float>(exact);
}

Result<const Json*> list(const Json& value, std::size_t size) {
  if (!value.is_array() || value.size() != size) return damaged("has entries of another form");
  return &value;
}

std::string clean(const Json& name) {
  if (!name.is_string()) return "tensor";
  std::string out;
  for (const char c : name.get_ref<const std::string&>()) {
    if (out.size() == kMostName) break;
    out += c > 0x20 && c < 0x7f ? c : '_';
  }
  return out;
}

Result<Buffer> read_buffer(const Json& entry) {
  TRY(list(entry, 5));
  Buffer out;
  TRY_ASSIGN(out.space, named<Space>(kSpaces, entry[0]));
  out.name = clean(entry[1]);
  TRY_ASSIGN(const std::int64_t line, whole(entry[2], 0, 1 << 24));
  out.line = static_cast<int>(line);
  out.identity = entry[3] == "identity";
  if (!entry[3].is_null() && !out.identity) {
    TRY_ASSIGN(out.fill, number(entry[3]));
  }
  if (!entry[4].is_array() || entry[4].size() > kMostAxes) return damaged("has a buffer of no shape");
  std::int64_t size = 1;
  for (const Json& extent : entry[4]) {
    TRY_ASSIGN(const std::int64_t count, whole(extent, 1, kMostElements));
    if (size > kMostElements / count) return damaged("has a buffer that is too large");
    size *= count;
    out.shape.push_back(count);
  }
  const bool square = out.shape.size() == 2 && out.shape[0] == out.shape[1];
  if (out.identity && (out.space != Space::constant || !square)) return damaged("has an identity that is none");
  if (out.space == Space::constant && !out.identity && !out.fill) return damaged("has an empty constant");
  if (on_chip(out.space) && out.shape.size() != 2) return damaged("has a tile of another form");
  return out;
}

/// Lowest and highest place along these axes, from 0.
std::pair<std::int64_t, std::int64_t> reach(const View& view, std::size_t first) {
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (std::size_t i = first; i < view.axes.size(); ++i) {
    const std::int64_t span = (view.axes[i].count - 1) * view.axes[i].stride;
    (span < 0 ? low : high) += span;
  }
  return {low, high};
}

/// Every element lies in the buffer; of a tile every partition's in that partition.
Result<void> check_inside(const View& view, const Buffer& buffer) {
  if (!on_chip(buffer.space)) {
    const auto [low, high] = reach(view, 0);
    if (view.offset + low < 0 || view.offset + high >= buffer.size()) return damaged("leaves a tensor");
    return {};
  }
  const std::int64_t row = buffer.shape[1];
  const Axis& partitions = view.axes.front();
  const std::int64_t begin = view.offset / row;
  if (partitions.count > 1 && partitions.stride != row && partitions.stride != 0)
    return damaged("goes through a tile's partitions by other steps than one");
  const std::int64_t last = begin + (partitions.stride == 0 ? 0 : partitions.count - 1);
  const auto [low, high] = reach(view, 1);
  const std::int64_t at = view.offset % row;
  if (last >= buffer.shape[0] || at + low < 0 || at + high >= row) return damaged("leaves a tile");
  return {};
}

Result<View> read_view(const Json& entry, const std::vector<Buffer>& buffers) {
  const bool form = entry.is_array() && entry.size() >= 4 && entry.size() % 2 == 0 && entry.size() <= 2 + 2 * kMostAxes;
  if (!form) return damaged("has a view of another form");
  View out;
  TRY_ASSIGN(const std::size_t buffer, index(entry[0], buffers.size()));
  out.buffer = static_cast<std::uint32_t>(buffer);
  TRY_ASSIGN(out.offset, whole(entry[1], 0, kMostElements));
  std::int64_t elements = 1;
  for (std::size_t i = 2; i < entry.size(); i += 2) {
    Axis axis;
    TRY_ASSIGN(axis.count, whole(entry[i], 1, kMostElements));
    TRY_ASSIGN(axis.stride, whole(entry[i + 1], -kMostElements, kMostElements));
    if (elements > kMostElements / axis.count) return damaged("has a view that is too large");
    // Before anything is multiplied: an offset that a tensor of the largest size cannot have.
    if (axis.count > 1 && std::abs(axis.stride) > kMostElements / (axis.count - 1)) return damaged("leaves a tensor");
    elements *= axis.count;
    out.axes.push_back(axis);
  }
  TRY(check_inside(out, buffers[buffer]));
  return out;
}

/// How many operations, numbers and sources an instruction has, of which `tiles` have the target's form and those after
/// them one element per partition.
struct Form {
  std::size_t operations = 0;
  std::size_t numbers = 0;
  std::size_t tiles = 1;
  std::size_t vectors = 0;
};

Form form_of(const Instruction& one, std::size_t operations) {
  const auto missing = static_cast<std::size_t>(
      std::count_if(one.numbers.begin(), one.numbers.end(), [](const auto& value) { return !value.has_value(); }));
  switch (one.op) {
    case Op::memset:
      return {0, 1, 0, 0};
    case Op::activation:
      return {1, 1, 1, static_cast<std::size_t>(one.flags & 1) + static_cast<std::size_t>((one.flags >> 1) & 1)};
    case Op::tensor_scalar:
      return {operations == 2 ? 2U : 1U, operations == 2 ? 2U : 1U, 1, missing};
    case Op::tensor_tensor:
      return {1, 0, 2, 0};
    case Op::scan:
      return {2, 1, 2, missing};
    case Op::reduce:
      return {1, 1, 1, 0};
    case Op::matmul:
      return {0, std::min<std::size_t>(one.numbers.size(), 1), 2, 0};
    default:
      return {0, 0, 1, 0};
  }
}

/// Whether the operands' sizes go together.
bool fits(const Program& program, const Instruction& one, const Form& form) {
  const View& target = program.view(one.target);
  const auto source = [&](std::size_t i) -> const View& { return program.view(one.sources[i]); };
  if (one.op == Op::matmul)
    return source(0).partitions() == source(1).partitions() && source(0).per_partition() == target.partitions() &&
           source(1).per_partition() == target.per_partition();
  if (one.op == Op::transpose)
    return source(0).partitions() == target.per_partition() && source(0).per_partition() == target.partitions();
  if (one.op == Op::broadcast)
    return source(0).partitions() == 1 && source(0).per_partition() == target.per_partition();
  for (std::size_t i = 0; i < one.sources.size(); ++i) {
    if (source(i).partitions() != target.partitions()) return false;
    if (one.op == Op::reduce)
      return one.numbers[0] && *one.numbers[0] >= 1 && source(0).per_partition() % target.per_partition() == 0;
    if (i < form.tiles && source(i).per_partition() != target.per_partition()) return false;
    if (i >= form.tiles) {  // the same element again and again along all free axes
      for (std::size_t axis = 1; axis < source(i).axes.size(); ++axis) {
        if (source(i).axes[axis].count > 1 && source(i).axes[axis].stride != 0) return false;
      }
    }
  }
  return true;
}

Result<Instruction> read_instruction(const Json& entry, const Program& program) {
  TRY(list(entry, 8));
  Instruction out;
  TRY_ASSIGN(out.op, named<Op>(kOps, entry[0]));
  TRY_ASSIGN(const std::int64_t line, whole(entry[1], 0, 1 << 24));
  TRY_ASSIGN(const std::size_t iteration, index(entry[2], program.iterations.size()));
  TRY_ASSIGN(const std::size_t target, index(entry[3], program.views.size()));
  TRY_ASSIGN(const std::int64_t flags, whole(entry[7], 0, 3));
  out.line = static_cast<int>(line);
  out.iteration = static_cast<std::uint32_t>(iteration);
  out.target = static_cast<std::uint32_t>(target);
  out.flags = static_cast<int>(flags);
  for (const std::size_t part : {4U, 5U, 6U}) {
    if (!entry[part].is_array() || entry[part].size() > 4) return damaged("has an instruction of another form");
  }
  for (const Json& source : entry[4]) {
    TRY_ASSIGN(const std::size_t view, index(source, program.views.size()));
    out.sources.push_back(static_cast<std::uint32_t>(view));
  }
  for (const Json& value : entry[6]) {
    out.numbers.emplace_back();
    if (value.is_null()) continue;
    TRY_ASSIGN(out.numbers.back(), number(value));
  }
  const Form form = form_of(out, entry[5].size());
  const bool scaled =
      out.op == Op::activation && out.numbers.size() == 1 && out.numbers[0].has_value() == ((out.flags & 2) == 0);
  if (entry[5].size() != form.operations || out.numbers.size() != form.numbers ||
      out.sources.size() != form.tiles + form.vectors || (out.op == Op::activation && !scaled) ||
      ((out.op == Op::memset || out.op == Op::matmul) && !out.numbers.empty() && !out.numbers[0]))
    return damaged("has an instruction of another form");
  for (const Json& name : entry[5]) {
    if (out.op == Op::activation) {
      TRY_ASSIGN(out.function, named<Function>(kFunctions, name));
      continue;
    }
    TRY_ASSIGN(const Arithmetic operation, named<Arithmetic>(kArithmetic, name));
    out.operations.push_back(operation);
  }
  if (!fits(program, out, form)) return damaged("has operands that do not go together");
  return out;
}

Result<void> read_loops(const Json& trace, Program& out) {
  for (const Json& entry : trace.at("loops")) {
    TRY(list(entry, 3));
    TRY_ASSIGN(const std::int64_t line, whole(entry[0], 0, 1 << 24));
    TRY_ASSIGN(const LoopKind kind, named<LoopKind>(kLoops, entry[1]));
    out.loops.push_back({static_cast<int>(line), kind});
  }
  for (const Json& entry : trace.at("iterations")) {
    TRY(list(entry, 3));
    Iteration one;
    if (out.iterations.empty()) {
      out.iterations.push_back(one);
      continue;
    }
    TRY_ASSIGN(const std::size_t parent, index(entry[0], out.iterations.size()));  // one before it: there is no circle
    TRY_ASSIGN(const std::size_t loop, index(entry[1], out.loops.size()));
    TRY_ASSIGN(one.index, whole(entry[2], 0, kMostElements));
    one.parent = static_cast<std::uint32_t>(parent);
    one.loop = static_cast<std::int32_t>(loop);
    out.iterations.push_back(one);
  }
  return out.iterations.empty() ? Result<void>(damaged("has no iterations")) : Result<void>();
}

/// The kernel's inputs come first, in order; the outputs are named.
Result<void> read_tensors(const Json& trace, const std::vector<Extent>& inputs, const std::vector<Extent>& outputs,
                          Program& out) {
  for (std::uint32_t i = 0; i < out.buffers.size(); ++i) {
    if (out.buffers[i].space == Space::input) out.inputs.push_back(i);
  }
  if (!trace.at("outputs").is_array()) return damaged("has no outputs");
  for (const Json& output : trace.at("outputs")) {
    TRY_ASSIGN(const std::size_t buffer, index(output, out.buffers.size()));
    if (out.buffers[buffer].space != Space::output) return damaged("returns what is no output");
    out.outputs.push_back(static_cast<std::uint32_t>(buffer));
  }
  const auto agree = [&](const std::vector<std::uint32_t>& buffers, const std::vector<Extent>& wanted) {
    bool same = buffers.size() == wanted.size();
    for (std::size_t i = 0; same && i < wanted.size(); ++i) same = out.buffers[buffers[i]].shape == wanted[i].shape;
    return same;
  };
  if (!agree(out.inputs, inputs) || !agree(out.outputs, outputs)) return damaged("has other tensors than the task");
  for (std::size_t i = 0; i < outputs.size(); ++i) out.buffers[out.outputs[i]].name = outputs[i].name;
  return {};
}

Result<Program> read(const Json& trace, const std::vector<Extent>& inputs, const std::vector<Extent>& outputs) {
  Program out;
  for (const char* part : {"buffers", "views", "loops", "iterations", "instructions"}) {
    if (!trace.at(part).is_array() || trace.at(part).size() > kMostEntries) return damaged("is too long, or no trace");
  }
  for (const Json& entry : trace.at("buffers")) {
    TRY_ASSIGN(Buffer buffer, read_buffer(entry));
    out.buffers.push_back(std::move(buffer));
  }
  for (const Json& entry : trace.at("views")) {
    TRY_ASSIGN(View view, read_view(entry, out.buffers));
    out.views.push_back(std::move(view));
  }
  TRY(read_loops(trace, out));
  TRY(read_tensors(trace, inputs, outputs, out));
  for (const Json& entry : trace.at("instructions")) {
    TRY_ASSIGN(Instruction instruction, read_instruction(entry, out));
    out.instructions.push_back(std::move(instruction));
  }
  return out;
}

}  // namespace

bool on_chip(Space space) {
  return space == Space::sbuf || space == Space::psum;
}

std::int64_t Buffer::size() const {
  std::int64_t out = 1;
  for (const std::int64_t extent : shape) out *= extent;
  return out;
}

std::int64_t View::per_partition() const {
  std::int64_t out = 1;
  for (std::size_t i = 1; i < axes.size(); ++i) out *= axes[i].count;
  return out;
}

Result<Program> read_program(const Json& trace, const std::vector<Extent>& inputs, const std::vector<Extent>& outputs) {
  if (!trace.is_object()) return damaged("is no object");
  try {
    return read(trace, inputs, outputs);
  } catch (const std::exception&) {  // a part that is missing, or of another type
    return damaged("is incomplete");
  }
}

}  // namespace accelopt::targets::trainium
