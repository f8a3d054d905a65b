// SPDX-License-Identifier: Apache-2.0
#include "http/client.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <mutex>
#include <utility>

#include "base/text.hpp"
#include "http/libcurl.hpp"
#include "http/proxy.hpp"
#include "http/url.hpp"

namespace accelopt::http {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// Longest wait between two looks at the limits: curl's own timers and a stop end it sooner.
constexpr milliseconds kLongestPoll{1000};
/// Idle connections kept for reuse; more than this many at once are opened and closed as needed.
constexpr std::size_t kIdleConnections = 32;

struct EasyCloser {
  void operator()(CURL* handle) const { curl().easy_cleanup(handle); }
};
struct MultiCloser {
  void operator()(CURLM* handle) const { curl().multi_cleanup(handle); }
};
struct ListCloser {
  void operator()(curl_slist* list) const { curl().slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, EasyCloser>;
using Multi = std::unique_ptr<CURLM, MultiCloser>;
using HeaderList = std::unique_ptr<curl_slist, ListCloser>;

/// One conversation at a time: the multi handle owns the connections, the easy handle the settings. Destroyed in this
/// order: easy before multi.
struct Lane {
  Multi multi;
  Easy easy;
};

/// Why a callback ended the exchange, when it did.
enum class Ended { no, too_large, enough, threw };

/// What happens in one exchange; the callbacks write to it.
struct Exchange {
  const Receiver& receiver;
  std::size_t body_limit;
  Response response{};
  std::size_t received_bytes = 0;
  curl_off_t moved_bytes = 0;
  SteadyClock::time_point last_activity = SteadyClock::now();
  Ended ended = Ended::no;
  std::array<char, CURL_ERROR_SIZE> reason{};
};

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/// The most of a server's words in one of our messages, bytes.
constexpr std::size_t kLongestQuotation = 200;

/// Another's words for one of our messages. Only what holds no secret is cut: a part of one would not be found.
std::string quotation(std::string_view words, const Request& request) {
  std::string shown(words);
  for (const std::string& secret : request.secrets) shown = base::without_secret(shown, secret);
  for (const std::string& secret : proxy_secrets()) shown = base::without_secret(shown, secret);
  return base::ascii_line(shown, kLongestQuotation);
}

/// The status of "HTTP/1.1 200 OK", or none where the line is another header.
std::optional<int> status_of_line(std::string_view line) {
  if (!line.starts_with("HTTP/")) return std::nullopt;
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos || line.size() < blank + 4) return std::nullopt;
  int status = 0;
  for (const char c : line.substr(blank + 1, 3)) {
    if (c < '0' || c > '9') return std::nullopt;
    status = status * 10 + (c - '0');
  }
  return status;
}

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  const std::size_t bytes = size * count;
  try {
    const std::string_view line = base::trimmed({data, bytes});
    exchange.last_activity = SteadyClock::now();
    if (const auto status = status_of_line(line)) {
      exchange.response.head = Head{*status, {}};  // an interim answer (100, 103) ends here: the last head counts
    } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
      exchange.response.head.headers.push_back(
          {base::lower(base::trimmed(line.substr(0, colon))), std::string(base::trimmed(line.substr(colon + 1)))});
    }
    return bytes;
  } catch (const std::exception&) {
    exchange.ended = Ended::threw;
    return 0;
  }
}

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  const std::size_t bytes = size * count;
  exchange.last_activity = SteadyClock::now();
  exchange.received_bytes += bytes;
  if (is_redirect(exchange.response.head.status)) return bytes;  // not followed, so its body is nobody's
  if (exchange.received_bytes > exchange.body_limit) {
    exchange.ended = Ended::too_large;
    return CURL_WRITEFUNC_ERROR;
  }
  try {
    if (!exchange.receiver) {
      exchange.response.body.append(data, bytes);
      return bytes;
    }
    if (exchange.receiver(exchange.response.head, {data, bytes}) == Flow::more) return bytes;
    exchange.ended = Ended::enough;
  } catch (const std::exception&) {
    exchange.ended = Ended::threw;
  }
  return CURL_WRITEFUNC_ERROR;
}

