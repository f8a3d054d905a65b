// SPDX-License-Identifier: Apache-2.0
#include "app/knowledge_export.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <set>
#include <vector>

#include "base/files.hpp"

namespace accelopt::app {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

namespace fs = std::filesystem;

/// Items whose kernels are asked for together.
constexpr std::size_t kItemsAtOnce = 64;
/// Links that lead to each other.
constexpr int kMostLinks = 40;

/// The lines of some items, with the kernels that no line before them had.
Result<void> write_items(memory::KnowledgeStore& store, const std::vector<memory::Item>& items,
                         std::set<std::string>& known, const std::function<Result<void>(std::string_view)>& write) {
  std::vector<std::string> wanted;
  for (const memory::Item& item : items) {
    for (const std::string& id : {item.experience.slow, item.experience.fast})
      if (!id.empty() && known.insert(id).second) wanted.push_back(id);
  }
  TRY_ASSIGN(const auto solutions, store.solutions(wanted));
  std::map<std::string, Json> left;
  for (const memory::SolutionRecord& solution : solutions) left.emplace(solution.id, app::json_of(solution));
  for (const memory::Item& item : items) {
    Json line = app::json_of(item);
    for (const std::string& id : {item.experience.slow, item.experience.fast}) {
      if (const auto found = left.find(id); found != left.end()) {
        line["solutions"].push_back(std::move(found->second));
        left.erase(found);
      }
    }
    TRY(write(base::canonical(line) + "\n"));
  }
  return {};
}

/// Where the links end, whether there is something or not.
Result<fs::path> without_links(fs::path file) {
  std::error_code problem;
  for (int i = 0; i < kMostLinks; ++i) {
    if (!fs::is_symlink(file, problem)) return file;
    const fs::path next = fs::read_symlink(file, problem);
    if (problem) return base::fail_errno(problem.value(), "cannot read the link " + file.string());
    file = next.is_absolute() ? next : file.parent_path() / next;
  }
  return fail(ErrorCode::invalid_argument, file.string() + ": links that lead to each other; name a file");
}

Result<void> write_through(const fs::path& output, std::string_view bytes) {
  const base::FileDescriptor file(::open(output.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!file.valid()) return base::fail_errno(errno, "cannot write " + output.string());
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return base::fail_errno(errno, "cannot write " + output.string());
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

}  // namespace

Json json_of(const memory::Item& item) {
  Json line = item.experience;
  line["type"] = "experience";
  line["schema"] = kExportSchema;
  line["quarantined"] = item.quarantined;
  line["suspicions"] = item.suspicions;
  return line;
}

Json json_of(const memory::SolutionRecord& solution) {
  return {{"id", solution.id},   {"language", solution.language}, {"task", solution.task},
          {"run", solution.run}, {"sources", solution.sources},   {"evaluation", solution.evaluation}};
}

Result<void> export_lines(memory::KnowledgeStore& store, const std::function<Result<void>(std::string_view)>& write) {
  std::vector<memory::Item> items;
  std::set<std::string> known;
  TRY(store.for_each([&](const memory::Item& item) -> Result<void> {
    items.push_back(item);
    if (items.size() < kItemsAtOnce) return {};
    TRY(write_items(store, items, known, write));
    items.clear();
    return {};
  }));
  return write_items(store, items, known, write);
}

bool is_of_store(const fs::path& output, const std::string& store) {
  std::error_code ignored;
  const auto whole = [&](const fs::path& file) { return fs::weakly_canonical(fs::absolute(file, ignored), ignored); };
  const fs::path file = without_links(output).value_or(output);
  return std::ranges::any_of(std::array{"", "-wal", "-shm", "-journal"}, [&](const char* suffix) {
    const fs::path own = store + suffix;
    return fs::equivalent(file, own, ignored) || whole(file) == whole(own);
  });
}

Result<void> write_output(const fs::path& output, std::string_view bytes) {
  std::error_code problem;
  const fs::file_status status = fs::status(output, problem);
  if (fs::is_directory(status))
    return fail(ErrorCode::invalid_argument, output.string() + ": is a folder; name a file in it");
  if (fs::is_block_file(status)) return fail(ErrorCode::invalid_argument, output.string() + ": is a disk; name a file");
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_through(output, bytes);
  TRY_ASSIGN(const fs::path file, without_links(output));
  return base::write_file(file, bytes);
}

}  // namespace accelopt::app
