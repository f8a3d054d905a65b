// SPDX-License-Identifier: Apache-2.0
#include "search/recorder.hpp"

#include "base/hash.hpp"

namespace accelopt::search {

using base::Json;

Recorder::Recorder(journal::Journal& journal, std::string run, Missing missing)
    : journal_(journal), run_(std::move(run)), missing_(missing) {}

std::chrono::milliseconds Recorder::since_start() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_);
}

base::Outcome<std::optional<Json>> Recorder::find(const journal::StepKey& key, const std::string& input_hash) {
  TRY_ASSIGN(auto known, journal_.find_step(run_, key, input_hash));
  if (known) {
    ++found_;
    return std::optional(std::move(known->output));
  }
  ++absent_;
  if (missing_ == Missing::leave_it) {
    return base::not_on_record("step " + key.kind + " " + model::to_string(key.identity) + " is not on record");
  }
  return std::optional<Json>();
}

model::Usage Recorder::usage_in(const Json& output) {
  const auto usage = output.find("usage");
  const bool there = output.is_object() && usage != output.end() && usage->is_object();
  return there ? usage->get<model::Usage>() : model::Usage();
}

base::Result<bool> Recorder::on_record(const journal::StepKey& key, const Json& input) {
  return on_record_hashed(key, base::sha256_hex(base::canonical(input)));
}

base::Result<bool> Recorder::on_record_hashed(const journal::StepKey& key, const std::string& input_hash) {
  TRY_ASSIGN(const auto known, journal_.find_step(run_, key, input_hash));
  return known.has_value();
}

base::Result<model::Usage> Recorder::usage_of_chats(const std::string& label_prefix) {
  TRY_ASSIGN(const auto steps, journal_.steps(run_));
  model::Usage usage;
  for (const journal::StepRecord& step : steps) {
    const bool asked = model::step_kind(step.key.kind) == model::StepKind::chat &&
                       model::step_suffix(step.key.kind).starts_with(label_prefix);
    if (asked) usage += step.usage;
  }
  return usage;
}

base::Result<void> Recorder::record_unanswered(const std::string& label, const std::string& model,
                                               const model::Usage& usage) {
  // The same question may go unanswered again, in this session or in one that resumes it.
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  const std::string name = label + " @" + std::to_string(microseconds) + "-" + std::to_string(++unanswered_);
  const Json output = {{"model", model}};
  const std::string step = model::step_name(model::StepKind::unanswered, name);
  TRY(journal_.record_soon(run_,
                           {{{}, step}, base::sha256_hex(name), base::canonical(output), usage, since_start(), {}}));
  return settle_own();
}

base::Result<void> Recorder::record(const journal::StepKey& key, const Json& input, const Json& output) {
  return journal_.record_step(run_, {key, base::sha256_hex(base::canonical(input)), output, {}, since_start(), {}});
}

base::Result<void> Recorder::record_hashed(const journal::StepKey& key, const std::string& input_hash,
                                           std::string output, const model::Usage& usage) {
  TRY(journal_.record_soon(run_, {key, input_hash, std::move(output), usage, since_start(), {}}));
  return settle();
}

}  // namespace accelopt::search