int on_progress(void* user, curl_off_t /*to_download*/, curl_off_t downloaded, curl_off_t /*to_upload*/,
                curl_off_t uploaded) {
  auto& exchange = *static_cast<Exchange*>(user);
  if (downloaded + uploaded != exchange.moved_bytes) {
    exchange.moved_bytes = downloaded + uploaded;
    exchange.last_activity = SteadyClock::now();
  }
  return 0;
}

/// The headers as libcurl takes them. @error invalid_argument: a control character, which could smuggle in another
/// header.
Result<HeaderList> make_headers(const Request& request, const Origin& origin) {
  HeaderList list;
  const auto append = [&list](const std::string& line) {
    curl_slist* grown = curl().slist_append(list.get(), line.c_str());
    if (grown == nullptr) return false;
    static_cast<void>(list.release());
    list.reset(grown);
    return true;
  };
  const auto is_control = [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == '\x7f'; };
  bool complete = append("Expect:");  // no extra round trip before a large body
  for (const Header& header : request.headers) {
    const bool named = !header.name.empty() && std::ranges::all_of(header.name, [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '-' || c == '_';
    });
    if (!named) return fail(ErrorCode::invalid_argument, "a header for " + to_string(origin) + " has a malformed name");
    if (std::ranges::any_of(header.value, is_control)) {
      return fail(ErrorCode::invalid_argument,
                  "the header " + header.name + " for " + to_string(origin) +
                      " holds a line break or another control character; check where its value comes from");
    }
    // "Name;" is how libcurl is told to send an empty value.
    complete = complete && append(header.value.empty() ? header.name + ";" : header.name + ": " + header.value);
  }
  if (!complete) return fail(ErrorCode::internal, "out of memory while preparing a request to " + to_string(origin));
  return list;
}

/// Sets everything that one exchange needs on the lane's handle.
void configure(const Lane& lane, const Request& request, const Origin& origin, const HeaderList& headers,
               Exchange& exchange) {
  CURL* easy = lane.easy.get();
  curl().easy_reset(easy);
  curl().easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl().easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl().easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl().easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl().easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);  // a stop does not wait for a slow name server
  curl().easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl().easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl().easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl().easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  if (request.connection == Connection::fresh) {
    curl().easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    curl().easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
  }
  if (!request.ca_file.empty()) curl().easy_setopt(easy, CURLOPT_CAINFO, request.ca_file.c_str());
  if (is_loopback(origin)) curl().easy_setopt(easy, CURLOPT_PROXY, "");
  curl().easy_setopt(easy, CURLOPT_USERAGENT, "accelopt");
  curl().easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
  curl().easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.limits.connect.count()));
  if (request.method == Method::post) {
    curl().easy_setopt(easy, CURLOPT_POST, 1L);
    curl().easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    curl().easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.c_str());
  }
  curl().easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange.reason.data());
  curl().easy_setopt(easy, CURLOPT_HEADERFUNCTION, &on_header);
  curl().easy_setopt(easy, CURLOPT_HEADERDATA, &exchange);
  curl().easy_setopt(easy, CURLOPT_WRITEFUNCTION, &on_body);
  curl().easy_setopt(easy, CURLOPT_WRITEDATA, &exchange);
  curl().easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
  curl().easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, &on_progress);
  curl().easy_setopt(easy, CURLOPT_XFERINFODATA, &exchange);
}

std::string seconds_text(milliseconds time) {
  const auto count = time.count();
  if (count % 1000 == 0) return std::to_string(count / 1000) + " s";
  return std::to_string(count) + " ms";
}

/// Whether libcurl does not understand the proxy's address, or takes half of a password for its host.
bool is_unread(const Proxy& proxy, CURLcode code, std::string_view reason) {
  return reason.starts_with("Unsupported proxy") ||
         (code == CURLE_COULDNT_RESOLVE_PROXY && user_in(proxy.address).find_first_of("#/?") != std::string::npos);
}

