// SPDX-License-Identifier: Apache-2.0
#include "http/proxy.hpp"

#include <array>
#include <cstdlib>

namespace accelopt::http {
namespace {

/// Not HTTP_PROXY, which a web server sets from a header of its client's.
constexpr std::array kForHttp{"http_proxy", "all_proxy", "ALL_PROXY"};
constexpr std::array kForHttps{"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};

Proxy first_of(const auto& variables) {
  for (const char* variable : variables) {
    if (const char* address = std::getenv(variable); address != nullptr && *address != '\0') return {variable, address};
  }
  return {};
}

}  // namespace

Proxy proxy_of(const Origin& origin) {
  return origin.scheme == "http" ? first_of(kForHttp) : first_of(kForHttps);
}

std::string user_in(const std::string& address) {
  const std::size_t scheme = address.find("://");
  const std::size_t begin = scheme == std::string::npos ? 0 : scheme + 3;
  const std::size_t end = address.rfind('@');
  return end == std::string::npos || end < begin ? std::string() : address.substr(begin, end - begin);
}

std::vector<std::string> proxy_secrets() {
  std::vector<std::string> secrets;
  for (const char* variable : {"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
    const char* address = std::getenv(variable);
    const std::string user = address == nullptr ? std::string() : user_in(address);
    if (user.empty()) continue;
    secrets.push_back(user);
    if (const std::size_t colon = user.find(':'); colon != std::string::npos) secrets.push_back(user.substr(colon + 1));
  }
  return secrets;
}

}  // namespace accelopt::http
