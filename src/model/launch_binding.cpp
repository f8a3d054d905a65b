// SPDX-License-Identifier: Apache-2.0
// The second half of launch_plan.hpp: names resolved, expressions evaluated, limits held.
#include <algorithm>
#include <map>

#include "base/expression.hpp"
#include "model/directive_reader.hpp"
#include "model/launch_plan.hpp"

namespace accelopt::model {
namespace {

std::string gib(std::int64_t bytes) {
  return std::to_string(bytes >> 30) + " GiB";
}

constexpr std::array kAxisNames{'x', 'y', 'z'};

class PlanBinder {
 public:
  PlanBinder(const DeviceDirectives& directives, const Definition& definition, const AxisValues& axes,
             const std::vector<std::int64_t>& tuned_values, const LaunchLimits& limits)
      : directives_(directives), definition_(definition), limits_(limits), values_(axes) {
    for (std::size_t i = 0; i < directives.tuned.size(); ++i) values_[directives.tuned[i].name] = tuned_values[i];
  }

  tl::expected<LaunchPlan, DirectiveProblem> run() {
    for (const auto step : {&PlanBinder::name_everything, &PlanBinder::bind_scratch, &PlanBinder::bind_tensor_maps,
                            &PlanBinder::bind_launches, &PlanBinder::check_outputs}) {
      if (auto done = (this->*step)(); !done) return tl::make_unexpected(done.error());
    }
    return std::move(plan_);
  }

 private:
  using Nothing = tl::expected<void, DirectiveProblem>;
  using Number = tl::expected<std::int64_t, DirectiveProblem>;

  /// What a name in `args` or `of` means.
  struct Meaning {
    LaunchArgument argument;
    std::string_view what;
  };

  template <class Place>
  static tl::unexpected<DirectiveProblem> refuse(const Place& place, const std::string& message,
                                                 std::size_t offset = 0) {
    return tl::make_unexpected(
        DirectiveProblem{place.line, place.column + static_cast<int>(offset), quotable(message, 2000)});
  }

  // --- names

  bool add_name(const std::string& name, LaunchArgument::Kind kind, std::size_t index, std::string_view what) {
    LaunchArgument argument{kind, index, 0};
    if (const auto value = values_.find(name); kind == LaunchArgument::Kind::axis && value != values_.end())
      argument.value = value->second;
    return names_.emplace(name, Meaning{argument, what}).second;
  }

  template <class Directive>
  Nothing add_declared(const Directive& directive, LaunchArgument::Kind kind, std::size_t index,
                       std::string_view what) {
    if (tuned(directive.name)) return refuse(directive, "\"" + directive.name + "\" is a tuned name already");
    if (add_name(directive.name, kind, index, what)) return {};
    return refuse(directive, "\"" + directive.name + "\" is " + std::string(names_.at(directive.name).what) +
                                 " already; choose another name");
  }

  Nothing name_everything() {
    using Kind = LaunchArgument::Kind;
    for (const Axis& axis : definition_.axes) add_name(axis.name, Kind::axis, 0, "an axis");
    for (std::size_t i = 0; i < definition_.inputs.size(); ++i)
      add_name(definition_.inputs[i].name, Kind::input, i, "an input");
    for (std::size_t i = 0; i < definition_.outputs.size(); ++i)
      add_name(definition_.outputs[i].name, Kind::output, i, "an output");
    for (std::size_t i = 0; i < directives_.scratch.size(); ++i) {
      if (auto added = add_declared(directives_.scratch[i], Kind::scratch, i, "a scratch tensor"); !added) return added;
    }
    for (std::size_t i = 0; i < directives_.tensor_maps.size(); ++i) {
      auto added = add_declared(directives_.tensor_maps[i], Kind::tensor_map, i, "a tensor map");
      if (!added) return added;
    }
    return {};
  }

  [[nodiscard]] bool tuned(const std::string& name) const {
    return std::any_of(directives_.tuned.begin(), directives_.tuned.end(),
                       [&](const TunedName& known) { return known.name == name; });
  }

  /// "known are the inputs x, w, the outputs y, ..."
  [[nodiscard]] std::string known_names() const {
    std::map<std::string_view, std::string> lists;
    for (const auto& [name, meaning] : names_) {
      std::string& list = lists[meaning.what];
      list += (list.empty() ? "" : ", ") + name;
    }
    std::string out;
    for (const auto& [what, list] : lists) out += (out.empty() ? "" : "; ") + std::string(what) + ": " + list;
    return out;
  }

