// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/watched_variables.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "devices/cuda/cubin.hpp"

namespace accelopt::devices::cuda {
namespace {

using base::ErrorCode;

constexpr std::uint64_t kMostVariableBytes = std::uint64_t{64}
                                             << 20;  ///< of a module's variables; read after every call
constexpr std::size_t kMostVariables = 4096;
/// Drivers lay variables at multiples of this: up to the next one nothing else lies behind a variable.
constexpr std::uint64_t kVariableAlignment = 256;
constexpr std::uint64_t kFingerprintWord = 8;
constexpr std::size_t kMostOfName = 128;

std::string name_for_people(const std::string& linked) {
  int status = -1;
  const std::unique_ptr<char, decltype(&std::free)> text(
      linked.starts_with("_Z") ? abi::__cxa_demangle(linked.c_str(), nullptr, nullptr, &status) : nullptr, &std::free);
  return base::ascii_line(text ? std::string_view(text.get()) : std::string_view(linked), kMostOfName);
}

tl::unexpected<base::Error> refuse_variables(const std::string& why) {
  return base::fail(ErrorCode::invalid_argument, why);
}

std::uint64_t end_of(const Checks::Region& region) {
  return region.address + region.bytes;
}

}  // namespace

base::Result<void> WatchedVariables::add(std::uint64_t live, const DeviceModule& module, std::string_view cubin) {
  const auto read = read_cubin(cubin);
  if (!read) return refuse_variables("has machine code that cannot be read: " + read.error().message);
  if (read->variables.empty()) return {};
  if (read->variables.size() > kMostVariables)
    return refuse_variables(fmt::format("has {} variables, over {}", read->variables.size(), kMostVariables));
  Watched watched;
  watched.key = base::random_seed();
  std::uint64_t bytes = 0;
  std::set<std::string> names;
  for (const CubinVariable& variable : read->variables) {
    const std::string name = name_for_people(variable.name);
    if (!names.insert(variable.name).second) return refuse_variables("has two variables named \"" + name + "\"");
    const auto there = module.variable(variable.name);
    if (!there || there->bytes != variable.bytes) {
      return refuse_variables(fmt::format("has a variable \"{}\" that the driver does not find: {}", name,
                                          there ? "it has another size" : there.error().message));
    }
    if (bytes += variable.bytes; bytes > kMostVariableBytes || variable.bytes > kMostVariableBytes) {
      return refuse_variables(
          fmt::format("has variables of more than {} MiB: use scratch memory", kMostVariableBytes >> 20));
    }
    const DevicePointer begin = there->address / kFingerprintWord * kFingerprintWord;
    const DevicePointer end =
        (there->address + there->bytes + kVariableAlignment - 1) / kVariableAlignment * kVariableAlignment;
    watched.variables.push_back({name, variable.bytes, {begin, end - begin}});
  }
  std::ranges::sort(watched.variables, {}, [](const Variable& one) { return one.region.address; });
  for (const Variable& variable : watched.variables) {
    auto& spans = watched.spans;
    if (spans.empty() || variable.region.address > end_of(spans.back())) {
      spans.push_back(variable.region);
    } else {
      spans.back().bytes = std::max(end_of(spans.back()), end_of(variable.region)) - spans.back().address;
    }
  }
  TRY_ASSIGN(watched.each, checks_.fingerprints(regions_of(watched), watched.key));
  TRY_ASSIGN(watched.all, checks_.fingerprints(watched.spans, watched.key));
  watched_[live].push_back(std::move(watched));
  return {};
}

std::vector<Checks::Region> WatchedVariables::regions_of(const Watched& watched) {
  std::vector<Checks::Region> out;
  for (const Variable& variable : watched.variables) out.push_back(variable.region);
  return out;
}

base::Result<std::string> WatchedVariables::change(std::uint64_t called) const {
  for (const auto& [live, modules] : watched_) {
    for (const Watched& watched : modules) {
      TRY_ASSIGN(const auto all, checks_.fingerprints(watched.spans, watched.key));
      if (all == watched.all) continue;
      if (live != called) return std::string("wrote into a variable of another program");
      TRY_ASSIGN(const auto each, checks_.fingerprints(regions_of(watched), watched.key));
      // Small ones share their last bytes' region with those behind them: the last one is what was written.
      std::size_t changed = each.size() - 1;
      while (changed > 0 && each[changed] == watched.each[changed]) --changed;
      const Variable& variable = watched.variables[changed];
      return fmt::format(
          "changed its variable \"{}\" ({} bytes), which would keep its value from call to call: leave it as it was "
          "found, or use scratch memory",
          variable.name, variable.bytes);
    }
  }
  return std::string();
}

}  // namespace accelopt::devices::cuda
