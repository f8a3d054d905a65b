// SPDX-License-Identifier: Apache-2.0
#include "mcp/http.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "mcp/calls.hpp"
#include "mcp/http_request.hpp"
#include "mcp/server.hpp"
#include "mcp/stdio.hpp"

namespace accelopt::mcp {
namespace {

using base::ErrorCode;
using base::FileDescriptor;
using base::Json;
using base::Result;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostHeadBytes = std::size_t{32} << 10U;
/// A client that has not sent its request, or does not read the reply, within this time is let go.
constexpr std::chrono::seconds kPatience{20};
/// For the first lines, which fit into one packet: so many clients may wait that those who dawdle must not.
constexpr std::chrono::seconds kPatienceForHead{5};
/// What a client still sends when it was refused is read this long, or it would not hear why.
constexpr std::chrono::seconds kPatienceAtEnd{3};
constexpr int kLookForStop = 200;  ///< milliseconds
constexpr int kNoRoom = 20;        ///< milliseconds

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 431:
      return "Request Header Fields Too Large";
    case 409:
      return "Conflict";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Bad Request";
  }
}

bool is_for_site(const HttpRequest& request, const HttpSite& site) {
  return site.answer && request.path != "/mcp";
}

/// One connection: one request and its reply.
class Exchange {
 public:
  Exchange(FileDescriptor socket, const std::stop_token& stop) : socket_(std::move(socket)), stop_(stop) {}

  /// The request, or what is answered at once; nothing: the client went, or is not worth an answer.
  std::optional<HttpRequest> receive(const HttpAccess& access, const HttpSite& site, ByteBudget& budget) {
    const auto began = Clock::now();
    std::string bytes;
    std::size_t head_ends = std::string::npos;
    while ((head_ends = bytes.find("\r\n\r\n")) == std::string::npos) {
      if (bytes.size() > kMostHeadBytes) {
        refuse_with(431, "the head of a request has at most " + std::to_string(kMostHeadBytes) + " bytes");
        return std::nullopt;
      }
      if (!read_more(bytes, began + kPatienceForHead)) return std::nullopt;
    }
    auto request = read_head(std::string_view(bytes).substr(0, head_ends + 2));
    if (!request) {
      refuse_with(400, "this is no HTTP/1.1 request");
      return std::nullopt;
    }
    const auto refusal = is_for_site(*request, site) ? refuse_to_site(*request, access, site, kMostMessageBytes)
                                                     : refuse(*request, access, kMostMessageBytes);
    if (refusal) {
      refuse_with(refusal->status, refusal->text);
      return std::nullopt;
    }
    const std::string said = request->header("content-length");
    const std::size_t length = said.empty() ? 0 : std::stoul(said);
    held_ = budget.take(length);
    if (held_ == nullptr) {
      refuse_with(503, "requests of " + std::to_string(kMostBytesAtOnce) + " bytes are answered already; try again");
      return std::nullopt;
    }
    request->body = bytes.substr(head_ends + 4);
    if (request->header("expect") == "100-continue") send("HTTP/1.1 100 Continue\r\n\r\n");
    while (request->body.size() < length)
      if (!read_more(request->body, began + kPatience)) return std::nullopt;
    request->body.resize(length);
    return request;
  }

