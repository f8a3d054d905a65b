// SPDX-License-Identifier: Apache-2.0
#include "http/url.hpp"

#include <memory>

#include "http/libcurl.hpp"

namespace accelopt::http {
namespace {

using base::ErrorCode;
using base::fail;

struct UrlCloser {
  void operator()(CURLU* url) const { curl().url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, UrlCloser>;

/// One part of a parsed address, or empty where it has none.
std::string part_of(const Url& url, CURLUPart part, unsigned int flags = 0) {
  char* text = nullptr;
  if (curl().url_get(url.get(), part, &text, flags) != CURLUE_OK || text == nullptr) return {};
  std::string copy(text);
  curl().free(text);
  return copy;
}

}  // namespace

std::string to_string(const Origin& origin) {
  return origin.host + ":" + origin.port;
}

bool is_loopback(const Origin& origin) {
  return origin.host == "localhost" || origin.host.ends_with(".localhost") || origin.host.starts_with("127.") ||
         origin.host == "[::1]";
}

base::Result<Origin> origin_of(std::string_view text) {
  TRY(open_libcurl());
  const Url url(curl().url());
  if (!url) return fail(ErrorCode::internal, "out of memory while reading an address");
  // The address itself is not repeated in messages: a user may have put a password into it.
  if (curl().url_set(url.get(), CURLUPART_URL, std::string(text).c_str(), 0) != CURLUE_OK) {
    return fail(ErrorCode::invalid_argument,
                "the address of the server cannot be read; write it as http://host:port/path or https://host/path");
  }
  if (!part_of(url, CURLUPART_USER).empty() || !part_of(url, CURLUPART_PASSWORD).empty()) {
    return fail(ErrorCode::invalid_argument,
                "the address of " + part_of(url, CURLUPART_HOST) +
                    " holds a user name or a password; take it out and name the key's environment variable instead");
  }
  Origin origin{part_of(url, CURLUPART_SCHEME), part_of(url, CURLUPART_HOST),
                part_of(url, CURLUPART_PORT, CURLU_DEFAULT_PORT)};
  if (origin.scheme != "http" && origin.scheme != "https") {
    return fail(ErrorCode::invalid_argument, "the address of " + origin.host + " begins with " + origin.scheme +
                                                 "://; only http and https are spoken");
  }
  return origin;
}

std::string resolve_location(std::string_view base_url, std::string_view location) {
  if (!open_libcurl()) return {};
  const Url url(curl().url());
  if (!url || curl().url_set(url.get(), CURLUPART_URL, std::string(base_url).c_str(), 0) != CURLUE_OK) return {};
  if (curl().url_set(url.get(), CURLUPART_URL, std::string(location).c_str(), 0) != CURLUE_OK) return {};
  for (const CURLUPart part : {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_QUERY, CURLUPART_FRAGMENT}) {
    if (curl().url_set(url.get(), part, nullptr, 0) != CURLUE_OK) return {};
  }
  return part_of(url, CURLUPART_URL);
}

}  // namespace accelopt::http
