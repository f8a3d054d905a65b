// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/counters.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <regex>
#include <sstream>
#include <string_view>

#include "devices/cuda/tool_text.hpp"
#include "evaluation/target.hpp"

namespace accelopt::devices::cuda {
namespace {

/// A metric that is a figure by itself.
struct Figure {
  const char* metric;
  const char* name;
  double scale;
  const char* unit;
  const char* meaning;
};

constexpr const char* kDuration = "gpu__time_duration.sum";  // nanoseconds
constexpr std::array kFigures{
    Figure{kDuration, evaluation::kCountedTime.data(), 1e-3, "us", "of the kernel alone, as its counters were read"},
    Figure{"sm__throughput.avg.pct_of_peak_sustained_elapsed", "multiprocessor throughput", 1, "%",
           "of the multiprocessors' busiest part, of its peak"},
    Figure{"dram__throughput.avg.pct_of_peak_sustained_elapsed", "memory throughput", 1, "%",
           "of the device's memory, of its peak"},
    Figure{"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "memory throughput", 1, "%",
           "of the device's memory, of its peak"},  // where there is no dram__throughput
    Figure{"lts__throughput.avg.pct_of_peak_sustained_elapsed", "L2 throughput", 1, "%",
           "of the L2 cache, of its peak"},
    Figure{"l1tex__throughput.avg.pct_of_peak_sustained_active", "L1 throughput", 1, "%",
           "of L1 cache and shared memory, of their peak"},
    Figure{"dram__bytes_read.sum", "read from memory", 1, "bytes", "that passed between memory and L2 cache"},
    Figure{"dram__bytes_write.sum", "written to memory", 1, "bytes", "that passed between L2 cache and memory"},
    Figure{"lts__t_bytes.sum", "L2 traffic", 1, "bytes", "that the L2 cache was asked for"},
    Figure{"l1tex__t_bytes.sum", "L1 traffic", 1, "bytes", "that the L1 caches were asked for"},
    Figure{"lts__t_sector_hit_rate.pct", "L2 hit rate", 1, "%", "sectors found in the L2 cache / asked for"},
    Figure{"l1tex__t_sector_hit_rate.pct", "L1 hit rate", 1, "%", "sectors found in the L1 cache / asked for"},
    Figure{"sm__warps_active.avg.pct_of_peak_sustained_active", "achieved occupancy", 1, "%",
           "warps on a multiprocessor while it had any / most"},
    Figure{"smsp__issue_active.avg.per_cycle_active", "issue slots used", 100, "%",
           "cycles in which a scheduler issued an instruction"},
    Figure{"smsp__warps_eligible.avg.per_cycle_active", "eligible warps", 1, "",
           "ready to issue, a scheduler and cycle; under 1, latency is not hidden"},
    Figure{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "tensor cores busy", 1, "%",
           "cycles in which the tensor cores worked / in which the multiprocessors had warps"},
};

/// Why a warp does not issue.
struct Stall {
  const char* reason;
  const char* meaning;
};
constexpr std::array kStalls{
    Stall{"long_scoreboard", "waits for data from global or local memory"},
    Stall{"short_scoreboard", "waits for data from shared memory or for special functions"},
    Stall{"barrier", "waits for other warps at a barrier of the block"},
    Stall{"membar", "waits for a memory fence"},
    Stall{"math_pipe_throttle", "waits for an arithmetic pipe that is busy"},
    Stall{"mio_throttle", "waits for the queue to shared memory and special functions"},
    Stall{"lg_throttle", "waits for the queue to global and local memory"},
    Stall{"tex_throttle", "waits for the queue to the texture units"},
    Stall{"drain", "waits at its end for its stores"},
    Stall{"wait", "fixed latency between dependent instructions"},
    Stall{"not_selected", "was ready, and another warp went first"},
    Stall{"no_instruction", "waits for instructions to be fetched"},
    Stall{"branch_resolving", "waits for the target of a branch"},
    Stall{"dispatch_stall", "waits for the dispatcher"},
    Stall{"imc_miss", "waits for constants"},
    Stall{"sleeping", "sleeps"},
    Stall{"gmma", "waits for matrix products of the warp group"},
    Stall{"misc", "other reasons"},
};
constexpr const char* kIssued = "selected";  ///< counted among the reasons, and is none

/// Parts of a multiprocessor that instructions go to.
struct Pipe {
  const char* name;
  const char* meaning;
};
constexpr std::array kPipes{
    Pipe{"alu", "integers, comparisons, logic"},
    Pipe{"fma", "float32, and products of integers"},
    Pipe{"fp16", "pairs of 16-bit floats"},
    Pipe{"fp64", "float64"},
    Pipe{"lsu", "loads and stores"},
    Pipe{"xu", "special functions and conversions"},
    Pipe{"uniform", "done once a warp"},
    Pipe{"cbu", "branches and barriers"},
    Pipe{"adu", "addresses, and branches by table"},
    Pipe{"tensor_op_hmma", "matrix products of a warp"},
    Pipe{"tensor_op_gmma", "matrix products of a warp group"},
};

constexpr const char* kInstructions = "smsp__inst_executed.sum";
constexpr const char* kConflictsOfLoads = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum";
constexpr const char* kConflictsOfStores = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum";
constexpr const char* kSharedPasses = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
constexpr const char* kSectorsLoaded = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
constexpr const char* kLoads = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
constexpr const char* kSectorsStored = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
constexpr const char* kStores = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum";

// What a planner can take in.
constexpr std::size_t kMostKernels = 3;
constexpr std::size_t kMostStalls = 4;
constexpr std::size_t kMostPipes = 5;
constexpr double kLeastShare = 2;  ///< %: smaller parts of a whole are left out

std::string stall_metric(const std::string& reason) {
  return "smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio";
}
std::string pipe_metric(const std::string& pipe) {
  return "sm__inst_executed_pipe_" + pipe + ".sum";
}

/// The cells of one line of comma-separated values in quotes.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      out.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      out.emplace_back();
    } else if (c != '\r') {
      out.back() += c;
    }
  }
  return out;
}

