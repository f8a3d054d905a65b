// SPDX-License-Identifier: Apache-2.0
#include "app/verification.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "app/recorded_numbers.hpp"
#include "app/replay.hpp"
#include "model/kernel.hpp"
#include "report/format.hpp"

namespace accelopt::app {
namespace {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;
using model::StepKind;

std::string short_id(std::string_view id) {
  return std::string(id.substr(0, 12));
}

/// One archive on its way through the checks.
class Verifier {
 public:
  explicit Verifier(const search::Stops& stops) : stops_(stops) {}

  Result<Verification> verify(std::string_view archive) {
    if (!check("archive", read(archive))) return std::move(out_);
    const auto manifest = check_manifest(members_);
    if (!manifest && manifest.error().code == ErrorCode::unsupported) return tl::make_unexpected(manifest.error());
    if (!check("hashes",
               said(manifest, fmt::format("SHA-256 of {} members; root {}", members_.size() - 1, root_hash(members_)))))
      return std::move(out_);
    out_.root = root_hash(members_);
    if (!check("record", read_record())) return std::move(out_);
    check("sources", check_sources());
    check("numbers", check_numbers());
    auto replayed = replay();
    if (!replayed && replayed.error().code == ErrorCode::cancelled) return tl::make_unexpected(replayed.error());
    check("result", replayed ? check_result(*replayed) : Result<std::string>(tl::make_unexpected(replayed.error())));
    check("decisions",
          replayed ? check_decisions(*replayed) : Result<std::string>(tl::make_unexpected(replayed.error())));
    return std::move(out_);
  }

 private:
  /// Enters a check: what was found out, or why it failed.
  bool check(const std::string& name, const Result<std::string>& found) {
    out_.checks.push_back(
        {name, found ? CheckState::passed : CheckState::failed, found ? *found : found.error().message});
    return found.has_value();
  }
  static Result<std::string> said(const Result<void>& checked, std::string text) {
    if (!checked) return tl::make_unexpected(checked.error());
    return text;
  }

  Result<std::string> read(std::string_view archive) {
    TRY_ASSIGN(members_, base::read_tar(archive));
    return fmt::format("{} plain files, {} bytes", members_.size(), archive.size());
  }

  Result<std::string> read_record() {
    TRY_ASSIGN(evidence_, unpack_evidence(members_));
    const journal::RunInfo& run = evidence_.run;
    TRY_ASSIGN(settings_, run_settings_from(run.settings));
    const model::Protocol protocol = protocol_of(settings_.search.rules);
    if (settings_.measure.protocol != protocol) {
      return fail(ErrorCode::corrupt,
                  fmt::format("run.json: it measured by the protocol \"{}\", and its search's rules give \"{}\"",
                              model::to_string(settings_.measure.protocol), model::to_string(protocol)));
    }
    const int places = search::beam_width(settings_.search);
    TRY_ASSIGN(numbers_, RecordedNumbers::of(evidence_.steps, run.task, settings_.measure, places));
    out_.run = run.id;
    out_.task = run.task;
    out_.device = numbers_.device();
    out_.recalled = lessons_of_others();
    const Json& result = *run.result;
    if (const Json speedup = result.value("speedup", Json()); !speedup.is_null()) {
      TRY_ASSIGN(const auto ratio, base::decode<model::Interval>(speedup, "run.json: speedup"));
      TRY_ASSIGN(auto winner, base::decode<model::Solution>(result.value("solution", Json()), "run.json: winner"));
      out_.claim = Claim{ratio, std::move(winner)};
    }
    return fmt::format("run {} of {} on {}, by accelopt {}: {} steps", run.id, run.task_name, out_.device,
                       run.program_version, evidence_.steps.size());
  }

  /// Those that a knowledge store gave, each counted once.
  [[nodiscard]] int lessons_of_others() const {
    std::set<std::string> ids;
    for (const journal::StepRecord& step : evidence_.steps) {
      if (model::step_kind(step.key.kind) != StepKind::recall || !step.output.is_array()) continue;
      for (const Json& lesson : step.output) {
        if (lesson.is_object() && base::text_at(lesson, "run") != evidence_.run.id)
          ids.insert(base::text_at(lesson, "id"));
      }
    }
    return static_cast<int>(ids.size());
  }

