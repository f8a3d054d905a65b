// SPDX-License-Identifier: Apache-2.0
#include "packages/launcher.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/expression.hpp"
#include "packages/package_text.hpp"

namespace accelopt::packages {
namespace {

using model::DType;

/// More blocks in a cluster than any device has to take.
constexpr int kPortableCluster = 8;

constexpr const char* kHead = R"(// Launches the kernels by the CUDA driver's interface.
#include "@HEADER@"

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

// The kernels' machine code, which the build puts into the library.
asm(".section .rodata\n.balign 64\n.hidden @NAME@_image\n.global @NAME@_image\n@NAME@_image:\n.incbin \"" KERNELS "\"\n.previous\n");
extern "C" const unsigned char @NAME@_image[];

namespace {

[[maybe_unused]] int64_t cdiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
[[maybe_unused]] int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }
[[maybe_unused]] int64_t max(int64_t a, int64_t b) { return a < b ? b : a; }
[[maybe_unused]] size_t aligned_(int64_t bytes) { return (static_cast<size_t>(bytes) + 255) / 256 * 256; }
[[maybe_unused]] unsigned extent_(int64_t value) { return static_cast<unsigned>(value); }

constexpr const char* kKernelNames[] = {@KERNELS@};
constexpr int kKernels = sizeof kKernelNames / sizeof *kKernelNames;
struct Kernels {
  CUfunction functions[kKernels];
};

/// The kernels in the current context, which loads them once.
CUresult kernels_here_(const Kernels** found) {
  static std::mutex guard;
  static std::map<CUcontext, Kernels> loaded;
  CUcontext context = nullptr;
  CUresult code = cuCtxGetCurrent(&context);
  if (code != CUDA_SUCCESS) return code;
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const std::lock_guard<std::mutex> lock(guard);
  const auto here = loaded.find(context);
  if (here != loaded.end()) {
    *found = &here->second;
    return CUDA_SUCCESS;
  }
  CUmodule module = nullptr;
  code = cuModuleLoadData(&module, @NAME@_image);
  Kernels kernels{};
  for (int i = 0; i < kKernels && code == CUDA_SUCCESS; ++i)
    code = cuModuleGetFunction(&kernels.functions[i], module, kKernelNames[i]);
  if (code == CUDA_SUCCESS) *found = &loaded.emplace(context, kernels).first->second;
  return code;
}

CUresult launch_(CUstream stream, CUfunction function, const unsigned (&grid)[3], const unsigned (&block)[3], const unsigned (&cluster)[3],
                unsigned shared, void** parameters) {
  CUresult code = CUDA_SUCCESS;
  if (shared > 0) code = cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(shared));
  if (code != CUDA_SUCCESS) return code;
  if (cluster[0] == 0)
    return cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, stream, parameters, nullptr);
  if (cluster[0] * cluster[1] * cluster[2] > @PORTABLE@)
    code = cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
  if (code != CUDA_SUCCESS) return code;
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim.x = cluster[0];
  attribute.value.clusterDim.y = cluster[1];
  attribute.value.clusterDim.z = cluster[2];
  CUlaunchConfig config{};
  config.gridDimX = grid[0];
  config.gridDimY = grid[1];
  config.gridDimZ = grid[2];
  config.blockDimX = block[0];
  config.blockDimY = block[1];
  config.blockDimZ = block[2];
  config.sharedMemBytes = shared;
  config.hStream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cuLaunchKernelEx(&config, function, parameters, nullptr);
}

}  // namespace

)";

std::string type_of(const Parameter& parameter) {
  if (parameter.kind == Parameter::Kind::axis) return "int64_t ";
  if (parameter.kind == Parameter::Kind::tensor) return "const void* ";
  if (parameter.kind == Parameter::Kind::output) return "void* ";
  switch (parameter.dtype) {
    case DType::float16:
    case DType::bfloat16:
      return "uint16_t ";  // its bits
    case DType::float8_e4m3fn:
    case DType::float8_e5m2:
      return "uint8_t ";
    default:
      return std::string(model::c_name(parameter.dtype)) + " ";
  }
}

