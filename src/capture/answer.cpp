// SPDX-License-Identifier: Apache-2.0
#include "capture/answer.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "capture/host_ops.hpp"

namespace accelopt::capture {
namespace {

using base::ErrorCode;
using base::Json;
using base::Result;
using devices::cuda::Argument;
using devices::cuda::Launch;
using devices::cuda::LaunchPlan;
using devices::cuda::TensorMap;

constexpr std::size_t kMostMessageBytes = 16U << 10;
constexpr std::uint64_t kMostScratchBytes = 16ULL << 30;
constexpr std::size_t kMostAxesOfMap = 5;

/// The beginning of a solution's words, without what a terminal would take for a command.
std::string clipped(std::string_view text, std::size_t most) {
  std::string out;
  for (text = text.substr(0, most); !text.empty();) {
    const base::Character c = base::first_character(text);
    const bool harmless =
        c.valid && !base::is_control(c.code) && !base::changes_direction(c.code) && !base::is_invisible(c.code);
    out += harmless ? text.substr(0, c.bytes) : "?";
    text.remove_prefix(c.bytes);
  }
  return out;
}

Result<void> damaged(const std::string& what) {
  return base::fail(ErrorCode::corrupt, "the captured plan " + what);
}

bool is_count(const Json& value) {
  return value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
}

/// A number from 0 to `most`. @error corrupt.
Result<std::uint64_t> count_at(const Json& object, const char* key, std::uint64_t most) {
  const auto found = object.find(key);
  if (found == object.end() || !is_count(*found) || found->get<std::uint64_t>() > most)
    return base::fail(ErrorCode::corrupt, std::string("the captured plan has no usable \"") + key + "\"");
  return found->get<std::uint64_t>();
}

Result<std::array<std::uint32_t, 3>> extents_at(const Json& object, const char* key) {
  std::array<std::uint32_t, 3> out{};
  const auto found = object.find(key);
  const bool three = found != object.end() && found->is_array() && found->size() == out.size();
  for (std::size_t i = 0; three && i < out.size(); ++i) {
    const Json& one = (*found)[i];
    if (!is_count(one) || one.get<std::uint64_t>() > 0x7fffffff) break;
    out.at(i) = one.get<std::uint32_t>();
    if (i + 1 == out.size()) return out;
  }
  return base::fail(ErrorCode::corrupt, std::string("the captured plan has no usable \"") + key + "\"");
}

bool is_symbol(std::string_view name) {
  return !name.empty() && name.size() <= 512 && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '$' || c == '.';
  });
}

std::uint64_t bytes_of(const Tensor& tensor) {
  std::uint64_t out = model::size_of(tensor.dtype);
  for (const std::int64_t extent : tensor.shape) out *= static_cast<std::uint64_t>(extent);
  return out;
}

/// One plan, as it is read.
class PlanReader {
 public:
  PlanReader(const Shapes& shapes, std::size_t cubins, std::vector<std::string> kernels, const Selection* selection,
             Captured& out)
      : cubins_(cubins), kernels_(std::move(kernels)), selection_(selection), out_(out) {
    for (const auto* tensors : {&shapes.inputs, &shapes.outputs}) {
      for (const Tensor& tensor : *tensors) {
        if (tensor.value.is_null()) bytes_[tensor.name] = bytes_of(tensor);
      }
    }
  }

  Result<LaunchPlan> read(const Json& plan) {
    for (const Json& buffer : plan.at("buffers")) TRY(take_buffer(buffer));
    TRY(take_ops(plan.at("ops")));
    return std::move(plan_);
  }

 private:
  Result<void> take_buffer(const Json& buffer) {
    const auto& name = buffer.at("name").get_ref<const std::string&>();
    if (buffer.at("kind") != "scratch") {
      const auto known = bytes_.find(name);
      if (known == bytes_.end() || scratch_.contains(name)) return damaged("speaks of a tensor that the task has not");
      TRY_ASSIGN(const auto bytes, count_at(buffer, "bytes", std::numeric_limits<std::uint64_t>::max()));
      return bytes == known->second ? Result<void>() : damaged("gives " + known->first + " another size");
    }
    const bool numbered = name.size() > 1 && name.size() <= 32 && name.front() == '%' &&
                          name.find_first_not_of("0123456789", 1) == std::string::npos;
    if (!numbered || bytes_.contains(name)) return damaged("has a buffer of no name");
    TRY_ASSIGN(const auto bytes, count_at(buffer, "bytes", kMostScratchBytes));
    const auto dtype = model::parse_dtype(base::text_at(buffer, "dtype"));
    if (!dtype) return damaged("has a buffer of no dtype");
    scratch_[name] = plan_.scratch.size();
    bytes_[name] = bytes;
    plan_.scratch.push_back({name, *dtype, bytes, false});
    return {};
  }

