// SPDX-License-Identifier: Apache-2.0
// The one HTTP client of the program: language models and remote stores speak through it.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace accelopt::http {

struct Header {
  std::string name;
  std::string value;  ///< may be a secret: it never appears in an error
};

/// When to give up.
struct Limits {
  std::chrono::milliseconds connect{15'000};        ///< until the connection (and TLS) stands
  std::chrono::milliseconds stall{120'000};         ///< without a byte in either direction
  std::chrono::milliseconds total{600'000};         ///< the whole exchange
  std::size_t body_bytes = std::size_t{32} << 20U;  ///< of the answer
};

enum class Method { get, post };

/// Whether an open connection from an earlier request may serve. Where the server has closed such a one in the
/// meantime, libcurl sends the request a second time by itself; a request that costs money asks for a fresh one, and is
/// sent once.
enum class Connection { kept, fresh };

struct Request {
  Method method = Method::get;
  std::string url{};  ///< http or https, without a user name or password
  std::vector<Header> headers{};
  std::string body{};  ///< of a post
  Limits limits{};
  Connection connection = Connection::kept;
  std::string ca_file{};               ///< certificates to trust in place of the machine's; empty: the machine's
  std::vector<std::string> secrets{};  ///< that an error holds no part of, where a server repeats one
};

/// Status line and headers of an answer.
struct Head {
  int status = 0;
  std::vector<Header> headers;  ///< names in lower case
};

/// The first header of that name (lower case), or none.
std::optional<std::string_view> find_header(const Head& head, std::string_view name);

struct Response {
  Head head;
  std::string body;  ///< empty when a receiver took it
};

/// What a receiver wants next.
enum class Flow { more, enough };

/// Takes the answer's body piece by piece as it arrives, whatever the status (redirects aside). `enough` ends the
/// exchange without an error.
using Receiver = std::function<Flow(const Head&, std::string_view)>;

/// Sends requests over libcurl, keeping connections for reuse. May be used by many threads at once. Certificates are
/// always checked; proxies are taken from the environment (http_proxy, https_proxy, no_proxy) and never used for this
/// machine itself.
class Client {
 public:
  Client();
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  Client(Client&&) = delete;
  Client& operator=(Client&&) = delete;

  /// Blocks until the answer is complete; any status is an answer, except redirects: they are never followed, so that
  /// no key goes where the user did not send it. A stop ends it at once.
  /// @error invalid_argument: the address or a header cannot be sent, or the proxy's address cannot be read;
  /// unavailable: no connection, or it broke;
  ///        timed_out: a stall or the total limit; cancelled: `stop` was asked for; exhausted: the answer is larger
  ///        than its limit; permission_denied: a redirect, or a certificate that cannot be trusted; internal: libcurl
  ///        failed.
  base::Result<Response> send(const Request& request, std::stop_token stop, const Receiver& receiver = {});

 private:
  class Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace accelopt::http
