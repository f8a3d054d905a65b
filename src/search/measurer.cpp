// SPDX-License-Identifier: Apache-2.0
#include "search/measurer.hpp"

#include "base/hash.hpp"
#include "evaluation/evaluator_json.hpp"

namespace accelopt::search {

template <>
inline constexpr bool kReadsBackEqual<model::BuildReport> = true;
template <>
inline constexpr bool kReadsBackEqual<model::Evaluation> = true;

using base::Json;
using base::json_object;
using base::sha256_hex;
using evaluation::OpenReport;
using evaluation::PlayoffReport;
using model::BuildReport;
using model::Evaluation;
using model::step_name;
using model::StepKind;

Measurer::Measurer(evaluation::Evaluator* evaluator, Recorder& recorder, const model::Task& task,
                   const evaluation::MeasureSettings& settings, evaluation::Lookahead* lookahead)
    : evaluator_(evaluator),
      recorder_(recorder),
      task_(task),
      settings_(settings),
      lookahead_(lookahead),
      task_id_(model::task_id(task)) {}

base::Outcome<void> Measurer::be_ready(std::stop_token stop) {
  TRY(recorder_.settle());
  return ensure_open(std::move(stop));
}

base::Outcome<void> Measurer::ensure_open(std::stop_token stop) {
  const std::scoped_lock lock(open_mutex_);
  if (opened_) return {};
  ACCELOPT_ASSERT(evaluator_ != nullptr, "a replay does not measure");
  TRY_ASSIGN(opened_, evaluator_->ask(evaluation::Open{task_, settings_}, stop));
  const auto differs = [&](const char* what, const std::string& recorded, const std::string& here) {
    return base::fail(base::ErrorCode::unavailable,
                      std::string("the run's measurements are from ") + what + " \"" + recorded + "\", and this is \"" +
                          here + "\": times of different ones cannot be compared; resume it where it began");
  };
  if (recorded_ && recorded_->name != opened_->device.name)
    return differs("device", recorded_->name, opened_->device.name);
  if (recorded_ && recorded_->compiler != opened_->device.compiler)
    return differs("compiler", recorded_->compiler, opened_->device.compiler);
  if (opened_->baseline.status != model::Status::passed && recorder_.found() > 0) {
    // On record the baseline passed, or nothing would be left to measure.
    return base::fail(base::ErrorCode::unavailable,
                      "the baseline no longer passes on this machine: " + opened_->baseline.reason +
                          "; resume on the machine and toolchain that the run began on");
  }
  return {};
}

base::Outcome<OpenReport> Measurer::open(std::stop_token stop) {
  const auto report =
      recorder_.once<OpenReport>({{}, step_name(StepKind::open)}, {{"task", task_id_}, {"slots", settings_.slots}},
                                 [&]() -> base::Outcome<OpenReport> {
                                   const std::scoped_lock lock(open_mutex_);
                                   TRY_ASSIGN(opened_, evaluator_->ask(evaluation::Open{task_, settings_}, stop));
                                   return *opened_;
                                 });
  if (!report) return report;
  const std::scoped_lock lock(open_mutex_);
  recorded_ = report->device;
  return report;
}

base::Outcome<BuildReport> Measurer::build(const model::Kernel& kernel, std::stop_token stop) {
  bool own = false;
  auto report = builds_.share(kernel.id(), [&] {
    own = true;
    return recorder_.once_hashed<BuildReport>({{}, step_name(StepKind::build, kernel.id())}, build_input_hash(kernel),
                                              [&]() -> base::Outcome<BuildReport> {
                                                TRY(recorder_.settle_own());
                                                TRY(ensure_open(stop));
                                                return evaluator_->ask(evaluation::Build{kernel}, stop);
                                              });
  });
  if (!own) TRY(recorder_.settle());  // another thread recorded it
  return report;
}

std::string Measurer::build_input_hash(const model::Kernel& kernel) const {
  return sha256_hex(json_object("task", task_id_, "source", kernel.id()));
}

base::Result<OnRecord> Measurer::build_on_record(const model::Kernel& kernel) {
  if (lookahead_ != nullptr && lookahead_->put_off_before(kernel)) return OnRecord::yes;
  TRY_ASSIGN(const bool known,
             recorder_.on_record_hashed({{}, step_name(StepKind::build, kernel.id())}, build_input_hash(kernel)));
  return known ? OnRecord::yes : OnRecord::no;
}

void Measurer::expect_race(const model::Kernel& candidate, const model::Kernel& parent,
                           const std::string& parent_machine_code_id) {
  if (lookahead_ != nullptr) lookahead_->expect_race(candidate, parent, parent_machine_code_id);
}

void Measurer::expect_confirmations(const std::vector<model::Kernel>& finalists) {
  if (lookahead_ != nullptr) lookahead_->expect_confirmations(finalists);
}

void Measurer::expect_playoff(const evaluation::ExpectedPlayoff& playoff) {
  if (lookahead_ != nullptr) lookahead_->expect_playoff(playoff);
}

base::Outcome<Evaluation> Measurer::triage(const model::Identity& identity, const model::Kernel& candidate,
                                           const std::string& machine_code_id, const model::Kernel& parent,
                                           std::stop_token stop) {
  const journal::StepKey key{{.iteration = identity.iteration, .parent = identity.parent},
                             step_name(StepKind::triage, machine_code_id)};
  const std::string input =
      sha256_hex(json_object("task", task_id_, "machine_code", machine_code_id, "parent", parent.id()));
  bool own = false;
  auto evaluation = triages_.share(model::to_string(key.identity) + key.kind, [&] {
    own = true;
    return recorder_.once_hashed<Evaluation>(key, input, [&]() -> base::Outcome<Evaluation> {
      // It rests on the build, which the device makes again like itself, and on sources that are on record since then.
      TRY(ensure_open(stop));
      return evaluator_->ask(evaluation::Race{candidate, parent}, stop);
    });
  });
  if (!own) TRY(recorder_.settle());  // another thread recorded it
  return evaluation;
}

base::Outcome<model::Profile> Measurer::profile(const model::Kernel& kernel, std::stop_token stop) {
  return profiles_.share(kernel.id(), [&] {
    return recorder_.once<model::Profile>({{}, step_name(StepKind::profile, kernel.id())},
                                          {{"task", task_id_}, {"source", kernel.id()}},
                                          [&]() -> base::Outcome<model::Profile> {
                                            TRY(be_ready(stop));
                                            return evaluator_->ask(evaluation::Profile{kernel}, stop);
                                          });
  });
}

base::Outcome<PlayoffReport> Measurer::playoff(int iteration, const std::vector<evaluation::Arm>& arms, int places,
                                               std::stop_token stop) {
  Json input = {{"task", task_id_}, {"places", places}, {"arms", Json::array()}};
  for (const evaluation::Arm& arm : arms) input["arms"].push_back(arm.kernel.id());
  return recorder_.once<PlayoffReport>({{.iteration = iteration}, step_name(StepKind::playoff)}, input,
                                       [&]() -> base::Outcome<PlayoffReport> {
                                         TRY(be_ready(stop));
                                         return evaluator_->ask(evaluation::PlayOff{arms, places}, stop);
                                       });
}

base::Outcome<model::Status> Measurer::verify_held_out(const model::Kernel& kernel, std::stop_token stop) {
  TRY_ASSIGN(const auto name, recorder_.once<std::string>(
                                  {{}, step_name(StepKind::held_out, kernel.id())},
                                  {{"task", task_id_}, {"source", kernel.id()}}, [&]() -> base::Outcome<std::string> {
                                    TRY(be_ready(stop));
                                    TRY_ASSIGN(const auto status, evaluator_->ask(evaluation::HeldOut{kernel}, stop));
                                    return std::string(model::to_string(status));
                                  }));
  return model::parse_status(name);
}

base::Outcome<Evaluation> Measurer::confirm(const model::Kernel& kernel, std::stop_token stop) {
  return recorder_.once<Evaluation>({{}, step_name(StepKind::confirm, kernel.id())},
                                    {{"task", task_id_}, {"source", kernel.id()}}, [&]() -> base::Outcome<Evaluation> {
                                      TRY(be_ready(stop));
                                      return evaluator_->ask(evaluation::Confirm{kernel}, stop);
                                    });
}

}  // namespace accelopt::search
