// SPDX-License-Identifier: Apache-2.0
#include "transfer_table.hpp"

#include <cmath>
#include <fstream>
#include <sstream>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "evaluation/evaluator_json.hpp"
#include "evaluation/measuring.hpp"
#include "stats/estimate.hpp"
#include "suites/task_folder.hpp"
#include "targets/cpu/cpu_target.hpp"

namespace accelopt::bench {

using base::Json;
using base::Result;

namespace {

/// Blocks a session of fresh processes; sessions of every candidate, and of one that is about as good as the best so
/// far or whose blocks disagree: there the order of two candidates matters, and where its pages come to lie, too.
constexpr int kBlocks = 8;
constexpr int kMoreSessions = 4;
constexpr int kMostTries = 4;  ///< of a session
constexpr double kNearBest = 0.85;
constexpr double kDisagreement = 0.1;  ///< half-width of the interval of the first session, as a logarithm
/// Sets of inputs a workload: one to warm up, the others a block each.
constexpr int kSlots = 9;
/// Sets of inputs that a candidate is verified with, a workload; every block verifies one more.
constexpr int kVerifiedSlots = 2;

evaluation::MeasureSettings measure_settings() {
  evaluation::MeasureSettings settings;
  settings.seed = base::random_seed();
  settings.slots = kSlots;
  return settings;
}

bool deserves_more(const Measured& entry, double best) {
  const stats::Interval interval = stats::trimmed_interval(entry.log_ratios, 0.05);
  return speedup_of(entry) > kNearBest * best || (interval.high - interval.low) / 2 > kDisagreement;
}

}  // namespace

double speedup_of(const Measured& measured) {
  if (measured.status != model::Status::passed || measured.log_ratios.empty()) return 0;
  return std::exp(stats::trimmed_mean(measured.log_ratios));
}

/// The task open on the real target.
struct Table::Device {
  explicit Device(const model::Task& task) {
    targets::cpu::CpuOptions options;
    options.arena = ACCELOPT_ARENA_PATH;
    options.cache = ACCELOPT_CACHE;
    target = targets::cpu::make_cpu_target(options);
    measuring = std::make_unique<evaluation::Measuring>(
        evaluation::Measuring{.target = *target,
                              .task = task,
                              .baseline = model::Kernel(task.baseline),
                              .settings = measure_settings(),
                              .peaks = {},
                              .slots = nullptr,
                              .baseline_ns = {},
                              .random = {},
                              .confirmations = 0,
                              .near_peaks = false,
                              .compile_budgets = std::make_unique<evaluation::CompileBudgets>(),
                              .recorded_ns = {}});
    measuring->random.seed(measuring->settings.seed);
  }

  Result<evaluation::OpenReport> open() {
    evaluation::OpenReport report;
    TRY_ASSIGN(report.device, target->open(measuring->task, measuring->settings, {}));
    measuring->peaks = report.device.peaks;
    measuring->slots = std::make_unique<evaluation::Slots>(*target, measuring->task, measuring->settings.seed, kSlots);
    TRY_ASSIGN(report.baseline, evaluation::evaluate_baseline(*measuring, {}));
    report.task_header = target->task_header();
    return report;
  }

  /// The first failure, or none.
  Result<std::optional<evaluation::Failure>> verify(const model::Kernel& solution,
                                                    const std::vector<std::size_t>& workloads, int slots) {
    TRY(target->build(solution, {}));  // before the quiet, in which a compiler stands still
    const auto quiet = target->quiet();
    return evaluation::verify(*measuring, *measuring->slots, solution, {workloads, slots, nullptr}, {});
  }

  /// Adds a session's blocks of baseline and solution; sets the status where the solution fails in one. A session in
  /// which the baseline fails, because the machine stood still, is made again.
  Result<void> race(const model::Kernel& solution, int blocks, Measured& result) {
    for (int tries = 1;; ++tries) {
      const std::size_t before = result.log_ratios.size();
      const auto raced = race_once(solution, blocks, result);
      if (raced || tries == kMostTries || raced.error().code != base::ErrorCode::internal) return raced;
      result.log_ratios.resize(before);
    }
  }

