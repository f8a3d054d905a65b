// SPDX-License-Identifier: Apache-2.0
// The flags of every command that searches or measures.
#pragma once

#include "app/search_options.hpp"
#include "cli/command.hpp"

namespace accelopt::cli {

void declare(Command& command, app::SearchFlags& flags);
/// Those that do not say where it is measured.
void declare_search(Command& command, app::SearchFlags& flags);
void declare(Command& command, app::AgentFlags& flags);
void declare(Command& command, app::DeviceFlags& flags);
/// --worker alone, which may be given more than once.
void declare_workers(Command& command, std::vector<app::WorkerConfig>& workers, const std::string& help);

/// Why options cannot be used: a value that is none is printed and ends in Exit::usage, any other error is passed on.
base::Result<Exit> refuse_options(const base::Error& error);

}  // namespace accelopt::cli
