// SPDX-License-Identifier: Apache-2.0
#include "model/evaluation.hpp"

#include <array>
#include <utility>

#include "base/json_fields.hpp"

namespace accelopt::model {

using base::Json;

namespace {

constexpr std::array<std::pair<Status, std::string_view>, 9> kStatusNames{{
    {Status::passed, "PASSED"},
    {Status::compile_error, "COMPILE_ERROR"},
    {Status::runtime_error, "RUNTIME_ERROR"},
    {Status::timeout, "TIMEOUT"},
    {Status::incorrect_shape, "INCORRECT_SHAPE"},
    {Status::incorrect_dtype, "INCORRECT_DTYPE"},
    {Status::incorrect_numerical, "INCORRECT_NUMERICAL"},
    {Status::reward_hack, "REWARD_HACK"},
    {Status::not_measured, "NOT_MEASURED"},
}};

constexpr std::array<std::pair<Verdict, std::string_view>, 5> kVerdictNames{{
    {Verdict::none, "NONE"},
    {Verdict::faster, "FASTER"},
    {Verdict::slower, "SLOWER"},
    {Verdict::tie, "TIE"},
    {Verdict::undecided, "UNDECIDED"},
}};

constexpr auto kIntervalFields = [](auto& field, auto& it) {
  field.number("estimate", it.estimate, "low", it.low, "high", it.high);
};

constexpr auto kRooflineFields = [](auto& field, auto& it) {
  field.required("floor_ns", it.floor_ns, "fraction", it.fraction, "bound", it.bound);
};

constexpr auto kTimingFields = [](auto& field, auto& it) {
  field.required("name", it.name);
  field.optional("role", it.role);
  field.required("time_ns", it.time_ns);
  field.optional("reference_ns", it.reference_ns, "ratio", it.ratio, "roofline", it.roofline);
};

constexpr auto kProfileItemFields = [](auto& field, auto& it) {
  field.required("name", it.name);
  field.number("value", it.value);
  field.required("unit", it.unit, "meaning", it.meaning);
};

constexpr auto kBuildFields = [](auto& field, auto& it) {
  field.required("built", it.built);
  field.optional("diagnostics", it.diagnostics, "build_id", it.build_id, "machine_code_id", it.machine_code_id,
                 "code_bytes", it.code_bytes, "remarks", it.remarks, "seconds", it.seconds);
};

constexpr auto kSampleFields = [](auto& field, auto& it) {
  field.required("reference_ns", it.reference_ns, "candidate_ns", it.candidate_ns);
  field.optional("slot", it.slot, "disturbed", it.disturbed);
  field.unless_empty("shifted_ns", it.shifted_ns, "reference_mhz", it.reference_mhz, "candidate_mhz", it.candidate_mhz,
                     "shifted_mhz", it.shifted_mhz, "reference_lag_ns", it.reference_lag_ns, "candidate_lag_ns",
                     it.candidate_lag_ns, "shifted_lag_ns", it.shifted_lag_ns);
};

constexpr auto kEnvironmentFields = [](auto& field, auto& it) {
  field.optional("device", it.device, "compiler", it.compiler, "flags", it.flags, "isolation", it.isolation, "seed",
                 it.seed, "noisy", it.noisy);
  field.unless_empty("clock", it.clock, "worker", it.worker);
};

constexpr auto kConfigurationFields = [](auto& field, auto& it) {
  field.required("values", it.values, "fate", it.fate);
  field.named("status", it.status, parse_status);
  field.optional("reason", it.reason, "blocks", it.blocks, "ratio", it.ratio);
};

constexpr auto kHeatFields = [](auto& field, auto& it) {
  field.required("rung", it.rung, "arms", it.arms, "offset", it.offset, "log_ratios", it.log_ratios);
};

constexpr auto kTuningFields = [](auto& field, auto& it) {
  field.required("source_id", it.source_id, "names", it.names, "sets", it.sets);
  field.optional("combinations", it.combinations, "configurations", it.configurations, "chosen", it.chosen);
  field.required("field", it.field);
  field.optional("heats", it.heats, "seconds", it.seconds);
};

constexpr auto kMismatchFields = [](auto& field, auto& it) {
  field.required("workload", it.workload, "family", it.family, "output", it.output, "index", it.index);
  field.number("expected", it.expected, "actual", it.actual, "normwise_error", it.normwise_error, "normwise_bound",
               it.normwise_bound);
};

constexpr auto kStageFields = [](auto& field, auto& it) { field.required("name", it.name, "seconds", it.seconds); };

constexpr auto kEvaluationFields = [](auto& field, auto& it) {
  field.named("status", it.status, parse_status);
  field.named("verdict", it.verdict, parse_verdict);
  field.optional("reason", it.reason, "opponent", it.opponent, "kind", it.kind, "decided_by", it.decided_by, "blocks",
                 it.blocks, "workloads", it.workloads, "samples", it.samples, "environment", it.environment, "trust",
                 it.trust, "source_id", it.source_id, "machine_code_id", it.machine_code_id, "duplicate_of",
                 it.duplicate_of, "mismatch", it.mismatch, "ratio", it.ratio, "profile", it.profile, "tuning",
                 it.tuning, "stages", it.stages);
  field.unless_empty("notes", it.notes);
};

}  // namespace

std::string_view to_string(Status status) {
  for (const auto& [value, name] : kStatusNames) {
    if (value == status) return name;
  }
  return "NOT_MEASURED";
}

Status parse_status(std::string_view name) {
  for (const auto& [value, known] : kStatusNames) {
    if (known == name) return value;
  }
  return Status::not_measured;
}

std::string_view to_string(Verdict verdict) {
  for (const auto& [value, name] : kVerdictNames) {
    if (value == verdict) return name;
  }
  return "NONE";
}

Verdict parse_verdict(std::string_view name) {
  for (const auto& [value, known] : kVerdictNames) {
    if (known == name) return value;
  }
  return Verdict::none;
}

void to_json(Json& out, const Interval& value) {
  base::write_fields(out, value, kIntervalFields);
}
void from_json(const Json& in, Interval& value) {
  base::read_fields(in, value, kIntervalFields);
}

static void to_json(Json& out, const RooflinePoint& value) {
  base::write_fields(out, value, kRooflineFields);
}
static void from_json(const Json& in, RooflinePoint& value) {
  base::read_fields(in, value, kRooflineFields);
}

void to_json(Json& out, const WorkloadTiming& value) {
  base::write_fields(out, value, kTimingFields);
}
void from_json(const Json& in, WorkloadTiming& value) {
  base::read_fields(in, value, kTimingFields);
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

static void to_json(Json& out, const ProfileItem& value) {
  base::write_fields(out, value, kProfileItemFields);
}
static void from_json(const Json& in, ProfileItem& value) {
  base::read_fields(in, value, kProfileItemFields);
}

void to_json(Json& out, const Profile& value) {
  out = {{"items", value.items}, {"remarks", value.remarks}};
  if (!value.notes.empty()) out["notes"] = value.notes;
  if (value.failed_as == Status::passed) return;
  out["failed_as"] = std::string(to_string(value.failed_as));
  out["failure"] = value.failure;
}

void from_json(const Json& in, Profile& value) {
  value = Profile();
  in.at("items").get_to(value.items);
  base::read_field(in, "remarks", value.remarks);
  base::read_field(in, "notes", value.notes);
  base::read_field(in, "failure", value.failure);
  if (in.contains("failed_as")) value.failed_as = parse_status(in.at("failed_as").get<std::string>());
}

void to_json(Json& out, const BuildReport& value) {
  base::write_fields(out, value, kBuildFields);
}
void from_json(const Json& in, BuildReport& value) {
  base::read_fields(in, value, kBuildFields);
}

void to_json(Json& out, const BlockSample& value) {
  base::write_fields(out, value, kSampleFields);
}
void from_json(const Json& in, BlockSample& value) {
  base::read_fields(in, value, kSampleFields);
}

void to_json(Json& out, const Environment& value) {
  base::write_fields(out, value, kEnvironmentFields);
}
void from_json(const Json& in, Environment& value) {
  base::read_fields(in, value, kEnvironmentFields);
}

static void to_json(Json& out, const TunedConfiguration& value) {
  base::write_fields(out, value, kConfigurationFields);
}
static void from_json(const Json& in, TunedConfiguration& value) {
  base::read_fields(in, value, kConfigurationFields);
}

static void to_json(Json& out, const TuningHeat& value) {
  base::write_fields(out, value, kHeatFields);
}
static void from_json(const Json& in, TuningHeat& value) {
  base::read_fields(in, value, kHeatFields);
}

void to_json(Json& out, const Tuning& value) {
  base::write_fields(out, value, kTuningFields);
}
void from_json(const Json& in, Tuning& value) {
  base::read_fields(in, value, kTuningFields);
}

static void to_json(Json& out, const Mismatch& value) {
  base::write_fields(out, value, kMismatchFields);
}
static void from_json(const Json& in, Mismatch& value) {
  base::read_fields(in, value, kMismatchFields);
}

static void to_json(Json& out, const StageTime& value) {
  base::write_fields(out, value, kStageFields);
}
static void from_json(const Json& in, StageTime& value) {
  base::read_fields(in, value, kStageFields);
}

void to_json(Json& out, const Evaluation& value) {
  base::write_fields(out, value, kEvaluationFields);
}

void from_json(const Json& in, Evaluation& value) {
  in.at("status");  // what has none is no evaluation
  base::read_fields(in, value, kEvaluationFields);
}

}  // namespace accelopt::model
