// SPDX-License-Identifier: Apache-2.0
// What a call of an operator looks like, as a user writes it: "x: float16[M=4096, K=512], w: float16[K] -> y:
// float16[M, K]".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/dtype.hpp"

namespace accelopt::scaffold {

struct ExampleTensor {
  std::string name;
  std::optional<model::DType> dtype{};              ///< none: it is to be filled in
  std::optional<std::vector<std::string>> shape{};  ///< names of axes; none: a scalar, or unknown with the dtype
};

struct ExampleAxis {
  std::string name;
  std::optional<std::int64_t> extent{};  ///< in the raced workload; none: it is to be filled in
  bool is_constant = false;              ///< written as a number alone
};

struct ExampleCall {
  std::vector<ExampleTensor> inputs;
  std::vector<ExampleTensor> outputs;
  std::vector<ExampleAxis> axes;  ///< in the order in which they are named
};

/// An axis written as a number alone is constant and gets a name of its own, "D512". @error invalid_argument: another
/// form, an unknown dtype, a name or an extent twice; the message shows what was read.
base::Result<ExampleCall> parse_example(std::string_view text);

}  // namespace accelopt::scaffold
