// SPDX-License-Identifier: Apache-2.0
// How often a model is right as a reviewer: asked about the bundled pairs, its objections run.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/review.hpp"
#include "review/calibration_set.hpp"
#include "review/rates.hpp"

namespace accelopt::app {

/// One side of a pair: a change that is known to be clean, or to have a defect.
struct CalibratedChange {
  std::optional<review::Opinion> opinion;  ///< none: it could not be read
  std::vector<JudgedObjection> objections;
  [[nodiscard]] bool stopped() const;
  /// It was objected to, or an item about correctness got at most 1 of 4.
  [[nodiscard]] bool doubted() const;
};

struct CalibratedPair {
  std::string name;
  std::string kind;
  CalibratedChange clean;
  CalibratedChange planted;
  review::PairOutcome preference;  ///< first: the clean one
  review::Bait bait = review::Bait::dead_code;
  review::PairOutcome baited;  ///< of the clean change and the same with bait; second: with bait
};

struct Calibration {
  review::Rates rates;
  review::Standing standing;
  std::vector<CalibratedPair> pairs;
};
void to_json(base::Json& out, const Calibration& calibration);

/// The rates that follow from what was answered.
review::Rates rates_of(const std::vector<CalibratedPair>& pairs);

struct CalibrationOptions {
  std::size_t pairs = 60;  ///< at most
  std::filesystem::path workspace;
  std::vector<std::filesystem::path> tools{};
  std::function<void(const std::string&)> step = [](const std::string&) {};
};
/// Asks six questions for each pair, runs objections, and enters the rates into the workspace.
/// @error unsupported: this machine cannot keep programs in; not_found: python3, node or a C compiler is missing; as
/// connect_reviewer, ChatModel::chat. Put off: answers are missing in the mailbox.
base::Outcome<Calibration> calibrate_reviewer(const Shell& shell, const CalibrationOptions& options,
                                              const AgentFlags& flags, const Config& config);

/// The three sides of a pair, laid out and built as soon as inputs are to be run on them.
class PairBench {
 public:
  enum class Side { clean, planted };
  /// @error unsupported, io, cancelled.
  static base::Result<std::unique_ptr<PairBench>> create(const review::CalibrationPair& pair,
                                                         const std::vector<std::filesystem::path>& tools,
                                                         const std::stop_token& stop);
  /// Runs it on the base and on a side. @error invalid_argument: a side does not build; not_found, cancelled, io.
  base::Result<refactor::ProbeResult> probe(Side side, const refactor::Probe& probe);
  [[nodiscard]] const refactor::Task& task() const { return task_; }

 private:
  PairBench(base::TemporaryFolder own, const review::CalibrationPair& pair) : own_(std::move(own)), pair_(pair) {}
  /// The tree of this name, which holds the text. @error as probe.
  base::Result<std::filesystem::path> tree_with(const char* name, const std::string& text);

  base::TemporaryFolder own_;
  review::CalibrationPair pair_;
  refactor::Task task_;
  std::optional<refactor::Jail> jail_;
  std::optional<refactor::Driver> driver_;
  refactor::KnownProbes known_;
};

}  // namespace accelopt::app
