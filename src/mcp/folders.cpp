// SPDX-License-Identifier: Apache-2.0
#include "mcp/folders.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "report/text_width.hpp"

namespace accelopt::mcp {

using base::ErrorCode;
using base::fail;
namespace fs = std::filesystem;

base::Result<Folders> Folders::of(const std::vector<std::string>& folders) {
  Folders out;
  for (const std::string& folder : folders) {
    std::error_code problem;
    fs::path path = fs::canonical(folder, problem);
    if (problem || !fs::is_directory(path, problem))
      return fail(ErrorCode::not_found, "--folder " + folder + ": there is no such folder");
    out.folders_.push_back(std::move(path));
  }
  return out;
}

base::Result<fs::path> Folders::resolve(const std::string& path) const {
  std::error_code problem;
  const fs::path whole = fs::weakly_canonical(folders_.front() / path, problem);
  const auto holds = [&](const fs::path& folder) {
    return std::mismatch(folder.begin(), folder.end(), whole.begin(), whole.end()).first == folder.end();
  };
  if (!problem && std::ranges::any_of(folders_, holds)) return whole;
  const std::string list = base::joined(folders_, ", ", [](const fs::path& it) { return it.string(); });
  return fail(ErrorCode::permission_denied,
              "\"" + report::printable(path.substr(0, 200)) + "\" lies outside the folders that this server may use: " +
                  list + "; name a path below one of them, or have the server started with --folder DIR");
}

}  // namespace accelopt::mcp
