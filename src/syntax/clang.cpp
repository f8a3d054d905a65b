// SPDX-License-Identifier: Apache-2.0
#include "syntax/clang.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "syntax/preambles.hpp"

namespace accelopt::syntax {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::fail;

/// Absent before LLVM 17, whose other functions suffice.
constexpr const char* kNewestNeededFunction = "clang_getCursorBinaryOperatorKind";

/// Folders below `root`, newest version (largest leading number) first.
std::vector<fs::path> versions_below(const fs::path& root) {
  std::vector<std::pair<int, fs::path>> found;
  std::error_code ignored;
  for (fs::directory_iterator at(root, ignored), end; !ignored && at != end; at.increment(ignored)) {
    const std::string name = at->path().filename().string();
    if (!name.empty() && name.front() >= '0' && name.front() <= '9') found.emplace_back(std::stoi(name), at->path());
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<fs::path> result;
  for (auto& entry : found) result.push_back(std::move(entry.second));
  return result;
}

/// libclang derives its resource folder from where the program lies, not the library; so it is told.
std::vector<std::string> find_system_arguments(void* known_function) {
  std::error_code ignored;
  Dl_info info{};
  if (dladdr(known_function, &info) != 0 && info.dli_fname != nullptr) {
    const fs::path library = fs::weakly_canonical(info.dli_fname, ignored);
    for (const fs::path& folder : versions_below(library.parent_path() / "clang")) {
      if (fs::exists(folder / "include" / "stddef.h", ignored)) return {"-resource-dir", folder.string()};
    }
  }
  for (const char* triple : {"x86_64-linux-gnu", "aarch64-linux-gnu", "x86_64-redhat-linux"}) {
    for (const fs::path& folder : versions_below(fs::path("/usr/lib/gcc") / triple)) {
      if (fs::exists(folder / "include" / "stddef.h", ignored)) return {"-isystem", (folder / "include").string()};
    }
  }
  return {};
}

}  // namespace

Clang::Clang(void* handle, std::string library, std::vector<std::string> system_arguments)
    : handle_(handle),
      library_(std::move(library)),
      system_arguments_(std::move(system_arguments)),
      preambles_(std::make_shared<Preambles>()) {}

std::vector<std::string> Clang::default_libraries() {
  return {"libclang-19.so.1", "libclang-19.so.19", "/usr/lib/llvm-19/lib/libclang.so.1",
          "libclang-20.so.1", "libclang.so.20.1",  "libclang-18.so.1",
          "libclang-17.so.1", "libclang.so.1",     "libclang.so"};
}

Clang Clang::none() {
  return Clang(nullptr, {}, {});
}

base::Result<Clang> Clang::load(const std::vector<std::string>& libraries) {
  std::string tried;
  for (const std::string& name : libraries) {
    tried += (tried.empty() ? "" : ", ") + name;
    void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) continue;
    if (void* function = dlsym(handle, kNewestNeededFunction)) {
      return Clang(handle, name, find_system_arguments(function));
    }
    tried += " (older than LLVM 17)";
    dlclose(handle);
  }
  return fail(ErrorCode::unsupported,
              "libclang, which reads C and C++ sources, was not found (tried " + tried +
                  "); install the package libclang1-19 (Debian, Ubuntu) or clang-libs (Fedora)");
}

void* Clang::symbol(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

}  // namespace accelopt::syntax
