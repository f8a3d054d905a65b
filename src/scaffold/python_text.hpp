// SPDX-License-Identifier: Apache-2.0
// Reading a Python file as text: its top-level statements, and a function's parameters. No Python is run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace accelopt::scaffold {

/// A statement that begins in the first column, with its decorators and all lines that belong to it.
struct PythonStatement {
  enum class Kind { import, function, definition, other };  ///< definition: of a class, or of a name by "="
  Kind kind = Kind::other;
  std::string name;                ///< of a function or a definition
  std::vector<std::string> binds;  ///< names that it gives a value, in the order of the text
  std::string text;                ///< whole lines
  bool is_kernel = false;          ///< a function under a decorator of Triton's
};

/// The file's statements in order; comments and blank lines between them belong to none.
std::vector<PythonStatement> python_statements(std::string_view source);

struct PythonParameter {
  std::string name;
  bool has_default = false;
};

/// The parameters of a function by its statement; "*" and "/" are left out. None: one takes any number (*args,
/// **kwargs).
std::optional<std::vector<PythonParameter>> python_parameters(const PythonStatement& function);

/// The statements that `name` needs, in the file's order: it, what it names, and what these name in turn; of imports
/// the needed parts but those of Triton, which are put into `missing`. A kernel of Triton's is not taken along; its
/// name is put into `kernels`. Empty: there is no function of that name.
std::vector<PythonStatement> python_closure(const std::vector<PythonStatement>& statements, const std::string& name,
                                            std::vector<std::string>& kernels, std::vector<std::string>& missing);

/// Modules that the imports name, by their first part: "torch", ".helpers".
std::vector<std::string> python_imports(const std::vector<PythonStatement>& statements);

}  // namespace accelopt::scaffold
