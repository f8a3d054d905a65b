// SPDX-License-Identifier: Apache-2.0
#include "targets/triton/capturer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "devices/cuda/cubin.hpp"
#include "evaluation/verify/slots.hpp"
#include "targets/cuda/program.hpp"
#include "targets/cuda/resources.hpp"
#include "targets/triton/description.hpp"

namespace accelopt::targets::triton {
namespace {

using base::ErrorCode;
using base::Json;
using base::Result;
using capture::Captured;
using capture::Shapes;
using devices::cuda::Argument;
using devices::cuda::Cubin;
using devices::cuda::CubinKernel;
using devices::cuda::DeviceLimits;
using devices::cuda::KernelResources;
using devices::cuda::Launch;

constexpr std::uint32_t kPointerBytes = 8;
constexpr std::uint32_t kTensorMapBytes = 128;

/// As JSON has it, which knows no infinity.
Json json_of(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

std::string_view text_of(const evaluation::Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class Number>
Json number_in(const evaluation::Bytes& bytes) {
  Number out{};
  std::memcpy(&out, bytes.data(), sizeof out);
  return out;
}

/// The value of a scalar input from its bytes.
Json scalar_of(const model::TensorSpec& input, const evaluation::Bytes& bytes) {
  using model::DType;
  switch (input.dtype) {
    case DType::int64:
      return number_in<std::int64_t>(bytes);
    case DType::int32:
      return number_in<std::int32_t>(bytes);
    case DType::int16:
      return number_in<std::int16_t>(bytes);
    case DType::int8:
      return number_in<std::int8_t>(bytes);
    case DType::uint64:
      return number_in<std::uint64_t>(bytes);
    case DType::uint32:
      return number_in<std::uint32_t>(bytes);
    case DType::uint16:
      return number_in<std::uint16_t>(bytes);
    case DType::uint8:
    case DType::boolean:
      return number_in<std::uint8_t>(bytes);
    default:
      return json_of(evaluation::seen_by_reference(input, bytes).values.at(0));
  }
}

/// The value that a scalar input has in every slot of the workload: a plan holds it. @error unsupported: it has others.
Result<Json> fixed_value(const model::Workload& workload, const model::TensorSpec& input,
                         const model::AxisValues& axes) {
  using model::InitKind;
  TRY_ASSIGN(const model::InitSpec init, model::bound(model::init_of(workload, input), axes));
  const bool fixed = init.kind == InitKind::constant || init.kind == InitKind::zeros || init.kind == InitKind::ones ||
                     init.kind == InitKind::values;
  if (!fixed || !input.families.empty())
    return base::fail(
        ErrorCode::unsupported,
        "the scalar input \"" + input.name +
            "\" is drawn anew for each set of inputs, and a captured plan "
            "holds its value; write init = \"constant(...)\" without families, or make it a tensor of one element");
  evaluation::Bytes bytes(model::size_of(input.dtype));
  TRY(evaluation::draw_input({init, input.dtype, {}, model::Family::as_declared, 0}, bytes));
  return scalar_of(input, bytes);
}

/// 90 of "sm_90a".
int number_of(const std::string& architecture) {
  int out = 0;
  for (const char c : architecture) {
    if (c >= '0' && c <= '9') out = 10 * out + (c - '0');
  }
  return out;
}

std::uint32_t bytes_of(const Argument& argument) {
  if (argument.kind == Argument::Kind::tensor) return kPointerBytes;
  if (argument.kind == Argument::Kind::tensor_map) return kTensorMapBytes;
  return static_cast<std::uint32_t>(model::size_of(argument.dtype));
}

std::uint64_t product(const std::array<std::uint32_t, 3>& extents) {
  return std::uint64_t{extents[0]} * extents[1] * extents[2];
}

/// Why the device would not take the launch, or should not; else "".
std::string refused(const Launch& launch, const CubinKernel& kernel, const KernelResources& resources,
                    const DeviceLimits& limits) {
  if (kernel.parameters.size() != launch.arguments.size())
    return fmt::format("{} has {} parameters, and is given {}", launch.kernel, kernel.parameters.size(),
                       launch.arguments.size());
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const std::uint32_t given = bytes_of(launch.arguments[i]);
    if (kernel.parameters[i].size != given)
      return fmt::format("parameter {} of {} has {} bytes, and is given {}", i + 1, launch.kernel,
                         kernel.parameters[i].size, given);
  }
  const auto threads = product(launch.block);
  if (threads > static_cast<std::uint64_t>(limits.threads_per_block))
    return fmt::format("{} is launched with {} threads a block; the device takes {}", launch.kernel, threads,
                       limits.threads_per_block);
  const auto registers = devices::cuda::registers_of_block(resources, static_cast<std::int64_t>(threads));
  if (registers > limits.registers_per_block)
    return fmt::format("a block of {} needs {} registers, and has {}: use smaller tiles or fewer warps", launch.kernel,
                       registers, limits.registers_per_block);
  const std::int64_t shared = std::int64_t{resources.static_shared_bytes} + launch.shared_bytes;
  if (shared > limits.shared_bytes_per_block)
    return fmt::format("{} needs {} bytes of shared memory, and a block has {}: use smaller tiles or fewer stages",
                       launch.kernel, shared, limits.shared_bytes_per_block);
  if (launch.grid[1] > 65535 || launch.grid[2] > 65535)
    return fmt::format("{} is launched on a grid of ({}, {}, {}); its second and third extent may be 65535 at most",
                       launch.kernel, launch.grid[0], launch.grid[1], launch.grid[2]);
  return {};
}

/// What the machine code may not do, whoever compiled it; else "".
std::string refused(const Cubin& cubin) {
  for (const std::string& name : cubin.missing) {
    if (name == "vprintf") return "tl.device_print prints while the clock runs, which is refused";
    if (name == "__assertfail") return "tl.device_assert ends the program, which is refused";
    return "the function " + name + " is called, and there is none";
  }
  for (const devices::cuda::CubinVariable& variable : cubin.variables) {
    // The text of an assertion's message, or what libdevice asks its compiler for.
    if (variable.initialised && variable.name.find("$_str") < 2) continue;
    if (variable.initialised && variable.name.starts_with("$str")) continue;
    return fmt::format("\"{}\" ({} bytes of global memory) would keep its value from call to call, which is refused",
                       variable.name.substr(0, 256), variable.bytes);
  }
  return {};
}

/// Everything of a plan that decides what runs, for a hash.
std::string identity_of(const devices::cuda::LaunchPlan& plan) {
  std::string out;
  for (const devices::cuda::ScratchBuffer& buffer : plan.scratch)
    out += fmt::format("scratch {} {} {} {}\n", buffer.name, static_cast<int>(buffer.dtype), buffer.bytes, buffer.zero);
  for (const devices::cuda::TensorMap& map : plan.tensor_maps)
    out += fmt::format("map {} {} {} {} {} {} {} {} {}\n", map.name, map.tensor, map.offset,
                       static_cast<int>(map.dtype), fmt::join(map.shape, ","), fmt::join(map.box, ","),
                       fmt::join(map.strides, ","), map.swizzle_bytes, map.nan_fill);
  for (const Launch& launch : plan.launches) {
    out += fmt::format("launch {} {} {} {} {}", launch.cubin, launch.kernel, launch.shared_bytes, launch.cooperative,
                       launch.overlaps);
    for (const auto* extents : {&launch.grid, &launch.block, &launch.cluster})
      out += fmt::format(" {},{},{}", (*extents)[0], (*extents)[1], (*extents)[2]);
    for (const Argument& argument : launch.arguments)
      out += fmt::format(" {}:{}:{}:{}:{}:{}", static_cast<int>(argument.kind), argument.name, argument.offset,
                         static_cast<int>(argument.dtype), argument.bits, fmt::join(argument.words, ","));
    out += '\n';
  }
  return out;
}

/// An output that no kernel is given; none: each is given to one.
std::optional<std::string> unwritten(const Shapes& shapes, const devices::cuda::LaunchPlan& plan) {
  for (const capture::Tensor& output : shapes.outputs) {
    const bool empty = std::find(output.shape.begin(), output.shape.end(), 0) != output.shape.end();
    const bool given = std::any_of(plan.launches.begin(), plan.launches.end(), [&](const Launch& launch) {
      return std::any_of(launch.arguments.begin(), launch.arguments.end(), [&](const Argument& argument) {
        if (argument.kind == Argument::Kind::tensor) return argument.name == output.name;
        return argument.kind == Argument::Kind::tensor_map &&
               std::any_of(plan.tensor_maps.begin(), plan.tensor_maps.end(),
                           [&](const auto& map) { return map.name == argument.name && map.tensor == output.name; });
      });
    });
    if (!empty && !given) return output.name;
  }
  return std::nullopt;
}

/// What tells solutions apart: texts and names.
std::string key_of(const model::Solution& solution) {
  std::string key = model::source_id(solution);
  for (const model::SourceFile& file : solution.sources) key += base::sha256_hex(file.name);
  return key;
}

}  // namespace

Capturer::Capturer(model::Definition definition, Wanted wanted, CaptureOptions options, capture::Python python)
    : definition_(std::move(definition)),
      wanted_(std::move(wanted)),
      options_(std::move(options)),
      server_({.python = std::move(python), .cores = options_.cores, .folder = options_.folder}) {}

/// Names of workloads are anybody's: the captured plans are called w0, w1, ... meanwhile.
Result<Capturer::Wanted> Capturer::wanted_of(const model::Task& task) {
  Wanted out;
  for (const model::Workload& workload : task.workloads) {
    const model::AxisValues axes = model::bind_axes(task.definition, workload);
    Shapes shapes = capture::shapes_of(task.definition, axes, "w" + std::to_string(out.plans.size()));
    for (std::size_t i = 0; i < shapes.inputs.size(); ++i) {
      const model::TensorSpec& input = task.definition.inputs[i];
      if (input.shape) continue;
      TRY_ASSIGN(shapes.inputs[i].value, fixed_value(workload, input, axes));
    }
    std::string plan = cuda::plan_name(task.definition, axes);
    const auto known = std::find(out.plans.begin(), out.plans.end(), plan);
    if (known == out.plans.end()) {
      out.shapes.push_back(std::move(shapes));
      out.plans.push_back(std::move(plan));
      continue;
    }
    const Shapes& before = out.shapes[static_cast<std::size_t>(known - out.plans.begin())];
    for (std::size_t i = 0; i < shapes.inputs.size(); ++i) {
      if (before.inputs[i].value != shapes.inputs[i].value)
        return base::fail(ErrorCode::unsupported, "two workloads of the same axes give the scalar input \"" +
                                                      shapes.inputs[i].name + "\" other values");
    }
  }
  return out;
}

Result<std::unique_ptr<Capturer>> Capturer::create(const model::Task& task, CaptureOptions options,
                                                   const std::stop_token& stop) {
  TRY_ASSIGN(Wanted wanted, wanted_of(task));
  TRY_ASSIGN(capture::Python python, capture::find_python(options.python));
  std::unique_ptr<Capturer> out(
      new Capturer(task.definition, std::move(wanted), std::move(options), std::move(python)));
  TRY_ASSIGN(out->version_, out->server_.version(stop));
  return out;
}

Result<BuiltPtr> Capturer::build(const model::Kernel& kernel, const std::stop_token& stop) {
  if (kernel.solution().sources.empty())
    return base::fail(ErrorCode::invalid_argument, "a kernel without a source file");
  if (kernel.solution().language != description().languages.front().language) {
    auto refused = std::make_shared<Built>();
    refused->report.diagnostics = "error: kernels of this task are written in Python with Triton, in a .py file";
    return BuiltPtr(std::move(refused));
  }
  return built_.get(key_of(kernel.solution()), [&] { return build_now(kernel, stop); });
}

Result<model::TuningSpace> Capturer::space(const model::Kernel& kernel, const std::stop_token& stop) {
  if (kernel.solution().sources.empty() || kernel.solution().language != description().languages.front().language ||
      model::commented_values(kernel.solution()))
    return model::TuningSpace{};
  TRY_ASSIGN(const CapturedPtr solution, captured(kernel.solution(), stop));
  return solution->open.space;
}

Result<Json> Capturer::configurations(const model::Kernel& kernel, const std::stop_token& stop) {
  const auto fixed = model::commented_values(kernel.solution());
  TRY_ASSIGN(const CapturedPtr solution, captured(fixed ? fixed->open : kernel.solution(), stop));
  const auto selection = selection_of(*solution, fixed);
  Json out = Json::object();
  for (std::size_t i = 0; i < solution->choices.size(); ++i) {
    const std::size_t place = selection && *selection != nullptr ? (**selection)[i] : 0;
    if (place < solution->choices[i].configurations.size())
      out[solution->choices[i].name] = solution->choices[i].configurations[place];
  }
  return out;
}

capture::Request Capturer::request_of(const model::Solution& solution) const {
  return {.solution = solution,
          .function = kEntry,
          .architecture = number_of(options_.limits.architecture),
          .workloads = wanted_.shapes};
}

Result<Capturer::CapturedPtr> Capturer::captured(const model::Solution& solution, const std::stop_token& stop) {
  return captured_.get(key_of(solution), [&]() -> Result<CapturedPtr> {
    TRY_ASSIGN(const capture::Answer answer, server_.ask(capture::capture_request(request_of(solution)), stop));
    auto out = std::make_shared<CapturedSolution>();
    if (!answer.error.is_null()) {
      out->problem = capture::diagnostics_of(answer.error);
      return CapturedPtr(std::move(out));
    }
    auto choices = capture::choices_of(answer.ok);
    if (!choices) {
      out->problem = "error: " + choices.error().message;
      return CapturedPtr(std::move(out));
    }
    out->ok = answer.ok;
    out->choices = std::move(*choices);
    out->open = capture::opened(out->choices);
    return CapturedPtr(std::move(out));
  });
}

tl::expected<const capture::Selection*, std::string> Capturer::selection_of(
    const CapturedSolution& solution, const std::optional<model::CommentedValues>& fixed) {
  if (!fixed) return nullptr;
  const auto& rows = solution.open.space.configurations;
  const auto found = std::find(rows.begin(), rows.end(), fixed->values);
  if (found == rows.end()) return tl::make_unexpected("error: its autotuned kernels have no such configuration");
  return &solution.open.selections[static_cast<std::size_t>(found - rows.begin())];
}

Result<BuiltPtr> Capturer::build_now(const model::Kernel& kernel, const std::stop_token& stop) {
  const auto fixed = model::commented_values(kernel.solution());
  const model::Solution& open = fixed ? fixed->open : kernel.solution();
  auto built = std::make_shared<Built>();
  TRY_ASSIGN(const CapturedPtr solution, captured(open, stop));
  std::string& problem = built->report.diagnostics;
  problem = solution->problem;
  if (!problem.empty()) return built;
  const auto selection = selection_of(*solution, fixed);
  if (!selection) {
    problem = selection.error();
    return built;
  }
  const capture::Request request = request_of(open);
  auto captured = capture::read_captured(solution->ok, request, *selection);
  if (!captured) {
    const bool named = captured.error().code == ErrorCode::unsupported;
    problem = (named ? "" : "error: ") + captured.error().message;  // a solution's code may have put it together
    return built;
  }
  for (const capture::Finding& finding : captured->findings)
    built->report.remarks.push_back(finding.file + ":" + std::to_string(finding.line) + ": " + finding.message);
  built->report.seconds = captured->seconds;
  TRY_ASSIGN(problem, judge(*captured, *built));
  if (!problem.empty()) {
    problem = open.sources.front().name + ": error: " + problem;
    return built;
  }
  for (std::size_t i = 0; i < wanted_.plans.size(); ++i)
    built->program.plans[wanted_.plans[i]] = std::move(captured->program.plans.at(request.workloads[i].name));
  built->program.cubins = std::move(captured->program.cubins);
  if (captured->host_ops && options_.host_ops) {
    TRY_ASSIGN(std::string cubin, options_.host_ops(stop));
    built->program.cubins.push_back({std::move(cubin), {}});
  }
  built->report.built = true;
  return built;
}

Result<std::string> Capturer::judge(const Captured& captured, Built& built) const {
  for (const Shapes& shapes : wanted_.shapes) {
    if (const auto name = unwritten(shapes, captured.program.plans.at(shapes.name)))
      return "no kernel is given the output " + *name + " to write";
  }
  std::string identity;
  std::vector<CubinKernel> kernels;  // an entry a cubin
  std::vector<KernelResources> resources;
  for (std::size_t i = 0; i < captured.program.cubins.size(); ++i) {
    const std::string& bytes = captured.program.cubins[i].bytes;
    const auto cubin = devices::cuda::read_cubin(bytes);
    if (!cubin) return "a compiled kernel is damaged: " + cubin.error().message;
    if (std::string reason = refused(*cubin); !reason.empty()) return reason;
    std::string name;
    for (const auto& [workload, plan] : captured.program.plans) {
      for (const Launch& launch : plan.launches) {
        if (launch.cubin == i) name = launch.kernel;
      }
    }
    const auto found = std::find_if(cubin->kernels.begin(), cubin->kernels.end(),
                                    [&](const CubinKernel& kernel) { return kernel.name == name; });
    if (!name.empty() && found == cubin->kernels.end()) return "a launched kernel is not in its machine code";
    kernels.push_back(name.empty() ? CubinKernel() : *found);
    KernelResources& own = resources.emplace_back();
    for (const KernelResources& known : cuda::parse_resources(captured.ptxas[i])) {
      if (known.kernel == name) own = known;
    }
    own.kernel = name;
    if (name.empty()) continue;
    built.report.code_bytes += found->code_bytes;
    TRY_ASSIGN(const std::string code, devices::cuda::cubin_code_id(bytes, {name}));
    identity += code + '\n';
  }
  for (const auto& [workload, plan] : captured.program.plans) {
    for (const Launch& launch : plan.launches) {
      if (launch.cubin >= kernels.size()) continue;  // a trusted one
      const std::string reason = refused(launch, kernels[launch.cubin], resources[launch.cubin], options_.limits);
      if (!reason.empty()) return reason;
    }
    identity += workload + '\n' + identity_of(plan);
  }
  std::set<std::string> remarked;
  for (const auto& [workload, plan] : captured.program.plans) {
    for (const Launch& launch : plan.launches) {
      if (launch.cubin >= kernels.size()) continue;
      std::string remark = devices::cuda::resource_remark(resources[launch.cubin], launch, options_.limits);
      if (remarked.insert(remark).second) built.report.remarks.push_back(std::move(remark));
    }
  }
  built.report.machine_code_id = base::sha256_hex(identity);
  built.report.build_id = base::sha256_hex(version_ + '\n' + options_.limits.architecture + '\n' + identity);
  return std::string();
}

Result<tl::expected<std::vector<std::string>, std::string>> Capturer::interpret(
    const model::Kernel& kernel, const model::AxisValues& axes, const std::vector<evaluation::Bytes>& inputs,
    const std::stop_token& stop) {
  using Outputs = tl::expected<std::vector<std::string>, std::string>;
  Shapes wanted = capture::shapes_of(definition_, axes, "w");
  for (std::size_t i = 0; i < wanted.inputs.size(); ++i) {
    capture::Tensor& input = wanted.inputs[i];
    const evaluation::Bytes& bytes = inputs.at(i);
    if (!definition_.inputs[i].shape)
      input.value = scalar_of(definition_.inputs[i], bytes);
    else
      TRY(base::write_file(options_.folder / capture::tensor_file(wanted, input), text_of(bytes)));
  }
  const auto fixed = model::commented_values(kernel.solution());
  capture::Request request{.solution = fixed ? fixed->open : kernel.solution(),
                           .function = kEntry,
                           .architecture = number_of(options_.limits.architecture),
                           .workloads = {std::move(wanted)}};
  if (fixed) {
    TRY_ASSIGN(const CapturedPtr solution, captured(fixed->open, stop));
    const auto selection = selection_of(*solution, fixed);
    if (!selection) return Outputs(tl::make_unexpected(selection.error()));
    request.configurations = Json::object();
    for (std::size_t i = 0; i < solution->choices.size(); ++i)
      request.configurations[solution->choices[i].name] = (**selection)[i];
  }
  const Shapes& shapes = request.workloads.front();
  TRY_ASSIGN(const capture::Answer answer, server_.ask(capture::interpret_request(request, options_.folder), stop));
  if (!answer.error.is_null()) return Outputs(tl::make_unexpected(capture::diagnostics_of(answer.error)));
  std::vector<std::string> outputs;
  for (const model::TensorSpec& output : definition_.outputs) {
    const auto file = capture::output_file(shapes, {output.name, output.dtype, {}, output.inout});
    const auto bytes = static_cast<std::size_t>(model::element_count(output, axes)) * model::size_of(output.dtype);
    TRY_ASSIGN(std::string read, base::read_foreign_file(options_.folder / file, bytes));
    if (read.size() != bytes)
      return Outputs(tl::make_unexpected("the output " + output.name + " has " + std::to_string(read.size()) +
                                         " bytes, and not " + std::to_string(bytes)));
    outputs.push_back(std::move(read));
  }
  return Outputs(std::move(outputs));
}

}  // namespace accelopt::targets::triton