  /// Every kernel that was built is there and has the id under which it was built, the winner too.
  [[nodiscard]] Result<std::string> check_sources() const {
    const model::Kernel baseline(evidence_.run.task.baseline);
    std::set<std::string> ids{baseline.id()};
    for (const journal::StepRecord& step : evidence_.steps) {
      const auto kind = model::step_kind(step.key.kind);
      const bool written = kind == StepKind::execute || kind == StepKind::fix;
      if (!written || !step.output.value("answered", false)) continue;
      TRY_ASSIGN(const auto solution, base::decode<model::Solution>(step.output["value"], step.key.kind));
      ids.insert(model::source_id(solution));
    }
    for (const journal::StepRecord& step : evidence_.steps) {
      const std::string built(model::step_suffix(step.key.kind));
      if (model::step_kind(step.key.kind) == StepKind::build && !ids.contains(built))
        return fail(ErrorCode::corrupt, "no kernel of the archive has the id " + short_id(built) + ", which was built");
    }
    const Json& result = *evidence_.run.result;
    if (out_.claim && model::source_id(out_.claim->winner) != base::text_at(result, "solution_id"))
      return fail(ErrorCode::corrupt, "the winner's files are not the kernel " +
                                          short_id(base::text_at(result, "solution_id")) + ", which was confirmed");
    return fmt::format("{} kernels have the ids under which they were built{}", ids.size(),
                       out_.claim ? "; the winner is " + short_id(base::text_at(result, "solution_id")) : "");
  }

  /// Verdicts, intervals, times and shares by the samples.
  [[nodiscard]] Result<std::string> check_numbers() const {
    TRY(numbers_.check_rules());
    if (evidence_.schema >= kEvidenceWithPlayoffSamples) TRY(numbers_.require_playoff_samples());
    if (evidence_.schema >= kEvidenceWithSpreadOfRestarts) TRY(numbers_.require_spread_of_restarts());
    TRY(numbers_.check());
    return numbers_.summary();
  }

  /// The decisions again, in a journal that holds the archive's steps alone.
  Result<Replay> replay() {
    TRY_ASSIGN(const auto journal, journal::open_memory_journal());
    TRY(journal->create_run(evidence_.run));
    for (const journal::StepRecord& step : evidence_.steps) TRY(journal->record_step(evidence_.run.id, step));
    TRY_ASSIGN(auto replayed, replay_run(*journal, evidence_.run, settings_, stops_));
    if (stops_.wind_down.stop_requested()) return fail(ErrorCode::cancelled, "the verification was stopped as asked");
    return replayed;
  }

  /// What the run published is what its record gives; times of the run itself and prices are none of a kernel.
  [[nodiscard]] Result<std::string> check_result(const Replay& replayed) const {
    const Json again = search::to_result_json(replayed.report.result);
    const Json& stated = *evidence_.run.result;
    int compared = 0;
    for (const auto& [key, value] : again.items()) {
      if (kOfTheRunItself.contains(key)) continue;
      if (stated.value(key, Json()) != value && !(key == "reason" && is_reason_with_budget(stated, value))) {
        return fail(ErrorCode::corrupt, fmt::format("{} is {} in run.json, and {} by the record", key,
                                                    shortened(stated.value(key, Json())), shortened(value)));
      }
      ++compared;
    }
    if (base::text_at(stated, "decision_hash") != evidence_.run.decision_hash)
      return fail(ErrorCode::corrupt, "run.json states two decision hashes");
    const std::size_t beside = stated.value("against", Json::array()).size();
    return fmt::format(
        "{} published fields are those of the record{}{}", compared,
        out_.claim ? "; speed-up " + report::format_ratio(out_.claim->speedup) : "; no gain claimed",
        beside == 0 ? "" : fmt::format("; {} comparisons with others are stated, and not proven", beside));
  }

  /// Whether it is the reason that the record gives, and behind it the words of the budget that ended the run.
  static bool is_reason_with_budget(const Json& stated, const Json& reason) {
    return base::text_at(stated, "outcome") == search::to_string(search::RunOutcome::budget) &&
           base::text_at(stated, "reason").starts_with(reason.get<std::string>() + std::string(search::kBudgetEndedIt));
  }

  static std::string shortened(const Json& value) {
    constexpr std::size_t kMost = 120;
    const std::string text = base::canonical(value);
    return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
  }

  [[nodiscard]] Result<std::string> check_decisions(const Replay& replayed) const {
    const std::string& hash = replayed.report.result.decision_hash;
    if (hash != evidence_.run.decision_hash || !replayed.first_difference.empty()) {
      return fail(ErrorCode::corrupt,
                  fmt::format("the record decides otherwise than the run says{}{}",
                              replayed.first_difference.empty() ? "" : ": first at " + replayed.first_difference,
                              replayed.report.steps_absent > 0
                                  ? fmt::format("; {} steps are missing", replayed.report.steps_absent)
                                  : ""));
    }
    return fmt::format("{} iterations decided again from {} steps: the same, {}", replayed.report.result.iterations,
                       replayed.report.steps_found, short_id(hash));
  }

