// SPDX-License-Identifier: Apache-2.0
#include "scaffold/cmake_patch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/files.hpp"

namespace accelopt::scaffold {
namespace {

namespace fs = std::filesystem;
using base::Result;

/// Where the name stands in the text as a word of its own, outside of comments.
std::size_t find_word(const std::string& text, const std::string& name) {
  const auto ends_word = [&](std::size_t at) {
    return at >= text.size() || std::string_view(" \t\r\n()\"").find(text[at]) != std::string_view::npos;
  };
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const std::size_t line = text.rfind('\n', at);
    const std::size_t comment = text.find('#', line == std::string::npos ? 0 : line);
    if (comment < at) continue;
    if ((at == 0 || ends_word(at - 1)) && ends_word(at + name.size())) return at;
  }
  return std::string::npos;
}

std::string properties_of(const std::string& name, const std::vector<std::string>& flags) {
  return fmt::format("set_source_files_properties({} PROPERTIES COMPILE_OPTIONS \"{}\")\n", name,
                     fmt::join(flags, ";"));
}

struct CMakePlace {
  fs::path path;
  std::string text;
};

/// The nearest CMakeLists.txt, up to the root of the repository, that names the file.
std::optional<CMakePlace> cmake_naming(const WinnerPatch& patch, const fs::path& file) {
  const fs::path root = repository_of(file);
  for (fs::path folder = file.parent_path();; folder = folder.parent_path()) {
    const fs::path path = folder / "CMakeLists.txt";
    const auto changed =
        std::find_if(patch.files.begin(), patch.files.end(), [&](const PatchedFile& one) { return one.path == path; });
    const auto text = changed != patch.files.end() ? Result<std::string>(changed->after) : base::read_file(path);
    if (text && find_word(*text, file.lexically_relative(folder).generic_string()) != std::string::npos) {
      return CMakePlace{path, *text};
    }
    if (folder == root || folder == folder.root_path()) return std::nullopt;
  }
}

}  // namespace

Result<std::string> add_to_cmake(WinnerPatch& patch) {
  std::string by_hand;
  std::vector<PatchedFile> added;
  for (const PatchedFile& file : patch.files) {
    if (!file.beside.empty()) added.push_back(file);
  }
  for (const PatchedFile& file : added) {
    const auto place = cmake_naming(patch, file.beside);
    if (!place) {
      const std::string name = file.path.filename().string();
      by_hand += "add " + name + " to the target that holds " + file.beside.filename().string() +
                 ", and its flags: " + properties_of(name, file.flags);
      continue;
    }
    const fs::path folder = place->path.parent_path();
    const std::string own = file.beside.lexically_relative(folder).generic_string();
    const std::string name = file.path.lexically_relative(folder).generic_string();
    std::string text = place->text;
    text.insert(find_word(text, own) + own.size(), " " + name);
    if (!text.ends_with('\n')) text += '\n';
    text += "# Made faster by accelopt, measured with these flags.\n" + properties_of(name, file.flags);
    const auto changed = std::find_if(patch.files.begin(), patch.files.end(),
                                      [&](const PatchedFile& one) { return one.path == place->path; });
    if (changed != patch.files.end()) {
      changed->after = std::move(text);
    } else {
      patch.files.push_back({place->path, place->text, std::move(text), {}, {}});
    }
  }
  return by_hand;
}

}  // namespace accelopt::scaffold
