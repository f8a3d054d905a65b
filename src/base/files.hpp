// SPDX-License-Identifier: Apache-2.0
// Files, read and written whole. A write either happens entirely or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace accelopt::base {

/// The file's bytes. @error not_found, permission_denied, io: as the operating system says, with the path.
Result<std::string> read_file(const std::filesystem::path& path);

/// The bytes of a regular file that somebody else made: no symbolic link, nothing that would wait (a FIFO, a device),
/// and not over `most` bytes. @error as read_file; io: it is none of that kind, and what it is.
Result<std::string> read_foreign_file(const std::filesystem::path& path, std::size_t most);

/// Replaces the file through a temporary one beside it and a rename; the parent folder must exist.
/// @error permission_denied, exhausted (disk full), io.
Result<void> write_file(const std::filesystem::path& path, std::string_view bytes);

/// Puts the line and a line end behind what is in the file, or makes the file; several processes may do so at once.
/// What fails leaves the file as it was. @error as write_file.
Result<void> append_line(const std::filesystem::path& path, std::string_view line);

/// Makes the folder and its parents. @error permission_denied, exhausted, io.
Result<void> make_folders(const std::filesystem::path& path);

/// Error code of an errno value: ENOENT not_found, EACCES EPERM EROFS permission_denied, ENOSPC EDQUOT exhausted, else
/// io.
ErrorCode code_of_errno(int number);

/// Whether the errno of flock or fcntl says that a file system has no locks, as NFS and Lustre may: ENOLCK ENOSYS
/// ENOTSUP.
bool is_without_locks(int number);

/// "what: text of errno", with the code of `code_of_errno`.
tl::unexpected<Error> fail_errno(int number, std::string_view what);

/// A file descriptor that closes itself.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { reset(); }
  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] bool valid() const { return descriptor_ >= 0; }
  int release() { return std::exchange(descriptor_, -1); }
  void reset();

 private:
  int descriptor_ = -1;
};

/// Writes all of it there. @error as write_file, with the path.
Result<void> write_all(const FileDescriptor& file, std::string_view bytes, const std::filesystem::path& path);

/// A folder of its own below the system's temporary folder, removed with everything in it at destruction.
/// It is locked (flock) while it is used, so that one that a killed process left behind can be told; its name is of a
/// form that no other program makes.
class TemporaryFolder {
 public:
  /// @error as make_folders.
  static Result<TemporaryFolder> create(std::string_view prefix);
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path);
  std::filesystem::path path_;
  FileDescriptor claim_;
};

/// Whether TemporaryFolder made the folder of that name: "accelopt-build.3f9a0c11-f61f9bc1". Those of versions that did
/// not mark the names of theirs are not told from folders of others.
bool is_temporary_folder_name(std::string_view name);

/// Folders of this user below the system's temporary folder whose names begin with "accelopt-", that TemporaryFolder
/// made, and that nobody uses: their processes were killed at least an hour ago.
std::vector<std::filesystem::path> abandoned_temporary_folders();

}  // namespace accelopt::base