  Result<void> take_ops(const Json& ops) {
    for (const Json& op : ops) {
      const auto& kind = op.at("op").get_ref<const std::string&>();
      if (kind == "launch") {
        TRY(take_launch(op));
      } else if (kind == "choose") {
        TRY(take_chosen(op));
      } else if (!is_clearing(op)) {
        TRY(take_host_op(op));
      }
    }
    return {};
  }

  /// Whether the operation clears a whole scratch buffer before anybody uses it: the device does that by itself.
  bool is_clearing(const Json& op) {
    if (op.at("op") != "fill" || op.at("bits") != 0) return false;
    const Json& view = op.at("to");
    const auto found = scratch_.find(view.at("buffer").get_ref<const std::string&>());
    if (found == scratch_.end() || used_.contains(found->first) || view.at("offset") != 0) return false;
    const auto dtype = model::parse_dtype(base::text_at(view, "dtype"));
    std::uint64_t elements = 1;
    std::uint64_t packed = 1;
    bool whole = dtype.has_value();
    for (std::size_t i = view.at("shape").size(); whole && i-- > 0;) {
      const auto extent = view["shape"][i].get<std::uint64_t>();
      whole = extent == 1 || view.at("strides").at(i).get<std::uint64_t>() == packed;
      if (extent != 0 && elements > kMostScratchBytes / extent) return false;
      packed *= extent;
      elements *= extent;
    }
    if (!whole || elements * model::size_of(*dtype) != bytes_.at(found->first)) return false;
    plan_.scratch[found->second].zero = true;
    return true;
  }

  /// By kernels of the cubin behind the solution's own.
  Result<void> take_host_op(const Json& op) {
    const BytesOf bytes_of = [this](const std::string& name) -> std::optional<std::uint64_t> {
      const auto known = bytes_.find(name);
      if (known == bytes_.end()) return std::nullopt;
      used_.insert(name);
      return known->second;
    };
    if (const auto data = op.find("data"); data != op.end()) {
      const auto& text = data->get_ref<const std::string&>();
      uploaded_ += text.size() / 4 * 3 - static_cast<std::size_t>(std::count(text.begin(), text.end(), '='));
      if (uploaded_ > kMostUploadedBytes) return damaged("uploads more than the host may derive");
    }
    TRY_ASSIGN(HostOp own, lowered(op, bytes_of, cubins_, plan_.scratch.size()));
    out_.host_ops = true;
    std::ranges::move(own.launches, std::back_inserter(plan_.launches));
    std::ranges::move(own.scratch, std::back_inserter(plan_.scratch));
    return {};
  }

  /// Of an autotuned kernel one configuration.
  Result<void> take_chosen(const Json& op) {
    std::optional<std::size_t> selected;
    if (selection_ != nullptr) {
      if (selection_->empty()) return damaged("has a choice of nothing");
      TRY_ASSIGN(const auto choice, count_at(op, "choice", selection_->size() - 1));
      if (selection_->at(choice) != kAnyConfiguration) selected = selection_->at(choice);
    }
    for (const Json& alternative : op.at("alternatives")) {
      if (selected && alternative.at("configuration") != *selected) continue;
      if (selected && alternative.contains("error"))
        return base::fail(ErrorCode::unsupported, diagnostics_of(alternative["error"]));
      if (!alternative.contains("ops")) continue;
      for (const Json& inner : alternative["ops"]) {
        if (inner.at("op") == "choose") return damaged("has a choice in a choice");
      }
      return take_ops(alternative["ops"]);
    }
    if (selected)
      return base::fail(ErrorCode::unsupported, "error: the configuration is pruned for one of the workloads");
    return damaged("has a choice of nothing");
  }

