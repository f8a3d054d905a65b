// SPDX-License-Identifier: Apache-2.0
// What the capturing process is asked, as docs/triton.md describes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "model/dtype.hpp"
#include "model/solution.hpp"
#include "model/task.hpp"

namespace accelopt::capture {

/// A tensor, or a scalar. A plan holds for the values that it is given here.
struct Tensor {
  std::string name;
  model::DType dtype = model::DType::float32;
  std::vector<std::int64_t> shape;  ///< elements, outermost axis first
  bool inout = false;
  base::Json value{};                    ///< of a scalar: a number, "inf", "-inf" or "nan"; null: it is a tensor
  std::optional<std::string> visible{};  ///< of a tensor that the host may see: its bytes
};

/// One set of shapes, and of values that the host knows, that the host function is called with.
struct Shapes {
  std::string name;  ///< of the plan that comes out
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
};

/// The tensors of a workload; scalars have no value yet. Requires every axis to be bound.
Shapes shapes_of(const model::Definition& definition, const model::AxisValues& axes, std::string name);

struct Request {
  const model::Solution& solution;  ///< its first file holds the function
  std::string function;             ///< in the first file
  int architecture = 90;            ///< compute capability times ten
  std::vector<Shapes> workloads;
  base::Json configurations = "all";  ///< of autotuned kernels; or an object: the place of each choice's
};

/// Asks for cubins and launch plans.
base::Json capture_request(const Request& request);
/// Asks for the instructions of an NKI kernel.
base::Json trace_request(const Request& request);
/// Asks for the outputs of a run by the interpreter; `folder` holds the inputs and takes the outputs.
base::Json interpret_request(const Request& request, const std::filesystem::path& folder);

/// The file of a tensor in such a folder: "WORKLOAD.TENSOR.bin"; of an inout tensor as it was left, "....out.bin".
std::string tensor_file(const Shapes& workload, const Tensor& tensor);
std::string output_file(const Shapes& workload, const Tensor& tensor);

}  // namespace accelopt::capture
