// SPDX-License-Identifier: Apache-2.0
#include "evaluation/judge.hpp"

#include <utility>

#include "evaluation/bench.hpp"
#include "model/stages.hpp"

namespace accelopt::evaluation {
namespace {

using base::Outcome;
using base::Result;
using model::Evaluation;
using model::Status;

/// Largest source of a model that is worth a compiler's time, bytes.
constexpr std::size_t kLargestSource = std::size_t{256} << 10;

/// Its comparison with the opponent that it was raced against says nothing of another one; its times hold.
void forget_opponent(Evaluation& evaluation) {
  evaluation.verdict = model::Verdict::none;
  evaluation.ratio.reset();
  if (evaluation.status == Status::passed) evaluation.reason.clear();
  for (model::WorkloadTiming& workload : evaluation.workloads) {
    workload.ratio.reset();
    workload.reference_ns.reset();
    workload.reference_peak_bytes.reset();
  }
}

/// A tripwire for what no compiler needs to see; not a verdict on intent.
std::string refuse_text(const std::string& text) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return "the source is empty";
  if (text.find('\0') != std::string::npos) return "the source holds a NUL byte";
  return text.size() > kLargestSource ? "the source is larger than 256 KiB" : "";
}

class Judging {
 public:
  Judging(Evaluator& evaluator, const model::Kernel& candidate, const model::Kernel& opponent,
          const JudgeOptions& options)
      : evaluator_(evaluator), candidate_(candidate), opponent_(opponent), options_(options) {}

  Outcome<Judgement> run() {
    TRY(measure());
    TRY(settle());
    return std::move(out_);
  }

 private:
  Outcome<void> measure() {
    if (options_.known != nullptr) {
      const std::string refused = refuse_text(model::changeable_text(candidate_.solution()));
      if (!refused.empty()) return does_not_compile(refused);
      if (is_known(candidate_.id(), options_.known->opponent, options_.known->by_source)) return {};
    }
    TRY(begin(JudgeStep::build));
    out_.build = options_.build;
    if (!out_.build) {
      TRY_ASSIGN(out_.build, evaluator_.ask(Build{candidate_}, options_.stop));
    }
    if (!out_.build->built) return does_not_compile(out_.build->diagnostics);
    if (options_.opened != nullptr && options_.opened->status == Status::not_measured) return built_alone();
    if (is_known_code(out_.build->machine_code_id)) return {};
    TRY(race());
    if (out_.known) return {};
    if (options_.confirm && passed()) TRY(confirm());
    if (options_.profile && passed()) TRY(profile());
    return {};
  }

  Outcome<void> does_not_compile(const std::string& diagnostics) {
    Evaluation& failed = out_.evaluation;
    failed.status = Status::compile_error;
    failed.reason = diagnostics;
    if (options_.opened == nullptr) return {};
    failed.trust = options_.opened->trust;
    failed.environment = options_.opened->environment;
    return {};
  }

  /// What a machine that builds and cannot run tells of a kernel: that it builds, and what the compiler remarks.
  Outcome<void> built_alone() {
    out_.evaluation = *options_.opened;
    out_.evaluation.stages.clear();
    out_.evaluation.machine_code_id = out_.build->machine_code_id;
    out_.evaluation.profile = model::Profile{{}, out_.build->remarks};
    return {};
  }

  Outcome<void> race() {
    TRY(begin(JudgeStep::race));
    TRY_ASSIGN(out_.evaluation, evaluator_.ask(Race{candidate_, opponent_}, options_.stop));
    Evaluation& raced = out_.evaluation;
    if (!raced.tuning) raced.machine_code_id = out_.build->machine_code_id;
    TRY(choose());
    if (out_.chosen && is_known_code(raced.machine_code_id)) return {};
    const bool same = options_.opened != nullptr && raced.machine_code_id == options_.opened->machine_code_id;
    if (!passed() || !same || raced.machine_code_id.empty()) return {};
    raced.verdict = model::Verdict::tie;  // one session in a hundred or so would find a difference
    const std::string seen = raced.reason.empty() ? "" : "; " + raced.reason;  // who disturbed it
    raced.reason = is_modelled(raced)
                       ? "the same instructions as the baseline"
                       : "the same machine code as the baseline: a difference is this machine's noise" + seen;
    return {};
  }

