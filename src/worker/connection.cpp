// SPDX-License-Identifier: Apache-2.0
#include "worker/connection.hpp"

#include <utility>

#include "base/shell.hpp"
#include "base/text.hpp"
#include "model/target_description.hpp"

namespace accelopt::worker {

using base::ErrorCode;
using base::Json;

namespace {

base::Error cancelled() {
  return {ErrorCode::cancelled, "stopped as asked"};
}

/// A device that a target measures on.
std::string device_of(const std::string& target) {
  const model::TargetDescription* const description = model::find_target(target);
  return description == nullptr || !model::is_measured(*description) ? target : description->device;
}

}  // namespace

/// The command, so that split_command gives it again.
std::string WorkerConnection::words() const {
  std::string text;
  for (const std::string& word : command_.words) text += (text.empty() ? "" : " ") + base::shell_word(word);
  return text;
}

std::string WorkerConnection::name() const {
  return command_.name.empty() ? words() : command_.name;
}

std::string WorkerConnection::title() const {
  return "the worker \"" + name() + "\"";
}

base::Error WorkerConnection::too_many_deaths(const std::string& reason) const {
  return {ErrorCode::unavailable, title() + " died " + std::to_string(kDeathsOfNobody) + " times; the last time " +
                                      reason + ". Try it alone: accelopt doctor --worker \"" + words() + "\""};
}

/// A process that has said hello; nothing: it died before, which may be tried again (`reason` says how).
base::Result<std::shared_ptr<WorkerProcess>> WorkerConnection::start(std::string& reason, const std::string& target,
                                                                     const std::stop_token& stop) const {
  TRY_ASSIGN(auto process, WorkerProcess::start(command_.words, options_.withheld, options_.send_limit, options_.now));
  process->listen_to_waits(options_.waiting);
  process->listen_to_progress(options_.progressed);
  const auto hello = process->greet(options_.hello_limit, stop);
  if (hello) {
    if (options_.greeted) options_.greeted(*hello);
    const std::string& its = hello->target;
    if (target.empty() || its.empty() || its == target || its == model::device_kind(target)) return process;
    return base::fail(ErrorCode::unsupported,
                      "the task is for target " + target + ", and what was chosen measures on " + hello->device +
                          ": choose --device " + device_of(target) + ", or a --worker that has such a device");
  }
  if (hello.error().code == ErrorCode::cancelled) return tl::make_unexpected(cancelled());
  if (hello.error().code != ErrorCode::unavailable)
    return tl::make_unexpected(base::with_context(hello.error(), title()));
  reason = hello.error().message;
  return nullptr;
}

base::Result<Json> WorkerConnection::open(const Json& request, const std::string& target, const std::stop_token& stop) {
  close().reset();
  std::string reason;
  for (int deaths = 0; deaths < kDeathsOfNobody; ++deaths) {
    TRY_ASSIGN(auto process, start(reason, target, stop));
    if (!process) continue;
    Answer answer = asked(*process, request, stop);
    if (answer.end == Answer::End::cancelled) return tl::make_unexpected(cancelled());
    if (answer.end == Answer::End::died) {
      reason = answer.reason + answer.last_words;
      if (process->was_silent() && options_.notice) options_.notice(title() + " was lost (" + reason + ")");
      continue;
    }
    if (answer.result) {
      const std::lock_guard lock(mutex_);
      process_ = std::move(process);
    }
    return std::move(answer.result);
  }
  return tl::make_unexpected(too_many_deaths(reason));
}

/// Requests that are begun when waiting was stopped already may wait again.
Answer WorkerConnection::asked(WorkerProcess& process, const Json& request, const std::stop_token& stop) {
  const bool may_wait = options_.stop_waiting.stop_requested();
  Answer answer =
      process.ask(request, options_.answer_limit, stop, may_wait ? std::stop_token() : options_.stop_waiting);
  const std::lock_guard lock(mutex_);
  waited_seconds_ += answer.waited_seconds;
  return answer;
}

Answer WorkerConnection::ask(const Json& request, const std::stop_token& stop) {
  const auto living = process();
  if (!living) return {Answer::End::died, Json(), false, 0, "the worker had ended", {}};
  return asked(*living, request, stop);
}

std::shared_ptr<WorkerProcess> WorkerConnection::process() const {
  const std::lock_guard lock(mutex_);
  return process_;
}

bool WorkerConnection::alive() const {
  const auto living = process();
  return living && living->alive();
}

std::string WorkerConnection::end() const {
  const auto ended = process();
  return ended ? ended->end() : "it ended";
}

bool WorkerConnection::was_silent() const {
  const auto ended = process();
  return ended && ended->was_silent();
}

std::shared_ptr<WorkerProcess> WorkerConnection::close() {
  const std::lock_guard lock(mutex_);
  return std::exchange(process_, nullptr);
}

double WorkerConnection::waited_seconds() const {
  const std::lock_guard lock(mutex_);
  return waited_seconds_;
}

base::Result<Hello> greet_worker(const WorkerCommand& command, const ConnectionOptions& options, std::stop_token stop) {
  TRY_ASSIGN(const auto process, WorkerProcess::start(command.words, options.withheld));
  return process->greet(options.hello_limit, stop);
}

}  // namespace accelopt::worker
