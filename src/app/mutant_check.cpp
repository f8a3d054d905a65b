// SPDX-License-Identifier: Apache-2.0
#include "app/mutant_check.hpp"

#include <algorithm>
#include <future>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "suites/mutants.hpp"

namespace accelopt::app {
namespace {

using base::Result;
using base::Severity;
using evaluation::Evaluator;
using model::Status;
using suites::Mutant;
using suites::MutantKind;

/// A worker in which one variant of the task is open, for verification alone.
class Bench {
 public:
  static Result<std::unique_ptr<Bench>> open(const Shell& shell, const DeviceFlags& device, const model::Task& task,
                                             std::uint64_t seed) {
    TRY_ASSIGN(auto evaluator, make_evaluator(shell, device));
    std::unique_ptr<Bench> out(new Bench(std::move(evaluator), shell, task));
    evaluation::MeasureSettings settings;
    settings.seed = seed;
    settings.protocol = model::Protocol::verify;
    TRY_ASSIGN(out->report_,
               base::as_result(out->evaluator_->ask(evaluation::Open{task, settings}, shell.stops.abort)));
    return out;
  }

  [[nodiscard]] const evaluation::OpenReport& report() const { return report_; }

  Result<model::BuildReport> build(const Mutant& mutant) const {
    return base::as_result(evaluator_->ask(evaluation::Build{model::Kernel(mutant.solution)}, abort_));
  }

  /// Any thread: what is to be verified waits, what is to be built does not.
  Result<model::Evaluation> verify(const Mutant& mutant) const {
    return base::as_result(evaluator_->ask(evaluation::Race{model::Kernel(mutant.solution), baseline_}, abort_));
  }

 private:
  Bench(std::unique_ptr<Evaluator> evaluator, const Shell& shell, const model::Task& task)
      : evaluator_(std::move(evaluator)), baseline_(task.baseline), abort_(shell.stops.abort) {}

  std::unique_ptr<Evaluator> evaluator_;
  model::Kernel baseline_;
  std::stop_token abort_;
  evaluation::OpenReport report_;
};

bool wrong(Status status) {
  return status == Status::incorrect_numerical || status == Status::incorrect_shape ||
         status == Status::incorrect_dtype || status == Status::reward_hack;
}

bool is_comparison(MutantKind kind) {
  return kind == MutantKind::branch || kind == MutantKind::boundary;
}

/// Whether what ended the mutant is that it was found out, and not that it could not run.
bool found_out(const Mutant& mutant, Status status) {
  // A cut index may point anywhere.
  const bool may_crash =
      mutant.kind == MutantKind::mutated_input || mutant.kind == MutantKind::narrow_input || is_comparison(mutant.kind);
  return wrong(status) || (may_crash && status == Status::runtime_error);
}

/// Why nothing that a task draws decides the mutant, and what would; empty: it is of another kind.
std::string why_undecided(const Mutant& mutant) {
  switch (mutant.kind) {
    case MutantKind::half_width:
    case MutantKind::narrow_input:
      return " (" + mutant.does +
             "): no drawn number is too large for it. If your program's may be, draw larger ones: "
             "init = \"integers(low, high)\", families = [\"extremes\"], larger workloads";
    case MutantKind::branch:
      return ": no drawn input decides it otherwise, or the result does not depend on it, so kernels may leave it out; "
             "if your program's inputs do, draw such ones: init, families, values of scalars";
    case MutantKind::boundary:
      return ": no drawn input decides it, since the two are never equal, or the result does not depend on it; if your "
             "program's may be, name the family \"coarse\" for all inputs that it compares";
    default:
      return "";
  }
}

class Checker {
 public:
  Checker(const Shell& shell, const model::Task& task, const DeviceFlags& device, std::uint64_t seed)
      : shell_(shell), task_(task), device_(device), seed_(seed) {}

