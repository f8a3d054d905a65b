// SPDX-License-Identifier: Apache-2.0
// SurrealDB's protocol: sign-in and queries over HTTP. Queries travel as CBOR, because the server's JSON reader takes a
// text such as "task:matmul" for a link to a record.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "http/client.hpp"
#include "memory/surreal/address.hpp"

namespace accelopt::memory::surreal {

struct Options {
  http::Limits limits{.connect = std::chrono::milliseconds{5'000},
                      .stall = std::chrono::milliseconds{30'000},
                      .total = std::chrono::milliseconds{120'000},
                      .body_bytes = std::size_t{64} << 20U};
  /// Of the first request to a server, which any answers at once unless it hangs.
  http::Limits greeting{.connect = std::chrono::milliseconds{5'000},
                        .stall = std::chrono::milliseconds{5'000},
                        .total = std::chrono::milliseconds{10'000}};
  /// How long a transaction is tried again that others get in the way of: each time somebody else got through.
  std::chrono::milliseconds patience{180'000};
  /// How far back changes are read again, of the server's clock: a transaction's changes carry the time of its
  /// statements and are seen when it ends.
  std::chrono::microseconds overlap{3'000'000};
  std::size_t worth_a_digest = 2'000;  ///< entries read one by one in a first reading
  std::string ca_file{};               ///< certificates to trust in place of the machine's; empty: the machine's
};

/// A connection to one database. Not for several threads at once.
class Client {
 public:
  Client(Address address, std::string password, Options options)
      : address_(std::move(address)), password_(std::move(password)), options_(std::move(options)) {}

  /// Looks at the server's version and signs in.
  /// @error unavailable, timed_out; unsupported: not SurrealDB, or older than 3; unauthenticated; permission_denied.
  base::Result<void> connect();

  /// Runs the statements with these variables and gives what each one gave, null where nothing. A transaction that met
  /// another one is tried again, so statements must be fit to be run twice. Signs in again when the sign-in is too old.
  /// @error unavailable: no server, no such namespace or database any more, or others in the way for too long;
  /// not_found: no such namespace, database or table; unauthenticated, permission_denied, timed_out, exhausted;
  /// unsupported: the server does not speak as expected; internal: a statement was refused.
  base::Result<std::vector<base::Json>> ask(std::string_view statements, const base::Json& variables);

  /// As ask(), without trying again; none: another transaction was in the way.
  base::Result<std::optional<std::vector<base::Json>>> try_ask(std::string_view statements,
                                                               const base::Json& variables);
  /// Calls `attempt` until it gives true, with growing waits between, as long as the options' patience lasts.
  /// @error unavailable: it lasted not long enough; what `attempt` gives.
  base::Result<void> until_through(const std::function<base::Result<bool>()>& attempt);

  /// From now on a missing namespace or database is a server that lost it: unavailable.
  void settle() { settled_ = true; }
  [[nodiscard]] const Address& address() const { return address_; }
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  enum class Attempt { done, conflict, signed_out };

  base::Result<void> check_version();
  base::Result<void> sign_in();
  base::Result<std::optional<std::vector<base::Json>>> try_body(const std::string& body);
  base::Result<Attempt> ask_once(const std::string& body, std::vector<base::Json>& results);
  base::Result<http::Response> send(http::Method method, std::string_view path, std::string_view type, std::string body,
                                    const http::Limits& limits);
  base::Error refused(const http::Response& response) const;
  base::Error statement_error(const base::Json& failure) const;
  [[nodiscard]] std::string sanitized(std::string_view words) const;
  [[nodiscard]] base::Error error(base::ErrorCode code, std::string words) const;

  Address address_;
  std::string password_;  ///< in no message
  Options options_;
  std::string token_;  ///< likewise
  http::Client http_;
  bool settled_ = false;
};

}  // namespace accelopt::memory::surreal
