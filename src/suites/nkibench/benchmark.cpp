// SPDX-License-Identifier: Apache-2.0
#include "suites/nkibench/benchmark.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "suites/foreign_files.hpp"

namespace accelopt::suites::nkibench {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::fail;

constexpr std::int64_t kMostExtent = std::int64_t{1} << 31;

/// @error parse: the case has other fields than the benchmark gives it.
base::Result<Case> read_case(const std::string& op, const std::string& id, const base::Json& json) {
  Case out{.op = op, .id = id, .values = {}, .task = {}, .kernel = {}};
  const std::string what = "summary.json: " + base::ascii_line(op, 80) + ", case " + base::ascii_line(id, 20);
  TRY_ASSIGN(out.values, base::decode<Values>(json.value("values", base::Json()), what + ": values"));
  for (const auto& [name, value] : out.values) {
    if (value < 1 || value > kMostExtent) return fail(ErrorCode::parse, what + ": a value is no size");
  }
  const base::Json impls = json.value("impls", base::Json());
  if (!impls.is_array() || impls.empty() || !impls.front().is_object())
    return fail(ErrorCode::parse, what + " has no implementation");
  out.task = base::text_at(impls.front(), "task");
  out.kernel = base::text_at(impls.front(), "kernel");
  if (out.task.empty() || out.kernel.empty()) return fail(ErrorCode::parse, what + " names no task or no kernel");
  return out;
}

/// The numbers of "128, 32, 7168)..."; none: it is no such list.
std::optional<std::vector<std::int64_t>> read_extents(std::string_view text) {
  std::vector<std::int64_t> out;
  const std::size_t end = text.find(')');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view list = text.substr(0, end);
  while (!base::trimmed(list).empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view number = base::trimmed(list.substr(0, comma));
    list = list.substr(std::min(comma + 1, list.size()));
    std::int64_t value = 0;
    const auto [last, problem] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (problem != std::errc{} || last != number.data() + number.size() || value < 1 || value > kMostExtent)
      return std::nullopt;
    out.push_back(value);
  }
  return out.empty() ? std::nullopt : std::optional(out);
}

}  // namespace

base::Result<fs::path> find_benchmark(const fs::path& checkout) {
  std::error_code ignored;
  for (const fs::path& folder : {checkout, checkout / "NKIBench"}) {
    if (fs::is_regular_file(folder / "summary.json", ignored)) return folder;
  }
  return fail(ErrorCode::not_found, checkout.string() +
                                        ": no summary.json, nor NKIBench/summary.json; give the folder of the "
                                        "benchmark, or of a checkout of its repository");
}

base::Result<Cases> read_cases(const fs::path& benchmark) {
  TRY_ASSIGN(const std::string text, base::read_foreign_file(benchmark / "summary.json", kMostFileBytes));
  TRY_ASSIGN(const base::Json summary, base::parse_json(text, (benchmark / "summary.json").string()));
  if (!summary.is_object()) return fail(ErrorCode::parse, "summary.json: not an object of operators");
  Cases out;
  for (const auto& [op, entry] : summary.items()) {
    const base::Json cases = entry.is_object() ? entry.value("cases", base::Json()) : base::Json();
    if (!cases.is_object()) {
      out.problems.push_back("summary.json: " + base::ascii_line(op, 80) + " has no cases");
      continue;
    }
    for (const auto& [id, json] : cases.items()) {
      auto read = json.is_object()
                      ? read_case(op, id, json)
                      : fail(ErrorCode::parse, "summary.json: a case of " + base::ascii_line(op, 80) + " is no object");
      if (read) {
        out.cases.push_back(std::move(*read));
      } else {
        out.problems.push_back(read.error().message);
      }
    }
  }
  return out;
}

base::Result<std::string> read_named(const fs::path& benchmark, const std::string& name) {
  TRY_ASSIGN(const fs::path file, file_in(benchmark, name));
  return base::read_foreign_file(file, kMostFileBytes);
}

base::Result<std::vector<std::optional<std::vector<std::int64_t>>>> kernel_shapes(const std::string& reference,
                                                                                  std::size_t inputs) {
  constexpr std::string_view kBegin = "def transform_to_nki_inputs(";
  constexpr std::string_view kReshape = "np.reshape(inputs[";
  std::vector<std::optional<std::vector<std::int64_t>>> out(inputs);
  const std::size_t begin = reference.find(kBegin);
  if (begin == std::string::npos) return out;
  std::string_view body = std::string_view(reference).substr(begin);
  body = body.substr(0, body.find("\ndef "));
  const auto refuse = [] {
    return fail(ErrorCode::unsupported,
                "its reference makes the kernel's inputs by more than np.reshape, and only that is read");
  };
  for (std::size_t line = body.find('\n'); line != std::string_view::npos; line = body.find('\n', line + 1)) {
    std::string_view text = body.substr(line + 1);
    text = base::trimmed(text.substr(0, text.find('\n')));
    text = base::trimmed(text.substr(0, text.find('#')));
    if (text.empty() || text == "tensor_inputs = []" || text == "return tensor_inputs" || text == "return inputs")
      continue;
    const std::size_t at = text.find(kReshape);
    if (!text.starts_with("tensor_inputs.append(") || at == std::string_view::npos) return refuse();
    std::string_view rest = text.substr(at + kReshape.size());
    std::size_t place = 0;
    const auto [last, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), place);
    rest = rest.substr(static_cast<std::size_t>(last - rest.data()));
    if (problem != std::errc{} || place >= inputs || !rest.starts_with("], (")) return refuse();
    auto shape = read_extents(rest.substr(4));
    if (!shape) return refuse();
    out[place] = std::move(shape);
  }
  return out;
}

}  // namespace accelopt::suites::nkibench