  Result<MutantCheck> run() {
    TRY_ASSIGN(const auto bench, Bench::open(shell_, device_, task_, seed_));
    note_what_opened(bench->report());
    const model::Evaluation& baseline = bench->report().baseline;
    if (baseline.status == Status::not_measured) return build_alone(*bench, baseline.reason);
    if (baseline.status != Status::passed) {
      report(Severity::error, "", "the baseline fails, so no mutant says anything: " + baseline.reason);
      return std::move(out_);
    }
    const std::vector<Mutant> mutants = suites::derive_mutants(task_);
    std::vector<std::future<Result<model::Evaluation>>> verdicts;
    for (const Mutant& mutant : mutants) {
      verdicts.emplace_back();
      if (!mutant.skipped.empty()) continue;
      verdicts.back() = std::async(std::launch::async, [&bench, &mutant] { return bench->verify(mutant); });
    }
    for (std::size_t i = 0; i < mutants.size(); ++i) {
      if (!verdicts[i].valid()) {
        add(mutants[i], MutantFate::skipped, mutants[i].skipped);
        continue;
      }
      TRY_ASSIGN(const model::Evaluation verdict, verdicts[i].get());
      TRY(judge(mutants[i], verdict));
    }
    return std::move(out_);
  }

 private:
  void add(const Mutant& mutant, MutantFate fate, std::string reason) {
    out_.mutants.push_back({mutant.name, fate, std::move(reason)});
  }

  /// A machine that builds and cannot run says of a mutant whether it is a kernel at all, and nothing of the task.
  Result<MutantCheck> build_alone(const Bench& bench, const std::string& why) {
    for (const Mutant& mutant : suites::derive_mutants(task_)) {
      if (!mutant.skipped.empty()) {
        add(mutant, MutantFate::skipped, mutant.skipped);
        continue;
      }
      TRY_ASSIGN(const model::BuildReport built, bench.build(mutant));
      if (built.built) {
        add(mutant, MutantFate::built, "NOT_MEASURED: " + why);
        continue;
      }
      add(mutant, MutantFate::untried, "COMPILE_ERROR: " + built.diagnostics);
      report(Severity::error, "",
             "the mutant " + base::in_quotes(mutant.name) + " could not be tried: " + out_.mutants.back().reason);
    }
    const auto built = std::count_if(out_.mutants.begin(), out_.mutants.end(),
                                     [](const TriedMutant& one) { return one.fate == MutantFate::built; });
    report(
        Severity::error, "",
        fmt::format("NOT_MEASURED: {} mutants were built and none was verified: {}; run this where there is a device",
                    built, why));
    return std::move(out_);
  }

  void report(Severity severity, std::string key, std::string message) {
    out_.problems.push_back({0, std::move(key), std::move(message), "", severity});
  }

  void note_what_opened(const evaluation::OpenReport& opened) {
    for (const evaluation::DroppedFamily& dropped : opened.dropped_families)
      report(Severity::advice, "inputs", evaluation::describe(dropped));
    for (const std::string& loose : opened.loose_bounds) report(Severity::advice, "outputs", loose);
  }

  Result<void> judge(const Mutant& mutant, const model::Evaluation& verdict) {
    if (found_out(mutant, verdict.status)) {
      add(mutant, MutantFate::refused, verdict.reason);
      return {};
    }
    if (verdict.status != Status::passed) {
      add(mutant, MutantFate::untried, std::string(model::to_string(verdict.status)) + ": " + verdict.reason);
      // Nothing is known of a mutant that does not build; one that crashes would be found out.
      const bool broken = verdict.status == Status::compile_error && !is_comparison(mutant.kind);
      report(broken ? Severity::error : Severity::advice, "",
             "the mutant " + base::in_quotes(mutant.name) + " could not be tried: " + out_.mutants.back().reason);
      return {};
    }
    return explain(mutant, verdict.reason);
  }

