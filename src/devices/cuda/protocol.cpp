// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/protocol.hpp"

namespace accelopt::model {

// Nobody else reads this form.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Numerics, lower_precision, normwise)

}  // namespace accelopt::model

namespace accelopt::devices::cuda {
namespace {

using base::Json;

std::uint64_t bits_of(double value) {
  return std::bit_cast<std::uint64_t>(value);
}
double value_of(const Json& bits) {
  return std::bit_cast<double>(bits.get<std::uint64_t>());
}

Json comparison_json(const evaluation::Comparison& comparison) {
  return {{"rule", comparison.violated},
          {"index", comparison.mismatch.index},
          {"expected", bits_of(comparison.mismatch.expected)},
          {"actual", bits_of(comparison.mismatch.actual)},
          {"error", bits_of(comparison.normwise_error)},
          {"bound", bits_of(comparison.mismatch.normwise_bound)},
          {"spread", comparison.spread}};
}

evaluation::Comparison comparison_from(const Json& in) {
  evaluation::Comparison out;
  out.violated = in.at("rule").get<evaluation::NumericalRule>();
  out.mismatch.index = in.at("index").get<std::int64_t>();
  out.mismatch.expected = value_of(in.at("expected"));
  out.mismatch.actual = value_of(in.at("actual"));
  out.normwise_error = out.mismatch.normwise_error = value_of(in.at("error"));
  out.mismatch.normwise_bound = value_of(in.at("bound"));
  out.spread = in.at("spread").get<std::string>();
  return out;
}

Json bands_json(const evaluation::BandSums& bands) {
  Json out = Json::array();
  for (const double one : bands) out.push_back(bits_of(one));
  return out;
}

evaluation::BandSums bands_from(const Json& in) {
  evaluation::BandSums out{};
  for (std::size_t band = 0; band < out.size(); ++band) out[band] = value_of(in.at(band));
  return out;
}

}  // namespace

// Plans and numbers as the device server takes them.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Argument, kind, name, offset, dtype, bits, words)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Launch, cubin, kernel, grid, block, cluster, shared_bytes, arguments, cooperative,
                                   spread, overlaps)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ScratchBuffer, name, dtype, bytes, zero)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TensorMap, name, tensor, offset, dtype, shape, box, swizzle_bytes, strides, nan_fill)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LaunchPlan, launches, scratch, tensor_maps)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SlotInput, name, dtype, count, row_length, scalar, scalar_bits, bulk, kind, first,
                                   second, family, seed, perturbation_step)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SlotOutput, name, dtype, shape, count)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ReferenceProgram, program, plan)

void to_json(Json& out, const OpenRequest& value) {
  out = {{"device", value.device},
         {"driver", value.driver},
         {"management", value.management},
         {"check_bytes", value.check_bytes}};
}
void from_json(const Json& in, OpenRequest& value) {
  in.at("device").get_to(value.device);
  in.at("driver").get_to(value.driver);
  in.at("management").get_to(value.management);
  in.at("check_bytes").get_to(value.check_bytes);
}

void to_json(Json& out, const DeviceFacts& value) {
  out = {{"name", value.name},
         {"uuid", value.uuid},
         {"driver_version", value.driver_version},
         {"compute_major", value.compute_major},
         {"compute_minor", value.compute_minor},
         {"multiprocessors", value.multiprocessors},
         {"l2_bytes", value.l2_bytes},
         {"memory_bytes", value.memory_bytes},
         {"shared_bytes_per_block", value.shared_bytes_per_block},
         {"shared_bytes_per_multiprocessor", value.shared_bytes_per_multiprocessor},
         {"registers_per_block", value.registers_per_block},
         {"registers_per_multiprocessor", value.registers_per_multiprocessor},
         {"threads_per_block", value.threads_per_block},
         {"threads_per_multiprocessor", value.threads_per_multiprocessor},
         {"unseen", value.unseen}};
}
void from_json(const Json& in, DeviceFacts& value) {
  in.at("name").get_to(value.name);
  in.at("uuid").get_to(value.uuid);
  in.at("driver_version").get_to(value.driver_version);
  in.at("compute_major").get_to(value.compute_major);
  in.at("compute_minor").get_to(value.compute_minor);
  in.at("multiprocessors").get_to(value.multiprocessors);
  in.at("l2_bytes").get_to(value.l2_bytes);
  in.at("memory_bytes").get_to(value.memory_bytes);
  in.at("shared_bytes_per_block").get_to(value.shared_bytes_per_block);
  in.at("shared_bytes_per_multiprocessor").get_to(value.shared_bytes_per_multiprocessor);
  in.at("registers_per_block").get_to(value.registers_per_block);
  in.at("registers_per_multiprocessor").get_to(value.registers_per_multiprocessor);
  in.at("threads_per_block").get_to(value.threads_per_block);
  in.at("threads_per_multiprocessor").get_to(value.threads_per_multiprocessor);
  in.at("unseen").get_to(value.unseen);
}

