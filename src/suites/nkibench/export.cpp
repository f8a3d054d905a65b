// SPDX-License-Identifier: Apache-2.0
#include "suites/nkibench/export.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/schema.hpp"
#include "base/text.hpp"
#include "suites/foreign_files.hpp"
#include "suites/nkibench/benchmark.hpp"
#include "suites/nkibench/import.hpp"

namespace accelopt::suites::nkibench {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::fail;

struct Origin {
  Case from;
  std::string stem;  ///< of the kernel's file
};

base::Result<Origin> read_origin(const fs::path& folder) {
  const fs::path file = folder / kOriginFile;
  const auto text = base::read_foreign_file(file, kMostFileBytes);
  if (!text && text.error().code == ErrorCode::not_found)
    return fail(ErrorCode::unsupported, folder.string() +
                                            " was not made by accelopt import nkibench: the benchmark has no place for "
                                            "its winner; accelopt best writes it");
  if (!text) return tl::make_unexpected(text.error());
  TRY_ASSIGN(const base::Json json, base::parse_json(*text, file.string()));
  TRY(base::check_schema(json, kOriginSchema, file.string()));
  Origin out;
  out.from.op = base::text_at(json, "operator");
  out.from.id = base::text_at(json, "case");
  out.from.task = base::text_at(json, "task");
  out.from.kernel = base::text_at(json, "kernel");
  TRY_ASSIGN(out.from.values, base::decode<Values>(json.value("values", base::Json()), file.string() + ": values"));
  out.stem = fs::path(out.from.kernel).stem().string();
  if (out.from.op.empty() || out.from.id.empty() || out.from.task.empty() || !is_folder_name(out.stem))
    return fail(ErrorCode::corrupt, file.string() + ": import the task again");
  return out;
}

/// summary.json with the kernel listed. @error parse: it is there and is another thing.
base::Result<std::string> listed(const fs::path& summary, const Case& from, const std::string& kernel) {
  OrderedJson json = OrderedJson::object();
  const auto text = base::read_foreign_file(summary, kMostFileBytes);
  if (text) {
    if (base::nests_deeper(*text, base::kDeepestJson))
      return fail(ErrorCode::parse, summary.string() + ": nested too deeply");
    json = OrderedJson::parse(*text, nullptr, false);
  } else if (text.error().code != ErrorCode::not_found) {
    return tl::make_unexpected(text.error());
  }
  const auto wrong = [&] { return fail(ErrorCode::parse, summary.string() + ": not a list of the benchmark's cases"); };
  if (!json.is_object()) return wrong();
  OrderedJson& op = json[from.op];
  if (op.is_null()) op = OrderedJson::object();
  if (!op.is_object()) return wrong();
  if (op["cases"].is_null()) op["cases"] = OrderedJson::object();
  if (!op["cases"].is_object()) return wrong();
  OrderedJson& entry = op["cases"][from.id];
  if (entry.is_null()) entry = {{"values", from.values}, {"impls", OrderedJson::array()}};
  if (!entry.is_object() || !entry["impls"].is_array()) return wrong();
  const OrderedJson implementation{{"task", from.task}, {"kernel", kernel}};
  OrderedJson& all = entry["impls"];
  if (std::find(all.begin(), all.end(), implementation) == all.end()) all.push_back(implementation);
  return json.dump(4, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace

base::Result<ExportReport> export_winner(const ExportRequest& request) {
  TRY_ASSIGN(const Origin origin, read_origin(request.task_folder));
  if (request.winner.sources.size() != 1)
    return fail(ErrorCode::unsupported, "the winner has several files, and the benchmark takes one");
  const auto known = find_benchmark(request.output);
  const fs::path benchmark = known ? *known : request.output;
  const std::string name =
      origin.stem + "_accelopt_" + request.winner_id.substr(0, 6) + fs::path(origin.from.kernel).extension().string();
  ExportReport out{.kernel = benchmark / "kernels" / name, .summary = benchmark / "summary.json"};
  TRY_ASSIGN(const std::string summary, listed(out.summary, origin.from, "./kernels/" + name));
  TRY(base::make_folders(out.kernel.parent_path()));
  TRY(base::write_file(out.kernel, request.winner.sources.front().text));
  TRY(base::write_file(out.summary, summary));
  return out;
}

}  // namespace accelopt::suites::nkibench
