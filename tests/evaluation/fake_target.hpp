// SPDX-License-Identifier: Apache-2.0
// A machine without hardware: y = 2 x, and a kernel's text says how long it takes and what is wrong with it.
//   time=<ns>  cold time of workloads of 100 elements (in proportion for others); noise of half a per cent is added
//   cost=<expression>;  the same over the values of //@ tune, V of a found configuration, and the elements M; so are
//   compiles_if, right_if, lives_if alone=<ns>  the same of a call that is made alone, where `times_several` is set
//   spiky  one call in twenty takes twice as long
//   clock  the device tells its clock, 2000 MHz, and that the host saw the call end 5 us later
//   drops_nan  a NaN among the inputs becomes 0; masks  so does an infinity
//   wrong  crash  hang  outside  disturbed  broken (does not build)  wrong_on=<elements>
#pragma once

#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>

#include "base/expression.hpp"
#include "evaluation/target.hpp"
#include "fakes/fake_evaluator.hpp"
#include "model/tuning.hpp"

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

/// The value of "word=<expression>;" in the text; none without one.
inline std::optional<std::int64_t> fake_claim(const std::string& text, const std::string& word, std::int64_t elements) {
  const auto at = text.find(word + "=");
  if (at == std::string::npos) return std::nullopt;
  const auto begin = at + word.size() + 1;
  std::map<std::string, std::int64_t> values{{"M", elements}};
  if (const auto directives = model::parse_cpu_directives(text)) {
    for (const model::TunedName& tuned : directives->tuned) values[tuned.name] = tuned.values.front();
  }
  const std::string_view found = "configuration: ";
  if (const auto comment = text.rfind(found); comment != std::string::npos)
    values["V"] = std::stoll(text.substr(comment + found.size()));
  return base::evaluate_expression(text.substr(begin, text.find(';', begin) - begin), values).value_or(-1);
}

class FakeTarget : public Target {
 public:
  // What happened.
  int starts = 0, calls = 0, locks = 0, held_locks = 0, quiets = 0, held_quiets = 0, probes = 0, repeats = 0;
  int calls_outside_lock = 0;
  std::atomic<int> builds = 0;
  // How it is.
  Peaks peaks{1e12, 1e12, 1e12};
  int builders = 1;
  model::TuningSpace found;                         ///< in kernels, beside their directives
  std::string no_device;                            ///< why kernels are built and not run
  bool watches = false;                             ///< calls: "leaks_on=M" of a kernel is found
  DeviceClock device_clock = DeviceClock::noisy;    ///< deterministic: no noise is added
  double slowdown = 1;                              ///< all calls take so many times what they say
  bool times_several = false;                       ///< short calls are timed together
  std::set<std::string> long_ones;                  ///< workloads of which it times no calls together
  std::map<std::int64_t, int> alone_calls;          ///< made alone, by elements
  int occupied_calls = 0;                           ///< so many more calls are made beside another process
  int slow_calls = 0;                               ///< so many more calls run at half the clock, in twice the time
  int early_calls = 0;                              ///< so many more calls could have begun before they were told to
  int disturbed_calls = 0;                          ///< from something else so many more calls lose time
  std::map<std::string, std::set<Bytes>> met;       ///< inputs of timed calls, by the kernel's text
  std::map<std::string, int> met_again;             ///< timed calls on inputs that the text had met in any process
  std::map<std::string, std::set<Poison>> poisons;  ///< of calls, by the kernel's text
  std::map<std::string, std::map<std::uint64_t, Poison>> poison_of_slot;  ///< of the last call, by text and slot
  std::map<Alignment, int> aligned;                                       ///< calls, by how tensors lie
  int complements = 0;                                                    ///< calls over complements
  int doubtful_calls = 0;  ///< so many more calls are told two times that contradict each other
  std::chrono::milliseconds patience{40};
  std::chrono::hours wait_a_lock{0};  ///< that is said to have been waited for each
  std::string neighbour;              ///< who is said to have held the lock all the time
  HardwareCounts counters;
  std::vector<std::int64_t> watched, counted;  ///< sizes of the workloads that were looked into

