// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "base/hash.hpp"

namespace accelopt::base {

ErrorCode code_of_errno(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::not_found;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::permission_denied;
    case EEXIST:
      return ErrorCode::already_exists;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENOMEM:
      return ErrorCode::exhausted;
    default:
      return ErrorCode::io;
  }
}

bool is_without_locks(int number) {
  return number == ENOLCK || number == ENOSYS || number == ENOTSUP || number == EOPNOTSUPP;
}

tl::unexpected<Error> fail_errno(int number, std::string_view what) {
  return fail(code_of_errno(number), std::string(what) + ": " + std::generic_category().message(number));
}

void FileDescriptor::reset() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    reset();
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

namespace {

/// To the end, or until more than `most` bytes have come.
Result<std::string> read_all(const FileDescriptor& file, const std::filesystem::path& path, std::size_t most) {
  std::string bytes;
  char buffer[65536];
  while (bytes.size() <= most) {
    const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno(errno, "cannot read " + path.string());
    if (count == 0) break;
    bytes.append(buffer, static_cast<std::size_t>(count));
  }
  return bytes;
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return fail_errno(errno, "cannot read " + path.string());
  return read_all(file, path, std::numeric_limits<std::size_t>::max() - 1);
}

Result<std::string> read_foreign_file(const std::filesystem::path& path, std::size_t most) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  const int number = errno;
  const auto refuse = [&](const std::string& why) { return fail(ErrorCode::io, why); };
  if (!file.valid() && number == ELOOP) return refuse("is a symbolic link; put the file itself there");
  if (!file.valid() && (number == ENXIO || number == ENODEV)) return refuse("is no regular file; put one there");
  if (!file.valid()) return fail_errno(number, "cannot read " + path.string());
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return fail_errno(errno, "cannot read " + path.string());
  if (!S_ISREG(facts.st_mode)) return refuse("is no regular file; put one there");
  const std::string too_large = "has more than " + std::to_string(most >> 10) + " KiB, which is the most; shorten it";
  if (facts.st_size < 0 || static_cast<std::uintmax_t>(facts.st_size) > most) return refuse(too_large);
  TRY_ASSIGN(std::string bytes, read_all(file, path, most));
  if (bytes.size() > most) return refuse(too_large);
  return bytes;
}

Result<void> write_all(const FileDescriptor& file, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno(errno, "cannot write " + path.string());
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<void> write_file(const std::filesystem::path& path, std::string_view bytes) {
  // Not mkostemp and fchmod: to ask for the process's umask is to set it, for all threads.
  std::string beside;
  FileDescriptor file;
  do {
    beside = fmt::format("{}.{:06x}", path.string(), random_seed() & 0xffffff);
    file = FileDescriptor(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  } while (!file.valid() && errno == EEXIST);
  if (!file.valid()) return fail_errno(errno, "cannot write " + path.string());
  auto written = write_all(file, bytes, path);
  if (written && ::rename(beside.c_str(), path.c_str()) != 0)
    written = fail_errno(errno, "cannot write " + path.string());
  if (!written) ::unlink(beside.c_str());
  return written;
}

Result<void> append_line(const std::filesystem::path& path, std::string_view line) {
  const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!file.valid()) return fail_errno(errno, "cannot write " + path.string());
  while (::flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return fail_errno(errno, "cannot write " + path.string());
  }
  const off_t before = ::lseek(file.get(), 0, SEEK_END);
  char last = '\n';
  if (before > 0 && ::pread(file.get(), &last, 1, before - 1) != 1) last = '\n';
  const std::string text = (last == '\n' ? "" : "\n") + std::string(line) + "\n";
  auto written = write_all(file, text, path);
  if (!written) static_cast<void>(::ftruncate(file.get(), before));
  return written;
}

Result<void> make_folders(const std::filesystem::path& path) {
  std::error_code problem;
  std::filesystem::create_directories(path, problem);
  if (problem) return fail_errno(problem.value(), "cannot make folder " + path.string());
  return {};
}

namespace {

std::filesystem::path temporary_root() {
  std::error_code problem;
  std::filesystem::path root = std::filesystem::temp_directory_path(problem);
  return problem ? "/tmp" : root;
}

FileDescriptor open_folder(const std::filesystem::path& folder) {
  return FileDescriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// What follows the dash in "accelopt-build.3f9a0c11-f61f9bc1": a hash of what precedes it. The name alone says who
/// made the folder, on every file system, and nothing lies in the folder that was not asked for.
std::string seal_of(std::string_view name) {
  constexpr std::size_t kDigits = 8;
  return sha256_hex("accelopt temporary folder " + std::string(name)).substr(0, kDigits);
}

/// What is young may be claimed in a moment.
bool is_abandoned(const std::filesystem::path& path) {
  constexpr std::chrono::hours kYoung{1};
  const FileDescriptor folder = open_folder(path);
  struct stat facts {};
  if (!folder.valid() || ::fstat(folder.get(), &facts) != 0 || facts.st_uid != ::geteuid()) return false;
  const auto changed = std::chrono::system_clock::from_time_t(facts.st_mtime);
  if (std::chrono::system_clock::now() - changed < kYoung) return false;
  return ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0;
}

}  // namespace

TemporaryFolder::TemporaryFolder(std::filesystem::path path) : path_(std::move(path)), claim_(open_folder(path_)) {
  if (claim_.valid()) static_cast<void>(::flock(claim_.get(), LOCK_EX | LOCK_NB));
}

Result<TemporaryFolder> TemporaryFolder::create(std::string_view prefix) {
  constexpr int kMostTries = 100;
  constexpr std::size_t kRandomDigits = 8;
  const std::filesystem::path root = temporary_root();
  for (int tries = 1;; ++tries) {
    std::string name = std::string(prefix) + "." + sha256_hex(std::to_string(random_seed())).substr(0, kRandomDigits);
    name += "-" + seal_of(name);
    const std::filesystem::path path = root / name;
    if (::mkdir(path.c_str(), S_IRWXU) == 0) return TemporaryFolder(path);
    if (errno != EEXIST || tries == kMostTries)
      return fail_errno(errno, "cannot make a temporary folder " + path.string());
  }
}

bool is_temporary_folder_name(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  return dash != std::string_view::npos && name.substr(dash + 1) == seal_of(name.substr(0, dash));
}

std::vector<std::filesystem::path> abandoned_temporary_folders() {
  std::vector<std::filesystem::path> list;
  std::error_code problem;
  for (std::filesystem::directory_iterator entry(temporary_root(), problem), end; !problem && entry != end;
       entry.increment(problem)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with("accelopt-") && is_temporary_folder_name(name) && is_abandoned(entry->path()))
      list.push_back(entry->path());
  }
  return list;
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), claim_(std::move(other.claim_)) {}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(claim_, other.claim_);
  return *this;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace accelopt::base