  Result<void> take_launch(const Json& op) {
    if (cubins_ == 0) return damaged("launches kernels, and has none");
    Launch launch;
    TRY_ASSIGN(const auto cubin, count_at(op, "cubin", cubins_ - 1));
    launch.cubin = cubin;
    launch.kernel = kernels_.at(cubin);
    TRY_ASSIGN(launch.grid, extents_at(op, "grid"));
    TRY_ASSIGN(launch.block, extents_at(op, "block"));
    TRY_ASSIGN(launch.cluster, extents_at(op, "cluster"));
    TRY_ASSIGN(const auto shared, count_at(op, "shared_bytes", 1U << 20));
    launch.shared_bytes = static_cast<std::uint32_t>(shared);
    launch.cooperative = op.value("cooperative", false);
    launch.overlaps = op.value("pdl", false);
    launch.spread = launch.cluster[0] > 1;  // as Triton asks for
    for (const Json& argument : op.at("arguments")) {
      TRY_ASSIGN(auto read, argument_of(argument));
      launch.arguments.push_back(std::move(read));
    }
    plan_.launches.push_back(std::move(launch));
    return {};
  }

  Result<Argument> argument_of(const Json& form) {
    if (const auto name = form.find("tensor"); name != form.end()) {
      const auto known = bytes_.find(name->get_ref<const std::string&>());
      if (known == bytes_.end())
        return tl::make_unexpected(damaged("gives a kernel a tensor that is not there").error());
      TRY_ASSIGN(const auto offset, count_at(form, "offset", known->second));
      used_.insert(known->first);
      return devices::cuda::tensor_argument(known->first, offset);
    }
    if (const auto map = form.find("tensor_map"); map != form.end()) {
      TRY_ASSIGN(auto read, tensor_map_of(*map));
      plan_.tensor_maps.push_back(std::move(read));
      return devices::cuda::tensor_map_argument(plan_.tensor_maps.back().name);
    }
    const auto dtype = model::parse_dtype(base::text_at(form, "constant"));
    if (!dtype) return tl::make_unexpected(damaged("gives a kernel an argument of no kind").error());
    TRY_ASSIGN(const auto bits, count_at(form, "bits", std::numeric_limits<std::uint64_t>::max()));
    return devices::cuda::constant_argument(*dtype, bits);
  }

  /// The driver says what else it refuses of it.
  Result<TensorMap> tensor_map_of(const Json& form) {
    // In the order of the driver's CUtensorMapDataType; 8-bit floats travel as bytes.
    using model::DType;
    static constexpr std::array kTypes{DType::uint8, DType::uint16,  DType::uint32,  DType::int32,   DType::uint64,
                                       DType::int64, DType::float16, DType::float32, DType::float64, DType::bfloat16};
    TensorMap out;
    out.name = "map" + std::to_string(plan_.tensor_maps.size());
    out.tensor = form.at("buffer").get_ref<const std::string&>();
    const auto known = bytes_.find(out.tensor);
    if (known == bytes_.end()) return tl::make_unexpected(damaged("describes a tensor that is not there").error());
    used_.insert(out.tensor);
    TRY_ASSIGN(out.offset, count_at(form, "offset", known->second));
    TRY_ASSIGN(const auto type, count_at(form, "element_type", kTypes.size() - 1));
    out.dtype = kTypes.at(type);
    TRY_ASSIGN(const auto swizzle, count_at(form, "swizzle_bytes", 128));
    out.swizzle_bytes = static_cast<int>(swizzle);
    out.nan_fill = form.value("nan_fill", false);
    const Json& shape = form.at("dims");
    if (shape.empty() || shape.size() > kMostAxesOfMap || form.at("box").size() != shape.size() ||
        form.at("strides").size() + 1 != shape.size())
      return tl::make_unexpected(damaged("has a tensor descriptor of no form").error());
    for (const Json& extent : shape) out.shape.push_back(extent.get<std::int64_t>());
    for (const Json& extent : form.at("box")) out.box.push_back(extent.get<std::uint32_t>());
    for (const Json& stride : form.at("strides")) out.strides.push_back(stride.get<std::uint64_t>());
    return out;
  }

  std::size_t cubins_;
  std::vector<std::string> kernels_;
  const Selection* selection_;
  Captured& out_;
  LaunchPlan plan_;
  std::map<std::string, std::uint64_t> bytes_;  ///< of every buffer
  std::map<std::string, std::size_t> scratch_;  ///< place in the plan
  std::uint64_t uploaded_ = 0;
  std::set<std::string> used_;  ///< that something has been given already
};

