// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "bundles/bundle.hpp"
#include "evaluation/evaluator.hpp"

namespace accelopt::bundles {

/// How a bundle is executed.
struct BundleExecution {
  /// Makes the evaluator that measures, when the first item is left to do: as the bundle asks for it.
  std::function<base::Result<std::unique_ptr<evaluation::Evaluator>>(const Bundle&)> make_evaluator;
  std::function<worker::Hello()> machine;          ///< what it runs on; asked once the evaluator is open
  std::function<std::string()> now;                ///< UTC, ISO 8601
  std::function<void(const std::string&)> notice;  ///< one line on how far it is; any thread
  std::string program_version;
};

struct BundleReport {
  Bundle bundle;
  std::size_t done_before = 0;  ///< items, in an earlier execution that was interrupted
  std::size_t carried_out = 0;  ///< now
  std::size_t left_out = 0;     ///< now: not worth it, as the bundle's conditions say
};

/// Executes what is left of the bundle in `folder` and writes the results into it, each as soon as there is one.
/// @error as read_bundle and lock_bundle; unsupported: this machine's device or compiler is not the one that the
/// run's earlier results are from, nothing is measured; unavailable: the baseline passed there and does not here;
/// cancelled: what is done is kept, another execution goes on; else as the evaluator, likewise. An invalid_argument of
/// opening the task is the result of a bundle that asks for that, and an error of another.
base::Result<BundleReport> execute_bundle(const std::filesystem::path& folder, const BundleExecution& execution,
                                          std::stop_token stop);

}  // namespace accelopt::bundles
