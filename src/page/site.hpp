// SPDX-License-Identifier: Apache-2.0
// The page of `accelopt serve`: its files, and the objects that its scripts ask for. Starting, stopping, steering and
// resuming runs are tools of MCP, which the page calls as any other client does.
#pragma once

#include "mcp/desk.hpp"
#include "mcp/http_request.hpp"

namespace accelopt::page {

/// The desk outlives the site.
mcp::HttpSite make_site(mcp::Desk& desk);

}  // namespace accelopt::page
