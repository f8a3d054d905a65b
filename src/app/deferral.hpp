// SPDX-License-Identifier: Apache-2.0
// A run whose evaluations travel: what its journal knows of bundles, taking in what came back, and writing the next.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/builds_here.hpp"
#include "app/device.hpp"
#include "base/result.hpp"
#include "bundles/deferred_evaluator.hpp"
#include "journal/journal.hpp"

namespace accelopt::app {

/// One run's bundles. The journal keeps which were written, which came back, and every answer in them, so a bundle's
/// folder is of no further use once it was taken in.
class Deferral {
 public:
  using Notice = std::function<void(const std::string&)>;
  enum class Rewrite { no, yes };

  /// Reads what the journal knows. Both outlive it.
  static base::Result<std::unique_ptr<Deferral>> open(journal::Journal& journal, const journal::RunInfo& run);
  Deferral(const Deferral&) = delete;
  Deferral& operator=(const Deferral&) = delete;

  /// Takes in the results of the bundles that are on their way, looked for where they were written, and of those in
  /// `returned` (a bundle's folder or one that holds several), if that is not empty. Says what it did through `notice`.
  /// Gives the seconds that the device worked for what was taken in.
  /// @error not_found: nothing is in `returned`; invalid_argument: a bundle of another run; corrupt, unsupported: its
  /// results are damaged or of another environment. Nothing of a refused bundle is taken in.
  /// With `rewrite`, bundles that are not where they were written are given up: what they hold goes into the next one.
  base::Result<double> take_in(const std::filesystem::path& returned, Rewrite rewrite, const Notice& notice);

  /// Kernels that do not build here, by the device's own toolchain, are answered here.
  void compile_here(std::unique_ptr<BuildsHere> builds) { builds_here_ = std::move(builds); }

  /// The evaluator of the run: answers what came back and puts off the rest. Lives as long as this.
  bundles::DeferredEvaluator& evaluator();

  /// Writes what the evaluator put off as the next bundle into `folder`, if that is anything. @error as write_bundle,
  /// and the journal's.
  base::Result<void> write(const std::filesystem::path& folder, const DeviceFlags& device,
                           const evaluation::MeasureSettings& settings);

  /// Builds that were put into bundles and are not on record as steps of the run yet.
  [[nodiscard]] int builds_put_off() const;

  /// What is on its way, with the commands that execute it. Empty: nothing is.
  [[nodiscard]] std::string next_step() const;
  /// Folders of the bundles that are on their way.
  [[nodiscard]] std::vector<std::string> under_way() const;

 private:
  struct Written {
    std::string id;
    int number = 0;
    std::string folder;
    std::vector<std::string> items;
    int builds = 0;  ///< of them
    bool given_up = false;
  };

  Deferral(journal::Journal& journal, const journal::RunInfo& run) : journal_(journal), run_(run) {}
  base::Result<void> read_journal();
  base::Result<double> take_in_bundle(const Written& written, const std::filesystem::path& folder, Rewrite rewrite,
                                      const Notice& notice);
  [[nodiscard]] std::vector<Written> open() const;
  /// With a bundle's id it takes the place of what another bundle left of that kind.
  base::Result<void> record(const std::string& kind, const base::Json& output, std::chrono::milliseconds duration = {},
                            const std::string& bundle = "");
  base::Result<void> keep_answer(const std::string& request, const std::string& op, const bundles::Outcome& outcome,
                                 const base::Json& environment, const std::string& bundle);

  /// As bundles::DeferredPorts::failed_build.
  base::Result<std::optional<base::Json>> failed_build(const model::Kernel& kernel, const std::stop_token& stop);
  /// What opening the task found; none: it did not come back yet, or the task could not be opened.
  [[nodiscard]] base::Result<std::optional<evaluation::OpenReport>> opened() const;

  journal::Journal& journal_;
  const journal::RunInfo& run_;
  std::map<std::string, Written> written_;  ///< by id
  std::set<std::string> taken_;             ///< ids
  std::set<std::string> under_way_;         ///< request ids
  std::set<std::string> asked_again_;       ///< request ids: an error is on record
  int builds_on_record_ = 0;
  int failed_here_ = 0;       ///< of them, builds that were in no bundle
  mutable std::mutex mutex_;  ///< guards answers_, which failed builds add to from any thread
  std::unique_ptr<BuildsHere> builds_here_;
  std::map<std::string, bundles::TakenIn> answers_;
  std::unique_ptr<bundles::DeferredEvaluator> evaluator_;
};

}  // namespace accelopt::app
