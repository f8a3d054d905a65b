// SPDX-License-Identifier: Apache-2.0
#include "capture/python.hpp"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/text.hpp"

namespace accelopt::capture {
namespace {

namespace fs = std::filesystem;

std::string value_of(const PythonOptions& options, const char* name) {
  const auto found = options.environment.find(name);
  return found == options.environment.end() ? std::string() : found->second;
}

std::optional<fs::path> on_path(const PythonOptions& options, const std::string& name) {
  const std::string path = value_of(options, "PATH");
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const fs::path candidate = fs::path(path.substr(begin, end - begin)) / name;
    if (candidate.is_absolute() && access(candidate.c_str(), X_OK) == 0) return candidate;
    begin = end + 1;
  }
  return std::nullopt;
}

/// Where an interpreter's packages may lie: beside it, as virtual environments and installations have it, and where the
/// link to it leads.
std::vector<fs::path> package_folders(const fs::path& program) {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (const fs::path& one : {program, fs::canonical(program, ignored)}) {
    const fs::path root = one.parent_path().parent_path();
    for (const char* lib : {"lib", "lib64", "local/lib"}) {
      for (const auto& entry : fs::directory_iterator(root / lib, ignored)) {
        if (!entry.path().filename().string().starts_with("python3")) continue;
        for (const char* packages : {"site-packages", "dist-packages"}) out.push_back(entry.path() / packages);
      }
    }
  }
  return out;
}

std::optional<std::string> triton_in(const fs::path& packages) {
  constexpr std::string_view kBegin = "triton-";
  constexpr std::string_view kEnd = ".dist-info";
  std::error_code ignored;
  if (!fs::is_regular_file(packages / "triton" / "__init__.py", ignored)) return std::nullopt;
  for (const auto& entry : fs::directory_iterator(packages, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kBegin) && name.ends_with(kEnd))
      return name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
  }
  return std::nullopt;
}

/// Where a Python is looked for, in this order.
std::vector<fs::path> programs_of(const PythonOptions& options) {
  std::vector<fs::path> programs;
  const std::string named = value_of(options, "ACCELOPT_PYTHON");
  if (!named.empty()) {
    const auto found = named.find('/') == std::string::npos ? on_path(options, named) : std::optional(fs::path(named));
    programs.push_back(found ? fs::absolute(*found) : fs::path(named));
  } else {
    if (const std::string environment = value_of(options, "VIRTUAL_ENV"); !environment.empty())
      programs.push_back(fs::path(environment) / "bin" / "python3");
    if (const auto found = on_path(options, "python3")) programs.push_back(*found);
  }
  return programs;
}

std::string where_looked(const std::vector<fs::path>& programs) {
  if (programs.empty()) return "there is no python3 on the PATH";
  return "looked at " + base::joined(programs, ", ", [](const fs::path& program) { return program.string(); });
}

}  // namespace

base::Result<Python> find_python_with(const PythonOptions& options, const std::string& package) {
  const std::vector<fs::path> programs = programs_of(options);
  for (const fs::path& program : programs) {
    if (access(program.c_str(), X_OK) != 0) continue;
    for (const fs::path& packages : package_folders(program)) {
      std::error_code ignored;
      if (fs::is_regular_file(packages / package / "__init__.py", ignored)) return Python{program, packages, {}};
    }
  }
  return base::fail(base::ErrorCode::unsupported, "no Python with " + package + " was found (" +
                                                      where_looked(programs) +
                                                      "); set ACCELOPT_PYTHON to one that has it");
}

base::Result<Python> find_any_python(const PythonOptions& options) {
  for (const fs::path& program : programs_of(options)) {
    if (access(program.c_str(), X_OK) == 0) return Python{program, {}, {}};
  }
  return base::fail(base::ErrorCode::unsupported,
                    "there is no python3 on the PATH: install Python 3.11 or newer, or set ACCELOPT_PYTHON");
}

base::Result<Python> find_python(const PythonOptions& options) {
  const std::vector<fs::path> programs = programs_of(options);
  std::string other;
  for (const fs::path& program : programs) {
    if (access(program.c_str(), X_OK) != 0) continue;
    for (const fs::path& packages : package_folders(program)) {
      const auto version = triton_in(packages);
      if (version == kTritonVersion) return Python{program, packages, *version};
      if (version) other = *version;
    }
  }
  const std::string what = other.empty() ? "no Python with Triton was found" : "Triton " + other + " was found";
  return base::fail(base::ErrorCode::unsupported,
                    what + ", and " + kTritonVersion + " is needed (" + where_looked(programs) +
                        "); make one: python3 -m venv ENV && ENV/bin/pip install triton==" + kTritonVersion +
                        " numpy, and set ACCELOPT_PYTHON=ENV/bin/python3");
}

}  // namespace accelopt::capture
