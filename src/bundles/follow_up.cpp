// SPDX-License-Identifier: Apache-2.0
#include "bundles/follow_up.hpp"

#include <algorithm>
#include <list>
#include <optional>
#include <set>

#include "base/json_fields.hpp"
#include "evaluation/entrants.hpp"
#include "evaluation/evaluator_json.hpp"
#include "evaluation/requests.hpp"
#include "model/kernel.hpp"

namespace accelopt::bundles {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;
using evaluation::RacedAttempt;
using model::Kernel;
using model::Status;

ACCELOPT_JSON(FieldAttempt) {
  field.required("arm", it.arm, "parent", it.parent, "plan", it.plan);
  field.unless_empty("race", it.race, "evaluation", it.evaluation, "duplicate", it.duplicate, "fixable", it.fixable);
}

ACCELOPT_JSON(PlayoffField) {
  field.required("fixed", it.fixed, "parents", it.parents, "attempts", it.attempts);
  field.unless_empty("known_code", it.known_code);
}

namespace {

Resolved left_out_because(std::string why) {
  return {std::nullopt, std::move(why), {}};
}

/// An attempt with what its race said.
struct Judged {
  RacedAttempt raced;
  model::Evaluation evaluation;
  std::optional<Kernel> kernel;  ///< that enters, with the values that tuning chose
};

/// One play-off's candidates, from the outcomes before it.
class Field {
 public:
  Field(const Bundle& bundle, std::size_t item, const Outcomes& before)
      : request_(bundle.items[item].request), field_(*bundle.items[item].field), before_(before) {}

  /// Why there is no play-off yet; empty: there is one.
  std::string judge() {
    for (const FieldAttempt& attempt : field_.attempts) {
      Judged& own = judged_.emplace_back();
      own.raced = {.parent = attempt.parent,
                   .plan = attempt.plan,
                   .source_id = {},
                   .machine_code_id = {},
                   .evaluation = nullptr,
                   .duplicate = attempt.duplicate};
      own.kernel = kernel_of(request_["arms"][attempt.arm]["solution"]);
      if (!own.kernel) return "a candidate cannot be read";
      std::string why = attempt.evaluation ? take(own, *attempt.evaluation) : take_race(own, attempt);
      if (!why.empty()) return why;
      if (attempt.fixable && evaluation::can_be_fixed(own.evaluation.status))
        return "an attempt failed: what its fix becomes may have a place in it";
    }
    std::vector<RacedAttempt> raced;
    for (const Judged& own : judged_) raced.push_back(own.raced);
    evaluation::mark_duplicates(raced);
    for (const std::size_t entrant : evaluation::new_entrants(raced)) entrants_.push_back(entrant);
    return entrants_.empty() ? "nothing new is worth a place in it" : "";
  }

  /// The request: what is fixed, and each entrant's kernel once.
  [[nodiscard]] Json request() {
    Json out = request_;
    out["arms"] = Json::array();
    std::set<std::string> ids;
    for (int arm = 0; arm < field_.fixed; ++arm) {
      const Json& one = request_["arms"][static_cast<std::size_t>(arm)];
      if (const auto kernel = kernel_of(one["solution"])) ids.insert(kernel->id());
      out["arms"].push_back(one);
    }
    arms_.clear();
    for (const std::size_t entrant : entrants_) {
      if (!ids.insert(judged_at(entrant).kernel->id()).second) continue;
      arms_.push_back(entrant);
      out["arms"].push_back(evaluation::Arm{*judged_at(entrant).kernel});
    }
    return out;
  }

  /// Of the play-off that request() asked for: the kernel that leads and passed the held-out workloads. None: the
  /// baseline does, or it is not known.
  [[nodiscard]] std::optional<Json> leader(const evaluation::PlayoffReport& report) const {
    std::optional<Json> best;
    double best_score = 1;
    for (std::size_t arm = 1; arm < report.arms.size(); ++arm) {
      const evaluation::ArmScore& score = report.arms[arm];
      if (!score.measured || score.score.estimate <= best_score) continue;
      if (arm < static_cast<std::size_t>(field_.fixed)) {
        best = request_["arms"][arm]["solution"];
      } else if (const std::size_t own = arms_.at(arm - static_cast<std::size_t>(field_.fixed));
                 beats_parent(report, own, score) && passed_held_out(field_.attempts[own])) {
        best = Json(*judged_at(own).kernel);
      } else {
        continue;
      }
      best_score = score.score.estimate;
    }
    return best;
  }

 private:
  static std::optional<Kernel> kernel_of(const Json& solution) {
    auto kernel = base::decode<Kernel>(solution, "a candidate");
    return kernel ? std::optional(std::move(*kernel)) : std::nullopt;
  }

  [[nodiscard]] const Judged& judged_at(std::size_t place) const {
    return *std::next(judged_.begin(), static_cast<std::ptrdiff_t>(place));
  }