/// "1,234.5"; nothing of "n/a" and the like.
std::optional<double> number_in(std::string cell) {
  std::erase(cell, ',');
  double value = 0;
  const auto read = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (read.ec != std::errc() || !std::isfinite(value)) return std::nullopt;
  if (read.ptr != cell.data() + cell.size() && *read.ptr != ' ') return std::nullopt;
  return value;
}

/// "void kernel(float const *, int)" as the source names it.
std::string plain_kernel(const std::string& name) {
  const std::string head = name.substr(0, name.find('('));
  const auto blank = head.rfind(' ');
  return blank == std::string::npos ? head : head.substr(blank + 1);
}

/// What ncu complains of, without the mark at the line's beginning; empty: the line is no complaint. Lines of progress
/// are none, which name kernels: a kernel may be named like a complaint.
std::string complaint_in(std::string_view line) {
  constexpr std::string_view kError = "==ERROR== ";
  constexpr std::string_view kWarning = "==WARNING== ";
  if (line.starts_with(kError)) return std::string(tool_line_start(line.substr(kError.size())));
  const bool none = line.starts_with(kWarning) && line.find("No kernels were profiled") != std::string_view::npos;
  return none ? std::string(tool_line_start(line.substr(kWarning.size()))) : std::string();
}

void read_complaint(const std::string& complaint, CounterTable& out) {
  static const std::regex unknown(R"(Failed to find metric (?:regex:)?\^?([A-Za-z0-9_]+))");
  std::smatch match;
  if (std::regex_search(complaint, match, unknown)) out.unknown.push_back(match[1]);
  if (complaint.find("Failed to access the following") != std::string::npos) {
    static const std::regex metric(R"(([A-Za-z0-9]+__[A-Za-z0-9_]+))");
    for (std::sregex_iterator found(complaint.begin(), complaint.end(), metric), end; found != end; ++found) {
      out.unknown.push_back((*found)[1]);
    }
  }
  if (complaint.starts_with("ERR_NVGPUCTRPERM")) out.refused = true;
}

/// The first line that tells most of why something is missing.
class Problem {
 public:
  enum Source { other, ncu, server };  ///< the later one tells more
  void add(Source source, std::string_view line) {
    if (!text_.empty() && source <= source_) return;
    text_ = plain_tool_line(line);
    source_ = source;
  }
  /// What else was printed tells nothing where there is a table.
  [[nodiscard]] std::string text(bool table) const { return table && source_ == other ? std::string() : text_; }

 private:
  std::string text_;
  Source source_ = other;
};

std::optional<double> value_of(const KernelCounters& launch, const std::string& metric) {
  const auto found = launch.values.find(metric);
  return found == launch.values.end() ? std::nullopt : std::optional(found->second);
}

/// The largest parts of a whole, as shares.
struct Share {
  std::string name;
  double percent = 0;
  const char* meaning = "";
};
std::vector<Share> largest(std::vector<Share> shares, std::size_t most) {
  std::stable_sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.percent > b.percent; });
  std::erase_if(shares, [](const Share& one) { return one.percent < kLeastShare; });
  if (shares.size() > most) shares.resize(most);
  return shares;
}

std::vector<Share> stalls_of(const KernelCounters& launch) {
  std::vector<Share> out;
  double all = value_of(launch, stall_metric(kIssued)).value_or(0);
  for (const Stall& stall : kStalls) {
    const double value = value_of(launch, stall_metric(stall.reason)).value_or(0);
    all += value;
    std::string name = stall.reason;
    std::replace(name.begin(), name.end(), '_', ' ');
    out.push_back({"stalled, " + name, value, stall.meaning});
  }
  if (all <= 0) return {};
  for (Share& one : out) one.percent *= 100 / all;
  return largest(std::move(out), kMostStalls);
}

std::vector<Share> pipes_of(const KernelCounters& launch) {
  std::vector<Share> out;
  const double all = value_of(launch, kInstructions).value_or(0);
  if (all <= 0) return {};
  for (const Pipe& pipe : kPipes) {
    std::string name = pipe.name;
    std::replace(name.begin(), name.end(), '_', ' ');
    out.push_back(
        {"instructions, " + name, 100 * value_of(launch, pipe_metric(pipe.name)).value_or(0) / all, pipe.meaning});
  }
  return largest(std::move(out), kMostPipes);
}

