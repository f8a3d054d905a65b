// SPDX-License-Identifier: Apache-2.0
// What stands in for the compiler and the core of a Neuron device in tests: the model of Trainium 1, behind the
// stand-in for the vendor's package.
//
//   neuron_simulator compile CALL NEFF    checks and times the trace in CALL; NEFF gets the figures of the profiler
//   neuron_simulator run CALL NEFF        executes it on the files that CALL names
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/json.hpp"
#include "targets/trainium/check.hpp"
#include "targets/trainium/chip.hpp"
#include "targets/trainium/execute.hpp"
#include "targets/trainium/lower.hpp"
#include "targets/trainium/program.hpp"
#include "targets/trainium/schedule.hpp"

namespace {

using namespace accelopt;
using namespace accelopt::targets::trainium;
using base::Json;

std::vector<Extent> extents(const Json& tensors) {
  std::vector<Extent> out;
  for (const Json& one : tensors)
    out.push_back({one.at("name").get<std::string>(), one.at("shape").get<std::vector<std::int64_t>>()});
  return out;
}

base::Result<void> compile(const Program& program, const std::string& neff) {
  if (const Refusal refusal = check(program, kTrn1); !refusal.message.empty())
    return base::fail(base::ErrorCode::invalid_argument,
                      "line " + std::to_string(refusal.line) + ": " + refusal.message);
  const Lowered traffic = lower(program, kTrn1, Policy::literal);
  TRY_ASSIGN(const Timing time, schedule(program, traffic, kTrn1));
  const Counters& counted = traffic.counters;
  const auto active = [&](Queue queue) { return time.busy_ns.at(static_cast<std::size_t>(queue)) / time.ns; };
  const auto moved = static_cast<double>(traffic.read_bytes + traffic.written_bytes);
  const Json figures = {{"total_time", time.ns * 1e-9},
                        {"hbm_read_bytes", traffic.read_bytes},
                        {"hbm_write_bytes", traffic.written_bytes},
                        {"psum_read_bytes", counted.psum_read},
                        {"psum_write_bytes", counted.psum_written},
                        {"sbuf_read_bytes", counted.sbuf_read},
                        {"sbuf_write_bytes", counted.sbuf_written},
                        {"spill_reload_bytes", traffic.reloaded_bytes},
                        {"spill_save_bytes", traffic.saved_bytes},
                        {"hardware_flops", counted.flops},
                        {"transpose_flops", counted.transpose_flops},
                        {"peak_flops_bandwidth_ratio", 223.78},
                        {"mm_arithmetic_intensity", moved > 0 ? (counted.flops - counted.transpose_flops) / moved : 0},
                        {"hfu_estimated_percent", counted.flops / (91.75e3 * time.ns)},
                        {"scalar_engine_active_time_percent", active(Queue::scalar)},
                        {"vector_engine_active_time_percent", active(Queue::vector)},
                        {"gpsimd_engine_active_time_percent", 0.0}};
  return base::write_file(neff, base::canonical(figures));
}

base::Result<void> run(const Program& program, const Json& call) {
  std::vector<std::vector<float>> inputs;
  for (const Json& one : call.at("inputs")) {
    TRY_ASSIGN(const std::string bytes, base::read_file(one.at("file").get<std::string>()));
    std::memcpy(inputs.emplace_back(bytes.size() / sizeof(float)).data(), bytes.data(), bytes.size());
  }
  std::vector<std::vector<float>> outputs;
  for (const std::size_t buffer : program.outputs)
    outputs.emplace_back(static_cast<std::size_t>(program.buffers[buffer].size()));
  // What nobody wrote is whatever the memory held: a device does not know poison.
  TRY(execute(program, {inputs.begin(), inputs.end()}, {outputs.begin(), outputs.end()}, {}));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto* const bytes = reinterpret_cast<const char*>(outputs[i].data());
    TRY(base::write_file(call.at("outputs").at(i).at("file").get<std::string>(),
                         {bytes, outputs[i].size() * sizeof(float)}));
  }
  return {};
}

base::Result<void> carry_out(const std::string& operation, const std::string& file, const std::string& neff) {
  TRY_ASSIGN(const std::string text, base::read_file(file));
  TRY_ASSIGN(const Json call, base::parse_json(text, file));
  TRY_ASSIGN(const Program program,
             read_program(call.at("trace"), extents(call.at("inputs")), extents(call.at("outputs"))));
  return operation == "compile" ? compile(program, neff) : run(program, call);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto done = carry_out(argv[1], argv[2], argv[3]);
  if (done) return 0;
  std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return 1;
}