std::string axes_list(const model::Definition& definition) {
  std::string out;
  for (const std::string& axis : model::variable_axes(definition))
    out += (out.empty() ? "int64_t " : ", int64_t ") + axis;
  return out;
}

std::string argument_list(const model::Definition& definition) {
  std::string out = "CUstream stream_, void* scratch_";
  for (const Parameter& parameter : parameters_of(definition)) out += ", " + type_of(parameter) + parameter.name;
  return out;
}

std::string driver_type(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return "CU_TENSOR_MAP_DATA_TYPE_FLOAT64";
    case DType::float32:
      return "CU_TENSOR_MAP_DATA_TYPE_FLOAT32";
    case DType::float16:
      return "CU_TENSOR_MAP_DATA_TYPE_FLOAT16";
    case DType::bfloat16:
      return "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16";
    case DType::int64:
      return "CU_TENSOR_MAP_DATA_TYPE_INT64";
    case DType::uint64:
      return "CU_TENSOR_MAP_DATA_TYPE_UINT64";
    case DType::int32:
      return "CU_TENSOR_MAP_DATA_TYPE_INT32";
    case DType::uint32:
      return "CU_TENSOR_MAP_DATA_TYPE_UINT32";
    case DType::int16:
    case DType::uint16:
      return "CU_TENSOR_MAP_DATA_TYPE_UINT16";
    default:
      return "CU_TENSOR_MAP_DATA_TYPE_UINT8";
  }
}

/// A launcher on its way into text.
class Writer {
 public:
  explicit Writer(const LauncherRequest& request) : request_(request) {}

  base::Result<std::string> run() {
    TRY(write_scratch());
    for (const model::TensorMapDirective& map : request_.directives.tensor_maps) TRY(write_map(map));
    for (const model::LaunchDirective& launch : request_.directives.launches) TRY(write_launch(launch));
    return text();
  }

 private:
  /// The expression in C++: what it names are int64_t of the function, its numbers long enough. Only positive sizes
  /// are divided in a plan that binds, where rounding to zero and rounding down are the same.
  [[nodiscard]] static base::Result<std::string> expression(const model::PlacedExpression& placed) {
    if (const auto fault = base::expression_fault(placed.text)) {
      return base::fail(base::ErrorCode::invalid_argument, fmt::format("{}: {}", placed.text, fault->reason));
    }
    std::string out;
    for (std::size_t at = 0; at < placed.text.size();) {
      const auto is_word = [&](std::size_t i) {
        return i < placed.text.size() &&
               (std::isalnum(static_cast<unsigned char>(placed.text[i])) != 0 || placed.text[i] == '_');
      };
      std::size_t end = at;
      while (is_word(end)) ++end;
      const bool number = std::isdigit(static_cast<unsigned char>(placed.text[at])) != 0;
      if (end == at) end = at + 1;
      out += number ? "INT64_C(" + placed.text.substr(at, end - at) + ")" : placed.text.substr(at, end - at);
      at = end;
    }
    return out;
  }

  /// Three extents, missing ones as `rest`.
  [[nodiscard]] static base::Result<std::string> extents(const std::vector<model::PlacedExpression>& given,
                                                         const std::string& rest) {
    std::array<std::string, 3> out{rest, rest, rest};
    for (std::size_t i = 0; i < std::min(given.size(), out.size()); ++i) {
      TRY_ASSIGN(const std::string text, expression(given[i]));
      out.at(i) = "extent_(" + text + ")";
    }
    return fmt::format("{{{}}}", fmt::join(out, ", "));
  }

