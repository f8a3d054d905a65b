// SPDX-License-Identifier: Apache-2.0
#include "app/review_calibration.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "app/reviewer_history.hpp"
#include "base/hash.hpp"
#include "base/utc.hpp"
#include "llm/price.hpp"
#include "review/normalize.hpp"

namespace accelopt::app {
namespace {

using base::Result;

/// An item about correctness with at most this score is a doubt.
constexpr int kDoubt = 1;
/// Of letters and labels: the same questions each time, so that answers on record and in a mailbox are found again.
constexpr std::uint64_t kSeed = 60;

/// All questions about the pairs: opinions on clean and planted, and four pairs, by pair.
struct Questions {
  std::vector<review::Subject> subjects;
  std::vector<review::OpinionTask> opinions;
  std::vector<review::PairTask> pairs;
};
constexpr std::size_t kOpinionsEach = 2;
constexpr std::size_t kVotesEach = 2;  ///< of each comparison: both orders

review::Bait bait_of(std::size_t place) {
  return static_cast<review::Bait>(place % review::kBaits);
}

Result<Questions> questions_of(const std::vector<review::CalibrationPair>& pairs, const std::string& model) {
  Questions questions;
  questions.subjects.reserve(pairs.size());  // tasks point to them
  for (const review::CalibrationPair& pair : pairs) {
    TRY_ASSIGN(const std::string driver, review::bundled_driver(pair.language));
    review::Subject subject{.language = pair.language,
                            .base = review::normalized(pair.language, pair.base),
                            .how_to_object = fmt::format("The driver calls {}.\n", pair.function)};
    subject.how_to_object +=
        "It is only called with arguments of the kinds that the example below has: whole numbers where it has whole "
        "numbers, sorted where it is sorted, of any value and length.\n";
    refactor::Task task;  // its folder holds no file: the driver is in the text below
    task.language = pair.language;
    subject.how_to_object += how_to_object(task, pair.common) + "\nThe driver:\n" + review::fenced(driver, "") + "\n";
    subject.objection_form = refactor::runs_scripts(pair.language) ? "\"cases\" or \"script\": ..." : "\"cases\": ...";
    questions.subjects.push_back(std::move(subject));
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const review::Subject* subject = &questions.subjects[i];
    const std::string clean = shown_diff(pairs[i], pairs[i].clean);
    const std::string planted = shown_diff(pairs[i], pairs[i].planted);
    const std::string baited = baited_diff(pairs[i], bait_of(i), model);
    questions.opinions.push_back({.subject = subject, .change = clean, .opinion = {}});
    questions.opinions.push_back({.subject = subject, .change = planted, .opinion = {}});
    for (const std::string* other : {&planted, &baited}) {
      for (const bool swapped : {false, true})
        questions.pairs.push_back(
            {.subject = subject, .first = clean, .second = *other, .swapped = swapped, .draw = 0, .answer = {}});
    }
  }
  return questions;
}

review::PairOutcome outcome_at(const std::vector<review::PairTask>& tasks, std::size_t from) {
  std::vector<review::Vote> votes;
  for (std::size_t i = from; i < from + kVotesEach; ++i)
    votes.push_back({tasks[i].swapped, tasks[i].answer ? std::optional(tasks[i].answer->better) : std::nullopt});
  return review::outcome_of(votes);
}

Result<CalibratedChange> judged(PairBench& bench, PairBench::Side side, review::OpinionTask& task) {
  CalibratedChange change{.opinion = std::move(task.opinion), .objections = {}};
  if (!change.opinion) return change;
  for (const review::Objection& objection : change.opinion->objections) {
    TRY_ASSIGN(const refactor::ProbeResult probed, bench.probe(side, objection.probe));
    const ObjectionFate fate = probed.outcome == refactor::ProbeOutcome::differs ? ObjectionFate::confirmed
                               : probed.outcome == refactor::ProbeOutcome::same  ? ObjectionFate::refuted
                                                                                 : ObjectionFate::unusable;
    change.objections.push_back({objection, fate, probed.text});
  }
  return change;
}

void count_change(review::Rates& rates, const CalibratedChange& change) {
  rates.unreadable.count(!change.opinion);
  if (!change.opinion) return;
  for (const JudgedObjection& one : change.objections)
    rates.void_objections.count(one.fate != ObjectionFate::confirmed);
  for (const review::Score& item : change.opinion->rubric.items) rates.void_quotes.count(!item.holds);
}

review::Share& share_of(review::Rates& rates, review::Bait bait) {
  switch (bait) {
    case review::Bait::dead_code:
      return rates.dead_code;
    case review::Bait::comment:
      return rates.comment;
    case review::Bait::author:
      return rates.author;
    case review::Bait::own:
      break;
  }
  return rates.own;
}

}  // namespace

bool CalibratedChange::stopped() const {
  return std::ranges::any_of(objections, [](const auto& one) { return one.fate == ObjectionFate::confirmed; });
}

bool CalibratedChange::doubted() const {
  return opinion && (!opinion->objections.empty() || opinion->rubric.doubts(kDoubt));
}

review::Rates rates_of(const std::vector<CalibratedPair>& pairs) {
  review::Rates rates;
  rates.pairs = static_cast<int>(pairs.size());
  for (const CalibratedPair& pair : pairs) {
    // What cannot be read stops nothing, and alarms nobody.
    rates.recall.count(pair.planted.stopped());
    rates.noticed.count(pair.planted.doubted());
    rates.false_alarms.count(pair.clean.doubted());
    count_change(rates, pair.clean);
    count_change(rates, pair.planted);
    const auto both = [](const review::PairOutcome& outcome) {
      return outcome.answers == static_cast<int>(kVotesEach);
    };
    const auto second = [](const review::PairOutcome& outcome) { return outcome.better == review::Better::second; };
    for (const review::PairOutcome* outcome : {&pair.preference, &pair.baited}) {
      for (int i = 0; i < static_cast<int>(kVotesEach); ++i) rates.unreadable.count(i >= outcome->answers);
    }
    rates.prefers_clean.count(pair.preference.better == review::Better::first);
    rates.flips.count(both(pair.preference) ? std::optional(pair.preference.flipped) : std::nullopt);
    rates.first_shown.hits += pair.preference.first_shown;
    rates.first_shown.of += pair.preference.answers;
    share_of(rates, pair.bait).count(both(pair.baited) ? std::optional(second(pair.baited)) : std::nullopt);
  }
  return rates;
}

base::Outcome<Calibration> calibrate_reviewer(const Shell& shell, const CalibrationOptions& options,
                                              const AgentFlags& flags, const Config& config) {
  TRY_ASSIGN(const LoneModel model, connect_reviewer(shell, flags, config, "--calibrate"));
  TRY_ASSIGN(const auto pairs, review::bundled_pairs(options.pairs));
  TRY_ASSIGN(Questions questions, questions_of(pairs, model.chat->name()));
  options.step(fmt::format("asking {} questions", questions.opinions.size() + questions.pairs.size()));
  const review::Asking asking{
      .chat = model.chat.get(),
      .seed = kSeed,
      .stop = shell.stops.wind_down,
      .at_once = questions_at_once(model),
      .progress = [&](std::size_t done, std::size_t of) { options.step(fmt::format("asking, {} of {}", done, of)); }};
  TRY_ASSIGN(model::Usage usage, review::ask_all(asking, questions.opinions, questions.pairs));
  Calibration calibration;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    options.step(fmt::format("running objections, {} of {}", i + 1, pairs.size()));
    TRY_ASSIGN(const auto bench, PairBench::create(pairs[i], options.tools, shell.stops.wind_down));
    CalibratedPair pair{.name = pairs[i].name,
                        .kind = pairs[i].kind,
                        .clean = {},
                        .planted = {},
                        .preference = {},
                        .bait = bait_of(i),
                        .baited = {}};
    TRY_ASSIGN(pair.clean, judged(*bench, PairBench::Side::clean, questions.opinions[kOpinionsEach * i]));
    TRY_ASSIGN(pair.planted, judged(*bench, PairBench::Side::planted, questions.opinions[kOpinionsEach * i + 1]));
    pair.preference = outcome_at(questions.pairs, 2 * kVotesEach * i);
    pair.baited = outcome_at(questions.pairs, 2 * kVotesEach * i + kVotesEach);
    calibration.pairs.push_back(std::move(pair));
  }
  calibration.rates = rates_of(calibration.pairs);
  if (!usage.usd && model.config.price) usage.usd = llm::cost_usd(usage, *model.config.price);
  calibration.rates.usage = usage;
  calibration.rates.model = model.chat->name();
  calibration.rates.created = base::utc_now();
  std::string asked = review::prompts_hash();
  for (const review::CalibrationPair& pair : pairs) asked += pair.name + pair.base + pair.clean + pair.planted;
  calibration.rates.set = base::sha256_hex(asked).substr(0, 12);
  calibration.standing = review::standing_of(calibration.rates);
  if (const auto entered = record_calibration(options.workspace, calibration.rates); !entered)
    shell.warn("the calibration was not recorded: " + entered.error().message);
  return calibration;
}

}  // namespace accelopt::app
