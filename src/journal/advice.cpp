// SPDX-License-Identifier: Apache-2.0
#include "journal/advice.hpp"

namespace accelopt::journal {

base::Error advised(base::Error error) {
  if (error.code == base::ErrorCode::permission_denied)
    error.message += "; make it writable, or choose another workspace with --workspace DIR";
  if (error.code == base::ErrorCode::exhausted)
    error.message += "; free space on this disk, then resume: nothing that was recorded is lost";
  if (error.code == base::ErrorCode::io) error.message += "; check this disk, then resume";
  return error;
}

}  // namespace accelopt::journal
