// SPDX-License-Identifier: Apache-2.0
#include "worker/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>

extern char** environ;

namespace accelopt::worker {
namespace {

using base::ErrorCode;
using base::Json;

constexpr std::chrono::seconds kCancelPatience{20};            ///< for the answer to a cancelled request
constexpr std::chrono::milliseconds kEndPatience{3000};        ///< for the end after its input ended
constexpr std::chrono::milliseconds kTerminatePatience{2000};  ///< for the end after SIGTERM
constexpr int kLastWordsMs = 200;                         ///< for what is still under way when the process has ended
constexpr std::size_t kMostNoise = std::size_t{1} << 20;  ///< bytes before the hello: no banner is so long
constexpr std::size_t kLongestLine = std::size_t{256} << 20;
constexpr std::size_t kKeptWords = 600;  ///< bytes of what it said, for error texts

// Of a shell and of ssh, which pass on what became of the program at the other end.
constexpr int kCannotRun = 126;
constexpr int kNoSuchProgram = 127;
constexpr int kNoConnection = 255;

std::string described(int status) {
  if (WIFSIGNALED(status)) return "the worker was ended by signal " + std::to_string(WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  std::string text = "the worker ended with exit code " + std::to_string(code);
  if (code == kNoConnection) text += " (of ssh: no connection, or it was lost)";
  return text;
}

/// "30 minutes", "45 s".
std::string duration_text(std::chrono::seconds time) {
  constexpr int kMinute = 60;
  const auto count = time.count();
  return count >= kMinute && count % kMinute == 0 ? std::to_string(count / kMinute) + " minutes"
                                                  : std::to_string(count) + " s";
}

/// The environment without what a worker must not have.
std::vector<std::string> clean_environment(const std::vector<std::string>& withheld) {
  std::vector<std::string> kept;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    const std::string_view name = variable.substr(0, variable.find('='));
    const bool named = std::find(withheld.begin(), withheld.end(), name) != withheld.end();
    if (!named && !is_secret_name(name)) kept.emplace_back(variable);
  }
  return kept;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

void keep_end(std::string& text, std::string_view more) {
  text.append(more.substr(more.size() - std::min(more.size(), kKeptWords)));
  if (text.size() > kKeptWords) text.erase(0, text.size() - kKeptWords);
}

/// Fit for one line of an error's text.
std::string on_one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
    if (plain)
      out += c;
    else if (c == '\n' && !out.empty())
      out += " | ";
  }
  while (out.ends_with(" | ") || out.ends_with(" ")) out.resize(out.size() - (out.ends_with(" | ") ? 3 : 1));
  return out;
}

}  // namespace

bool is_secret_name(std::string_view name) {
  std::string upper;
  for (const char c : name) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (const std::string_view word : {"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "APIKEY", "KEYS",
                                      "TOKENS", "SECRETS", "CREDENTIALS"}) {
    for (auto at = upper.find(word); at != std::string::npos; at = upper.find(word, at + 1)) {
      const bool begins = at == 0 || upper[at - 1] == '_';
      const bool ends = at + word.size() == upper.size() || upper[at + word.size()] == '_';
      if (begins && ends) return true;
    }
  }
  return false;
}

