// SPDX-License-Identifier: Apache-2.0
#include "scaffold/cmake_patch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/text.hpp"
#include "scaffold/words.hpp"

namespace accelopt::scaffold {
namespace {

namespace fs = std::filesystem;
using base::Result;

/// An argument of a command, without its quotes.
struct CMakeArgument {
  std::string text;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Reads the commands of a CMakeLists.txt as far as their plain arguments go: comments and bracket arguments are
/// skipped.
class CMakeReader {
 public:
  explicit CMakeReader(const std::string& text) : text_(text) {}

  /// Calls `visit` with each command's name, in small letters, and its arguments.
  template <class Visit>
  void for_commands(Visit visit) {
    std::string name;
    std::vector<CMakeArgument> arguments;
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        skip_comment();
      } else if (c == '(') {
        ++depth;
        ++at_;
      } else if (c == ')') {
        if (--depth <= 0) {
          visit(base::lower(name), arguments);
          arguments.clear();
          depth = 0;
        }
        ++at_;
      } else if (skip_bracket()) {
        continue;
      } else if (std::string_view(" \t\r\n;").find(c) != std::string_view::npos) {
        ++at_;
      } else {
        CMakeArgument word = c == '"' ? quoted() : unquoted();
        if (depth == 0) name = std::move(word.text);
        if (depth > 0) arguments.push_back(std::move(word));
      }
    }
  }

 private:
  void skip_comment() {
    ++at_;
    if (!skip_bracket()) at_ = std::min(text_.find('\n', at_), text_.size());
  }

  /// `[==[ ... ]==]`
  bool skip_bracket() {
    if (at_ >= text_.size() || text_[at_] != '[') return false;
    const std::size_t second = text_.find_first_not_of('=', at_ + 1);
    if (second == std::string::npos || text_[second] != '[') return false;
    const std::string closing = "]" + std::string(second - at_ - 1, '=') + "]";
    const std::size_t end = text_.find(closing, second);
    at_ = end == std::string::npos ? text_.size() : end + closing.size();
    return true;
  }

  CMakeArgument quoted() {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
    return {text_.substr(begin + 1, at_ - begin - 2), begin, at_};
  }

  CMakeArgument unquoted() {
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_of(" \t\r\n;()#\"", begin), text_.size());
    at_ = std::max(at_, begin + 1);
    return {text_.substr(begin, at_ - begin), begin, at_};
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

/// What may stand before a source's path from the folder: "${CMAKE_CURRENT_SOURCE_DIR}/"; none: it is another file.
std::optional<std::string> prefix_before(const std::string& argument, const std::string& name) {
  if (!argument.ends_with(name)) return std::nullopt;
  const std::string prefix = argument.substr(0, argument.size() - name.size());
  const bool known = prefix.empty() || prefix == "./" || prefix == "${CMAKE_CURRENT_SOURCE_DIR}/" ||
                     prefix == "${CMAKE_CURRENT_LIST_DIR}/";
  return known ? std::optional(prefix) : std::nullopt;
}

/// Of commands such as add_library, pybind11_add_module, target_sources, list(APPEND ...).
bool lists_sources(const std::string& command, const std::vector<CMakeArgument>& arguments) {
  const std::string& first = arguments.empty() ? command : arguments.front().text;
  if (command == "list") return first == "APPEND" || first == "PREPEND" || first == "INSERT";
  const std::size_t add = command.find("add_");
  if (add == std::string::npos) return command == "target_sources" || command == "set";
  return command.ends_with("executable") || command.ends_with("library") || command.ends_with("module") ||
         command.ends_with("extension");
}

/// The text with `added` beside `name` in every command that makes a list of sources; none names it: the text itself.
std::string with_source(const std::string& text, const std::string& name, const std::string& added) {
  std::vector<std::pair<std::size_t, std::string>> places;
  CMakeReader(text).for_commands([&](const std::string& command, const std::vector<CMakeArgument>& arguments) {
    if (!lists_sources(command, arguments)) return;
    for (std::size_t i = 1; i < arguments.size(); ++i) {
      const auto prefix = prefix_before(arguments[i].text, name);
      if (!prefix) continue;
      const std::string quote = text[arguments[i].begin] == '"' ? "\"" : "";
      places.emplace_back(arguments[i].end, " " + quote + *prefix + added + quote);
      return;
    }
  });
  std::string out = text;
  for (auto place = places.rbegin(); place != places.rend(); ++place) out.insert(place->first, place->second);
  return out;
}

std::string properties_of(const std::string& name, const std::vector<std::string>& flags) {
  return fmt::format("set_source_files_properties({} PROPERTIES COMPILE_OPTIONS \"{}\")\n", name,
                     fmt::join(flags, ";"));
}

struct CMakePlace {
  fs::path path;
  std::string text;
};

/// The nearest CMakeLists.txt, up to the root of the repository, that names the file among a target's sources.
std::optional<CMakePlace> cmake_naming(const WinnerPatch& patch, const fs::path& file) {
  const fs::path root = repository_of(file);
  for (fs::path folder = file.parent_path();; folder = folder.parent_path()) {
    const fs::path path = folder / "CMakeLists.txt";
    const auto changed =
        std::find_if(patch.files.begin(), patch.files.end(), [&](const PatchedFile& one) { return one.path == path; });
    const auto text = changed != patch.files.end() ? Result<std::string>(changed->after) : base::read_file(path);
    if (text && with_source(*text, file.lexically_relative(folder).generic_string(), "x") != *text) {
      return CMakePlace{path, *text};
    }
    if (folder == root || folder == folder.root_path()) return std::nullopt;
  }
}

}  // namespace

bool is_named_by_cmake(const fs::path& file) {
  return cmake_naming({}, file).has_value();
}

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
    std::string text = with_source(place->text, own, name);
    const FileForm form{false, form_of(text).has_returns};
    if (!text.ends_with('\n')) text += in_form("\n", form);
    text += in_form("# Made faster by accelopt, measured with these flags.\n" + properties_of(name, file.flags), form);
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
