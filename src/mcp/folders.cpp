// SPDX-License-Identifier: Apache-2.0
#include "mcp/folders.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "report/text_width.hpp"

namespace accelopt::mcp {

using base::ErrorCode;
using base::fail;
namespace fs = std::filesystem;

namespace {

bool lies_below(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

bool is_hidden(const fs::path& part) {
  return part.native().starts_with('.') && part != ".";
}

}  // namespace

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
  const auto holds = [&](const fs::path& folder) { return lies_below(whole, folder); };
  if (!problem && std::ranges::any_of(folders_, holds)) return whole;
  const std::string list = base::joined(folders_, ", ", [](const fs::path& it) { return it.string(); });
  return fail(ErrorCode::permission_denied,
              "\"" + report::printable(path.substr(0, 200)) + "\" lies outside the folders that this server may use: " +
                  list + "; name a path below one of them, or have the server started with --folder DIR");
}

base::Result<fs::path> Folders::resolve_for_writing(const std::string& path, const fs::path& workspace) const {
  TRY_ASSIGN(fs::path whole, resolve(path));
  const auto is_open = [&](const fs::path& folder) {
    return lies_below(whole, folder) && std::ranges::none_of(whole.lexically_relative(folder), is_hidden);
  };
  std::error_code ignored;
  const bool in_workspace = lies_below(whole, fs::weakly_canonical(workspace, ignored));
  if (!in_workspace && std::ranges::any_of(folders_, is_open)) return whole;
  return fail(ErrorCode::permission_denied,
              "\"" + report::printable(path.substr(0, 200)) + "\" lies in " +
                  (in_workspace ? "the workspace" : "a folder, or has a name, that begins with a dot") +
                  ", where nothing is written for a client; name another place");
}

}  // namespace accelopt::mcp
