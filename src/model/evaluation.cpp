// SPDX-License-Identifier: Apache-2.0
#include "model/evaluation.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace accelopt::model {

using base::Json;
using base::read_field;

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

/// JSON has no NaN or infinity: they travel as strings.
Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double number_from(const Json& in) {
  if (in.is_string()) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return in == "inf" ? kInfinity : in == "-inf" ? -kInfinity : std::nan("");
  }
  return in.is_null() ? std::nan("") : in.get<double>();
}

/// The fields of a sample that only some devices fill, by name.
template <class Sample>
auto clock_fields(Sample& sample) {
  using Values = decltype(&sample.reference_mhz);
  return std::array<std::pair<const char*, Values>, 6>{{{"reference_mhz", &sample.reference_mhz},
                                                        {"candidate_mhz", &sample.candidate_mhz},
                                                        {"shifted_mhz", &sample.shifted_mhz},
                                                        {"reference_lag_ns", &sample.reference_lag_ns},
                                                        {"candidate_lag_ns", &sample.candidate_lag_ns},
                                                        {"shifted_lag_ns", &sample.shifted_lag_ns}}};
}

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
  out = {{"estimate", number(value.estimate)}, {"low", number(value.low)}, {"high", number(value.high)}};
}

void from_json(const Json& in, Interval& value) {
  value.estimate = number_from(in.at("estimate"));
  value.low = number_from(in.at("low"));
  value.high = number_from(in.at("high"));
}

static void to_json(Json& out, const RooflinePoint& value) {
  out = {{"floor_ns", value.floor_ns}, {"fraction", value.fraction}, {"bound", value.bound}};
}

static void from_json(const Json& in, RooflinePoint& value) {
  in.at("floor_ns").get_to(value.floor_ns);
  in.at("fraction").get_to(value.fraction);
  in.at("bound").get_to(value.bound);
}

void to_json(Json& out, const WorkloadTiming& value) {
  out = {{"name", value.name},
         {"role", value.role},
         {"time_ns", value.time_ns},
         {"reference_ns", Json(value.reference_ns)}};
  out["ratio"] = value.ratio ? Json(*value.ratio) : Json();
  out["roofline"] = Json();
  if (value.roofline) to_json(out["roofline"], *value.roofline);
}

