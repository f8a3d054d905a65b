// SPDX-License-Identifier: Apache-2.0
// A definition's constraints: Python expressions, of which those over axes can be checked.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "model/task.hpp"
#include "suites/flashinfer_trace/schema.hpp"

namespace accelopt::suites::flashinfer_trace {

/// The constraint as an expression over axes (base/expression.hpp); `x.shape[i]` is the axis that stands there. None:
/// it speaks of more than axes.
std::optional<std::string> over_axes(const std::string& constraint, const Definition& definition);

/// `total == lengths[-1].item()`, either way round: the axis and the input whose last element has its value.
struct LastElement {
  std::string axis;
  std::string input;
};
std::optional<LastElement> last_element_in(const std::string& constraint, const Definition& definition);

/// Whether it holds for the axes; none: it cannot be told.
std::optional<bool> holds(const std::string& constraint, const Definition& definition, const model::AxisValues& axes);

}  // namespace accelopt::suites::flashinfer_trace
