// SPDX-License-Identifier: Apache-2.0
#include "transfer_runs.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "base/hash.hpp"
#include "fakes/named_evaluator.hpp"
#include "memory/knowledge_file.hpp"
#include "recipes/recipes_agents.hpp"
#include "recipes/route.hpp"
#include "report/progress.hpp"
#include "search/search.hpp"
#include "stats/estimate.hpp"
#include "stats/halving.hpp"

namespace accelopt::bench {

using base::Result;
using evaluation::Arm;
using evaluation::PlayoffReport;
using model::Evaluation;
using model::Solution;

namespace {

constexpr double kAlpha = 0.05;
/// A verdict of the race, as stats::TriageRules says it.
constexpr double kLeastGain = 0.005;
constexpr double kHopelessGain = 0.01;
/// Experiences that the recipes planner weighs, as the command line sets it.
constexpr int kCapacity = 1000;

/// To a file, where one is named.
class EventsOfSearch final : public model::EventSink {
 public:
  explicit EventsOfSearch(const std::optional<std::filesystem::path>& file)
      : file_(file ? std::fopen(file->c_str(), "w") : nullptr, &std::fclose),
        sink_(file_ ? report::make_json_progress(file_.get()) : nullptr) {}
  void on(const model::Event& event) override {
    if (sink_) sink_->on(event);
  }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::unique_ptr<model::EventSink> sink_;
};

/// Answers from the table; a seed draws anew which of a program's blocks count, and how often: its own noise.
class TableEvaluator final : public fakes::NamedEvaluator {
 public:
  TableEvaluator(Table& table, const Search& search, std::stop_source& reached)
      : table_(table), search_(search), reached_(reached) {}

  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

  Result<evaluation::OpenReport> open(const model::Task&, const evaluation::MeasureSettings&,
                                      std::stop_token) override {
    return table_.opened();
  }

  Result<model::BuildReport> build(const Solution& solution, std::stop_token) override {
    return table_.build(solution);
  }

  /// Called once a program: what the search knows by its machine code it does not evaluate again.
  Result<Evaluation> triage(const Solution& candidate, const Solution& opponent, std::stop_token) override {
    TRY_ASSIGN(const Measured measured, table_.measured(candidate));
    TRY(count(candidate, measured));
    TRY_ASSIGN(Evaluation result, raced(candidate, measured, opponent));
    return result;
  }

  Result<model::Profile> profile(const Solution& solution, std::stop_token) override {
    TRY_ASSIGN(const model::BuildReport report, table_.build(solution));
    model::Profile profile;
    profile.remarks = report.remarks;
    return profile;
  }

  Result<PlayoffReport> playoff(const std::vector<Arm>& arms, int, std::stop_token) override {
    PlayoffReport report;
    for (const Arm& arm : arms) {
      TRY_ASSIGN(const std::vector<double> samples, drawn(arm.kernel.solution()));
      evaluation::ArmScore score{.measured = true, .dropped = false, .reason = {}, .score = {}, .workloads = {}};
      score.blocks = static_cast<int>(samples.size());
      if (!samples.empty()) score.score = of(stats::trimmed_interval(samples, kAlpha));
      TRY_ASSIGN(score.workloads, timings(arm.kernel.solution()));
      report.arms.push_back(std::move(score));
    }
    return report;
  }

  Result<model::Status> verify_held_out(const Solution& solution, std::stop_token) override {
    return table_.held_out(solution);
  }

  Result<Evaluation> confirm(const Solution& solution, std::stop_token) override {
    TRY_ASSIGN(const Measured measured, table_.measured(solution));
    TRY_ASSIGN(Evaluation result, raced(solution, measured, table_.task().baseline));
    result.kind = model::EvaluationKind::confirm;
    return result;
  }

 private:
  Result<void> count(const Solution& candidate, const Measured& measured) {
    Step step{model::source_id(candidate), speedup_of(measured), candidate};
    // Only what leads has to prove that it is right on the held-out workloads.
    if (step.speedup > best_of(steps_)) {
      TRY_ASSIGN(const model::Status status, table_.held_out(candidate));
      if (status != model::Status::passed) step.speedup = 0;
    }
    steps_.push_back(step);
    const bool found = search_.until && step.speedup >= *search_.until;
    if (found || static_cast<int>(steps_.size()) == search_.evaluations) reached_.request_stop();
    return {};
  }