  base::Result<DeviceInfo> open(const model::Task&, const MeasureSettings&, std::stop_token) override {
    return DeviceInfo{"fake", "fake device", "fake++", "none", peaks};
  }
  std::string builds_only() const override { return no_device; }
  const std::string& task_header() const override { return header_; }
  model::Environment environment() const override { return {"fake", "fake++", "-O3", "none", 0, false}; }
  std::string trust() const override { return "isolated"; }
  std::int64_t last_level_bytes() const override { return 1 << 20; }
  base::Result<model::BuildReport> build(const model::Kernel& kernel, std::stop_token) override {
    ++builds;
    model::BuildReport report;
    const std::string& text = main_text(kernel.solution());
    if (const auto space = kernel.space(fake_task().definition); !space || space->open()) {
      report.diagnostics =
          space ? "left open" : "kernel.cpp:" + std::to_string(space.error().line) + ": " + space.error().message;
      return report;
    }
    report.built = !fakes::claims(text, "broken") && fake_claim(text, "compiles_if", 0).value_or(1) != 0;
    if (!report.built) report.diagnostics = "kernel.cpp:1:1: error: broken";
    report.machine_code_id = main_text(kernel.solution());
    report.seconds = static_cast<double>(fake_claim(text, "compile_seconds", 0).value_or(0));
    return report;
  }
  base::Result<model::TuningSpace> found_space(const model::Kernel& kernel, std::stop_token) override {
    return model::commented_values(kernel.solution()) ? model::TuningSpace{} : found;
  }
  void settle_helper_thread() override {}
  int build_threads() const override { return builders; }

  base::Result<std::vector<ReferenceTensor>> reference(Precision, const std::vector<ReferenceTensor>& inputs,
                                                       const Invocation&) override {
    ReferenceTensor out;
    for (const double value : inputs.at(0).values) out.values.push_back(2 * value);
    return std::vector<ReferenceTensor>{out};
  }

