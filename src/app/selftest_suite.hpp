// SPDX-License-Identifier: Apache-2.0
// The kernels of `accelopt selftest`: attacks that must be caught and honest kernels that must pass, with their tasks.
// One suite a target: what the host's code can try, and what code on a GPU can.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/kernel.hpp"
#include "model/task.hpp"

namespace accelopt::app {

/// One kernel, as the comment at the beginning of its file describes it.
struct SelftestKernel {
  bool attack = true;  ///< false: an honest one, which must pass
  std::string name;
  std::string purpose;  ///< one line: what it tries, or what it shows
  std::string task;     ///< name of the task's folder
  std::vector<std::string>
      expected;        ///< statuses, any of which is right; NOT_FASTER: passed, timed, and no gain was seen
  std::string reason;  ///< must occur in the reason of what did not pass, in any case; empty: anything
  std::string hides;   ///< must not occur there: a file's text that must not leak; empty: nothing
  int cores = 1;       ///< of the machine, that it needs
  model::Kernel kernel;
};

struct SelftestSuite {
  std::map<std::string, model::Task> tasks;
  std::vector<SelftestKernel> kernels;  ///< attacks first, each part in the order of names
};

/// Where the built-in files of refactorings lie among those of kernels (app/refactor_selftest.hpp).
inline constexpr std::string_view kRefactorExploits = "refactor/";

/// "key: value" of every comment line at the beginning of a file, which begins as C's or Python's do.
struct SelftestHeader {
  std::map<std::string, std::string> values;
  std::string rest;  ///< of the file, from the first line that is neither a comment nor empty

  /// Takes a value out; empty: there is none.
  std::string take(const std::string& key);
};
SelftestHeader read_selftest_header(std::string_view text);

/// Reads the header of one kernel file:
///
///     // exploit: NAME           (or `honest: NAME`)
///     // tries: one line         (`shows:` where it is honest)
///     // task: NAME
///     // expect: STATUS ...      (exploits only)
///     // reason: TEXT            (optional)
///     // hides: TEXT             (optional)
///     // cores: N                (optional)
///
/// In Python with # in place of //.
/// @error parse: a line is missing or unknown; the message names file and key.
base::Result<SelftestKernel> parse_selftest_kernel(const std::string& file_name, const std::string& text);

/// Reads tasks/, attacks/ and honest/ below `folder`. @error parse, not_found, io.
base::Result<SelftestSuite> load_selftest(const std::filesystem::path& folder);

/// The suite that was built into the program for devices of this kind, the name of a target. @error unsupported: there
/// is none for the kind; io: no room for its files.
base::Result<SelftestSuite> builtin_selftest(std::string_view kind);

}  // namespace accelopt::app
