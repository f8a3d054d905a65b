// SPDX-License-Identifier: Apache-2.0
#include "bundles/deferred_evaluator.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "evaluation/evaluator_json.hpp"
#include "evaluation/requests.hpp"
#include "model/target_description.hpp"

namespace accelopt::bundles {
namespace {

using base::ErrorCode;
using base::Json;
using base::Result;
using model::Kernel;

class Deferred final : public DeferredEvaluator {
 public:
  explicit Deferred(DeferredPorts ports) : ports_(std::move(ports)) {}

  base::Outcome<evaluation::Reply> answer(const evaluation::Request& request, std::stop_token stop) override {
    if (const auto* const build = std::get_if<evaluation::Build>(&request); build != nullptr && is_unknown(request)) {
      TRY_ASSIGN(const auto failed, failed_build(build->kernel, stop));
      if (failed) return evaluation::parse_reply(request, *failed, "this machine's");
    }
    const auto* const open = std::get_if<evaluation::Open>(&request);
    // The first plan asks for the baseline's profile: where opening a task leaves it out, it goes along.
    if (open != nullptr && model::target_of(open->task).profiles_on_demand)
      collect(to_json(evaluation::Profile{model::Kernel(open->task.baseline)}),
              Condition{request_id(bundled_open()), When::passed});
    TRY_ASSIGN(const Json known, taken_in(open != nullptr ? bundled_open() : to_json(request)));
    TRY_ASSIGN(evaluation::Reply reply, evaluation::parse_reply(request, known, "a bundle's"));
    if (open != nullptr) {
      const std::lock_guard lock(mutex_);
      device_ = std::get<evaluation::OpenReport>(reply).device;
    }
    return reply;
  }

  void expect_race(const Kernel& candidate, const Kernel& opponent,
                   const std::string& opponent_machine_code_id) override {
    const Json race = to_json(evaluation::Race{candidate, opponent});
    const std::string race_id = request_id(race);
    collect(race, Condition{request_id(to_json(evaluation::Build{candidate})), When::built, opponent_machine_code_id});
    collect(to_json(evaluation::Profile{candidate}), Condition{race_id, When::passed});
    collect(to_json(evaluation::HeldOut{candidate}), Condition{race_id, When::promising});
  }

  void expect_confirmations(const std::vector<Kernel>& finalists) override {
    for (std::size_t i = 0; i < finalists.size(); ++i) {
      const Json request = to_json(evaluation::Confirm{finalists[i]});
      if (i == 0)
        collect(request, std::nullopt);
      else
        collect(request, Condition{request_id(to_json(evaluation::Confirm{finalists[i - 1]})), When::unconfirmed});
    }
  }

  void expect_playoff(const evaluation::ExpectedPlayoff& expected) override {
    evaluation::PlayOff all{{}, expected.places};
    std::map<std::string, int> arm_of;
    const auto enter = [&](const Kernel& kernel) {
      const auto [place, fresh] = arm_of.try_emplace(kernel.id(), static_cast<int>(all.arms.size()));
      if (fresh) all.arms.push_back({kernel});
      return place->second;
    };
    PlayoffField field;
    enter(expected.baseline);
    for (const Kernel& parent : expected.beam) field.parents.push_back(enter(parent));
    for (const Kernel& finalist : expected.finalists) enter(finalist);
    field.fixed = static_cast<int>(all.arms.size());
    field.known_code = expected.known_code;
    for (const evaluation::ExpectedAttempt& attempt : expected.attempts) {
      FieldAttempt own{.arm = static_cast<std::size_t>(enter(attempt.kernel)),
                       .parent = attempt.parent,
                       .plan = attempt.plan,
                       .race = {},
                       .evaluation = attempt.evaluation,
                       .duplicate = attempt.duplicate,
                       .fixable = attempt.fixable};
      if (own.evaluation) {
        own.evaluation->samples.clear();
        own.evaluation->profile.reset();
      } else {
        const Kernel& opponent = expected.beam[static_cast<std::size_t>(attempt.parent)];
        own.race = request_id(to_json(evaluation::Race{attempt.kernel, opponent}));
        if (!is_collected(own.race)) return;  // it is in a bundle that is on its way: the next one has the play-off
      }
      field.attempts.push_back(std::move(own));
    }
    const Json request = to_json(all);
    const Json confirmation = to_json(evaluation::Confirm{expected.attempts.front().kernel});
    collect(request, std::nullopt, std::move(field));
    if (expected.leader == evaluation::Leader::confirmed)
      collect(confirmation, Condition{request_id(request), When::leads});
  }

