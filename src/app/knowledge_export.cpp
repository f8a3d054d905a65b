// SPDX-License-Identifier: Apache-2.0
#include "app/knowledge_export.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "base/output_file.hpp"

namespace accelopt::app {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

namespace fs = std::filesystem;

/// Items whose kernels are asked for together.
constexpr std::size_t kItemsAtOnce = 64;

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
  const fs::path file = base::without_links(output).value_or(output);
  return std::ranges::any_of(std::array{"", "-wal", "-shm", "-journal"}, [&](const char* suffix) {
    const fs::path own = store + suffix;
    return fs::equivalent(file, own, ignored) || whole(file) == whole(own);
  });
}

}  // namespace accelopt::app
