// SPDX-License-Identifier: Apache-2.0
// Whether what was learned on some operators helps on others. The recipes agents search every operator of the CPU suite
// cold (the static cost model's order), warm (with what the cold runs of the operators outside its family taught), with
// the outcomes of those experiences shuffled, and in random order. Counted are the evaluations until a search has a
// kernel with 95 % of the gain that the cold one ends with, as its confirmation measures it. With --learn-from, the
// cold runs of that suite's operators teach, and none of --suite's.
//
// Each distinct candidate is built, verified and raced against the task's baseline once; all searches run over these
// results (transfer_table.hpp), each seed with a noise of its own. What is in the folder is not measured again.
//
//   transfer [--task NAME]... [--only NAME]... [--seeds N] [--control-seeds N] [--evaluations N] [--fill cold|warm]
//            [--log DIR] [--folder DIR] [--suite DIR] [--learn-from DIR]
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "figures.hpp"
#include "memory/knowledge_file.hpp"
#include "memory/ranking.hpp"
#include "stats/estimate.hpp"
#include "suites/task_folder.hpp"
#include "transfer_runs.hpp"

namespace accelopt::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using base::Result;

constexpr double kShare = 0.95;  ///< of the cold run's gain
/// Speed-up, the mean over seeds, that a task's target must have to count: below it, sooner and later are noise.
constexpr double kLeastTarget = 1.05;

struct Options {
  std::vector<std::string> tasks;
  std::vector<std::string> only;  ///< tasks that are searched other than cold; empty: all
  int seeds = 5;
  int control_seeds = 5;  ///< of the shuffled and the random searches, which meet the most candidates
  int evaluations = 24;
  std::string fill;  ///< "cold", "warm": measures what the searches up to these meet and reports nothing
  fs::path folder = ACCELOPT_TABLES;
  fs::path log;  ///< folder for the events of every search and for what the cold ones learned; empty: none
  fs::path suite = ACCELOPT_SUITE;
  fs::path learn_from;  ///< suite whose cold searches teach; empty: `suite`
};

/// Evaluations of one task until the target, a value a seed.
struct Counts {
  std::vector<double> cold, warm, shuffled, random;
  std::vector<double> target;  ///< speed-up
};

/// ln of the geometric mean of a / b over the seeds that both have.
double log_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  const std::size_t seeds = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < seeds; ++i) sum += std::log(a[i] / b[i]);
  return sum / static_cast<double>(seeds);
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// The geometric mean over tasks, with Student's interval: tasks are what was sampled. Nothing of fewer than two, which
/// say nothing of others.
std::optional<stats::Interval> over_tasks(const std::vector<double>& logs) {
  if (logs.size() < 2) return std::nullopt;
  const double middle = mean(logs);
  double squares = 0;
  for (const double value : logs) squares += (value - middle) * (value - middle);
  const auto n = static_cast<double>(logs.size());
  const double half = stats::student_quantile(0.975, n - 1) * std::sqrt(squares / (n - 1) / n);
  return stats::Interval{std::exp(middle), std::exp(middle - half), std::exp(middle + half)};
}

/// The experiences outside the operator's family, with their outcomes dealt out anew among them.
Result<void> write_shuffled(const fs::path& from, const fs::path& to, const std::string& op_type, std::uint64_t seed) {
  const std::vector<std::string> family = memory::family_of(op_type);
  std::vector<model::Experience> all;
  {
    TRY_ASSIGN(const auto store, memory::open_knowledge_file(from));
    TRY(store->for_each([&](const memory::Item& item) -> Result<void> {
      if (std::ranges::find(family, item.experience.op_type) == family.end()) all.push_back(item.experience);
      return {};
    }));
  }
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937_64 random(seed);
  std::ranges::shuffle(order, random);
  std::vector<model::Experience> dealt = all;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const model::Experience& outcome = all[order[i]];
    dealt[i].id.clear();
    dealt[i].polarity = outcome.polarity;
    dealt[i].effect = outcome.effect;
    dealt[i].workloads = outcome.workloads;
    dealt[i].credit = outcome.credit;
  }
  TRY_ASSIGN(const auto store, memory::open_knowledge_file(to));
  TRY(store->insert(dealt, memory::Forgotten::returns));
  return {};
}

