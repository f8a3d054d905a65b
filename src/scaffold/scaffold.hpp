// SPDX-License-Identifier: Apache-2.0
// `accelopt init`: a task folder made from a function in a user's own file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/task.hpp"
#include "scaffold/signature.hpp"
#include "syntax/clang.hpp"

namespace accelopt::scaffold {

struct ScaffoldOptions {
  std::filesystem::path file;  ///< the user's .c, .cpp, .py or .cu file
  std::string function;        ///< defined there: "f", "a::f" or "Class::f" (static), no template
  StatedTexts stated;
  std::string op_type;           ///< the kind of operator; empty: the function's name
  std::filesystem::path folder;  ///< to be made, or empty
  std::string example{};         ///< of a .py or .cu file: a call, as parse_example reads it
  std::string reference{};       ///< of a .py file: "FUNCTION" in it, or "FILE:FUNCTION"
};

struct ScaffoldReport {
  std::filesystem::path folder;
  std::vector<std::string> files;  ///< names in the folder
  std::vector<std::string>
      open;  ///< what the options did not state, each a line "task.toml:14: axes.K" that lint refuses
  std::vector<std::string> notes;  ///< for the user: what was left out or has to be looked at
  model::Task task;                ///< as far as it is stated: enough to try a patch with its baseline
};

/// A function's qualified name as the name of a task, a folder, a file: "a_B_f".
std::string plain_name(const std::string& function);

/// Writes task.toml, baseline and reference. Types and constness come from the function's signature: pointers are
/// tensors (outputs where `outputs` says so), integers by value whose name is an axis are variable axes, other numbers
/// by value are scalar inputs. Of the user's file the baseline keeps what the function needs, with the function's body
/// as the kernel's; the reference is the same with every floating type made `real`, except double in a
/// function that reads none. What is not stated is written as
/// "?", which lint refuses by line. Of a .py or .cu file: as scaffold_operator.
/// @error not_found: no such file or function; invalid_argument: an option names no parameter, has another form or a
/// generator that its parameter cannot have, or a pointer is neither input nor output; unsupported: as
/// extract_function, a result, a parameter type without dtype; already_exists: the folder is not empty;
/// permission_denied, exhausted, io.
base::Result<ScaffoldReport> scaffold_task(const syntax::Clang& clang, const ScaffoldOptions& options);

}  // namespace accelopt::scaffold
