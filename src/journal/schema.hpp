// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "journal/database_file.hpp"

namespace accelopt::journal {

/// The journal's tables and their version.
extern const FileFormat kJournalFormat;

}  // namespace accelopt::journal