void to_json(Json& out, const CubinRequest& value) {
  out = {{"id", value.id}, {"bytes", value.bytes}};
}
void from_json(const Json& in, CubinRequest& value) {
  in.at("id").get_to(value.id);
  in.at("bytes").get_to(value.bytes);
}

void to_json(Json& out, const ProgramRequest& value) {
  out = {{"id", value.id}, {"cubins", value.cubins}, {"plans", value.plans}};
}
void from_json(const Json& in, ProgramRequest& value) {
  in.at("id").get_to(value.id);
  in.at("cubins").get_to(value.cubins);
  in.at("plans").get_to(value.plans);
}

void to_json(Json& out, const SlotRequest& value) {
  out = {{"number", value.number},       {"variants", value.variants},         {"outputs", value.outputs},
         {"numerics", value.numerics},   {"perturbation", value.perturbation}, {"every_run", value.every_run},
         {"in_double", value.in_double}, {"in_float", value.in_float},         {"compare", value.compare}};
  out["given"] = Json::array();
  for (const HostOutputs& one : value.given)
    out["given"].push_back({{"bounds", bounds_json(one.bounds)}, {"rows", one.rows}});
}
void from_json(const Json& in, SlotRequest& value) {
  in.at("number").get_to(value.number);
  in.at("variants").get_to(value.variants);
  in.at("outputs").get_to(value.outputs);
  in.at("numerics").get_to(value.numerics);
  in.at("perturbation").get_to(value.perturbation);
  in.at("every_run").get_to(value.every_run);
  in.at("in_double").get_to(value.in_double);
  in.at("in_float").get_to(value.in_float);
  in.at("compare").get_to(value.compare);
  value.given.clear();
  for (const Json& one : in.at("given"))
    value.given.push_back({bounds_from(one.at("bounds")), one.at("rows").get<std::vector<std::uint64_t>>()});
}

void to_json(Json& out, const StartRequest& value) {
  out = {{"live", value.live}, {"program", value.program}};
}
void from_json(const Json& in, StartRequest& value) {
  in.at("live").get_to(value.live);
  in.at("program").get_to(value.program);
}

void to_json(Json& out, const CallRequest& value) {
  out = {{"live", value.live},         {"slot", value.slot},   {"plan", value.plan},
         {"limit_ns", value.limit_ns}, {"cold", value.cold},   {"poison_seed", value.poison_seed},
         {"repeat", value.repeat},     {"count", value.count}, {"poison", value.poison},
         {"alone", value.alone}};
  if (!value.own) return;
  out["own"] = *value.own;
  out["own_cubins"] = value.own_cubins;
}
void from_json(const Json& in, CallRequest& value) {
  in.at("live").get_to(value.live);
  in.at("slot").get_to(value.slot);
  in.at("plan").get_to(value.plan);
  in.at("limit_ns").get_to(value.limit_ns);
  in.at("cold").get_to(value.cold);
  in.at("poison_seed").get_to(value.poison_seed);
  in.at("repeat").get_to(value.repeat);
  in.at("count").get_to(value.count);
  in.at("poison").get_to(value.poison);
  in.at("alone").get_to(value.alone);
  if (const auto own = in.find("own"); own != in.end()) {
    value.own = own->get<LaunchPlan>();
    in.at("own_cubins").get_to(value.own_cubins);
  }
}

void to_json(Json& out, const OneCallRequest& value) {
  out = {{"open", value.open},     {"cubin_bytes", value.cubin_bytes},  {"plan", value.plan},
         {"inputs", value.inputs}, {"outputs", value.outputs},          {"times", value.times},
         {"poison", value.poison}, {"poison_seed", value.poison_seed},  {"limit_seconds", value.limit_seconds},
         {"layout", value.layout}, {"keep_outputs", value.keep_outputs}};
}
void from_json(const Json& in, OneCallRequest& value) {
  in.at("open").get_to(value.open);
  in.at("cubin_bytes").get_to(value.cubin_bytes);
  in.at("plan").get_to(value.plan);
  in.at("inputs").get_to(value.inputs);
  in.at("outputs").get_to(value.outputs);
  in.at("times").get_to(value.times);
  in.at("poison").get_to(value.poison);
  in.at("layout").get_to(value.layout);
  in.at("poison_seed").get_to(value.poison_seed);
  in.at("limit_seconds").get_to(value.limit_seconds);
  in.at("keep_outputs").get_to(value.keep_outputs);
}

