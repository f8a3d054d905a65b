// SPDX-License-Identifier: Apache-2.0
#include "targets/triton/capturer.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "targets/cuda/program.hpp"
#include "targets/triton/description.hpp"
#include "targets/triton/plan_checks.hpp"

namespace accelopt::targets::triton {
namespace {

using base::ErrorCode;
using base::Json;
using base::Result;
using capture::Captured;
using capture::Shapes;
using cuda::KnownInputs;
using devices::cuda::Launch;
using devices::cuda::SlotProgram;
using evaluation::CallEnd;

// What a worker keeps of candidates that it may meet again; all of it can be captured again.
constexpr std::uint64_t kMostAnswerBytes = 256 << 20;
constexpr std::uint64_t kMostBuiltBytes = 256 << 20;
constexpr std::uint64_t kMostSlotBytes = 256 << 20;
/// Sets of inputs in one request: what comes back must fit into a line.
constexpr std::size_t kMostSlotsARequest = 64;

std::string_view text_of(const evaluation::Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// 90 of "sm_90a".
int number_of(const std::string& architecture) {
  int out = 0;
  for (const char c : architecture) {
    if (c >= '0' && c <= '9') out = 10 * out + (c - '0');
  }
  return out;
}

/// What tells solutions apart: texts and names.
std::string key_of(const model::Solution& solution) {
  std::string key = model::source_id(solution);
  for (const model::SourceFile& file : solution.sources) key += base::sha256_hex(file.name);
  return key;
}

std::uint64_t bytes_of(const devices::cuda::Program& program) {
  std::uint64_t bytes = 0;
  for (const auto& cubin : program.cubins) bytes += cubin.bytes.size();
  for (const auto& [name, plan] : program.plans) {
    for (const Launch& launch : plan.launches) {
      bytes += sizeof launch + launch.arguments.size() * sizeof(devices::cuda::Argument);
      for (const auto& argument : launch.arguments) bytes += argument.words.size() * sizeof(std::uint64_t);
    }
  }
  return bytes;
}

/// "main.py:41: error: ...", on one line for whoever reads what became of a call.
std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string refusal_of(const model::Solution& solution, const std::string& problem) {
  return solution.sources.front().name + ": error: " + problem;
}

/// What read_captured says of a solution, whose code may have put the answer together.
std::string refusal_of(const base::Error& error) {
  return (error.code == ErrorCode::unsupported ? "" : "error: ") + error.message;
}

bool reads_something(const Captured& captured) {
  return std::ranges::any_of(captured.reads, [](const auto& one) { return one.second > 0; });
}

std::string slot_name(const KnownInputs& slot) {
  return "s" + std::to_string(slot.slot);
}

}  // namespace

Capturer::Capturer(model::Definition definition, Wanted wanted, CaptureOptions options, capture::Python python)
    : definition_(std::move(definition)),
      wanted_(std::move(wanted)),
      options_(std::move(options)),
      servers_({.python = std::move(python), .cores = options_.cores, .folder = options_.folder}, options_.servers),
      captured_(kMostAnswerBytes, [](const CapturedSolution& one) { return base::canonical(one.ok).size(); }),
      built_(kMostBuiltBytes, [](const Built& one) { return bytes_of(one.program); }),
      slots_(kMostSlotBytes, [](const KeptSlot& one) { return one.bytes; }) {}

Result<std::unique_ptr<Capturer>> Capturer::create(const model::Task& task, CaptureOptions options,
                                                   const std::stop_token& stop) {
  TRY_ASSIGN(Wanted wanted, wanted_of(task));
  TRY_ASSIGN(capture::Python python, capture::find_python(options.python));
  std::unique_ptr<Capturer> out(
      new Capturer(task.definition, std::move(wanted), std::move(options), std::move(python)));
  TRY_ASSIGN(out->version_, out->servers_.version(stop));
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

capture::Request Capturer::request_of(const model::Solution& solution, std::vector<Shapes> workloads) const {
  return {.solution = solution,
          .function = kEntry,
          .architecture = number_of(options_.limits.architecture),
          .workloads = std::move(workloads)};
}

Result<Capturer::CapturedPtr> Capturer::captured(const model::Solution& solution, const std::stop_token& stop) {
  return captured_.get(key_of(solution), [&]() -> Result<CapturedPtr> {
    const capture::Request request = request_of(solution, wanted_.shapes);
    TRY_ASSIGN(const capture::Answer answer, servers_.ask(capture::capture_request(request), key_of(solution), stop));
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
  const capture::Request request = request_of(open, wanted_.shapes);
  auto captured = capture::read_captured(solution->ok, request, *selection);
  if (!captured) {
    problem = refusal_of(captured.error());
    return built;
  }
  for (const capture::Finding& finding : captured->findings)
    built->report.remarks.push_back(finding.file + ":" + std::to_string(finding.line) + ": " + finding.message);
  built->report.seconds = captured->seconds;
  TRY_ASSIGN(problem, judge(*captured, open, *built));
  if (!problem.empty()) {
    problem = refusal_of(open, problem);
    return built;
  }
  for (std::size_t i = 0; i < wanted_.plans.size(); ++i)
    built->program.plans[wanted_.plans[i]] = std::move(captured->program.plans.at(request.workloads[i].name));
  built->program.cubins = std::move(captured->program.cubins);
  if (captured->host_ops && options_.host_ops) {
    TRY_ASSIGN(std::string cubin, options_.host_ops(stop));
    built->program.cubins.push_back({std::move(cubin), {}});
  }
  built->per_slot = wanted_.scalars || (wanted_.values && reads_something(*captured));
  built->report.built = true;
  return built;
}

Result<std::string> Capturer::judge(const Captured& captured, const model::Solution& solution, Built& built) const {
  const Inspected inspected = inspect(captured, wanted_.shapes, options_.limits, known_outputs());
  if (!inspected.problem.empty()) return inspected.problem;
  for (const auto& kernel : inspected.kernels) built.report.code_bytes += kernel.code_bytes;
  std::set<std::string> remarked;
  for (const auto& [workload, plan] : captured.program.plans) {
    for (const Launch& launch : plan.launches) {
      if (launch.cubin >= inspected.kernels.size()) continue;
      std::string remark = devices::cuda::resource_remark(inspected.resources[launch.cubin], launch, options_.limits);
      if (remarked.insert(remark).second) built.report.remarks.push_back(std::move(remark));
    }
  }
  for (const auto& [input, count] : captured.reads) {
    if (count > 0)
      built.report.remarks.push_back(
          fmt::format("the host reads {} element{} of {}", count, count == 1 ? "" : "s", input));
  }
  TRY_ASSIGN(std::string identity, identity_of(captured, inspected));
  // On other values the host may launch something else: only the text says what.
  if (wanted_.scalars || reads_something(captured)) identity += model::source_id(solution);
  built.report.machine_code_id = base::sha256_hex(identity);
  built.report.build_id = base::sha256_hex(version_ + '\n' + options_.limits.architecture + '\n' + identity);
  return std::string();
}

Result<std::vector<SlotProgram>> Capturer::build_for(const model::Kernel& kernel, const std::vector<KnownInputs>& slots,
                                                     const std::stop_token& stop) {
  const std::string key = key_of(kernel.solution()) + " ";
  std::map<std::uint64_t, KeptSlotPtr> found;
  std::vector<const KnownInputs*> missing;
  for (const KnownInputs& slot : slots) {
    KeptSlotPtr& own = found[slot.slot];
    own = slots_.find(key + slot_name(slot));
    if (own == nullptr) missing.push_back(&slot);
  }
  for (std::size_t begin = 0; begin < missing.size(); begin += kMostSlotsARequest) {
    const auto part = std::span(missing).subspan(begin, std::min(kMostSlotsARequest, missing.size() - begin));
    TRY_ASSIGN(auto own, capture_slots(kernel, part, stop));
    for (std::size_t i = 0; i < part.size(); ++i) {
      found[part[i]->slot] = own.at(i);
      slots_.put(key + slot_name(*part[i]), own[i]);
    }
  }
  std::vector<SlotProgram> out;
  for (const KnownInputs& slot : slots) out.push_back(found.at(slot.slot)->own);
  return out;
}

Result<std::vector<Capturer::KeptSlotPtr>> Capturer::capture_slots(const model::Kernel& kernel,
                                                                   std::span<const KnownInputs* const> slots,
                                                                   const std::stop_token& stop) {
  const auto fixed = model::commented_values(kernel.solution());
  const model::Solution& open = fixed ? fixed->open : kernel.solution();
  std::vector<Shapes> shapes;
  for (const KnownInputs* slot : slots) {
    shapes.push_back(capture::shapes_of(definition_, slot->axes, slot_name(*slot)));
    put_values(definition_, slot->values, shapes.back());
  }
  capture::Request request = request_of(open, std::move(shapes));
  TRY_ASSIGN(const CapturedPtr solution, captured(open, stop));
  const auto selection = selection_of(*solution, fixed);
  if (!selection) return refuse_slots(slots, selection.error(), Cost::low);
  if (*selection != nullptr) request.configurations = configurations_of(*solution, **selection);
  TRY_ASSIGN(const capture::Answer answer, servers_.ask(capture::capture_request(request), key_of(open), stop));
  TRY_ASSIGN(auto program, slot_program(answer, request, *solution, *selection, stop));
  if (program) {
    std::vector<KeptSlotPtr> out;
    const std::uint64_t bytes = bytes_of(**program) / slots.size();
    for (const KnownInputs* slot : slots)
      out.push_back(std::make_shared<KeptSlot>(KeptSlot{{*program, slot_name(*slot), {}}, bytes, Cost::low}));
    return out;
  }
  // What exceeds a limit of time ("host_s") may have taken minutes: nobody waits for it a second time.
  const bool costly = base::text_at(answer.error, "call").ends_with("_s");
  if (slots.size() == 1 || costly)
    return refuse_slots(slots, first_line(program.error()), costly ? Cost::high : Cost::low);
  std::vector<KeptSlotPtr> out;  // one of them is to blame
  for (std::size_t i = 0; i < slots.size(); ++i) {
    TRY_ASSIGN(auto own, capture_slots(kernel, slots.subspan(i, 1), stop));
    out.push_back(own.at(0));
    if (own[0]->cost == Cost::low) continue;
    for (auto& rest : refuse_slots(slots.subspan(i + 1), own[0]->own.problem, Cost::high))
      out.push_back(std::move(rest));
    break;
  }
  return out;
}

std::vector<Capturer::KeptSlotPtr> Capturer::refuse_slots(std::span<const KnownInputs* const> slots,
                                                          const std::string& problem, Cost cost) {
  std::vector<KeptSlotPtr> out;
  for (std::size_t i = 0; i < slots.size(); ++i)
    out.push_back(std::make_shared<KeptSlot>(KeptSlot{{nullptr, {}, problem}, problem.size(), cost}));
  return out;
}

Result<tl::expected<devices::cuda::ProgramPtr, std::string>> Capturer::slot_program(const capture::Answer& answer,
                                                                                    const capture::Request& request,
                                                                                    const CapturedSolution& solution,
                                                                                    const capture::Selection* selection,
                                                                                    const std::stop_token& stop) const {
  using Found = tl::expected<devices::cuda::ProgramPtr, std::string>;
  const auto refused = [](std::string why) { return Found(tl::make_unexpected(std::move(why))); };
  if (!answer.error.is_null()) return refused(capture::diagnostics_of(answer.error));
  capture::Selection own;
  if (selection != nullptr) {
    const auto choices = capture::choices_of(answer.ok);
    if (!choices) return refused("error: " + choices.error().message);
    own = capture::reordered(*selection, solution.choices, *choices);
  }
  auto captured = capture::read_captured(answer.ok, request, selection == nullptr ? nullptr : &own);
  if (!captured) return refused(refusal_of(captured.error()));
  const Inspected inspected = inspect(*captured, request.workloads, options_.limits, known_outputs());
  if (!inspected.problem.empty()) return refused(refusal_of(request.solution, inspected.problem));
  auto out = std::make_shared<devices::cuda::Program>(std::move(captured->program));
  if (captured->host_ops && options_.host_ops) {
    TRY_ASSIGN(std::string cubin, options_.host_ops(stop));
    out->cubins.push_back({std::move(cubin), {}});
  }
  return Found(std::move(out));
}

Json Capturer::configurations_of(const CapturedSolution& solution, const capture::Selection& selection) {
  Json out = Json::object();
  for (std::size_t i = 0; i < solution.choices.size(); ++i) out[solution.choices[i].name] = selection[i];
  return out;
}

Result<tl::expected<std::vector<std::string>, Capturer::NotInterpreted>> Capturer::interpret(
    const model::Kernel& kernel, const KnownInputs& slot, const std::vector<evaluation::Bytes>& inputs,
    const std::stop_token& stop) {
  using Outputs = tl::expected<std::vector<std::string>, NotInterpreted>;
  const auto not_run = [](std::string reason, CallEnd end = CallEnd::died) {
    return Outputs(tl::make_unexpected(NotInterpreted{end, std::move(reason)}));
  };
  TRY_ASSIGN(const BuiltPtr built, build(kernel, stop));
  if (built->per_slot) {  // what a device would be given must be one that it may be given
    TRY_ASSIGN(const auto own, build_for(kernel, {slot}, stop));
    if (!own.at(0).problem.empty()) return not_run(own[0].problem);
  }
  Shapes wanted = capture::shapes_of(definition_, slot.axes, "w");
  const auto plan = std::ranges::find(wanted_.plans, cuda::plan_name(definition_, slot.axes));
  if (built->per_slot || plan == wanted_.plans.end())
    put_values(definition_, inputs, wanted);
  else  // a device would replay this plan, whatever the host knows of the slot
    wanted.inputs = wanted_.shapes[static_cast<std::size_t>(plan - wanted_.plans.begin())].inputs;
  for (std::size_t i = 0; i < wanted.inputs.size(); ++i) {
    if (definition_.inputs[i].shape)
      TRY(base::write_file(options_.folder / capture::tensor_file(wanted, wanted.inputs[i]), text_of(inputs.at(i))));
  }
  const auto fixed = model::commented_values(kernel.solution());
  const model::Solution& open = fixed ? fixed->open : kernel.solution();
  capture::Request request = request_of(open, {std::move(wanted)});
  if (fixed) {
    TRY_ASSIGN(const CapturedPtr solution, captured(fixed->open, stop));
    const auto selection = selection_of(*solution, fixed);
    if (!selection) return not_run(selection.error());
    request.configurations = configurations_of(*solution, **selection);
  }
  const Shapes& shapes = request.workloads.front();
  TRY_ASSIGN(const capture::Answer answer,
             servers_.ask(capture::interpret_request(request, options_.folder), key_of(open), stop));
  if (!answer.error.is_null()) {
    const bool refused = base::text_at(answer.error, "kind") == "refused";
    return not_run(capture::diagnostics_of(answer.error), refused ? CallEnd::refused : CallEnd::died);
  }
  std::vector<std::string> outputs;
  for (const model::TensorSpec& output : definition_.outputs) {
    const auto file = capture::output_file(shapes, {output.name, output.dtype, {}, output.inout});
    const auto bytes = static_cast<std::size_t>(model::element_count(output, slot.axes)) * model::size_of(output.dtype);
    TRY_ASSIGN(std::string read, base::read_foreign_file(options_.folder / file, bytes));
    if (read.size() != bytes)
      return not_run("the output " + output.name + " has " + std::to_string(read.size()) + " bytes, and not " +
                     std::to_string(bytes));
    outputs.push_back(std::move(read));
  }
  return Outputs(std::move(outputs));
}

}  // namespace accelopt::targets::triton
