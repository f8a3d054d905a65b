// SPDX-License-Identifier: Apache-2.0
#include "base/output_file.hpp"

#include <fcntl.h>

#include <cerrno>

#include "base/files.hpp"

namespace accelopt::base {
namespace {

namespace fs = std::filesystem;

/// Links that lead to each other.
constexpr int kMostLinks = 40;

Result<void> write_through(const fs::path& output, std::string_view bytes) {
  const FileDescriptor file(::open(output.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY));
  if (!file.valid()) return fail_errno(errno, "cannot write " + output.string());
  return write_all(file, bytes, output);
}

/// "/dev/stdout", "/dev/fd/3": what the descriptor leads to is another program's as well.
bool is_descriptor(fs::path file) {
  std::error_code problem;
  for (int i = 0; i < kMostLinks && fs::is_symlink(file, problem); ++i) {
    const fs::path folder = fs::weakly_canonical(file.parent_path(), problem);
    if (folder.string().starts_with("/proc/") && folder.filename() == "fd") return true;
    const fs::path next = fs::read_symlink(file, problem);
    file = next.is_absolute() ? next : file.parent_path() / next;
  }
  return false;
}

}  // namespace

Result<fs::path> without_links(fs::path file) {
  std::error_code problem;
  for (int i = 0; i < kMostLinks; ++i) {
    if (!fs::is_symlink(file, problem)) return file;
    const fs::path next = fs::read_symlink(file, problem);
    if (problem) return fail_errno(problem.value(), "cannot read the link " + file.string());
    file = next.is_absolute() ? next : file.parent_path() / next;
  }
  return fail(ErrorCode::invalid_argument, file.string() + ": links that lead to each other; name a file");
}

Result<void> write_output(const fs::path& output, std::string_view bytes) {
  std::error_code problem;
  const fs::file_status status = fs::status(output, problem);
  if (fs::is_directory(status))
    return fail(ErrorCode::invalid_argument, output.string() + ": is a folder; name a file in it");
  if (fs::is_block_file(status)) return fail(ErrorCode::invalid_argument, output.string() + ": is a disk; name a file");
  if ((fs::exists(status) && !fs::is_regular_file(status)) || is_descriptor(output))
    return write_through(output, bytes);
  TRY_ASSIGN(const fs::path file, without_links(output));
  return write_file(file, bytes);
}

}  // namespace accelopt::base
