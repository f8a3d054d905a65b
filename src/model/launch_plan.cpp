// SPDX-License-Identifier: Apache-2.0
#include "model/launch_plan.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "model/directive_reader.hpp"

namespace accelopt::model {
namespace {

// More than any plan has; bounds what a hostile source costs.
constexpr std::size_t kMostLaunches = 64;
constexpr std::size_t kLongestKernelName = 100;  ///< characters: it stands in every line of a profile
constexpr std::size_t kMostScratch = 64;
constexpr std::size_t kMostTensorMaps = 64;
constexpr std::size_t kMostArguments = 64;
constexpr std::size_t kMostScratchAxes = 8;
constexpr std::size_t kMostBoxAxes = 5;

constexpr std::string_view kLaunchForm = "//@ launch KERNEL grid=(X, Y, Z) block=(X, Y, Z) args=(NAME, NAME, ...)";

using Nothing = tl::expected<void, DirectiveProblem>;

/// Reads the lines of one source.
class DeviceDirectiveReader {
 public:
  Nothing read(const DirectiveLine& line) {
    DirectiveReader reader(line);
    const std::string_view keyword = reader.take_until_blank();
    if (keyword == "launch") return launch(reader);
    if (keyword == "scratch") return scratch(reader);
    if (keyword == "tensormap") return tensor_map(reader);
    if (keyword == "tune") return reader.read_tune(out_);
    if (keyword == "require") return reader.read_require(out_);
    if (keyword == "flags") return reader.read_flags(out_.flags, &is_allowed_device_flag);
    return reader.refuse_word(keyword,
                              "unknown directive \"//@ " + quotable(keyword) +
                                  "\"; CUDA kernels know //@ launch, scratch, tensormap, tune, require, flags");
  }

  tl::expected<DeviceDirectives, DirectiveProblem> finish() {
    if (out_.launches.empty()) {
      return tl::make_unexpected(DirectiveProblem{
          1, 1,
          "no //@ launch: say which kernels run, e.g. \"" + std::string(kLaunchForm) + "\" on a line of its own"});
    }
    return std::move(out_);
  }

 private:
  /// Takes "=" behind an option's name that was just taken, which may stand once.
  static Nothing begin_option(DirectiveReader& reader, std::string_view option, bool given) {
    if (given) return reader.refuse_word(option, std::string(option) + " appears twice");
    if (!reader.take('=')) return reader.refuse("expected '=' after " + std::string(option) + reader.found());
    return {};
  }

  static Nothing names(DirectiveReader& reader, std::vector<PlacedExpression>& out) {
    if (!reader.take('(')) return reader.refuse("expected '(' after args" + reader.found());
    do {
      reader.peek();
      const int column = reader.column();
      if (out.size() == kMostArguments) return reader.refuse("args takes at most 64 names");
      auto name = reader.take_name("the name of an input, output, scratch tensor, axis or tensor map");
      if (!name) return tl::make_unexpected(name.error());
      out.push_back({std::move(*name), reader.line(), column});
    } while (reader.take(','));
    if (reader.take(')')) return {};
    return reader.refuse("expected ',' or ')' in args" + reader.found() +
                         "; an argument is a name, and what is computed belongs into the kernel");
  }

  static Nothing extents(DirectiveReader& reader, std::string_view what, std::size_t most,
                         std::vector<PlacedExpression>& out) {
    auto list = reader.take_expressions('(', ')', what, most);
    if (!list) return tl::make_unexpected(list.error());
    out = std::move(*list);
    return {};
  }

  static Nothing launch_option(DirectiveReader& reader, LaunchDirective& launch) {
    const std::string_view option = reader.take_word();
    const auto list = [&](std::vector<PlacedExpression>& out) -> Nothing {
      if (auto begun = begin_option(reader, option, !out.empty()); !begun) return begun;
      return option == "args" ? names(reader, out) : extents(reader, option, 3, out);
    };
    if (option == "grid") return list(launch.grid);
    if (option == "block") return list(launch.block);
    if (option == "cluster") return list(launch.cluster);
    if (option == "args") return list(launch.args);
    if (option != "smem") {
      return reader.refuse_word(option, option.empty()
                                            ? "expected grid=, block=, smem=, cluster= or args=" + reader.found()
                                            : "unknown option \"" + quotable(option) +
                                                  "\" of //@ launch; known are grid, block, smem, cluster, args");
    }
    if (auto begun = begin_option(reader, option, launch.smem.has_value()); !begun) return begun;
    auto bytes = reader.take_expression();
    if (!bytes) return tl::make_unexpected(bytes.error());
    launch.smem = std::move(*bytes);
    return {};
  }

  Nothing launch(DirectiveReader& reader) {
    LaunchDirective launch;
    reader.peek();
    launch.line = reader.line();
    launch.column = reader.column();
    auto kernel = reader.take_name("the name of a kernel");
    if (!kernel) return tl::make_unexpected(kernel.error());
    launch.kernel = std::move(*kernel);
    if (launch.kernel.size() > kLongestKernelName)
      return reader.refuse_word(launch.kernel, "the name of a kernel has at most 100 characters");
    if (out_.launches.size() == kMostLaunches) return reader.refuse_word(launch.kernel, "more than 64 launches");
    while (!reader.at_end()) {
      if (auto read = launch_option(reader, launch); !read) return read;
    }
    for (const auto& [name, list] :
         {std::pair("grid", &launch.grid), std::pair("block", &launch.block), std::pair("args", &launch.args)}) {
      if (!list->empty()) continue;
      return reader.refuse("//@ launch " + launch.kernel + " has no " + name + "=(...); it reads " +
                           std::string(kLaunchForm));
    }
    out_.launches.push_back(std::move(launch));
    return {};
  }

