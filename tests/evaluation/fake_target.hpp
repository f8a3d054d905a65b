// SPDX-License-Identifier: Apache-2.0
// A machine without hardware: y = 2 x, and a kernel's text says how long it takes and what is wrong with it.
//   time=<ns>  cold time of workloads of 100 elements (in proportion for others); noise of half a per cent is added
//   wrong  crash  hang  outside  disturbed  broken (does not build)  wrong_on=<elements>
#pragma once

#include <cstring>
#include <random>
#include <set>
#include <string>

#include "evaluation/target.hpp"
#include "fakes/fake_evaluator.hpp"

namespace accelopt::evaluation {

inline model::Solution fake_kernel(const std::string& text) {
  model::Solution out;
  out.sources.push_back({"kernel.cpp", text});
  return out;
}

inline model::Task fake_task() {
  model::Task task;
  task.definition.name = "twice";
  task.definition.axes = {{"M", std::nullopt}};
  model::TensorSpec x;
  x.name = "x";
  x.shape = std::vector<std::string>{"M"};
  x.families = {model::Family::positive, model::Family::sparse};
  task.definition.inputs = {x};
  model::TensorSpec y;
  y.name = "y";
  y.shape = x.shape;
  task.definition.outputs = {y};
  task.definition.cost = {"M", "8*M"};
  task.workloads = {{"race", {{"M", 100}}, model::Role::race, 1.0},
                    {"check", {{"M", 37}}, model::Role::check, 1.0},
                    {"hidden", {{"M", 61}}, model::Role::held_out, 1.0}};
  task.baseline = fake_kernel("time=1000000");
  return task;
}

class FakeTarget final : public Target {
 public:
  // What happened.
  int starts = 0, calls = 0, locks = 0, held_locks = 0, quiets = 0, held_quiets = 0, probes = 0, repeats = 0;
  int calls_outside_lock = 0;
  // How it is.
  Peaks peaks{1e12, 1e12, 1e12};

  base::Result<DeviceInfo> open(const model::Task&, const MeasureSettings&, std::stop_token) override {
    return DeviceInfo{"fake", "fake device", "fake++", "none", peaks};
  }
  const std::string& task_header() const override { return header_; }
  model::Environment environment() const override { return {"fake", "fake++", "-O3", "none", 0, false}; }
  std::string trust() const override { return "isolated"; }
  std::int64_t last_level_bytes() const override { return 1 << 20; }
  base::Result<model::BuildReport> build(const model::Solution& solution, std::stop_token) override {
    model::BuildReport report;
    report.built = !fakes::claims(main_text(solution), "broken");
    if (!report.built) report.diagnostics = "kernel.cpp:1:1: error: broken";
    report.machine_code_id = main_text(solution);
    return report;
  }
  void settle_helper_thread() override {}
  int build_threads() const override { return 1; }

  base::Result<std::vector<ReferenceTensor>> reference(Precision, const std::vector<ReferenceTensor>& inputs,
                                                       const Invocation&) override {
    ReferenceTensor out;
    for (const double value : inputs.at(0).values) out.values.push_back(2 * value);
    return std::vector<ReferenceTensor>{out};
  }

  base::Result<std::unique_ptr<LiveKernel>> start(const model::Solution& solution, Placement placement,
                                                  std::stop_token) override {
    ++starts;
    std::string text = main_text(solution);
    if (placement == Placement::shifted && fakes::claims(text, "shifted_time")) {
      text.replace(text.find("shifted_time="), 13, "time=");  // the last claim counts
      text.erase(0, text.rfind("time="));
    }
    return std::make_unique<Live>(*this, text);
  }
  std::unique_ptr<Hold> quiet() override { return std::make_unique<Counted>(quiets, held_quiets); }
  std::unique_ptr<Hold> lock_machine() override { return std::make_unique<Counted>(locks, held_locks); }
  base::Result<Peaks> probe_peaks_again(std::stop_token) override {
    ++probes;
    return peaks;
  }

 private:
  class Counted final : public Hold {
   public:
    Counted(int& total, int& held) : held_(held) {
      ++total;
      ++held_;
    }
    ~Counted() override { --held_; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

   private:
    int& held_;
  };

  class Live final : public LiveKernel {
   public:
    Live(FakeTarget& target, std::string text) : target_(target), text_(std::move(text)) {}
    base::Result<CallOutcome> call(const Invocation& invocation, const CallOptions& options) override {
      ++target_.calls;
      if (target_.held_locks == 0) ++target_.calls_outside_lock;
      if (!seen_.insert(invocation.number).second) ++target_.repeats;
      CallOutcome out;
      if (fakes::claims(text_, "crash")) return CallOutcome{CallEnd::died, "crashed (SIGSEGV)", 0, false, false, {}};
      if (fakes::claims(text_, "hang")) return CallOutcome{CallEnd::timed_out, "did not return", 0, false, false, {}};
      const auto elements = static_cast<double>(invocation.axes.at(0));
      std::normal_distribution<double> noise(0, 0.005);
      const auto at = text_.find("time=");
      out.time_ns = std::stod(text_.substr(at + 5)) * elements / 100 * std::exp(noise(target_.random_));
      if (out.time_ns > static_cast<double>(options.limit.count())) {
        return CallOutcome{CallEnd::timed_out, "did not return", 0, false, false, {}};
      }
      out.disturbed = fakes::claims(text_, "disturbed");
      out.wrote_outside = fakes::claims(text_, "outside");
      target_.output_.resize(invocation.output_bytes.at(0));
      for (std::size_t i = 0; i < target_.output_.size(); i += sizeof(float)) {
        float value = 0;
        std::memcpy(&value, invocation.inputs.at(0).data() + i, sizeof value);
        value *= 2;
        const bool last = i + sizeof(float) == target_.output_.size();
        const auto wrong_at = text_.find("wrong_on=");
        const bool wrong = wrong_at == std::string::npos ? fakes::claims(text_, "wrong")
                                                         : std::stod(text_.substr(wrong_at + 9)) == elements;
        if (last && wrong) value += 1;
        std::memcpy(target_.output_.data() + i, &value, sizeof value);
      }
      out.outputs = {target_.output_};
      return out;
    }

   private:
    FakeTarget& target_;
    std::string text_;
    std::set<std::uint64_t> seen_;
  };

  std::string header_ = "/* task.h */";
  std::mt19937_64 random_{20261121};
  Bytes output_;
};

}  // namespace accelopt::evaluation
