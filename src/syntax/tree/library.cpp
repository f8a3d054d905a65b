// SPDX-License-Identifier: Apache-2.0
#include "syntax/tree/library.hpp"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>

#include <fmt/format.h>

#include "base/text.hpp"
#include "syntax/tree/api.hpp"

namespace accelopt::syntax::tree {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Result;

constexpr const char* kLibrary = "libtree-sitter.so.0";

/// Whether it is root's or ours, and nobody else may write it: it becomes code of this process.
bool is_trusted(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && (status.st_uid == 0 || status.st_uid == ::geteuid()) &&
         (status.st_mode & S_IWOTH) == 0;
}

}  // namespace

Result<Library> Library::load() {
  if (void* const handle = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL); handle != nullptr) return Library(handle);
  return base::fail(ErrorCode::unsupported, std::string(kLibrary) +
                                                ", which reads source code of many languages, was not found; install "
                                                "the package libtree-sitter0 (Debian, Ubuntu)");
}

std::vector<fs::path> Library::default_folders() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed).parent_path();
  if (failed) return {};
  return default_folders(program);
}

std::vector<fs::path> Library::default_folders(const fs::path& program) {
  std::vector<fs::path> out{program / ".." / "lib" / "accelopt" / "grammars"};
  std::error_code ignored;
  // Beside any other program that folder is nobody's: /tmp/x/bin has /tmp/grammars there.
  if (fs::exists(program / ".." / "CMakeCache.txt", ignored)) out.push_back(program / ".." / ".." / "grammars");
  return out;
}

Result<const void*> Library::grammar(std::string_view language, const std::vector<fs::path>& folders) const {
  const std::string name = language == "c++" ? "cpp" : std::string(language);
  std::error_code ignored;
  for (const fs::path& folder : folders) {
    const fs::path file = folder / (name + ".so");
    if (!fs::exists(file, ignored)) continue;
    if (!is_trusted(file) || !is_trusted(folder))
      return base::fail(
          ErrorCode::unsupported,
          file.string() + " is not opened: it or its folder belongs to another user, or others may write it");
    void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const why = dlerror();
      return base::fail(ErrorCode::unsupported,
                        fmt::format("{} cannot be opened: {}", file.string(), why == nullptr ? "" : why));
    }
    using Grammar = const void* (*)();
    const auto grammar = reinterpret_cast<Grammar>(dlsym(handle, ("tree_sitter_" + name).c_str()));
    const auto version = reinterpret_cast<decltype(&ts_language_version)>(symbol("ts_language_version"));
    if (grammar == nullptr || version == nullptr)
      return base::fail(ErrorCode::unsupported, file.string() + " holds no grammar of " + name);
    const void* const found = grammar();
    const auto number = version(static_cast<const TSLanguage*>(found));
    if (number >= TREE_SITTER_MIN_COMPATIBLE_LANGUAGE_VERSION && number <= TREE_SITTER_LANGUAGE_VERSION) return found;
    return base::fail(ErrorCode::unsupported,
                      fmt::format("{} is of version {}, and {} reads versions {} to {}", file.string(), number,
                                  kLibrary, TREE_SITTER_MIN_COMPATIBLE_LANGUAGE_VERSION, TREE_SITTER_LANGUAGE_VERSION));
  }
  return base::fail(
      ErrorCode::unsupported,
      fmt::format("there is no grammar of {} in {}; scripts/fetch-grammars.sh FOLDER fetches and builds it", name,
                  base::joined(folders, " or ", [](const fs::path& one) { return one.lexically_normal().string(); })));
}

void* Library::symbol(const char* name) const {
  return dlsym(handle_, name);
}

Result<Api> Api::bind(const Library& library) {
  Api api;
#define ACCELOPT_BIND(name)                                                     \
  api.name = reinterpret_cast<decltype(api.name)>(library.symbol("ts_" #name)); \
  if (api.name == nullptr) return base::fail(ErrorCode::unsupported, std::string(kLibrary) + " lacks ts_" #name);
  ACCELOPT_TREE_FUNCTIONS(ACCELOPT_BIND)
#undef ACCELOPT_BIND
  return api;
}

}  // namespace accelopt::syntax::tree
