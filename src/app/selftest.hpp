// SPDX-License-Identifier: Apache-2.0
// Tries every attack that is known, and honest kernels beside them, on this machine through the real worker.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/device.hpp"
#include "app/selftest_suite.hpp"
#include "model/evaluation.hpp"

namespace accelopt::app {

struct SelftestRequest {
  std::vector<std::string> only{};      ///< names of kernels; none: all
  std::string exploits{};               ///< folder with tasks/, attacks/ and honest/; empty: what is built in
  std::optional<std::uint64_t> seed{};  ///< of the inputs; none: drawn
  DeviceFlags device{};
};

/// What became of one kernel.
struct SelftestOutcome {
  const SelftestKernel& kernel;
  model::Evaluation evaluation{};
  bool skipped = false;
  bool as_it_should = false;
  std::string note{};  ///< why it is not as it should be, or why it was skipped
};

struct SelftestTally {
  int caught = 0;
  int attacks = 0;
  int passed = 0;
  int honest = 0;
  int skipped = 0;
  double seconds = 0;

  [[nodiscard]] bool all() const { return caught == attacks && passed == honest; }
};

/// The kernels that are asked for. @error as builtin_selftest and load_selftest; not_found: no kernel of such a name.
base::Result<SelftestSuite> selftest_suite(const SelftestRequest& request);

/// Judges them all; every outcome is told when it is there.
/// @error as make_evaluator and evaluation::judge; unavailable: a task's baseline fails.
base::Result<SelftestTally> run_selftest(const Shell& shell, const SelftestRequest& request, const SelftestSuite& suite,
                                         const std::function<void(const SelftestOutcome&)>& told);

// The objects of docs/json.md.
base::Json to_json(const SelftestOutcome& outcome);
base::Json to_json(const SelftestTally& tally);

}  // namespace accelopt::app
