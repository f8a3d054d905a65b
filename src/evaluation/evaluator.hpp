// SPDX-License-Identifier: Apache-2.0
// Who answers what a search asks: a device here (local_evaluator.hpp), a worker (worker_pool.hpp), a bundle that is
// answered later (deferred_evaluator.hpp); tests use a fake.
#pragma once

#include <stop_token>
#include <utility>
#include <variant>

#include "base/outcome.hpp"
#include "evaluation/request.hpp"

namespace accelopt::evaluation {

class Evaluator {
 public:
  virtual ~Evaluator() = default;

  /// The reply of the request's own type. May be called from many threads. @error as the requests say.
  virtual base::Outcome<Reply> answer(const Request& request, std::stop_token stop) = 0;

  /// The same with the reply's type known: `ask(Build{solution}, stop)` is a BuildReport.
  template <class R>
  base::Outcome<typename R::Reply> ask(R request, std::stop_token stop) {
    TRY_ASSIGN(Reply reply, answer(Request(std::move(request)), std::move(stop)));
    auto* const own = std::get_if<typename R::Reply>(&reply);
    ACCELOPT_ASSERT(own != nullptr, "a request is answered by a reply of its own type");
    return std::move(*own);
  }

  /// Does a little of what will be asked for, while nothing is: on the thread that measures. False: nothing was to do.
  virtual bool work_ahead() { return false; }

  /// How long all requests have waited for others to leave the device: no time of this run's. Any thread.
  [[nodiscard]] virtual double waited_seconds() const { return 0; }
};

/// `answers(request, stop)` for the request's own type, as a reply.
template <class Answers>
base::Outcome<Reply> answer_by_type(const Request& request, const Answers& answers) {
  return std::visit(
      [&](const auto& own) -> base::Outcome<Reply> {
        TRY_ASSIGN(auto reply, answers(own));
        return Reply(std::move(reply));
      },
      request);
}

}  // namespace accelopt::evaluation
