// SPDX-License-Identifier: Apache-2.0
// The evidence archive of a run as bytes: a plain tar of its task folder, its record, its winner, and a manifest with
// the hash of every member (docs/evidence.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/tar.hpp"
#include "journal/journal.hpp"

namespace accelopt::app {

/// What a run's published numbers rest on. Of the run's settings those of search and measurement; its task has no
/// [entry], which names a file of the user's.
struct Evidence {
  journal::RunInfo run;
  std::vector<journal::StepRecord> steps;  ///< in order of writing
  int schema = 0;                          ///< of the archive; as it is read
};

/// Archives since this version hold the samples of every play-off. Of a run whose record lacks some, because an older
/// accelopt began it, the version before is written.
inline constexpr int kEvidenceWithPlayoffSamples = 2;
/// From this version on all confirmations are judged by how far restarts lie apart, too.
inline constexpr int kEvidenceWithSpreadOfRestarts = 3;

/// Of an archive's members: SHA-256 over the manifest's list of their names, sizes and hashes.
std::string root_hash(const std::vector<base::TarMember>& members);

/// The archive. @error unsupported: the task or the winner cannot be written as files; as base::write_tar.
base::Result<std::string> pack_evidence(const Evidence& evidence);

/// Whether the manifest is the one of these members. @error unsupported: a newer accelopt wrote it; corrupt: members
/// are missing, not listed or of another hash; the message says which.
base::Result<void> check_manifest(const std::vector<base::TarMember>& members);

/// Reads the record. @error corrupt, parse: a member is missing or not of its form; the message says which and why.
base::Result<Evidence> unpack_evidence(const std::vector<base::TarMember>& members);

}  // namespace accelopt::app
