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
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

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
constexpr int kLookForStop = 200;  ///< milliseconds

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
    case 503:
      return "Service Unavailable";
    default:
      return "Bad Request";
  }
}

/// One connection: one request and its reply.
class Exchange {
 public:
  Exchange(FileDescriptor socket, const std::stop_token& stop) : socket_(std::move(socket)), stop_(stop) {}

  /// The request, or what is answered at once; nothing: the client went, or is not worth an answer.
  std::optional<HttpRequest> receive(const HttpAccess& access) {
    const auto deadline = Clock::now() + kPatience;
    std::string bytes;
    std::size_t head_ends = std::string::npos;
    while ((head_ends = bytes.find("\r\n\r\n")) == std::string::npos) {
      if (bytes.size() > kMostHeadBytes || !read_more(bytes, deadline)) return std::nullopt;
    }
    auto request = read_head(std::string_view(bytes).substr(0, head_ends + 2));
    if (!request) {
      send_text(400, "this is no HTTP/1.1 request");
      return std::nullopt;
    }
    if (const auto refusal = refuse(*request, access, kMostMessageBytes)) {
      send_text(refusal->status, refusal->text);
      return std::nullopt;
    }
    const std::size_t length = std::stoul(request->header("content-length"));
    request->body = bytes.substr(head_ends + 4);
    if (request->header("expect") == "100-continue") send("HTTP/1.1 100 Continue\r\n\r\n");
    while (request->body.size() < length)
      if (!read_more(request->body, deadline)) return std::nullopt;
    request->body.resize(length);
    return request;
  }

  void send_text(int status, const std::string& text) { send_whole(status, base::canonical(Json{{"error", text}})); }
  void send_whole(int status, const std::string& body) {
    send(head(status, "application/json") + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
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
  bool gone_ = false;
};

bool wants_progress(const Message& message) {
  const auto meta = message.params.find("_meta");
  return meta != message.params.end() && meta->is_object() && meta->contains("progressToken");
}

/// Carries one message out, and answers it as its era wants.
void answer(const Catalogue& catalogue, const HttpRequest& request, Exchange& exchange, const std::stop_token& stop) {
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
  connection.handle(**message);
}

Result<FileDescriptor> listen_at(const HttpOptions& options, int& port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(options.port));
  if (options.port < 0 || options.port > 65535 || ::inet_pton(AF_INET, options.address.c_str(), &address.sin_addr) != 1)
    return base::fail(ErrorCode::invalid_argument, options.address + ":" + std::to_string(options.port) +
                                                       " is no address; give one like 127.0.0.1, and a port");
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
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
  const bool loopback = options.address.starts_with("127.");
  if (!loopback && options.token.empty())
    return base::fail(ErrorCode::invalid_argument,
                      options.address +
                          " can be reached from other machines: set ACCELOPT_MCP_TOKEN to a secret, and "
                          "give it to the clients, or listen on 127.0.0.1");
  const HttpAccess access{options.token, loopback ? HttpAccess::Reach::loopback : HttpAccess::Reach::anywhere};
  int port = 0;
  TRY_ASSIGN(const FileDescriptor listener, listen_at(options, port));
  if (options.listening) options.listening("http://" + options.address + ":" + std::to_string(port) + "/mcp");
  Calls calls(kMostCalls);
  while (!stop.stop_requested()) {
    pollfd ready{listener.get(), POLLIN, 0};
    if (::poll(&ready, 1, kLookForStop) <= 0) continue;
    FileDescriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.valid()) continue;
    const auto exchange = std::make_shared<Exchange>(std::move(socket), stop);
    const bool begun = calls.begin([&catalogue, &access, exchange, stop] {
      if (const auto request = exchange->receive(access)) answer(catalogue, *request, *exchange, stop);
    });
    if (!begun) exchange->send_text(503, std::to_string(kMostCalls) + " requests are answered already; try again");
  }
  return {};
}

}  // namespace accelopt::mcp