  base::Result<std::unique_ptr<LiveKernel>> start(const model::Kernel& kernel, Placement placement,
                                                  std::stop_token) override {
    ++starts;
    std::string text = main_text(kernel.solution());
    if (placement == Placement::shifted && fakes::claims(text, "shifted_time")) {
      text.replace(text.find("shifted_time="), 13, "time=");  // the last claim counts
      text.erase(0, text.rfind("time="));
    }
    return std::make_unique<Live>(*this, text);
  }
  std::vector<model::ProfileItem> machine_code_profile(const model::Kernel&, std::stop_token) override {
    return {{"inner loop", 7, "instructions", "one turn"}};
  }
  base::Result<HardwareCounts> hardware_counts(const model::Kernel&, const Invocation& invocation, model::Cache,
                                               std::stop_token) override {
    counted.push_back(invocation.axes.at(0));
    if (held_locks == 0) ++calls_outside_lock;
    return counters;
  }
  DeviceClock clock() const override { return device_clock; }
  bool times_together(const model::Workload& workload) const override {
    return times_several && !long_ones.contains(workload.name);
  }
  bool inspects() const override { return watches; }
  base::Result<Inspection> inspect(const model::Kernel& kernel, const Invocation& invocation,
                                   std::stop_token) override {
    watched.push_back(invocation.axes.at(0));
    if (held_locks == 0) ++calls_outside_lock;
    const bool leaks =
        main_text(kernel.solution()).find("leaks_on=" + std::to_string(watched.back())) != std::string::npos;
    return Inspection{leaks ? "the watcher found a leak" : "", {"watched"}};
  }
  std::unique_ptr<Hold> quiet() override { return std::make_unique<Counted>(quiets, held_quiets); }
  base::Result<std::unique_ptr<Hold>> lock_machine() override {
    use().waited += wait_a_lock;
    use().shared_with = neighbour;
    return std::make_unique<Counted>(locks, held_locks);
  }
  std::chrono::milliseconds patience_with_neighbours() const override { return patience; }
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
      if (options.alone) ++target_.alone_calls[invocation.axes.at(0)];
      if (target_.held_locks == 0) ++target_.calls_outside_lock;
      if (!seen_.insert(invocation.number).second && options.repeat != Repeat::warm) ++target_.repeats;
      const bool known = !target_.met[text_].insert(invocation.inputs.at(0)).second;
      if (known && options.repeat != Repeat::compare && options.repeat != Repeat::warm) ++target_.met_again[text_];
      target_.poisons[text_].insert(options.poison);
      ++target_.aligned[options.alignment];
      target_.poison_of_slot[text_][invocation.number] = options.poison;
      if (options.poison == Poison::complement) ++target_.complements;
      CallOutcome out;
      const std::int64_t size = invocation.axes.at(0);
      if (fakes::claims(text_, "crash") || fake_claim(text_, "lives_if", size).value_or(1) == 0)
        return ended(CallEnd::died, "crashed (SIGSEGV)");
      if (fakes::claims(text_, "uninterpreted")) return ended(CallEnd::refused, "is not interpreted");
      if (fakes::claims(text_, "hang")) return ended(CallEnd::timed_out, "did not return");
      const auto elements = static_cast<double>(invocation.axes.at(0));
      std::normal_distribution<double> noise(0, 0.005);
      const auto at = text_.find("time=");
      const auto cost = fake_claim(text_, "cost", size);
      const auto alone_at = text_.find("alone=");
      const bool alone = options.alone && alone_at != std::string::npos;
      const double quiet_ns = alone  ? std::stod(text_.substr(alone_at + 6))
                              : cost ? static_cast<double>(*cost)
                                     : std::stod(text_.substr(at + 5));
      out.time_ns = quiet_ns * target_.slowdown * elements / 100;
      const bool noisy = target_.device_clock == DeviceClock::noisy && options.repeat != Repeat::warm;
      if (noisy) out.time_ns *= std::exp(noise(target_.random_));
      if (fakes::claims(text_, "spiky") && target_.random_() % 20 == 0) out.time_ns *= 2;
      if (out.time_ns > static_cast<double>(options.limit.count())) {
        return ended(CallEnd::timed_out, "did not return");
      }
      out.disturbed = fakes::claims(text_, "disturbed");
      if (fakes::claims(text_, "clock")) {
        out.clock_mhz = 2000;
        out.lag_ns = 5000;
      }
      if (target_.disturbed_calls > 0 && target_.disturbed_calls-- > 0) out.disturbed = true;
      out.early = target_.early_calls > 0 && target_.early_calls-- > 0;
      find_fault(out);
      out.wrote_outside = fakes::claims(text_, "outside");
      if (fakes::claims(text_, "cheats")) out.caught = "was caught cheating";
      target_.output_.resize(invocation.output_bytes.at(0));
      for (std::size_t i = 0; i < target_.output_.size(); i += sizeof(float)) {
        float value = 0;
        std::memcpy(&value, invocation.inputs.at(0).data() + i, sizeof value);
        value *= 2;
        if (std::isnan(value) && fakes::claims(text_, "drops_nan")) value = 0;
        if (std::isinf(value) && fakes::claims(text_, "masks")) value = 0;
        const bool warm_fault = fakes::claims(text_, "bad_when_warm") && options.cache == model::Cache::warm;
        const bool last = i + sizeof(float) == target_.output_.size();
        const auto wrong_at = text_.find("wrong_on=");
        const bool wrong = wrong_at == std::string::npos ? fakes::claims(text_, "wrong")
                                                         : std::stod(text_.substr(wrong_at + 9)) == elements;
        if (last && (wrong || warm_fault || fake_claim(text_, "right_if", size).value_or(1) == 0)) value += 1;
        std::memcpy(target_.output_.data() + i, &value, sizeof value);
      }
      out.outputs = {target_.output_};
      return out;
    }

   private:
    void find_fault(CallOutcome& out) {
      if (target_.occupied_calls > 0 && target_.occupied_calls-- > 0) {
        out.fault = TimeFault::neighbour;
        out.disturbance = "process 7 (other) was on the device at the same time";
      } else if (target_.slow_calls > 0 && target_.slow_calls-- > 0) {
        out.fault = TimeFault::slow_clock;
        out.disturbance = "the clock was low";
        out.clock_mhz /= 2;
        out.time_ns *= 2;
      } else if (target_.doubtful_calls > 0 && target_.doubtful_calls-- > 0) {
        out.fault = TimeFault::clocks_differ;
      }
      out.disturbed = out.disturbed || out.fault != TimeFault::none;
    }
    static CallOutcome ended(CallEnd end, std::string reason) {
      CallOutcome out;
      out.end = end;
      out.reason = std::move(reason);
      return out;
    }

    FakeTarget& target_;
    std::string text_;
    std::set<std::uint64_t> seen_;
  };

  std::string header_ = "/* task.h */";
  std::mt19937_64 random_{20261121};
  Bytes output_;
};

}  // namespace accelopt::evaluation
