// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/constants.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/json.hpp"

namespace accelopt::targets::trainium {
namespace {

using base::ErrorCode;
using base::Json;

constexpr int kSchema = 1;
constexpr std::size_t kMostBytes = 4U << 20;
constexpr std::size_t kShortId = 8;

constexpr std::array<std::pair<const char*, double Generation::*>, 10> kConstants{
    {{"tensor_ghz", &Generation::tensor_ghz},
     {"vector_ghz", &Generation::vector_ghz},
     {"vector_start", &Generation::vector_start},
     {"scalar_ghz", &Generation::scalar_ghz},
     {"scalar_start", &Generation::scalar_start},
     {"reciprocal", &Generation::reciprocal},
     {"descriptor_ns", &Generation::descriptor_ns},
     {"dma_bytes_per_ns", &Generation::dma_bytes_per_ns},
     {"dma_latency_ns", &Generation::dma_latency_ns},
     {"start_ns", &Generation::start_ns}}};

}  // namespace

base::Result<MeasuredChip> with_constants(const Generation& chip, const std::filesystem::path& file) {
  TRY_ASSIGN(const std::string text, base::read_foreign_file(file, kMostBytes));
  TRY_ASSIGN(const Json json, base::parse_json(text, file.string()));
  const auto refuse = [&](ErrorCode code, const std::string& why) {
    return base::fail(code, fmt::format("{}: {}; write it with scripts/neuron-constants.py", file.string(), why));
  };
  if (!json.is_object() || json.value("schema", Json()) != kSchema || !json.contains("constants") ||
      !json["constants"].is_object())
    return refuse(ErrorCode::corrupt, fmt::format("no constants of version {}", kSchema));
  const std::string machine = base::text_at(json, "machine");
  if (machine.starts_with("trn") && !machine.starts_with(chip.name))
    return refuse(ErrorCode::invalid_argument, fmt::format("measured on {}, and not on {}", machine, chip.name));
  MeasuredChip out{chip, {}};
  for (const auto& [name, value] : json["constants"].items()) {
    const double number = value.is_number() ? value.get<double>() : std::nan("");
    if (!std::isfinite(number) || number <= 0)
      return refuse(ErrorCode::invalid_argument, fmt::format("\"{}\" is {}, and has to be over 0", name, value.dump()));
    const auto* const known = std::find_if(kConstants.begin(), kConstants.end(),
                                           [&wanted = name](const auto& one) { return one.first == wanted; });
    if (known == kConstants.end())
      return refuse(ErrorCode::invalid_argument, fmt::format("\"{}\" is no constant of the model", name));
    out.chip.*known->second = number;
  }
  out.chip.calibrated = true;
  out.source = fmt::format("neuronxcc {} on {}, {}", base::text_at(json, "neuronxcc"), machine,
                           base::sha256_hex(text).substr(0, kShortId));
  return out;
}

}  // namespace accelopt::targets::trainium
