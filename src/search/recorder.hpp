// SPDX-License-Identifier: Apache-2.0
// "Every step once": a step that the journal holds with the same input is read, any other is done and written down. It
// is durable before anything outside of this process depends on it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>

#include "base/hash.hpp"
#include "base/json_text.hpp"
#include "base/outcome.hpp"
#include "journal/journal.hpp"

namespace accelopt::search {

/// What may be done about a step that is not on record.
enum class Missing { do_it, leave_it };  // leave_it: replay, nothing is asked and nothing is measured

/// Whether a T that is read back from its JSON is the T that was written, in everything that a search looks at. What
/// was made is used then, and is written down while the run goes on. What it used, if anything, is its member `usage`.
template <class T>
inline constexpr bool kReadsBackEqual = false;

class Recorder {
 public:
  /// The journal outlives the recorder. May be used from many threads.
  Recorder(journal::Journal& journal, std::string run, Missing missing);

  /// The step's output: read when it is on record with the same `input`, else `produce()`d and recorded. Not on record:
  /// it may not be done; else what produce or the journal say, which is never recorded.
  template <class T>
  base::Outcome<T> once(const journal::StepKey& key, const base::Json& input,
                        const std::function<base::Outcome<T>()>& produce) {
    return once_hashed<T>(key, base::sha256_hex(base::canonical(input)), produce);
  }

  /// The same of an input whose canonical text has this SHA-256. The text is kept with the step, unless it is empty.
  template <class T, class Produce>
  base::Outcome<T> once_hashed(const journal::StepKey& key, const std::string& input_hash, const Produce& produce,
                               std::string input_text = {}) {
    TRY_ASSIGN(auto known, find(key, input_hash));
    if (known) {
      TRY_ASSIGN(T value, base::decode<T>(*known, "journal step " + key.kind));
      return value;
    }
    const auto started = since_start();
    base::Outcome<T> made = produce();
    if (!made) return made;
    journal::WrittenStep step{key, input_hash, {}, {}, started, since_start() - started, std::move(input_text)};
    if constexpr (requires { step.usage = made->usage; }) step.usage = made->usage;
    if constexpr (kReadsBackEqual<T>) {
      step.output = base::json_of(*made);
      TRY(journal_.record_soon(run_, std::move(step)));
      return made;
    } else {
      const base::Json output(*made);
      if constexpr (!requires { step.usage = made->usage; }) step.usage = usage_in(output);
      step.output = base::canonical(output);
      TRY(journal_.record_soon(run_, std::move(step)));
      TRY(settle());
      TRY_ASSIGN(T value, base::decode<T>(output, "journal step " + key.kind));
      return value;
    }
  }

  /// To be called before something is asked outside of this process, and at the end: waits until what is recorded is
  /// durable. @error as Journal::settle.
  base::Result<void> settle() { return journal_.settle(run_); }
  /// The same where what is asked rests on nothing that another thread has recorded since the last settle().
  base::Result<void> settle_own() { return journal_.settle_own(run_); }
  /// The calling thread begins something that rests on nothing of what it has recorded.
  void begin_own() { journal_.begin_own(); }

  /// Whether the step is on record with this input.
  base::Result<bool> on_record(const journal::StepKey& key, const base::Json& input);
  base::Result<bool> on_record_hashed(const journal::StepKey& key, const std::string& input_hash);

  /// What the recorded replies to chats took whose label begins so: a question may be lost at its second try, and the
  /// first one was paid for. @error as Journal::steps.
  base::Result<model::Usage> usage_of_chats(const std::string& label_prefix);

  /// Records what a question to that model used that got no answer, at once and beside what the same question used
  /// before. @error as settle.
  base::Result<void> record_unanswered(const std::string& label, const std::string& model, const model::Usage& usage);

  /// Records an output that was not produced by `once`, e.g. an answer that was lost for good.
  base::Result<void> record(const journal::StepKey& key, const base::Json& input, const base::Json& output);
  /// The same of canonical JSON, with what it used.
  base::Result<void> record_hashed(const journal::StepKey& key, const std::string& input_hash, std::string output,
                                   const model::Usage& usage);

  [[nodiscard]] const std::string& run() const { return run_; }
  [[nodiscard]] journal::Journal& journal() { return journal_; }
  [[nodiscard]] bool replaying() const { return missing_ == Missing::leave_it; }
  /// Steps that were read from the record, and steps that were not on it.
  [[nodiscard]] int found() const { return found_; }
  [[nodiscard]] int absent() const { return absent_; }

 private:
  /// The step's output; nothing: it is not on record and may be done.
  base::Outcome<std::optional<base::Json>> find(const journal::StepKey& key, const std::string& input_hash);
  static model::Usage usage_in(const base::Json& output);
  [[nodiscard]] std::chrono::milliseconds since_start() const;

  journal::Journal& journal_;
  std::string run_;
  Missing missing_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::atomic<int> found_ = 0;
  std::atomic<int> absent_ = 0;
  std::atomic<int> unanswered_ = 0;
};

}  // namespace accelopt::search
