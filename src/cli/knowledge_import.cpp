// SPDX-License-Identifier: Apache-2.0
#include "cli/knowledge_import.hpp"

#include <charconv>

#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/unified_diff.hpp"
#include "memory/hygiene.hpp"

namespace accelopt::cli {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

/// Of a list of rewrites: the system that publishes them writes NKI kernels for Trainium.
constexpr const char* kRewriteLanguage = "nki";
constexpr const char* kRewriteTarget = "trainium";

/// A number, or a text that begins with one ("1.25x"); none: there is none above 0.
std::optional<double> number(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  double value = 0;
  if (found->is_number()) {
    value = found->get<double>();
  } else if (found->is_string()) {
    const auto& text = found->get_ref<const std::string&>();
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) return std::nullopt;
  }
  return value > 0 ? std::optional(value) : std::nullopt;
}

/// The lines of a diff that begin with the mark, without it: what was changed, or into what.
std::string side_of(const std::string& diff, char mark) {
  std::string out;
  for (std::size_t at = 0; at < diff.size();) {
    const std::size_t end = std::min(diff.find('\n', at), diff.size());
    const std::string_view line = std::string_view(diff).substr(at, end - at);
    const bool header = line.starts_with("--- ") || line.starts_with("+++ ");
    if (!header && line.starts_with(mark)) out += std::string(line.substr(1)) + "\n";
    at = end + 1;
  }
  return out.substr(0, memory::kLongestText);
}

std::string put_solution(Imported& imported, const std::string& text, const std::string& language) {
  const std::string id = base::sha256_hex(text);
  imported.solutions.push_back(
      {.id = id,
       .language = language,
       .sources = {{"language", language}, {"files", {{{"path", "kernel"}, {"text", text}}}}}});
  return id;
}

model::Experience of_rewrite(const Json& object, const ImportDefaults& defaults, Imported& imported) {
  model::Experience it;
  const std::string slow = base::text_at(object, "slow_kernel");
  const std::string fast = base::text_at(object, "fast_kernel");
  it.title = base::text_at(object, "title");
  it.strategy = base::text_at(object, "summary");
  it.language = defaults.language.empty() ? kRewriteLanguage : defaults.language;
  it.target = defaults.target.empty() ? kRewriteTarget : defaults.target;
  it.op_type = defaults.op_type;
  it.diff = base::unified_diff(slow, fast, "slow", "fast");
  it.before = side_of(it.diff, '-');
  it.after = side_of(it.diff, '+');
  if (const auto speedup = number(object, "speedup")) {
    it.effect = model::Interval{*speedup, *speedup, *speedup};
    if (*speedup < 1) it.polarity = model::Polarity::regresses;
  }
  it.slow = put_solution(imported, slow, it.language);
  it.fast = put_solution(imported, fast, it.language);
  return it;
}

Result<void> take(const Json& object, const std::string& where, const ImportDefaults& defaults, Imported& imported) {
  if (!object.is_object()) return fail(ErrorCode::parse, where + ": not a JSON object");
  if (object.contains("slow_kernel") && object.contains("fast_kernel")) {
    imported.experiences.push_back(of_rewrite(object, defaults, imported));
    return {};
  }
  const std::string type = object.value("type", Json("experience")).is_string() ? base::text_at(object, "type") : "?";
  if (!type.empty() && type != "experience")
    return fail(ErrorCode::parse, where + ": is a " + type + ", no experience");
  auto read = base::decode<model::Experience>(object, where);
  if (!read) return tl::make_unexpected(read.error());
  model::Experience it = std::move(*read);
  if (it.title.empty() && it.strategy.empty()) {
    return fail(ErrorCode::parse, where +
                                      ": has neither a title nor a strategy; write at least {\"title\": \"...\", "
                                      "\"strategy\": \"...\"}, or give an export or a list of rewrites");
  }
  if (it.language.empty()) it.language = defaults.language;
  if (it.target.empty()) it.target = defaults.target;
  if (it.op_type.empty()) it.op_type = defaults.op_type;
  const auto hidden = object.find("quarantined");
  if (hidden != object.end() && hidden->is_boolean() && hidden->get<bool>())
    imported.quarantined.push_back(memory::made_fit(it).experience.id);
  imported.experiences.push_back(std::move(it));
  return {};
}

}  // namespace

Result<Imported> read_experiences(std::string_view text, const std::string& what, const ImportDefaults& defaults) {
  Imported imported;
  const Json whole = Json::parse(text, nullptr, false);
  if (whole.is_array()) {
    for (std::size_t i = 0; i < whole.size(); ++i)
      TRY(take(whole[i], what + ": item " + std::to_string(i + 1), defaults, imported));
    return imported;
  }
  if (whole.is_object()) {
    TRY(take(whole, what, defaults, imported));
    return imported;
  }
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string where = what + ": line " + std::to_string(number);
    TRY_ASSIGN(const Json object, base::parse_json(line, where));
    TRY(take(object, where, defaults, imported));
  }
  if (imported.experiences.empty()) return fail(ErrorCode::parse, what + ": holds no experience");
  return imported;
}

}  // namespace accelopt::cli