void describe_launch(const KernelCounters& launch, const std::string& prefix, std::vector<model::ProfileItem>& out) {
  const auto add = [&](const std::string& name, double value, const char* unit, std::string meaning) {
    out.push_back({prefix + name, value, unit, std::move(meaning)});
  };
  const auto add_ratio = [&](const char* name, const char* above, const char* below, const char* meaning) {
    const auto all = value_of(launch, below);
    const auto part = value_of(launch, above);
    if (all && part && *all > 0) add(name, *part / *all, "", meaning);
  };
  for (const Figure& figure : kFigures) {
    const auto value = value_of(launch, figure.metric);
    const bool again = !out.empty() && out.back().name == prefix + figure.name;
    if (value && !again) add(figure.name, *value * figure.scale, figure.unit, figure.meaning);
  }
  add_ratio("sectors a load", kSectorsLoaded, kLoads,
            "of 32 bytes, a warp's load from global memory; 4 where each "
            "thread loads the next 4 bytes");
  add_ratio("sectors a store", kSectorsStored, kStores,
            "of 32 bytes, a warp's store to global memory; 4 where each "
            "thread stores the next 4 bytes");
  const auto passes = value_of(launch, kSharedPasses);
  const auto loads = value_of(launch, kConflictsOfLoads);
  const auto stores = value_of(launch, kConflictsOfStores);
  if (passes && *passes > 0 && (loads || stores)) {
    add("shared memory bank conflicts", 100 * (loads.value_or(0) + stores.value_or(0)) / *passes, "%",
        "passes through shared memory that conflicts added / all passes");
  }
  for (const Share& one : stalls_of(launch)) {
    add(one.name, one.percent, "%", std::string("of the warps' time: ") + one.meaning);
  }
  if (const auto all = value_of(launch, kInstructions)) add("instructions", *all, "", "that warps executed");
  for (const Share& one : pipes_of(launch)) {
    add(one.name, one.percent, "%", std::string("of the instructions that warps executed: ") + one.meaning);
  }
}

}  // namespace

std::vector<std::string> counter_metrics() {
  std::vector<std::string> out;
  for (const Figure& figure : kFigures) out.emplace_back(figure.metric);
  for (const char* metric : {kInstructions, kConflictsOfLoads, kConflictsOfStores, kSharedPasses, kSectorsLoaded,
                             kLoads, kSectorsStored, kStores}) {
    out.emplace_back(metric);
  }
  for (const Stall& stall : kStalls) out.push_back(stall_metric(stall.reason));
  out.push_back(stall_metric(kIssued));
  for (const Pipe& pipe : kPipes) out.push_back(pipe_metric(pipe.name));
  return out;
}

CounterTable read_counters(const std::string& output) {
  CounterTable out;
  Problem problem;
  std::vector<std::string> header;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("==")) {
      const std::string complaint = complaint_in(line);
      if (complaint.empty()) continue;
      read_complaint(complaint, out);
      problem.add(Problem::ncu, complaint);
      continue;
    }
    if (!line.starts_with('"')) {
      problem.add(line.starts_with("accelopt-device: ") ? Problem::server : Problem::other, line);
      continue;
    }
    const std::vector<std::string> cells = cells_of(line);
    if (cells.front() == "ID") {
      header = cells;
      continue;
    }
    // The line of units, whose first cell is empty, is known: base units were asked for.
    if (cells.size() != header.size() || cells.front().empty()) continue;
    KernelCounters& launch = out.launches.emplace_back();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (header[i] == "Kernel Name") launch.kernel = plain_kernel(cells[i]);
      if (header[i].find("__") == std::string::npos) continue;
      if (const auto value = number_in(cells[i])) launch.values[header[i]] = *value;
    }
  }
  out.problem = problem.text(!out.launches.empty());
  return out;
}

std::vector<model::ProfileItem> describe_counters(const std::vector<KernelCounters>& launches) {
  const auto time_of = [](const KernelCounters& launch) { return value_of(launch, kDuration).value_or(0); };
  std::vector<const KernelCounters*> longest;
  for (const KernelCounters& launch : launches) {
    const auto known = std::find_if(longest.begin(), longest.end(),
                                    [&](const KernelCounters* other) { return other->kernel == launch.kernel; });
    if (known == longest.end()) {
      longest.push_back(&launch);
    } else if (time_of(launch) > time_of(**known)) {
      *known = &launch;
    }
  }
  std::stable_sort(longest.begin(), longest.end(),
                   [&](const auto* a, const auto* b) { return time_of(*a) > time_of(*b); });
  if (longest.size() > kMostKernels) longest.resize(kMostKernels);
  std::vector<model::ProfileItem> out;
  for (const KernelCounters* launch : longest) {
    describe_launch(*launch, launches.size() > 1 ? launch->kernel + ": " : "", out);
  }
  return out;
}

}  // namespace accelopt::devices::cuda