  Result<void> race_once(const model::Kernel& solution, int blocks, Measured& result) {
    TRY(target->build(solution, {}));
    const auto quiet = target->quiet();
    const std::vector<std::size_t> raced = measuring->workloads(evaluation::kRaced);
    evaluation::BlockRunner runner(*target, measuring->task, *measuring->slots,
                                   {.arms = {&measuring->baseline, &solution},
                                    .workloads = raced,
                                    .expected_ns = measuring->expected_ns(raced),
                                    .hard_limit = measuring->hard_limit(),
                                    .seed = measuring->random()});
    const std::vector<double> weights = measuring->weights(raced);
    for (int i = 0; i < blocks; ++i) {
      TRY_ASSIGN(const evaluation::Block block, runner.next({0, 1}, {}));
      if (runner.failure(0)) return base::fail(base::ErrorCode::internal, runner.failure(0)->reason);
      if (runner.failure(1)) {
        result.status = runner.failure(1)->status;
        result.reason = runner.failure(1)->reason;
        return {};
      }
      result.log_ratios.push_back(stats::block_log_ratio(*block.times_ns[0], *block.times_ns[1], weights));
    }
    return {};
  }

  std::unique_ptr<evaluation::Target> target;
  std::unique_ptr<evaluation::Measuring> measuring;
};

Table::Table(model::Task task, std::filesystem::path file)
    : task_(std::move(task)), task_id_(base::sha256_hex(base::canonical(Json(task_)))), file_(std::move(file)) {}

Table::~Table() = default;

void Table::close() {
  device_.reset();
}

Result<std::unique_ptr<Table>> Table::open(const std::filesystem::path& task_folder,
                                           const std::filesystem::path& folder) {
  TRY_ASSIGN(model::Task task, suites::load_task(task_folder));
  TRY(base::make_folders(folder));
  const std::filesystem::path file = folder / (task.definition.name + ".jsonl");
  std::unique_ptr<Table> table(new Table(std::move(task), file));
  TRY(table->read());
  return table;
}

Result<void> Table::read() {
  const auto text = base::read_file(file_);
  if (!text && text.error().code == base::ErrorCode::not_found) return {};
  if (!text) return tl::make_unexpected(text.error());
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded() || json.value("task", "") != task_id_) continue;  // cut short, or of another task
    if (const auto open = json.find("open"); open != json.end()) {
      TRY_ASSIGN(opened_, base::decode<evaluation::OpenReport>(*open, file_.string()));
    } else if (const auto build = json.find("build"); build != json.end()) {
      TRY_ASSIGN(builds_[json.at("source").get<std::string>()],
                 base::decode<model::BuildReport>(*build, file_.string()));
    } else if (const auto status = json.find("status"); status != json.end()) {
      Measured& entry = measured_[json.at("code").get<std::string>()];
      entry.status = model::parse_status(status->get<std::string>());
      base::read_field(json, "reason", entry.reason);
      base::read_field(json, "log_ratios", entry.log_ratios);
      best_ = std::max(best_, speedup_of(entry));
    } else if (const auto confirmed = json.find("confirmed"); confirmed != json.end()) {
      confirmed->get_to(measured_[json.at("code").get<std::string>()].confirmed);
    } else if (const auto held_out = json.find("held_out"); held_out != json.end()) {
      measured_[json.at("code").get<std::string>()].held_out = model::parse_status(held_out->get<std::string>());
    }
  }
  return {};
}

Result<void> Table::write(const Json& line) {
  Json stamped = line;
  stamped["task"] = task_id_;
  std::ofstream out(file_, std::ios::app);
  out << base::canonical(stamped) << "\n" << std::flush;
  if (!out) return base::fail(base::ErrorCode::io, file_.string() + " cannot be written");
  return {};
}