base::Result<std::shared_ptr<WorkerProcess>> WorkerProcess::start(const std::vector<std::string>& command,
                                                                  const std::vector<std::string>& withheld,
                                                                  std::chrono::seconds send_limit, Now now) {
  if (command.empty()) return base::fail(ErrorCode::invalid_argument, "no command to start a worker with");
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return base::fail_errno(errno, "a worker's channel");
  base::FileDescriptor ours(ends[0]);
  const timeval patience{static_cast<time_t>(send_limit.count()), 0};
  if (setsockopt(ours.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0)
    return base::fail_errno(errno, "a worker's channel");
  const base::FileDescriptor theirs(ends[1]);
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return base::fail_errno(errno, "a worker's channel");
  base::FileDescriptor errors(pipe_ends[0]);
  const base::FileDescriptor their_errors(pipe_ends[1]);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), 0);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, their_errors.get(), 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A group of its own: Ctrl-C is the coordinator's to answer.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  std::vector<std::string> words = command;
  std::vector<std::string> variables = clean_environment(withheld);
  pid_t pid = -1;
  const int failure =
      posix_spawnp(&pid, words[0].c_str(), &actions, &attributes, pointers(words).data(), pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) return base::fail_errno(failure, "starting the worker " + command[0]);
  return std::shared_ptr<WorkerProcess>(new WorkerProcess(pid, std::move(ours), std::move(errors), std::move(now)));
}

WorkerProcess::WorkerProcess(pid_t pid, base::FileDescriptor socket, base::FileDescriptor errors, Now now)
    : pid_(pid), socket_(std::move(socket)), errors_(std::move(errors)), now_(std::move(now)) {
  reader_ = std::thread([this] { listen(); });
  writer_ = std::thread([this] { write(); });
}

WorkerProcess::~WorkerProcess() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  to_write_.notify_one();
  shutdown(socket_.get(), SHUT_WR);
  {
    std::unique_lock lock(mutex_);
    const auto ended = [this] { return dead_; };
    if (!changed_.wait_for(lock, kEndPatience, ended)) {
      // A launcher that waits in a scheduler's queue does not read its input: this has it take its job out of the
      // queue.
      signal_all(SIGTERM);
      if (!changed_.wait_for(lock, kTerminatePatience, ended)) kill_now();
    }
  }
  reader_.join();
  writer_.join();
}

std::string WorkerProcess::end() const {
  const std::lock_guard lock(mutex_);
  return dead_ ? way_of_its_end() + last_words() : "";
}

std::string WorkerProcess::way_of_its_end() const {
  if (silent_) return "the worker gave no answer for " + duration_text(*silent_) + " and was ended";
  return described(status_);
}

bool WorkerProcess::was_silent() const {
  const std::lock_guard lock(mutex_);
  return silent_.has_value();
}

bool WorkerProcess::alive() const {
  const std::lock_guard lock(mutex_);
  return !dead_;
}

void WorkerProcess::signal_all(int signal) {
  if (dead_) return;
  kill(-pid_, signal);  // with all that it started: a wrapper's child would hold the channel open
  kill(pid_, signal);
}

void WorkerProcess::kill_now() {
  signal_all(SIGKILL);
}

void WorkerProcess::send(Json line) {
  outgoing_.push_back(std::move(line));
  to_write_.notify_one();
}

void WorkerProcess::write() {
  std::unique_lock lock(mutex_);
  while (true) {
    to_write_.wait(lock, [this] { return closing_ || !outgoing_.empty(); });
    if (closing_) return;
    const Json line = std::move(outgoing_.front());
    outgoing_.pop_front();
    lock.unlock();
    const bool sent = write_line(socket_.get(), line);
    lock.lock();
    if (sent || closing_) continue;
    kill_now();  // half a request may be under way, and nobody takes the rest
    return;
  }
}

/// Until the worker has ended or closed its channel: a program that it left behind may hold the channel for ever.
void WorkerProcess::listen() {
  const base::FileDescriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  LineBuffer lines;
  bool errors_open = true;
  while (true) {
    std::array<pollfd, 3> watched{
        {{socket_.get(), POLLIN, 0}, {errors_open ? errors_.get() : -1, POLLIN, 0}, {process.get(), POLLIN, 0}}};
    if (poll(watched.data(), watched.size(), -1) < 0) {
      if (errno == EINTR) continue;
      break;
    }
    const bool ended = watched[2].revents != 0;
    if (watched[1].revents != 0) errors_open = read_errors();
    if (watched[0].revents != 0 && !read_answers(lines)) break;
    if (!ended) continue;
    std::array<pollfd, 2> rest{{{socket_.get(), POLLIN, 0}, {errors_open ? errors_.get() : -1, POLLIN, 0}}};
    if (poll(rest.data(), rest.size(), kLastWordsMs) <= 0) break;
  }
  reap();
}

