// SPDX-License-Identifier: Apache-2.0
#include "app/user_build_race.hpp"

#include <algorithm>
#include <memory>

#include "app/reading_caller.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "model/directives.hpp"
#include "model/user_flags.hpp"
#include "syntax/text.hpp"
#include "targets/cpu/machine.hpp"

namespace accelopt::app {
namespace {

using base::Result;
using model::Solution;

/// Share of the largest gain that a simpler form has to keep.
constexpr double kKeptShare = 0.9;
/// Normwise error up to which functions are timed whose accuracy is not asked for: a wrong result would be larger.
constexpr double kCoarse = 0.1;

std::vector<std::string> own_flags_of(const Solution& winner) {
  const auto directives = model::parse_cpu_directives(model::main_text(winner));
  return directives ? directives->flags : std::vector<std::string>();
}

/// Vector instructions of this machine by name, since pragmas know no -march=native.
std::vector<std::string> instruction_flags() {
  const std::string set = targets::cpu::examine_machine().vector_set;
  if (set.starts_with("AVX-512")) {
    return {"-mavx2", "-mfma", "-mavx512f", "-mavx512vl", "-mavx512bw", "-mavx512dq"};
  }
  if (set.starts_with("AVX2")) return {"-mavx2", "-mfma"};
  return {};
}

std::string without_flag_lines(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    const std::size_t first = line.find_first_not_of(" \t");
    const bool names_flags = first != std::string_view::npos && line.substr(first).starts_with("//@ flags");
    if (!names_flags) result += line;
    result += '\n';
    at = end + 1;
  }
  return result;
}

/// The winner as that form has the user's build compile it.
Solution built_as(const scaffold::PatchForm& form, const Solution& winner, const scaffold::UserBuild& build) {
  if (form.flags_by == scaffold::FlagsBy::own_file) return winner;
  std::string text = without_flag_lines(model::main_text(winner));
  if (form.flags_by == scaffold::FlagsBy::pragmas) {
    std::size_t place = 0;
    for (const syntax::Include& include : syntax::includes_of(text)) place = include.line.end + 1;
    text.insert(std::min(place, text.size()), scaffold::flag_pragmas(form.flags));
  }
  return model::with_user_flags(model::with_main_text(winner, std::move(text)), build.flags);
}

/// The ratio, or why there is none.
Result<model::Evaluation> confirmed(evaluation::Evaluator& evaluator, const model::Kernel& kernel,
                                    const std::stop_token& stop) {
  TRY_ASSIGN(const auto report, base::as_result(evaluator.ask(evaluation::Build{kernel}, stop)));
  if (!report.built) {
    model::Evaluation failed;
    failed.status = model::Status::compile_error;
    failed.reason = base::first_line(report.diagnostics);
    return failed;
  }
  return base::as_result(evaluator.ask(evaluation::Confirm{kernel}, stop));
}

}  // namespace

std::vector<std::string> measured_flags(const Solution& winner) {
  std::vector<std::string> flags{"-O3", "-march=native"};
  const std::vector<std::string> own = own_flags_of(winner);
  flags.insert(flags.end(), own.begin(), own.end());
  return flags;
}

scaffold::PatchForm form_of(scaffold::FlagsBy by, const Solution& winner) {
  scaffold::PatchForm form{by, measured_flags(winner)};
  if (by == scaffold::FlagsBy::pragmas) {
    std::erase(form.flags, "-march=native");
    const std::vector<std::string> more = instruction_flags();
    form.flags.insert(form.flags.end(), more.begin(), more.end());
  }
  return form;
}

scaffold::PatchForm form_without_measuring(const Solution& winner, GccPragmas pragmas) {
  if (own_flags_of(winner).empty()) return form_of(scaffold::FlagsBy::nothing, winner);
  return form_of(pragmas == GccPragmas::followed ? scaffold::FlagsBy::pragmas : scaffold::FlagsBy::own_file, winner);
}

std::vector<BuildRace> in_order_of_preference(std::vector<BuildRace> measured, OwnFile own_file) {
  double best = 0;
  for (const BuildRace& race : measured) best = std::max(best, race.ratio.estimate);
  const auto rank = [&](const BuildRace& race) {
    const bool outside = race.form.flags_by == scaffold::FlagsBy::own_file;
    const bool by_hand = outside && own_file == OwnFile::needs_hands;
    const bool keeps = race.ratio.estimate >= kKeptShare * best;
    if (own_file == OwnFile::needs_hands && !outside && race.ratio.low > 1) return keeps ? 0 : 1;
    return keeps && !by_hand ? 2 : 3;
  };
  std::ranges::stable_sort(measured, [&](const BuildRace& one, const BuildRace& other) {
    if (rank(one) != rank(other)) return rank(one) < rank(other);
    const bool both_keep = rank(one) % 2 == 0;
    return both_keep ? one.form.flags_by < other.form.flags_by : one.ratio.estimate > other.ratio.estimate;
  });
  return measured;
}