class Experiment {
 public:
  Experiment(Options options, const syntax::Clang& clang, base::TemporaryFolder folder)
      : options_(std::move(options)), team_(clang), folder_(std::move(folder)) {}

  Result<void> run() {
    for (const std::string& name : options_.tasks) {
      TRY_ASSIGN(tables_[name], Table::open(options_.suite / name, options_.folder));
    }
    if (!options_.learn_from.empty()) {
      TRY_ASSIGN(const std::vector<fs::path> folders, suites::find_suite_tasks(options_.learn_from));
      for (const fs::path& folder : folders) {
        TRY_ASSIGN(teachers_.emplace_back(), Table::open(folder, options_.folder));
      }
    }
    const auto with = [this](auto search) {
      return [this, search](Table& table, Counts& counts, int seed) { return (this->*search)(table, counts, seed); };
    };
    for (int seed = 1; seed <= options_.seeds; ++seed) fs::remove(store(seed));  // an earlier log's
    const int controls = std::min(options_.control_seeds, options_.seeds);
    TRY(each("cold", options_.tasks, options_.seeds, with(&Experiment::cold)));
    if (options_.fill == "cold") return {};
    TRY(teach());
    TRY(each("warm", options_.only, options_.seeds, with(&Experiment::warm)));
    if (options_.fill == "warm") return {};
    TRY(each("shuffled", options_.only, controls, with(&Experiment::shuffled)));
    TRY(each("random", options_.only, controls, with(&Experiment::random)));
    return {};
  }

  void report(Figures& figures) const {
    std::printf("%-24s %8s %6s %6s %9s %7s   warm/cold\n", "task", "target", "cold", "warm", "shuffled", "random");
    std::vector<double> warm, to_save, shuffled, random;
    double worst = 0;
    for (const std::string& name : options_.only) {
      const auto known = counts_.find(name);
      if (known == counts_.end()) continue;
      const Counts& counts = known->second;
      if (mean(counts.target) < kLeastTarget) {
        std::printf("%-24s %7.2fx: too little to find; counted in no figure\n", name.c_str(), mean(counts.target));
        continue;
      }
      warm.push_back(log_ratio(counts.warm, counts.cold));
      // Where every cold search begins with what it ends with, nothing can be saved.
      if (mean(counts.cold) > 1) to_save.push_back(warm.back());
      shuffled.push_back(log_ratio(counts.shuffled, counts.cold));
      random.push_back(log_ratio(counts.cold, counts.random));
      worst = std::max(worst, std::exp(warm.back()));
      std::printf("%-24s %7.2fx %6.1f %6.1f %9.1f %7.1f   %.2f\n", name.c_str(), mean(counts.target), mean(counts.cold),
                  mean(counts.warm), mean(counts.shuffled), mean(counts.random), std::exp(warm.back()));
    }
    const int controls = std::min(options_.control_seeds, options_.seeds);
    const auto basis = [&](std::size_t tasks, int seeds) {
      const auto counted = [](std::size_t count, const char* what) {
        return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
      };
      return "(" + counted(tasks, "task") + ", " + counted(static_cast<std::size_t>(seeds), "seed") + ")";
    };
    const auto line = [&](const char* name, const std::vector<double>& logs, Bound kind, double bound, int seeds) {
      const auto value = over_tasks(logs);
      if (!value) {
        figures.leave_open(name, "over fewer than two tasks there is no interval " + basis(logs.size(), seeds));
        return;
      }
      figures.report(name, value->estimate, kind, bound, basis(logs.size(), seeds));
      std::printf("# 95 %% interval over tasks: [%.3f, %.3f]\n", value->low, value->high);
    };
    line("transfer_warm_over_cold", warm, Bound::at_most, 0.7, options_.seeds);
    line("transfer_warm_over_cold_to_save", to_save, Bound::at_most, 0.7, options_.seeds);
    if (warm.size() < 2) {
      figures.leave_open("transfer_worst_task",
                         "one of fewer than two tasks is no worst one " + basis(warm.size(), options_.seeds));
    } else {
      figures.report("transfer_worst_task", worst, Bound::at_most, 1.3, basis(warm.size(), options_.seeds));
    }
    line("transfer_cold_over_random", random, Bound::at_most, 1.1, controls);
    line("transfer_shuffled_over_cold", shuffled, Bound::at_least, 0.95, controls);
  }