/// An error for what curl reported when no callback of ours and no limit of ours ended the exchange.
base::Error explain(CURLcode code, const Request& request, const Origin& origin, const Exchange& exchange) {
  const std::string host = to_string(origin);
  const std::string reason =
      quotation(exchange.reason[0] != '\0' ? exchange.reason.data() : curl().easy_strerror(code), request);
  if (const Proxy proxy = proxy_of(origin); is_unread(proxy, code, reason)) {
    return {ErrorCode::invalid_argument, "the proxy in " + proxy.variable +
                                             " cannot be read; write it as http://user:password@host:port, with # / ? "
                                             "@ and blanks of the password percent-encoded"};
  }
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return {ErrorCode::unavailable, "no connection to " + host + " within " + seconds_text(request.limits.connect) +
                                          "; check the address, the network and the proxy settings"};
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return {ErrorCode::unavailable, "the name of " + host + " (or of its proxy) is not known: " + reason +
                                          "; check the address and the network"};
    case CURLE_COULDNT_CONNECT:
      return {ErrorCode::unavailable, "no connection to " + host + ": " + reason +
                                          "; check that the server runs and that the address is right"};
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return {ErrorCode::permission_denied,
              "the certificate of " + host + " cannot be trusted: " + reason +
                  "; check the address and this machine's certificates (ca-certificates)"};
    case CURLE_SSL_CONNECT_ERROR:
      return {ErrorCode::unavailable, "no encrypted connection to " + host + ": " + reason +
                                          "; check whether the address should begin with http://"};
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return {ErrorCode::invalid_argument, "the address of " + host + " cannot be used: " + reason + "; check it"};
    case CURLE_OUT_OF_MEMORY:
    case CURLE_FAILED_INIT:
      return {ErrorCode::internal, "libcurl failed while talking to " + host + ": " + reason};
    default:
      return {ErrorCode::unavailable, "the connection to " + host + " broke: " + reason + "; try again"};
  }
}

base::Error too_large(const Request& request, const Origin& origin) {
  return {ErrorCode::exhausted, "the answer of " + to_string(origin) + " is larger than " +
                                    std::to_string(request.limits.body_bytes) +
                                    " bytes and was refused; check that the address is that of the right server"};
}

base::Error redirected(const Request& request, const Origin& origin, const Head& head) {
  const std::string target = resolve_location(request.url, find_header(head, "location").value_or(""));
  return {ErrorCode::permission_denied,
          to_string(origin) + " answers with a redirect (" + std::to_string(head.status) + ") to " +
              (target.empty() ? std::string("nowhere") : quotation(target, request)) +
              ", which is not followed, so that no key goes there; if you trust it, set the address to it"};
}

/// Adds the easy handle for as long as it lives.
class Attached {
 public:
  explicit Attached(const Lane& lane) : lane_(lane) {
    code_ = curl().multi_add_handle(lane.multi.get(), lane.easy.get());
  }
  ~Attached() { curl().multi_remove_handle(lane_.multi.get(), lane_.easy.get()); }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;
  [[nodiscard]] bool succeeded() const { return code_ == CURLM_OK; }

 private:
  const Lane& lane_;
  CURLMcode code_;
};

std::optional<CURLcode> finished(CURLM* multi) {
  int left = 0;
  while (const CURLMsg* message = curl().multi_info_read(multi, &left)) {
    if (message->msg == CURLMSG_DONE) return message->data.result;
  }
  return std::nullopt;
}

