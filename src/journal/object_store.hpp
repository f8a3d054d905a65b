// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "journal/journal.hpp"

namespace accelopt::journal {

/// Bytes by their SHA-256. May be used from many threads, and a folder of them from many processes.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  /// Keeps the bytes and gives their SHA-256. @error permission_denied, exhausted, io.
  virtual base::Result<std::string> put(std::string_view bytes) = 0;
  /// @error not_found; corrupt: what is there has another hash; permission_denied, io.
  virtual base::Result<std::string> get(std::string_view sha256) = 0;
};

/// Files folder/ab/cdef..., each written atomically.
std::unique_ptr<ObjectStore> make_file_objects(std::filesystem::path folder, Access access);

std::unique_ptr<ObjectStore> make_memory_objects();

}  // namespace accelopt::journal
