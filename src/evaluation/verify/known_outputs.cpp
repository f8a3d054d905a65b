// SPDX-License-Identifier: Apache-2.0
#include "evaluation/verify/known_outputs.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "base/hash.hpp"
#include "evaluation/verify/slots.hpp"

namespace accelopt::evaluation {
namespace {

using base::ErrorCode;

constexpr std::uint64_t kKnownSeed = 0x76697369626c65;
constexpr int kSets = 3;  ///< two may agree by accident where an output has few values

bool is_fixed(const model::InitSpec& init) {
  using model::InitKind;
  return init.kind == InitKind::constant || init.kind == InitKind::zeros || init.kind == InitKind::ones ||
         init.kind == InitKind::values;
}

std::int64_t workload_bytes(const model::Definition& definition, const model::Workload& workload) {
  const model::AxisValues axes = model::bind_axes(definition, workload);
  std::int64_t bytes = 0;
  for (const auto* tensors : {&definition.inputs, &definition.outputs}) {
    for (const model::TensorSpec& tensor : *tensors)
      bytes += model::element_count(tensor, axes) * static_cast<std::int64_t>(model::size_of(tensor.dtype));
  }
  return bytes;
}

std::string names_of_known(const model::Definition& definition) {
  std::string out;
  for (const model::TensorSpec& input : definition.inputs) {
    if (model::is_known_on_host(input)) out += (out.empty() ? "" : ", ") + input.name;
  }
  return out;
}

}  // namespace

bool draws_scalars(const model::Task& task) {
  return std::ranges::any_of(task.definition.inputs, [&](const model::TensorSpec& input) {
    if (input.shape) return false;
    const auto drawn = [&](const model::Workload& one) { return !is_fixed(model::init_of(one, input)); };
    const auto own = [&](const model::Workload& one) { return one.inits.contains(input.name); };
    return !input.families.empty() || std::ranges::any_of(task.workloads, drawn) ||
           std::ranges::any_of(task.workloads, own);
  });
}

bool host_knows_values(const model::Task& task) {
  return draws_scalars(task) || std::ranges::any_of(task.definition.inputs, &model::TensorSpec::visible);
}

base::Result<std::vector<InputDraw>> known_draws(const model::Definition& definition, const model::Workload& workload,
                                                 std::uint64_t known, std::uint64_t data) {
  const model::AxisValues axes = model::bind_axes(definition, workload);
  std::vector<InputDraw> out;
  for (const model::TensorSpec& input : definition.inputs) {
    auto init = model::bound(model::init_of(workload, input), axes);
    if (!init) return tl::make_unexpected(base::with_context(init.error(), "input " + input.name));
    const std::uint64_t seed = model::is_known_on_host(input) ? known : data;
    out.push_back({std::move(*init), input.dtype,
                   input.shape ? model::shape_of(input, axes) : std::vector<std::int64_t>{}, model::Family::as_declared,
                   input_seed(seed, workload.name, 0, input.name)});
  }
  return out;
}

base::Result<void> refuse_known_outputs(const model::Task& task, const EqualOutputs& equal) {
  if (!host_knows_values(task)) return {};
  const model::Definition& definition = task.definition;
  std::vector<const model::Workload*> workloads;
  for (const model::Workload& workload : task.workloads) workloads.push_back(&workload);
  std::ranges::stable_sort(workloads, {}, [&](const auto* workload) { return workload_bytes(definition, *workload); });
  std::vector<std::size_t> never_differed(definition.outputs.size());
  std::iota(never_differed.begin(), never_differed.end(), std::size_t{0});
  for (const model::Workload* workload : workloads) {
    std::vector<std::vector<InputDraw>> sets;
    for (int set = 0; set < kSets; ++set) {
      TRY_ASSIGN(auto draws,
                 known_draws(definition, *workload, kKnownSeed, base::derive_seed(kKnownSeed, std::to_string(set))));
      sets.push_back(std::move(draws));
    }
    TRY_ASSIGN(auto same, equal(*workload, std::move(sets)));
    std::ranges::sort(same);
    std::vector<std::size_t> left;
    std::ranges::set_intersection(never_differed, same, std::back_inserter(left));
    never_differed = std::move(left);
    if (never_differed.empty()) return {};
  }
  return base::fail(ErrorCode::invalid_argument,
                    "the output " + definition.outputs[never_differed.front()].name +
                        " is the same for all data with which the host's own inputs (" + names_of_known(definition) +
                        ") come: a solution could compute it before the clock starts; leave out `visible`, or the "
                        "output");
}

EqualOutputs equal_outputs(const model::Definition& definition, HostReference reference) {
  return [&definition, reference = std::move(reference)](
             const model::Workload& workload,
             std::vector<std::vector<InputDraw>> sets) -> base::Result<std::vector<std::size_t>> {
    const model::AxisValues axes = model::bind_axes(definition, workload);
    Invocation invocation;
    for (const std::string& axis : model::variable_axes(definition)) invocation.axes.push_back(axes.at(axis));
    const model::Definition whole = model::reference_definition(definition);
    for (const model::TensorSpec& output : whole.outputs) {
      invocation.output_bytes.push_back(static_cast<std::size_t>(model::element_count(output, axes)) *
                                        model::size_of(output.dtype));
    }
    std::vector<ReferenceTensor> first;
    std::set<std::size_t> same;
    for (std::size_t i = 0; i < definition.outputs.size(); ++i) same.insert(i);
    for (const auto& draws : sets) {
      std::vector<ReferenceTensor> inputs;
      for (std::size_t i = 0; i < draws.size(); ++i) {
        const model::TensorSpec& input = definition.inputs[i];
        Bytes bytes(static_cast<std::size_t>(model::element_count(input, axes)) * model::size_of(input.dtype));
        TRY(draw_input(draws[i], bytes));
        inputs.push_back(seen_by_reference(input, bytes));
      }
      TRY_ASSIGN(auto outputs, reference(Precision::float64, inputs, invocation));
      if (first.empty()) {
        first = std::move(outputs);
        continue;
      }
      std::erase_if(same, [&](std::size_t i) {
        return outputs[i].values != first[i].values || outputs[i].bytes != first[i].bytes;
      });
    }
    return std::vector<std::size_t>(same.begin(), same.end());
  };
}

}  // namespace accelopt::evaluation
