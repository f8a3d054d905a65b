// SPDX-License-Identifier: Apache-2.0
#include "evaluation/worker_pool.hpp"

#include <mutex>
#include <optional>

#include "base/text.hpp"
#include "evaluation/evaluator_json.hpp"
#include "evaluation/requests.hpp"
#include "evaluation/worker_process.hpp"
#include "model/target_description.hpp"

namespace accelopt::evaluation {
namespace {

using base::ErrorCode;
using base::Json;

constexpr int kDeathsOfASolution = 2;  ///< with the same solution being measured: its own fault
constexpr int kDeathsOfNobody = 3;     ///< that no solution can be blamed for

class WorkerPool final : public Evaluator {
 public:
  explicit WorkerPool(PoolOptions options) : options_(std::move(options)) {}

  base::Result<Reply> answer(const Request& request, std::stop_token stop) override {
    if (const auto* const open = std::get_if<Open>(&request)) {
      {
        const std::lock_guard lock(mutex_);
        if (open_request_) return base::fail(ErrorCode::invalid_argument, "a task is open already; make another pool");
      }
      target_ = open->task.target;
      TRY_ASSIGN(const Json result, ask_open(to_json(request), stop));
      return parse_reply(request, result, "the worker's");
    }
    const auto death = death_of(request);
    TRY_ASSIGN(const auto result, ask_worker(to_json(request), death ? Blame::solution : Blame::nobody, stop));
    return result ? parse_reply(request, *result, "the worker's") : died(*death);
  }

  double waited_seconds() const override {
    const std::lock_guard lock(mutex_);
    return waited_seconds_;
  }

 private:
  enum class Blame { solution, nobody };

  static base::Error cancelled() { return {ErrorCode::cancelled, "stopped as asked"}; }

  /// The command, so that split_command gives it again.
  std::string words() const {
    std::string text;
    for (const std::string& word : options_.command) text += (text.empty() ? "" : " ") + base::shell_word(word);
    return text;
  }

  /// A device that the task's target measures on.
  std::string device_text() const {
    const model::TargetDescription* const target = model::find_target(target_);
    return target == nullptr || !model::is_measured(*target) ? target_ : target->device;
  }

  std::string name() const { return "the worker \"" + words() + "\""; }

  base::Error too_many_deaths(const std::string& reason) const {
    return {ErrorCode::unavailable, name() + " died " + std::to_string(kDeathsOfNobody) + " times; the last time " +
                                        reason + ". Try it alone: accelopt doctor --worker \"" + words() + "\""};
  }

  /// A worker that has said hello; nothing: it died before, which may be tried again (`reason` says how).
  base::Result<std::shared_ptr<WorkerProcess>> start(std::string& reason, const std::stop_token& stop) const {
    TRY_ASSIGN(auto worker, WorkerProcess::start(options_.command, options_.withheld, options_.send_limit));
    worker->listen_to_waits(options_.waiting);
    worker->listen_to_progress(options_.progressed);
    const auto hello = worker->greet(options_.hello_limit, stop);
    if (hello) {
      if (options_.greeted) options_.greeted(*hello);
      if (target_.empty() || hello->target.empty() || hello->target == target_) return worker;
      return base::fail(ErrorCode::unsupported,
                        "the task is for target " + target_ + ", and what was chosen measures on " + hello->device +
                            ": choose --device " + device_text() + ", or a --worker that has such a device");
    }
    if (hello.error().code == ErrorCode::cancelled) return tl::make_unexpected(cancelled());
    if (hello.error().code != ErrorCode::unavailable)
      return tl::make_unexpected(base::with_context(hello.error(), name()));
    reason = hello.error().message;
    return nullptr;
  }

  /// Requests that are begun when waiting was stopped already may wait again.
  Answer asked(WorkerProcess& worker, const Json& request, const std::stop_token& stop) {
    std::optional<std::stop_callback<std::function<void()>>> on_stop;
    if (!options_.stop_waiting.stop_requested())
      on_stop.emplace(options_.stop_waiting, [&worker] { worker.stop_waiting(); });
    Answer answer = worker.ask(request, options_.answer_limit, stop);
    const std::lock_guard lock(mutex_);
    waited_seconds_ += answer.waited_seconds;
    return answer;
  }

  /// The first open: starts the worker and remembers what to open again in the next one.
  base::Result<Json> ask_open(const Json& request, const std::stop_token& stop) {
    const std::lock_guard starting(start_mutex_);
    std::string reason;
    for (int deaths = 0; deaths < kDeathsOfNobody; ++deaths) {
      TRY_ASSIGN(auto worker, start(reason, stop));
      if (!worker) continue;
      Answer answer = asked(*worker, request, stop);
      if (answer.end == Answer::End::cancelled) return tl::make_unexpected(cancelled());
      if (answer.end == Answer::End::died) {
        reason = answer.reason + answer.last_words;
        continue;
      }
      if (!answer.result) return tl::make_unexpected(answer.result.error());
      const std::lock_guard lock(mutex_);
      worker_ = std::move(worker);
      open_request_ = request;
      return std::move(*answer.result);
    }
    return tl::make_unexpected(too_many_deaths(reason));
  }

