// SPDX-License-Identifier: Apache-2.0
// The agents that a search asks: typed question in, typed answer out. A role may be played by a language model
// (model_agents.hpp) or by the built-in recipes (recipes/recipes_agents.hpp). All of them may be called from many
// threads.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/outcome.hpp"
#include "model/evaluation.hpp"
#include "model/experience.hpp"
#include "model/identity.hpp"
#include "model/kernel.hpp"
#include "model/task.hpp"
#include "model/usage.hpp"

namespace accelopt::agents {

/// The text of a question that several ask alike, for whoever is asked: made once or twice, and kept for the others.
class CommonText {
 public:
  using Parts = std::shared_ptr<const std::vector<std::string>>;

  /// What `make()`, a Result<std::vector<std::string>>, gave to the first one. Any thread. @error what it gives.
  template <class Make>
  base::Result<Parts> get(const Make& make) {
    {
      const std::scoped_lock lock(mutex_);
      if (parts_) return parts_;
    }
    // Nobody waits meanwhile: a thread's sleep costs more than the text.
    TRY_ASSIGN(auto made, make());
    const auto parts = std::make_shared<const std::vector<std::string>>(std::move(made));
    const std::scoped_lock lock(mutex_);
    if (!parts_) parts_ = parts;
    return parts_;
  }

 private:
  std::mutex mutex_;
  Parts parts_;
};

/// What every question carries: which one it is, and what the run is about.
struct Context {
  model::Identity identity;
  const model::Task* task = nullptr;  ///< outlives the question
  std::string task_header;            ///< the generated task.h
  std::string device;                 ///< one line: CPU model, cores, vector width, caches, measured peaks
  std::uint64_t seed = 0;             ///< the run's
  std::string run{};                  ///< its id, by which its own lessons are known; no text of the question
  std::string hints{};                ///< of the user for this very question, beside the task's
  /// Of questions to planner or executor that differ in their identity alone; null: the question is asked alone.
  std::shared_ptr<CommonText> common{};
};

/// An answer, or why it was lost. A lost answer is counted and never an error of the run.
template <class T>
struct Answer {
  std::optional<T> value;
  std::string lost;    ///< why the answer, or a part of it, could not be used; empty when all of it could
  std::string raw;     ///< the last text that was given, for the journal
  std::string author;  ///< model's name, or "recipes"
  std::string title;   ///< of a fixer: what the solution now is; empty where it does not say
  model::Usage usage;
};

/// A plan that was tried on this very kernel before, and what came of it.
struct TriedPlan {
  std::string title;
  std::string outcome;  ///< "2.31x", "INCORRECT_NUMERICAL", "no answer", ...
};

/// Tried plans in order. Copies share them: of a long run they are thousands, and each question has them.
class TriedList {
 public:
  TriedList() = default;
  TriedList(std::initializer_list<TriedPlan> plans) : TriedList(std::vector<TriedPlan>(plans)) {}
  explicit TriedList(std::vector<TriedPlan> plans)
      : plans_(std::make_shared<const std::vector<TriedPlan>>(std::move(plans))) {}

  [[nodiscard]] const std::vector<TriedPlan>& plans() const {
    static const std::vector<TriedPlan> kNone;
    return plans_ ? *plans_ : kNone;
  }
  [[nodiscard]] auto begin() const { return plans().begin(); }
  [[nodiscard]] auto end() const { return plans().end(); }
  [[nodiscard]] std::size_t size() const { return plans().size(); }
  [[nodiscard]] bool empty() const { return plans().empty(); }
  const TriedPlan& operator[](std::size_t place) const { return plans()[place]; }

