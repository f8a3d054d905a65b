// SPDX-License-Identifier: Apache-2.0
// What is to be made faster: definition, workloads, target, baseline. Values only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "model/dtype.hpp"
#include "model/init.hpp"
#include "model/solution.hpp"
#include "model/vocabulary.hpp"

namespace accelopt::model {

/// Values of axes by name.
using AxisValues = std::map<std::string, std::int64_t>;

struct Axis {
  std::string name;
  std::optional<std::int64_t> value;  ///< none: a variable axis, bound by each workload
};

/// An input or output. No shape: a scalar passed by value; an empty shape: a 0-d tensor.
struct TensorSpec {
  std::string name;
  std::optional<std::vector<std::string>> shape;  ///< axis names, outermost first; row-major, contiguous
  DType dtype = DType::float32;
  InitSpec init;                 ///< inputs only
  std::vector<Family> families;  ///< inputs only: transformations besides as_declared
  std::string ties{};            ///< integer outputs only: the tensor by whose values any of equal indices is right
  bool inout = false;            ///< an input and an output of one name: what the kernel finds there, and leaves there
  bool visible = false;          ///< inputs only: what launches a kernel may read its values on the host
};

struct Numerics {
  bool lower_precision = false;
  std::optional<double> normwise;  ///< replaces the calibrated bound
};

/// Least work that any implementation must do, as expressions over the axes.
struct CostModel {
  std::string flops;  ///< floating-point operations
  std::string bytes;  ///< bytes moved to and from memory
};

/// What f16_t and bf16_t are in C and C++: structs of bits, or the compiler's own _Float16 and __bf16.
enum class SmallFloats { bits, native };

struct Definition {
  std::string name;
  std::string op_type;
  std::string description;
  std::vector<Axis> axes;  ///< the order is the calling convention
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<TensorSpec> ties{};  ///< what the reference alone computes, after the outputs: what indices choose among
  Numerics numerics;
  CostModel cost;
  SmallFloats small_floats = SmallFloats::bits;
};

struct Workload {
  std::string name;
  AxisValues axes;  ///< the variable axes
  Role role = Role::race;
  double weight = 1.0;
  std::map<std::string, InitSpec> inits{};  ///< of inputs that this workload draws in a way of its own, by name
};

enum class Cache { cold, warm };

struct CpuSettings {
  int threads = 1;
  Cache cache = Cache::cold;
};

/// Where the kernel lives in the user's own code.
struct Entry {
  std::string file;  ///< relative to the task's folder
  std::string function;
  std::vector<std::string> args;  ///< inputs, outputs and axes in the function's own order: "x" or "int M"; then axes
                                  ///< that no argument gives, by those that do: "y_extent = len+taps"
  std::string returns{};          ///< the output that the function returns; empty: none
  std::string content{};          ///< SHA-256 over the code that the task was made from; empty: not kept
};

/// Of a task that changes files of a git repository: the baseline's sources are those files, and workloads are sizes of
/// the driver's inputs.
struct RepoPart {
  std::string file;                ///< refactor.toml, absolute: how all is built, tested and driven
  std::string content;             ///< SHA-256 over that file and what lies beside it, which a run must find unchanged
  std::string commit;              ///< of the base, in full
  std::string language;            ///< as experiences name it, "python"
  std::vector<std::string> scope;  ///< "file#function" or "file": all that may change
  /// SHA-256 of each file that `content` is over, by its path from the folder: which of them changed. Empty: not kept.
  std::map<std::string, std::string> files{};
};

struct Task {
  Definition definition;
  std::vector<Workload> workloads;
  std::string target = "cpu";
  CpuSettings cpu;
  Solution baseline;
  SourceFile reference;
  bool derived_reference = false;  ///< made by `init` from the baseline itself: proves equality, not correctness
  std::string hints;
  std::optional<Entry> entry;
  std::optional<RepoPart> repo{};
};

/// What experiences say that the task's code is written in.
std::string language_name(const Task& task);

/// All axes, constant and variable, of one workload.
AxisValues bind_axes(const Definition& definition, const Workload& workload);
/// Elements of the tensor (1 for scalars and 0-d). Requires every axis of its shape to be bound.
std::int64_t element_count(const TensorSpec& tensor, const AxisValues& axes);
std::vector<std::int64_t> shape_of(const TensorSpec& tensor, const AxisValues& axes);
/// Names of the variable axes, in calling order.
std::vector<std::string> variable_axes(const Definition& definition);
/// Variable axes, each with an earlier one that has the same extents in every workload, where these differ; without
/// those that a call gives by an expression. Nothing tells whether a kernel takes the one for the other.
std::vector<std::pair<std::string, std::string>> equal_axes(const Task& task);
/// How the workload draws the input; its arguments may be expressions over the axes.
const InitSpec& init_of(const Workload& workload, const TensorSpec& input);
/// Whether a kernel is given the input as a parameter of its own: an inout tensor comes with the outputs.
bool is_passed_as_input(const TensorSpec& input);
/// Place of the input whose contents the output holds before a call; none: they mean nothing.
std::optional<std::size_t> contents_of(const Definition& definition, const TensorSpec& output);
/// Why the text is no extent that C can compute as the task does: names of axes, whole numbers, + - * and parentheses.
/// Empty: it is one.
std::string refuse_derived_extent(const std::string& expression);
/// The expression by which a call gives the axis; empty: [entry] has none.
std::string derived_extent(const Entry& entry, const std::string& axis);
/// Whether whoever launches a kernel knows the input's values: a visible tensor, or a scalar.
bool is_known_on_host(const TensorSpec& input);
/// The definition as the reference has it, which computes the ties tensors too: as its last outputs.
Definition reference_definition(const Definition& definition);
/// Place of the tensor that the output's indices choose among, in the outputs of reference_definition; none: no ties.
std::optional<std::size_t> ties_of(const Definition& definition, const TensorSpec& output);
/// The first schema of task.toml that can say what the task says.
int schema_of(const Task& task);
/// Whether some output holds integers or masks that are compared for equality.
bool has_exact_output(const Definition& definition);
/// SHA-256 over everything that decides a measurement: definition, workloads, target, baseline, reference.
std::string task_id(const Task& task);

void to_json(base::Json& out, const Task& task);
void from_json(const base::Json& in, Task& task);
void to_json(base::Json& out, const Definition& definition);
void from_json(const base::Json& in, Definition& definition);
void to_json(base::Json& out, const Workload& workload);
void from_json(const base::Json& in, Workload& workload);

}  // namespace accelopt::model