Result<Table::Device*> Table::device() {
  if (!device_) {
    auto fresh = std::make_unique<Device>(task_);
    TRY_ASSIGN(const evaluation::OpenReport report, fresh->open());
    if (report.baseline.status != model::Status::passed) {
      return base::fail(base::ErrorCode::invalid_argument, "the baseline fails: " + report.baseline.reason);
    }
    if (!opened_) {
      opened_ = report;
      TRY(write({{"open", report}}));
    }
    device_ = std::move(fresh);
  }
  return device_.get();
}

Result<evaluation::OpenReport> Table::opened() {
  if (!opened_) TRY(device());
  return *opened_;
}

Result<model::BuildReport> Table::build(const model::Solution& solution) {
  const std::string id = model::source_id(solution);
  if (const auto known = builds_.find(id); known != builds_.end()) return known->second;
  TRY_ASSIGN(Device* const device, this->device());
  TRY_ASSIGN(const model::BuildReport report, device->target->build(model::Kernel(solution), {}));
  builds_[id] = report;
  TRY(write({{"source", id}, {"build", report}}));
  return report;
}

Result<Measured> Table::measured(const model::Solution& solution) {
  TRY_ASSIGN(const model::BuildReport report, build(solution));
  if (!report.built) return base::fail(base::ErrorCode::invalid_argument, "it does not build");
  Measured& entry = measured_[report.machine_code_id];
  if (entry.status != model::Status::not_measured) return entry;
  TRY_ASSIGN(Device* const device, this->device());
  TRY_ASSIGN(const auto failure, device->verify(model::Kernel(solution),
                                                device->measuring->workloads(evaluation::kVerified), kVerifiedSlots));
  if (failure) {
    entry.status = failure->status;
    entry.reason = failure->reason;
  } else {
    entry.status = model::Status::passed;
    TRY(device->race(model::Kernel(solution), kBlocks, entry));
    const bool more = entry.status == model::Status::passed && deserves_more(entry, best_);
    for (int session = 1; more && session < kMoreSessions; ++session)
      TRY(device->race(model::Kernel(solution), kBlocks, entry));
    if (entry.status != model::Status::passed) entry.log_ratios.clear();
    best_ = std::max(best_, speedup_of(entry));
  }
  ++fresh_;
  TRY(write({{"code", report.machine_code_id},
             {"status", model::to_string(entry.status)},
             {"reason", entry.reason},
             {"log_ratios", entry.log_ratios}}));
  return entry;
}

Result<model::Status> Table::held_out(const model::Solution& solution) {
  TRY_ASSIGN(const model::BuildReport report, build(solution));
  if (!report.built) return model::Status::compile_error;
  Measured& entry = measured_[report.machine_code_id];
  if (entry.held_out) return *entry.held_out;
  TRY_ASSIGN(Device* const device, this->device());
  TRY_ASSIGN(const auto failure, device->verify(model::Kernel(solution),
                                                device->measuring->workloads(evaluation::kHeldOut), kVerifiedSlots));
  entry.held_out = failure ? failure->status : model::Status::passed;
  TRY(write({{"code", report.machine_code_id}, {"held_out", model::to_string(*entry.held_out)}}));
  return *entry.held_out;
}

Result<double> Table::confirmed(const model::Solution& solution) {
  TRY_ASSIGN(const model::BuildReport report, build(solution));
  Measured& entry = measured_[report.machine_code_id];
  if (entry.confirmed.empty()) {
    TRY_ASSIGN(Device* const device, this->device());
    Measured again{.status = entry.status, .reason = {}, .log_ratios = {}, .held_out = {}, .confirmed = {}};
    for (int session = 0; session < kMoreSessions; ++session)
      TRY(device->race(model::Kernel(solution), kBlocks, again));
    if (again.status != model::Status::passed || again.log_ratios.empty())
      return base::fail(base::ErrorCode::internal, "what had passed fails: " + again.reason);
    entry.confirmed = again.log_ratios;
    TRY(write({{"code", report.machine_code_id}, {"confirmed", entry.confirmed}}));
  }
  return std::exp(stats::trimmed_mean(entry.confirmed));
}

}  // namespace accelopt::bench
