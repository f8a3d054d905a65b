// SPDX-License-Identifier: Apache-2.0
#include "suites/flashinfer_trace/dataset.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <set>
#include <system_error>

#include "base/files.hpp"
#include "base/text.hpp"

namespace accelopt::suites::flashinfer_trace {
namespace {

using base::in_quotes;
using base::Problem;
namespace fs = std::filesystem;

// Far above every dataset that is published.
constexpr std::size_t kMostFiles = 200'000;
constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr std::size_t kMostFileBytes = std::size_t{64} << 20;
constexpr int kDeepestFolder = 12;

/// What a folder of the dataset holds.
enum class Part { definitions, workloads, solutions, traces };

const char* folder_of(Part part) {
  switch (part) {
    case Part::definitions:
      return "definitions";
    case Part::workloads:
      return "workloads";
    case Part::solutions:
      return "solutions";
    case Part::traces:
      return "traces";
  }
  return "";
}

/// The string under the key; else `otherwise`.
std::string text_or(const OrderedJson& json, const char* key, const std::string& otherwise) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

class DatasetReader {
 public:
  DatasetReader(const fs::path& root, const std::vector<std::string>& names)
      : root_(root), wanted_(names.begin(), names.end()) {}

  base::Result<Dataset> read() {
    std::error_code ignored;
    if (!fs::is_directory(root_, ignored)) {
      return base::fail(base::ErrorCode::not_found, root_.string() + ": no such folder; give a dataset's folder");
    }
    if (fs::is_directory(root_ / "definitions", ignored)) {
      is_dataset_ = true;
      TRY(read_parts({Part::definitions, Part::workloads, Part::solutions, Part::traces}));
    } else {
      TRY(read_problem_folders());
    }
    if (!is_dataset_) {
      return base::fail(base::ErrorCode::not_found,
                        root_.string() +
                            ": no dataset; it needs definitions/ (FlashInfer Trace), or folders with a "
                            "definition.json (SOL-ExecBench)");
    }
    attach();
    for (const std::string& name : wanted_) {
      const bool refused =
          std::any_of(out_.problems.begin(), out_.problems.end(), [&](const Problem& one) { return one.key == name; });
      if (!out_.entries.contains(name) && !refused) {
        return base::fail(base::ErrorCode::invalid_argument,
                          root_.string() + ": no definition " + in_quotes(base::ascii_line(name, 100)) + " in it");
      }
    }
    return std::move(out_);
  }

