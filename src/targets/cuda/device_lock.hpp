// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/files.hpp"
#include "base/result.hpp"

namespace accelopt::targets::cuda {

/// Keeps two measurements on one device apart, whoever makes them. Holds nest.
class DeviceLock {
 public:
  /// @error permission_denied, io: its file can be neither opened nor made.
  static base::Result<DeviceLock> open(const std::string& uuid);
  void acquire();
  void release();

 private:
  explicit DeviceLock(base::FileDescriptor file) : file_(std::move(file)) {}
  base::FileDescriptor file_;
  int depth_ = 0;
};

}  // namespace accelopt::targets::cuda
