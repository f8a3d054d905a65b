// SPDX-License-Identifier: Apache-2.0
#include "bundles/runner.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "evaluation/evaluator_json.hpp"
#include "evaluation/requests.hpp"

namespace accelopt::bundles {
namespace {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

/// Builds that wait for one another in the worker, which knows how many may run at once.
constexpr std::size_t kBuildsInFlight = 8;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

class Runner {
 public:
  Runner(std::filesystem::path folder, const BundleExecution& execution, std::stop_token stop)
      : folder_(std::move(folder)), execution_(execution), stop_(std::move(stop)) {}

  Result<BundleReport> run() {
    TRY_ASSIGN(report_.bundle, read_bundle(folder_));
    TRY_ASSIGN(const auto lock, lock_bundle(folder_));
    TRY_ASSIGN(BundleResults results, read_unfinished(folder_, bundle()));
    outcomes_ = std::move(results.outcomes);
    sessions_ = std::move(results.sessions);
    report_.done_before = outcomes_.size();
    if (report_.done_before < bundle().items.size()) {
      TRY(open());
      TRY(build_all());
      TRY(carry_out_rest());
    }
    TRY(seal_results(folder_, bundle()));
    return std::move(report_);
  }

 private:
  [[nodiscard]] const Bundle& bundle() const { return report_.bundle; }

  void notice(const std::string& text) const {
    if (execution_.notice) execution_.notice(text);
  }

  /// Opens the task here and checks that results of this machine may stand beside those that the run has.
  Result<void> open() {
    TRY_ASSIGN(evaluator_, execution_.make_evaluator(bundle()));
    notice(bundle().settings.known_baseline ? "opening the task: of its baseline what was measured before is taken "
                                              "over, if device and code are the same"
                                            : "opening the task: its baseline is verified and timed on this machine");
    const auto begin = std::chrono::steady_clock::now();
    const auto opened = base::as_result(evaluator_->ask(evaluation::Open{bundle().task, bundle().settings}, stop_));
    if (!opened) {
      // What is wrong with the task itself is the answer, if that was asked; what is wrong with this machine can be
      // mended.
      const bool answer = opened.error().code == ErrorCode::invalid_argument && is_open_left();
      if (!answer) return tl::make_unexpected(opened.error());
      TRY(begin_session({}, {}));
      return settle_open(tl::make_unexpected(opened.error()), seconds_since(begin));
    }
    TRY(check_machine(opened->device, opened->baseline));
    TRY(begin_session(opened->device, opened->baseline.environment));
    return settle_open(Json(*opened), seconds_since(begin));
  }

  Result<void> check_machine(const evaluation::DeviceInfo& device, const model::Evaluation& baseline) const {
    const auto other = [](const char* what, const std::string& expected, const std::string& found) {
      return fail(ErrorCode::unsupported, "the bundle expects " + std::string(what) + " \"" + expected +
                                              "\", which the run's earlier results are from; this is \"" + found +
                                              "\", and nothing was measured. Execute it where the first one was");
    };
    const std::string known_device = !bundle().expected_device.empty() ? bundle().expected_device
                                     : sessions_.empty()               ? std::string()
                                                                       : sessions_.front().device;
    const std::string known_compiler = !bundle().expected_compiler.empty() ? bundle().expected_compiler
                                       : sessions_.empty()                 ? std::string()
                                                                           : sessions_.front().compiler;
    if (!known_device.empty() && device.name != known_device) return other("device", known_device, device.name);
    if (!known_compiler.empty() && device.compiler != known_compiler)
      return other("compiler", known_compiler, device.compiler);
    if (asks_for_open() || baseline.status == model::Status::passed) return {};
    return fail(ErrorCode::unavailable, "the baseline passed before and does not pass here: " + baseline.reason);
  }

  [[nodiscard]] bool asks_for_open() const {
    return evaluation::operation_in(bundle().items.front().request) == model::Operation::open;
  }

  [[nodiscard]] bool is_open_left() const { return asks_for_open() && !outcomes_.contains(bundle().items.front().id); }

  Result<void> begin_session(const evaluation::DeviceInfo& device, const model::Environment& environment) {
    BundleSession session;
    session.number = static_cast<int>(sessions_.size()) + 1;
    session.program_version = execution_.program_version;
    session.device = device.name;
    session.compiler = device.compiler;
    session.flags = environment.flags;
    session.isolation = environment.isolation;
    if (execution_.machine) session.machine = execution_.machine();
    session.started = execution_.now();
    TRY(write_session(folder_, bundle(), session));
    sessions_.push_back(std::move(session));
    return {};
  }

