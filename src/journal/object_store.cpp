// SPDX-License-Identifier: Apache-2.0
#include "journal/object_store.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <system_error>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "journal/advice.hpp"

namespace accelopt::journal {

using base::ErrorCode;
using base::fail;
using base::Result;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kHashDigits = 64;

bool is_hash(std::string_view text) {
  return text.size() == kHashDigits && std::all_of(text.begin(), text.end(), [](char letter) {
           return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
         });
}

class FileObjects final : public ObjectStore {
 public:
  FileObjects(fs::path folder, Access access) : folder_(std::move(folder)), access_(access) {}

  Result<std::string> put(std::string_view bytes) override {
    std::string hash = base::sha256_hex(bytes);
    const fs::path file = path_of(hash);
    if (access_ == Access::read_only) {
      return fail(ErrorCode::permission_denied, file.string() + ": the journal was opened for reading only");
    }
    std::error_code problem;
    // A file of another size was cut short by a power failure: it is written again.
    if (fs::file_size(file, problem) == bytes.size() && !problem) return hash;
    auto written = base::write_file(file, bytes);
    if (!written && written.error().code == ErrorCode::not_found) {
      if (const auto made = base::make_folders(file.parent_path()); !made)
        return tl::make_unexpected(advised(made.error()));
      written = base::write_file(file, bytes);
    }
    if (written) return hash;
    return tl::make_unexpected(advised(written.error()));
  }

  Result<std::string> get(std::string_view sha256) override {
    const auto absent = [&] {
      return fail(ErrorCode::not_found, folder_.string() + ": holds no object " + std::string(sha256));
    };
    if (!is_hash(sha256)) return absent();
    const fs::path file = path_of(sha256);
    auto bytes = base::read_file(file);
    if (!bytes && bytes.error().code == ErrorCode::not_found) return absent();
    if (bytes && base::sha256_hex(*bytes) != sha256) {
      return fail(ErrorCode::corrupt,
                  file.string() + ": its contents are not those that its name stands for; restore it from a copy");
    }
    return bytes;
  }

 private:
  [[nodiscard]] fs::path path_of(std::string_view hash) const { return folder_ / hash.substr(0, 2) / hash.substr(2); }

  fs::path folder_;
  Access access_;
};

class MemoryObjects final : public ObjectStore {
 public:
  Result<std::string> put(std::string_view bytes) override {
    std::string hash = base::sha256_hex(bytes);
    const std::lock_guard lock(mutex_);
    objects_.emplace(hash, bytes);
    return hash;
  }

  Result<std::string> get(std::string_view sha256) override {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(sha256);
    if (found == objects_.end()) {
      return fail(ErrorCode::not_found, "the journal in memory holds no object " + std::string(sha256));
    }
    return found->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> objects_;
};

}  // namespace

std::unique_ptr<ObjectStore> make_file_objects(fs::path folder, Access access) {
  return std::make_unique<FileObjects>(std::move(folder), access);
}

std::unique_ptr<ObjectStore> make_memory_objects() {
  return std::make_unique<MemoryObjects>();
}

}  // namespace accelopt::journal
