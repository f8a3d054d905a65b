// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/task.hpp"
#include "packages/package.hpp"

namespace accelopt::packages {

/// What stands for @NAME@ in a template.
using Filling = std::vector<std::pair<std::string, std::string>>;

/// A file of packages/ with every @NAME@ of the filling replaced.
std::string filled(std::string_view name, const Filling& filling);

std::string replaced(std::string text, std::string_view from, std::string_view to);

/// The claim, name and description, which every package's files have.
Filling common_filling(const PackageRequest& request);

/// One line of printable text, safe inside comments and strings of C and Python.
std::string harmless(std::string_view text);

/// The reference's file name in a package: "reference.cpp".
std::string reference_name(const model::Task& task);

/// Function arguments of every form: inputs that the kernel is given, outputs, variable axes.
struct Parameter {
  enum class Kind { tensor, scalar, output, axis };
  Kind kind = Kind::tensor;
  std::string name;
  model::DType dtype = model::DType::int64;
  std::vector<std::string> shape{};
  bool holds_input = false;  ///< an output that the kernel reads, too
};
std::vector<Parameter> parameters_of(const model::Definition& definition);

/// @error unsupported: what no form can say of the definition yet.
base::Result<void> check_packable(const model::Task& task);

}  // namespace accelopt::packages