void from_json(const Json& in, WorkloadTiming& value) {
  in.at("name").get_to(value.name);
  read_field(in, "role", value.role);
  in.at("time_ns").get_to(value.time_ns);
  if (in.contains("reference_ns")) in.at("reference_ns").get_to(value.reference_ns);
  if (in.contains("ratio") && !in.at("ratio").is_null()) value.ratio = in.at("ratio").get<Interval>();
  if (in.contains("roofline") && !in.at("roofline").is_null()) from_json(in.at("roofline"), value.roofline.emplace());
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

void to_json(Json& out, const Profile& value) {
  out = {{"items", Json::array()}, {"remarks", value.remarks}};
  for (const ProfileItem& item : value.items) {
    out["items"].push_back(
        {{"name", item.name}, {"value", number(item.value)}, {"unit", item.unit}, {"meaning", item.meaning}});
  }
  if (!value.notes.empty()) out["notes"] = value.notes;
  if (value.failed_as == Status::passed) return;
  out["failed_as"] = std::string(to_string(value.failed_as));
  out["failure"] = value.failure;
}

void from_json(const Json& in, Profile& value) {
  value.items.clear();
  for (const Json& item : in.at("items")) {
    value.items.push_back({item.at("name").get<std::string>(), number_from(item.at("value")),
                           item.at("unit").get<std::string>(), item.at("meaning").get<std::string>()});
  }
  read_field(in, "remarks", value.remarks);
  value.notes.clear();
  read_field(in, "notes", value.notes);
  value.failed_as = Status::passed;
  value.failure.clear();
  read_field(in, "failure", value.failure);
  if (!in.contains("failed_as")) return;
  value.failed_as = parse_status(in.at("failed_as").get<std::string>());
}

void to_json(Json& out, const BuildReport& value) {
  out = {{"built", value.built},           {"diagnostics", value.diagnostics},
         {"build_id", value.build_id},     {"machine_code_id", value.machine_code_id},
         {"code_bytes", value.code_bytes}, {"remarks", value.remarks},
         {"seconds", value.seconds}};
}

void from_json(const Json& in, BuildReport& value) {
  in.at("built").get_to(value.built);
  read_field(in, "diagnostics", value.diagnostics);
  read_field(in, "build_id", value.build_id);
  read_field(in, "machine_code_id", value.machine_code_id);
  read_field(in, "code_bytes", value.code_bytes);
  read_field(in, "remarks", value.remarks);
  read_field(in, "seconds", value.seconds);
}

void to_json(Json& out, const BlockSample& value) {
  out = {{"reference_ns", value.reference_ns},
         {"candidate_ns", value.candidate_ns},
         {"slot", value.slot},
         {"disturbed", value.disturbed}};
  if (!value.shifted_ns.empty()) out["shifted_ns"] = value.shifted_ns;
  for (const auto& [name, values] : clock_fields(value)) {
    if (!values->empty()) out[name] = *values;
  }
}

void from_json(const Json& in, BlockSample& value) {
  in.at("reference_ns").get_to(value.reference_ns);
  in.at("candidate_ns").get_to(value.candidate_ns);
  read_field(in, "slot", value.slot);
  read_field(in, "disturbed", value.disturbed);
  read_field(in, "shifted_ns", value.shifted_ns);
  for (const auto& [name, values] : clock_fields(value)) read_field(in, name, *values);
}

void to_json(Json& out, const Environment& value) {
  out = {{"device", value.device},       {"compiler", value.compiler}, {"flags", value.flags},
         {"isolation", value.isolation}, {"seed", value.seed},         {"noisy", value.noisy}};
}

void from_json(const Json& in, Environment& value) {
  read_field(in, "device", value.device);
  read_field(in, "compiler", value.compiler);
  read_field(in, "flags", value.flags);
  read_field(in, "isolation", value.isolation);
  read_field(in, "seed", value.seed);
  read_field(in, "noisy", value.noisy);
}

static void to_json(Json& out, const TunedConfiguration& value) {
  out = {{"values", value.values},
         {"fate", value.fate},
         {"status", to_string(value.status)},
         {"reason", value.reason},
         {"blocks", value.blocks}};
  out["ratio"] = value.ratio ? Json(*value.ratio) : Json();
}

static void from_json(const Json& in, TunedConfiguration& value) {
  in.at("values").get_to(value.values);
  in.at("fate").get_to(value.fate);
  value.status = parse_status(in.at("status").get<std::string>());
  read_field(in, "reason", value.reason);
  read_field(in, "blocks", value.blocks);
  if (in.contains("ratio") && !in.at("ratio").is_null()) value.ratio = in.at("ratio").get<Interval>();
}

static void to_json(Json& out, const TuningHeat& value) {
  out = {{"rung", value.rung}, {"arms", value.arms}, {"offset", value.offset}, {"log_ratios", value.log_ratios}};
}

static void from_json(const Json& in, TuningHeat& value) {
  in.at("rung").get_to(value.rung);
  in.at("arms").get_to(value.arms);
  in.at("offset").get_to(value.offset);
  in.at("log_ratios").get_to(value.log_ratios);
}

void to_json(Json& out, const Tuning& value) {
  out = {{"source_id", value.source_id},
         {"names", value.names},
         {"sets", value.sets},
         {"combinations", value.combinations},
         {"configurations", value.configurations},
         {"chosen", Json(value.chosen)},
         {"field", Json::array()},
         {"heats", Json::array()},
         {"seconds", value.seconds}};
  for (const TunedConfiguration& configuration : value.field) to_json(out["field"].emplace_back(), configuration);
  for (const TuningHeat& heat : value.heats) to_json(out["heats"].emplace_back(), heat);
}

void from_json(const Json& in, Tuning& value) {
  in.at("source_id").get_to(value.source_id);
  in.at("names").get_to(value.names);
  in.at("sets").get_to(value.sets);
  read_field(in, "combinations", value.combinations);
  read_field(in, "configurations", value.configurations);
  if (in.contains("chosen")) in.at("chosen").get_to(value.chosen);
  for (const Json& configuration : in.at("field")) from_json(configuration, value.field.emplace_back());
  for (const Json& heat : in.value("heats", Json::array())) from_json(heat, value.heats.emplace_back());
  read_field(in, "seconds", value.seconds);
}

static Json mismatch_to_json(const Mismatch& value) {
  return {{"workload", value.workload},
          {"family", value.family},
          {"output", value.output},
          {"index", value.index},
          {"expected", number(value.expected)},
          {"actual", number(value.actual)},
          {"normwise_error", number(value.normwise_error)},
          {"normwise_bound", number(value.normwise_bound)}};
}

static Mismatch mismatch_from_json(const Json& in) {
  Mismatch value;
  in.at("workload").get_to(value.workload);
  in.at("family").get_to(value.family);
  in.at("output").get_to(value.output);
  in.at("index").get_to(value.index);
  value.expected = number_from(in.at("expected"));
  value.actual = number_from(in.at("actual"));
  value.normwise_error = number_from(in.at("normwise_error"));
  value.normwise_bound = number_from(in.at("normwise_bound"));
  return value;
}

void to_json(Json& out, const Evaluation& value) {
  out = {{"status", to_string(value.status)},
         {"reason", value.reason},
         {"verdict", to_string(value.verdict)},
         {"opponent", value.opponent},
         {"kind", value.kind},
         {"decided_by", value.decided_by},
         {"blocks", value.blocks},
         {"workloads", value.workloads},
         {"samples", value.samples},
         {"environment", value.environment},
         {"trust", value.trust},
         {"source_id", value.source_id},
         {"machine_code_id", value.machine_code_id},
         {"duplicate_of", Json(value.duplicate_of)}};
  out["mismatch"] = value.mismatch ? mismatch_to_json(*value.mismatch) : Json();
  out["ratio"] = value.ratio ? Json(*value.ratio) : Json();
  out["profile"] = value.profile ? Json(*value.profile) : Json();
  out["tuning"] = value.tuning ? Json(*value.tuning) : Json();
  out["stages"] = Json::array();
  for (const StageTime& stage : value.stages)
    out["stages"].push_back({{"name", stage.name}, {"seconds", stage.seconds}});
  if (!value.notes.empty()) out["notes"] = value.notes;
}

void from_json(const Json& in, Evaluation& value) {
  value.status = parse_status(in.at("status").get<std::string>());
  read_field(in, "reason", value.reason);
  value.verdict = parse_verdict(in.value("verdict", std::string("NONE")));
  read_field(in, "opponent", value.opponent);
  read_field(in, "kind", value.kind);
  read_field(in, "decided_by", value.decided_by);
  read_field(in, "blocks", value.blocks);
  read_field(in, "workloads", value.workloads);
  read_field(in, "notes", value.notes);
  read_field(in, "samples", value.samples);
  read_field(in, "environment", value.environment);
  read_field(in, "trust", value.trust);
  read_field(in, "source_id", value.source_id);
  read_field(in, "machine_code_id", value.machine_code_id);
  if (in.contains("duplicate_of")) in.at("duplicate_of").get_to(value.duplicate_of);
  if (in.contains("mismatch") && !in.at("mismatch").is_null()) value.mismatch = mismatch_from_json(in.at("mismatch"));
  if (in.contains("ratio") && !in.at("ratio").is_null()) value.ratio = in.at("ratio").get<Interval>();
  if (in.contains("profile") && !in.at("profile").is_null()) value.profile = in.at("profile").get<Profile>();
  if (in.contains("tuning") && !in.at("tuning").is_null()) value.tuning = in.at("tuning").get<Tuning>();
  for (const Json& stage : in.value("stages", Json::array())) {
    value.stages.push_back({stage.at("name").get<std::string>(), stage.at("seconds").get<double>()});
  }
}

}  // namespace accelopt::model