  Result<void> settle_open(Result<Json> result, double seconds) {
    seconds -= evaluator_->waited_seconds();
    if (!is_open_left()) return {};
    Outcome outcome = blank(bundle().items.front());
    outcome.request = bundle().items.front().id;
    outcome.seconds = seconds;
    if (result)
      outcome.result.emplace(std::move(*result));
    else
      outcome.error = result.error();
    return settle(std::move(outcome));
  }

  [[nodiscard]] Outcome blank(const BundleItem& item) const {
    Outcome outcome;
    outcome.item = item.id;
    outcome.session = static_cast<int>(sessions_.size());
    outcome.finished = execution_.now();
    return outcome;
  }

  /// Writes it down before anything depends on it.
  Result<void> settle(Outcome outcome) {
    const std::lock_guard lock(mutex_);
    TRY(write_outcome(folder_, bundle(), outcome));
    const bool asked = outcome.result || outcome.error;
    ++(asked ? report_.carried_out : report_.left_out);
    outcomes_.insert_or_assign(outcome.item, std::move(outcome));
    return {};
  }

  Result<void> carry_out(const BundleItem& item, const Json& request) {
    if (stop_.stop_requested()) return fail(ErrorCode::cancelled, "stopped as asked");
    const auto begin = std::chrono::steady_clock::now();
    const double waited_before = evaluator_->waited_seconds();
    auto result = evaluation::perform(*evaluator_, request, stop_);
    if (!result) return tl::make_unexpected(result.error());
    Outcome outcome = blank(item);
    outcome.request = request_id(request);
    outcome.seconds = seconds_since(begin) - (evaluator_->waited_seconds() - waited_before);
    outcome.result.emplace(std::move(*result));
    return settle(std::move(outcome));
  }

  /// All compilations, beside each other, while nothing is timed.
  Result<void> build_all() {
    std::vector<const BundleItem*> builds;
    for (const BundleItem& item : bundle().items) {
      if (evaluation::operation_in(item.request) == model::Operation::build && !outcomes_.contains(item.id))
        builds.push_back(&item);
    }
    if (builds.empty()) return {};
    notice("building " + std::to_string(builds.size()) + " kernels");
    std::atomic<std::size_t> next = 0;
    std::mutex error_mutex;
    std::optional<base::Error> error;
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < std::min(kBuildsInFlight, builds.size()); ++i) {
        threads.emplace_back([&] {
          for (std::size_t at = next++; at < builds.size(); at = next++) {
            const auto built = carry_out(*builds[at], builds[at]->request);
            const std::lock_guard lock(error_mutex);
            if (!built && !error) error = built.error();
            if (error) return;
          }
        });
      }
    }
    if (error) return tl::make_unexpected(*error);
    return {};
  }

  /// One at a time, in the bundle's order.
  Result<void> carry_out_rest() {
    for (std::size_t i = 0; i < bundle().items.size(); ++i) {
      const BundleItem& item = bundle().items[i];
      if (outcomes_.contains(item.id)) continue;
      Resolved resolved = resolve(bundle(), i, outcomes_);
      if (resolved.request) {
        notice(std::to_string(i + 1) + " of " + std::to_string(bundle().items.size()) + ": " +
               item.request.value("op", ""));
        TRY(carry_out(item, *resolved.request));
        continue;
      }
      Outcome outcome = blank(item);
      outcome.request = item.id;
      outcome.skipped = std::move(resolved.skipped);
      outcome.same_as = std::move(resolved.same_as);
      TRY(settle(std::move(outcome)));
    }
    return {};
  }

  std::filesystem::path folder_;
  const BundleExecution& execution_;
  std::stop_token stop_;
  BundleReport report_;
  std::unique_ptr<evaluation::Evaluator> evaluator_;
  std::mutex mutex_;
  Outcomes outcomes_;
  std::vector<BundleSession> sessions_;
};

}  // namespace

Result<BundleReport> execute_bundle(const std::filesystem::path& folder, const BundleExecution& execution,
                                    std::stop_token stop) {
  return Runner(folder, execution, std::move(stop)).run();
}

}  // namespace accelopt::bundles