  void send_text(int status, const std::string& text) { send_whole(status, base::canonical(Json{{"error", text}})); }
  void send_whole(int status, const std::string& body) {
    send(head(status, "application/json") + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  void send_reply(const HttpReply& reply) {
    send(head(reply.status, reply.type) + reply.headers + "Content-Length: " + std::to_string(reply.body.size()) +
         "\r\n\r\n" + reply.body);
  }
  /// Answers, and reads on for a while what the client still sends: a connection that is closed before is reset, and
  /// the answer lost.
  void refuse_with(int status, const std::string& text) {
    send_text(status, text);
    ::shutdown(socket_.get(), SHUT_WR);
    std::string unread;
    const auto deadline = Clock::now() + kPatienceAtEnd;
    while (read_more(unread, deadline)) unread.clear();
  }
  /// The same without waiting for anybody.
  void refuse_at_once(int status, const std::string& text) {
    std::array<char, 4096> unread{};
    while (::recv(socket_.get(), unread.data(), unread.size(), MSG_DONTWAIT) > 0) {
    }
    send_text(status, text);
  }
  [[nodiscard]] int socket() const { return socket_.get(); }
  void begin_stream() {
    send(head(200, "text/event-stream") + "Cache-Control: no-cache\r\nX-Accel-Buffering: no\r\n\r\n");
  }
  void send_event(const Json& message) { send("event: message\ndata: " + base::canonical(message) + "\n\n"); }
  [[nodiscard]] bool gone() const { return gone_; }

 private:
  static std::string head(int status, const std::string& type) {
    std::string out = "HTTP/1.1 " + std::to_string(status) + " " + std::string(reason_of(status)) +
                      "\r\nContent-Type: " + type + "\r\nConnection: close\r\n";
    if (status == 405) out += "Allow: POST\r\n";
    if (status == 401) out += "WWW-Authenticate: Bearer\r\n";
    return out;
  }

  bool read_more(std::string& bytes, Clock::time_point deadline) const {
    std::array<char, 65536> some{};
    while (Clock::now() < deadline && !stop_.stop_requested()) {
      pollfd ready{socket_.get(), POLLIN, 0};
      if (::poll(&ready, 1, kLookForStop) <= 0) continue;
      const ssize_t got = ::recv(socket_.get(), some.data(), some.size(), 0);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got <= 0) return false;
      bytes.append(some.data(), static_cast<std::size_t>(got));
      return true;
    }
    return false;
  }

  void send(std::string_view bytes) {
    const auto deadline = Clock::now() + kPatience;
    while (!bytes.empty() && !gone_) {
      const ssize_t put = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (put > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(put));
      } else if (put < 0 && (errno == EAGAIN || errno == EINTR) && Clock::now() < deadline) {
        pollfd ready{socket_.get(), POLLOUT, 0};
        ::poll(&ready, 1, kLookForStop);
      } else {
        gone_ = true;
      }
    }
  }

  FileDescriptor socket_;
  std::stop_token stop_;
  std::shared_ptr<void> held_;  ///< of the budget of bytes
  bool gone_ = false;
};

/// Clients that wait for an answer, so that those who go away are noticed: what was begun for them ends.
class Waiting {
 public:
  /// `gone` is called at most once, while this lives, and never after remove().
  void add(int socket, std::function<void()> gone) {
    const std::scoped_lock lock(mutex_);
    clients_[socket] = std::move(gone);
  }
  void remove(int socket) {
    const std::scoped_lock lock(mutex_);
    clients_.erase(socket);
  }
  /// Returns when the listener can be read, or after a while.
  bool poll(int listener) {
    std::vector<pollfd> all{{listener, POLLIN, 0}};
    {
      const std::scoped_lock lock(mutex_);
      for (const auto& [socket, gone] : clients_)
        if (gone) all.push_back({socket, POLLRDHUP, 0});
    }
    if (::poll(all.data(), all.size(), kLookForStop) <= 0) return false;
    const std::scoped_lock lock(mutex_);
    for (const pollfd& one : all) {
      const auto client = clients_.find(one.fd);
      if (one.fd == listener || client == clients_.end() || !client->second) continue;
      // What is left of a closed connection's number may be another's already, which did not hang up.
      if ((one.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0 && hangs_up(one.fd)) std::exchange(client->second, {})();
    }
    return (all.front().revents & POLLIN) != 0;
  }

 private:
  static bool hangs_up(int socket) {
    pollfd now{socket, POLLRDHUP, 0};
    return ::poll(&now, 1, 0) > 0 && (now.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
  }

  std::mutex mutex_;
  std::map<int, std::function<void()>> clients_;
};

bool wants_progress(const Message& message) {
  const auto meta = message.params.find("_meta");
  return meta != message.params.end() && meta->is_object() && meta->contains("progressToken");
}

/// Carries one message out, and answers it as its era wants.
void answer(const Catalogue& catalogue, const HttpRequest& request, Exchange& exchange, Waiting& waiting,
            const std::stop_token& stop) {
  const auto message = read_message(request.body);
  if (!message)
    return exchange.send_whole(400, base::canonical(error_reply(message.error().id, message.error().error)));
  if (!*message || (*message)->is_notification()) return exchange.send_whole(202, "");
  if (const auto mismatch = header_mismatch(request, **message))
    return exchange.send_whole(400, base::canonical(error_reply((*message)->id, *mismatch)));
  const std::string version = request.header("mcp-protocol-version");
  if (!version.empty() && version != kModernVersion && !speaks(version)) {
    const RpcError error{RpcCode::unsupported_version, "the protocol version of the header is not supported", {}};
    return exchange.send_whole(400, base::canonical(error_reply((*message)->id, error)));
  }
  const bool streams = wants_progress(**message);
  const bool modern = version == kModernVersion;
  if (streams) exchange.begin_stream();
  std::mutex mutex;
  Connection* self = nullptr;
  Connection connection(catalogue, [&](const Json& sent) {
    const std::scoped_lock lock(mutex);
    if (streams)
      exchange.send_event(sent);
    else
      exchange.send_whole(status_of(sent, version), base::canonical(sent));
    if (exchange.gone() && self != nullptr && sent.contains("method")) self->close();  // nobody waits any more
  });
  self = &connection;
  if (!modern && !version.empty()) connection.assume_version(version);
  const std::stop_callback ends(stop, [&connection] { connection.close(); });
  connection.expect(**message);
  waiting.add(exchange.socket(), [&connection] { connection.close(); });
  connection.handle(**message);
  waiting.remove(exchange.socket());
}

Result<FileDescriptor> listen_at(const HttpOptions& options, const in_addr& numbers, int& port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(options.port));
  address.sin_addr = numbers;
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return base::fail_errno(errno, "a socket");
  const int yes = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr generic{};
  static_assert(sizeof generic == sizeof address);
  std::memcpy(&generic, &address, sizeof generic);
  if (::bind(socket.get(), &generic, sizeof generic) != 0 || ::listen(socket.get(), SOMAXCONN) != 0) {
    const std::string where = options.address + ":" + std::to_string(options.port);
    if (errno == EADDRINUSE)
      return base::fail(ErrorCode::unavailable, where + " is in use; give another --port, or 0 for any that is free");
    return base::fail_errno(errno, where);
  }
  socklen_t size = sizeof generic;
  ::getsockname(socket.get(), &generic, &size);
  std::memcpy(&address, &generic, sizeof address);
  port = ntohs(address.sin_port);
  return socket;
}

}  // namespace

