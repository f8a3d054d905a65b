// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/run_progress.hpp"
#include "app/search_options.hpp"
#include "base/result.hpp"
#include "mcp/desk.hpp"

namespace accelopt::mcp {

Tool start_tool(Desk& desk);

/// Properties of a search's settings in the schema of a tool's arguments, and the flags that such arguments say.
/// @error permission_denied: a folder is none of those allowed.
base::Json search_properties();
base::Result<app::SearchFlags> search_flags(const Desk& desk, const base::Json& arguments);

/// Whether one more run may be active. `besides`: a run that does not count. To be called, and the run begun, while
/// `desk.starting` is held. @error exhausted.
base::Result<void> check_room(const Desk& desk, const std::string& besides);

/// What a run that has ended came to, as the tool result gives it. @error what to do about one that came to none.
base::Result<ToolResult> result_of(const app::RunProgress& progress);
/// One line of how a run stands, and what to do next.
std::string progress_text(const app::RunProgress& progress);

struct DiffOfRun {
  std::string run;
  std::string text;
};
/// @error as Journal::find_run and winner_of.
base::Result<DiffOfRun> diff_of(const Desk& desk, const std::string& name);

}  // namespace accelopt::mcp
