// SPDX-License-Identifier: Apache-2.0
#include "suites/foreign_files.hpp"

#include <algorithm>
#include <cctype>
#include <system_error>

#include "base/problem.hpp"
#include "base/text.hpp"

namespace accelopt::suites {

namespace fs = std::filesystem;
using base::in_quotes;

base::Result<fs::path> file_in(const fs::path& folder, const std::string& path) {
  const std::string shown = in_quotes(base::ascii_line(path, 300));
  const auto refuse = [&](const std::string& why) {
    return base::fail(base::ErrorCode::permission_denied, shown + " " + why);
  };
  const fs::path relative(path);
  if (relative.is_absolute()) return refuse("is an absolute path; paths begin from the dataset's folder");
  fs::path place = folder;
  for (const fs::path& part : relative) {
    if (part == "..") return refuse("leaves the dataset's folder");
    if (part == "." || part.empty()) continue;
    place /= part;
    std::error_code problem;
    const fs::file_status status = fs::symlink_status(place, problem);
    if (fs::is_symlink(status)) return refuse("passes a symbolic link; put what it leads to there");
    if (!fs::exists(status)) return base::fail(base::ErrorCode::not_found, shown + " is not there");
  }
  return place;
}

bool is_folder_name(const std::string& name) {
  const auto fits = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '-' || letter == '.';
  };
  return !name.empty() && name.size() <= 160 && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), fits);
}

std::string no_place_for_task(const fs::path& folder, OldFiles old) {
  std::error_code ignored;
  if (old == OldFiles::refuse && fs::exists(folder, ignored) && !fs::is_empty(folder, ignored))
    return folder.string() + " is not empty; name another folder, or add --force";
  fs::path link;
  if (fs::is_symlink(folder, ignored)) link = folder;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    if (entry.is_symlink(ignored)) link = entry.path();
  }
  return link.empty() ? ""
                      : link.string() + " is a symbolic link, and what is written there might lie anywhere; remove it";
}

}  // namespace accelopt::suites
