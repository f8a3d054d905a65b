// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/find_tool.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "devices/cuda/tool_text.hpp"
#include "model/directive_reader.hpp"
#include "sandbox/run.hpp"

namespace accelopt::devices::cuda {
namespace {

using base::ErrorCode;
namespace fs = std::filesystem;

constexpr std::size_t kLongestVersion = 40;  ///< characters

std::string variable_of(const std::map<std::string, std::string>& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

/// The numbers in a name: "cuda-12.9" has 12 and 9, and is higher than "cuda-9.2" and than "cuda".
std::vector<unsigned long> version_numbers(const std::string& name) {
  constexpr const char* kDigits = "0123456789";
  std::vector<unsigned long> out;
  for (auto at = name.find_first_of(kDigits); at != std::string::npos; at = name.find_first_of(kDigits, at)) {
    unsigned long number = std::numeric_limits<unsigned long>::max();
    const auto read = std::from_chars(name.data() + at, name.data() + name.size(), number);
    out.push_back(number);
    at = static_cast<std::size_t>(read.ptr - name.data());
  }
  return out;
}

/// The folders below `parent` whose names begin so, the highest version first.
std::vector<fs::path> versions_below(const fs::path& parent, const std::string& prefix) {
  std::vector<std::pair<std::vector<unsigned long>, fs::path>> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const std::string folder = entry.path().filename().string();
    if (folder.starts_with(prefix)) found.emplace_back(version_numbers(folder), entry.path());
  }
  std::sort(found.begin(), found.end(), std::greater<>());
  std::vector<fs::path> out;
  for (auto& [version, path] : found) out.push_back(std::move(path));
  return out;
}

std::vector<fs::path> places_of(const ToolName& name, const std::map<std::string, std::string>& environment) {
  std::vector<fs::path> out;
  std::istringstream folders(variable_of(environment, "PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    // What is relative depends on where one stands: here, and in the folder where the tool runs.
    if (folder.starts_with('/')) out.push_back(fs::path(folder) / name.program);
  }
  std::vector<fs::path> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string root = variable_of(environment, variable); root.starts_with('/')) roots.emplace_back(root);
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
  return rest.substr(0, std::min(rest.find_first_not_of("0123456789."), kLongestVersion));
}

/// The program as a tool, if it runs. @error not_found: it does not, and how; cancelled.
base::Result<Tool> try_tool(const ToolName& name, const std::string& path, const std::stop_token& stop,
                            std::chrono::milliseconds limit) {
  sandbox::SpawnOptions options;
  options.program = path;
  options.arguments = {"--version"};
  options.environment = {"LC_ALL=C", "PATH=/usr/local/bin:/usr/bin:/bin"};
  options.own_namespaces = false;
  const auto ran = sandbox::run(options, {limit, 1 << 16}, nullptr, stop);
  if (!ran && ran.error().code == ErrorCode::cancelled) return tl::make_unexpected(ran.error());
  const auto refuse = [&](const std::string& why) {
    return base::fail(ErrorCode::not_found, name.words + " does not run: " + path + " --version " + why);
  };
  if (!ran) return refuse("does not start: " + ran.error().message);
  if (ran->timed_out) return refuse("did not end within " + std::to_string(limit.count() / 1000) + " s");
  const std::string version = version_in(ran->output);
  if (ran->state.exited && (ran->state.code == 0 || !version.empty())) return Tool{path, version};
  const std::string said = plain_tool_line(std::string_view(ran->output).substr(0, ran->output.find('\n')));
  return refuse((ran->state.exited ? "ended with exit code " + std::to_string(ran->state.code)
                                   : "was ended by signal " + std::to_string(ran->state.signal)) +
                (said.empty() ? "" : " and said: " + said));
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

const ToolName& disassembler() {
  static const ToolName name{"nvdisasm", "nvdisasm", "ACCELOPT_NVDISASM", {"bin"}, ""};
  return name;
}

base::Result<Tool> find_tool(const ToolName& name, const std::map<std::string, std::string>& environment,
                             const std::stop_token& stop, std::chrono::milliseconds limit) {
  if (const std::string chosen = variable_of(environment, name.variable); !chosen.empty()) {
    if (chosen == "off")
      return base::fail(ErrorCode::unsupported, name.words + " is turned off (" + name.variable + ")");
    if (!chosen.starts_with('/') || !is_program(chosen)) {
      return base::fail(ErrorCode::not_found, name.variable + " is \"" + model::quotable(chosen) +
                                                  "\", which names no program that can be run; it takes an absolute "
                                                  "path, or off");
    }
    return try_tool(name, chosen, stop, limit);
  }
  std::optional<base::Error> first;
  for (const fs::path& place : places_of(name, environment)) {
    if (!is_program(place)) continue;
    auto found = try_tool(name, place.string(), stop, limit);
    if (found || found.error().code == ErrorCode::cancelled) return found;
    if (!first) first = found.error();
  }
  if (first) return tl::make_unexpected(*first);
  return base::fail(ErrorCode::not_found, name.words + " was not found");
}

}  // namespace accelopt::devices::cuda
