// SPDX-License-Identifier: Apache-2.0
#include "nki_tutorials.hpp"

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "nki_public.hpp"
#include "targets/trainium/tracer.hpp"

namespace accelopt::bench {
namespace {

namespace fs = std::filesystem;
namespace trainium = targets::trainium;

/// A variant at a size, and what the tutorials say that it takes on a Trainium 1.
struct Variant {
  std::string name;
  fs::path file;
  std::vector<std::vector<std::int64_t>> inputs;
  std::vector<std::int64_t> output;
  double told_ms = 0;
};

/// The tutorial's tensors are bfloat16: half the bytes, and one pass of the tensor engine.
trainium::Generation halved() {
  trainium::Generation out = trainium::kTrn1;
  out.float32_passes = 1;
  out.dma_bytes_per_ns *= 2;
  out.sbuf_bytes *= 2;
  return out;
}

std::vector<std::vector<Variant>> multiplications() {
  const fs::path folder = ACCELOPT_NKI_KERNELS;
  std::vector<Variant> out;
  for (const auto& [name, told] : {std::pair{"tiled", 51.80}, std::pair{"hoisted", 42.96},
                                   std::pair{"blocked_free", 22.07}, std::pair{"blocked", 6.97}})
    out.push_back({std::string("matmul ") + name,
                   folder / (std::string("matmul_") + name + ".py"),
                   {{8192, 4096}, {8192, 8192}},
                   {4096, 8192},
                   told});
  return {out};
}

std::vector<std::vector<Variant>> mambas(const fs::path& checkout) {
  constexpr std::int64_t kChannels = 4096;
  constexpr std::int64_t kStates = 16;
  const auto at = [&](const char* name, std::int64_t length, double told) {
    return Variant{
        std::string("mamba ") + name + " " + std::to_string(length),
        checkout / "samples/nki" / (std::string("mamba_") + name + ".py"),
        {{kChannels, length}, {kChannels, length}, {kChannels, kStates}, {kStates, length}, {kStates, length}},
        {kChannels, length},
        told};
  };
  return {{at("v1", 512, 2.34), at("v2", 512, 1.61)},
          {at("v2", 1024, 4.4), at("v3", 1024, 3.3)},
          {at("v2", 2048, 8.9), at("v3", 2048, 6.6)},
          {at("v2", 4096, 17.6), at("v3", 4096, 13.3)},
          {at("v2", 8192, 53.3), at("v3", 8192, 27.8)}};
}

base::Result<double> modelled(const Variant& variant, const trainium::Generation& chip,
                              const capture::PythonOptions& python) {
  const model::Task task = task_of(PublicKernel{variant.name, {}, variant.inputs, variant.output});
  TRY_ASSIGN(const auto tracer, trainium::Tracer::create(task, chip, python, {}));
  TRY_ASSIGN(const model::Kernel source, kernel_of(variant.file));
  TRY_ASSIGN(const trainium::BuiltPtr built, tracer->build(source, {}));
  if (!built->report.built)
    return base::fail(base::ErrorCode::invalid_argument, variant.name + ": " + built->report.diagnostics);
  const trainium::Modelled& time = built->plans.begin()->second.time;
  const double mean = std::sqrt(time.hoist.ns * time.literal.ns) / 1e6;
  std::printf("    %-22s hoist %7.2f literal %7.2f mean %7.2f told %6.2f ms, ratio %.2f\n", variant.name.c_str(),
              time.hoist.ns / 1e6, time.literal.ns / 1e6, mean, variant.told_ms, mean / variant.told_ms);
  std::fflush(stdout);
  return mean;
}

}  // namespace

base::Result<Orders> order_tutorials(const fs::path& checkout, const capture::PythonOptions& python) {
  Orders out;
  const trainium::Generation narrow = halved();
  const auto order = [&](const std::vector<std::vector<Variant>>& groups,
                         const trainium::Generation& chip) -> base::Result<void> {
    for (const std::vector<Variant>& group : groups) {
      std::vector<double> times;
      for (const Variant& variant : group) {
        TRY_ASSIGN(const double ms, modelled(variant, chip, python));
        times.push_back(ms);
      }
      for (std::size_t i = 0; i < group.size(); ++i) {
        for (std::size_t j = i + 1; j < group.size(); ++j) {
          ++out.pairs;
          const bool right = (group[i].told_ms < group[j].told_ms) == (times[i] < times[j]);
          out.right += right ? 1 : 0;
          if (!right) std::printf("    in the wrong order: %s, %s\n", group[i].name.c_str(), group[j].name.c_str());
        }
      }
    }
    return {};
  };
  std::printf("variants of the tutorials (multiplications in bfloat16: half the bytes, one pass)\n");
  TRY(order(multiplications(), narrow));
  TRY(order(mambas(checkout), trainium::kTrn1));
  return out;
}

}  // namespace accelopt::bench
