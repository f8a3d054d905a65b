// SPDX-License-Identifier: Apache-2.0
// The objects of FlashInfer Trace and of SOL-ExecBench's superset as values, read as laxly as their own programs read
// them: unknown keys are ignored, numbers may be strings. What is read is another's: every size is bounded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "model/solution.hpp"

namespace accelopt::suites::flashinfer_trace {

/// Keeps the order of keys: that of axes, inputs and outputs is the calling convention.
using OrderedJson = nlohmann::ordered_json;

struct Axis {
  std::string name;
  std::optional<std::int64_t> value;  ///< constant axes
  std::string expression{};           ///< axes computed from others; empty with no value: bound by each workload
};

struct Tensor {
  std::string name;
  std::optional<std::vector<std::string>> shape;  ///< none: a scalar
  std::string dtype;
};

struct Definition {
  std::string name;
  std::string op_type;
  std::string description;
  std::vector<Axis> axes;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::string reference;  ///< Python with a function `run`
  std::vector<std::string> constraints;
  OrderedJson json;  ///< as it was read
};

enum class InputSource { random, scalar, safetensors, custom };

struct InputDescriptor {
  InputSource source = InputSource::random;
  double value = 0;      ///< of a scalar
  bool rounded = false;  ///< a whole number that no double holds
  std::string path{};    ///< of the safetensors file, from the dataset's folder
  std::string tensor{};  ///< its key in that file
};

struct Workload {
  std::string uuid;
  std::map<std::string, std::int64_t> axes;
  std::map<std::string, InputDescriptor> inputs;
  OrderedJson json;  ///< as it was read, without the trace around it
};

struct Solution {
  std::string name;
  std::string definition;
  std::string author;
  std::string language;    ///< "triton", "cuda", "python", ...: names of SOL-ExecBench as FlashInfer Trace calls them
  std::string entry_file;  ///< one of the sources
  std::string entry_symbol;
  std::string binding;                      ///< empty: not stated
  std::optional<bool> destination_passing;  ///< none: not stated
  std::vector<model::SourceFile> sources;
  OrderedJson json;  ///< as it was read
};

/// What one recorded evaluation came to.
struct Trace {
  std::string definition;
  std::string solution;
  std::string workload;  ///< uuid
  std::string status;    ///< "PASSED", ...
  double latency_ms = 0;
};

/// The text as JSON of bounded depth and width. @error parse: it is none, or too deep or too wide.
base::Result<OrderedJson> parse_bounded(std::string_view text);

/// @error parse: the object does not have the schema; the message names the key.
base::Result<Definition> read_definition(const OrderedJson& json);
base::Result<Workload> read_workload(const OrderedJson& json);
base::Result<Solution> read_solution(const OrderedJson& json);
base::Result<Trace> read_trace(const OrderedJson& json);

}  // namespace accelopt::suites::flashinfer_trace
