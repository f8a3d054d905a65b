// SPDX-License-Identifier: Apache-2.0
#include "review/reviewer.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "base/hash.hpp"

namespace accelopt::review {
namespace {

using base::Outcome;

/// What identifies a question without telling what it is about: whoever answers sees the label.
std::string label_of(const Asking& asking, const std::string& kind, const std::string& about) {
  return fmt::format("reviewer {} {}", kind, base::sha256_hex(fmt::format("{} {}", asking.seed, about)).substr(0, 12));
}

/// Asks, and once more where `read` refuses the answer.
template <class Read>
Outcome<void> ask(const Asking& asking, const std::string& label, std::vector<llm::Message> messages, const Read& read,
                  model::Usage& usage) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto reply = asking.chat->chat({.label = fmt::format("{} try{}", label, attempt),
                                          .messages = messages,
                                          .temperature = {},
                                          .max_output_tokens = {}},
                                         asking.stop);
    if (!reply) return tl::make_unexpected(reply.error());
    usage += reply->usage;
    const auto done = read(reply->text);
    if (done) return {};
    messages.push_back({llm::Speaker::assistant, reply->text});
    messages.push_back({llm::Speaker::user, unreadable(done.error().message)});
  }
  return {};
}

Outcome<void> ask_opinion(const Asking& asking, OpinionTask& task, model::Usage& usage) {
  const auto read = [&](const std::string& text) -> base::Result<void> {
    TRY_ASSIGN(task.opinion, read_opinion(text, task.change));
    return {};
  };
  return ask(asking, label_of(asking, "opinion", task.subject->base + task.change),
             opinion_question(*task.subject, task.change), read, usage);
}

Outcome<void> ask_pair(const Asking& asking, PairTask& task, model::Usage& usage) {
  const std::string& first = task.swapped ? task.second : task.first;
  const std::string& second = task.swapped ? task.first : task.second;
  const std::string label =
      label_of(asking, task.of == PairOf::texts ? "readable" : "pair",
               fmt::format("{} {} {} {} {}", task.draw, task.swapped, task.subject->base, first, second));
  const auto letters = letters_of(asking.seed, label);
  const auto read = [&](const std::string& text) -> base::Result<void> {
    TRY_ASSIGN(task.answer, read_pair(text, letters.first, letters.second));
    return {};
  };
  auto question = task.of == PairOf::texts ? readable_question(*task.subject, letters, first, second)
                                           : pair_question(*task.subject, letters, first, second);
  return ask(asking, label, std::move(question), read, usage);
}

}  // namespace

Outcome<model::Usage> ask_all(const Asking& asking, std::vector<OpinionTask>& opinions, std::vector<PairTask>& pairs) {
  const std::size_t all = opinions.size() + pairs.size();
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;  // guards what follows
  model::Usage usage;
  std::size_t done = 0;
  std::size_t put_off = 0;
  std::optional<base::NotDone> failed;
  const auto work = [&] {
    for (std::size_t i = next++; i < all; i = next++) {
      model::Usage own;
      const Outcome<void> asked = i < opinions.size() ? ask_opinion(asking, opinions[i], own)
                                                      : ask_pair(asking, pairs[i - opinions.size()], own);
      const std::scoped_lock lock(mutex);
      usage += own;
      asking.progress(++done, all);
      if (asked) continue;
      if (asked.error().why == base::Why::put_off) {
        ++put_off;
        continue;
      }
      if (!failed) failed = asked.error();
      next = all;  // nothing more is asked
    }
  };
  {
    std::vector<std::jthread> threads;
    const std::size_t count = std::min(all, static_cast<std::size_t>(std::max(1, asking.at_once)));
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back(work);
  }
  if (failed) return tl::make_unexpected(*failed);
  if (put_off > 0) asking.put_off(put_off);
  if (put_off > 0) return base::put_off(fmt::format("{} of {} questions wait for an answer", put_off, all));
  return usage;
}

Outcome<ReadableOpinion> ask_readable(const Asking& asking, const Subject& subject, const std::string& old_text,
                                      const std::string& new_text) {
  std::vector<OpinionTask> none;
  std::vector<PairTask> pairs;
  for (const bool swapped : {false, true}) {
    pairs.push_back({.subject = &subject,
                     .first = old_text,
                     .second = new_text,
                     .swapped = swapped,
                     .of = PairOf::texts,
                     .answer = {}});
  }
  ReadableOpinion out;
  TRY_ASSIGN(out.usage, ask_all(asking, none, pairs));
  const auto prefers = [&](Better straight, Better turned) {
    return pairs[0].answer && pairs[1].answer && pairs[0].answer->better == straight &&
           pairs[1].answer->better == turned;
  };
  if (prefers(Better::first, Better::second)) out.better = Better::first;
  if (prefers(Better::second, Better::first)) out.better = Better::second;
  return out;
}

}  // namespace accelopt::review