  base::Result<void> write_scratch() {
    for (const model::ScratchDirective& scratch : request_.directives.scratch) {
      std::string bytes = fmt::format("INT64_C({})", model::size_of(scratch.dtype));
      for (const model::PlacedExpression& extent : scratch.shape) {
        TRY_ASSIGN(const std::string text, expression(extent));
        bytes += " * (" + text + ")";
      }
      sizes_ += fmt::format("  bytes_ += aligned_({});  // {}\n", bytes, scratch.name);
      body_ += fmt::format("  void* {} = static_cast<char*>(scratch_) + bytes_;\n  bytes_ += aligned_({});\n",
                           scratch.name, bytes);
      if (!scratch.zero) continue;
      body_ += fmt::format(
          "  code_ = cuMemsetD8Async(reinterpret_cast<CUdeviceptr>({}), 0, static_cast<size_t>({}), stream_);\n"
          "  if (code_ != CUDA_SUCCESS) return code_;\n",
          scratch.name, bytes);
    }
    return {};
  }

  /// Type and extents, outermost first, of the input, output or scratch tensor. @error invalid_argument: none.
  [[nodiscard]] base::Result<std::pair<DType, std::vector<std::string>>> tensor(const std::string& name) const {
    for (const Parameter& parameter : parameters_of(request_.definition)) {
      if (parameter.name == name) return std::pair{parameter.dtype, parameter.shape};
    }
    for (const model::ScratchDirective& scratch : request_.directives.scratch) {
      if (scratch.name != name) continue;
      std::vector<std::string> shape;
      for (const model::PlacedExpression& extent : scratch.shape) {
        TRY_ASSIGN(std::string text, expression(extent));
        shape.push_back(std::move(text));
      }
      return std::pair{scratch.dtype, std::move(shape)};
    }
    return base::fail(base::ErrorCode::invalid_argument, "a tensor map names " + name + ", which is no tensor");
  }

  base::Result<void> write_map(const model::TensorMapDirective& map) {
    TRY_ASSIGN(auto found, tensor(map.tensor.text));
    auto& [dtype, shape] = found;
    std::reverse(shape.begin(), shape.end());
    std::vector<std::string> box;
    std::vector<std::string> steps;
    for (const model::PlacedExpression& extent : map.box) {
      TRY_ASSIGN(const std::string text, expression(extent));
      box.push_back("extent_(" + text + ")");
      steps.emplace_back("1");
    }
    std::string strides;
    std::string stride = fmt::format("UINT64_C({})", model::size_of(dtype));
    for (std::size_t i = 0; i + 1 < shape.size(); ++i) {
      stride += fmt::format(" * cuuint64_t({})", shape[i]);
      strides += (i == 0 ? "" : ", ") + stride;
    }
    std::vector<std::string> extents;
    for (const std::string& one : shape) extents.push_back("cuuint64_t(" + one + ")");
    const std::string swizzle = map.swizzle_bytes == 0 ? "NONE" : std::to_string(map.swizzle_bytes) + "B";
    body_ += fmt::format(
        "  CUtensorMap {0};\n  {{\n    const cuuint64_t extents_[] = {{{1}}};\n    const cuuint64_t strides_[] = "
        "{{{2}}};\n"
        "    const cuuint32_t box_[] = {{{3}}};\n    const cuuint32_t steps_[] = {{{4}}};\n"
        "    code_ = cuTensorMapEncodeTiled(&{0}, {5}, {6}, const_cast<void*>(static_cast<const void*>({7})), "
        "extents_,\n"
        "                                  strides_, box_, steps_, CU_TENSOR_MAP_INTERLEAVE_NONE, "
        "CU_TENSOR_MAP_SWIZZLE_{8},\n"
        "                                  CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);\n"
        "    if (code_ != CUDA_SUCCESS) return code_;\n  }}\n",
        map.name, fmt::join(extents, ", "), strides.empty() ? "0" : strides, fmt::join(box, ", "),
        fmt::join(steps, ", "), driver_type(dtype), shape.size(), map.tensor.text, swizzle);
    return {};
  }

