// SPDX-License-Identifier: Apache-2.0
// accelopt's tools, resources and prompts: the use cases of src/app, as a client meets them.
#pragma once

#include <filesystem>
#include <mutex>
#include <vector>

#include "app/kept_knowledge.hpp"
#include "app/shell.hpp"
#include "mcp/catalogue.hpp"
#include "mcp/folders.hpp"

namespace accelopt::memory {
struct Item;
}

namespace accelopt::mcp {

/// What all tools work with. Outlives the catalogue.
struct Desk {
  const app::Shell& shell;
  std::filesystem::path workspace;  ///< absolute
  Folders folders;
  int most_runs = 4;      ///< that are active at the same time
  std::mutex starting{};  ///< a run, or one again
  app::KeptKnowledge knowledge{shell, workspace};
};

Catalogue make_catalogue(Desk& desk);

// The parts of it.
std::vector<Tool> run_tools(Desk& desk);      ///< start, status, result, diff, stop, resume, runs
std::vector<Tool> client_tools(Desk& desk);   ///< next_question, answer, steer
std::vector<Tool> command_tools(Desk& desk);  ///< doctor, init, lint, estimate, evaluate, best
std::vector<Tool> story_tools(Desk& desk);    ///< explain, report
std::vector<Tool> memory_tools(Desk& desk);   ///< memory_search, memory_add
Tasks run_tasks(Desk& desk);
std::vector<ResourceTemplate> run_resources(Desk& desk);
ResourceTemplate memory_resource(Desk& desk);
/// What memory_search gives of these.
ToolResult found_experiences(const std::vector<memory::Item>& items);
base::Result<std::vector<Link>> run_links(const Desk& desk);
Prompt make_faster_prompt();

/// What models or other people wrote, as a part of one line: without control characters and those that reorder text,
/// and no longer than a line holds.
std::string as_line(std::string_view theirs);

/// "accelopt://runs/RUN" and what lies below it, as links.
std::vector<Link> links_of_run(const std::string& run, const std::vector<std::string>& parts);

/// How long a call waits where its client does not say, and at most: clients give up after ten seconds.
inline constexpr double kUsualWaitSeconds = 5;
inline constexpr double kLongestWaitSeconds = 8;
/// Until `done` or `stop`, or the time has passed; `each` is called about once a second.
void wait_until(double seconds, const std::stop_token& stop, const std::function<bool()>& done,
                const std::function<void(double elapsed)>& each = {});

}  // namespace accelopt::mcp
