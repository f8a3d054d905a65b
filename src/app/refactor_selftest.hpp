// SPDX-License-Identifier: Apache-2.0
// Tries every known way to cheat the gates of refactoring, and honest changes beside them, on repositories of its own.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/selftest.hpp"
#include "refactor/checker.hpp"

namespace accelopt::app {

/// One change of a task's repository, as the comment at the beginning of its file describes it.
struct RefactorExploit {
  bool attack = true;  ///< false: an honest one, which must pass
  std::string name;
  std::string purpose;  ///< one line: what it tries, or what it shows
  std::string task;     ///< name of the task's folder
  /// Names of the gates, any of which is to refuse it; FASTER, NOT_FASTER: it passes them, and is or is not faster.
  std::vector<std::string> expected;
  std::string reason;  ///< must occur in the facts of the gate that refused it, in any case; empty: anything
  std::string text;    ///< a unified diff, or the new text of what the task's scope names first
  bool is_diff = false;
};

struct RefactorSelftestRequest {
  std::vector<std::string> only{};             ///< names of changes; none: all
  std::filesystem::path exploits{};            ///< folder with tasks/, attacks/ and honest/; empty: what is built in
  std::optional<std::uint64_t> seed{};         ///< of the inputs; none: drawn
  std::vector<std::filesystem::path> tools{};  ///< folders of programs that tasks need
};

/// What became of one change.
struct RefactorSelftestOutcome {
  const RefactorExploit& change;
  std::string verdict{};  ///< of refactor::Verdict, as the task's goal has it
  std::string gate{};     ///< that refused it
  std::optional<double> ratio{};
  std::string reason{};
  bool skipped = false;
  bool as_it_should = false;
  std::string note{};  ///< why it is not as it should be, or why it was skipped
  double seconds = 0;
};

/// Reads the header of one file, whose lines begin with # or //, up to the first line that is no comment:
///
///     # exploit: NAME           (or `honest: NAME`)
///     # tries: one line         (`shows:` where it is honest)
///     # task: NAME
///     # expect: WORD ...        (an honest change's is FASTER unless it says otherwise)
///     # reason: TEXT            (optional)
///
/// What follows is the change: of a .diff a unified diff, of others the function, or the file, that the scope names.
/// @error parse: a line is missing or unknown; the message names file and key.
base::Result<RefactorExploit> parse_refactor_exploit(const std::string& file_name, const std::string& text);

/// Examines all that are asked for; every outcome is told when it is there. Each task's repository must be byte for
/// byte what it was after every change.
/// @error parse, io; not_found: no change of such a name; invalid_argument: a task's own code does not pass.
base::Result<SelftestTally> run_refactor_selftest(const Shell& shell, const RefactorSelftestRequest& request,
                                                  const std::function<void(const RefactorSelftestOutcome&)>& told);

/// The object of docs/json.md.
base::Json to_json(const RefactorSelftestOutcome& outcome);

}  // namespace accelopt::app
