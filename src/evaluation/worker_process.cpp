// SPDX-License-Identifier: Apache-2.0
#include "evaluation/worker_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "evaluation/protocol.hpp"

extern char** environ;

namespace accelopt::evaluation {
namespace {

using base::ErrorCode;
using base::Json;

constexpr std::chrono::seconds kCancelPatience{20};  ///< for the answer to a cancelled request
constexpr std::chrono::milliseconds kEndPatience{3000};

std::string described(int status) {
  if (WIFSIGNALED(status)) return "the worker was ended by signal " + std::to_string(WTERMSIG(status));
  return "the worker ended with exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

base::Result<std::shared_ptr<WorkerProcess>> WorkerProcess::start(const std::vector<std::string>& command) {
  if (command.empty()) return base::fail(ErrorCode::invalid_argument, "no command to start a worker with");
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return base::fail_errno(errno, "a worker's channel");
  base::FileDescriptor ours(ends[0]);
  const base::FileDescriptor theirs(ends[1]);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), 0);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A group of its own: Ctrl-C is the coordinator's to answer.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  std::vector<std::string> texts = command;
  std::vector<char*> arguments;
  arguments.reserve(texts.size() + 1);
  for (std::string& text : texts) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int failure = posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) return base::fail_errno(failure, "starting the worker " + command[0]);
  return std::shared_ptr<WorkerProcess>(new WorkerProcess(pid, std::move(ours)));
}

WorkerProcess::WorkerProcess(pid_t pid, base::FileDescriptor socket) : pid_(pid), socket_(std::move(socket)) {
  reader_ = std::thread([this] { read_answers(); });
}

WorkerProcess::~WorkerProcess() {
  shutdown(socket_.get(), SHUT_WR);
  {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kEndPatience, [this] { return dead_; })) kill(pid_, SIGKILL);
  }
  reader_.join();
}

bool WorkerProcess::alive() const {
  const std::lock_guard lock(mutex_);
  return !dead_;
}

void WorkerProcess::kill_now() {
  if (!dead_) kill(pid_, SIGKILL);
}

void WorkerProcess::read_answers() {
  LineReader reader(socket_.get());
  while (const auto line = reader.next()) {
    if (const auto message = base::parse_json(*line, "worker"); message && message->is_object()) take(*message);
  }
  kill(pid_, SIGKILL);  // its channel is gone: whatever is left of it is of no use
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  const std::lock_guard lock(mutex_);
  dead_ = true;
  reason_ = described(status);
  changed_.notify_all();
}

void WorkerProcess::take(const Json& message) {
  const auto id = base::decode<std::int64_t>(message.value("id", Json()), "id");
  const std::lock_guard lock(mutex_);
  const auto found = id ? pending_.find(*id) : pending_.end();
  if (found == pending_.end()) return;
  if (message.contains("event")) {
    found->second->started = true;
  } else if (message.contains("result")) {
    found->second->result.emplace(message["result"]);
  } else {
    found->second->result.emplace(tl::make_unexpected(error_from_json(message.value("error", Json()))));
  }
  changed_.notify_all();
}

Answer WorkerProcess::ask(Json request, std::chrono::seconds limit, const std::stop_token& stop) {
  auto pending = std::make_shared<Pending>();
  std::int64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = ++last_id_;
    pending_[id] = pending;
  }
  request["id"] = id;
  {
    const std::lock_guard lock(output_mutex_);
    write_line(socket_.get(), request);  // a failure shows as the end of its answers
  }
  std::unique_lock lock(mutex_);
  const auto settled = [&] { return pending->result.has_value() || dead_; };
  // Returns early when a stop is asked for.
  const auto began = std::chrono::steady_clock::now();
  changed_.wait_until(lock, stop, began + limit, settled);
  if (!settled() && stop.stop_requested()) {
    lock.unlock();
    {
      const std::lock_guard output(output_mutex_);
      write_line(socket_.get(), {{"op", "cancel"}, {"id", id}});
    }
    lock.lock();
    changed_.wait_for(lock, kCancelPatience, settled);
    if (!settled()) {
      pending_.erase(id);
      return {Answer::End::cancelled, Json(), pending->started, {}};
    }
  } else if (!settled()) {
    kill_now();
    changed_.wait(lock, [this] { return dead_; });
  }
  pending_.erase(id);
  if (pending->result) return {Answer::End::answered, std::move(*pending->result), pending->started, {}};
  return {Answer::End::died, Json(), pending->started, reason_};
}

}  // namespace accelopt::evaluation
