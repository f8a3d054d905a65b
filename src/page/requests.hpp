// SPDX-License-Identifier: Apache-2.0
// What the page's scripts may ask for, below /api/.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "mcp/desk.hpp"
#include "mcp/http_request.hpp"

namespace accelopt::page {

/// A request below /api/.
struct Request {
  std::vector<std::string> names{};              ///< what stands at the places of the route's {}
  std::map<std::string, std::string> options{};  ///< of the query
  base::Json body{};                             ///< of a POST: an object

  /// A number of the query. @error invalid_argument: it is none, or outside of 0 to `most`.
  [[nodiscard]] base::Result<std::int64_t> number(const std::string& name, std::int64_t usual, std::int64_t most) const;
  [[nodiscard]] std::string text(const std::string& name) const;
};

struct Route {
  std::string method;
  std::string path;  ///< "runs/{}/outline"
  std::function<base::Result<mcp::HttpReply>(const Request&)> answer;
};

std::vector<Route> run_routes(mcp::Desk& desk);     ///< runs, candidates, reports, suites
std::vector<Route> memory_routes(mcp::Desk& desk);  ///< experiences

mcp::HttpReply json_reply(const base::Json& json);

/// The reply of the first route that fits the path, which stands below /api/. What fails is an object with the member
/// "error".
mcp::HttpReply answer(const std::vector<Route>& routes, const mcp::HttpRequest& request);

/// "a b/c" of "a%20b%2fc"; '+' is a blank. Anything that is no such sequence stays as it is.
std::string decoded(std::string_view text);

}  // namespace accelopt::page