  /// The tuning and the stages of the race stay.
  Outcome<void> confirm() {
    TRY(begin(JudgeStep::confirm));
    Evaluation raced = std::move(out_.evaluation);
    TRY_ASSIGN(out_.evaluation, evaluator_.ask(Confirm{kernel()}, options_.stop));
    out_.evaluation.tuning = std::move(raced.tuning);
    out_.evaluation.stages.insert(out_.evaluation.stages.begin(), raced.stages.begin(), raced.stages.end());
    return {};
  }

  Outcome<void> profile() {
    TRY(begin(JudgeStep::profile));
    TRY_ASSIGN(out_.evaluation.profile, evaluator_.ask(Profile{kernel()}, options_.stop));
    model::take_failure(out_.evaluation);
    return {};
  }

  /// The configuration that tuning chose: now, or when the same source was judged before.
  Result<void> choose() {
    const auto& tuning = out_.evaluation.tuning;
    if (!tuning || !tuning->chosen || tuning->source_id != candidate_.id()) return {};
    out_.chosen = candidate_.with_values(*tuning->chosen);
    if (out_.chosen) return {};
    return base::fail(base::ErrorCode::parse, "as many values must be chosen as the candidate leaves open");
  }

  Outcome<void> settle() {
    if (!out_.chosen) TRY(choose());
    out_.evaluation.source_id = kernel().id();
    if (!out_.build || out_.known) return {};
    auto& stages = out_.evaluation.stages;
    // Races and confirmations look the build up, and some workers tell that as a stage.
    std::erase_if(stages, [](const model::StageTime& stage) { return stage.stage == model::Stage::build; });
    stages.insert(stages.begin(), {model::Stage::build, out_.build->seconds});
    return {};
  }

  bool is_known_code(const std::string& machine_code_id) {
    return options_.known != nullptr &&
           is_known(machine_code_id, options_.known->opponent_code, options_.known->by_machine_code);
  }

  /// Makes the evaluation that of the same program, where there is one. What its own tuning found out stays.
  bool is_known(const std::string& id, const std::string& opponents, const KnownEvaluations& earlier) {
    const auto found = earlier.find(id);
    if (id != opponents && found == earlier.end()) return false;
    Evaluation same = id == opponents ? same_as_opponent() : *found->second;
    if (out_.evaluation.tuning) same.tuning = std::move(out_.evaluation.tuning);
    if (id != opponents) same.duplicate_of = same.source_id;
    if (same.opponent != options_.known->opponent) forget_opponent(same);
    same.samples.clear();
    same.stages.clear();
    out_.evaluation = std::move(same);
    out_.known = true;
    return true;
  }

  [[nodiscard]] Evaluation same_as_opponent() const {
    Evaluation same;
    same.status = Status::passed;
    same.verdict = model::Verdict::tie;
    same.ratio = model::Interval{1, 1, 1};
    same.reason = "the same program as its parent";
    same.opponent = options_.known->opponent;
    same.machine_code_id = options_.known->opponent_code;
    same.duplicate_of = options_.known->opponent;
    return same;
  }

  [[nodiscard]] const model::Kernel& kernel() const { return out_.chosen ? *out_.chosen : candidate_; }
  [[nodiscard]] bool passed() const { return out_.evaluation.status == Status::passed; }

  Outcome<void> begin(JudgeStep step) { return options_.begin ? options_.begin(step) : Outcome<void>(); }

  Evaluator& evaluator_;
  const model::Kernel& candidate_;
  const model::Kernel& opponent_;
  const JudgeOptions& options_;
  Judgement out_;
};

}  // namespace

Outcome<Judgement> judge(Evaluator& evaluator, const model::Kernel& candidate, const model::Kernel& opponent,
                         const JudgeOptions& options) {
  return Judging(evaluator, candidate, opponent, options).run();
}

}  // namespace accelopt::evaluation
