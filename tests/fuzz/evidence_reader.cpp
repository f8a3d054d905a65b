// SPDX-License-Identifier: Apache-2.0
#include "app/evidence_archive.hpp"
#include "base/tar.hpp"
#include "fuzz/readers.hpp"

namespace accelopt::fuzz {

std::string read_evidence(std::string_view input) {
  const auto members = base::read_tar(input);
  if (!members) return members.error().message;
  // What hashes refuse is read all the same: whoever forges an archive computes them anew.
  const auto manifest = app::check_manifest(*members);
  const auto evidence = app::unpack_evidence(*members);
  return (manifest ? "taken" : manifest.error().message) + (evidence ? "; taken" : "; " + evidence.error().message);
}

}  // namespace accelopt::fuzz
