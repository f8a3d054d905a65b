// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "evaluation/evaluator.hpp"
#include "worker/connection.hpp"
#include "worker/placement.hpp"

namespace accelopt::worker {

struct PoolOptions {
  std::vector<WorkerCommand> workers;  ///< one at least
  ConnectionOptions connection{};
  /// Shared with the pools of runs that go on at the same time; null: the workers are this run's alone.
  std::shared_ptr<Placement> placement{};
};

/// An evaluator that measures in worker processes, started by `open`. Any thread may call any function.
///
/// `open` waits until every worker has opened the task or cannot. The first of them, in their order, on which the
/// baseline passes says which kind of device the run is on; a worker whose device, driver or compiler is another is
/// refused. From then on a request goes to the worker with the least to do, whole: the arms of a race meet on one
/// device. Every worker but the first draws inputs from a seed of its own. `environment.worker` of an evaluation names
/// who made it, where there are several.
///
/// With a placement the task is opened on this run's share of the workers at first. It is opened on another one when
/// requests have waited for as long as that takes while the other was idle, or when no worker of the run is left.
///
/// What a worker was asked when it died is asked of another one. The dead one is started again, opens the task and
/// takes part again; one that cannot be is given up. The second death while the same solution is measured is that
/// solution's RUNTIME_ERROR; the third death of which no solution can be blamed is an error (unavailable), for the
/// request that met them. An error too is that no worker is left.
///
/// Of several workers, one that answers with an error of its machine (exhausted, unavailable, io, permission_denied,
/// internal) is given up, and the request is asked of another one. Errors of several workers begin with whose they are.
std::unique_ptr<evaluation::Evaluator> make_worker_pool(PoolOptions options);

}  // namespace accelopt::worker
