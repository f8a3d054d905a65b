// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/host_outputs.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

namespace accelopt::devices::cuda {
namespace {

template <class Value>
std::string packed(const std::vector<Value>& values) {
  std::string out(values.size() * sizeof(Value), '\0');
  if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

}  // namespace

base::Result<std::vector<evaluation::Bytes>> drawn_inputs(const model::Definition& definition,
                                                          const model::AxisValues& axes,
                                                          const std::vector<evaluation::InputDraw>& draws) {
  std::vector<evaluation::Bytes> out;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const model::TensorSpec& input = definition.inputs[i];
    evaluation::Bytes bytes(static_cast<std::size_t>(model::element_count(input, axes)) * model::size_of(input.dtype));
    if (auto drawn = evaluation::draw_input(draws[i], bytes); !drawn)
      return tl::make_unexpected(base::with_context(drawn.error(), "input " + input.name));
    out.push_back(std::move(bytes));
  }
  return out;
}

base::Result<SlotRecipe::HostResult> host_outputs(const model::Definition& definition, const model::AxisValues& axes,
                                                  const evaluation::HostReference& reference,
                                                  const evaluation::Invocation& shape,
                                                  const std::vector<evaluation::InputDraw>& draws,
                                                  std::uint64_t perturbation) {
  TRY_ASSIGN(const auto drawn, drawn_inputs(definition, axes, draws));
  std::vector<evaluation::ReferenceTensor> inputs;
  for (std::size_t i = 0; i < drawn.size(); ++i)
    inputs.push_back(evaluation::seen_by_reference(definition.inputs[i], drawn[i]));
  TRY_ASSIGN(auto calibrated, evaluation::calibrate_on_host(definition, axes, reference, inputs, shape, perturbation));
  const bool as_declared = std::all_of(draws.begin(), draws.end(), [](const evaluation::InputDraw& draw) {
    return draw.family == model::Family::as_declared;
  });
  SlotRecipe::HostResult out;
  for (std::size_t i = 0; i < calibrated.exact.size(); ++i) {
    evaluation::Bounds& bounds = calibrated.bounds[i];
    if (!as_declared) bounds.bands = evaluation::unlimited_bands();
    const bool floating = model::is_floating(definition.outputs[i].dtype);
    out.bulk.push_back(floating ? packed(calibrated.exact[i].values) : packed(calibrated.exact[i].bytes));
    out.outputs.rows.push_back(bounds.rows.size());
    if (floating) out.bulk.push_back(packed(bounds.rows));
    bounds.rows.clear();
    out.outputs.bounds.push_back(std::move(bounds));
  }
  return out;
}

}  // namespace accelopt::devices::cuda