  tl::expected<Meaning, DirectiveProblem> meaning_of(const PlacedExpression& name) const {
    if (const auto found = names_.find(name.text); found != names_.end()) return found->second;
    if (tuned(name.text))
      return refuse(name, "\"" + name.text + "\" is a tuned name: the kernel sees it as a macro; leave it out");
    return refuse(name, "unknown name \"" + name.text + "\"; known are " + known_names());
  }

  // --- numbers

  /// " (with M=64 BM=128)": the values that an expression's result rests on.
  [[nodiscard]] std::string with_values_of(const PlacedExpression& expression) const {
    std::string out;
    for (const std::string& name : base::expression_names(expression.text).value_or(std::vector<std::string>())) {
      if (const auto value = values_.find(name); value != values_.end())
        out += (out.empty() ? " (with " : " ") + name + "=" + std::to_string(value->second);
    }
    return out.empty() ? out : out + ")";
  }

  [[nodiscard]] Number number(const PlacedExpression& expression) const {
    for (const std::string& name : base::expression_names(expression.text).value_or(std::vector<std::string>())) {
      if (values_.contains(name)) continue;
      std::string known;
      for (const auto& [other, value] : values_) known += (known.empty() ? "" : ", ") + other;
      return refuse(expression, "unknown name \"" + name + "\"; numbers are made of axes and tuned names: " + known,
                    word_offset(expression.text, name));
    }
    const auto value = base::evaluate_expression(expression.text, values_);
    if (!value) return refuse(expression, value.error().message + with_values_of(expression));
    return *value;
  }

  [[nodiscard]] Number number_within(const PlacedExpression& expression, std::int64_t low, std::int64_t high,
                                     std::string what, const std::string& text = {}) const {
    const auto value = number(expression);
    if (!value || (*value >= low && *value <= high)) return value;
    if (!text.empty() && text != std::to_string(*value)) what += " = " + text;
    return refuse(expression, what + " is " + std::to_string(*value) + with_values_of(expression) + "; it must be " +
                                  std::to_string(low) + " to " + std::to_string(high));
  }

  // --- scratch

  Nothing bind_scratch() {
    std::int64_t total = 0;
    for (const ScratchDirective& declared : directives_.scratch) {
      ScratchTensor tensor{
          declared.name, declared.dtype, {}, static_cast<std::int64_t>(size_of(declared.dtype)), declared.zero};
      for (const PlacedExpression& expression : declared.shape) {
        const auto extent = number_within(expression, 1, limits_.scratch_bytes, "an extent of " + declared.name);
        if (!extent) return tl::make_unexpected(extent.error());
        tensor.shape.push_back(*extent);
        if (__builtin_mul_overflow(tensor.bytes, *extent, &tensor.bytes) || tensor.bytes > limits_.scratch_bytes)
          return refuse(declared, "scratch " + declared.name + " has more than " + gib(limits_.scratch_bytes));
      }
      total += tensor.bytes;
      if (total > limits_.scratch_bytes)
        return refuse(declared, "all scratch tensors together have more than " + gib(limits_.scratch_bytes));
      plan_.scratch.push_back(std::move(tensor));
    }
    return {};
  }

  // --- tensor maps

  /// Shape and dtype of what a tensor map is made of. False: it is no tensor.
  bool mapped_tensor(const LaunchArgument& argument, TensorMap& out) const {
    using Kind = LaunchArgument::Kind;
    if (argument.kind == Kind::scratch) {
      out.dtype = plan_.scratch[argument.index].dtype;
      out.shape = plan_.scratch[argument.index].shape;
    } else if (argument.kind == Kind::input || argument.kind == Kind::output) {
      const auto& list = argument.kind == Kind::input ? definition_.inputs : definition_.outputs;
      const TensorSpec& tensor = list[argument.index];
      if (!tensor.shape) return false;
      out.dtype = tensor.dtype;
      for (const std::string& axis : *tensor.shape) out.shape.push_back(values_.at(axis));
    } else {
      return false;
    }
    std::reverse(out.shape.begin(), out.shape.end());
    return true;
  }

