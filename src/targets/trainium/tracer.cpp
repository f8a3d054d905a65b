// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/tracer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <utility>

#include "base/hash.hpp"
#include "capture/answer.hpp"
#include "capture/request.hpp"
#include "evaluation/verify/inputs.hpp"
#include "targets/trainium/check.hpp"
#include "targets/trainium/description.hpp"
#include "targets/trainium/side_by_side.hpp"
#include "targets/trainium/task_check.hpp"

namespace accelopt::targets::trainium {
namespace {

using base::ErrorCode;
using base::Result;

std::vector<Extent> extents(const std::vector<capture::Tensor>& tensors) {
  std::vector<Extent> out;
  for (const capture::Tensor& tensor : tensors) {
    if (tensor.value.is_null()) out.push_back({tensor.name, tensor.shape});
  }
  return out;
}

/// The trace in the answer's list of texts. @error parse: there is none.
Result<base::Json> trace_of(const base::Json& texts) {
  if (!texts.is_array() || texts.size() != 1 || !texts[0].is_string())
    return base::fail(ErrorCode::parse, "no text of a trace");
  return base::parse_json(texts[0].get_ref<const std::string&>(), "the trace");
}

}  // namespace

Tracer::Tracer(const model::Task& task, const Generation& chip, capture::Python python)
    : definition_(task.definition),
      chip_(chip),
      server_({.python = std::move(python), .front_end = capture::FrontEnd::nki}) {
  for (const model::Workload& workload : task.workloads) {
    model::AxisValues axes = model::bind_axes(task.definition, workload);
    if (workload.role != model::Role::held_out) told_.emplace(axes, workload.name);
    if (std::find(axes_.begin(), axes_.end(), axes) == axes_.end()) axes_.push_back(std::move(axes));
  }
}

Result<std::unique_ptr<Tracer>> Tracer::create(const model::Task& task, const Generation& chip,
                                               capture::PythonOptions python, const std::stop_token& stop) {
  TRY(check_task(task));
  TRY_ASSIGN(capture::Python found, capture::find_any_python(python));
  std::unique_ptr<Tracer> out(new Tracer(task, chip, std::move(found)));
  TRY_ASSIGN(const std::string version, out->server_.version(stop));
  out->version_ = fmt::format("{} ({})", kModelVersion, version);
  return out;
}

Result<BuiltPtr> Tracer::build(const model::Kernel& kernel, const std::stop_token& stop) {
  if (kernel.solution().sources.empty())
    return base::fail(ErrorCode::invalid_argument, "a kernel without a source file");
  if (kernel.solution().language != description().languages.front().language) {
    auto refused = std::make_shared<Built>();
    refused->report.diagnostics = "error: kernels of this task are written in Python with NKI, in a .py file";
    return BuiltPtr(std::move(refused));
  }
  std::string key = kernel.id();
  for (const model::SourceFile& file : kernel.solution().sources) key += base::sha256_hex(file.name);
  return built_.get(key, [&] { return trace_now(kernel, stop); });
}

Result<BuiltPtr> Tracer::trace_now(const model::Kernel& kernel, const std::stop_token& stop) {
  auto built = std::make_shared<Built>();
  std::string identity;
  for (std::size_t i = 0; i < axes_.size(); ++i) {  // one request each: its answer is as long as the kernel
    capture::Shapes shapes = capture::shapes_of(definition_, axes_[i], "w" + std::to_string(i));
    for (std::size_t k = 0; k < shapes.inputs.size(); ++k) {
      if (definition_.inputs[k].shape) continue;
      TRY_ASSIGN(shapes.inputs[k].value, scalar_of(definition_.inputs[k]));
    }
    const capture::Request request{
        .solution = kernel.solution(), .function = kEntry, .architecture = 90, .workloads = {std::move(shapes)}};
    base::Json question = capture::trace_request(request);
    question["sbuf_bytes"] = chip_.sbuf_bytes;
    TRY_ASSIGN(const capture::Answer answer, server_.ask(question, stop));
    std::string& problem = built->report.diagnostics;
    if (!answer.error.is_null()) {
      problem = capture::diagnostics_of(answer.error);
      return built;
    }
    const auto traces = answer.ok.find("traces");
    const auto trace = trace_of(traces == answer.ok.end() ? base::Json() : *traces);
    if (!trace) {
      problem = "error: the kernel's process left no trace";  // its code may have put the answer together
      return built;
    }
    built->report.seconds +=
        answer.ok.value("seconds", base::Json()).is_number() ? answer.ok["seconds"].get<double>() : 0;
    const capture::Shapes& asked = request.workloads.front();
    const std::string& file = kernel.solution().sources.front().name;
    auto program = read_program(*trace, extents(asked.inputs), extents(asked.outputs));
    if (!program) {
      problem = file + ": error: " + program.error().message;
      return built;
    }
    built->plans[axes_[i]].program = std::move(*program);
    auto canonical = std::async(std::launch::async, [&] { return base::canonical(*trace); });
    problem = take(i, file, *built);
    if (!problem.empty()) return built;
    identity += canonical.get() + '\n';
  }
  built->report.machine_code_id = base::sha256_hex(identity);
  built->report.build_id = base::sha256_hex(version_ + '\n' + std::string(chip_.name) + '\n' + identity);
  built->report.built = true;
  return built;
}

std::string Tracer::take(std::size_t place, const std::string& file, Built& built) const {
  TracedPlan& plan = built.plans.at(axes_[place]);
  const auto located = [&](int line, const std::string& message) {
    return fmt::format("{}:{}: error: {}", file, line, message);
  };
  if (const Refusal refusal = check(plan.program, chip_); !refusal.message.empty())
    return located(refusal.line, refusal.message);
  const auto timed = side_by_side(2, [&](std::size_t number) -> Result<void> {
    const Policy policy = number == 0 ? Policy::hoist : Policy::literal;
    Lowered lowered = lower(plan.program, chip_, policy);
    TRY_ASSIGN((policy == Policy::hoist ? plan.time.hoist : plan.time.literal), schedule(plan.program, lowered, chip_));
    if (policy == Policy::hoist) return {};
    lowered.work = {};
    lowered.place = {};
    lowered.tiles = {};
    plan.time.traffic = std::move(lowered);
    return {};
  });
  if (!timed) return file + ": error: " + timed.error().message;
  const auto told = told_.find(axes_[place]);
  if (told == told_.end()) return {};
  const Modelled& time = plan.time;
  built.report.remarks.push_back(fmt::format(
      "modelled{}: {:.1f} to {:.1f} us, {} instructions, {:.1f} MB read, {:.1f} MB written, SBUF {} KiB and PSUM {} "
      "KiB of a partition",
      told_.size() > 1 ? ", " + told->second : "", std::min(time.hoist.ns, time.literal.ns) / kNsPerUs,
      std::max(time.hoist.ns, time.literal.ns) / kNsPerUs, plan.program.instructions.size(),
      static_cast<double>(time.traffic.read_bytes) / 1e6, static_cast<double>(time.traffic.written_bytes) / 1e6,
      time.literal.sbuf_bytes >> 10, time.literal.psum_bytes >> 10));
  return {};
}

}  // namespace accelopt::targets::trainium