  base::Result<void> write_launch(const model::LaunchDirective& launch) {
    TRY_ASSIGN(const std::string grid, extents(launch.grid, "1"));
    TRY_ASSIGN(const std::string block, extents(launch.block, "1"));
    TRY_ASSIGN(const std::string cluster, extents(launch.cluster, launch.cluster.empty() ? "0" : "1"));
    std::string shared = "0";
    if (launch.smem) {
      TRY_ASSIGN(shared, expression(*launch.smem));
    }
    std::vector<std::string> places;
    for (const model::PlacedExpression& argument : launch.args) {
      places.push_back(fmt::format("const_cast<void*>(static_cast<const void*>(&{}))", argument.text));
    }
    const auto known = std::find(kernels_.begin(), kernels_.end(), launch.kernel);
    const auto place = known - kernels_.begin();
    if (known == kernels_.end()) kernels_.push_back(launch.kernel);
    body_ += fmt::format(
        "  {{  // {}\n    const unsigned grid_[] = {};\n    const unsigned block_[] = {};\n    const unsigned "
        "cluster_[] = {};\n"
        "    void* parameters_[] = {{{}}};\n"
        "    code_ = launch_(stream_, kernels_->functions[{}], grid_, block_, cluster_, extent_({}), parameters_);\n"
        "    if (code_ != CUDA_SUCCESS) return code_;\n  }}\n",
        launch.kernel, grid, block, cluster, fmt::join(places, ",\n                          "), place, shared);
    return {};
  }

  [[nodiscard]] std::string text() const {
    std::string names;
    std::string constants;
    for (const std::string& kernel : kernels_) names += (names.empty() ? "\"" : ", \"") + kernel + "\"";
    for (const model::Axis& axis : request_.definition.axes) {
      if (axis.value)
        constants += fmt::format("  [[maybe_unused]] static constexpr int64_t {} = {};\n", axis.name, *axis.value);
    }
    for (const model::TunedName& tuned : request_.directives.tuned) {
      constants +=
          fmt::format("  [[maybe_unused]] static constexpr int64_t {} = {};\n", tuned.name, tuned.values.front());
    }
    std::string out = replaced(replaced(kHead, "@NAME@", request_.name), "@KERNELS@", names);
    out = replaced(std::move(out), "@PORTABLE@", std::to_string(kPortableCluster));
    std::string positive;
    for (const std::string& axis : model::variable_axes(request_.definition))
      positive += (positive.empty() ? "" : " || ") + axis + " <= 0";
    std::string unused;
    for (const Parameter& parameter : parameters_of(request_.definition))
      unused += fmt::format("  (void){};\n", parameter.name);
    const std::string check =
        positive.empty() ? "" : fmt::format("  if ({}) return CUDA_ERROR_INVALID_VALUE;\n", positive);
    std::string axes_unused;
    for (const std::string& axis : model::variable_axes(request_.definition))
      axes_unused += fmt::format("  (void){};\n", axis);
    return out +
           fmt::format(
               "extern \"C\" size_t {}_scratch_bytes({}) {{\n{}{}  size_t bytes_ = 0;\n{}  return bytes_;\n}}\n\n",
               request_.name, axes_list(request_.definition), constants, axes_unused, sizes_) +
           fmt::format(
               "extern \"C\" CUresult {}({}) {{\n{}{}{}  [[maybe_unused]] size_t bytes_ = 0;\n"
               "  (void)scratch_;\n  const Kernels* kernels_ = nullptr;\n  CUresult code_ = kernels_here_(&kernels_);\n"
               "  if (code_ != CUDA_SUCCESS) return code_;\n{}  return CUDA_SUCCESS;\n}}\n",
               request_.name, argument_list(request_.definition), constants, unused, check, body_);
  }

  const LauncherRequest& request_;
  std::vector<std::string> kernels_;
  std::string sizes_;
  std::string body_;
};

}  // namespace

std::string launcher_declarations(const model::Definition& definition, const std::string& name) {
  return fmt::format("size_t {}_scratch_bytes({});\nCUresult {}({});\n", name,
                     axes_list(definition).empty() ? "void" : axes_list(definition), name, argument_list(definition));
}

base::Result<std::string> launcher_source(const LauncherRequest& request) {
  return Writer(request).run();
}

}  // namespace accelopt::packages
