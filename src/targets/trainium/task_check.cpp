// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/task_check.hpp"

namespace accelopt::targets::trainium {

using base::ErrorCode;

base::Result<void> check_task(const model::Task& task) {
  for (const auto* tensors : {&task.definition.inputs, &task.definition.outputs}) {
    for (const model::TensorSpec& tensor : *tensors) {
      if (tensor.shape && (tensor.dtype != model::DType::float32 || tensor.inout))
        return base::fail(ErrorCode::unsupported, "\"" + tensor.name +
                                                      "\": tensors of this target are float32 in this version, and "
                                                      "inputs or outputs, not both");
    }
  }
  return {};
}

base::Result<base::Json> scalar_of(const model::TensorSpec& input) {
  if (input.init.kind != model::InitKind::constant || !input.families.empty() || !model::is_floating(input.dtype))
    return base::fail(ErrorCode::unsupported, "the scalar input \"" + input.name +
                                                  "\" is a part of the compiled kernel; write init = \"constant(...)\" "
                                                  "without families, and a floating dtype");
  return base::Json(input.init.first);
}

}  // namespace accelopt::targets::trainium
