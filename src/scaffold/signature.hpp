// SPDX-License-Identifier: Apache-2.0
// A user's function as a kernel: which parameter is which input, output or axis.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/dtype.hpp"
#include "scaffold/parameter_type.hpp"
#include "syntax/source.hpp"

namespace accelopt::scaffold {

enum class ParameterRole { input, inout, output, axis };

/// One parameter of the user's function.
struct KernelParameter {
  ParameterRole role = ParameterRole::input;
  std::string name;       ///< the user's, which the body uses
  std::string task_name;  ///< another one where task.h takes the user's
  std::string axis;       ///< of an axis: its name in the task
  ParameterType type;
  model::DType dtype = model::DType::float32;  ///< tensors and scalars
  bool is_tensor = false;
  bool is_returned = false;                       ///< what the function returns, written through a pointer
  std::string declaration;                        ///< as the user wrote it: "const float* __restrict x"
  std::optional<std::vector<std::string>> shape;  ///< of a tensor where it was stated
  bool is_always_written = true;                  ///< of a tensor changed in place: every element, whatever the data
  std::string ties;                               ///< of an output of indices: the tensor whose values they name
};

/// Values that indices name and the kernel does not write: the reference does.
struct TieValues {
  std::string name;
  std::vector<std::string> shape;
  model::DType dtype = model::DType::float32;  ///< of the first floating-point tensor that the function reads
};

/// An axis of the task, in calling order.
struct KernelAxis {
  std::string name;
  bool is_parameter = false;  ///< the function takes it as an argument; else, if it varies, the size of a container
  bool is_variable = false;
  std::optional<std::int64_t> constant;
  std::optional<std::int64_t> raced;  ///< extent in the raced workload of a variable axis
  std::string expression{};           ///< over other axes, where it follows from them: "len+taps"
};

struct Signature {
  std::vector<KernelParameter> parameters;  ///< in the user's order
  std::vector<KernelAxis> axes;             ///< in the order in which shapes name them
  std::vector<TieValues> ties;
  bool reads_everything = true;       ///< whatever the data: each input's every element
  std::vector<std::string> assigned;  ///< parameters that the body changes
  std::vector<std::string> notes;     ///< for the user: what could not be seen

  const KernelAxis* axis(const std::string& name) const;
};

/// What was said on the command line, taken apart.
struct Stated {
  std::map<std::string, std::vector<std::string>> shapes;
  std::map<std::string, std::string> expressions;  ///< of axes in shapes that are no names: "y_extent" is "len+taps"
  std::vector<std::string> outputs;
  std::vector<std::string> inouts;
  std::vector<std::pair<std::string, std::int64_t>> axes;
  std::map<std::string, std::int64_t> constants;
  std::map<std::string, std::string> inits;
  std::map<std::string, std::string> ties;  ///< output of indices, and the tensor whose values they name
};

/// The options as they were given.
struct StatedTexts {
  std::vector<std::string> shapes{};     ///< "x=M,K": axes of a parameter, outermost first; "y=len+taps"
  std::vector<std::string> outputs{};    ///< what the function writes: "y" or "y=M,N"
  std::vector<std::string> inouts{};     ///< what it changes in place: likewise
  std::vector<std::string> axes{};       ///< "M=64": extent in the raced workload
  std::vector<std::string> constants{};  ///< "K=1024": constant although a parameter is called K
  std::vector<std::string> inits{};      ///< "x=normal(0, 1)"
  std::vector<std::string> ties{};       ///< "places=dists": what the indices name, an output or a shape's name
};

/// @error invalid_argument: an option of another form: the message shows the form.
base::Result<Stated> parse_stated(const StatedTexts& texts);

/// Gives every parameter its role. Values of axes that the file itself defines as constants are taken from there.
/// @error invalid_argument: an option names no parameter or no axis, an output is const, or the function reads or
/// writes a parameter otherwise than it is stated to; unsupported: a parameter's or the result's type has no dtype.
base::Result<Signature> read_signature(const syntax::Unit& unit, const syntax::Function& function,
                                       const Stated& stated);

}  // namespace accelopt::scaffold