/// Leaves out what no plan launches: other configurations' machine code.
void drop_unused(Captured& captured) {
  std::vector<std::size_t> places(captured.program.cubins.size() + 1, 0);
  for (const auto& [workload, plan] : captured.program.plans) {
    for (const Launch& launch : plan.launches) places[launch.cubin] = 1;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < captured.program.cubins.size(); ++i) {
    if (std::exchange(places[i], kept) == 0) continue;
    if (kept != i) {
      captured.program.cubins[kept] = std::move(captured.program.cubins[i]);
      captured.ptxas[kept] = std::move(captured.ptxas[i]);
    }
    ++kept;
  }
  places.back() = kept;  // of the host's operations
  captured.program.cubins.resize(kept);
  captured.ptxas.resize(kept);
  for (auto& [workload, plan] : captured.program.plans) {
    for (Launch& launch : plan.launches) launch.cubin = places[launch.cubin];
  }
}

Result<Captured> read_all(const Json& ok, const Request& request, const Selection* selection) {
  Captured out;
  std::vector<std::string> kernels;
  for (const Json& cubin : ok.at("cubins")) {
    TRY_ASSIGN(std::string bytes, base::from_base64(cubin.at("data").get_ref<const std::string&>()));
    const auto& kernel = cubin.at("kernel").get_ref<const std::string&>();
    if (!is_symbol(kernel)) return tl::make_unexpected(damaged("has a kernel of no name").error());
    out.program.cubins.push_back({std::move(bytes), {}});
    out.ptxas.push_back(clipped(base::text_at(cubin, "ptxas"), kMostMessageBytes));
    kernels.push_back(kernel);
  }
  for (const Json& plan : ok.at("plans")) {
    const auto& name = plan.at("workload").get_ref<const std::string&>();
    const auto asked = std::find_if(request.workloads.begin(), request.workloads.end(),
                                    [&](const Shapes& shapes) { return shapes.name == name; });
    if (asked == request.workloads.end() || out.program.plans.contains(name))
      return tl::make_unexpected(damaged("is of a workload that was not asked for").error());
    TRY_ASSIGN(auto read, PlanReader(*asked, kernels.size(), kernels, selection, out).read(plan));
    TRY(devices::cuda::check_plan(read, kernels.size() + (out.host_ops ? 1 : 0)));
    out.program.plans[name] = std::move(read);
    const Json reads = plan.value("reads", Json::object());
    for (const auto& [input, count] : reads.items()) {
      const bool seen = std::ranges::find(asked->inputs, input, &Tensor::name) != asked->inputs.end();
      if (!seen || !is_count(count)) return tl::make_unexpected(damaged("has read what it was not given").error());
      out.reads[input] = std::max(out.reads[input], count.get<std::uint64_t>());
    }
  }
  if (out.program.plans.size() != request.workloads.size())
    return tl::make_unexpected(damaged("of a workload is missing").error());
  for (const Json& finding : ok.value("findings", Json::array())) {
    out.findings.push_back({clipped(base::text_at(finding, "file"), 256), finding.value("line", 0),
                            clipped(base::text_at(finding, "message"), kMostMessageBytes)});
  }
  drop_unused(out);
  const Json seconds = ok.value("seconds", Json::object());
  out.seconds = seconds.value("host", 0.0) + seconds.value("compile", 0.0);
  return out;
}

}  // namespace

std::string diagnostics_of(const Json& error) {
  std::string out = clipped(base::text_at(error, "file"), 256);
  if (const auto line = error.find("line"); !out.empty() && line != error.end() && line->is_number_integer())
    out += ":" + std::to_string(line->get<std::int64_t>());
  out += out.empty() ? "error: " : ": error: ";
  const std::string call = clipped(base::text_at(error, "call"), 256);
  const std::string message = clipped(base::text_at(error, "message"), kMostMessageBytes);
  if (!call.empty() && !message.starts_with(call)) out += call + ": ";
  out += message;
  const std::string text = clipped(base::text_at(error, "text"), kMostMessageBytes);
  return text.empty() ? out : out + "\n" + text;
}

Result<Captured> read_captured(const Json& ok, const Request& request, const Selection* selection) {
  try {
    return read_all(ok, request, selection);
  } catch (const std::exception& problem) {  // JSON of another form, above all
    return base::fail(ErrorCode::corrupt, std::string("the captured plan is none: ") + problem.what());
  }
}

}  // namespace accelopt::capture