  Result<Evaluation> raced(const Solution& candidate, const Measured& measured, const Solution& opponent) {
    TRY_ASSIGN(Evaluation result, evaluation_of(candidate, model::EvaluationKind::triage));
    result.opponent = model::source_id(opponent);
    result.status = measured.status;
    result.reason = measured.reason;
    if (measured.status != model::Status::passed) return result;
    TRY_ASSIGN(const std::vector<double> own, drawn(candidate));
    TRY_ASSIGN(const std::vector<double> other, drawn(opponent));
    const stats::Interval log_ratio =
        other.empty() ? stats::trimmed_interval(own, kAlpha) : stats::compare_samples(own, other, kAlpha);
    result.ratio = of(log_ratio);
    result.blocks = static_cast<int>(own.size());
    result.decided_by = model::DecidedBy::race;
    result.verdict = log_ratio.low > std::log1p(kLeastGain)       ? model::Verdict::faster
                     : log_ratio.high < 0                         ? model::Verdict::slower
                     : log_ratio.high < std::log1p(kHopelessGain) ? model::Verdict::tie
                                                                  : model::Verdict::undecided;
    for (model::WorkloadTiming& workload : result.workloads) workload.ratio = result.ratio;
    return result;
  }

  static model::Interval of(const stats::Interval& log_ratio) {
    const stats::Interval ratio = stats::as_ratio(log_ratio);
    return {ratio.estimate, ratio.low, ratio.high};
  }

  [[nodiscard]] bool is_baseline(const Solution& solution) const { return solution == table_.task().baseline; }

  /// As many of its blocks as there are, drawn with replacement: the same ones whenever this search asks. The
  /// baseline's own are none.
  Result<std::vector<double>> drawn(const Solution& solution) {
    if (is_baseline(solution)) return std::vector<double>();
    TRY_ASSIGN(const model::BuildReport report, table_.build(solution));
    TRY_ASSIGN(const Measured measured, table_.measured(solution));
    const std::vector<double>& all = measured.log_ratios;
    std::mt19937_64 random(base::derive_seed(search_.seed, report.machine_code_id));
    std::vector<double> result;
    for (std::size_t i = 0; i < all.size(); ++i) result.push_back(all[random() % all.size()]);
    return result;
  }

  /// The baseline's raced workloads, as fast as the candidate ran them.
  Result<std::vector<model::WorkloadTiming>> timings(const Solution& solution) {
    TRY_ASSIGN(const evaluation::OpenReport opened, table_.opened());
    TRY_ASSIGN(const std::vector<double> samples, drawn(solution));
    const double speedup = std::exp(stats::trimmed_mean(samples));
    std::vector<model::WorkloadTiming> result;
    for (model::WorkloadTiming workload : opened.baseline.workloads) {
      if (workload.role != model::Role::race) continue;
      workload.time_ns /= speedup;
      if (workload.roofline) workload.roofline->fraction *= speedup;
      result.push_back(std::move(workload));
    }
    return result;
  }

  Result<Evaluation> evaluation_of(const Solution& solution, model::EvaluationKind kind) {
    TRY_ASSIGN(const evaluation::OpenReport opened, table_.opened());
    TRY_ASSIGN(const model::BuildReport report, table_.build(solution));
    Evaluation result;
    result.kind = kind;
    result.environment = opened.baseline.environment;
    result.trust = opened.baseline.trust;
    result.source_id = model::source_id(solution);
    result.machine_code_id = report.machine_code_id;
    TRY_ASSIGN(result.workloads, timings(solution));
    return result;
  }

  Table& table_;
  const Search& search_;
  std::stop_source& reached_;
  std::vector<Step> steps_;
};

/// The recipes planner in one of the orders. What the run itself has learned is left out on all sides, so that what is
/// compared is transfer alone.
class OrderedPlanner final : public agents::Planner {
 public:
  OrderedPlanner(agents::Planner& recipes, const syntax::Clang& clang, const Search& search)
      : recipes_(recipes), clang_(clang), search_(search) {}

  base::Outcome<agents::Answer<model::Plan>> plan(const agents::PlanQuestion& question, std::stop_token stop) override {
    agents::PlanQuestion asked = question;
    if (search_.order != Order::memory) asked.memory.clear();
    std::erase_if(asked.memory, [&](const model::Experience& experience) { return experience.run == search_.run; });
    if (search_.order != Order::random) return recipes_.plan(asked, stop);
    // The planner answers from the front of its order: the place is drawn, and what was tried is gone from it.
    TRY_ASSIGN(const std::vector<int>* const order, order_of(asked));
    const auto place = static_cast<std::size_t>(asked.context.identity.plan);
    asked.context.identity.plan = place < order->size() ? (*order)[place] : static_cast<int>(order->size());
    return recipes_.plan(asked, stop);
  }