 private:
  template <class Body>
  Result<void> each(const char* what, const std::vector<std::string>& tasks, int seeds, Body&& body) {
    for (const std::string& name : tasks) {
      const auto began = Clock::now();
      Table& table = *tables_.at(name);
      const int before = table.fresh();
      for (int seed = 1; seed <= seeds; ++seed) TRY(body(table, counts_[name], seed));
      table.close();
      std::fprintf(stderr, "%s %s: %d candidates measured, %.0f s\n", what, name.c_str(), table.fresh() - before,
                   std::chrono::duration<double>(Clock::now() - began).count());
    }
    return {};
  }

  /// The other suite's cold searches, of which nothing is counted.
  Result<void> teach() {
    for (const auto& table : teachers_) {
      const int before = table->fresh();
      for (int seed = 1; seed <= options_.seeds; ++seed) {
        Search search = search_of("teaching", *table, seed, Order::cost_model);
        search.store = store(seed);
        TRY(team_.search(*table, search));
      }
      table->close();
      std::fprintf(stderr, "taught by %s: %d candidates measured\n", table->task().definition.name.c_str(),
                   table->fresh() - before);
    }
    return {};
  }

  [[nodiscard]] fs::path store(int seed) const {
    return (options_.log.empty() ? folder_.path() : options_.log) / ("seed-" + std::to_string(seed) + ".db");
  }

  Search search_of(const char* what, const Table& table, int seed, Order order) const {
    Search search;
    search.run = std::string(what) + "-" + table.task().definition.name + "-" + std::to_string(seed);
    search.order = order;
    search.seed = static_cast<std::uint64_t>(seed);
    search.evaluations = options_.evaluations;
    if (!options_.log.empty()) search.events = options_.log / (search.run + ".jsonl");
    return search;
  }

  Result<void> cold(Table& table, Counts& counts, int seed) {
    Search search = search_of("cold", table, seed, Order::cost_model);
    // What the tasks themselves learn goes nowhere where another suite teaches.
    search.store = options_.learn_from.empty() ? store(seed) : folder_.path() / (search.run + ".db");
    TRY_ASSIGN(const std::vector<Step> steps, team_.search(table, search));
    const auto best = std::max_element(steps.begin(), steps.end(),
                                       [](const Step& a, const Step& b) { return a.speedup < b.speedup; });
    double target = 1;
    if (best != steps.end() && best->speedup > 1) {
      TRY_ASSIGN(const double confirmed, table.confirmed(best->solution));
      target = std::max(1.0, 1 + kShare * (std::min(confirmed, best->speedup) - 1));
    }
    counts.target.push_back(target);
    counts.cold.push_back(evaluations_until(steps, target, options_.evaluations));
    std::fprintf(stderr, "%s, target %.2f:", search.run.c_str(), target);
    for (const Step& step : steps) std::fprintf(stderr, " %.2f", step.speedup);
    std::fprintf(stderr, "\n");
    return {};
  }

  Result<double> until_target(Table& table, Search search, double target) {
    search.until = target;
    TRY_ASSIGN(const std::vector<Step> steps, team_.search(table, search));
    std::fprintf(stderr, "%s:", search.run.c_str());
    for (const Step& step : steps) std::fprintf(stderr, " %.2f", step.speedup);
    std::fprintf(stderr, "\n");
    return evaluations_until(steps, target, options_.evaluations);
  }

  Result<void> warm(Table& table, Counts& counts, int seed) {
    Search search = search_of("warm", table, seed, Order::memory);
    const fs::path copy = folder_.path() / (search.run + ".db");
    // It learns, too: not for others. Where the cold runs learned nothing there is no store.
    if (fs::exists(store(seed))) fs::copy_file(store(seed), copy);
    search.store = copy;
    TRY_ASSIGN(const double count, until_target(table, search, counts.target[counts.warm.size()]));
    counts.warm.push_back(count);
    fs::remove(copy);
    return {};
  }

