// SPDX-License-Identifier: Apache-2.0
#include "memory/knowledge.hpp"

#include <algorithm>

#include "base/json_fields.hpp"
#include "base/utc.hpp"
#include "memory/ranking.hpp"
#include "memory/sanitation.hpp"
#include "memory/words.hpp"

namespace accelopt::memory {

using base::Result;

namespace {

/// Runs of the journal that are looked through where the store cannot be read, newest first.
constexpr std::size_t kLocalRuns = 50;
/// What is sent in one go: a long wait leaves much behind.
constexpr int kDeliveredAtOnce = 64;
/// A store whose failure takes as long may hang: its requests time out.
constexpr std::chrono::seconds kLong{1};
/// How long it is left alone then, at first and at most: more than most iterations of a run take, and few of its hours.
constexpr std::chrono::minutes kFirstPause{2};
constexpr std::chrono::minutes kLongestPause{32};

/// The share of the query's words that the experience has.
double overlap(const std::vector<std::string>& words, const model::Experience& experience) {
  if (words.empty()) return 0;
  const std::vector<std::string> own = words_of(indexed_text(experience), 400);
  const auto common = std::ranges::count_if(
      own, [&](const std::string& word) { return std::ranges::find(words, word) != words.end(); });
  return static_cast<double>(common) / static_cast<double>(std::min(own.size() + 1, words.size()));
}

}  // namespace

ACCELOPT_JSON(CreditEvent) {
  field.required("id", it.id, "experience", it.experience);
  field.named("kind", it.kind, kCreditKinds);
  field.optional("run", it.run, "plan", it.plan, "speedup", it.speedup);
}

ACCELOPT_JSON(SolutionRecord) {
  field.required("id", it.id);
  field.optional("language", it.language, "task", it.task, "run", it.run, "sources", it.sources, "evaluation",
                 it.evaluation);
}

ACCELOPT_JSON(Contribution) {
  field.required("experiences", it.experiences, "solutions", it.solutions, "credit", it.credit);
}

Result<KnowledgeStore*> Knowledge::store() {
  if (!store_) {
    if (trouble_ && ports_.now() < left_alone_until_) return tl::make_unexpected(*trouble_);
    TRY_ASSIGN(store_, ports_.open());
  }
  return store_.get();
}

void Knowledge::failed(const base::Error& error, std::chrono::steady_clock::duration took) {
  store_.reset();  // opened anew the next time
  if (took >= kLong) {
    pause_ = std::clamp<std::chrono::steady_clock::duration>(2 * pause_, kFirstPause, kLongestPause);
    left_alone_until_ = ports_.now() + pause_;
    trouble_ = error;
  }
  if (!down_ && ports_.notice) {
    ports_.notice("the knowledge store cannot be used: " + error.message +
                  "; the run goes on with what is local, and what it learns waits in its journal");
  }
  down_ = true;
}

void Knowledge::works() {
  if (down_ && ports_.notice) ports_.notice("the knowledge store " + ports_.place + " is back");
  down_ = false;
  pause_ = {};
}

std::vector<model::Experience> Knowledge::recall(const Query& query, int places) {
  if (places <= 0) return {};
  const auto began = ports_.now();
  const auto found = [&]() -> Result<std::vector<Match>> {
    TRY_ASSIGN(KnowledgeStore* const opened, store());
    TRY_ASSIGN(auto matches, opened->retrieve(query));
    keep_hidden(*opened);
    return matches;
  }();
  if (found) {
    pause_ = {};
    return rank(*found, query, places);
  }
  failed(found.error(), ports_.now() - began);
  return rank(local_matches(query), query, places);
}

std::vector<std::string> Knowledge::local_runs() {
  std::vector<std::string> ids;
  const auto runs = ports_.journal->list_runs();
  if (!runs) return ids;
  for (const journal::RunInfo& run : *runs) {
    if (ids.size() == kLocalRuns) break;
    ids.push_back(run.id);
  }
  return ids;
}

void Knowledge::keep_hidden(KnowledgeStore& opened) {
  if (!ports_.keep_hidden) return;
  if (!local_ids_) {
    local_ids_.emplace();
    for (const std::string& run : local_runs()) {
      const auto experiences = ports_.journal->experiences(run);
      if (!experiences) continue;
      for (const model::Experience& experience : *experiences)
        local_ids_->push_back(made_fit(experience).experience.id);
    }
  }
  auto hidden = opened.hidden(*local_ids_);
  if (!hidden) return;
  std::ranges::sort(*hidden);
  if (hidden_ == *hidden) return;
  if (ports_.keep_hidden(*hidden)) hidden_ = std::move(*hidden);
}

std::vector<Match> Knowledge::local_matches(const Query& query) {
  std::vector<Match> matches;
  std::vector<std::string> hidden;
  if (hidden_) {
    hidden = *hidden_;
  } else if (ports_.kept_hidden) {
    // What a user has hidden is shown to no planner: where that cannot be told apart, nothing is.
    auto kept = ports_.kept_hidden();
    if (!kept) return matches;
    hidden = std::move(*kept);
  }
  const std::vector<std::string> words = words_of(query.text, 400);
  for (const std::string& run : local_runs()) {
    if (run == query.without_run) continue;
    auto experiences = ports_.journal->experiences(run);
    if (!experiences) continue;
    for (auto experience = experiences->rbegin(); experience != experiences->rend(); ++experience) {
      const auto& out = query.without_op_types;
      if (experience->language != query.language || experience->target != query.target) continue;
      if (std::ranges::find(out, experience->op_type) != out.end()) continue;
      Match match;
      match.item.experience = made_fit(*experience).experience;
      if (std::ranges::find(hidden, match.item.experience.id) != hidden.end()) continue;
      match.item.age = static_cast<std::int64_t>(matches.size());
      match.text_similarity = overlap(words, match.item.experience);
      matches.push_back(std::move(match));
    }
  }
  return matches;
}

Result<void> Knowledge::contribute(const std::string& run, const std::string& key, const Contribution& contribution) {
  Contribution dated = contribution;  // the delivery may be days later
  for (model::Experience& experience : dated.experiences) {
    if (experience.created.empty()) experience.created = base::utc_now();
  }
  TRY(ports_.journal->post(run, key, ports_.place, dated));
  TRY(deliver());
  return {};
}

Result<void> Knowledge::send(const Contribution& contribution) {
  TRY_ASSIGN(KnowledgeStore* const opened, store());
  if (!contribution.solutions.empty()) TRY(opened->put_solutions(contribution.solutions));
  if (!contribution.experiences.empty()) TRY(opened->insert(contribution.experiences, Forgotten::stays));
  if (!contribution.credit.empty()) TRY(opened->credit(contribution.credit));
  return {};
}

Result<Delivery> Knowledge::deliver() {
  Delivery out;
  const bool was_down = down_;
  while (!out.refused) {
    TRY_ASSIGN(const auto waiting, ports_.journal->waiting_for(ports_.place, kDeliveredAtOnce));
    for (const journal::OutboxItem& item : waiting) {
      const auto contribution = base::decode<Contribution>(item.content, "what waits for " + ports_.place);
      // What cannot be read will never be sendable: it stays in the journal's steps, and may not block the rest.
      if (!contribution && ports_.notice) {
        ports_.notice("something that waited for the knowledge store cannot be read and is passed over: " +
                      contribution.error().message);
      }
      const auto began = ports_.now();
      auto done = contribution ? send(*contribution) : Result<void>();
      if (!done && done.error().code == base::ErrorCode::not_found) {
        store_.reset();  // the file was moved or replaced: the one at its place now may be fine
        done = send(*contribution);
      }
      if (!done) {
        failed(done.error(), ports_.now() - began);
        out.refused = done.error();
        break;
      }
      TRY(ports_.journal->delivered(item.number));
      ++out.sent;
    }
    if (static_cast<int>(waiting.size()) < kDeliveredAtOnce) break;
  }
  if (out.refused) return out;
  // Only a store that was reached is known to work.
  if (out.sent > 0) works();
  if (was_down && out.sent > 1 && ports_.notice) {
    ports_.notice("what had waited for it in the journal has arrived (" + std::to_string(out.sent) + " deliveries)");
  }
  return out;
}

}  // namespace accelopt::memory
