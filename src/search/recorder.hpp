// SPDX-License-Identifier: Apache-2.0
// "Every step once": a step that the journal holds with the same input is read, any other is done and written down
// before anything depends on it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <type_traits>

#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/outcome.hpp"
#include "journal/journal.hpp"

namespace accelopt::search {

/// What may be done about a step that is not on record.
enum class Missing { do_it, leave_it };  // leave_it: replay, nothing is asked and nothing is measured

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

  /// The same of an input whose canonical text has this SHA-256.
  template <class T>
  base::Outcome<T> once_hashed(const journal::StepKey& key, const std::string& input_hash,
                               const std::function<base::Outcome<T>()>& produce) {
    TRY_ASSIGN(const base::Json output, once_json(key, input_hash, [&]() -> base::Outcome<base::Json> {
                 auto made = produce();
                 if (!made) return tl::make_unexpected(made.error());
                 return base::Json(*made);
               }));
    TRY_ASSIGN(T value, base::decode<T>(output, "journal step " + key.kind));
    return value;
  }

  /// Whether the step is on record with this input.
  base::Result<bool> on_record(const journal::StepKey& key, const base::Json& input);

  /// What the recorded replies to chats took whose label begins so: a question may be lost at its second try, and the
  /// first one was paid for. @error as Journal::steps.
  base::Result<model::Usage> usage_of_chats(const std::string& label_prefix);

  /// Records an output that was not produced by `once`, e.g. an answer that was lost for good.
  base::Result<void> record(const journal::StepKey& key, const base::Json& input, const base::Json& output);
  base::Result<void> record_hashed(const journal::StepKey& key, const std::string& input_hash,
                                   const base::Json& output);

  [[nodiscard]] const std::string& run() const { return run_; }
  [[nodiscard]] journal::Journal& journal() { return journal_; }
  [[nodiscard]] bool replaying() const { return missing_ == Missing::leave_it; }
  /// Steps that were read from the record, and steps that were not on it.
  [[nodiscard]] int found() const { return found_; }
  [[nodiscard]] int absent() const { return absent_; }

 private:
  base::Outcome<base::Json> once_json(const journal::StepKey& key, const std::string& input_hash,
                                      const std::function<base::Outcome<base::Json>()>& produce);
  [[nodiscard]] std::chrono::milliseconds since_start() const;

  journal::Journal& journal_;
  std::string run_;
  Missing missing_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::atomic<int> found_ = 0;
  std::atomic<int> absent_ = 0;
};

}  // namespace accelopt::search