  /// Fields of a result that say what the run took, or what its machine was like. So do the words at the end of a
  /// reason that tell how a budget ended the run.
  inline static const std::set<std::string> kOfTheRunItself{"run",   "wall_seconds", "device_seconds", "estimate",
                                                            "noise", "bundles",      "usage"};

  const search::Stops& stops_;
  std::vector<base::TarMember> members_;
  Evidence evidence_;
  RunSettings settings_;
  RecordedNumbers numbers_;
  Verification out_;
};

/// How the claim stands beside what was measured here.
std::string sentence(const Verification& verification) {
  const MeasuredHere& here = *verification.here;
  const model::Evaluation& evaluation = here.evaluation;
  const std::string claimed =
      fmt::format("claimed {} on {}", report::format_ratio(verification.claim->speedup), verification.device);
  const std::string found =
      evaluation.status == model::Status::passed && evaluation.ratio
          ? fmt::format("here {} on {}", report::format_ratio(*evaluation.ratio), here.device)
          : fmt::format("here {} on {}: {}", model::to_string(evaluation.status), here.device, evaluation.reason);
  return fmt::format("{}, {}: {}", claimed, found, here.holds ? "holds" : "does not hold");
}

bool holds_here(const model::Interval& claimed, const model::Evaluation& here) {
  return here.status == model::Status::passed && here.verdict == model::Verdict::faster && here.ratio &&
         here.ratio->high >= std::sqrt(claimed.estimate);
}

std::string_view name_of(CheckState state) {
  switch (state) {
    case CheckState::passed:
      return "passed";
    case CheckState::failed:
      return "failed";
    case CheckState::left_out:
      return "left_out";
  }
  return "failed";
}

}  // namespace

bool Verification::passed() const {
  return std::none_of(checks.begin(), checks.end(),
                      [](const EvidenceCheck& one) { return one.state == CheckState::failed; });
}

Result<Verification> verify_evidence(std::string_view archive, const search::Stops& stops) {
  return Verifier(stops).verify(archive);
}

Result<void> measure_here(const Shell& shell, const DeviceFlags& device, const EvalPorts& ports,
                          Verification& verification) {
  const auto leave_out = [&](std::string why) {
    verification.checks.push_back({"measurement", CheckState::left_out, std::move(why)});
  };
  if (!verification.passed()) {
    leave_out("what failed above is not worth a measurement");
    return {};
  }
  if (!verification.claim) {
    leave_out("the run claims no gain");
    return {};
  }
  TRY_ASSIGN(
      auto evaluation,
      evaluate(shell,
               {.task = verification.task, .kernel = verification.claim->winner, .device = device, .confirm = true},
               ports));
  const bool baseline_failed = evaluation.kind == model::EvaluationKind::baseline;
  if (baseline_failed || evaluation.status == model::Status::not_measured)
    return fail(ErrorCode::unavailable, "the claim cannot be measured here: " + evaluation.reason);
  MeasuredHere here{evaluation.environment.device, std::move(evaluation)};
  here.holds = holds_here(verification.claim->speedup, here.evaluation);
  verification.here = std::move(here);
  verification.checks.push_back(
      {"measurement", verification.here->holds ? CheckState::passed : CheckState::failed, sentence(verification)});
  return {};
}

Json to_json(const Verification& verification) {
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  Json out = {{"type", "verification"},
              {"schema", 1},
              {"passed", verification.passed()},
              {"root", text(verification.root)},
              {"run", text(verification.run)},
              {"task", text(verification.task.definition.name)},
              {"device", text(verification.device)},
              {"speedup", verification.claim ? Json(verification.claim->speedup) : Json()},
              {"recalled", verification.recalled},
              {"checks", Json::array()},
              {"here", nullptr}};
  for (const EvidenceCheck& one : verification.checks)
    out["checks"].push_back({{"name", one.name}, {"state", name_of(one.state)}, {"text", one.text}});
  if (const auto& here = verification.here) {
    out["here"] = {{"device", here->device},
                   {"status", model::to_string(here->evaluation.status)},
                   {"verdict", here->evaluation.verdict},
                   {"speedup", here->evaluation.ratio ? Json(*here->evaluation.ratio) : Json()},
                   {"holds", here->holds}};
  }
  return out;
}

}  // namespace accelopt::app
