// SPDX-License-Identifier: Apache-2.0
#include "model/evaluation.hpp"

#include "base/json_text.hpp"

namespace accelopt::model {

namespace {

constexpr auto kStatusNames = std::to_array<base::Named<Status>>({
    {Status::not_measured, "NOT_MEASURED"},
    {Status::passed, "PASSED"},
    {Status::compile_error, "COMPILE_ERROR"},
    {Status::runtime_error, "RUNTIME_ERROR"},
    {Status::timeout, "TIMEOUT"},
    {Status::incorrect_shape, "INCORRECT_SHAPE"},
    {Status::incorrect_dtype, "INCORRECT_DTYPE"},
    {Status::incorrect_numerical, "INCORRECT_NUMERICAL"},
    {Status::reward_hack, "REWARD_HACK"},
});

constexpr auto kVerdictNames = std::to_array<base::Named<Verdict>>({
    {Verdict::none, "NONE"},
    {Verdict::faster, "FASTER"},
    {Verdict::slower, "SLOWER"},
    {Verdict::tie, "TIE"},
    {Verdict::undecided, "UNDECIDED"},
});

}  // namespace

std::string_view to_string(Status status) {
  return base::name_in(kStatusNames, status);
}

Status parse_status(std::string_view name) {
  return base::value_in(kStatusNames, name).value_or(Status::not_measured);
}

std::string_view to_string(Verdict verdict) {
  return base::name_in(kVerdictNames, verdict);
}

Verdict parse_verdict(std::string_view name) {
  return base::value_in(kVerdictNames, name).value_or(Verdict::none);
}

void to_json(base::Json& json, Verdict verdict) {
  json = to_string(verdict);
}

void from_json(const base::Json& json, Verdict& verdict) {
  verdict = parse_verdict(json.get_ref<const std::string&>());
}

void write_json(base::JsonText& out, Verdict verdict) {
  out.add(to_string(verdict));
}

bool failed_in_profile(const Evaluation& evaluation) {
  return evaluation.profile && evaluation.profile->failed_as != Status::passed;
}

void take_failure(Evaluation& evaluation) {
  if (!failed_in_profile(evaluation)) return;
  evaluation.status = evaluation.profile->failed_as;
  evaluation.reason = evaluation.profile->failure;
  evaluation.verdict = Verdict::none;
  evaluation.ratio.reset();
  evaluation.workloads.clear();
  evaluation.profile.reset();
}

ACCELOPT_JSON(Interval) {
  field.number("estimate", it.estimate, "low", it.low, "high", it.high);
}
ACCELOPT_JSON_TEXT(Interval);

ACCELOPT_JSON(RooflinePoint) {
  field.required("floor_ns", it.floor_ns, "fraction", it.fraction, "bound", it.bound);
}
ACCELOPT_JSON_TEXT(RooflinePoint);

ACCELOPT_JSON(WorkloadTiming) {
  field.required("name", it.name);
  field.optional_name("role", it.role, Names<Role>::kTable);
  field.required("time_ns", it.time_ns);
  field.optional("reference_ns", it.reference_ns, "ratio", it.ratio, "roofline", it.roofline);
  field.unless_empty("peak_bytes", it.peak_bytes, "reference_peak_bytes", it.reference_peak_bytes);
}
ACCELOPT_JSON_TEXT(WorkloadTiming);

ACCELOPT_JSON(ProfileItem) {
  field.required("name", it.name);
  field.number("value", it.value);
  field.required("unit", it.unit, "meaning", it.meaning);
}
ACCELOPT_JSON_TEXT(ProfileItem);

ACCELOPT_JSON(Profile) {
  field.required("items", it.items);
  field.optional("remarks", it.remarks);
  field.unless_empty("notes", it.notes);
  if (field.kReads || it.failed_as != Status::passed) {
    field.optional_name("failed_as", it.failed_as, kStatusNames);
    field.optional("failure", it.failure);
  }
}
ACCELOPT_JSON_TEXT(Profile);

ACCELOPT_JSON(BuildReport) {
  field.required("built", it.built);
  field.optional("diagnostics", it.diagnostics, "build_id", it.build_id, "machine_code_id", it.machine_code_id,
                 "code_bytes", it.code_bytes, "remarks", it.remarks, "seconds", it.seconds);
}
ACCELOPT_JSON_TEXT(BuildReport);

ACCELOPT_JSON(BlockSample) {
  field.required("reference_ns", it.reference_ns, "candidate_ns", it.candidate_ns);
  field.optional("slot", it.slot, "disturbed", it.disturbed);
  field.unless_empty("shifted_ns", it.shifted_ns, "reference_mhz", it.reference_mhz, "candidate_mhz", it.candidate_mhz,
                     "shifted_mhz", it.shifted_mhz, "reference_lag_ns", it.reference_lag_ns, "candidate_lag_ns",
                     it.candidate_lag_ns, "shifted_lag_ns", it.shifted_lag_ns);
}
ACCELOPT_JSON_TEXT(BlockSample);

ACCELOPT_JSON(Environment) {
  field.optional("device", it.device, "compiler", it.compiler, "flags", it.flags, "isolation", it.isolation, "seed",
                 it.seed, "noisy", it.noisy);
  field.unless_empty("clock", it.clock, "worker", it.worker);
}
ACCELOPT_JSON_TEXT(Environment);

ACCELOPT_JSON(TunedConfiguration) {
  field.required("values", it.values);
  field.named("fate", it.fate, Names<TunedFate>::kTable);
  field.optional_name("status", it.status, kStatusNames);
  field.optional("reason", it.reason, "blocks", it.blocks, "ratio", it.ratio);
}
ACCELOPT_JSON_TEXT(TunedConfiguration);

ACCELOPT_JSON(TuningHeat) {
  field.required("rung", it.rung, "arms", it.arms, "offset", it.offset, "log_ratios", it.log_ratios);
}
ACCELOPT_JSON_TEXT(TuningHeat);

ACCELOPT_JSON(Tuning) {
  field.required("source_id", it.source_id, "names", it.names, "sets", it.sets);
  field.optional("combinations", it.combinations, "configurations", it.configurations, "chosen", it.chosen);
  field.required("field", it.field);
  field.optional("heats", it.heats, "seconds", it.seconds);
}
ACCELOPT_JSON_TEXT(Tuning);

ACCELOPT_JSON(Mismatch) {
  field.required("workload", it.workload, "family", it.family, "output", it.output, "index", it.index);
  field.number("expected", it.expected, "actual", it.actual, "normwise_error", it.normwise_error, "normwise_bound",
               it.normwise_bound);
}
ACCELOPT_JSON_TEXT(Mismatch);

ACCELOPT_JSON(StageTime) {
  field.named("name", it.stage, Names<Stage>::kTable);
  field.required("seconds", it.seconds);
}
ACCELOPT_JSON_TEXT(StageTime);

ACCELOPT_JSON(Evaluation) {
  field.named("status", it.status, kStatusNames);
  field.optional("verdict", it.verdict);
  field.optional_name("kind", it.kind, Names<EvaluationKind>::kTable);
  field.optional_name("decided_by", it.decided_by, Names<DecidedBy>::kTable);
  field.optional("reason", it.reason, "opponent", it.opponent, "blocks", it.blocks, "workloads", it.workloads,
                 "samples", it.samples, "environment", it.environment, "trust", it.trust, "source_id", it.source_id,
                 "machine_code_id", it.machine_code_id, "duplicate_of", it.duplicate_of, "mismatch", it.mismatch,
                 "ratio", it.ratio, "profile", it.profile, "tuning", it.tuning, "stages", it.stages);
  field.unless_empty("notes", it.notes, "details", it.details);
  if (Field::kReads || it.statistics != 1) field.optional("statistics", it.statistics);
}
ACCELOPT_JSON_TEXT(Evaluation);

}  // namespace accelopt::model