 private:
  /// The places of the plans that are left for a kernel, shuffled.
  Result<const std::vector<int>*> order_of(const agents::PlanQuestion& question) {
    const std::string key = question.kernel.id() + " " + std::to_string(question.context.identity.iteration);
    const auto [found, fresh] = orders_.try_emplace(key);
    if (!fresh) return &found->second;
    recipes::KernelSource source;
    source.source = model::main_text(question.kernel.solution());
    source.task_header = question.context.task_header;
    source.language = question.kernel.solution().language;
    source.threads = question.context.task->cpu.threads;
    const auto applications = recipes::enumerate(clang_, source);
    if (applications) {
      const recipes::Evidence none({});
      const std::vector<agents::TriedPlan>& tried = question.tried.plans();
      const auto left =
          recipes::extended(clang_, source, recipes::ranked(*applications, none, tried), none, tried).size();
      for (std::size_t i = 0; i < left; ++i) found->second.push_back(static_cast<int>(i));
    }
    std::mt19937_64 random(base::derive_seed(search_.seed, "random order " + key));
    std::shuffle(found->second.begin(), found->second.end(), random);
    return &found->second;
  }

  agents::Planner& recipes_;
  const syntax::Clang& clang_;
  const Search& search_;
  std::map<std::string, std::vector<int>> orders_;
};

/// Applies each plan to each kernel once.
class RememberingExecutor final : public agents::Executor {
 public:
  explicit RememberingExecutor(agents::Executor& executor) : executor_(executor) {}

  base::Outcome<agents::Answer<model::Kernel>> execute(const agents::ExecuteQuestion& question,
                                                       std::stop_token stop) override {
    const std::string key =
        model::main_text(question.kernel.solution()) + question.plan.text + question.context.task_header;
    if (const auto known = known_.find(base::sha256_hex(key)); known != known_.end()) return known->second;
    TRY_ASSIGN(const auto answer, executor_.execute(question, stop));
    known_.emplace(base::sha256_hex(key), answer);
    return answer;
  }

 private:
  agents::Executor& executor_;
  std::map<std::string, agents::Answer<model::Kernel>> known_;
};

search::SearchSettings settings_of(const Search& search) {
  search::SearchSettings settings;
  settings.attempts = 1;
  settings.patience = 0;
  settings.near_roofline = 0;
  settings.memory_capacity = kCapacity;
  settings.memory_everything = true;
  settings.recall = search.order == Order::memory ? search::Recall::ranked : search::Recall::queue;
  settings.exclude_family = true;
  return settings;
}

}  // namespace

int evaluations_until(const std::vector<Step>& steps, double speedup, int most) {
  const auto found =
      std::find_if(steps.begin(), steps.end(), [&](const Step& step) { return step.speedup >= speedup; });
  return found == steps.end() ? most + 1 : static_cast<int>(found - steps.begin()) + 1;
}

double best_of(const std::vector<Step>& steps) {
  double best = 0;
  for (const Step& step : steps) best = std::max(best, step.speedup);
  return best;
}

struct RecipesTeam::Parts {
  explicit Parts(syntax::Clang library)
      : clang(std::move(library)),
        planner(recipes::make_recipes_planner(clang)),
        applier(recipes::make_recipes_executor(clang)),
        executor(*applier),
        fixer(recipes::make_recipes_fixer(clang)),
        summarizer(recipes::make_recipes_summarizer(clang)) {}
  syntax::Clang clang;
  std::unique_ptr<agents::Planner> planner;
  std::unique_ptr<agents::Executor> applier;
  RememberingExecutor executor;
  std::unique_ptr<agents::Fixer> fixer;
  std::unique_ptr<agents::Summarizer> summarizer;
};

RecipesTeam::RecipesTeam(const syntax::Clang& clang) : parts_(std::make_unique<Parts>(clang)) {}
RecipesTeam::~RecipesTeam() = default;

Result<std::vector<Step>> RecipesTeam::search(Table& table, const Search& search) {
  TRY_ASSIGN(const auto journal, journal::open_memory_journal());
  journal::RunInfo info;
  info.id = search.run;
  info.task = table.task();
  TRY(journal->create_run(info));
  std::unique_ptr<memory::Knowledge> knowledge;
  if (search.store) {
    knowledge = std::make_unique<memory::Knowledge>(
        memory::KnowledgePorts{.place = search.store->string(),
                               .open = [&] { return memory::open_knowledge_file(*search.store); },
                               .journal = journal.get(),
                               .notice = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); }});
  }
  std::stop_source reached;
  const std::stop_source never;
  TableEvaluator evaluator(table, search, reached);
  OrderedPlanner planner(*parts_->planner, parts_->clang, search);
  EventsOfSearch events(search.events);
  search::RunRequest request{.run = search.run, .task = table.task(), .settings = settings_of(search), .measure = {}};
  request.seed = search.seed;
  request.schedule = search::Schedule::serial;
  search::RunPorts ports{.team = {&planner, &parts_->executor, parts_->fixer.get(), parts_->summarizer.get()},
                         .evaluator = &evaluator,
                         .journal = journal.get(),
                         .events = &events};
  ports.knowledge = knowledge.get();
  TRY(search::run_search(request, ports, {reached.get_token(), never.get_token()}));
  return evaluator.steps();
}

}  // namespace accelopt::bench
