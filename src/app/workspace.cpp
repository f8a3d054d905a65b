// SPDX-License-Identifier: Apache-2.0
#include "app/workspace.hpp"

#include <tuple>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/utc.hpp"

namespace accelopt::app {
std::filesystem::path find_workspace(const std::string& given, const std::filesystem::path& from) {
  if (!given.empty()) return given;
  std::error_code ignored;
  const std::filesystem::path here = from.empty() ? std::filesystem::current_path(ignored) : from;
  for (std::filesystem::path folder = here;; folder = folder.parent_path()) {
    if (std::filesystem::is_directory(folder / ".accelopt", ignored)) return folder / ".accelopt";
    if (folder == folder.parent_path()) break;
  }
  return here / ".accelopt";
}

base::Result<std::unique_ptr<journal::Journal>> open_workspace(const std::filesystem::path& workspace,
                                                               journal::Access access) {
  std::error_code ignored;
  if (access == journal::Access::read_only && !std::filesystem::exists(workspace / "accelopt.db", ignored)) {
    return base::fail(base::ErrorCode::not_found,
                      "no runs here: " + workspace.string() +
                          " holds no journal; start one with `accelopt run TASK`, or name another "
                          "workspace with --workspace DIR");
  }
  if (access == journal::Access::read_write) {
    const bool is_new = !std::filesystem::exists(workspace, ignored);
    const auto made = base::make_folders(workspace);
    if (!made) {
      return base::fail(made.error().code, made.error().message +
                                               "; the runs are kept there: make it a folder that may be written, or "
                                               "choose another workspace with --workspace DIR");
    }
    // The default place lies among the user's sources. Without it git shows a folder more, and no run is the worse.
    if (is_new && workspace.filename() == ".accelopt") std::ignore = base::write_file(workspace / ".gitignore", "*\n");
  }
  return journal::open_journal(workspace, access);
}

std::string new_run_id() {
  return base::utc("%Y%m%d-%H%M%S-") + base::sha256_hex(std::to_string(base::random_seed())).substr(0, 6);
}

bool is_run_id(std::string_view text) {
  constexpr std::string_view kForm = "dddddddd-dddddd-hhhhhh";
  if (text.size() != kForm.size()) return false;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const char c = text[i];
    const bool digit = c >= '0' && c <= '9';
    const bool fits = kForm[i] == 'd' ? digit : kForm[i] == 'h' ? digit || (c >= 'a' && c <= 'f') : c == kForm[i];
    if (!fits) return false;
  }
  return true;
}

}  // namespace accelopt::app
