// SPDX-License-Identifier: Apache-2.0
#include "suites/flashinfer_trace/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "suites/flashinfer_trace/constraints.hpp"
#include "suites/flashinfer_trace/safetensors.hpp"
#include "suites/flashinfer_trace/structure.hpp"
#include "suites/init_check.hpp"

namespace accelopt::suites::flashinfer_trace {
namespace {

using base::ErrorCode;
using base::fail;
using base::in_quotes;
using model::DType;
using model::InitKind;
using model::InitSpec;

InitSpec one_value(double value) {
  return {InitKind::constant, value};
}

/// Integers in [low, high).
InitSpec whole_numbers(double low, double high) {
  return {InitKind::integers, low, high};
}

/// What the ecosystem draws for the dtype.
InitSpec usual_random(DType dtype) {
  if (model::is_floating(dtype)) return {InitKind::normal, 0, 1};
  if (dtype == DType::boolean) return whole_numbers(0, 2);
  if (dtype == DType::int8) return whole_numbers(-128, 128);
  return whole_numbers(-1024, 1024);
}

bool is_index_like(DType dtype) {
  return dtype == DType::int64 || dtype == DType::int32 || dtype == DType::int16;
}

/// What stands for an input whose numbers are not there, because of `why`.
base::Result<DrawnInput> stand_in(const Definition& definition, const Tensor& input, const model::TensorSpec& spec,
                                  const model::AxisValues* axes, const std::string& why) {
  const auto drawn = [&](const InitSpec& init) {
    return DrawnInput{init, input.name + ": " + why + "; drawn as " + to_string(init)};
  };
  if (!is_index_like(spec.dtype)) return drawn(usual_random(spec.dtype));
  const auto structure = structural_generator(definition, input);
  if (!structure) {
    return fail(ErrorCode::not_found, input.name + ": " + why + ", and nothing says what its numbers mean");
  }
  if (axes == nullptr || refuse_bound_init(spec, *structure, *axes).empty()) return drawn(*structure);
  const InitSpec repeats = with_repeats(*structure);
  if (std::string reason = refuse_bound_init(spec, repeats, *axes); !reason.empty())
    return fail(ErrorCode::invalid_argument, input.name + ": " + why + ", and no generator fits: " + reason);
  return drawn(repeats);
}

base::Result<DrawnInput> random_input(const Definition& definition, const Tensor& input, const model::TensorSpec& spec,
                                      const model::AxisValues* axes) {
  if (!spec.shape) {
    const InitSpec init = one_value(model::is_floating(spec.dtype) ? 1 : 0);
    return DrawnInput{init, input.name + ": the dataset has no value for this scalar; drawn as " + to_string(init)};
  }
  if (!is_index_like(spec.dtype) || !structural_generator(definition, input))
    return DrawnInput{usual_random(spec.dtype)};
  return stand_in(definition, input, spec, axes, "random numbers would be no valid indices");
}

/// The tensor of the workload's file; none with a reason: the file is not in the dataset.
struct StoredInput {
  std::optional<Safetensors> file{};
  const StoredTensor* tensor = nullptr;
  std::string missing{};
};

base::Result<StoredInput> find_stored_input(const Entry& entry, const InputDescriptor& from,
                                            const model::TensorSpec& spec, const model::AxisValues& axes) {
  StoredInput out;
  auto path = file_in(entry.root, from.path);
  if (!path && path.error().code != ErrorCode::not_found) return tl::make_unexpected(path.error());
  if (!path) {
    out.missing = "its file is not in the dataset";
    return out;
  }
  auto file = Safetensors::open(*path);
  if (!file && file.error().code == ErrorCode::not_found) {
    out.missing = "its file " + file.error().message;
    return out;
  }
  if (!file) return tl::make_unexpected(base::with_context(file.error(), path->string()));
  out.file = std::move(*file);
  const auto found = out.file->tensors().find(from.tensor);
  if (found == out.file->tensors().end())
    return fail(ErrorCode::not_found, path->string() + ": holds no tensor " + in_quotes(from.tensor));
  out.tensor = &found->second;
  if (out.tensor->dtype != safetensors_name(spec.dtype))
    return fail(ErrorCode::invalid_argument, path->string() + ": " + from.tensor + " is " + out.tensor->dtype +
                                                 ", the definition says " + std::string(to_string(spec.dtype)));
  if (out.tensor->shape != shape_of(spec, axes)) {
    const auto text = [](const std::vector<std::int64_t>& shape) {
      return "[" + base::joined(shape, ", ", [](std::int64_t extent) { return std::to_string(extent); }) + "]";
    };
    return fail(ErrorCode::invalid_argument, path->string() + ": " + from.tensor + " has the shape " +
                                                 text(out.tensor->shape) + ", the workload's axes say " +
                                                 text(shape_of(spec, axes)));
  }
  return out;
}

/// Why the values contradict a constraint on the last of them; empty when they do not.
std::string refuse_last_value(const Definition& definition, const std::string& input, const std::vector<double>& values,
                              const model::AxisValues& axes) {
  for (const std::string& constraint : definition.constraints) {
    const auto last = last_element_in(constraint, definition);
    if (!last || last->input != input || values.empty()) continue;
    const auto axis = axes.find(last->axis);
    if (axis != axes.end() && values.back() != static_cast<double>(axis->second))
      return "its last value is " + std::to_string(static_cast<std::int64_t>(values.back())) + ", but " + last->axis +
             " is " + std::to_string(axis->second);
  }
  return "";
}

base::Result<DrawnInput> input_from_file(const Entry& entry, const InputDescriptor& from, const Tensor& input,
                                         const model::TensorSpec& spec, const model::AxisValues& axes,
                                         std::size_t& room) {
  if (!spec.shape) return fail(ErrorCode::invalid_argument, input.name + ": is a scalar, but a file holds it");
  TRY_ASSIGN(const StoredInput stored, find_stored_input(entry, from, spec, axes));
  if (!stored.missing.empty()) return stand_in(entry.definition, input, spec, &axes, stored.missing);
  const auto elements = static_cast<std::size_t>(element_count(spec, axes));
  if (!is_readable(stored.tensor->dtype))
    return stand_in(entry.definition, input, spec, &axes, "a task does not list numbers of dtype " + input.dtype);
  constexpr std::size_t kMostRead = std::size_t{1} << 24;
  if (elements > kMostRead) return stand_in(entry.definition, input, spec, &axes, "has more numbers than a task lists");
  auto read = stored.file->read(*stored.tensor);
  if (!read) return tl::make_unexpected(base::with_context(read.error(), input.name));
  const std::vector<double> values = std::move(*read);
  if (std::string reason = refuse_last_value(entry.definition, input.name, values, axes); !reason.empty())
    return fail(ErrorCode::invalid_argument, input.name + ": " + reason);
  InitSpec listed{InitKind::values};
  if (!values.empty() && values.size() <= model::kMostInitValues) {
    listed.values = values;
    const std::size_t length = to_string(listed).size();
    if (std::string reason = refuse_bound_init(spec, listed, axes); !reason.empty())
      return fail(ErrorCode::invalid_argument, input.name + ": " + reason.substr(0, 200));
    if (length <= room) {
      room -= length;
      return DrawnInput{listed};
    }
  }
  const std::string why = "has more numbers than a task lists";
  if (!is_index_like(spec.dtype) || structural_generator(entry.definition, input))
    return stand_in(entry.definition, input, spec, &axes, why);
  const auto [least, largest] = std::minmax_element(values.begin(), values.end());
  const InitSpec init = whole_numbers(*least, *largest + 1);
  return DrawnInput{init, input.name + ": " + why + "; drawn as " + to_string(init)};
}

}  // namespace

base::Result<DrawnInput> drawn_input(const Entry& entry, const Workload& workload, const Tensor& input,
                                     const model::TensorSpec& spec, const model::AxisValues& axes, std::size_t& room) {
  const auto found = workload.inputs.find(input.name);
  const InputDescriptor descriptor = found == workload.inputs.end() ? InputDescriptor{} : found->second;
  switch (descriptor.source) {
    case InputSource::random:
      return random_input(entry.definition, input, spec, &axes);
    case InputSource::scalar: {
      if (spec.shape)
        return fail(ErrorCode::invalid_argument, input.name + ": is a tensor, but the workload has a scalar");
      if (descriptor.rounded && !model::is_floating(spec.dtype))
        return fail(ErrorCode::invalid_argument,
                    input.name + ": its value is a whole number beyond 2^53 that a task would round");
      const InitSpec init = one_value(descriptor.value);
      if (std::string reason = refuse_bound_init(spec, init, axes); !reason.empty())
        return fail(ErrorCode::invalid_argument, input.name + ": " + reason);
      return DrawnInput{init};
    }
    case InputSource::custom:
      return stand_in(entry.definition, input, spec, &axes,
                      "the reference's own function would make it, which is not run");
    case InputSource::safetensors:
      return input_from_file(entry, descriptor, input, spec, axes, room);
  }
  return fail(ErrorCode::internal, "an input of no source");
}

base::Result<DrawnInput> drawn_input(const Definition& definition, const Tensor& input, const model::TensorSpec& spec) {
  return random_input(definition, input, spec, nullptr);
}

}  // namespace accelopt::suites::flashinfer_trace
