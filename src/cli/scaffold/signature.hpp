// SPDX-License-Identifier: Apache-2.0
// A user's function as a kernel: which parameter is which input, output or axis.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/dtype.hpp"
#include "model/solution.hpp"
#include "syntax/source.hpp"

namespace accelopt::cli {

enum class ParameterRole { input, output, axis };

/// One parameter of the user's function.
struct KernelParameter {
  ParameterRole role = ParameterRole::input;
  std::string name;                            ///< the user's, which the body uses
  std::string axis;                            ///< of an axis: its name in the task
  std::string type;                            ///< without name: "const float *", "int"
  std::string element_type;                    ///< of what it points to, or of itself: "float"
  model::DType dtype = model::DType::float32;  ///< tensors and scalars
  bool is_tensor = false;
  bool is_const = false;
  std::string declaration;                        ///< as the user wrote it: "const float* __restrict x"
  std::optional<std::vector<std::string>> shape;  ///< of a tensor where it was stated
};

/// An axis of the task, in calling order.
struct KernelAxis {
  std::string name;
  bool is_parameter = false;  ///< the function takes it as an argument
  bool is_variable = false;
  std::optional<std::int64_t> constant;
  std::optional<std::int64_t> raced;  ///< extent in the raced workload of a variable axis
};

struct Signature {
  std::vector<KernelParameter> parameters;  ///< in the user's order
  std::vector<KernelAxis> axes;             ///< in the order in which shapes name them
  std::vector<std::string> assigned;        ///< parameters that the body changes

  const KernelAxis* axis(const std::string& name) const;
};

/// What was said on the command line, taken apart.
struct Stated {
  std::map<std::string, std::vector<std::string>> shapes;
  std::vector<std::string> outputs;
  std::vector<std::pair<std::string, std::int64_t>> axes;
  std::map<std::string, std::int64_t> constants;
  std::map<std::string, std::string> inits;
};

/// @error invalid_argument: an option of another form: the message shows the form.
base::Result<Stated> parse_stated(const std::vector<std::string>& shapes, const std::vector<std::string>& outputs,
                                  const std::vector<std::string>& axes, const std::vector<std::string>& constants,
                                  const std::vector<std::string>& inits);

/// Gives every parameter its role. Values of axes that the file itself defines as constants are taken from there.
/// @error invalid_argument: an option names no parameter, or an output is const; unsupported: a parameter's type has no
/// dtype, or the function returns something.
base::Result<Signature> read_signature(const syntax::Unit& unit, const syntax::Function& function,
                                       const Stated& stated);

/// The function's definition as the kernel (or, named "reference", the reference): parameters in the order of the
/// contract, what the body calls by other types converted first, then the body as it is.
std::string kernel_definition(const Signature& signature, const std::string& name, std::string_view body,
                              model::Language language);

}  // namespace accelopt::cli
