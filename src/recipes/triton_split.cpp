// SPDX-License-Identifier: Apache-2.0
#include "recipes/triton_split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"

namespace accelopt::recipes::triton {
namespace {

constexpr const char* kParts = "ACCELOPT_PARTS";
constexpr const char* kPartSuffix = "_part";
constexpr const char* kPrefix = "accelopt_";  ///< of every name that is added

enum class Kind { sum, weighted_sum, largest };

/// What the loop carries from one iteration to the next.
struct Carried {
  std::string name;
  Kind kind = Kind::sum;
  std::vector<std::string> shape;  ///< one or two extents
  std::string broadcast;           ///< of a weighted sum: "[:, None]" behind the weight, or nothing
};

struct Loop {
  std::size_t head = 0;
  std::size_t end = 0;
  std::vector<std::string> range;  ///< begin, end, step
  std::vector<Carried> carried;    ///< the largest value first
  std::string power;               ///< "exp2" or "exp", of the weights
};

struct Found {
  JitKernel kernel;
  Loop loop;
  Launch launch;
  std::vector<std::string> grid;  ///< its extents
};

bool has_token(const Statement& statement, std::string_view name) {
  return std::ranges::any_of(statement.tokens, [&](const Token& token) { return token.value == name; });
}

bool changes_memory(const Statement& statement) {
  return std::ranges::any_of(statement.tokens, [](const Token& token) {
    return token.kind == Token::Kind::name && (token.value == "store" || token.value.starts_with("atomic_"));
  });
}

/// Begin, end and step of "range(...)"; none: it has other arguments.
std::optional<std::vector<std::string>> range_of(const Statement& loop) {
  if (loop.kind != "range") return std::nullopt;
  std::vector<std::string> parts = parts_of(loop.range);
  if (parts.empty() || parts.size() > 3 || loop.range.find('=') != std::string::npos) return std::nullopt;
  if (parts.size() == 1) parts.insert(parts.begin(), "0");
  if (parts.size() == 2) parts.emplace_back("1");
  return parts;
}

/// The only for loop in the kernel's own block.
std::optional<Loop> loop_of(const Statements& all, const JitKernel& kernel) {
  const std::size_t indent = all[kernel.head + 1].indent;
  std::optional<Loop> out;
  for (std::size_t i = kernel.head + 1; i < kernel.end; ++i) {
    if (all[i].variable.empty() || all[i].indent != indent) continue;
    const auto range = range_of(all[i]);
    if (out || !range) return std::nullopt;
    out = Loop{i, nki::block_end(all, i), *range, {}, {}};
  }
  return out;
}

/// Where it begins: "tl.zeros((A, B), dtype=tl.float32)", or "tl.full((A,), ...)" for a largest value.
std::optional<Carried> beginning_of(const Statement& statement) {
  const auto call = nki::call_of(statement);
  if (!call || (call->function != "zeros" && call->function != "full") || call->arguments.empty() ||
      statement.text.find("float32") == std::string::npos)
    return std::nullopt;
  const std::string& shape = call->arguments[0];
  if (shape.size() < 3 || (shape[0] != '(' && shape[0] != '[')) return std::nullopt;
  Carried out;
  out.name = statement.target;
  out.kind = call->function == "zeros" ? Kind::sum : Kind::largest;
  out.shape = parts_of(std::string_view(shape).substr(1, shape.size() - 2));
  const bool largest = out.kind == Kind::largest;
  if (out.shape.empty() || out.shape.size() > 2 || (largest && statement.text.find("-inf") == std::string::npos))
    return std::nullopt;
  return out;
}

/// "name = tl.exp2(largest - ...)": what earlier sums are weighted by.
struct Weight {
  std::string name;
  std::string power;
};
std::optional<Weight> weight_of(const Statements& all, const Loop& loop, const std::string& largest) {
  for (std::size_t i = loop.head + 1; i < loop.end; ++i) {
    const auto call = nki::call_of(all[i]);
    if (!call || (call->function != "exp2" && call->function != "exp") || call->arguments.size() != 1) continue;
    const std::vector<Token> t = nki::tokens_of(call->arguments[0]);
    if (t.size() == 3 && t[0].value == largest && t[1].value == "-") return Weight{all[i].target, call->function};
  }
  return std::nullopt;
}

/// How the loop changes it, by the statement that does; false: in no way that parts can be put together by.
bool take_change(const Statement& change, const std::optional<Weight>& weight, Carried& carried) {
  const std::vector<Token>& t = change.tokens;
  const auto value = [&](std::size_t i) { return i < t.size() ? std::string_view(t[i].value) : std::string_view(); };
  if (carried.kind == Kind::largest) return t.size() == 3 && value(1) == "=";
  const bool adds = value(1) == "+" && value(2) == "=";
  if (adds) return nki::times_read(change, carried.name) == 1;
  if (value(1) != "=" || nki::times_read(change, carried.name) != 1) return false;
  if (weight && value(2) == carried.name && value(3) == "*" && value(4) == weight->name) {
    carried.kind = Kind::weighted_sum;
    std::size_t next = 5;
    if (value(5) == "[") {
      const bool column = value(6) == ":" && value(7) == "," && value(8) == "None" && value(9) == "]";
      if (!column) return false;
      carried.broadcast = "[:, None]";
      next = 10;
    }
    return value(next) == "+";
  }
  if (value(2) == carried.name && value(3) == "+") return true;
  const auto call = nki::call_of(change);
  return call && call->function == "dot" && call->arguments.size() >= 3 &&
         (call->arguments[2] == carried.name || call->arguments[2] == "acc=" + carried.name);
}

/// Fills in what the loop carries; false: something that cannot be put together.
bool find_carried(const Statements& all, const JitKernel& kernel, Loop& loop) {
  std::set<std::string> before;
  for (const std::string& parameter : kernel.parameters) before.insert(nki::tokens_of(parameter).front().value);
  for (std::size_t i = kernel.head + 1; i < loop.head; ++i) before.merge(given_by(all[i]));
  std::map<std::string, std::vector<std::size_t>> changed;
  std::set<std::string> own{all[loop.head].variable};
  for (std::size_t i = loop.head + 1; i < loop.end; ++i) {
    for (const std::string& name : given_by(all[i])) {
      if (before.contains(name)) {
        changed[name].push_back(i);
      } else {
        own.insert(name);
      }
    }
  }
  for (std::size_t i = loop.end; i < kernel.end; ++i) {
    for (const std::string& name : own) {
      if (nki::times_read(all[i], name) > 0) return false;
    }
  }
  std::optional<Weight> weight;
  for (const auto& [name, places] : changed) {
    const auto begins = only_giver(all, {kernel.head + 1, loop.head}, name);
    if (!begins || places.size() != 1 || all[places[0]].indent != all[loop.head + 1].indent) return false;
    auto carried = beginning_of(all[*begins]);
    if (!carried) return false;
    if (carried->kind == Kind::largest) {
      if (weight || !(weight = weight_of(all, loop, name))) return false;
      loop.power = weight->power;
    }
    loop.carried.push_back(std::move(*carried));
  }
  for (Carried& carried : loop.carried) {
    if (!take_change(all[changed.at(carried.name).front()], weight, carried)) return false;
    if (carried.kind == Kind::largest) continue;
    std::size_t read = 0;
    for (std::size_t i = loop.head; i < loop.end; ++i) read += nki::times_read(all[i], carried.name);
    if (read != 1) return false;
  }
  std::stable_partition(loop.carried.begin(), loop.carried.end(),
                        [](const Carried& one) { return one.kind == Kind::largest; });
  return !loop.carried.empty();
}

/// An extent as the host knows it; empty: it does not.
std::string on_host(const Found& found, const std::string& extent) {
  if (number_of(extent)) return extent;
  return is_constant(found.kernel, extent) ? argument_of(found.launch, extent) : std::string();
}

std::optional<std::vector<std::string>> extents_of(const Statements& all, const Launch& launch) {
  std::string text = launch.grid;
  if (nki::tokens_of(text).size() == 1) {
    const auto giver = only_giver(all, scope_of(all, launch.place), text);
    if (!giver) return std::nullopt;
    text = value_text(all[*giver]);
  }
  if (text.size() < 3 || text.front() != '(' || text.back() != ')') return std::nullopt;
  std::vector<std::string> out = parts_of(std::string_view(text).substr(1, text.size() - 2));
  if (out.empty() || out.size() > 2) return std::nullopt;
  return out;
}

std::optional<Found> found_in(const Statements& all, const JitKernel& kernel) {
  if (!kernel.plain || kernel.end <= kernel.head + 1) return std::nullopt;
  auto loop = loop_of(all, kernel);
  if (!loop || loop->end == kernel.end) return std::nullopt;
  for (std::size_t i = kernel.head + 1; i < loop->end; ++i) {
    if (changes_memory(all[i]) || has_token(all[i], "return")) return std::nullopt;
  }
  const bool known = std::ranges::any_of(all, [](const Statement& one) { return has_token(one, kParts); });
  if (known || !find_carried(all, kernel, *loop)) return std::nullopt;
  const std::vector<Launch> launches = launches_of(all, kernel);
  if (launches.size() != 1 || launches[0].place < kernel.end) return std::nullopt;
  const auto extents = extents_of(all, launches[0]);
  if (!extents || launches[0].arguments.empty() || nki::tokens_of(launches[0].arguments[0]).size() != 1)
    return std::nullopt;
  Found out{kernel, std::move(*loop), launches[0], *extents};
  for (const Carried& carried : out.loop.carried) {
    for (const std::string& extent : carried.shape) {
      if (on_host(out, extent).empty()) return std::nullopt;
    }
  }
  return out;
}

// What is written.

std::string kept_name(const Carried& carried) {
  return kPrefix + carried.name;
}

/// "accelopt_total + at * (ROWS) + tl.arange(0, ROWS)", of this part of the program.
std::string place_of(const Carried& carried, const std::string& part) {
  const std::vector<std::string>& shape = carried.shape;
  const std::string inner =
      shape.size() == 1
          ? fmt::format("tl.arange(0, {})", shape[0])
          : fmt::format("tl.arange(0, {0})[:, None] * {1} + tl.arange(0, {1})[None, :]", shape[0], shape[1]);
  return fmt::format("{} + ({}program * {} + {}) * ({}) + {}", kept_name(carried), kPrefix, kParts, part,
                     base::joined(shape, " * "), inner);
}

/// Collects statements.
class Writer {
 public:
  explicit Writer(Statements& out) : out_(out) {}
  void add(std::size_t indent, std::string text) { out_.push_back(nki::statement_of(indent, std::move(text))); }
  void copy(const Statements& all, std::size_t begin, std::size_t end) {
    out_.insert(out_.end(), all.begin() + static_cast<std::ptrdiff_t>(begin),
                all.begin() + static_cast<std::ptrdiff_t>(end));
  }

