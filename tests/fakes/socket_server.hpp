// SPDX-License-Identifier: Apache-2.0
// A small HTTP/1.1 server inside a test, on a free port of this machine: each request goes to a handler that may answer
// with any bytes, break the connection, or stay silent.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace accelopt::fakes {

struct ReceivedRequest {
  std::string method;
  std::string target;                          ///< path and query
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
};

/// The handler's end of one connection.
class Wire {
 public:
  explicit Wire(int descriptor) : descriptor_(descriptor) {}
  /// Sends all bytes; false when the peer is gone.
  bool send(std::string_view bytes) const;
  /// Makes the connection break with a reset when the handler returns `Then::close`.
  void reset_on_close() const;
  /// Blocks until the peer closes or the server is destroyed.
  void wait_for_peer_to_close() const;

 private:
  int descriptor_;
};

/// What becomes of the connection when a handler is done.
enum class Then { keep, close };

using Handler = std::function<Then(const ReceivedRequest&, const Wire&)>;

class SocketServer {
 public:
  /// Serves until destruction. The handler is called from one thread a connection, several at once.
  explicit SocketServer(Handler handler);
  ~SocketServer();
  SocketServer(const SocketServer&) = delete;
  SocketServer& operator=(const SocketServer&) = delete;
  SocketServer(SocketServer&&) = delete;
  SocketServer& operator=(SocketServer&&) = delete;

  [[nodiscard]] int port() const;
  /// "http://127.0.0.1:PORT".
  [[nodiscard]] std::string url() const;
  /// Every request so far, in order of arrival.
  [[nodiscard]] std::vector<ReceivedRequest> requests() const;
  /// Connections accepted so far.
  [[nodiscard]] std::size_t connections() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// A complete HTTP/1.1 answer with a content length.
std::string http_answer(int status, std::string_view body, std::string_view content_type = "application/json",
                        const std::vector<std::string>& more_headers = {});

/// A handler that sends these complete answers one after the other, the last one again and again.
Handler answers_in_turn(std::vector<std::string> answers);

}  // namespace accelopt::fakes