  /// A worker in which the task is open; a fresh one where the last died.
  base::Result<std::shared_ptr<WorkerProcess>> living_worker(const std::stop_token& stop) {
    const std::lock_guard starting(start_mutex_);
    {
      const std::lock_guard lock(mutex_);
      if (!open_request_) return base::fail(ErrorCode::invalid_argument, "no task is open; call open first");
      if (worker_ && worker_->alive()) return worker_;
    }
    std::string reason;
    for (int deaths = 0; deaths < kDeathsOfNobody; ++deaths) {
      TRY_ASSIGN(auto worker, start(reason, stop));
      if (!worker) continue;
      const Answer answer = asked(*worker, *open_request_, stop);
      if (answer.end == Answer::End::cancelled) return tl::make_unexpected(cancelled());
      if (answer.end == Answer::End::answered) {
        if (!answer.result)
          return tl::make_unexpected(base::with_context(answer.result.error(), "opening the task again"));
        const std::lock_guard lock(mutex_);
        worker_ = std::move(worker);
        return worker_;
      }
      reason = answer.reason + answer.last_words;
    }
    return tl::make_unexpected(too_many_deaths(reason));
  }

  /// The answer's result; none: the worker died over this solution for the second time.
  base::Result<std::optional<Json>> ask_worker(const Json& request, Blame blame, const std::stop_token& stop) {
    int deaths_of_solution = 0;
    int deaths_of_nobody = 0;
    while (true) {
      TRY_ASSIGN(const auto worker, living_worker(stop));
      Answer answer = asked(*worker, request, stop);
      if (answer.end == Answer::End::cancelled) return tl::make_unexpected(cancelled());
      if (answer.end == Answer::End::answered) {
        if (!answer.result) return tl::make_unexpected(answer.result.error());
        return std::optional<Json>(std::move(*answer.result));
      }
      if (answer.started && blame == Blame::solution) {
        if (++deaths_of_solution == kDeathsOfASolution) {
          const std::lock_guard lock(mutex_);
          last_reason_ = answer.reason;
          return std::optional<Json>();
        }
      } else if (++deaths_of_nobody == kDeathsOfNobody) {
        return tl::make_unexpected(too_many_deaths(answer.reason + answer.last_words));
      }
    }
  }

  /// What a solution is said to be that the worker died of; nothing: no solution is to blame for a death.
  static std::optional<Reply> death_of(const Request& request) {
    model::Evaluation evaluation;
    evaluation.kind = operation(request);
    evaluation.status = model::Status::runtime_error;
    if (std::holds_alternative<HeldOut>(request)) return evaluation.status;
    if (const auto* const race = std::get_if<Race>(&request)) {
      evaluation.source_id = model::source_id(race->candidate);
    } else if (const auto* const confirm = std::get_if<Confirm>(&request)) {
      evaluation.source_id = model::source_id(confirm->solution);
    } else {
      return std::nullopt;
    }
    return evaluation;
  }

  Reply died(Reply death) {
    const std::lock_guard lock(mutex_);
    if (auto* const evaluation = std::get_if<model::Evaluation>(&death))
      evaluation->reason = "measuring it ended the worker twice: " + last_reason_;
    return death;
  }

  PoolOptions options_;
  std::mutex start_mutex_;  ///< one thread starts a worker, the others wait for it
  mutable std::mutex mutex_;
  std::shared_ptr<WorkerProcess> worker_;
  std::optional<Json> open_request_;
  std::string last_reason_;
  double waited_seconds_ = 0;
  std::string target_;  ///< of the task; set before the first worker starts
};

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

}  // namespace

base::Result<std::vector<std::string>> split_command(std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    return base::fail(ErrorCode::invalid_argument, "the worker's command " + std::string(text) + ": " + why);
  };
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && is_blank(c)) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    const bool escapes = c == '\\' && quote != '\'';
    if (escapes && i + 1 == text.size()) return refuse("nothing follows its last backslash");
    if (escapes && (quote == 0 || text[i + 1] == '"' || text[i + 1] == '\\'))
      words.back() += text[++i];
    else if (c == quote)
      quote = 0;
    else if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else
      words.back() += c;
  }
  if (quote != 0) return refuse(std::string("a quote (") + quote + ") is not closed");
  if (words.empty()) return refuse("it is empty; give a program, e.g. \"ssh host accelopt worker\"");
  return words;
}

base::Result<Hello> greet_worker(const PoolOptions& options, std::stop_token stop) {
  TRY_ASSIGN(const auto worker, WorkerProcess::start(options.command, options.withheld));
  return worker->greet(options.hello_limit, stop);
}

std::unique_ptr<Evaluator> make_worker_pool(PoolOptions options) {
  return std::make_unique<WorkerPool>(std::move(options));
}

}  // namespace accelopt::evaluation
