// SPDX-License-Identifier: Apache-2.0
#include "fakes/socket_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

namespace accelopt::fakes {
namespace {

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::abort();
}

/// Reads until `buffer` holds `enough` bytes or the peer is gone.
bool fill(int descriptor, std::string& buffer, std::size_t enough) {
  while (buffer.size() < enough) {
    char chunk[16384];
    const ssize_t got = ::recv(descriptor, chunk, sizeof chunk, 0);
    if (got <= 0) return false;
    buffer.append(chunk, static_cast<std::size_t>(got));
  }
  return true;
}

std::optional<ReceivedRequest> read_request(int descriptor, std::string& buffer) {
  std::size_t end = std::string::npos;
  while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
    if (!fill(descriptor, buffer, buffer.size() + 1)) return std::nullopt;
  }
  ReceivedRequest request;
  const std::string head = buffer.substr(0, end + 2);
  buffer.erase(0, end + 4);
  const std::string first = head.substr(0, head.find("\r\n"));
  request.method = first.substr(0, first.find(' '));
  const std::size_t target = request.method.size() + 1;
  request.target = first.substr(target, first.rfind(' ') - target);
  for (std::size_t at = first.size() + 2; at < head.size();) {
    const std::size_t line_end = head.find("\r\n", at);
    const std::string line = head.substr(at, line_end - at);
    const std::size_t colon = line.find(':');
    std::string name = line.substr(0, colon);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const std::size_t value = line.find_first_not_of(' ', colon + 1);
    request.headers[name] = value == std::string::npos ? "" : line.substr(value);
    at = line_end + 2;
  }
  if (const auto length = request.headers.find("content-length"); length != request.headers.end()) {
    const std::size_t bytes = std::stoul(length->second);
    if (!fill(descriptor, buffer, bytes)) return std::nullopt;
    request.body = buffer.substr(0, bytes);
    buffer.erase(0, bytes);
  }
  return request;
}

}  // namespace

bool Wire::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void Wire::reset_on_close() const {
  const linger now{.l_onoff = 1, .l_linger = 0};
  if (::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &now, sizeof now) != 0) die("setsockopt");
}

void Wire::wait_for_peer_to_close() const {
  char byte = 0;
  while (::recv(descriptor_, &byte, 1, 0) > 0) {
  }
}

class SocketServer::State {
 public:
  explicit State(Handler handler) : handler_(std::move(handler)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener_ < 0) die("socket");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, generic, size) != 0) die("bind");
    if (::listen(listener_, 128) != 0) die("listen");
    if (::getsockname(listener_, generic, &size) != 0) die("getsockname");
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }

  ~State() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    {
      const std::scoped_lock lock(mutex_);
      for (const int descriptor : open_) ::shutdown(descriptor, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    ::close(listener_);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::vector<ReceivedRequest> requests() const {
    const std::scoped_lock lock(mutex_);
    return requests_;
  }
  [[nodiscard]] std::size_t connections() const {
    const std::scoped_lock lock(mutex_);
    return threads_.size();
  }

 private:
  void accept_all() {
    for (;;) {
      const int descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (descriptor < 0) return;
      const std::scoped_lock lock(mutex_);
      open_.push_back(descriptor);
      threads_.emplace_back([this, descriptor] { serve(descriptor); });
    }
  }

  void serve(int descriptor) {
    std::string buffer;
    while (const auto request = read_request(descriptor, buffer)) {
      {
        const std::scoped_lock lock(mutex_);
        requests_.push_back(*request);
      }
      if (handler_(*request, Wire(descriptor)) == Then::close) break;
    }
    const std::scoped_lock lock(mutex_);
    std::erase(open_, descriptor);
    ::close(descriptor);
  }

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::thread acceptor_;
  mutable std::mutex mutex_;
  std::list<std::thread> threads_;
  std::vector<int> open_;
  std::vector<ReceivedRequest> requests_;
};

SocketServer::SocketServer(Handler handler) : state_(std::make_unique<State>(std::move(handler))) {}
SocketServer::~SocketServer() = default;
int SocketServer::port() const {
  return state_->port();
}
std::string SocketServer::url() const {
  return "http://127.0.0.1:" + std::to_string(port());
}
std::vector<ReceivedRequest> SocketServer::requests() const {
  return state_->requests();
}
std::size_t SocketServer::connections() const {
  return state_->connections();
}

std::string http_answer(int status, std::string_view body, std::string_view content_type,
                        const std::vector<std::string>& more_headers) {
  std::string out = "HTTP/1.1 " + std::to_string(status) + " Whatever\r\nContent-Type: " + std::string(content_type) +
                    "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  for (const std::string& header : more_headers) out += header + "\r\n";
  return out + "\r\n" + std::string(body);
}

Handler answers_in_turn(std::vector<std::string> answers) {
  struct Turn {
    std::mutex mutex;
    std::size_t next = 0;
  };
  return [answers = std::move(answers), turn = std::make_shared<Turn>()](const ReceivedRequest&, const Wire& wire) {
    std::size_t index = 0;
    {
      const std::scoped_lock lock(turn->mutex);
      index = std::min(turn->next++, answers.size() - 1);
    }
    return wire.send(answers[index]) ? Then::keep : Then::close;
  };
}

}  // namespace accelopt::fakes
