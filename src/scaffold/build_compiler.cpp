// SPDX-License-Identifier: Apache-2.0
#include "scaffold/build_compiler.hpp"

#include <regex>
#include <set>

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

/// The program behind names that stand for another one: /usr/bin/cc. One that is a launcher in disguise
/// (/usr/lib/ccache/gcc) is looked for by its name.
fs::path named_program(const std::string& compiler, const std::string& search_path) {
  const std::string name = fs::path(compiler).filename().string();
  std::error_code failed;
  const fs::path whole = fs::canonical(targets::cpu::find_program(compiler, search_path), failed);
  if (!failed && is_launcher(whole.string())) return name;
  return !failed && (name == "cc" || name == "c++") ? whole : fs::path(compiler);
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
  static const std::regex kName(R"((.+-)?(gcc|g\+\+|clang|clang\+\+)(-[0-9.]+)?)");
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
  const std::string family = parts[2].str().starts_with("clang") ? "clang++" : "g++";
  const std::string beside = prefix + family + parts[3].str();
  return program.has_parent_path() ? (program.parent_path() / beside).string() : beside;
}

}  // namespace accelopt::scaffold
