// SPDX-License-Identifier: Apache-2.0
#include "scaffold/build_compiler.hpp"

#include <regex>
#include <set>
#include <string_view>

#include "targets/cpu/compiler.hpp"

namespace accelopt::scaffold {
namespace {

namespace fs = std::filesystem;

bool is_launcher(const std::string& word) {
  static const std::set<std::string> kLaunchers{"ccache", "sccache", "distcc", "icecc", "env", "nice", "time"};
  const bool is_variable = !word.starts_with('-') && word.find('=') != std::string::npos;
  return is_variable || kLaunchers.contains(fs::path(word).filename().string());
}

/// Whether "x86_64-linux-gnu" names machines like this one.
bool is_of_this_machine(const std::string& triple) {
#if defined(__x86_64__)
  const std::string here = "x86_64-";
#elif defined(__aarch64__)
  const std::string here = "aarch64-";
#else
  const std::string here = "unknown-";
#endif
  return triple.starts_with(here) && triple.find("linux") != std::string::npos;
}

/// Whether this is a launcher by another name, as /usr/lib/ccache/gcc is.
bool is_disguised_launcher(const fs::path& program) {
  std::error_code failed;
  const fs::path whole = fs::canonical(program, failed);
  return !failed && is_launcher(whole.filename().string());
}

/// The first program of this name that is no launcher, which is the one that ccache would run; empty: there is none.
fs::path program_behind_launchers(const std::string& name, std::string_view search_path) {
  while (!search_path.empty()) {
    const auto end = search_path.find(':');
    const std::string found = targets::cpu::find_program(name, search_path.substr(0, end));
    if (!found.empty() && !is_disguised_launcher(found)) return found;
    search_path.remove_prefix(end == std::string_view::npos ? search_path.size() : end + 1);
  }
  return {};
}

/// The program behind launchers in disguise, and behind names that may be links to another one: /usr/bin/cc.
fs::path named_program(const std::string& compiler, const std::string& search_path) {
  const std::string name = fs::path(compiler).filename().string();
  fs::path found = targets::cpu::find_program(compiler, search_path);
  const bool is_disguised = is_disguised_launcher(found);
  if (is_disguised) found = program_behind_launchers(name, search_path);
  if (name == "cc" || name == "c++") {
    std::error_code failed;
    const fs::path whole = fs::canonical(found, failed);
    return failed ? fs::path(name) : whole;
  }
  if (!is_disguised) return compiler;
  return found.empty() ? fs::path(name) : found;
}

}  // namespace

std::string compiler_in(const std::vector<std::string>& arguments, const fs::path& folder) {
  for (const std::string& word : arguments) {
    if (is_launcher(word)) continue;
    if (word.starts_with('-')) break;
    return word.find('/') == std::string::npos ? word : (folder / word).lexically_normal().string();
  }
  return {};
}

base::Result<std::string> cpp_compiler_of(const UserBuild& build, const std::string& search_path) {
  if (build.compiler.empty()) return std::string();
  const fs::path program = named_program(build.compiler, search_path);
  static const std::regex kName(R"((.+-)?(gcc|g\+\+|clang|clang\+\+|cc|c\+\+)(-[0-9.]+)?)");
  std::smatch parts;
  const std::string name = program.filename().string();
  if (!std::regex_match(name, parts, kName)) {
    return base::fail(base::ErrorCode::unsupported,
                      "your build compiles with " + build.compiler + ", which is not known as GCC or Clang");
  }
  const std::string prefix = parts[1].str();
  const bool elsewhere = (!prefix.empty() && !is_of_this_machine(prefix)) ||
                         (!build.machine.empty() && !is_of_this_machine(build.machine));
  if (elsewhere) {
    return base::fail(base::ErrorCode::unsupported,
                      "your build compiles with " + build.compiler + " for another kind of machine");
  }
  const bool is_either = parts[2] == "cc" || parts[2] == "c++";  // a file of its own, no link
  if (is_either) return std::string();
  const std::string family = parts[2].str().starts_with("clang") ? "clang++" : "g++";
  const std::string beside = prefix + family + parts[3].str();
  return program.has_parent_path() ? (program.parent_path() / beside).string() : beside;
}

}  // namespace accelopt::scaffold