 private:
  Statements& out_;
};

void begin_kernel(const Found& found, const Statements& all, const std::string& name, std::size_t indent, Writer& to) {
  std::vector<std::string> parameters = found.kernel.parameters;
  for (const Carried& carried : found.loop.carried) parameters.push_back(kept_name(carried));
  parameters.push_back(std::string(kParts) + ": tl.constexpr");
  to.add(0, "@triton.jit");
  to.add(0, fmt::format("def {}({}):", name, base::joined(parameters, ", ")));
  to.copy(all, found.kernel.head + 1, found.loop.head);
  to.add(indent,
         fmt::format("{}program = {}", kPrefix,
                     found.grid.size() == 1 ? "tl.program_id(0).to(tl.int64)"
                                            : "tl.program_id(0).to(tl.int64) + tl.num_programs(0) * tl.program_id(1)"));
}

/// Goes through its part of the loop, and keeps what it carries.
void write_part(const Found& found, const Statements& all, std::size_t indent, Writer& to) {
  const Loop& loop = found.loop;
  const std::string& begin = loop.range[0];
  const std::string& end = loop.range[1];
  const std::string& step = loop.range[2];
  begin_kernel(found, all, found.kernel.name + kPartSuffix, indent, to);
  to.add(indent, fmt::format("{}part = tl.program_id({})", kPrefix, found.grid.size()));
  to.add(indent, fmt::format("{}length = tl.cdiv(tl.cdiv(({}) - ({}), {}), {}) * ({})", kPrefix, end, begin, step,
                             kParts, step));
  to.add(indent, fmt::format("{0}begin = ({1}) + {0}part * {0}length", kPrefix, begin));
  to.add(indent, fmt::format("for {1} in range({0}begin, tl.minimum({0}begin + {0}length, {2}), {3}):", kPrefix,
                             all[loop.head].variable, end, step));
  to.copy(all, loop.head + 1, loop.end);
  for (const Carried& carried : loop.carried)
    to.add(indent, fmt::format("tl.store({}, {})", place_of(carried, std::string(kPrefix) + "part"), carried.name));
}

/// Puts together what the parts found, and does what came behind the loop.
void write_whole(const Found& found, const Statements& all, std::size_t indent, Writer& to) {
  const Loop& loop = found.loop;
  begin_kernel(found, all, found.kernel.name, indent, to);
  to.add(indent, fmt::format("for {}part in range(0, {}):", kPrefix, kParts));
  const std::size_t inner = indent + 4;
  for (const Carried& carried : loop.carried) {
    const std::string found_there = fmt::format("tl.load({})", place_of(carried, std::string(kPrefix) + "part"));
    if (carried.kind == Kind::sum) {
      to.add(inner, fmt::format("{} += {}", carried.name, found_there));
    } else if (carried.kind == Kind::weighted_sum) {
      to.add(inner, fmt::format("{0} = {0} * {1}ours{2} + {3} * {1}theirs{2}", carried.name, kPrefix, carried.broadcast,
                                found_there));
    } else {
      to.add(inner, fmt::format("{}there = {}", kPrefix, found_there));
      to.add(inner, fmt::format("{0}both = tl.maximum({1}, {0}there)", kPrefix, carried.name));
      to.add(inner, fmt::format("{0}finite = tl.where({0}both == float(\"-inf\"), 0.0, {0}both)", kPrefix));
      to.add(inner, fmt::format("{0}ours = tl.{2}({1} - {0}finite)", kPrefix, carried.name, loop.power));
      to.add(inner, fmt::format("{0}theirs = tl.{1}({0}there - {0}finite)", kPrefix, loop.power));
      to.add(inner, fmt::format("{1} = {0}both", kPrefix, carried.name));
    }
  }
  to.copy(all, loop.end, found.kernel.end);
}

void write_launches(const Found& found, std::size_t indent, int parts, Writer& to) {
  std::vector<std::string> arguments = found.launch.arguments;
  const auto product = [](const std::vector<std::string>& factors) {
    return base::joined(factors, " * ", [](const std::string& one) { return "(" + one + ")"; });
  };
  for (const Carried& carried : found.loop.carried) {
    std::vector<std::string> factors = found.grid;
    factors.push_back(std::to_string(parts));
    for (const std::string& extent : carried.shape) factors.push_back(on_host(found, extent));
    to.add(indent, fmt::format("{} = torch.empty(({},), dtype=torch.float32, device={}.device)", kept_name(carried),
                               product(factors), found.launch.arguments[0]));
    arguments.push_back(fmt::format("{0}={0}", kept_name(carried)));
  }
  arguments.push_back(fmt::format("{}={}", kParts, parts));
  const auto add = [&](const std::string& name, const std::vector<std::string>& grid) {
    to.add(indent,
           triton::launch_of(indent, name, "(" + base::joined(grid, ", ") + (grid.size() == 1 ? ",)" : ")"), arguments)
               .text);
  };
  std::vector<std::string> grid = found.grid;
  grid.push_back(std::to_string(parts));
  add(found.kernel.name + kPartSuffix, grid);
  add(found.kernel.name, found.grid);
}

}  // namespace

std::vector<Splitting> splittings(const Statements& all) {
  std::vector<Splitting> out;
  for (const JitKernel& kernel : kernels_of(all)) {
    if (const auto found = found_in(all, kernel))
      out.push_back({kernel.name, all[found->loop.head].variable, !found->loop.power.empty()});
  }
  return out;
}

std::optional<Statements> split(Statements all, const std::string& kernel, int parts) {
  for (const JitKernel& one : kernels_of(all)) {
    if (one.name != kernel) continue;
    const auto found = found_in(all, one);
    if (!found) return std::nullopt;
    const std::size_t indent = all[one.head + 1].indent;
    Statements out;
    Writer to(out);
    if (std::ranges::none_of(all, [](const Statement& line) { return line.text == "import torch"; }))
      to.add(0, "import torch");
    to.copy(all, 0, one.head - 1);
    write_part(*found, all, indent, to);
    write_whole(*found, all, indent, to);
    to.copy(all, one.end, found->launch.place);
    write_launches(*found, all[found->launch.place].indent, parts, to);
    to.copy(all, found->launch.place + 1, all.size());
    return out;
  }
  return std::nullopt;
}

}  // namespace accelopt::recipes::triton
