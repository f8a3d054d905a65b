// SPDX-License-Identifier: Apache-2.0
// Reviews and calibrations as they are printed and recorded (docs/json.md).
#include "app/review.hpp"
#include "app/review_calibration.hpp"

namespace accelopt::app {
namespace {

using base::Json;

Json json_of(const stats::Interval& interval) {
  return {{"estimate", interval.estimate}, {"low", interval.low}, {"high", interval.high}};
}

Json json_of(const review::Opinion& opinion) {
  Json items = Json::object();
  for (std::size_t i = 0; i < review::kItems; ++i) {
    const review::Score& item = opinion.rubric.items.at(i);
    items[std::string(to_string(static_cast<review::Item>(i)))] = {
        {"score", item.score}, {"quote", item.quote}, {"holds", item.holds}};
  }
  return {{"items", items}, {"sum", opinion.rubric.sum()}};
}

Json json_of(const std::vector<JudgedObjection>& objections) {
  Json all = Json::array();
  for (const JudgedObjection& one : objections) {
    const refactor::Probe& probe = one.objection.probe;
    Json json = {{"why", one.objection.why}, {"fate", to_string(one.fate)}, {"text", one.text}};
    if (!probe.cases.empty()) json["cases"] = probe.cases;
    if (!probe.script.empty()) json["script"] = probe.script;
    if (probe.request)
      json["generate"] = {{"workload", probe.request->workload},
                          {"size", probe.request->size},
                          {"count", probe.request->count},
                          {"seed", probe.request->seed}};
    all.push_back(std::move(json));
  }
  return all;
}

Json json_of(const review::PairOutcome& outcome) {
  return {{"better", review::to_string(outcome.better)},
          {"stable", outcome.stable},
          {"flipped", outcome.flipped},
          {"first_shown", outcome.first_shown},
          {"answers", outcome.answers}};
}

Json place(const std::optional<std::size_t>& one) {
  return one ? Json(*one) : Json();
}

Json json_of(const review::Share& share) {
  const stats::Interval interval = review::wilson(share);
  return {
      {"hits", share.hits}, {"of", share.of}, {"share", share.value()}, {"low", interval.low}, {"high", interval.high}};
}

Json json_of(const CalibratedChange& change) {
  return {{"rubric", change.opinion ? json_of(*change.opinion) : Json()},
          {"objections", json_of(change.objections)},
          {"stopped", change.stopped()},
          {"doubted", change.doubted()}};
}

}  // namespace

void to_json(Json& out, const ReviewReport& report) {
  Json changes = Json::array();
  for (const ReviewedChange& change : report.changes) {
    changes.push_back({{"name", change.name},
                       {"verdict", change.verdict},
                       {"failed_gate", change.failed_gate},
                       {"why", change.why},
                       {"ratio", change.ratio ? json_of(*change.ratio) : Json()},
                       {"rubric", change.opinion ? json_of(*change.opinion) : Json()},
                       {"objections", json_of(change.objections)},
                       {"stopped", change.stopped()},
                       {"diff_lines", change.diff_lines}});
  }
  Json pairs = Json::array();
  for (const ReviewedPair& pair : report.pairs) {
    Json json = json_of(pair.outcome);
    json["changes"] = {pair.first, pair.second};
    json["reasons"] = pair.reasons;
    pairs.push_back(std::move(json));
  }
  Json certain = Json::array();
  for (const review::CertainlyBetter& one : report.certain) certain.push_back({one.winner, one.loser});
  out = {{"type", "review"},
         {"schema", 1},
         {"task", report.task},
         {"created", report.created},
         {"model", report.model},
         {"weight", review::to_string(report.standing.weight)},
         {"weight_why", report.standing.why},
         {"changes", changes},
         {"pairs", pairs},
         {"certainly_faster", certain},
         {"chosen", place(report.chosen)},
         {"reason", review::to_string(report.reason)},
         {"advised", place(report.advised)},
         {"run", report.run},
         {"branch", report.branch},
         {"commit", report.commit},
         {"not_committed", report.not_committed},
         {"usage", report.usage}};
}

void to_json(Json& out, const Calibration& calibration) {
  const review::Rates& rates = calibration.rates;
  Json pairs = Json::array();
  for (const CalibratedPair& pair : calibration.pairs) {
    pairs.push_back({{"name", pair.name},
                     {"kind", pair.kind},
                     {"clean", json_of(pair.clean)},
                     {"planted", json_of(pair.planted)},
                     {"preference", json_of(pair.preference)},
                     {"bait", review::to_string(pair.bait)},
                     {"baited", json_of(pair.baited)}});
  }
  out = {{"type", "calibration"},
         {"schema", 1},
         {"model", rates.model},
         {"created", rates.created},
         {"set", rates.set},
         {"weight", review::to_string(calibration.standing.weight)},
         {"weight_why", calibration.standing.why},
         {"rates",
          {{"recall", json_of(rates.recall)},
           {"noticed", json_of(rates.noticed)},
           {"false_alarms", json_of(rates.false_alarms)},
           {"void_objections", json_of(rates.void_objections)},
           {"void_quotes", json_of(rates.void_quotes)},
           {"unreadable", json_of(rates.unreadable)},
           {"prefers_clean", json_of(rates.prefers_clean)},
           {"flips", json_of(rates.flips)},
           {"first_shown", json_of(rates.first_shown)},
           {"dead_code", json_of(rates.dead_code)},
           {"comment", json_of(rates.comment)},
           {"author", json_of(rates.author)},
           {"own", json_of(rates.own)}}},
         {"pairs", pairs},
         {"usage", rates.usage}};
}

}  // namespace accelopt::app
