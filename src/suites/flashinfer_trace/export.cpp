// SPDX-License-Identifier: Apache-2.0
#include "suites/flashinfer_trace/export.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <system_error>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/schema.hpp"
#include "base/text.hpp"
#include "suites/flashinfer_trace/baseline.hpp"
#include "suites/flashinfer_trace/dataset.hpp"
#include "suites/flashinfer_trace/import.hpp"
#include "suites/flashinfer_trace/languages.hpp"
#include "suites/flashinfer_trace/python_text.hpp"

namespace accelopt::suites::flashinfer_trace {
namespace {

using base::in_quotes;
namespace fs = std::filesystem;

constexpr std::size_t kMostOriginBytes = std::size_t{64} << 20;
constexpr std::size_t kMostWorkloadBytes = std::size_t{64} << 20;
constexpr std::size_t kMostTraceBytes = std::size_t{1} << 30;
constexpr const char* kEvaluator = "accelopt ";  ///< begins `correctness.extra.evaluator`, before the version

/// What an imported task was made from.
struct Origin {
  std::optional<OrderedJson> definition{};
  OrderedJson workloads = OrderedJson::object();  ///< by the names that they have in the task
  std::optional<OrderedJson> solution{};
};

base::Result<Origin> read_origin(const fs::path& folder) {
  const fs::path file = folder / kOriginFile;
  const auto text = base::read_foreign_file(file, kMostOriginBytes);
  if (!text && text.error().code == base::ErrorCode::not_found) return Origin{};
  if (!text) return tl::make_unexpected(base::with_context(text.error(), file.string()));
  auto json = parse_bounded(*text);
  if (!json) return tl::make_unexpected(base::with_context(json.error(), file.string()));
  TRY(base::check_schema(base::Json(*json), kOriginSchema, file.string()));
  const auto refuse = [&](const base::Error& error) {
    return tl::make_unexpected(base::with_context(error, file.string()));
  };
  Origin out;
  if (json->contains("definition")) {
    if (const auto read = read_definition((*json)["definition"]); !read) return refuse(read.error());
    out.definition = (*json)["definition"];
  }
  if (json->contains("solution")) {
    if (const auto read = read_solution((*json)["solution"]); !read) return refuse(read.error());
    out.solution = (*json)["solution"];
  }
  if (!json->contains("workloads") || !(*json)["workloads"].is_object()) return out;
  out.workloads = (*json)["workloads"];
  for (const auto& [name, workload] : out.workloads.items()) {
    if (const auto read = read_workload(workload); !read) return refuse(read.error());
  }
  return out;
}

/// One line with the ecosystem's spelling of numbers that JSON has none for.
std::string compact(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string pretty(const OrderedJson& json) {
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace);
}

OrderedJson number_or_name(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

/// An id of the form of a UUID that the same workload always has.
std::string uuid_of(const model::Task& task, const model::Workload& workload) {
  const std::string hash = base::sha256_hex(task.definition.name + "\n" + base::canonical(base::Json(workload)));
  return hash.substr(0, 8) + "-" + hash.substr(8, 4) + "-" + hash.substr(12, 4) + "-" + hash.substr(16, 4) + "-" +
         hash.substr(20, 12);
}

/// The workload with all fields that the schema gives it, and no others.
OrderedJson full_workload(const OrderedJson& json) {
  OrderedJson out;
  out["axes"] = json.value("axes", OrderedJson::object());
  out["inputs"] = OrderedJson::object();
  const OrderedJson inputs = json.value("inputs", OrderedJson::object());
  for (const auto& [name, value] : inputs.items()) {
    OrderedJson& one = out["inputs"][name];
    if (value.contains("value")) {
      one = {{"type", "scalar"}, {"value", value["value"]}};
    } else if (value.contains("path") && value.contains("tensor_key")) {
      one = {{"type", "safetensors"}, {"path", value["path"]}, {"tensor_key", value["tensor_key"]}};
    } else {
      one = {{"type", "random"}};
    }
  }
  out["uuid"] = json.value("uuid", OrderedJson());
  return out;
}

/// The same of a workload that no dataset has.
OrderedJson own_workload(const model::Task& task, const model::Workload& workload) {
  OrderedJson out;
  out["axes"] = OrderedJson::object();
  for (const std::string& axis : variable_axes(task.definition)) out["axes"][axis] = workload.axes.at(axis);
  out["inputs"] = OrderedJson::object();
  for (const model::TensorSpec& input : task.definition.inputs) {
    const model::InitSpec& init = init_of(workload, input);
    const bool scalar = !input.shape && init.kind == model::InitKind::constant;
    out["inputs"][input.name] =
        scalar ? OrderedJson{{"type", "scalar"}, {"value", init.first}} : OrderedJson{{"type", "random"}};
  }
  out["uuid"] = uuid_of(task, workload);
  return out;
}

/// How accelopt drew the inputs whose numbers are not just any: lists are cut.
OrderedJson drawn_inputs(const model::Task& task, const model::Workload& workload) {
  OrderedJson out = OrderedJson::object();
  for (const model::TensorSpec& input : task.definition.inputs) {
    const std::string text = to_string(init_of(workload, input));
    out[input.name] = text.size() <= 120 ? text : text.substr(0, 100) + "...)";
  }
  return out;
}

/// Whether the line of a traces file is one that an earlier export wrote.
bool is_own_trace(std::string_view line, const std::string& definition, const std::string& solution) {
  static const OrderedJson::json_pointer kPlace("/evaluation/correctness/extra/evaluator");
  const auto json = parse_bounded(line);
  if (!json || !json->is_object() || !json->contains(kPlace)) return false;
  const OrderedJson& evaluator = json->at(kPlace);
  return evaluator.is_string() && evaluator.get_ref<const std::string&>().starts_with(kEvaluator) &&
         json->value("definition", OrderedJson()) == definition && json->value("solution", OrderedJson()) == solution;
}

/// The file's text; empty where it is not there.
base::Result<std::string> text_there(const fs::path& path, std::size_t most) {
  auto text = base::read_foreign_file(path, most);
  if (!text && text.error().code == base::ErrorCode::not_found) return std::string();
  if (!text) return tl::make_unexpected(base::with_context(text.error(), path.string()));
  return text;
}

/// Whether anything is there, a link that leads nowhere included.
bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

/// Adds to a dataset: what it has already stays as it is, but for an earlier export of the same winner.
class Exporter {
 public:
  Exporter(const ExportRequest& request, Origin origin, Dataset there)
      : request_(request), origin_(std::move(origin)), there_(std::move(there)) {}

  base::Result<ExportReport> run() {
    definition_ = request_.task.definition.name;
    op_type_ = is_folder_name(request_.task.definition.op_type) ? request_.task.definition.op_type : "other";
    for (const std::string& name : {definition_, request_.author}) {
      if (!is_folder_name(name)) {
        return base::fail(base::ErrorCode::unsupported,
                          in_quotes(base::ascii_line(name, 100)) + " cannot be a folder's name, which datasets need");
      }
    }
    TRY_ASSIGN(const OrderedJson winner, winner_solution());
    out_.solution = winner["name"].get<std::string>();
    TRY(check_place(winner));
    TRY(write_definition());
    TRY(write_winner(winner));
    TRY(write_traces(request_.author, out_.solution,
                     [](const ExportedTiming& timing) { return std::optional(timing.winner_ns); }));
    TRY(write_baseline());
    TRY(put(fs::path("accelopt") / (out_.solution + ".json"),
            request_.record.dump(2, ' ', false, base::Json::error_handler_t::replace) + "\n"));
    out_.notes.emplace_back(
        "errors are \"NaN\" and reference_latency_ms is 0: accelopt bounds errors by its own rules and times no Python "
        "reference; its speed-up over the baseline is in correctness.extra");
    return std::move(out_);
  }

 private:
  base::Result<void> put(const fs::path& name, const std::string& text) {
    const fs::path path = request_.output / name;
    TRY(base::make_folders(path.parent_path()));
    TRY(base::write_file(path, text));
    out_.files.push_back(path);
    return {};
  }

  [[nodiscard]] fs::path solution_path(const std::string& author, const std::string& name) const {
    if (const auto problem = problem_folder()) return *problem / ("solution_" + name + ".json");
    return fs::path("solutions") / author / op_type_ / definition_ / (name + ".json");
  }

  [[nodiscard]] fs::path definition_path() const {
    return fs::path("definitions") / op_type_ / (definition_ + ".json");
  }

  [[nodiscard]] fs::path workloads_path() const {
    if (const auto problem = problem_folder()) {
      const bool several = is_there(request_.output / *problem / "workloads.jsonl");
      return *problem / (several ? "workloads.jsonl" : "workload.jsonl");
    }
    return fs::path("workloads") / op_type_ / (definition_ + ".jsonl");
  }

  /// Where SOL-ExecBench's form keeps what belongs to the definition, from the dataset's folder; none: it has another
  /// form, or no such definition.
  [[nodiscard]] std::optional<fs::path> problem_folder() const {
    const auto entry = there_.entries.find(definition_);
    if (!there_.by_problem || entry == there_.entries.end()) return std::nullopt;
    return entry->second.root.lexically_relative(request_.output.lexically_normal());
  }

  /// The files that have a solution of the name; null: none does.
  [[nodiscard]] const std::set<fs::path>* files_of_solution(const std::string& name) const {
    const auto found = there_.taken.solutions.find({there_.by_problem ? definition_ : "", name});
    return found == there_.taken.solutions.end() ? nullptr : &found->second;
  }

  /// Whether the dataset has the solution with these very sources.
  [[nodiscard]] bool has_same_solution(const Solution& solution) const {
    for (const auto& [definition, entry] : there_.entries) {
      if (there_.by_problem && definition != definition_) continue;
      for (const Solution& one : entry.solutions) {
        if (one.name == solution.name) return one.definition == solution.definition && one.sources == solution.sources;
      }
    }
    return false;
  }

  /// The file that has the winner in the dataset, where that is another than the export writes.
  [[nodiscard]] std::optional<fs::path> other_file_of_winner() const {
    const std::set<fs::path>* files = files_of_solution(out_.solution);
    const fs::path own = (request_.output / solution_path(request_.author, out_.solution)).lexically_normal();
    if (files == nullptr ||
        std::any_of(files->begin(), files->end(), [&](const fs::path& file) { return file.lexically_normal() == own; }))
      return std::nullopt;
    return *files->begin();
  }

  /// Refuses before anything is written.
  base::Result<void> check_place(const OrderedJson& winner) {
    for (const char* name : {"definitions", "workloads", "solutions"}) {
      std::error_code ignored;
      const fs::path folder = request_.output / name;
      if (is_there(folder) && !fs::is_directory(fs::symlink_status(folder, ignored))) {
        return base::fail(
            base::ErrorCode::io,
            folder.string() + ": is no folder, so that nobody can read what is in it; put a folder there");
      }
    }
    has_definition_ = there_.taken.definitions.contains(definition_) || is_there(request_.output / definition_path());
    if (there_.by_problem && origin_.definition && !has_definition_) {
      return base::fail(base::ErrorCode::unsupported,
                        request_.output.string() + ": is a dataset of SOL-ExecBench without " + in_quotes(definition_) +
                            ", and a folder definitions/ would hide its problems; name another folder");
    }
    const auto file = other_file_of_winner();
    const auto solution = read_solution(winner);
    if (file && !(solution && has_same_solution(*solution))) {
      return base::fail(base::ErrorCode::already_exists, file->string() + ": has another solution " +
                                                             in_quotes(out_.solution) + "; name another folder");
    }
    return {};
  }

  /// Only fields that say something: their order is the schema's.
  base::Result<OrderedJson> winner_solution() {
    const model::Solution& winner = request_.winner;
    if (winner.sources.empty()) return base::fail(base::ErrorCode::unsupported, "the winner has no source");
    const auto source = language_of_target(request_.task.target);
    if (!source)
      return base::fail(base::ErrorCode::unsupported,
                        "no Solution has the language of target " + in_quotes(request_.task.target));
    const std::string language(to_string(*source));
    OrderedJson out;
    out["name"] = "accelopt_" + language + "_" + request_.winner_id.substr(0, 6);
    out["definition"] = definition_;
    out["author"] = request_.author;
    const std::string symbol = is_python(*source) ? entry_symbol() : "kernel";
    out["spec"]["language"] = language;
    out["spec"]["target_hardware"] = OrderedJson::array({request_.device.empty() ? "unknown" : request_.device});
    out["spec"]["entry_point"] = winner.sources.front().name + "::" + symbol;
    if (const auto style = style_of(out); style != CallingStyle::unknown)
      out["spec"]["destination_passing_style"] = style == CallingStyle::writes;
    for (const model::SourceFile& file : winner.sources)
      out["sources"].push_back({{"path", file.name}, {"content", file.text}});
    if (!is_python(*source)) {
      const std::string how =
          "A kernel under accelopt's contract: it has no host function that the ecosystem's builders could call.";
      out["description"] = how;
      out_.notes.push_back("the solution's schema is right, but only accelopt runs it: " +
                           std::string(*source == SourceLanguage::cuda ? "its launches stand in //@ launch lines"
                                                                       : "its function takes plain pointers") +
                           ", and no builder of the ecosystem calls that");
    }
    return out;
  }

  /// The function that the baseline's solution named, where the winner still has it.
  [[nodiscard]] std::string entry_symbol() const {
    if (origin_.solution) {
      const auto solution = read_solution(*origin_.solution);
      if (solution && find_function(main_text(request_.winner), solution->entry_symbol)) return solution->entry_symbol;
    }
    return "run";
  }

  /// As the winner's own parameters say, where it is Python.
  [[nodiscard]] CallingStyle style_of(const OrderedJson& without_sources) const {
    const model::Definition& definition = request_.task.definition;
    Definition counts;
    for (const model::TensorSpec& input : definition.inputs) counts.inputs.push_back({input.name, std::nullopt, ""});
    for (const model::TensorSpec& output : definition.outputs)
      counts.outputs.push_back({output.name, std::nullopt, ""});
    Solution solution;
    solution.language = without_sources["spec"]["language"].get<std::string>();
    solution.sources = request_.winner.sources;
    solution.entry_file = solution.sources.front().name;
    solution.entry_symbol = entry_symbol();
    return calling_style(solution, counts);
  }

  /// What the task was made from, so that the folder is a dataset of its own.
  base::Result<void> write_definition() {
    if (!origin_.definition) {
      out_.notes.emplace_back("the task was not imported: its Definition, whose reference is Python, is not written");
      return {};
    }
    if (!has_definition_) TRY(put(definition_path(), pretty(*origin_.definition)));
    const auto entry = there_.entries.find(definition_);
    if (has_definition_ && (entry == there_.entries.end() || entry->second.definition.json != *origin_.definition)) {
      out_.notes.push_back("the dataset's definition " + in_quotes(definition_) +
                           " is not the one that the task was made from: it stays as it is");
    }
    return write_workloads();
  }

  /// Adds those that the dataset does not have.
  base::Result<void> write_workloads() {
    std::string lines;
    for (const auto& [name, workload] : origin_.workloads.items()) {
      if (there_.taken.workloads.contains({definition_, workload.at("uuid").get<std::string>()})) continue;
      const OrderedJson trace = {{"definition", definition_},
                                 {"workload", full_workload(workload)},
                                 {"solution", nullptr},
                                 {"evaluation", nullptr}};
      lines += compact(trace) + "\n";
    }
    const fs::path file = workloads_path();
    if (lines.empty() && (has_definition_ || is_there(request_.output / file))) return {};
    TRY_ASSIGN(std::string text, text_there(request_.output / file, kMostWorkloadBytes));
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    return put(file, text + lines);
  }

  base::Result<void> write_winner(const OrderedJson& winner) {
    const auto file = other_file_of_winner();
    if (!file) return put(solution_path(request_.author, out_.solution), pretty(winner));
    out_.notes.push_back("the dataset has this solution already, in " + file->string() + ": it stays as it is");
    return {};
  }

  base::Result<void> write_baseline() {
    if (!origin_.solution) return {};
    const auto solution = read_solution(*origin_.solution);
    if (!solution || !is_folder_name(solution->name)) return {};
    const std::string author = is_folder_name(solution->author) ? solution->author : "unknown";
    const fs::path file = solution_path(author, solution->name);
    const bool is_taken = files_of_solution(solution->name) != nullptr || is_there(request_.output / file);
    if (is_taken && !has_same_solution(*solution)) {
      out_.notes.push_back("the dataset's solution " + in_quotes(solution->name) +
                           " is not the baseline that was timed: it stays as it is, and its times are not written");
      return {};
    }
    if (!is_taken) TRY(put(file, pretty(*origin_.solution)));
    return write_traces(author, solution->name, [](const ExportedTiming& timing) { return timing.baseline_ns; });
  }

  template <class TimeOf>
  base::Result<void> write_traces(const std::string& author, const std::string& solution, const TimeOf& time_of) {
    const fs::path name = fs::path("traces") / author / op_type_ / (definition_ + ".jsonl");
    TRY_ASSIGN(std::string lines, lines_to_keep(name, solution));
    for (const ExportedTiming& timing : request_.timings) {
      const auto time = time_of(timing);
      if (!time || !std::isfinite(*time)) continue;
      for (const model::Workload& workload : request_.task.workloads) {
        if (workload.name == timing.workload) lines += compact(trace_of(workload, timing, solution, *time)) + "\n";
      }
    }
    return put(name, lines);
  }

  /// The file's lines, but for those of an earlier export of the solution.
  [[nodiscard]] base::Result<std::string> lines_to_keep(const fs::path& name, const std::string& solution) const {
    TRY_ASSIGN(const std::string text, text_there(request_.output / name, kMostTraceBytes));
    std::string kept;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::string_view line = std::string_view(text).substr(begin, end - begin);
      begin = end + 1;
      if (base::trimmed(line).empty() || is_own_trace(line, definition_, solution)) continue;
      kept += std::string(line) + "\n";
    }
    return kept;
  }

  [[nodiscard]] OrderedJson trace_of(const model::Workload& workload, const ExportedTiming& timing,
                                     const std::string& solution, double time_ns) const {
    OrderedJson extra = {{"evaluator", kEvaluator + request_.version},
                         {"inputs", drawn_inputs(request_.task, workload)}};
    if (timing.speedup && solution == out_.solution) {
      extra["speedup_over_baseline"] = {{"estimate", number_or_name(timing.speedup->estimate)},
                                        {"low", number_or_name(timing.speedup->low)},
                                        {"high", number_or_name(timing.speedup->high)}};
    }
    const OrderedJson evaluation = {
        {"status", "PASSED"},
        {"environment",
         {{"hardware", request_.device.empty() ? "unknown" : request_.device},
          {"libs", {{"accelopt", request_.version}}}}},
        {"timestamp", request_.timestamp},
        {"log", ""},
        {"correctness", {{"max_relative_error", "NaN"}, {"max_absolute_error", "NaN"}, {"extra", extra}}},
        {"performance", {{"latency_ms", time_ns / 1e6}, {"reference_latency_ms", 0.0}, {"speedup_factor", 0.0}}}};
    const auto from = origin_.workloads.find(workload.name);
    const OrderedJson as_json =
        from == origin_.workloads.end() ? own_workload(request_.task, workload) : full_workload(*from);
    return {{"definition", definition_}, {"workload", as_json}, {"solution", solution}, {"evaluation", evaluation}};
  }

  const ExportRequest& request_;
  const Origin origin_;
  const Dataset there_;  ///< what the folder has
  bool has_definition_ = false;
  ExportReport out_;
  std::string definition_;
  std::string op_type_;
};

}  // namespace

base::Result<ExportReport> export_winner(const ExportRequest& request) {
  TRY_ASSIGN(Origin origin, read_origin(request.task_folder));
  TRY_ASSIGN(Dataset there, survey_dataset(request.output));
  return Exporter(request, std::move(origin), std::move(there)).run();
}

}  // namespace accelopt::suites::flashinfer_trace