/// Runs the exchange to its end, a limit, or a stop; the value is curl's own verdict.
Result<CURLcode> drive(const Lane& lane, const Request& request, const Origin& origin, const Exchange& exchange,
                       const std::stop_token& stop) {
  const Attached attached(lane);
  if (!attached.succeeded()) return fail(ErrorCode::internal, "libcurl takes no request to " + to_string(origin));
  const std::stop_callback wake(stop, [&lane] { curl().multi_wakeup(lane.multi.get()); });
  const auto start = SteadyClock::now();
  for (;;) {
    if (stop.stop_requested())
      return fail(ErrorCode::cancelled, "the request to " + to_string(origin) + " was stopped");
    int running = 0;
    if (curl().multi_perform(lane.multi.get(), &running) != CURLM_OK) {
      return fail(ErrorCode::internal, "libcurl failed while talking to " + to_string(origin));
    }
    if (const auto code = finished(lane.multi.get())) return *code;
    const auto now = SteadyClock::now();
    const auto total_left = request.limits.total - (now - start);
    const auto stall_left = request.limits.stall - (now - exchange.last_activity);
    if (total_left <= total_left.zero()) {
      return fail(ErrorCode::timed_out, "no complete answer of " + to_string(origin) + " within " +
                                            seconds_text(request.limits.total) +
                                            "; allow more time or ask for shorter answers");
    }
    if (stall_left <= stall_left.zero()) {
      return fail(ErrorCode::timed_out, to_string(origin) + " has sent nothing for " +
                                            seconds_text(request.limits.stall) +
                                            "; check its load, or allow a longer stall");
    }
    const auto wait = std::min(
        {std::chrono::ceil<milliseconds>(total_left), std::chrono::ceil<milliseconds>(stall_left), kLongestPoll});
    curl().multi_poll(lane.multi.get(), nullptr, 0, static_cast<int>(wait.count()), nullptr);
  }
}

}  // namespace

/// Lanes that are free, with their open connections.
class Client::Pool {
 public:
  Result<Lane> take() {
    {
      const std::scoped_lock lock(mutex_);
      if (!idle_.empty()) {
        Lane lane = std::move(idle_.back());
        idle_.pop_back();
        return lane;
      }
    }
    Lane lane{Multi(curl().multi_init()), Easy(curl().easy_init())};
    if (!lane.multi || !lane.easy) return fail(ErrorCode::internal, "libcurl does not start: out of memory");
    return lane;
  }

  void give_back(Lane lane) {
    curl().easy_reset(lane.easy.get());  // it points to a conversation that is over
    const std::scoped_lock lock(mutex_);
    if (idle_.size() < kIdleConnections) idle_.push_back(std::move(lane));
  }

 private:
  std::mutex mutex_;
  std::vector<Lane> idle_;
};

Client::Client() : pool_(std::make_unique<Pool>()) {}
Client::~Client() = default;

std::optional<std::string_view> find_header(const Head& head, std::string_view name) {
  const auto found = std::ranges::find(head.headers, name, &Header::name);
  if (found == head.headers.end()) return std::nullopt;
  return found->value;
}

Result<Response> Client::send(const Request& request, std::stop_token stop, const Receiver& receiver) {
  TRY(open_libcurl());
  TRY_ASSIGN(const Origin origin, origin_of(request.url));
  TRY_ASSIGN(const HeaderList headers, make_headers(request, origin));
  Exchange exchange{.receiver = receiver, .body_limit = request.limits.body_bytes};
  TRY_ASSIGN(Lane lane, pool_->take());  // after what it points to, so that it goes first
  configure(lane, request, origin, headers, exchange);
  TRY_ASSIGN(const CURLcode code, drive(lane, request, origin, exchange, stop));
  if (exchange.ended == Ended::too_large) return tl::make_unexpected(too_large(request, origin));
  if (exchange.ended == Ended::threw) {
    return fail(ErrorCode::internal, "out of memory while reading the answer of " + to_string(origin));
  }
  if (code != CURLE_OK && exchange.ended != Ended::enough) {
    return tl::make_unexpected(explain(code, request, origin, exchange));
  }
  pool_->give_back(std::move(lane));
  if (is_redirect(exchange.response.head.status)) {
    return tl::make_unexpected(redirected(request, origin, exchange.response.head));
  }
  return std::move(exchange.response);
}

}  // namespace accelopt::http