  Nothing scratch(DirectiveReader& reader) {
    ScratchDirective scratch;
    reader.peek();
    scratch.line = reader.line();
    scratch.column = reader.column();
    auto name = reader.take_name("the name of a scratch tensor");
    if (!name) return tl::make_unexpected(name.error());
    scratch.name = std::move(*name);
    if (out_.scratch.size() == kMostScratch) return reader.refuse_word(scratch.name, "more than 64 scratch tensors");
    const std::string_view type = reader.take_word();
    const auto dtype = parse_dtype(type);
    if (!dtype) {
      return reader.refuse_word(type, "expected a dtype after //@ scratch " + scratch.name +
                                          ": float64 float32 float16 " +
                                          "bfloat16 float8_e4m3fn float8_e5m2 int64 int32 int16 int8 uint8 bool");
    }
    scratch.dtype = *dtype;
    auto shape = reader.take_expressions('[', ']', "the shape of " + scratch.name, kMostScratchAxes);
    if (!shape) return tl::make_unexpected(shape.error());
    scratch.shape = std::move(*shape);
    if (!reader.at_end()) {
      const std::string_view last = reader.take_word();
      if (last != "zero" || !reader.at_end()) {
        return reader.refuse_word(last, "behind the shape of " + scratch.name + " may stand \"zero\" and nothing else");
      }
      scratch.zero = true;
    }
    out_.scratch.push_back(std::move(scratch));
    return {};
  }

  static Nothing swizzle(DirectiveReader& reader, TensorMapDirective& map) {
    const std::string_view span = reader.take_word();
    for (const auto& [text, bytes] :
         {std::pair("none", 0), std::pair("32B", 32), std::pair("64B", 64), std::pair("128B", 128)}) {
      if (span != text) continue;
      map.swizzle_bytes = bytes;
      return {};
    }
    return reader.refuse_word(span, "swizzle is none, 32B, 64B or 128B");
  }

  static Nothing tensor_map_options(DirectiveReader& reader, TensorMapDirective& map) {
    bool swizzled = false;
    while (!reader.at_end()) {
      const std::string_view option = reader.take_word();
      if (option != "box" && option != "swizzle") {
        return reader.refuse_word(option,
                                  "expected box=(INNER, ..., OUTER) or swizzle=SPAN in //@ tensormap " + map.name);
      }
      const bool given = option == "box" ? !map.box.empty() : swizzled;
      if (auto begun = begin_option(reader, option, given); !begun) return begun;
      swizzled = swizzled || option == "swizzle";
      auto read = option == "box" ? extents(reader, option, kMostBoxAxes, map.box) : swizzle(reader, map);
      if (!read) return read;
    }
    if (map.box.empty()) return reader.refuse("//@ tensormap " + map.name + " has no box=(INNER, ..., OUTER)");
    return {};
  }

  Nothing tensor_map(DirectiveReader& reader) {
    TensorMapDirective map;
    reader.peek();
    map.line = reader.line();
    map.column = reader.column();
    auto name = reader.take_name("the name of a tensor map");
    if (!name) return tl::make_unexpected(name.error());
    map.name = std::move(*name);
    if (out_.tensor_maps.size() == kMostTensorMaps) return reader.refuse_word(map.name, "more than 64 tensor maps");
    if (const std::string_view of = reader.take_word(); of != "of") {
      return reader.refuse_word(of, "expected \"of TENSOR\" after //@ tensormap " + map.name);
    }
    reader.peek();
    const int column = reader.column();
    auto tensor = reader.take_name("the name of an input, output or scratch tensor");
    if (!tensor) return tl::make_unexpected(tensor.error());
    map.tensor = {std::move(*tensor), reader.line(), column};
    if (auto read = tensor_map_options(reader, map); !read) return read;
    out_.tensor_maps.push_back(std::move(map));
    return {};
  }

  DeviceDirectives out_;
};

}  // namespace

bool is_allowed_device_flag(std::string_view flag) {
  static constexpr std::array kFlags = std::to_array<std::string_view>(
      {"--use_fast_math", "-use_fast_math", "--ftz=true", "-ftz=true", "--prec-div=false", "-prec-div=false",
       "--prec-sqrt=false", "-prec-sqrt=false", "--fmad=false", "-fmad=false", "--extra-device-vectorization",
       "-extra-device-vectorization"});
  if (std::find(kFlags.begin(), kFlags.end(), flag) != kFlags.end()) return true;
  constexpr std::string_view kRegisters = "-maxrregcount=";
  if (flag.starts_with("--")) flag.remove_prefix(1);
  if (!flag.starts_with(kRegisters)) return false;
  flag.remove_prefix(kRegisters.size());
  int registers = 0;
  const auto [end, failure] = std::from_chars(flag.data(), flag.data() + flag.size(), registers);
  return failure == std::errc{} && end == flag.data() + flag.size() && registers >= 16 && registers <= 255;
}

tl::expected<DeviceDirectives, DirectiveProblem> parse_device_directives(std::string_view source) {
  const auto lines = directive_lines(source);
  if (!lines) return tl::make_unexpected(lines.error());
  DeviceDirectiveReader reader;
  for (const DirectiveLine& line : *lines) {
    if (auto read = reader.read(line); !read) return tl::make_unexpected(read.error());
  }
  return reader.finish();
}

}  // namespace accelopt::model
