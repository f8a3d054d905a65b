// SPDX-License-Identifier: Apache-2.0
#include "toy_target/toy_target.hpp"

#include <cstring>
#include <sstream>

namespace accelopt::toy {
namespace {

using base::Result;
using evaluation::Bytes;
using evaluation::ReferenceTensor;

constexpr double kOperationNs = 10;

/// What a program gives for one x, rounded to float after every operation where it runs as a kernel would. Counts them.
/// @error parse: which word is none, or what is left at the end.
Result<double> run(const std::string& program, double x, evaluation::Precision precision, int& operations) {
  std::vector<double> stack;
  std::istringstream words(program);
  const auto push = [&](double value) {
    stack.push_back(precision == evaluation::Precision::float32 ? static_cast<float>(value) : value);
  };
  for (std::string word; words >> word;) {
    const bool combines = word == "+" || word == "*";
    if (stack.size() < (combines ? 2 : word == "dup" ? 1 : 0))
      return base::fail(base::ErrorCode::parse, word + ": too few values before it");
    if (word == "x") {
      push(x);
    } else if (word == "dup") {
      push(stack.back());
    } else if (combines) {
      const double right = stack.back();
      const double left = stack.at(stack.size() - 2);
      stack.resize(stack.size() - 2);
      push(word == "+" ? left + right : left * right);
      ++operations;
    } else {
      return base::fail(base::ErrorCode::parse, word + ": no word of this language");
    }
  }
  if (stack.size() == 1) return stack.back();
  return base::fail(base::ErrorCode::parse, "one value has to be left, not " + std::to_string(stack.size()));
}

class ToyKernel final : public evaluation::LiveKernel {
 public:
  explicit ToyKernel(std::string program) : program_(std::move(program)) {}

  Result<evaluation::CallOutcome> call(const evaluation::Invocation& invocation,
                                       const evaluation::CallOptions&) override {
    const Bytes& input = invocation.inputs.at(0);
    output_.resize(input.size());
    int operations = 0;
    for (std::size_t at = 0; at < input.size(); at += sizeof(float)) {
      float x = 0;
      std::memcpy(&x, &input[at], sizeof x);
      TRY_ASSIGN(const double exact, run(program_, x, evaluation::Precision::float32, operations));
      const auto y = static_cast<float>(exact);
      std::memcpy(&output_[at], &y, sizeof y);
    }
    evaluation::CallOutcome out;
    out.time_ns = kOperationNs * operations;
    out.outputs = {output_};
    return out;
  }

 private:
  std::string program_;
  Bytes output_;
};

class ToyTarget final : public evaluation::Target {
 public:
  Result<evaluation::DeviceInfo> open(const model::Task& task, const evaluation::MeasureSettings&,
                                      std::stop_token) override {
    reference_ = task.reference.text;
    return evaluation::DeviceInfo{"toy", "a modelled device", "none", "none", {}};
  }
  const std::string& task_header() const override { return header_; }
  model::Environment environment() const override { return {"toy", "none", "", "none", 0, false, {}}; }
  std::string trust() const override { return "modelled"; }
  std::int64_t last_level_bytes() const override { return 0; }
  evaluation::DeviceClock clock() const override { return evaluation::DeviceClock::deterministic; }

  Result<model::BuildReport> build(const model::Kernel& kernel, std::stop_token) override {
    model::BuildReport report;
    int operations = 0;
    const auto tried = run(main_text(kernel.solution()), 1, evaluation::Precision::float64, operations);
    report.built = tried.has_value();
    report.machine_code_id = main_text(kernel.solution());
    if (!tried) report.diagnostics = tried.error().message;
    return report;
  }
  void settle_helper_thread() override {}
  int build_threads() const override { return 1; }

  Result<std::vector<ReferenceTensor>> reference(evaluation::Precision precision,
                                                 const std::vector<ReferenceTensor>& inputs,
                                                 const evaluation::Invocation&) override {
    ReferenceTensor out;
    int uncounted = 0;
    for (const double x : inputs.at(0).values) {
      TRY_ASSIGN(const double y, run(reference_, x, precision, uncounted));
      out.values.push_back(y);
    }
    return std::vector<ReferenceTensor>{out};
  }
  Result<std::unique_ptr<evaluation::LiveKernel>> start(const model::Kernel& kernel, evaluation::Placement,
                                                        std::stop_token) override {
    return std::make_unique<ToyKernel>(main_text(kernel.solution()));
  }
  std::unique_ptr<evaluation::Hold> quiet() override { return std::make_unique<evaluation::Hold>(); }
  Result<std::unique_ptr<evaluation::Hold>> lock_machine() override { return quiet(); }
  Result<evaluation::Peaks> probe_peaks_again(std::stop_token) override { return evaluation::Peaks{}; }

 private:
  std::string reference_;
  std::string header_;
};

}  // namespace

const model::TargetDescription& description() {
  static const model::TargetDescription kDescription = [] {
    model::LanguageDescription arithmetic;
    arithmetic.language = model::Language("arithmetic");
    arithmetic.suffixes = {".expr"};
    model::TargetDescription out;
    out.name = "toy";
    out.languages = {arithmetic};
    out.reference_suffixes = {".expr"};
    out.device = "toy";
    out.devices = "toy";
    out.counts_time = true;
    return out;
  }();
  return kDescription;
}

std::unique_ptr<evaluation::Target> make_toy_target() {
  return std::make_unique<ToyTarget>();
}

}  // namespace accelopt::toy

// The registry of this program.
std::span<const accelopt::model::TargetDescription* const> accelopt::model::targets() {
  static const TargetDescription* const kAll[] = {&toy::description()};
  return kAll;
}