Result<void> serve_http(const Catalogue& catalogue, const HttpOptions& options, const std::stop_token& stop) {
  in_addr address{};
  if (options.port < 0 || options.port > 65535 || ::inet_pton(AF_INET, options.address.c_str(), &address) != 1)
    return base::fail(ErrorCode::invalid_argument,
                      options.address + ":" + std::to_string(options.port) +
                          " is no address; give an IPv4 address like 127.0.0.1, and a port");
  const bool loopback = options.address.starts_with("127.");
  if (!loopback && options.token.empty())
    return base::fail(ErrorCode::invalid_argument,
                      options.address +
                          " can be reached from other machines: set ACCELOPT_MCP_TOKEN to a secret, and "
                          "give it to the clients, or listen on 127.0.0.1");
  const HttpAccess access{options.token, loopback ? HttpAccess::Reach::loopback : HttpAccess::Reach::anywhere};
  int port = 0;
  TRY_ASSIGN(const FileDescriptor listener, listen_at(options, address, port));
  if (options.listening) options.listening("http://" + options.address + ":" + std::to_string(port) + "/mcp");
  ByteBudget bytes(kMostBytesAtOnce);
  Waiting waiting;
  Calls calls(kMostCalls);
  while (!stop.stop_requested()) {
    if (!waiting.poll(listener.get())) continue;
    FileDescriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.valid()) {
      // Where it is not that the client has gone meanwhile, no descriptors are left: until one is.
      if (errno != EAGAIN) ::poll(nullptr, 0, kNoRoom);
      continue;
    }
    const auto exchange = std::make_shared<Exchange>(std::move(socket), stop);
    const bool begun = calls.begin([&catalogue, &access, &site = options.site, &bytes, &waiting, exchange, stop] {
      const auto request = exchange->receive(access, site, bytes);
      if (request && is_for_site(*request, site))
        exchange->send_reply(site.answer(*request, stop));
      else if (request)
        answer(catalogue, *request, *exchange, waiting, stop);
    });
    if (!begun) exchange->refuse_at_once(503, std::to_string(kMostCalls) + " requests are answered already; try again");
  }
  return {};
}

}  // namespace accelopt::mcp
