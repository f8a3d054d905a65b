// SPDX-License-Identifier: Apache-2.0
// A deterministic target: what a source claims about itself is what is measured. A source is lines such as
//   speed=2.5        its speed relative to the baseline; 1 if absent
//   compile_error    does not build            wrong   gives wrong results       crash   dies
//   //@ tune A in {1, 2}   the largest values are chosen
//   held_out_bad   fails on held-out workloads             unconfirmed   does not confirm
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "fakes/named_evaluator.hpp"
#include "model/tuning.hpp"

namespace accelopt::fakes {

inline bool claims(const std::string& source, const std::string& word) {
  return source.find(word) != std::string::npos;
}

inline double claimed_speed(const std::string& source) {
  const auto at = source.find("speed=");
  return at == std::string::npos ? 1.0 : std::stod(source.substr(at + 6));
}

class FakeEvaluator : public NamedEvaluator {
 public:
  static constexpr double kBaselineNs = 1e6;

  // What was asked of it.
  std::atomic<int> opens = 0, builds = 0, triages = 0, playoffs = 0, confirms = 0, profiles = 0;
  // How it misbehaves.
  model::Status baseline_status = model::Status::passed;
  int measured_playoffs = 1000;        ///< those after them find the machine busy: no arm has a time
  double roofline_of_speed_one = 0.1;  ///< share of the roofline that the baseline reaches
  std::vector<std::string> playoff_notes;

  base::Result<evaluation::OpenReport> open(const model::Task& task, const evaluation::MeasureSettings&,
                                            std::stop_token) override {
    ++opens;
    evaluation::OpenReport report;
    report.device.name = "fake";
    report.device.summary = "fake device, 1 core";
    report.task_header = "/* task.h */";
    report.baseline = measured(model::main_text(task.baseline), 1.0);
    report.baseline.status = baseline_status;
    if (baseline_status != model::Status::passed) report.baseline.reason = "workload small, index 3: 1 instead of 2";
    return report;
  }

  base::Result<model::BuildReport> build(const model::Solution& solution, std::stop_token) override {
    ++builds;
    const std::string& text = model::main_text(solution);
    model::BuildReport report;
    report.built = !claims(text, "compile_error");
    report.build_id = base::sha256_hex(text);
    if (report.built)
      report.machine_code_id = machine_code(text);
    else
      report.diagnostics = "line 1: compile_error";
    report.seconds = 0.25;
    return report;
  }

  base::Result<model::Evaluation> triage(const model::Solution& candidate, const model::Solution& opponent,
                                         std::stop_token) override {
    ++triages;
    const std::string& text = model::main_text(candidate);
    model::Evaluation evaluation;
    evaluation.kind = model::EvaluationKind::triage;
    if (claims(text, "crash")) return failed(model::Status::runtime_error, "killed by signal 11");
    if (claims(text, "wrong")) return failed(model::Status::incorrect_numerical, "y[3] is 1 instead of 2");
    const double speed = claimed_speed(text);
    evaluation = measured(text, speed);
    if (const auto tuning = chosen_largest(candidate)) {
      evaluation.tuning = tuning;
      evaluation.machine_code_id = machine_code(model::main_text(model::with_values(candidate, *tuning->chosen)));
    }
    const double ratio = speed / claimed_speed(model::main_text(opponent));
    evaluation.opponent = model::source_id(opponent);
    evaluation.kind = model::EvaluationKind::triage;
    evaluation.ratio = model::Interval{ratio, ratio * 0.99, ratio * 1.01};
    evaluation.verdict = ratio > 1.01   ? model::Verdict::faster
                         : ratio < 0.99 ? model::Verdict::slower
                                        : model::Verdict::tie;
    return evaluation;
  }

  base::Result<model::Profile> profile(const model::Solution& solution, std::stop_token) override {
    ++profiles;
    return model::Profile{{{"speed", claimed_speed(model::main_text(solution)), "x", "how fast it is"}}, {}};
  }

  base::Result<evaluation::PlayoffReport> playoff(const std::vector<evaluation::Arm>& arms, int,
                                                  std::stop_token) override {
    ++playoffs;
    evaluation::PlayoffReport report;
    report.blocks = 12;
    report.separated = true;
    report.notes = playoff_notes;
    for (const evaluation::Arm& arm : arms) {
      const double speed = claimed_speed(model::main_text(arm.kernel.solution()));
      evaluation::ArmScore score;
      score.measured = playoffs <= measured_playoffs;
      report.arms.push_back(score);
      if (!score.measured) continue;
      score.blocks = 12;
      score.score = {speed, speed * 0.99, speed * 1.01};
      score.workloads = measured(model::main_text(arm.kernel.solution()), speed).workloads;
      report.arms.back() = score;
    }
    return report;
  }

  base::Result<model::Status> verify_held_out(const model::Solution& solution, std::stop_token) override {
    return claims(model::main_text(solution), "held_out_bad") ? model::Status::incorrect_numerical
                                                              : model::Status::passed;
  }

  base::Result<model::Evaluation> confirm(const model::Solution& solution, std::stop_token) override {
    ++confirms;
    const std::string& text = model::main_text(solution);
    const double speed = claimed_speed(text);
    model::Evaluation evaluation = measured(text, speed);
    evaluation.kind = model::EvaluationKind::confirm;
    evaluation.ratio = model::Interval{speed, speed * 0.99, speed * 1.01};
    evaluation.verdict = speed > 1.01 && !claims(text, "unconfirmed") ? model::Verdict::faster : model::Verdict::tie;
    if (evaluation.verdict != model::Verdict::faster) evaluation.reason = "the gain did not hold in fresh processes";
    for (auto& workload : evaluation.workloads) {
      workload.reference_ns = kBaselineNs;
      workload.ratio = evaluation.ratio;
    }
    return evaluation;
  }

 private:
  /// Of an open solution, the largest value of every name.
  static std::optional<model::Tuning> chosen_largest(const model::Solution& solution) {
    const auto directives = model::parse_cpu_directives(model::main_text(solution));
    model::Tuning tuning;
    bool open = false;
    tuning.chosen.emplace();
    for (const model::TunedName& name : directives ? directives->tuned : std::vector<model::TunedName>()) {
      open = open || name.values.size() > 1;
      tuning.names.push_back(name.name);
      tuning.sets.push_back(name.values);
      tuning.chosen->push_back(*std::max_element(name.values.begin(), name.values.end()));
    }
    tuning.source_id = model::source_id(solution);
    return open ? std::optional(tuning) : std::nullopt;
  }

  static std::string machine_code(const std::string& text) {
    // Lines beginning with "note" do not reach the machine code.
    std::string code;
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      if (!line.starts_with("note")) code += line + "\n";
      at = end + 1;
    }
    return base::sha256_hex("code:" + code);
  }

  model::Evaluation measured(const std::string& text, double speed) const {
    model::Evaluation evaluation;
    evaluation.status = model::Status::passed;
    evaluation.trust = "isolated";
    evaluation.machine_code_id = machine_code(text);
    model::WorkloadTiming timing;
    timing.name = "small";
    timing.role = model::Role::race;
    timing.time_ns = kBaselineNs / speed;
    timing.roofline =
        model::RooflinePoint{kBaselineNs * roofline_of_speed_one, roofline_of_speed_one * speed, "compute"};
    evaluation.workloads = {timing};
    return evaluation;
  }

  static model::Evaluation failed(model::Status status, const std::string& reason) {
    model::Evaluation evaluation;
    evaluation.status = status;
    evaluation.reason = reason;
    return evaluation;
  }
};

}  // namespace accelopt::fakes