  Result<void> shuffled(Table& table, Counts& counts, int seed) {
    Search search = search_of("shuffled", table, seed, Order::memory);
    const fs::path dealt = folder_.path() / (search.run + ".db");
    TRY(write_shuffled(store(seed), dealt, table.task().definition.op_type,
                       base::derive_seed(search.seed, search.run)));
    search.store = dealt;
    TRY_ASSIGN(const double count, until_target(table, search, counts.target[counts.shuffled.size()]));
    counts.shuffled.push_back(count);
    return {};
  }

  Result<void> random(Table& table, Counts& counts, int seed) {
    const Search search = search_of("random", table, seed, Order::random);
    TRY_ASSIGN(const double count, until_target(table, search, counts.target[counts.random.size()]));
    counts.random.push_back(count);
    return {};
  }

  Options options_;
  RecipesTeam team_;
  base::TemporaryFolder folder_;
  std::map<std::string, std::unique_ptr<Table>> tables_;
  std::vector<std::unique_ptr<Table>> teachers_;  ///< the tasks of the other suite, by name
  std::map<std::string, Counts> counts_;
};

Result<int> run(Options options) {
  if (options.tasks.empty()) {
    TRY_ASSIGN(const std::vector<fs::path> folders, suites::find_suite_tasks(options.suite));
    for (const fs::path& folder : folders) options.tasks.push_back(folder.filename().string());
  }
  if (options.only.empty()) options.only = options.tasks;
  for (const std::vector<std::string>* names : {&options.tasks, &options.only}) {
    if (std::set<std::string>(names->begin(), names->end()).size() != names->size())
      return base::fail(base::ErrorCode::invalid_argument, "a task is given twice, and would count as two");
  }
  for (const std::string& name : options.only) {
    if (std::ranges::find(options.tasks, name) == options.tasks.end())
      return base::fail(base::ErrorCode::invalid_argument, "--only " + name + " is none of the tasks");
  }
  TRY_ASSIGN(const syntax::Clang clang, syntax::Clang::load());
  TRY_ASSIGN(base::TemporaryFolder folder, base::TemporaryFolder::create("accelopt-bench-transfer"));
  const bool filling = !options.fill.empty();
  Experiment experiment(std::move(options), clang, std::move(folder));
  TRY(experiment.run());
  if (filling) return 0;
  Figures figures;
  experiment.report(figures);
  return figures.exit_status();
}

/// A whole number of at least 1.
bool read_count(const std::string& text, int& target) {
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value < 1) return false;
  target = value;
  return true;
}

/// Nothing: they cannot be understood.
std::optional<Options> options_from(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string flag = argv[i];
    if (i + 1 == argc) return std::nullopt;
    const std::string value = argv[i + 1];
    bool good = !value.empty();
    if (flag == "--task") {
      options.tasks.push_back(value);
    } else if (flag == "--only") {
      options.only.push_back(value);
    } else if (flag == "--control-seeds") {
      good = read_count(value, options.control_seeds);
    } else if (flag == "--seeds") {
      good = read_count(value, options.seeds);
    } else if (flag == "--evaluations") {
      good = read_count(value, options.evaluations);
    } else if (flag == "--fill") {
      options.fill = value;
      good = value == "cold" || value == "warm";
    } else if (flag == "--log") {
      options.log = value;
    } else if (flag == "--folder") {
      options.folder = value;
    } else if (flag == "--suite") {
      options.suite = value;
    } else if (flag == "--learn-from") {
      options.learn_from = value;
    } else {
      good = false;
    }
    if (!good) {
      std::fprintf(stderr, "transfer: cannot read %s %s\n", flag.c_str(), value.c_str());
      return std::nullopt;
    }
  }
  return options;
}

}  // namespace
}  // namespace accelopt::bench

int main(int argc, char** argv) {
  auto options = accelopt::bench::options_from(argc, argv);
  if (!options) {
    std::fprintf(stderr,
                 "usage: transfer [--task NAME]... [--only NAME]... [--seeds N] [--control-seeds N] [--evaluations N]\n"
                 "                [--fill cold|warm] [--log DIR] [--folder DIR] [--suite DIR]\n"
                 "                [--learn-from DIR]\n");
    return 2;
  }
  const auto status = accelopt::bench::run(std::move(*options));
  if (!status) {
    std::fprintf(stderr, "transfer: %s\n", status.error().message.c_str());
    return 1;
  }
  return *status;
}
