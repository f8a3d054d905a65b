// SPDX-License-Identifier: Apache-2.0
#include "app/user_build_race.hpp"

#include <algorithm>
#include <memory>

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

/// Share of the gain in a file of its own that a simpler form has to keep.
constexpr double kKeptShare = 0.9;

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

scaffold::PatchForm form_of(scaffold::FlagsBy by, const Solution& winner) {
  scaffold::PatchForm form{by, measured_flags(winner)};
  if (by == scaffold::FlagsBy::pragmas) {
    std::erase(form.flags, "-march=native");
    const std::vector<std::string> more = instruction_flags();
    form.flags.insert(form.flags.end(), more.begin(), more.end());
  }
  return form;
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

scaffold::PatchForm form_without_measuring(const Solution& winner) {
  return form_of(own_flags_of(winner).empty() ? scaffold::FlagsBy::nothing : scaffold::FlagsBy::pragmas, winner);
}

Result<BuildRace> race_in_user_build(const Shell& shell, const DeviceFlags& device, const model::Task& task,
                                     const Solution& winner, const scaffold::UserBuild& build) {
  model::Task own = task;
  own.baseline = model::with_user_flags(own.baseline, build.flags);
  TRY_ASSIGN(const auto evaluator, make_evaluator(shell, device));
  evaluation::MeasureSettings settings;
  settings.seed = base::random_seed();
  TRY_ASSIGN(const auto opened, base::as_result(evaluator->ask(evaluation::Open{own, settings}, shell.stops.abort)));
  if (opened.baseline.status != model::Status::passed) {
    return base::fail(base::ErrorCode::unavailable,
                      "your own function fails as your build compiles it: " + opened.baseline.reason);
  }
  std::string reasons;
  const auto race = [&](scaffold::FlagsBy by) -> Result<std::optional<BuildRace>> {
    const scaffold::PatchForm form = form_of(by, winner);
    TRY_ASSIGN(const auto evaluation,
               confirmed(*evaluator, model::Kernel(built_as(form, winner, build)), shell.stops.abort));
    if (evaluation.status == model::Status::passed && evaluation.ratio) {
      return std::optional(BuildRace{form, *evaluation.ratio});
    }
    reasons += (reasons.empty() ? "" : "; ") + evaluation.reason;
    return std::optional<BuildRace>();
  };
  TRY_ASSIGN(const auto all_flags, race(scaffold::FlagsBy::own_file));
  const double wanted = all_flags ? kKeptShare * all_flags->ratio.estimate : 0;
  for (const scaffold::FlagsBy by : {scaffold::FlagsBy::nothing, scaffold::FlagsBy::pragmas}) {
    TRY_ASSIGN(const auto simple, race(by));
    if (simple && simple->ratio.estimate >= wanted) return *simple;
  }
  if (all_flags) return *all_flags;
  return base::fail(base::ErrorCode::unavailable, "the winner fails as your build compiles it: " + reasons);
}

}  // namespace accelopt::app
