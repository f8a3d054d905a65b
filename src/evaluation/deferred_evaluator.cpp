// SPDX-License-Identifier: Apache-2.0
#include "evaluation/deferred_evaluator.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <set>

#include "evaluation/evaluator_json.hpp"

namespace accelopt::evaluation {
namespace {

using base::ErrorCode;
using base::Json;
using base::Result;
using model::Solution;

/// Cheap and independent first; what depends on another stands after it.
constexpr std::array<std::string_view, 7> kOrder{"open",    "build",  "triage", "profile", "verify_held_out",
                                                 "playoff", "confirm"};

std::size_t rank(const BundleItem& item) {
  const auto found = std::find(kOrder.begin(), kOrder.end(), item.request.value("op", ""));
  return static_cast<std::size_t>(found - kOrder.begin());
}

Json of_solution(const char* op, const Solution& solution) {
  return {{"op", op}, {"solution", solution}};
}

Json race_of(const Solution& candidate, const Solution& opponent) {
  return {{"op", "triage"}, {"candidate", candidate}, {"opponent", opponent}};
}

class Deferred final : public DeferredEvaluator {
 public:
  explicit Deferred(DeferredPorts ports) : ports_(std::move(ports)) {}

  Result<OpenReport> open(const model::Task& task, const MeasureSettings&, std::stop_token) override {
    // The first plan asks for the baseline's profile, which opening an accelerator's task leaves out: it goes along.
    if (task.target != "cpu") {
      collect(of_solution("profile", task.baseline), Condition{request_id({{"op", "open"}}), When::passed});
    }
    TRY_ASSIGN(const auto report, ask<OpenReport>({{"op", "open"}}));
    const std::lock_guard lock(mutex_);
    device_ = report.device;
    return report;
  }

  Result<model::BuildReport> build(const Solution& solution, std::stop_token) override {
    return ask<model::BuildReport>(of_solution("build", solution));
  }

  Result<model::Evaluation> triage(const Solution& candidate, const Solution& opponent, std::stop_token) override {
    return ask<model::Evaluation>(race_of(candidate, opponent));
  }

  Result<model::Profile> profile(const Solution& solution, std::stop_token) override {
    return ask<model::Profile>(of_solution("profile", solution));
  }

  Result<PlayoffReport> playoff(const std::vector<Arm>& arms, int places, std::stop_token) override {
    return ask<PlayoffReport>({{"op", "playoff"}, {"arms", arms}, {"places", places}});
  }

  Result<model::Status> verify_held_out(const Solution& solution, std::stop_token) override {
    TRY_ASSIGN(const auto name, ask<std::string>(of_solution("verify_held_out", solution)));
    return model::parse_status(name);
  }

  Result<model::Evaluation> confirm(const Solution& solution, std::stop_token) override {
    return ask<model::Evaluation>(of_solution("confirm", solution));
  }

  void expect_race(const Solution& candidate, const Solution& opponent,
                   const std::string& opponent_machine_code_id) override {
    const Json race = race_of(candidate, opponent);
    const std::string race_id = request_id(race);
    collect(race, Condition{request_id(of_solution("build", candidate)), When::built, opponent_machine_code_id});
    collect(of_solution("profile", candidate), Condition{race_id, When::passed});
    collect(of_solution("verify_held_out", candidate), Condition{race_id, When::promising});
  }

  void expect_confirmations(const std::vector<Solution>& finalists) override {
    for (std::size_t i = 0; i < finalists.size(); ++i) {
      const Json request = of_solution("confirm", finalists[i]);
      if (i == 0)
        collect(request, std::nullopt);
      else
        collect(request, Condition{request_id(of_solution("confirm", finalists[i - 1])), When::unconfirmed});
    }
  }

  bool put_off_before(const Solution& solution) override {
    const std::string id = request_id(of_solution("build", solution));
    if (ports_.under_way(id)) return true;
    const auto known = ports_.answer(id);
    return known && known->has_value();
  }

  [[nodiscard]] std::vector<BundleItem> collected() const override {
    std::vector<std::pair<std::size_t, BundleItem>> found;  // with the place in which it was collected
    {
      const std::lock_guard lock(mutex_);
      for (const std::string& id : order_) found.emplace_back(found.size(), items_.at(id));
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      if (rank(a.second) != rank(b.second)) return rank(a.second) < rank(b.second);
      // Threads collect in any order; confirmations depend on one another and come from one.
      return rank(a.second) + 1 == kOrder.size() ? a.first < b.first : a.second.id < b.second.id;
    });
    std::vector<BundleItem> out;
    for (auto& [place, item] : found) out.push_back(std::move(item));
    drop_widows(out);
    return out;
  }

  [[nodiscard]] int put_off() const override { return put_off_; }

  [[nodiscard]] std::optional<DeviceInfo> device() const override {
    const std::lock_guard lock(mutex_);
    return device_;
  }

 private:
  template <class T>
  Result<T> ask(const Json& request) {
    const std::string id = request_id(request);
    TRY_ASSIGN(const auto known, ports_.answer(id));
    if (known) {
      if (!*known) return tl::make_unexpected(known->error());
      return base::decode<T>(**known, "a bundle's answer to " + request.value("op", ""));
    }
    ++put_off_;
    if (ports_.waiting != nullptr) ++*ports_.waiting;
    collect(request, std::nullopt);
    return base::fail(ErrorCode::cancelled, "it waits for a bundle's results");
  }

  /// For the next bundle, unless it is known or on its way. Without a condition it is certain to be wanted.
  void collect(const Json& request, std::optional<Condition> only_if) {
    const std::string id = request_id(request);
    if (ports_.under_way(id)) return;
    const auto known = ports_.answer(id);
    if (known && *known) return;
    const std::lock_guard lock(mutex_);
    const auto [place, fresh] = items_.try_emplace(id, BundleItem{id, request, only_if});
    if (fresh) order_.push_back(id);
    if (!only_if) place->second.only_if.reset();
  }

  /// What depends on a request that is not in the bundle (it is under way) will be asked for again if it is wanted.
  static void drop_widows(std::vector<BundleItem>& items) {
    std::set<std::string> present;
    std::erase_if(items, [&](const BundleItem& item) {
      const bool widow = item.only_if && !present.contains(item.only_if->item);
      if (!widow) present.insert(item.id);
      return widow;
    });
  }

  DeferredPorts ports_;
  std::atomic<int> put_off_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, BundleItem> items_;
  std::vector<std::string> order_;
  std::optional<DeviceInfo> device_;
};

}  // namespace

std::unique_ptr<DeferredEvaluator> make_deferred_evaluator(DeferredPorts ports) {
  return std::make_unique<Deferred>(std::move(ports));
}

}  // namespace accelopt::evaluation
