// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/tool_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <system_error>
#include <vector>

namespace accelopt::devices::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kToolPrefix = "accelopt-tools";

/// One's own, with something in it, and locked by nobody: a temporary folder is locked as long as it is in use, and
/// here before anything comes into it.
bool is_abandoned(const fs::path& folder) {
  const base::FileDescriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!descriptor.valid() || ::fstat(descriptor.get(), &status) != 0 || status.st_uid != ::geteuid()) return false;
  std::error_code problem;
  return ::flock(descriptor.get(), LOCK_EX | LOCK_NB) == 0 && !fs::is_empty(folder, problem) && !problem;
}

}  // namespace

base::Result<base::TemporaryFolder> make_tool_folder() {
  TRY_ASSIGN(base::TemporaryFolder folder, base::TemporaryFolder::create(kToolPrefix));
  // Empty ones are left alone, as they may be just made: from here on this one is none of them.
  TRY(base::write_file(folder.path() / "in-use", ""));
  return folder;
}

void remove_abandoned_tool_folders() {
  const std::string prefix = std::string(kToolPrefix) + ".";
  std::vector<fs::path> abandoned;
  std::error_code problem;
  const fs::path temporary = fs::temp_directory_path(problem);
  for (fs::directory_iterator entry(temporary, problem), end; !problem && entry != end; entry.increment(problem)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(prefix) && base::is_temporary_folder_name(name) && is_abandoned(entry->path()))
      abandoned.push_back(entry->path());
  }
  for (const fs::path& folder : abandoned) fs::remove_all(folder, problem);
}

}  // namespace accelopt::devices::cuda