  Nothing check_strides(const TensorMapDirective& declared, const TensorMap& map) const {
    auto stride = static_cast<std::int64_t>(size_of(map.dtype));
    for (std::size_t i = 0; i < map.shape.size(); ++i) {
      if (map.shape[i] < 1 || map.shape[i] > limits_.map_extent)
        return refuse(declared.tensor, declared.tensor.text + " has an extent of " + std::to_string(map.shape[i]) +
                                           ", which a tensor map cannot have");
      if (__builtin_mul_overflow(stride, map.shape[i], &stride) || stride > limits_.map_stride)
        return refuse(declared.tensor, declared.tensor.text + " is too large for a tensor map");
      if (i + 1 < map.shape.size() && stride % limits_.map_alignment != 0)
        return refuse(declared.tensor, "rows of " + declared.tensor.text + " are " + std::to_string(stride) +
                                           " bytes long, and a tensor map needs a multiple of " +
                                           std::to_string(limits_.map_alignment) + "; load it without one");
    }
    return {};
  }

  Nothing bind_box(const TensorMapDirective& declared, TensorMap& map) const {
    const auto rank = std::to_string(map.shape.size());
    if (declared.box.size() != map.shape.size())
      return refuse(declared.box.front(), declared.tensor.text + " has " + rank + " axes, and the box " +
                                              std::to_string(declared.box.size()) +
                                              "; give it one extent an axis, the innermost first");
    for (const PlacedExpression& expression : declared.box) {
      const auto extent = number_within(expression, 1, limits_.map_box_extent, "an extent of the box");
      if (!extent) return tl::make_unexpected(extent.error());
      map.box.push_back(static_cast<std::uint32_t>(*extent));
    }
    const std::int64_t inner = map.box.front() * static_cast<std::int64_t>(size_of(map.dtype));
    const std::string text = "the box's inner extent is " + std::to_string(inner) + " bytes";
    if (inner % limits_.map_alignment != 0)
      return refuse(declared.box.front(), text + "; it must be a multiple of " + std::to_string(limits_.map_alignment));
    if (map.swizzle_bytes != 0 && inner > map.swizzle_bytes)
      return refuse(declared.box.front(),
                    text + "; with swizzle=" + std::to_string(map.swizzle_bytes) + "B it may not be longer than that");
    return {};
  }

  Nothing bind_tensor_maps() {
    for (const TensorMapDirective& declared : directives_.tensor_maps) {
      const auto meaning = meaning_of(declared.tensor);
      if (!meaning) return tl::make_unexpected(meaning.error());
      TensorMap map;
      map.name = declared.name;
      map.tensor = meaning->argument;
      map.swizzle_bytes = declared.swizzle_bytes;
      if (!mapped_tensor(meaning->argument, map) || map.shape.empty() || map.shape.size() > limits_.map_axes)
        return refuse(declared.tensor, "\"" + declared.tensor.text +
                                           "\" is no tensor of one to five axes; a tensor map is made of an input, an "
                                           "output or a scratch tensor");
      if (auto checked = check_strides(declared, map); !checked) return checked;
      if (auto bound = bind_box(declared, map); !bound) return bound;
      plan_.tensor_maps.push_back(std::move(map));
    }
    return {};
  }

  // --- launches

  [[nodiscard]] Nothing bind_extents(const std::vector<PlacedExpression>& expressions, const std::string& what,
                                     const std::array<std::int64_t, 3>& most, std::array<std::uint32_t, 3>& out) const {
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      const auto value =
          number_within(expressions[i], 1, most[i], what + " " + std::string(1, kAxisNames[i]), expressions[i].text);
      if (!value) return tl::make_unexpected(value.error());
      out[i] = static_cast<std::uint32_t>(*value);
    }
    return {};
  }

  static std::int64_t product(const std::array<std::uint32_t, 3>& extents) {
    return std::int64_t{extents[0]} * extents[1] * extents[2];
  }

  [[nodiscard]] Nothing bind_cluster(const LaunchDirective& declared, KernelLaunch& launch) const {
    if (declared.cluster.empty()) return {};
    const PlacedExpression& place = declared.cluster.front();
    launch.cluster = {1, 1, 1};
    auto bound = bind_extents(declared.cluster, "cluster",
                              {limits_.cluster_blocks, limits_.cluster_blocks, limits_.cluster_blocks}, launch.cluster);
    if (!bound) return bound;
    if (product(launch.cluster) > limits_.cluster_blocks)
      return refuse(place, "a cluster of " + std::to_string(product(launch.cluster)) + " blocks; at most " +
                               std::to_string(limits_.cluster_blocks) + " are possible");
    for (std::size_t i = 0; i < 3; ++i) {
      if (launch.grid[i] % launch.cluster[i] == 0) continue;
      return refuse(place, "cluster " + std::string(1, kAxisNames[i]) + " is " + std::to_string(launch.cluster[i]) +
                               " and does not divide grid " + std::string(1, kAxisNames[i]) + ", which is " +
                               std::to_string(launch.grid[i]) + "; round the grid up to a multiple of the cluster");
    }
    return {};
  }