  /// The parts that are there, of which none has to be.
  base::Result<Dataset> survey() {
    TRY(read_parts({Part::definitions, Part::workloads, Part::solutions}));
    attach();
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool wants(const std::string& name) const { return wanted_.empty() || wanted_.contains(name); }

  void refuse(const fs::path& file, int line, std::string reason, std::string definition) {
    out_.problems.push_back({line, base::ascii_line(definition, 200), std::move(reason), shown(file)});
  }

  /// The path from the dataset's folder, fit for one line of a terminal.
  [[nodiscard]] std::string shown(const fs::path& file) const {
    return base::ascii_line((root_ / fs::path(file).lexically_relative(root_)).string(), 600);
  }

  /// Regular files below the folder in the order of their paths; links and deep folders are problems.
  base::Result<std::vector<fs::path>> list(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code problem;
    fs::recursive_directory_iterator entry(folder, problem);
    for (const fs::recursive_directory_iterator end; !problem && entry != end; entry.increment(problem)) {
      if (++visited_ > kMostFiles) {
        return base::fail(base::ErrorCode::exhausted, root_.string() + ": has more than " + std::to_string(kMostFiles) +
                                                          " files; name a part of it");
      }
      std::error_code ignored;
      const fs::file_status status = entry->symlink_status(ignored);
      const std::string suffix = entry->path().extension().string();
      const bool reads = suffix == ".json" || suffix == ".jsonl";
      if (fs::is_symlink(status)) {
        if (folder == root_ / folder_of(Part::definitions))
          out_.taken.definitions.insert(entry->path().stem().string());
        refuse(entry->path(), 0, "is a symbolic link; put what it leads to there", "");
      } else if (fs::is_directory(status) && entry.depth() >= kDeepestFolder) {
        refuse(entry->path(), 0, "is nested too deeply", "");
        entry.disable_recursion_pending();
      } else if (reads && fs::is_regular_file(status)) {
        files.push_back(entry->path());
      } else if (reads && !fs::is_directory(status)) {
        refuse(entry->path(), 0, "is no regular file", "");
      }
    }
    if (problem) return base::fail_errno(problem.value(), "cannot list " + folder.string());
    std::sort(files.begin(), files.end());
    return files;
  }

  base::Result<void> read_parts(std::initializer_list<Part> parts) {
    for (const Part part : parts) {
      std::error_code ignored;
      const fs::path folder = root_ / folder_of(part);
      if (!fs::exists(fs::symlink_status(folder, ignored))) continue;
      if (!fs::is_directory(fs::symlink_status(folder, ignored))) {
        refuse(folder, 0, "is no folder", "");
        continue;
      }
      TRY_ASSIGN(const std::vector<fs::path> files, list(folder));
      for (const fs::path& file : files) TRY(read_file(file, part, file.stem().string()));
    }
    return {};
  }

  /// A folder a problem, at any depth.
  base::Result<void> read_problem_folders() {
    out_.by_problem = true;
    TRY_ASSIGN(const std::vector<fs::path> files, list(root_));
    std::map<fs::path, std::string> names;  // of the problems' definitions, by folder
    for (const fs::path& file : files) {
      if (file.filename() != "definition.json") continue;
      is_dataset_ = true;
      last_definition_.clear();
      TRY(read_file(file, Part::definitions, file.parent_path().filename().string()));
      names[file.parent_path()] = last_definition_;
    }
    for (const fs::path& file : files) {
      const auto problem = names.find(file.parent_path());
      if (problem == names.end() || problem->second.empty()) continue;
      const std::string name = file.filename().string();
      if (name == "workload.jsonl" || name == "workloads.jsonl") TRY(read_file(file, Part::workloads, problem->second));
      if (name.starts_with("solution") && file.extension() == ".json")
        TRY(read_file(file, Part::solutions, problem->second));
    }
    return {};
  }

  /// `owner`: the definition that the file's place speaks of.
  base::Result<void> read_file(const fs::path& file, Part part, const std::string& owner) {
    auto text = base::read_foreign_file(file, kMostFileBytes);
    if (!text) {
      if (part == Part::definitions) out_.taken.definitions.insert(owner);
      refuse(file, 0, text.error().message, owner);
      return {};
    }
    ++out_.files;
    bytes_ += text->size();
    if (bytes_ > kMostBytes) {
      return base::fail(base::ErrorCode::exhausted,
                        root_.string() + ": its files have more than 1 GiB of JSON; name a part of it");
    }
    if (file.extension() == ".json") {
      take(file, 0, *text, part, owner);
      return {};
    }
    int line = 0;
    for (std::size_t begin = 0; begin < text->size();) {
      const std::size_t end = std::min(text->find('\n', begin), text->size());
      const std::string_view one = base::trimmed(std::string_view(*text).substr(begin, end - begin));
      ++line;
      if (!one.empty()) take(file, line, one, part, owner);
      begin = end + 1;
    }
    return {};
  }

  void take(const fs::path& file, int line, std::string_view text, Part part, const std::string& owner) {
    auto json = parse_bounded(text);
    if (part == Part::definitions && (!json || !json->is_object())) out_.taken.definitions.insert(owner);
    if (!json) return refuse(file, line, json.error().message, owner);
    if (!json->is_object()) return refuse(file, line, "must be an object", owner);
    switch (part) {
      case Part::definitions:
        return take_definition(file, *json, owner);
      case Part::workloads:
        return take_workload(file, line, *json, owner);
      case Part::solutions:
        return take_solution(file, line, *json, owner);
      case Part::traces:
        return take_trace(file, line, *json, owner);
    }
  }

  void take_definition(const fs::path& file, OrderedJson& json, const std::string& owner) {
    last_definition_.clear();
    // SOL-ExecBench keeps the reference beside the definition, too.
    if (!json.contains("reference") && file.filename() == "definition.json") {
      if (const auto text = base::read_foreign_file(file.parent_path() / "reference.py", kMostFileBytes))
        json["reference"] = *text;
    }
    auto definition = flashinfer_trace::read_definition(json);
    const std::string name = definition ? definition->name : text_or(json, "name", owner);
    out_.taken.definitions.insert(name);
    if (!definition) return refuse(file, 0, definition.error().message, name);
    const auto [first, is_new] = first_files_.emplace(name, shown(file));
    const auto known = out_.entries.find(name);
    if (!is_new && out_.by_problem && known != out_.entries.end() &&
        known->second.definition.json == definition->json) {
      last_definition_ = name;  // one problem in several folders, each with solutions of its own
      return;
    }
    if (!is_new) {
      out_.entries.erase(name);
      return refuse(file, 0, "is a second definition of this name, after " + first->second + "; keep one of them",
                    name);
    }
    last_definition_ = name;
    if (!wants(name)) return;
    const bool in_folder = file.filename() == "definition.json";
    Entry& entry = out_.entries[name];
    entry.definition = std::move(*definition);
    entry.file = shown(file);
    entry.root = in_folder ? file.parent_path() : root_;
  }

  void take_workload(const fs::path& file, int line, const OrderedJson& json, const std::string& owner) {
    const bool wrapped = json.contains("workload");
    const std::string name = wrapped ? text_or(json, "definition", owner) : owner;
    if (!wants(name)) return;
    const OrderedJson& own = wrapped ? json["workload"] : json;
    if (const std::string uuid = text_or(own, "uuid", ""); !uuid.empty()) out_.taken.workloads.emplace(name, uuid);
    for (const char* key : {"solution", "evaluation"}) {
      if (wrapped && json.contains(key) && !json[key].is_null())
        return refuse(file, line, std::string("has a ") + key + "; that belongs into traces/", name);
    }
    auto workload = flashinfer_trace::read_workload(own);
    if (!workload) return refuse(file, line, workload.error().message, name);
    const auto [first, is_new] = first_workloads_.emplace(std::pair(name, workload->uuid), shown(file));
    const std::vector<Workload>& others = workloads_[name];
    const auto same = [&](const Workload& other) { return other.json == workload->json; };
    if (!is_new && out_.by_problem && std::any_of(others.begin(), others.end(), same)) return;
    if (!is_new) return refuse(file, line, "has the uuid of a workload before it, in " + first->second, name);
    workloads_[name].push_back(std::move(*workload));
    places_[name] = {file, line};
  }

  void take_solution(const fs::path& file, int line, const OrderedJson& json, const std::string& owner) {
    auto solution = flashinfer_trace::read_solution(json);
    const std::string name = out_.by_problem ? owner : text_or(json, "definition", owner);
    if (!wants(name)) return;
    // Of FlashInfer Trace, names are unique in the dataset; of SOL-ExecBench, in the problem's folder.
    const std::pair key(out_.by_problem ? name : "", text_or(json, "name", ""));
    out_.taken.solutions[key].insert(file);
    if (!solution) return refuse(file, line, solution.error().message, name);
    const auto [first, is_new] = first_solutions_.emplace(key, shown(file));
    if (!is_new) return refuse(file, line, "has the name of a solution before it, in " + first->second, name);
    solutions_[name].push_back(std::move(*solution));
    places_[name] = {file, line};
  }

  void take_trace(const fs::path& file, int line, const OrderedJson& json, const std::string& owner) {
    const std::string name = text_or(json, "definition", owner);
    if (!wants(name)) return;
    auto trace = flashinfer_trace::read_trace(json);
    if (!trace) return refuse(file, line, trace.error().message, name);
    traces_[name].push_back(std::move(*trace));
  }

  /// Gives each definition what speaks of it.
  void attach() {
    for (auto& [name, workloads] : workloads_) {
      if (const auto entry = out_.entries.find(name); entry != out_.entries.end()) {
        entry->second.workloads = std::move(workloads);
      } else if (!first_files_.contains(name)) {
        refuse(places_[name].first, places_[name].second, "speaks of a definition that is not there", name);
      }
    }
    for (auto& [name, solutions] : solutions_) {
      if (const auto entry = out_.entries.find(name); entry != out_.entries.end()) {
        entry->second.solutions = std::move(solutions);
      } else if (!first_files_.contains(name)) {
        refuse(places_[name].first, places_[name].second, "speaks of a definition that is not there", name);
      }
    }
    for (auto& [name, traces] : traces_) {
      if (const auto entry = out_.entries.find(name); entry != out_.entries.end())
        entry->second.traces = std::move(traces);
    }
  }

  const fs::path root_;
  const std::set<std::string> wanted_;
  Dataset out_;
  std::size_t visited_ = 0;
  std::size_t bytes_ = 0;
  bool is_dataset_ = false;
  std::string last_definition_;
  std::map<std::string, std::string> first_files_;
  std::map<std::pair<std::string, std::string>, std::string> first_workloads_;
  std::map<std::pair<std::string, std::string>, std::string> first_solutions_;
  std::map<std::string, std::vector<Workload>> workloads_;
  std::map<std::string, std::vector<Solution>> solutions_;
  std::map<std::string, std::vector<Trace>> traces_;
  std::map<std::string, std::pair<fs::path, int>> places_;
};

}  // namespace

base::Result<Dataset> read_dataset(const fs::path& folder, const std::vector<std::string>& names) {
  return DatasetReader(folder.lexically_normal(), names).read();
}

base::Result<Dataset> survey_dataset(const fs::path& folder) {
  const fs::path root = folder.lexically_normal();
  std::error_code ignored;
  if (!fs::is_directory(root / folder_of(Part::definitions), ignored)) {
    // What cannot be read as problems is no dataset of that form, for import neither.
    auto problems = DatasetReader(root, {}).read();
    if (problems && !problems->entries.empty()) return problems;
  }
  return DatasetReader(root, {}).survey();
}

}  // namespace accelopt::suites::flashinfer_trace