 private:
  std::shared_ptr<const std::vector<TriedPlan>> plans_;
};

/// A tried plan that made no difference, and what it did to the figures.
struct MeasuredTie {
  TriedPlan plan;
  model::Profile before;  ///< of the kernel that it was tried on
  model::Profile after;
};

/// Where a kernel comes from, and what stands beside it.
struct Lineage {
  std::vector<TriedPlan> steps;  ///< from the baseline on: the plans that led to it, each against the one before
  TriedList siblings;            ///< what else was tried on its parent
  std::vector<TriedPlan> beam;   ///< the other kernels of the beam, each with its speed-up over the baseline
  std::string standing;          ///< its own speed-up over the baseline; empty: it is the baseline
};

struct PlanQuestion {
  Context context;
  model::Kernel kernel;
  model::Evaluation evaluation;           ///< of the kernel, with its profile
  std::vector<model::Experience> memory;  ///< newest first
  TriedList tried;
  Lineage lineage;
  std::optional<MeasuredTie> tie{};  ///< one of `tried` or of the lineage's siblings
  int plans = 1;                     ///< that are asked for, each of another strategy
};

/// The best kernel of the beam, where a question is about another one.
struct BetterKernel {
  model::Kernel kernel;
  double speedup = 1;  ///< over the kernel of the question
};

struct ExecuteQuestion {
  Context context;
  model::Kernel kernel;
  model::Plan plan;
  std::optional<BetterKernel> better{};
};

/// A file that failed before the one that a fixer is asked about.
struct FailedTry {
  model::Kernel kernel;
  model::Status status = model::Status::compile_error;
  std::string diagnostics;
};

struct FixQuestion {
  Context context;
  model::Kernel parent;  ///< correct
  model::Kernel broken;
  model::Plan plan;
  model::Status status = model::Status::compile_error;
  std::string diagnostics;         ///< trimmed, free of paths
  std::vector<FailedTry> earlier;  ///< oldest first: the executor's answer, then fixes
  std::optional<BetterKernel> better{};
};

struct SummarizeQuestion {
  Context context;
  model::Kernel parent;  ///< what the plan was made for
  model::Kernel slow;
  model::Kernel fast;
  std::string diff;  ///< unified, slow to fast
  model::Plan plan;
  model::Evaluation parent_evaluation;  ///< with its profile
  model::Evaluation slow_evaluation;
  model::Evaluation fast_evaluation;
  model::Polarity polarity = model::Polarity::improves;
  model::Interval effect;  ///< of the child over its parent
  /// Of a mend that left values open, which `fast` has chosen: as the fixer wrote it.
  std::optional<model::Kernel> mend_as_written{};
  std::vector<model::Status> failed_mends{};  ///< of `slow`, before the one that works
};

/// What a summarizer writes; the search adds effect and provenance.
struct Lesson {
  std::string title;
  std::string strategy;
  std::string before;
  std::string after;
};

class Planner {
 public:
  virtual ~Planner() = default;
  /// @error unavailable, unauthenticated, timed_out, cancelled, ...: no answer could be had.
  virtual base::Outcome<Answer<model::Plan>> plan(const PlanQuestion& question, std::stop_token stop) = 0;
  /// As many plans as the question asks for, or fewer. @error as plan.
  virtual base::Outcome<Answer<std::vector<model::Plan>>> plans(const PlanQuestion& question, std::stop_token stop);
};

class Executor {
 public:
  virtual ~Executor() = default;
  virtual base::Outcome<Answer<model::Kernel>> execute(const ExecuteQuestion& question, std::stop_token stop) = 0;
};

class Fixer {
 public:
  virtual ~Fixer() = default;
  virtual base::Outcome<Answer<model::Kernel>> fix(const FixQuestion& question, std::stop_token stop) = 0;
};

class Summarizer {
 public:
  virtual ~Summarizer() = default;
  /// A value of nullopt inside the answer's value: the summarizer saw no optimization.
  virtual base::Outcome<Answer<std::optional<Lesson>>> summarize(const SummarizeQuestion& question,
                                                                 std::stop_token stop) = 0;
  /// About several changes to one kernel: equal contexts but for the identity, and equal parents. One value a question,
  /// nullopt as above, or because it was lost where `lost` says so. @error as summarize.
  virtual base::Outcome<Answer<std::vector<std::optional<Lesson>>>> summarize_all(
      const std::vector<SummarizeQuestion>& questions, std::stop_token stop);
  /// Whether its questions need the child's profile, which takes the device's time.
  [[nodiscard]] virtual bool reads_profiles() const { return true; }
};

/// The four roles of a run. None is null.
struct Team {
  Planner* planner = nullptr;
  Executor* executor = nullptr;
  Fixer* fixer = nullptr;
  Summarizer* summarizer = nullptr;
};

}  // namespace accelopt::agents
