// SPDX-License-Identifier: Apache-2.0
// Generators for integer inputs whose tensors a dataset does not hold: offsets, page tables, lengths, positions.
#pragma once

#include <optional>
#include <string>

#include "model/init.hpp"
#include "suites/flashinfer_trace/schema.hpp"

namespace accelopt::suites::flashinfer_trace {

/// A generator that gives the input the structure that its name and the definition's constraints speak of; its
/// arguments are expressions over the axes. None: they say too little.
std::optional<model::InitSpec> structural_generator(const Definition& definition, const Tensor& input);

/// The same numbers without the promise that none is there twice; for rows longer than the range.
model::InitSpec with_repeats(model::InitSpec init);

}  // namespace accelopt::suites::flashinfer_trace