/// False at the end of the channel.
bool WorkerProcess::read_answers(LineBuffer& lines) {
  std::array<char, 65536> chunk;
  const ssize_t got = read(socket_.get(), chunk.data(), chunk.size());
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) {
    const std::lock_guard lock(mutex_);
    if (!hello_) keep_end(noise_, lines.rest());
    return false;
  }
  lines.add({chunk.data(), static_cast<std::size_t>(got)});
  while (const auto line = lines.next()) take_line(*line);
  const std::lock_guard lock(mutex_);
  if (!hello_ && noise_bytes_ + lines.rest().size() > kMostNoise) {
    noise_bytes_ += lines.rest().size();
    keep_end(noise_, lines.rest());
    changed_.notify_all();
    return false;
  }
  return lines.rest().size() <= kLongestLine;
}

bool WorkerProcess::read_errors() {
  std::array<char, 4096> chunk;
  const ssize_t got = read(errors_.get(), chunk.data(), chunk.size());
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) return false;
  const std::string_view text(chunk.data(), static_cast<std::size_t>(got));
  std::ignore = ::write(STDERR_FILENO, text.data(), text.size());  // where it would have gone without us
  const std::lock_guard lock(mutex_);
  keep_end(complaint_, text);
  return true;
}

void WorkerProcess::reap() {
  if (errors_.valid()) {
    pollfd left{errors_.get(), POLLIN, 0};
    while (poll(&left, 1, 0) > 0 && read_errors()) {
    }
  }
  {
    const std::lock_guard lock(mutex_);
    kill_now();  // its channel is gone: whatever is left of it is of no use
  }
  siginfo_t end{};
  while (waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  // Its pid is its own until here: nobody who finds it not dead signals a later process.
  const std::lock_guard lock(mutex_);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  dead_ = true;
  status_ = status;
  changed_.notify_all();
}

void WorkerProcess::take_line(const std::string& line) {
  {
    const std::lock_guard lock(mutex_);
    heard_ = now_();
    changed_.notify_all();
    if (!hello_) {
      hello_ = find_hello(line);
      if (!hello_) {
        noise_bytes_ += line.size() + 1;
        keep_end(noise_, line + "\n");
      }
      return;
    }
  }
  if (const auto message = base::parse_json(line, "worker"); message && message->is_object()) take(*message);
}

void WorkerProcess::take(const Json& message) {
  if (message.value("event", Json()) == "waiting") return take_wait(message);
  if (message.value("event", Json()) == "progress") return take_progress(message);
  const auto id = base::decode<std::int64_t>(message.value("id", Json()), "id");
  const std::lock_guard lock(mutex_);
  const auto found = id ? pending_.find(*id) : pending_.end();
  if (found == pending_.end()) return;
  const auto waited = base::decode<double>(message.value("waited_seconds", Json(0.0)), "waited_seconds");
  found->second->waited_seconds = std::max(waited.value_or(0), 0.0);
  if (message.contains("event")) {
    found->second->started = true;
  } else if (message.contains("result")) {
    found->second->result.emplace(message["result"]);
  } else if (message.contains("op")) {
    found->second->result.emplace(
        base::fail(ErrorCode::unsupported,
                   "its command echoes its input (a pty?); start `accelopt worker` without a terminal in between, as "
                   "ssh -T does"));
  } else {
    found->second->result.emplace(tl::make_unexpected(error_from_json(message.value("error", Json()))));
  }
  changed_.notify_all();
}

void WorkerProcess::take_wait(const Json& message) {
  const auto wait = base::decode<model::DeviceWait>(message.value("wait", Json()), "a wait");
  if (wait && told_) told_(*wait);
}

void WorkerProcess::take_progress(const Json& message) {
  const auto share = base::decode<model::StepShare>(message.value("share", Json()), "a share");
  if (share && progressed_) progressed_(*share);
}

std::string WorkerProcess::last_words() const {
  std::string words = on_one_line(complaint_);
  if (const std::string noise = on_one_line(noise_); !noise.empty()) words += (words.empty() ? "" : " | ") + noise;
  return words.empty() ? "" : "; it said: " + words;
}

base::Result<Hello> WorkerProcess::greet(std::chrono::milliseconds limit, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto settled = [this] { return hello_.has_value() || dead_ || noise_bytes_ > kMostNoise; };
  const bool in_time = changed_.wait_until(lock, stop, std::chrono::steady_clock::now() + limit, settled);
  if (noise_bytes_ > kMostNoise) {
    return base::fail(
        ErrorCode::unsupported,
        "it speaks, but not as a worker does" + last_words() +
            "; its command must run `accelopt worker`, whose standard input and output nothing else uses");
  }
  if (hello_) {
    if (hello_->protocol == kProtocolVersion) return *hello_;
    return base::fail(ErrorCode::unsupported,
                      "it is accelopt " + hello_->version + " and speaks version " + std::to_string(hello_->protocol) +
                          " of the worker protocol; this one speaks version " + std::to_string(kProtocolVersion) +
                          ": install the same accelopt at both ends");
  }
  if (dead_) {
    const int code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 0;
    if (code == kNoSuchProgram || code == kCannotRun) {
      return base::fail(
          ErrorCode::not_found,
          described(status_) + ": no such program there" + last_words() +
              "; give accelopt's whole path in the command, or put it on the PATH of a login without a terminal");
    }
    return base::fail(ErrorCode::unavailable, described(status_) + " before it said hello" + last_words());
  }
  if (!in_time && !stop.stop_requested()) {
    return base::fail(ErrorCode::timed_out,
                      "it did not say hello within " + std::to_string(limit.count() / 1000) + " s" + last_words() +
                          "; does its command wait for a password, or run something else than `accelopt worker`?");
  }
  return base::fail(ErrorCode::cancelled, "stopped as asked");
}

Answer WorkerProcess::ask(Json request, std::chrono::seconds limit, const std::stop_token& stop,
                          const std::stop_token& stop_waiting) {
  auto pending = std::make_shared<Pending>();
  std::int64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = ++last_id_;
    pending_[id] = pending;
    request["id"] = id;
    send(std::move(request));
  }
  const std::stop_callback on_stop_waiting(stop_waiting, [this, id] {
    const std::lock_guard lock(mutex_);
    send({{"op", kStopWaiting}, {"id", id}});
  });
  std::unique_lock lock(mutex_);
  const auto settled = [&] { return pending->result.has_value() || dead_; };
  const auto began = now_();
  while (!settled() && !stop.stop_requested()) {
    const auto heard = heard_;
    const auto left = std::max(began, heard) + limit - now_();
    if (left <= left.zero()) break;
    changed_.wait_for(lock, stop, left, [&] { return settled() || heard_ != heard; });
  }
  if (!settled() && stop.stop_requested()) {
    send({{"op", kCancel}, {"id", id}});
    changed_.wait_for(lock, kCancelPatience, settled);
    if (!settled()) {
      pending_.erase(id);
      return {Answer::End::cancelled, Json(), pending->started, 0, {}, {}};
    }
  } else if (!settled()) {
    silent_ = limit;
    kill_now();
    changed_.wait(lock, [this] { return dead_; });
  }
  pending_.erase(id);
  if (pending->result)
    return {Answer::End::answered, std::move(*pending->result), pending->started, pending->waited_seconds, {}, {}};
  return {Answer::End::died, Json(), pending->started, 0, way_of_its_end(), last_words()};
}

}  // namespace accelopt::worker
