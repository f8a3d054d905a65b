// SPDX-License-Identifier: Apache-2.0
#include "vcs/git.hpp"

namespace accelopt::vcs {
namespace {

namespace fs = std::filesystem;
using base::Result;

constexpr std::uintmax_t kMostBytes = 2ULL << 30;
constexpr std::size_t kBatch = 512;  ///< objects read at once

Result<void> write_entry(const fs::path& path, EntryKind kind, const std::string& bytes) {
  TRY(base::make_folders(path.parent_path()));
  std::error_code failed;
  if (kind == EntryKind::link) {
    fs::create_symlink(bytes, path, failed);
  } else {
    TRY(base::write_file(path, bytes));
    const auto mode = kind == EntryKind::executable ? fs::perms(0755) : fs::perms(0644);
    fs::permissions(path, mode, failed);
  }
  if (failed) return base::fail_errno(failed.value(), path.string());
  return {};
}

}  // namespace

Result<void> lay_out(const Repository& repository, const Listing& listing, const fs::path& folder) {
  std::vector<std::pair<std::string, EntryKind>> places;
  std::vector<std::string> objects;
  // Links last: nothing may be written through one.
  for (const bool links : {false, true}) {
    for (const auto& [path, entry] : listing) {
      if (entry.kind == EntryKind::submodule || (entry.kind == EntryKind::link) != links) continue;
      places.emplace_back(path, entry.kind);
      objects.push_back(entry.object);
    }
  }
  std::uintmax_t bytes = 0;
  for (std::size_t first = 0; first < objects.size(); first += kBatch) {
    const std::size_t last = std::min(objects.size(), first + kBatch);
    TRY_ASSIGN(const auto texts, repository.contents({objects.begin() + static_cast<std::ptrdiff_t>(first),
                                                      objects.begin() + static_cast<std::ptrdiff_t>(last)}));
    for (std::size_t i = 0; i < texts.size(); ++i) {
      bytes += texts[i].size();
      if (bytes > kMostBytes)
        return base::fail(base::ErrorCode::exhausted, "the commit's files are over 2 GiB, too much to lay out");
      TRY(write_entry(folder / places[first + i].first, places[first + i].second, texts[i]));
    }
  }
  return {};
}

std::string describe_submodules(const Listing& listing) {
  std::string names;
  for (const auto& [path, entry] : listing) {
    if (entry.kind == EntryKind::submodule) names += (names.empty() ? "" : ", ") + path;
  }
  return names.empty() ? "" : "submodules are left out: " + names;
}

Result<void> copy_tree(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::create_directories(to, failed);
  fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks, failed);
  if (failed) return base::fail_errno(failed.value(), "copying " + from.string());
  return {};
}

}  // namespace accelopt::vcs
