// SPDX-License-Identifier: Apache-2.0
#include "page/site.hpp"

#include <algorithm>
#include <iterator>
#include <memory>

#include "page/files.hpp"
#include "page/requests.hpp"

namespace accelopt::page {
namespace {

using mcp::HttpReply;
using mcp::HttpRequest;

/// Nothing is loaded from elsewhere, nothing inline runs, no text becomes markup (Trusted Types), and no other page
/// frames this one.
constexpr const char* kPolicy =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src "
    "'self'; base-uri "
    "'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'\r\n";
constexpr const char* kHeaders =
    "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\nX-Frame-Options: DENY\r\nCache-Control: no-store\r\n";

const PageFile* file_at(std::string_view path) {
  const std::string_view name = path == "/" ? "index.html" : path.substr(std::min<std::size_t>(1, path.size()));
  const auto files = page_files();
  const auto found = std::ranges::find(files, name, &PageFile::name);
  return found == files.end() ? nullptr : &*found;
}

std::string type_of(std::string_view name) {
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "text/html; charset=utf-8";
}

}  // namespace

mcp::HttpSite make_site(mcp::Desk& desk) {
  auto routes = std::make_shared<std::vector<Route>>(run_routes(desk));
  std::ranges::move(memory_routes(desk), std::back_inserter(*routes));
  return {.open = [](const HttpRequest& head) { return head.method == "GET" && file_at(head.path) != nullptr; },
          .answer =
              [routes](const HttpRequest& request, const std::stop_token&) {
                const PageFile* const file = request.method == "GET" ? file_at(request.path) : nullptr;
                HttpReply reply = file != nullptr
                                      ? HttpReply{.type = type_of(file->name), .body = std::string(file->text)}
                                      : answer(*routes, request);
                if (reply.headers.empty()) reply.headers = kPolicy;
                reply.headers += kHeaders;
                return reply;
              }};
}

}  // namespace accelopt::page