  /// Bytes of the parameter when it comes behind `offset` bytes, its alignment included.
  [[nodiscard]] std::int64_t parameter_end(const LaunchArgument& argument, std::int64_t offset) const {
    std::int64_t size = 8;
    std::int64_t alignment = 8;
    if (argument.kind == LaunchArgument::Kind::tensor_map) {
      size = limits_.map_bytes;
      alignment = limits_.map_parameter_alignment;
    } else if (argument.kind == LaunchArgument::Kind::input && !definition_.inputs[argument.index].shape) {
      size = alignment = static_cast<std::int64_t>(size_of(definition_.inputs[argument.index].dtype));
    }
    return (offset + alignment - 1) / alignment * alignment + size;
  }

  Nothing bind_arguments(const LaunchDirective& declared, KernelLaunch& launch) {
    std::int64_t bytes = 0;
    for (const PlacedExpression& name : declared.args) {
      const auto meaning = meaning_of(name);
      if (!meaning) return tl::make_unexpected(meaning.error());
      bytes = parameter_end(meaning->argument, bytes);
      if (bytes > limits_.parameter_bytes)
        return refuse(name,
                      "the kernel's parameters have more than " + std::to_string(limits_.parameter_bytes) + " bytes");
      launch.arguments.push_back(meaning->argument);
      given_.push_back(meaning->argument);
      if (meaning->argument.kind == LaunchArgument::Kind::tensor_map)
        given_.push_back(plan_.tensor_maps[meaning->argument.index].tensor);
    }
    return {};
  }

  Nothing bind_launch(const LaunchDirective& declared) {
    KernelLaunch launch;
    launch.kernel = declared.kernel;
    if (auto bound = bind_extents(declared.grid, "grid", limits_.grid, launch.grid); !bound) return bound;
    if (auto bound = bind_extents(declared.block, "block", limits_.block, launch.block); !bound) return bound;
    if (product(launch.block) > limits_.block_threads)
      return refuse(declared.block.front(), "the block has " + std::to_string(product(launch.block)) +
                                                " threads; at most " + std::to_string(limits_.block_threads) +
                                                " are possible");
    if (declared.smem) {
      const auto bytes = number_within(*declared.smem, 0, limits_.shared_bytes, "smem", declared.smem->text);
      if (!bytes) return tl::make_unexpected(bytes.error());
      launch.shared_bytes = static_cast<std::uint32_t>(*bytes);
    }
    if (auto bound = bind_cluster(declared, launch); !bound) return bound;
    if (auto bound = bind_arguments(declared, launch); !bound) return bound;
    plan_.launches.push_back(std::move(launch));
    return {};
  }

  Nothing bind_launches() {
    for (const LaunchDirective& declared : directives_.launches) {
      if (auto bound = bind_launch(declared); !bound) return bound;
    }
    return {};
  }

  Nothing check_outputs() {
    for (std::size_t i = 0; i < definition_.outputs.size(); ++i) {
      const bool given = std::any_of(given_.begin(), given_.end(), [&](const LaunchArgument& argument) {
        return argument.kind == LaunchArgument::Kind::output && argument.index == i;
      });
      if (given) continue;
      return refuse(directives_.launches.front(),
                    "output \"" + definition_.outputs[i].name + "\" is in no launch's args, so nothing can write it");
    }
    return {};
  }

  const DeviceDirectives& directives_;
  const Definition& definition_;
  const LaunchLimits& limits_;
  AxisValues values_;  ///< axes and tuned names
  std::map<std::string, Meaning> names_;
  std::vector<LaunchArgument> given_;
  LaunchPlan plan_;
};

}  // namespace

tl::expected<LaunchPlan, DirectiveProblem> bind_launch_plan(const DeviceDirectives& directives,
                                                            const Definition& definition, const AxisValues& axes,
                                                            const std::vector<std::int64_t>& tuned_values,
                                                            const LaunchLimits& limits) {
  ACCELOPT_ASSERT(tuned_values.size() == directives.tuned.size(), "one value a tuned name");
  ACCELOPT_ASSERT(!directives.launches.empty(), "directives without a launch");
  return PlanBinder(directives, definition, axes, tuned_values, limits).run();
}

}  // namespace accelopt::model
