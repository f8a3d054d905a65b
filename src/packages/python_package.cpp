// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "model/target_description.hpp"
#include "model/tuning.hpp"
#include "packages/cuda_files.hpp"
#include "packages/operator_text.hpp"
#include "packages/package.hpp"
#include "packages/package_text.hpp"
#include "packages/tables.hpp"

namespace accelopt::packages {
namespace {

/// The solution's own Python; where a configuration was chosen, what keeps it stands behind.
base::Result<std::string> fixed_python(const model::Solution& solution) {
  if (solution.sources.size() != 1) {
    return base::fail(base::ErrorCode::unsupported,
                      fmt::format("the solution has {} files, and a package takes one", solution.sources.size()));
  }
  const auto commented = model::commented_values(solution);
  if (!commented) return model::main_text(solution);
  return model::main_text(commented->open) +
         filled("python/keep_configuration.py", {{"VALUES", fmt::format("{}", fmt::join(commented->values, ", "))}});
}

/// The reference and what the test in Python needs beside it.
base::Result<Package> python_test(const model::Task& task, const Filling& filling) {
  Package out;
  if (reference_name(task) == "reference.py") {
    out.push_back({"test/reference.py", task.reference.text});
  } else {
    TRY_ASSIGN(out, reference_files(task));
    out.push_back({"test/build.py", filled("python/build.py", filling)});
  }
  TRY_ASSIGN(const base::Json tables, json_tables(task));
  out.push_back({"test/task.json", tables.dump(1) + "\n"});
  out.push_back({"test/check.py", filled("python/check.py", filling)});
  return out;
}

}  // namespace

base::Result<Package> torch_package(const PackageRequest& request) {
  TRY(check_packable(request.task));
  const std::string name = package_name(request.task);
  Filling filling = common_filling(request);
  for (auto& one : operator_filling(request.task.definition, name)) filling.push_back(std::move(one));
  TRY_ASSIGN(Package out, python_test(request.task, filling));
  std::string body;
  if (model::describe(request.solution.language).form == model::KernelForm::launches) {
    TRY_ASSIGN(DeviceFiles device, device_files(request));
    std::vector<std::string> flags;
    for (const std::string& flag : device.flags) flags.push_back("\"" + flag + "\"");
    filling.emplace_back("FLAGS", "[" + base::joined(flags, ", ") + "]");
    for (PackageFile& file : device.files) out.push_back({name + "/" + file.name, std::move(file.text)});
    out.push_back({name + "/build.py", filled("python/build.py", filling)});
    body = filled("python/operator_cuda.py", filling) + launcher_operator(request.task.definition, name);
  } else {
    TRY_ASSIGN(std::string python, fixed_python(request.solution));
    out.push_back({name + "/solution.py", std::move(python)});
    body = filled("python/operator_triton.py", filling) + function_operator(request.task.definition, name);
  }
  out.push_back({name + "/__init__.py", filled("python/operator_head.py", filling) + body});
  out.push_back({"test/test_" + name + ".py", filled("python/test_torch.py", filling)});
  out.push_back({"README.md", filled("python/README.torch.md", filling)});
  return out;
}

base::Result<Package> triton_package(const PackageRequest& request) {
  TRY(check_packable(request.task));
  const std::string name = package_name(request.task);
  const Filling filling = common_filling(request);
  TRY_ASSIGN(Package out, python_test(request.task, filling));
  TRY_ASSIGN(std::string python, fixed_python(request.solution));
  out.push_back({name + ".py", std::move(python)});
  out.push_back({"test/test_" + name + ".py", filled("python/test_triton.py", filling)});
  out.push_back({"README.md", filled("python/README.triton.md", filling)});
  return out;
}

}  // namespace accelopt::packages