  /// The mutant passed: finds out by experiment what would have refused it.
  Result<void> explain(const Mutant& mutant, const std::string& nearest) {
    if (const std::string why = why_undecided(mutant); !why.empty()) {
      add(mutant, MutantFate::accepted, nearest);
      report(Severity::advice, "inputs", "accepts the mutant " + base::in_quotes(mutant.name) + why);
      return {};
    }
    if (mutant.kind == MutantKind::scalar) {
      add(mutant, MutantFate::accepted, nearest);
      report(Severity::advice, "inputs",
             "weak: accepts the mutant " + base::in_quotes(mutant.name) + " (" + mutant.does +
                 "), so kernels may ignore it too; draw it from a range of values that the output tells apart");
      return {};
    }
    std::string key = "inputs";
    std::string mend;
    const model::Numerics& numerics = task_.definition.numerics;
    if (mutant.kind == MutantKind::mutated_input) {
      key = "";
      mend = "this machine does not keep kernels from writing into their inputs; measure on another one";
    } else if (numerics.normwise || numerics.lower_precision) {
      TRY_ASSIGN(const auto verdict, try_again(measured_, suites::with_measured_bounds(task_), mutant));
      if (verdict && wrong(verdict->status)) {
        key = numerics.normwise ? "numerics.normwise" : "numerics.lower_precision";
        mend = "the bound is too weak: with the bounds as measured it is refused (" + verdict->reason +
               "); leave out " + key + (numerics.normwise ? ", or state a smaller one" : "");
      }
    }
    if (mend.empty()) {
      TRY_ASSIGN(const auto verdict, try_again(rich_, suites::with_rich_inputs(task_), mutant));
      const bool may_be_right = mutant.kind == MutantKind::copy || mutant.kind == MutantKind::lower_precision ||
                                mutant.kind == MutantKind::statistics || mutant.kind == MutantKind::maximum ||
                                mutant.kind == MutantKind::epsilon;
      const bool passed_again = verdict && verdict->status == Status::passed;
      if (passed_again && may_be_right) {
        add(mutant, MutantFate::equivalent, "on this operator it computes what is asked for, whatever the inputs");
        return {};
      }
      mend =
          verdict && wrong(verdict->status)
              ? "the inputs are too weak: drawn from normal(0, 1) under all families it is refused (" +
                    verdict->reason + "); widen init, or name more families"
          : passed_again
              ? "it passes with the bounds as measured and inputs from normal(0, 1) too: the output hardly depends on "
                "the inputs, or its type is too coarse for the size of the workloads; check the reference, or add "
                "workloads of other sizes"
              : "draw inputs on which it differs (init), or name more families";
    }
    add(mutant, MutantFate::accepted, nearest);
    const std::string workloads = base::joined(task_.workloads, ", ", &model::Workload::name);
    report(Severity::error, key,
           "accepts the mutant " + base::in_quotes(mutant.name) + " (" + mutant.does + ") on all workloads (" +
               workloads + ")" + (nearest.empty() ? "" : "; " + nearest) + "; " + mend);
    return {};
  }

  /// The mutant's verdict in a variant of the task, which is opened when it is first needed. None: it cannot be opened.
  Result<std::optional<model::Evaluation>> try_again(std::optional<std::unique_ptr<Bench>>& bench,
                                                     const model::Task& variant, const Mutant& mutant) {
    if (!bench) {
      auto opened = Bench::open(shell_, device_, variant, seed_);
      if (!opened && opened.error().code != base::ErrorCode::invalid_argument) {
        return tl::make_unexpected(opened.error());
      }
      bench.emplace(opened ? std::move(*opened) : nullptr);
    }
    if (*bench == nullptr) return std::optional<model::Evaluation>();
    TRY_ASSIGN(auto verdict, (*bench)->verify(mutant));
    return std::optional(std::move(verdict));
  }

  const Shell& shell_;
  const model::Task& task_;
  const DeviceFlags& device_;
  std::uint64_t seed_;
  std::optional<std::unique_ptr<Bench>> measured_;
  std::optional<std::unique_ptr<Bench>> rich_;
  MutantCheck out_;
};

}  // namespace

std::string_view to_string(MutantFate fate) {
  switch (fate) {
    case MutantFate::refused:
      return "refused";
    case MutantFate::accepted:
      return "accepted";
    case MutantFate::equivalent:
      return "equivalent";
    case MutantFate::skipped:
      return "skipped";
    case MutantFate::untried:
      return "untried";
    case MutantFate::built:
      return "built";
  }
  return "refused";
}

Result<MutantCheck> check_mutants(const Shell& shell, const model::Task& task, const DeviceFlags& device,
                                  std::uint64_t seed) {
  return Checker(shell, task, device, seed).run();
}

}  // namespace accelopt::app