void to_json(Json& out, const CallReply& value) {
  const evaluation::CallOutcome& outcome = value.outcome;
  out = {{"end", outcome.end},
         {"reason", outcome.reason},
         {"time_ns", bits_of(outcome.time_ns)},
         {"disturbed", outcome.disturbed},
         {"disturbance", outcome.disturbance},
         {"wrote_outside", outcome.wrote_outside},
         {"caught", outcome.caught},
         {"fault", outcome.fault},
         {"clock_mhz", bits_of(outcome.clock_mhz)},
         {"lag_ns", bits_of(outcome.lag_ns.value_or(0))},
         {"dead", value.dead}};
  out["counts"] = Json::array();
  for (const model::ProfileItem& item : outcome.counts)
    out["counts"].push_back({item.name, bits_of(item.value), item.unit, item.meaning});
  out["comparisons"] = Json::array();
  for (const auto& comparison : outcome.comparisons) out["comparisons"].push_back(comparison_json(comparison));
  if (outcome.disagreement) {
    const evaluation::Disagreement& place = *outcome.disagreement;
    out["disagreement"] = {{"output", place.output},
                           {"index", place.index},
                           {"kept", bits_of(place.kept)},
                           {"again", bits_of(place.again)}};
  }
}
void from_json(const Json& in, CallReply& value) {
  evaluation::CallOutcome& outcome = value.outcome;
  in.at("end").get_to(outcome.end);
  in.at("reason").get_to(outcome.reason);
  outcome.time_ns = value_of(in.at("time_ns"));
  in.at("disturbed").get_to(outcome.disturbed);
  in.at("disturbance").get_to(outcome.disturbance);
  in.at("wrote_outside").get_to(outcome.wrote_outside);
  in.at("caught").get_to(outcome.caught);
  in.at("fault").get_to(outcome.fault);
  outcome.clock_mhz = value_of(in.at("clock_mhz"));
  outcome.lag_ns = value_of(in.at("lag_ns"));
  in.at("dead").get_to(value.dead);
  outcome.counts.clear();
  for (const Json& item : in.at("counts")) {
    outcome.counts.push_back({item.at(0).get<std::string>(), value_of(item.at(1)), item.at(2).get<std::string>(),
                              item.at(3).get<std::string>()});
  }
  outcome.comparisons.clear();
  for (const Json& comparison : in.at("comparisons")) outcome.comparisons.push_back(comparison_from(comparison));
  if (const auto found = in.find("disagreement"); found != in.end()) {
    outcome.disagreement =
        evaluation::Disagreement{found->at("output").get<std::size_t>(), found->at("index").get<std::int64_t>(),
                                 value_of(found->at("kept")), value_of(found->at("again"))};
  }
}

Json bounds_json(const std::vector<evaluation::Bounds>& bounds) {
  Json out = Json::array();
  for (const evaluation::Bounds& one : bounds) {
    out.push_back({{"normwise", bits_of(one.normwise)},
                   {"row_length", one.row_length},
                   {"relative", bits_of(one.relative)},
                   {"absolute", bits_of(one.absolute)},
                   {"scale", bits_of(one.scale)},
                   {"norm", bits_of(one.norm)},
                   {"honest_normwise", bits_of(one.honest_normwise)},
                   {"honest_elementwise", bits_of(one.honest_elementwise)},
                   {"bands", bands_json(one.bands)},
                   {"band_counts", bands_json(one.band_counts)},
                   {"float_is_finite", one.float_is_finite}});
  }
  return out;
}

std::vector<evaluation::Bounds> bounds_from(const Json& in) {
  std::vector<evaluation::Bounds> out;
  for (const Json& one : in) {
    evaluation::Bounds bounds;
    bounds.normwise = value_of(one.at("normwise"));
    one.at("row_length").get_to(bounds.row_length);
    bounds.relative = value_of(one.at("relative"));
    bounds.absolute = value_of(one.at("absolute"));
    bounds.scale = value_of(one.at("scale"));
    bounds.norm = value_of(one.at("norm"));
    bounds.honest_normwise = value_of(one.at("honest_normwise"));
    bounds.honest_elementwise = value_of(one.at("honest_elementwise"));
    bounds.bands = bands_from(one.at("bands"));
    bounds.band_counts = bands_from(one.at("band_counts"));
    one.at("float_is_finite").get_to(bounds.float_is_finite);
    out.push_back(std::move(bounds));
  }
  return out;
}

}  // namespace accelopt::devices::cuda