  bool put_off_before(const Kernel& kernel) override {
    const std::string id = request_id(to_json(evaluation::Build{kernel}));
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
      const auto operation = evaluation::operation_in(a.second.request);
      const auto other = evaluation::operation_in(b.second.request);
      if (operation != other) return operation < other;
      // Threads collect in any order; confirmations depend on one another and come from one.
      return operation == model::Operation::confirm ? a.first < b.first : a.second.id < b.second.id;
    });
    std::vector<BundleItem> out;
    for (auto& [place, item] : found) out.push_back(std::move(item));
    drop_orphans(out);
    return out;
  }

  [[nodiscard]] std::optional<evaluation::DeviceInfo> device() const override {
    const std::lock_guard lock(mutex_);
    return device_;
  }

 private:
  bool is_unknown(const evaluation::Request& request) const {
    const std::string id = request_id(to_json(request));
    if (ports_.under_way(id)) return false;
    const auto known = ports_.answer(id);
    return known && !*known;
  }

  base::Result<std::optional<Json>> failed_build(const Kernel& kernel, const std::stop_token& stop) const {
    return ports_.failed_build ? ports_.failed_build(kernel, stop) : base::Result<std::optional<Json>>(std::nullopt);
  }

  /// The answer that came back; put off: there is none yet.
  base::Outcome<Json> taken_in(const Json& request) {
    TRY_ASSIGN(const auto known, ports_.answer(request_id(request)));
    if (known) return *known;
    collect(request, std::nullopt);
    return base::put_off("it waits for a bundle's results");
  }

  /// For the next bundle, unless it is known or on its way. Without a condition it is certain to be wanted.
  void collect(const Json& request, std::optional<Condition> only_if, std::optional<PlayoffField> field = {}) {
    const std::string id = request_id(request);
    if (ports_.under_way(id)) return;
    const auto known = ports_.answer(id);
    if (known && *known) return;
    const std::lock_guard lock(mutex_);
    const auto [place, fresh] = items_.try_emplace(id, BundleItem{id, request, only_if, std::move(field)});
    if (fresh) order_.push_back(id);
    if (!only_if) place->second.only_if.reset();
  }

  bool is_collected(const std::string& id) const {
    const std::lock_guard lock(mutex_);
    return items_.contains(id);
  }

  /// What depends on a request that is not in the bundle (it is under way) will be asked for again if it is wanted.
  static void drop_orphans(std::vector<BundleItem>& items) {
    std::set<std::string> present;
    std::erase_if(items, [&](const BundleItem& item) {
      const auto is_missing = [&](const FieldAttempt& attempt) {
        return !attempt.race.empty() && !present.contains(attempt.race);
      };
      const bool orphan =
          (item.only_if && !present.contains(item.only_if->item)) ||
          (item.field && std::any_of(item.field->attempts.begin(), item.field->attempts.end(), is_missing));
      if (!orphan) present.insert(item.id);
      return orphan;
    });
  }

  DeferredPorts ports_;
  mutable std::mutex mutex_;
  std::map<std::string, BundleItem> items_;
  std::vector<std::string> order_;
  std::optional<evaluation::DeviceInfo> device_;
};

}  // namespace

std::unique_ptr<DeferredEvaluator> make_deferred_evaluator(DeferredPorts ports) {
  return std::make_unique<Deferred>(std::move(ports));
}

}  // namespace accelopt::bundles
