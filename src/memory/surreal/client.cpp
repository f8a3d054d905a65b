// SPDX-License-Identifier: Apache-2.0
#include "memory/surreal/client.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <thread>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "http/url.hpp"

namespace accelopt::memory::surreal {
namespace {

using base::Error;
using base::ErrorCode;
using base::Json;
using base::Result;
using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kCbor = "application/cbor";
/// The first server whose functions the statements use (type::record, record::id of ranges).
constexpr int kOldestMajor = 3;
/// Longest quotation of a server's words in a message, bytes.
constexpr std::size_t kLongestQuotation = 300;
/// Longest waits between two tries of one transaction: at first, and ever.
constexpr milliseconds kFirstWait{4};
constexpr milliseconds kLongestWait{250};

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The innermost kind of an error's details: {"kind": "Auth", "details": {"kind": "InvalidAuth"}}.
std::pair<std::string, std::string> kinds_of(const Json& failure) {
  const auto outer = failure.find("details");
  if (outer == failure.end() || !outer->is_object()) return {};
  const auto inner = outer->find("details");
  return {base::text_at(*outer, "kind"),
          inner != outer->end() && inner->is_object() ? base::text_at(*inner, "kind") : ""};
}

/// What one statement says of itself when it failed: {"status": "ERR", "result": words, "kind": ..., "details": ...}.
std::string words_of_failure(const Json& failure) {
  const std::string words = base::text_at(failure, "result");
  return words.empty() ? base::text_at(failure, "message") : words;
}

bool is_conflict(const Json& failure) {
  const std::string words = words_of_failure(failure);
  return kinds_of(failure).first == "TransactionConflict" || holds(words, "can be retried") ||
         holds(words, "Transaction conflict");
}

/// Whether a statement only failed because another one of its transaction did.
bool is_follower(const Json& failure) {
  const std::string kind = kinds_of(failure).first;
  return kind == "NotExecuted" || kind == "Cancelled" || holds(words_of_failure(failure), "The query was not executed");
}

std::string body_of(std::string_view statements, const Json& variables) {
  const Json request = {{"id", 1}, {"method", "query"}, {"params", Json::array({std::string(statements), variables})}};
  const std::vector<std::uint8_t> bytes = Json::to_cbor(request);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::string Client::sanitized(std::string_view words) const {
  const std::string shown = base::without_secret(base::without_secret(words, password_), token_);
  return base::ascii_line(shown, kLongestQuotation, ' ');
}

Error Client::error(ErrorCode code, std::string words) const {
  return {code, address_.name + ": " + std::move(words)};
}

Result<http::Response> Client::send(http::Method method, std::string_view path, std::string_view type, std::string body,
                                    const http::Limits& limits) {
  http::Request request{.method = method,
                        .url = address_.url + std::string(path),
                        .headers = {{"surreal-ns", address_.name_space}, {"surreal-db", address_.database}},
                        .body = std::move(body),
                        .limits = limits,
                        .ca_file = options_.ca_file,
                        .secrets = {password_, token_}};
  if (!type.empty()) {
    request.headers.push_back({"content-type", std::string(type)});
    request.headers.push_back({"accept", std::string(type)});
  }
  if (!token_.empty()) request.headers.push_back({"authorization", "Bearer " + token_});
  auto response = http_.send(request, {});
  if (!response && response.error().code == ErrorCode::timed_out) {
    const std::string what = response.error().message.substr(0, response.error().message.find(';'));
    return tl::make_unexpected(
        error(ErrorCode::timed_out, what + "; it may hang or be overloaded: look at the server, or try again later"));
  }
  if (!response) return tl::make_unexpected(error(response.error().code, response.error().message));
  return response;
}

/// For an answer whose status says that the request as a whole was not done.
Error Client::refused(const http::Response& response) const {
  const int status = response.head.status;
  const std::string words = sanitized(response.body);
  switch (status) {
    case 401:
      return error(ErrorCode::unauthenticated,
                   address_.user.empty()
                       ? "the server wants a user; write the address as surreal://user@host:8000/namespace/database"
                       : "the server refuses the user " + address_.user +
                             " with this password; check both, and the environment variable ACCELOPT_SURREAL_PASSWORD");
    case 403:
      return error(ErrorCode::permission_denied,
                   "the server forbids the request; let its user query this database (" + words + ")");
    case 404:
      return error(ErrorCode::unsupported, "what answers there is no SurrealDB server; check host and port");
    case 413:
      return error(ErrorCode::exhausted,
                   "the server refuses a request of this size; raise its SURREAL_HTTP_MAX_RPC_BODY_SIZE");
    case 415:
      return error(ErrorCode::unsupported, "the server does not speak CBOR; SurrealDB 3 or later is needed");
    default:
      break;
  }
  const std::string quoted = words.empty() ? "" : " (" + words + ")";
  if (status == 429 || status >= 500) {
    return error(ErrorCode::unavailable,
                 "the server cannot answer now, status " + std::to_string(status) + quoted + "; try again later");
  }
  return error(ErrorCode::unsupported, "an unexpected answer, status " + std::to_string(status) + quoted +
                                           "; check that a SurrealDB server answers at this address");
}

Result<void> Client::connect() {
  TRY(check_version());
  return sign_in();
}

Result<void> Client::check_version() {
  TRY_ASSIGN(const http::Response response, send(http::Method::get, "/version", "", "", options_.greeting));
  if (response.head.status != 200) return tl::make_unexpected(refused(response));
  constexpr std::string_view kPrefix = "surrealdb-";
  const std::string_view body = response.body;
  int major = 0;
  if (!body.starts_with(kPrefix) ||
      std::from_chars(body.data() + kPrefix.size(), body.data() + body.size(), major).ec != std::errc()) {
    return tl::make_unexpected(
        error(ErrorCode::unsupported, "what answers there is no SurrealDB server; check host and port"));
  }
  if (major < kOldestMajor) {
    return tl::make_unexpected(
        error(ErrorCode::unsupported, "the server is " + sanitized(body) + "; SurrealDB 3 or later is needed"));
  }
  return {};
}

Result<void> Client::sign_in() {
  token_.clear();
  if (address_.user.empty()) return {};
  if (password_.empty()) {
    return tl::make_unexpected(error(
        ErrorCode::unauthenticated,
        "no password; put that of " + address_.user + " into the environment variable ACCELOPT_SURREAL_PASSWORD"));
  }
  // A user belongs to a database, to a namespace or to the whole server; the address does not say to which.
  const auto tries = std::to_array<Json>(
      {{{"ns", address_.name_space}, {"db", address_.database}}, {{"ns", address_.name_space}}, Json::object()});
  std::optional<Error> last;
  for (Json credentials : tries) {
    credentials["user"] = address_.user;
    credentials["pass"] = password_;
    TRY_ASSIGN(const http::Response response,
               send(http::Method::post, "/signin", kJson,
                    credentials.dump(-1, ' ', false, Json::error_handler_t::replace), options_.limits));
    if (response.head.status == 200) {
      const Json answer = base::json_or_discarded(response.body);
      token_ = answer.is_object() ? base::text_at(answer, "token") : "";
      if (!token_.empty()) return {};
      return tl::make_unexpected(error(ErrorCode::unsupported, "the answer to the sign-in holds no token"));
    }
    last = refused(response);
    // A namespace or database that is not there is told when it is used.
    const bool next = response.head.status == 401 || response.head.status == 400 || response.head.status == 404;
    if (!next) break;
  }
  if (last->code == ErrorCode::unsupported) return tl::make_unexpected(*last);
  return tl::make_unexpected(*last);
}

Error Client::statement_error(const Json& failure) const {
  const std::string kind = base::text_at(failure, "kind");
  const std::string words = words_of_failure(failure);
  const auto [outer, inner] = kinds_of(failure);
  if (outer == "Namespace" || outer == "Database" || holds(words, "Couldn't write to a read only transaction")) {
    return error(settled_ ? ErrorCode::unavailable : ErrorCode::not_found,
                 "the server has no such namespace or database; make them with DEFINE NAMESPACE " +
                     address_.name_space + "; USE NS " + address_.name_space + "; DEFINE DATABASE " +
                     address_.database + "; or check the address");
  }
  if (outer == "Auth" || holds(words, "problem with authentication"))
    return error(ErrorCode::unauthenticated,
                 "the server refuses the user " + address_.user + " (" + sanitized(words) + ")");
  if (outer == "Method" || holds(words, "Method not allowed")) {
    return error(ErrorCode::unauthenticated,
                 "the server lets nobody query without a user; write the address as "
                 "surreal://user@host:8000/namespace/database, or allow it (" +
                     sanitized(words) + ")");
  }
  if (kind == "NotAllowed" || holds(words, "Not enough permissions") || holds(words, "IAM error")) {
    return error(ErrorCode::permission_denied,
                 "the user " + address_.user + " may not do this; give it the role EDITOR (" + sanitized(words) + ")");
  }
  if (kind == "NotFound") return error(ErrorCode::not_found, sanitized(words));
  if (outer == "TimedOut" || holds(words, "timed out")) return error(ErrorCode::timed_out, sanitized(words));
  if (holds(words, "No space left")) return error(ErrorCode::exhausted, "the server's disk is full; make room on it");
  return error(ErrorCode::internal, "the server refuses a statement: " + sanitized(words));
}

Result<Client::Attempt> Client::ask_once(const std::string& body, std::vector<Json>& results) {
  TRY_ASSIGN(const http::Response response, send(http::Method::post, "/rpc", kCbor, body, options_.limits));
  if (response.head.status == 401 && !token_.empty()) return Attempt::signed_out;
  if (response.head.status != 200) return tl::make_unexpected(refused(response));
  const Json answer = Json::from_cbor(response.body, true, false, Json::cbor_tag_handler_t::ignore);
  if (answer.is_object() && answer.contains("error") && answer["error"].is_object()) {
    const Json& failure = answer["error"];
    if (is_conflict(failure)) return Attempt::conflict;
    if (kinds_of(failure).second == "TokenExpired") return Attempt::signed_out;
    return tl::make_unexpected(statement_error(failure));
  }
  const auto list = answer.is_object() ? answer.find("result") : answer.end();
  if (!answer.is_object() || list == answer.end() || !list->is_array()) {
    return tl::make_unexpected(error(ErrorCode::unsupported,
                                     "the answer to a query has an unknown form; check that a SurrealDB server answers "
                                     "at this address"));
  }
  results.clear();
  const Json* failure = nullptr;
  for (const Json& one : *list) {
    if (!one.is_object() || base::text_at(one, "status") != "OK") {
      if (!one.is_object()) {
        return tl::make_unexpected(error(ErrorCode::unsupported, "the answer to a statement has an unknown form"));
      }
      if (is_conflict(one)) return Attempt::conflict;
      if (failure == nullptr || (is_follower(*failure) && !is_follower(one))) failure = &one;
      continue;
    }
    const auto result = one.find("result");
    results.push_back(result == one.end() ? Json() : *result);
  }
  if (failure != nullptr) return tl::make_unexpected(statement_error(*failure));
  return Attempt::done;
}

Result<void> Client::until_through(const std::function<Result<bool>()>& attempt) {
  const auto deadline = SteadyClock::now() + options_.patience;
  for (milliseconds wait = kFirstWait;; wait = std::min(wait * 2, kLongestWait)) {
    TRY_ASSIGN(const bool through, attempt());
    if (through) return {};
    if (SteadyClock::now() >= deadline) {
      return tl::make_unexpected(
          error(ErrorCode::unavailable, "others keep writing to the same records; try again later"));
    }
    // All of the wait is random, so that writers who met do not meet again.
    const auto most_us = static_cast<std::uint64_t>(std::chrono::microseconds(wait).count());
    std::this_thread::sleep_for(std::chrono::microseconds(base::random_seed() % (most_us + 1)));
  }
}

Result<std::optional<std::vector<Json>>> Client::try_body(const std::string& body) {
  std::vector<Json> results;
  TRY_ASSIGN(Attempt attempt, ask_once(body, results));
  if (attempt == Attempt::signed_out) {
    TRY(sign_in());
    TRY_ASSIGN(attempt, ask_once(body, results));
    if (attempt == Attempt::signed_out) {
      return tl::make_unexpected(
          error(ErrorCode::unauthenticated, "the server signs the user " + address_.user + " in and then refuses it"));
    }
  }
  return attempt == Attempt::done ? std::optional(std::move(results)) : std::nullopt;
}

Result<std::optional<std::vector<Json>>> Client::try_ask(std::string_view statements, const Json& variables) {
  return try_body(body_of(statements, variables));
}

Result<std::vector<Json>> Client::ask(std::string_view statements, const Json& variables) {
  const std::string body = body_of(statements, variables);
  std::vector<Json> results;
  TRY(until_through([&]() -> Result<bool> {
    TRY_ASSIGN(auto given, try_body(body));
    if (given) results = std::move(*given);
    return given.has_value();
  }));
  return results;
}

}  // namespace accelopt::memory::surreal