model::Task for_times_alone(model::Task task) {
  task.definition.numerics.normwise = kCoarse;
  for (model::TensorSpec& input : task.definition.inputs) input.families.clear();
  return task;
}

namespace {

/// Opens a task with the user's function as the user's build compiles it. @error unavailable: that fails.
Result<std::unique_ptr<evaluation::Evaluator>> open_for(const Shell& shell, const DeviceFlags& device,
                                                        const model::Task& task, model::Evaluation& baseline) {
  TRY_ASSIGN(auto evaluator, make_evaluator(shell, device));
  evaluation::MeasureSettings settings;
  settings.seed = base::random_seed();
  TRY_ASSIGN(auto opened, base::as_result(evaluator->ask(evaluation::Open{task, settings}, shell.stops.abort)));
  baseline = std::move(opened.baseline);
  return evaluator;
}

base::Error own_function_fails(const std::string& reason) {
  return {base::ErrorCode::unavailable, "your own function fails as your build compiles it: " + reason};
}

/// The first form's ratio with a caller that reads all outputs; none: it could not be measured.
Result<std::optional<model::Interval>> race_with_readers(const Shell& shell, const DeviceFlags& device,
                                                         model::Task task, const Solution& winner) {
  task.baseline = with_outputs_read(task.definition, task.baseline);
  model::Evaluation baseline;
  TRY_ASSIGN(const auto evaluator, open_for(shell, device, task, baseline));
  if (baseline.status != model::Status::passed) return std::optional<model::Interval>();
  TRY_ASSIGN(const auto evaluation,
             confirmed(*evaluator, model::Kernel(with_outputs_read(task.definition, winner)), shell.stops.abort));
  return evaluation.status == model::Status::passed ? evaluation.ratio : std::nullopt;
}

}  // namespace

Result<BuildRaces> race_in_user_build(const Shell& shell, const DeviceFlags& device, const model::Task& task,
                                      const Solution& winner, const scaffold::UserBuild& build,
                                      const BuildRaceOptions& options) {
  BuildRaces out;
  model::Task own = task;
  own.baseline = model::with_user_flags(own.baseline, build.flags);
  model::Evaluation baseline;
  TRY_ASSIGN(auto evaluator, open_for(shell, device, own, baseline));
  if (baseline.status == model::Status::incorrect_numerical) {
    const std::string reason = baseline.reason.substr(0, baseline.reason.find("; "));
    evaluator.reset();  // ends its worker
    own = for_times_alone(std::move(own));
    TRY_ASSIGN(evaluator, open_for(shell, device, own, baseline));
    if (baseline.status != model::Status::passed) return tl::make_unexpected(own_function_fails(reason));
    out.remark =
        "your own function misses the task's bound as your build compiles it, so results were compared "
        "coarsely there: " +
        reason;
  }
  if (baseline.status != model::Status::passed) return tl::make_unexpected(own_function_fails(baseline.reason));
  std::string reasons;
  for (const auto by : {scaffold::FlagsBy::own_file, scaffold::FlagsBy::nothing, scaffold::FlagsBy::pragmas}) {
    if (options.form && *options.form != by) continue;
    if (by == scaffold::FlagsBy::pragmas && options.pragmas == GccPragmas::unknown) continue;
    const bool enough =
        out.forms.size() == 2 && out.forms.back().ratio.estimate >= kKeptShare * out.forms.front().ratio.estimate;
    if (enough) continue;  // as it is, it needs no pragmas
    const scaffold::PatchForm form = form_of(by, winner);
    TRY_ASSIGN(const auto evaluation,
               confirmed(*evaluator, model::Kernel(built_as(form, winner, build)), shell.stops.abort));
    if (evaluation.status == model::Status::passed && evaluation.ratio) {
      out.forms.push_back({form, *evaluation.ratio});
    } else {
      reasons += (reasons.empty() ? "" : "; ") + evaluation.reason;
    }
  }
  if (out.forms.empty())
    return base::fail(base::ErrorCode::unavailable, "the winner fails as your build compiles it: " + reasons);
  out.forms = in_order_of_preference(std::move(out.forms), options.own_file);
  if (!stores_past_caches(winner)) return out;
  evaluator.reset();
  TRY_ASSIGN(out.read_after, race_with_readers(shell, device, own, built_as(out.forms.front().form, winner, build)));
  return out;
}

}  // namespace accelopt::app
