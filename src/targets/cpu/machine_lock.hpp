// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/files.hpp"
#include "base/result.hpp"

namespace accelopt::targets::cpu {

/// The lock that keeps two measurements on one machine apart. Shared by all its users; held a block at a time.
class MachineLock {
 public:
  /// Opens the lock's file, making it when it is not there. @error permission_denied, io.
  static base::Result<MachineLock> open();
  /// Opens another file, for tests.
  static base::Result<MachineLock> open_at(const std::string& path);
  void acquire() const;
  void release() const;

 private:
  explicit MachineLock(base::FileDescriptor file) : file_(std::move(file)) {}
  base::FileDescriptor file_;
};

}  // namespace accelopt::targets::cpu
