// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/find_tool.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <sstream>

#include "sandbox/run.hpp"

namespace accelopt::targets::cuda {
namespace {

using base::ErrorCode;
namespace fs = std::filesystem;

constexpr std::chrono::seconds kVersionLimit{20};

std::string variable_of(const std::map<std::string, std::string>& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

/// The folders below `parent` whose names begin so, the highest version first.
std::vector<fs::path> versions_below(const fs::path& parent, const std::string& prefix) {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    if (entry.path().filename().string().starts_with(prefix)) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end(), std::greater<>());
  return out;
}

std::vector<fs::path> places_of(const ToolName& name, const std::map<std::string, std::string>& environment) {
  std::vector<fs::path> out;
  std::istringstream folders(variable_of(environment, "PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.empty()) out.push_back(fs::path(folder) / name.program);
  }
  std::vector<fs::path> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string root = variable_of(environment, variable); !root.empty()) roots.emplace_back(root);
  }
  for (fs::path& root : versions_below("/usr/local", "cuda")) roots.push_back(std::move(root));
  for (const fs::path& root : roots) {
    for (const std::string& below : name.in_roots) out.push_back(root / below / name.program);
  }
  if (name.own_root.empty()) return out;
  for (const fs::path& version : versions_below(name.own_root, "")) out.push_back(version / name.program);
  return out;
}

/// What stands behind the word "Version".
std::string version_in(const std::string& text) {
  const std::string word = "Version ";
  const auto at = text.find(word);
  if (at == std::string::npos) return {};
  const std::string rest = text.substr(at + word.size());
  return rest.substr(0, rest.find_first_not_of("0123456789."));
}

}  // namespace

const ToolName& nsight_compute() {
  static const ToolName name{"ncu", "Nsight Compute (ncu)", "ACCELOPT_NCU", {"bin"}, "/opt/nvidia/nsight-compute"};
  return name;
}

const ToolName& compute_sanitizer() {
  static const ToolName name{
      "compute-sanitizer", "compute-sanitizer", "ACCELOPT_COMPUTE_SANITIZER", {"bin", "compute-sanitizer"}, ""};
  return name;
}

base::Result<Tool> find_tool(const ToolName& name, const std::map<std::string, std::string>& environment,
                             const std::stop_token& stop) {
  Tool out;
  if (const std::string chosen = variable_of(environment, name.variable); !chosen.empty()) {
    if (chosen == "off")
      return base::fail(ErrorCode::unsupported, name.words + " is turned off (" + name.variable + ")");
    if (!chosen.starts_with('/') || !is_program(chosen)) {
      return base::fail(ErrorCode::not_found, name.variable +
                                                  " names no program that can be run (it takes an absolute "
                                                  "path, or off)");
    }
    out.path = chosen;
  } else {
    const std::vector<fs::path> places = places_of(name, environment);
    const auto found = std::find_if(places.begin(), places.end(), is_program);
    if (found == places.end()) return base::fail(ErrorCode::not_found, name.words + " was not found");
    out.path = found->string();
  }
  sandbox::SpawnOptions options;
  options.program = out.path;
  options.arguments = {"--version"};
  options.environment = {"LC_ALL=C", "PATH=/usr/local/bin:/usr/bin:/bin"};
  options.own_namespaces = false;
  const auto ran = sandbox::run(options, {kVersionLimit, 1 << 16}, nullptr, stop);
  if (!ran && ran.error().code == ErrorCode::cancelled) return tl::make_unexpected(ran.error());
  if (!ran) return base::fail(ErrorCode::not_found, name.words + " does not start: " + ran.error().message);
  out.version = version_in(ran->output);
  return out;
}

}  // namespace accelopt::targets::cuda
