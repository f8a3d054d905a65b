// SPDX-License-Identifier: Apache-2.0
#include "worker/serve.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "evaluation/evaluator_json.hpp"
#include "evaluation/local_evaluator.hpp"
#include "evaluation/requests.hpp"
#include "worker/protocol.hpp"

namespace accelopt::worker {
namespace {

using base::ErrorCode;
using base::Json;
using model::Kernel;

/// Work in order of arrival for the threads that run `serve`.
class Queue {
 public:
  void push(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      work_.push_back(std::move(work));
    }
    changed_.notify_one();
  }

  /// Nothing waits, and nothing is being done.
  [[nodiscard]] bool at_rest() const {
    const std::lock_guard lock(mutex_);
    return work_.empty() && working_ == 0;
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

  /// `idle` may have something to do again.
  void look_again() {
    {
      const std::lock_guard lock(mutex_);
      look_again_ = true;
    }
    changed_.notify_all();
  }

  /// `idle` is called while there is no work, until it says that it has nothing to do; `rested` whenever the last work
  /// is done.
  void serve(const std::function<bool()>& idle = {}, const std::function<void()>& rested = {}) {
    bool more = idle != nullptr;
    while (true) {
      std::unique_lock lock(mutex_);
      while (more && !closed_ && work_.empty()) {
        look_again_ = false;
        lock.unlock();
        more = idle();
        lock.lock();
      }
      changed_.wait(lock, [this] { return closed_ || !work_.empty() || look_again_; });
      if (work_.empty() && closed_) return;
      if (work_.empty()) {
        look_again_ = false;
        more = idle != nullptr;
        continue;
      }
      const std::function<void()> work = std::move(work_.front());
      work_.pop_front();
      ++working_;
      lock.unlock();
      work();
      more = idle != nullptr;
      lock.lock();
      --working_;
      const bool rests = work_.empty() && working_ == 0;
      lock.unlock();
      if (rests && rested) rested();
    }
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  int working_ = 0;
  bool look_again_ = false;
  bool closed_ = false;
};

class Server {
 public:
  Server(evaluation::Evaluator& evaluator, const WorkerOptions& options, int out)
      : evaluator_(evaluator), options_(options), out_(out) {
    // Compilers have the machine to themselves while nothing is measured.
    measurer_ =
        std::thread([this] { measuring_.serve([this] { return building_.at_rest() && evaluator_.work_ahead(); }); });
  }

  base::Result<void> run(int in) {
    answer(options_.hello);
    LineReader reader(in);
    while (const auto line = reader.next()) {
      if (!line->empty()) receive(*line);
    }
    stop_everything();
    if (broken_) return base::fail(ErrorCode::io, "the worker's answers cannot be written");
    return {};
  }

 private:
  void receive(const std::string& line) {
    const auto request = base::parse_json(line, "request");
    if (!request || !request->is_object() || !request->contains("id")) {
      const base::Error error = request ? base::Error{ErrorCode::parse, "a request needs an id"} : request.error();
      answer({{"id", nullptr}, {"error", error_to_json(error)}});
      return;
    }
    const auto id = base::decode<std::int64_t>((*request)["id"], "id");
    const auto op = base::decode<std::string>(request->value("op", Json()), "op");
    if (!id || !op) {
      answer({{"id", nullptr}, {"error", error_to_json(id ? op.error() : id.error())}});
    } else if (*op == kCancel || *op == kStopWaiting) {
      const std::lock_guard lock(mutex_);
      auto& sources = *op == kCancel ? stops_ : stops_of_waiting_;
      if (const auto found = sources.find(*id); found != sources.end()) found->second.request_stop();
    } else {
      dispatch(*id, *request);
    }
  }

  void dispatch(std::int64_t id, const Json& request) {
    const auto operation = evaluation::operation_in(request);
    std::stop_token stop;
    std::stop_token stop_waiting;
    {
      const std::lock_guard lock(mutex_);
      stop = stops_[id].get_token();
      stop_waiting = stops_of_waiting_[id].get_token();
    }
    if (operation == model::Operation::build) {
      building_.push([this, id, request, stop] {
        const auto result = evaluation::perform(evaluator_, request, stop);
        if (result) remember_build(request.value("solution", Json()), *result);
        finish(id, result);
      });
      start_builders();
      return;
    }
    const auto measure = [this, id, request, stop, stop_waiting] {
      measuring_.push([this, id, request, stop, stop_waiting] {
        answer({{"id", id}, {"event", "started"}});
        if (stop.stop_requested()) return finish(id, base::fail(ErrorCode::cancelled, "stopped before it began"));
        const double before = waited_seconds();
        listen(id, stop_waiting);
        const auto result = evaluation::perform(evaluator_, request, stop);
        finish(id, result, waited_seconds() - before);
      });
    };
    // What was built may be measured as soon as the device is free: it does not stand behind the builds of others.
    if (operation != model::Operation::triage || was_built(request.value("candidate", Json()))) {
      measure();
      return;
    }
    // Compiled beside other measurements; the result waits in the target, and a failure shows again when it is
    // measured.
    building_.push([this, request, stop, measure] {
      const auto candidate = base::decode<Kernel>(request.value("candidate", Json()), "candidate");
      if (candidate) std::ignore = evaluator_.ask(evaluation::Build{*candidate}, stop).has_value();
      measure();
    });
    start_builders();
  }

  void remember_build(const Json& solution, const Json& report) {
    const auto built = base::decode<Kernel>(solution, "solution");
    if (!built || !report.value("built", false)) return;
    const std::lock_guard lock(mutex_);
    built_.insert(built->id());
  }

  bool was_built(const Json& solution) {
    const auto candidate = base::decode<Kernel>(solution, "candidate");
    const std::lock_guard lock(mutex_);
    return candidate && built_.contains(candidate->id());
  }

  /// On the measuring thread: who is waited for in this request comes to be told.
  void listen(std::int64_t id, const std::stop_token& stop_waiting) {
    if (options_.target == nullptr) return;
    evaluation::DeviceUse& use = options_.target->use();
    use.stop_waiting = stop_waiting;
    use.told = [this, id](const model::DeviceWait& wait) {
      answer({{"id", id}, {"event", "waiting"}, {"wait", wait}});
    };
    use.progressed = [this, id, last = std::chrono::steady_clock::now()](const model::StepShare& share) mutable {
      const auto now = std::chrono::steady_clock::now();
      if (now - last < options_.between_progress) return;
      last = now;
      answer({{"id", id}, {"event", "progress"}, {"share", share}});
    };
  }

  /// On the measuring thread.
  [[nodiscard]] double waited_seconds() const {
    return options_.target == nullptr ? 0 : options_.target->use().waited_seconds();
  }

  void finish(std::int64_t id, const base::Result<Json>& result, double waited_seconds = 0) {
    {
      const std::lock_guard lock(mutex_);
      stops_.erase(id);
      stops_of_waiting_.erase(id);
    }
    Json out = {{"id", id}};
    if (result)
      out["result"] = *result;
    else
      out["error"] = error_to_json(result.error());
    if (waited_seconds > 0) out["waited_seconds"] = waited_seconds;
    answer(out);
  }

  void answer(const Json& value) {
    const std::lock_guard lock(output_mutex_);
    if (!write_line(out_, value)) broken_ = true;
  }

  /// Builders start with the first build: only an open target knows how many there should be.
  void start_builders() {
    if (!builders_.empty()) return;
    const int count = options_.target != nullptr ? options_.target->build_threads() : options_.build_threads;
    for (int i = 0; i < count; ++i) {
      builders_.emplace_back([this] {
        if (options_.target != nullptr) options_.target->settle_helper_thread();
        building_.serve({}, [this] { measuring_.look_again(); });
      });
    }
  }

  void stop_everything() {
    {
      const std::lock_guard lock(mutex_);
      for (auto& [id, source] : stops_) source.request_stop();
    }
    building_.close();
    for (std::thread& builder : builders_) builder.join();
    measuring_.close();
    measurer_.join();
  }

  evaluation::Evaluator& evaluator_;
  WorkerOptions options_;
  int out_;
  std::atomic<bool> broken_{false};
  std::mutex output_mutex_;
  std::mutex mutex_;
  std::map<std::int64_t, std::stop_source> stops_;
  std::map<std::int64_t, std::stop_source> stops_of_waiting_;
  std::set<std::string> built_;  ///< source ids
  Queue building_;
  Queue measuring_;
  std::thread measurer_;
  std::vector<std::thread> builders_;
};

}  // namespace

base::Result<void> serve_evaluator(evaluation::Evaluator& evaluator, const WorkerOptions& options, int in, int out) {
  return Server(evaluator, options, out).run(in);
}

base::Result<void> serve_worker(evaluation::Target& target, const Hello& hello, int in, int out) {
  const auto evaluator = evaluation::make_local_evaluator(target);
  return serve_evaluator(*evaluator, {.target = &target, .build_threads = 0, .hello = hello}, in, out);
}

}  // namespace accelopt::worker
