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

/// The first file of the solution's own Python; where a configuration was chosen, what keeps it stands behind.
std::string fixed_python(const model::Solution& solution) {
  const auto commented = model::commented_values(solution);
  if (!commented) return model::main_text(solution);
  return model::main_text(commented->open) +
         filled("python/keep_configuration.py", {{"VALUES", fmt::format("{}", fmt::join(commented->values, ", "))}});
}

/// The solution's other files, in the folder, where its first one imports them from.
base::Result<void> add_other_files(const model::Solution& solution, const std::string& folder, const std::string& main,
                                   Package& out) {
  for (std::size_t i = 1; i < solution.sources.size(); ++i) {
    const std::string& name = solution.sources[i].name;
    const std::string place = folder + name;
    const bool taken = std::ranges::find(out, place, &PackageFile::name) != out.end() || name == main;
    if (taken || name.starts_with("test/"))
      return base::fail(base::ErrorCode::unsupported,
                        "the solution's file " + name + " is called as one of the package; rename it");
    out.push_back({place, solution.sources[i].text});
  }
  return {};
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
  const std::string name = package_name(request);
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
    out.push_back({name + "/solution.py", fixed_python(request.solution)});
    TRY(add_other_files(request.solution, name + "/", "__init__.py", out));
    filling.emplace_back("PATH", request.solution.sources.size() == 1
                                     ? ""
                                     : "import sys\n\n# The solution's files import one another by their names.\n"
                                       "sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))\n");
    body = filled("python/operator_triton.py", filling) + function_operator(request.task.definition, name);
  }
  out.push_back({name + "/__init__.py", filled("python/operator_head.py", filling) + body});
  out.push_back({"test/test_" + name + ".py", filled("python/test_torch.py", filling)});
  out.push_back({"README.md", filled("python/README.torch.md", filling)});
  return out;
}

base::Result<Package> triton_package(const PackageRequest& request) {
  TRY(check_packable(request.task));
  const std::string name = package_name(request);
  const Filling filling = common_filling(request);
  TRY_ASSIGN(Package out, python_test(request.task, filling));
  out.push_back({name + ".py", fixed_python(request.solution)});
  TRY(add_other_files(request.solution, "", "README.md", out));
  out.push_back({"test/test_" + name + ".py", filled("python/test_triton.py", filling)});
  out.push_back({"README.md", filled("python/README.triton.md", filling)});
  return out;
}

}  // namespace accelopt::packages
