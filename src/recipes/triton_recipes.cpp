// SPDX-License-Identifier: Apache-2.0
#include "recipes/triton_recipes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/text.hpp"
#include "recipes/triton_source.hpp"
#include "recipes/triton_split.hpp"

namespace accelopt::recipes::triton {
namespace {

constexpr const char* kWarps = "open warps and stages";
constexpr const char* kTiles = "open tile sizes";
constexpr const char* kHint = "cache hint";
constexpr const char* kSplit = "split loop";

// Gains as guesses that only order what is tried.
constexpr double kOpened = 1.3;
constexpr double kOpenedTiles = 1.25;
constexpr double kHinted = 1.02;
constexpr double kSplitWeighted = 1.5;  ///< attention over few sequences leaves most of a device idle
constexpr double kSplitSum = 1.01;
constexpr std::array kPartCounts{8, 4, 16, 2};

// What Triton takes where nothing is said.
constexpr int kUsualWarps = 4;
constexpr int kUsualStages = 3;
constexpr int kLeastTile = 16;  ///< of a product
constexpr int kLargestTile = 8192;
constexpr std::size_t kMostHints = 8;

/// What all kernels with statements like these have in common.
std::string shape_of(const Statements& all, const JitKernel& kernel) {
  const auto any = [&](const char* name) {
    return std::any_of(all.begin() + static_cast<std::ptrdiff_t>(kernel.head),
                       all.begin() + static_cast<std::ptrdiff_t>(kernel.end),
                       [&](const Statement& one) { return nki::calls(one, name); });
  };
  std::string out = "programs";
  if (any("dot")) out += ".matmul";
  if (any("sum") || any("max")) out += ".reduction";
  if (any("range")) out += ".loop";
  return out;
}

bool has_loop(const Statements& all, const JitKernel& kernel) {
  return std::any_of(all.begin() + static_cast<std::ptrdiff_t>(kernel.head),
                     all.begin() + static_cast<std::ptrdiff_t>(kernel.end),
                     [](const Statement& one) { return !one.variable.empty(); });
}

// Configurations.

/// A value that the launch gives as a number; `usual` where it gives none. None: it is computed.
std::optional<int> given_number(const Launch& launch, const char* name, int usual) {
  const std::string text = argument_of(launch, name);
  return text.empty() ? usual : number_of(text);
}

void leave_out(Launch& launch, const std::vector<std::string>& names) {
  std::erase_if(launch.arguments, [&](const std::string& argument) {
    const std::vector<Token> t = nki::tokens_of(argument);
    return t.size() > 2 && t[1].value == "=" && std::ranges::find(names, t[0].value) != names.end();
  });
}

struct Configuration {
  std::map<std::string, int> tiles;
  int warps = kUsualWarps;
  int stages = kUsualStages;
  bool operator==(const Configuration&) const = default;
};

std::string text_of(const std::vector<Configuration>& all) {
  std::string out = "@triton.autotune(\n    configs=[\n";
  for (const Configuration& one : all) {
    const std::string tiles = base::joined(
        one.tiles, ", ", [](const auto& tile) { return fmt::format("\"{}\": {}", tile.first, tile.second); });
    out += fmt::format("        triton.Config({{{}}}, num_warps={}, num_stages={}),\n", tiles, one.warps, one.stages);
  }
  return out + "    ],\n    key=[],\n)";
}

/// The launches as they were, each replaced by `changed`, and the kernel tuned.
Statements tuned(Statements all, const JitKernel& kernel, const std::vector<Launch>& changed,
                 const std::vector<Configuration>& configurations) {
  for (const Launch& launch : changed)
    all[launch.place] = launch_of(all[launch.place].indent, kernel.name, launch.grid, launch.arguments);
  all.insert(all.begin() + static_cast<std::ptrdiff_t>(kernel.head) - 1, nki::statement_of(0, text_of(configurations)));
  return all;
}

/// What the launches have in common; none: they differ, or compute it.
std::optional<Configuration> common_of(const std::vector<Launch>& launches) {
  std::optional<Configuration> out;
  for (const Launch& launch : launches) {
    const auto warps = given_number(launch, "num_warps", kUsualWarps);
    const auto stages = given_number(launch, "num_stages", kUsualStages);
    if (!warps || !stages) return std::nullopt;
    const Configuration own{{}, *warps, *stages};
    if (out && !(*out == own)) return std::nullopt;
    out = own;
  }
  return out;
}

std::optional<Statements> with_open_warps(const Statements& all, const JitKernel& kernel) {
  std::vector<Launch> launches = launches_of(all, kernel);
  const auto own = common_of(launches);
  if (!own || !kernel.plain) return std::nullopt;
  // The first one is what is compared without a device.
  std::vector<Configuration> configurations{*own};
  const auto add = [&](int warps, int stages) {
    const Configuration one{{}, warps, stages};
    if (std::ranges::find(configurations, one) == configurations.end()) configurations.push_back(one);
  };
  if (has_loop(all, kernel)) {
    for (const int stages : {2, 4}) add(own->warps, stages);
    for (const int warps : {4, 8, 2}) {
      for (const int stages : {3, 2}) add(warps, stages);
    }
  } else {
    for (const int warps : {1, 2, 4, 8, 16}) add(warps, own->stages);
  }
  for (Launch& launch : launches) leave_out(launch, {"num_warps", "num_stages"});
  return tuned(all, kernel, launches, configurations);
}

/// A tile size that a launch is given: a number, or a name that one statement gives a number.
struct Tile {
  std::string name;  ///< of the kernel's parameter
  int value = 0;
  std::string known_as;  ///< on the host; empty: the number stands in the launch
};

/// The number that a name has in the function around the launch, or in the file.
std::optional<int> number_behind(const Statements& all, const Launch& launch, const std::string& name) {
  auto giver = only_giver(all, scope_of(all, launch.place), name);
  if (!giver) giver = only_giver(all, {0, all.size()}, name);
  if (!giver) return std::nullopt;
  const std::vector<std::string> values = parts_of(value_text(all[*giver]));
  const std::string& text = all[*giver].text;
  const std::vector<std::string> names = parts_of(std::string_view(text).substr(0, text.find('=')));
  for (std::size_t i = 0; i < names.size() && names.size() == values.size(); ++i) {
    if (names[i] == name) return number_of(values[i]);
  }
  return std::nullopt;
}

/// Whether the kernel has as many elements at once: tl.arange(0, name).
bool is_width(const Statements& all, const JitKernel& kernel, const std::string& name) {
  for (std::size_t i = kernel.head; i < kernel.end; ++i) {
    const std::vector<Token>& t = all[i].tokens;
    for (std::size_t k = 0; k + 5 < t.size(); ++k) {
      if (t[k].value == "arange" && t[k + 2].value == "0" && t[k + 4].value == name && t[k + 5].value == ")")
        return true;
    }
  }
  return false;
}

/// The text of the grid, looked up where it is a name.
std::string grid_text(const Statements& all, const Launch& launch) {
  if (nki::tokens_of(launch.grid).size() != 1) return launch.grid;
  const auto giver = only_giver(all, scope_of(all, launch.place), launch.grid);
  return giver ? value_text(all[*giver]) : launch.grid;
}

/// How often the host reads the name, the grid and the launch aside.
bool is_read_elsewhere(const Statements& all, const Launch& launch, const std::string& name) {
  const Scope scope = scope_of(all, launch.place);
  const std::string grid = nki::tokens_of(launch.grid).size() == 1 ? launch.grid : "";
  for (std::size_t i = scope.begin; i < scope.end; ++i) {
    const bool is_grid = !grid.empty() && all[i].target == grid;
    if (i != launch.place && !is_grid && nki::times_read(all[i], name) > 0 && !given_by(all[i]).contains(name))
      return true;
  }
  return false;
}

std::vector<Tile> tiles_of(const Statements& all, const JitKernel& kernel, const Launch& launch) {
  std::vector<Tile> out;
  for (const std::string& parameter : kernel.parameters) {
    const std::string name = nki::tokens_of(parameter).front().value;
    const std::string text = argument_of(launch, name);
    if (text.empty() || !is_constant(kernel, name) || !is_width(all, kernel, name)) continue;
    const bool named = nki::tokens_of(text).size() == 1 && !number_of(text);
    const auto value = named ? number_behind(all, launch, text) : number_of(text);
    if (!value || (*value & (*value - 1)) != 0 || *value < 2) continue;
    if (named && is_read_elsewhere(all, launch, text)) continue;
    out.push_back({name, *value, named ? text : ""});
  }
  return out;
}

/// The grid as a function of the configuration where it depends on tiles; none: it cannot be told.
std::optional<std::string> grid_by(const std::string& grid, const std::vector<Tile>& tiles) {
  if (grid.starts_with("lambda")) return grid;
  std::string out = grid;
  const std::vector<Token> tokens = nki::tokens_of(grid);
  bool changed = false;
  for (std::size_t i = tokens.size(); i-- > 0;) {
    const bool number = tokens[i].kind == Token::Kind::number;
    const auto means = [&](const Tile& tile) {
      return number ? tile.known_as.empty() && std::to_string(tile.value) == tokens[i].value
                    : tile.known_as == tokens[i].value;
    };
    const auto many = std::ranges::count_if(tiles, means);
    if (many == 0 || tokens[i].kind == Token::Kind::symbol) continue;
    if (many > 1) return std::nullopt;
    out.replace(tokens[i].at, tokens[i].value.size(), "META[\"" + std::ranges::find_if(tiles, means)->name + "\"]");
    changed = true;
  }
  return changed ? "lambda META: " + out : grid;
}

std::optional<Statements> with_open_tiles(const Statements& all, const JitKernel& kernel) {
  std::vector<Launch> launches = launches_of(all, kernel);
  const auto own = common_of(launches);
  if (!own || !kernel.plain || launches.size() != 1) return std::nullopt;
  Launch& launch = launches[0];
  const std::vector<Tile> tiles = tiles_of(all, kernel, launch);
  const auto grid = grid_by(grid_text(all, launch), tiles);
  if (tiles.empty() || !grid) return std::nullopt;
  std::vector<Configuration> configurations{*own};
  std::vector<std::string> names{"num_warps", "num_stages"};
  for (const Tile& tile : tiles) {
    configurations[0].tiles[tile.name] = tile.value;
    names.push_back(tile.name);
  }
  const bool multiplies = shape_of(all, kernel).find("matmul") != std::string::npos;
  for (const Tile& tile : tiles) {
    for (const int value : {tile.value * 2, tile.value / 2}) {
      if (value < (multiplies ? kLeastTile : 2) || value > kLargestTile) continue;
      Configuration one = configurations[0];
      one.tiles[tile.name] = value;
      configurations.push_back(std::move(one));
    }
  }
  if (configurations.size() == 1) return std::nullopt;
  launch.grid = *grid;
  leave_out(launch, names);
  return tuned(all, kernel, launches, configurations);
}

// Hints.

/// A load or a store of a statement of its own.
struct Access {
  std::size_t place = 0;
  std::string name;     ///< of what is loaded, or "store"; of several the second is "store2"
  bool shared = false;  ///< other programs load the same
};

/// Names of the kernel that depend on what this function gives.
std::set<std::string> depending_on(const char* function, const Statements& all, const JitKernel& kernel) {
  std::set<std::string> out;
  for (std::size_t before = out.size() + 1; before != out.size();) {
    before = out.size();
    for (std::size_t i = kernel.head + 1; i < kernel.end; ++i) {
      const std::set<std::string> read = nki::reads(all[i]);
      const bool depends = nki::calls(all[i], function) ||
                           std::ranges::any_of(read, [&](const std::string& name) { return out.contains(name); });
      if (depends) out.merge(given_by(all[i]));
    }
  }
  return out;
}

std::vector<Access> accesses_of(const Statements& all, const JitKernel& kernel) {
  std::vector<Access> out;
  const std::set<std::string> own = depending_on("program_id", all, kernel);
  const std::set<std::string> wide = depending_on("arange", all, kernel);
  std::map<std::string, int> named;
  for (std::size_t i = kernel.head + 1; i < kernel.end && out.size() < kMostHints; ++i) {
    const Statement& one = all[i];
    const bool store = one.text.starts_with("tl.store(") && one.text.ends_with(")");
    const auto call = nki::call_of(one);
    const bool load = call && call->function == "load" && one.text.find("tl.load(") != std::string::npos;
    if ((!store && !load) || one.text.find("eviction_policy") != std::string::npos) continue;
    if (one.text.find('#') != std::string::npos) continue;  // what is added would stand in a comment
    const std::set<std::string> read = nki::reads(one);
    const auto depends = [&](const std::set<std::string>& on, const char* function) {
      return nki::calls(one, function) ||
             std::ranges::any_of(read, [&](const std::string& name) { return on.contains(name); });
    };
    if (!depends(wide, "arange")) continue;  // a single element
    std::string name = store ? "store" : one.target;
    if (const int count = ++named[name]; count > 1) name += std::to_string(count);
    out.push_back({i, std::move(name), load && !depends(own, "program_id")});
  }
  return out;
}

std::optional<Statements> with_hint(Statements all, const JitKernel& kernel, const std::string& name,
                                    const std::string& policy) {
  if (policy != "evict_first" && policy != "evict_last") return std::nullopt;
  for (const Access& access : accesses_of(all, kernel)) {
    if (access.name != name) continue;
    Statement& one = all[access.place];
    std::string text = one.text.substr(0, one.text.size() - 1);
    while (!text.empty() && (base::kBlanks.find(text.back()) != std::string_view::npos || text.back() == ','))
      text.pop_back();
    one = nki::statement_of(one.indent, text + ", eviction_policy=\"" + policy + "\")");
    return all;
  }
  return std::nullopt;
}

// All of them.

Application proposal(const char* recipe, const JitKernel& kernel, const Statements& all) {
  Application out;
  out.recipe = recipe;
  out.location = kernel.name;
  out.shape = shape_of(all, kernel);
  return out;
}

void propose_opened(const Statements& all, const JitKernel& kernel, std::vector<Application>& result) {
  if (with_open_warps(all, kernel)) {
    Application one = proposal(kWarps, kernel, all);
    one.title = fmt::format("Open warps and stages of {} to the tuner", kernel.name);
    one.text = "How many warps a program has, and how many loads run ahead of its loop, is measured.";
    one.prior = kOpened;
    result.push_back(std::move(one));
  }
  if (with_open_tiles(all, kernel)) {
    Application one = proposal(kTiles, kernel, all);
    one.title = fmt::format("Open tile sizes of {} to the tuner", kernel.name);
    one.text = "Tiles of half and of twice the extent are measured beside those that there are.";
    one.prior = kOpenedTiles;
    result.push_back(std::move(one));
  }
}

void propose_hints(const Statements& all, const JitKernel& kernel, std::vector<Application>& result) {
  for (const Access& access : accesses_of(all, kernel)) {
    Application one = proposal(kHint, kernel, all);
    one.location += ":" + access.name;
    const char* const policy = access.shared ? "evict_last" : "evict_first";
    one.parameters["policy"] = policy;
    one.title = fmt::format("Mark {} in {} as {}", access.name, kernel.name, policy);
    one.text = access.shared ? "All programs load it: it should stay in the cache longest."
                             : "No other program needs it: it should leave the cache first.";
    one.prior = kHinted;
    result.push_back(std::move(one));
  }
}

void propose_splits(const Statements& all, std::vector<Application>& result) {
  const std::vector<JitKernel> kernels = kernels_of(all);
  for (const Splitting& splitting : splittings(all)) {
    const auto kernel = std::ranges::find(kernels, splitting.kernel, &JitKernel::name);
    for (const int parts : kPartCounts) {
      Application one = proposal(kSplit, *kernel, all);
      one.location += ":" + splitting.variable;
      one.parameters["parts"] = std::to_string(parts);
      one.title =
          fmt::format("Split the loop over {} of {} into {} parts", splitting.variable, splitting.kernel, parts);
      one.text =
          "Several programs share what one went through, so that few outputs keep all multiprocessors busy; another "
          "kernel puts their results together.";
      one.prior = (splitting.weighted ? kSplitWeighted : kSplitSum) - 0.001 * parts;
      result.push_back(std::move(one));
    }
  }
}

std::optional<Statements> applied(const Statements& all, const Application& application) {
  const std::size_t colon = std::min(application.location.find(':'), application.location.size());
  const std::string name = application.location.substr(0, colon);
  const std::string place = application.location.substr(std::min(colon + 1, application.location.size()));
  const auto parameter = [&](const char* wanted) {
    const auto found = application.parameters.find(wanted);
    return found == application.parameters.end() ? std::string() : found->second;
  };
  if (application.recipe == kSplit) {
    const auto parts = number_of(parameter("parts"));
    constexpr int kMostParts = 64;
    if (!parts || *parts < 2 || *parts > kMostParts) return std::nullopt;
    return split(all, name, *parts);
  }
  for (const JitKernel& kernel : kernels_of(all)) {
    if (kernel.name != name) continue;
    if (application.recipe == kWarps) return with_open_warps(all, kernel);
    if (application.recipe == kTiles) return with_open_tiles(all, kernel);
    if (application.recipe == kHint) return with_hint(all, kernel, place, parameter("policy"));
  }
  return std::nullopt;
}

}  // namespace
}  // namespace accelopt::recipes::triton

namespace accelopt::recipes {

std::vector<Application> enumerate_triton(const KernelSource& kernel) {
  const auto all = nki::statements_of(kernel.source);
  std::vector<Application> result;
  for (const triton::JitKernel& one : triton::kernels_of(all)) {
    triton::propose_opened(all, one, result);
    triton::propose_hints(all, one, result);
  }
  triton::propose_splits(all, result);
  return result;
}

base::Result<std::string> apply_triton(const KernelSource& kernel, const Application& application) {
  const auto changed = triton::applied(nki::statements_of(kernel.source), application);
  if (!changed)
    return base::fail(base::ErrorCode::invalid_argument,
                      "the recipe " + application.recipe + " does not apply at " + application.location);
  return triton::text_of(*changed);
}

}  // namespace accelopt::recipes
