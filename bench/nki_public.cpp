// SPDX-License-Identifier: Apache-2.0
#include "nki_public.hpp"

#include <algorithm>
#include <utility>

#include "base/files.hpp"
#include "base/json.hpp"

namespace accelopt::bench {
namespace {

using base::ErrorCode;
using base::Result;

constexpr double kEpsilon = 1e-5;

std::string without_doubled_quotes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') ++i;
  }
  return out;
}

model::TensorSpec tensor(std::string name, const std::vector<std::int64_t>& shape, model::Definition& definition) {
  model::TensorSpec out;
  out.name = std::move(name);
  out.shape.emplace();
  for (const std::int64_t extent : shape) {
    const std::string axis = "N" + std::to_string(extent);
    if (std::none_of(definition.axes.begin(), definition.axes.end(),
                     [&](const model::Axis& known) { return known.name == axis; }))
      definition.axes.push_back({axis, extent});
    out.shape->push_back(axis);
  }
  return out;
}

}  // namespace

const std::vector<PublicKernel>& public_kernels() {
  static const std::vector<PublicKernel> kKernels{
      {"adamw", "adamw_M10944_N2048_0.py", {4, {10944, 2048}}, {10944, 2048}},
      {"add_rmsnorm_matmul",
       "add_rmsnorm_matmul_M4096_N2048_K1024_0.py",
       {{4096, 1024}, {1024, 2048}, {}, {4096, 1024}, {1024}},
       {4096, 2048}},
      {"bmm", "bmm_B16_M4096_K64_N4096_0.py", {{16, 4096, 64}, {16, 64, 4096}}, {16, 32, 128, 4096}},
      {"bmm_softmax", "bmm_softmax_B16_K64_M4096_N4096_0.py", {{16, 4096, 64}, {16, 64, 4096}}, {16, 32, 128, 4096}},
      {"gqa_full",
       "gqa_full_B1_N4096_QH16_KH8_D128_0.py",
       {{32, 128, 16, 128}, {1, 8, 4, 128, 8, 128}, {1, 32, 128, 1024}},
       {1, 8, 2, 32, 128, 128}},
      {"lora",
       "lora_M4096_N12288_K5120_R128_0.py",
       {{8, 4, 128, 40, 128}, {40, 128, 12288}, {40, 128, 128}, {128, 12288}},
       {8, 4, 128, 96, 128}},
      {"mamba",
       "mamba_M7168_C256_S16_0.py",
       {{256, 7168}, {256, 7168}, {256, 16}, {16, 7168}, {16, 7168}},
       {256, 7168}},
      {"matmul", "matmul_M4096_N12288_K5120_0.py", {{32, 128, 40, 128}, {40, 128, 12288}}, {32, 128, 12288}},
      {"matmul_add_rmsnorm",
       "matmul_add_rmsnorm_M4096_N2048_K2048_0.py",
       {{4096, 2048}, {2048, 2048}, {}, {4096, 2048}, {2048}},
       {4096, 2048}},
      {"rmsnorm_matmul", "rmsnorm_matmul_M4096_N2048_K1024_0.py", {{32, 128, 1024}, {8, 128, 2048}}, {32, 128, 2048}},
      {"rope_single_freq_apply",
       "rope_single_freq_apply_B1_H64_N4096_D128_0.py",
       {{128, 262144}, {64, 262144}, {64, 262144}},
       {128, 262144}},
      {"silu", "silu_M4096_N7168_0.py", {{128, 32, 7168}}, {128, 32, 7168}},
      {"swiglu",
       "swiglu_M4096_N3072_K1024_0.py",
       {{8, 4, 128, 8, 128}, {8, 128, 3072}, {24, 128, 1024}, {8, 128, 3072}},
       {32, 128, 1024}},
      {"transpose_matmul",
       "transpose_matmul_M4096_K2048_N10944_0.py",
       {{128, 16, 4096}, {128, 16, 10944}},
       {32, 128, 10944}}};
  return kKernels;
}

model::Task task_of(const PublicKernel& kernel) {
  model::Task out;
  out.target = "trainium";
  model::Definition& definition = out.definition;
  definition.name = kernel.name;
  for (const std::vector<std::int64_t>& shape : kernel.inputs) {
    const std::string name = "in" + std::to_string(definition.inputs.size());
    if (!shape.empty()) {
      definition.inputs.push_back(tensor(name, shape, definition));
      continue;
    }
    model::TensorSpec epsilon;
    epsilon.name = name;
    epsilon.init.kind = model::InitKind::constant;
    epsilon.init.first = kEpsilon;
    definition.inputs.push_back(std::move(epsilon));
  }
  definition.outputs.push_back(tensor("out", kernel.output, definition));
  out.workloads.push_back({.name = "published", .axes = {}});
  return out;
}

Result<model::Kernel> kernel_of(const std::filesystem::path& file) {
  TRY_ASSIGN(std::string text, base::read_file(file));
  return model::Kernel(model::Solution{model::Language("nki"), {{"kernel.py", std::move(text)}}});
}

Result<std::map<std::string, std::map<std::string, double>>> read_recorded(const std::filesystem::path& checkout) {
  const std::filesystem::path file = checkout / "experiments/full_complete_local/profile_results.csv";
  TRY_ASSIGN(const std::string text, base::read_file(file));
  std::map<std::string, std::map<std::string, double>> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    const std::size_t profile = line.find("\"{\"\"latency\"\"");
    const std::size_t close = line.rfind('"');
    if (profile == std::string_view::npos || close <= profile) continue;
    TRY_ASSIGN(const base::Json figures,
               base::parse_json(without_doubled_quotes(line.substr(profile + 1, close - profile - 1)), file.string()));
    std::map<std::string, double>& own = out[std::string(line.substr(0, line.find(',')))];
    for (const auto& [name, value] : figures.items()) {
      if (value.is_number()) own[name] = value.get<double>();
    }
  }
  if (out.empty()) return base::fail(ErrorCode::parse, file.string() + ": no recorded profiles");
  return out;
}

}  // namespace accelopt::bench