  std::string take_race(Judged& own, const FieldAttempt& attempt) {
    const Outcome* const race = settled(before_, attempt.race);
    if (race == nullptr) return "a race is not known";
    const Json& candidate = request_["arms"][attempt.arm]["solution"];
    const std::string code = built_code(candidate, before_);
    if (!race->result && code.empty()) {
      own.evaluation.status = Status::compile_error;
      own.raced.evaluation = &own.evaluation;
      own.raced.source_id = own.kernel->id();
      return {};
    }
    if (!race->result) {  // the same program as its parent
      own.raced.duplicate = true;
      return {};
    }
    auto evaluation = base::decode<model::Evaluation>(*race->result, "race");
    if (!evaluation) return "a race cannot be read";
    if (!evaluation->tuning && !code.empty()) evaluation->machine_code_id = code;
    if (evaluation->tuning && evaluation->tuning->chosen && evaluation->tuning->source_id == own.kernel->id()) {
      const auto chosen = own.kernel->with_values(*evaluation->tuning->chosen);
      if (!chosen) return "no configuration was chosen";
      own.kernel = *chosen;
    }
    return take(own, *evaluation);
  }

  std::string take(Judged& own, const model::Evaluation& evaluation) {
    own.evaluation = evaluation;
    own.raced.evaluation = &own.evaluation;
    own.raced.source_id = own.kernel->id();
    own.raced.machine_code_id = evaluation.machine_code_id;
    const auto& known = field_.known_code;
    if (std::binary_search(known.begin(), known.end(), evaluation.machine_code_id)) own.raced.duplicate = true;
    return {};
  }

  [[nodiscard]] bool beats_parent(const evaluation::PlayoffReport& report, std::size_t attempt,
                                  const evaluation::ArmScore& score) const {
    const auto place = static_cast<std::size_t>(field_.attempts[attempt].parent);
    const auto arm = static_cast<std::size_t>(field_.parents[place]);
    // The baseline's score is 1 by definition.
    return score.score.estimate > (arm == 0 ? 1 : report.arms[arm].score.estimate);
  }

  [[nodiscard]] bool passed_held_out(const FieldAttempt& attempt) const {
    const Json request = {{"op", to_string(model::Operation::held_out)},
                          {"solution", request_["arms"][attempt.arm]["solution"]}};
    const Outcome* const outcome = settled(before_, request_id(request));
    return outcome != nullptr && outcome->result && *outcome->result == Json(model::to_string(Status::passed));
  }

  const Json& request_;
  const PlayoffField& field_;
  const Outcomes& before_;
  std::list<Judged> judged_;  ///< an entry an attempt; stays where it is, as raced attempts point into it
  std::vector<std::size_t> entrants_;
  std::vector<std::size_t> arms_;  ///< attempts behind the fixed arms of request()
};

}  // namespace

Resolved resolve_playoff(const Bundle& bundle, std::size_t item, const Outcomes& before) {
  Field field(bundle, item, before);
  if (auto why = field.judge(); !why.empty()) return left_out_because(std::move(why));
  Resolved out;
  out.request.emplace(field.request());
  return out;
}

Resolved resolve_leader(const Bundle& bundle, std::size_t item, const Outcomes& before) {
  const std::string& cause = bundle.items[item].only_if->item;
  const auto playoff =
      std::find_if(bundle.items.begin(), bundle.items.end(), [&](const BundleItem& one) { return one.id == cause; });
  const Outcome* const outcome = settled(before, cause);
  if (playoff == bundle.items.end() || !playoff->field || outcome == nullptr || !outcome->result)
    return left_out_because("there was no play-off");
  Field field(bundle, static_cast<std::size_t>(playoff - bundle.items.begin()), before);
  if (auto why = field.judge(); !why.empty()) return left_out_because(std::move(why));
  const Json raced = field.request();
  const auto report = base::decode<evaluation::PlayoffReport>(*outcome->result, "play-off");
  if (!report || report->arms.size() != raced["arms"].size()) return left_out_because("the play-off cannot be read");
  const auto leader = field.leader(*report);
  if (!leader) return left_out_because("nothing leads the baseline");
  Resolved out;
  out.request.emplace(bundle.items[item].request);
  (*out.request)["solution"] = *leader;
  return out;
}

Result<PlayoffField> read_field_of(const Json& json, std::size_t arms) {
  TRY_ASSIGN(PlayoffField field, base::decode<PlayoffField>(json, "a play-off's field"));
  const auto is_arm = [&](std::size_t arm) { return arm < arms; };
  const bool good =
      field.fixed >= 1 && is_arm(static_cast<std::size_t>(field.fixed) - 1) && !field.parents.empty() &&
      std::all_of(field.parents.begin(), field.parents.end(), [&](int arm) { return arm >= 0 && arm < field.fixed; }) &&
      std::all_of(field.attempts.begin(), field.attempts.end(), [&](const FieldAttempt& attempt) {
        return is_arm(attempt.arm) && attempt.parent >= 0 &&
               static_cast<std::size_t>(attempt.parent) < field.parents.size() &&
               attempt.race.empty() == attempt.evaluation.has_value();
      });
  if (!good) return fail(ErrorCode::corrupt, "a play-off's field names what is not there");
  std::sort(field.known_code.begin(), field.known_code.end());
  return field;
}

Json to_json_field(const PlayoffField& field) {
  return field;
}

}  // namespace accelopt::bundles
