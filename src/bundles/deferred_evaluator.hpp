// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bundles/bundle.hpp"
#include "evaluation/evaluator.hpp"
#include "evaluation/lookahead.hpp"

namespace accelopt::bundles {

/// An answer that came back from the device: a result, or why there is none.
using TakenIn = base::Result<base::Json>;

/// What a deferred evaluator works with. Everything is called from any thread.
struct DeferredPorts {
  /// The answer to the request of that id (bundle.hpp) when it was taken in.
  std::function<base::Result<std::optional<TakenIn>>(const std::string& request_id)> answer;
  /// Whether the request is in a bundle that was written and has not come back.
  std::function<bool(const std::string& request_id)> under_way;
  /// The report of a kernel that is known not to build, so that it need not travel; none: it has to. May be null.
  std::function<base::Result<std::optional<base::Json>>(const model::Kernel& kernel, const std::stop_token& stop)>
      failed_build{};
};

/// An evaluator that measures nothing: it answers what was taken in, and collects the rest, which is put
/// off, for the next bundle.
class DeferredEvaluator : public evaluation::Evaluator, public evaluation::Lookahead {
 public:
  /// What was put off and is in no bundle yet, in the order in which it should be carried out.
  [[nodiscard]] virtual std::vector<BundleItem> collected() const = 0;
  /// The device and the compiler of the results so far; none before the task was opened.
  [[nodiscard]] virtual std::optional<evaluation::DeviceInfo> device() const = 0;
};

std::unique_ptr<DeferredEvaluator> make_deferred_evaluator(DeferredPorts ports);

}  // namespace accelopt::bundles
