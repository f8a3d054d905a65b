// SPDX-License-Identifier: Apache-2.0
// The two families of kernels that the vendor's tutorials tell times of: whether the model puts their variants in the
// same order.
#pragma once

#include <filesystem>

#include "base/result.hpp"
#include "capture/python.hpp"

namespace accelopt::bench {

struct Orders {
  int pairs = 0;  ///< of variants on one size whose times differ
  int right = 0;  ///< of these, those that the model puts in the same order
};

/// Prints a line a kernel. `checkout` has the mamba variants in samples/nki; the matrix multiplications are ours.
/// @error as Tracer::build; invalid_argument: a kernel is refused.
base::Result<Orders> order_tutorials(const std::filesystem::path& checkout, const capture::PythonOptions& python);

}  // namespace accelopt::bench
