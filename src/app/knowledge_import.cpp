// SPDX-License-Identifier: Apache-2.0
#include "app/knowledge_import.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "app/knowledge_export.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/schema.hpp"
#include "base/unified_diff.hpp"
#include "memory/sanitation.hpp"
#include "model/solution.hpp"
#include "stats/estimate.hpp"

namespace accelopt::app {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

/// Of a list of rewrites: the system that publishes them writes NKI kernels, as tasks with this target have them.
constexpr const char* kRewriteLanguage = "nki";
constexpr const char* kRewriteTarget = "nki";

constexpr int kMostIterations = 1'000'000'000;

/// Whether it is a speed-up as measurements give them, which are bounded too.
bool is_ratio(double value) {
  constexpr double kMost = stats::kWidestRatio * (1 + 1e-9);  // it may have been rounded on its way
  return std::isfinite(value) && value >= 1 / kMost && value <= kMost;
}

/// A speed-up, as a number or as a text of a number and perhaps an x ("1.25x"); none: it is anything else.
std::optional<double> speedup_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  double value = 0;
  if (found->is_number()) {
    value = found->get<double>();
  } else if (found->is_string()) {
    std::string_view text = found->get_ref<const std::string&>();
    for (const std::string_view times : {"x", "X", "\u00d7"}) {
      if (!text.ends_with(times)) continue;
      text.remove_suffix(times.size());
      break;
    }
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  }
  return is_ratio(value) ? std::optional(value) : std::nullopt;
}

Result<void> check_effect(const Json& effect, const std::string& where) {
  const auto part = [&](const char* key) {
    const auto found = effect.is_object() ? effect.find(key) : effect.end();
    return effect.is_object() && found != effect.end() && found->is_number() ? found->get<double>() : 0;
  };
  const double low = part("low");
  const double estimate = part("estimate");
  const double high = part("high");
  const bool open = effect.is_object() && effect.value("low", Json()) == 0 && effect.value("high", Json()) == "inf";
  if (open && is_ratio(estimate)) return {};
  if (is_ratio(low) && is_ratio(estimate) && is_ratio(high) && low <= estimate && estimate <= high) return {};
  return fail(ErrorCode::invalid_argument,
              where +
                  ": an effect is {\"estimate\": E, \"low\": L, \"high\": H}, how many times as fast: numbers above 0, "
                  "a thousand times at most, with L <= E <= H; where its uncertainty is unknown, L is 0 and H \"inf\"");
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

/// Whether both kernels of a rewrite can be compared in a time that nobody notices. @error invalid_argument: by name.
Result<void> check_kernel(const Json& object, const char* key, const std::string& where) {
  const std::string text = base::text_at(object, key);
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  if (text.size() <= kMostKernelBytes && lines <= kMostKernelLines) return {};
  return fail(ErrorCode::invalid_argument,
              where + ": " + key + " has " + std::to_string(lines) + " lines and " + std::to_string(text.size()) +
                  " bytes; " + std::to_string(kMostKernelLines) + " and " + std::to_string(kMostKernelBytes) +
                  " are taken at most: give the part that was changed");
}

/// Whether the id is made of these sources: as runs make it, or as imported rewrites do.
bool is_id_of(const std::string& id, const Json& sources) {
  if (!sources.is_object()) return false;
  if (const auto solution = base::decode<model::Solution>(sources, ""))
    return !solution->sources.empty() && model::source_id(*solution) == id;
  const auto files = sources.find("files");
  const bool one = files != sources.end() && files->is_array() && files->size() == 1 && (*files)[0].is_object();
  return one && base::sha256_hex(base::text_at((*files)[0], "text")) == id;
}

/// The kernels that an export carries beside an experience.
void take_kernels(const Json& object, const model::Experience& experience, Imported& imported) {
  const auto solutions = object.find("solutions");
  if (solutions == object.end() || !solutions->is_array()) return;
  for (const Json& one : *solutions) {
    const std::string id = one.is_object() ? base::text_at(one, "id") : "";
    const Json sources = one.is_object() ? one.value("sources", Json()) : Json();
    const Json evaluation = one.is_object() ? one.value("evaluation", Json()) : Json();
    const bool own = !id.empty() && (id == experience.slow || id == experience.fast);
    const std::size_t bytes = base::canonical(sources).size() + base::canonical(evaluation).size();
    if (!own || bytes > 2 * kMostKernelBytes || !is_id_of(id, sources)) {
      ++imported.kernels_left_out;
      continue;
    }
    imported.solutions.push_back({.id = id,
                                  .language = base::text_at(one, "language"),
                                  .task = base::text_at(one, "task"),
                                  .run = base::text_at(one, "run"),
                                  .sources = sources,
                                  .evaluation = evaluation});
  }
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
  if (const auto speedup = speedup_at(object, "speedup")) {
    it.effect = model::of_unknown_width(*speedup);  // such lists tell one number
    if (*speedup < 1) it.polarity = model::Polarity::regresses;
  } else {
    ++imported.unknown_effects;
  }
  it.slow = put_solution(imported, slow, it.language);
  it.fast = put_solution(imported, fast, it.language);
  return it;
}

Result<void> take(const Json& object, const std::string& where, const ImportDefaults& defaults, Imported& imported) {
  if (!object.is_object()) return fail(ErrorCode::parse, where + ": not a JSON object");
  if (object.contains("slow_kernel") && object.contains("fast_kernel")) {
    if (!object["slow_kernel"].is_string() || !object["fast_kernel"].is_string())
      return fail(ErrorCode::parse, where + ": slow_kernel and fast_kernel are texts, the kernels' sources");
    for (const char* key : {"slow_kernel", "fast_kernel"}) TRY(check_kernel(object, key, where));
    model::Experience rewrite = of_rewrite(object, defaults, imported);
    TRY(check_says_something(rewrite, where));
    imported.experiences.push_back(std::move(rewrite));
    return {};
  }
  const std::string type = object.value("type", Json("experience")).is_string() ? base::text_at(object, "type") : "?";
  if (type == "unreadable") return {};
  if (!type.empty() && type != "experience")
    return fail(ErrorCode::parse, where + ": is a " + type + ", no experience");
  TRY(base::check_schema(object, kExportSchema, where));
  TRY(check_fields(object, where));
  auto read = base::decode<model::Experience>(object, where);
  if (!read) return tl::make_unexpected(read.error());
  model::Experience it = std::move(*read);
  TRY(check_says_something(it, where));
  TRY(check_polarity(it, where));
  if (it.language.empty()) it.language = defaults.language;
  if (it.target.empty()) it.target = defaults.target;
  if (it.op_type.empty()) it.op_type = defaults.op_type;
  take_kernels(object, it, imported);
  const auto hidden = object.find("quarantined");
  if (hidden != object.end() && hidden->is_boolean() && hidden->get<bool>())
    imported.quarantined.push_back(memory::made_fit(it).experience.id);
  imported.experiences.push_back(std::move(it));
  return {};
}

}  // namespace

Result<std::string> read_import(const std::string& file) {
  const bool is_input = file == "-";
  struct stat status {};
  if (!is_input && ::stat(file.c_str(), &status) == 0) {
    const bool device = S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode);
    if (device || S_ISDIR(status.st_mode)) {
      return fail(ErrorCode::invalid_argument, file + ": is a " + (device ? "device" : "folder") +
                                                   "; name a file or a pipe of experiences, or - for standard input");
    }
  }
  base::FileDescriptor opened;
  if (!is_input) {
    opened = base::FileDescriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened.valid()) return base::fail_errno(errno, "cannot read " + file);
  }
  std::string bytes;
  char buffer[65536];
  for (;;) {
    const ssize_t count = ::read(is_input ? STDIN_FILENO : opened.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return base::fail_errno(errno, "cannot read " + (is_input ? "standard input" : file));
    if (count == 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(count));
    if (bytes.size() > kMostImportBytes) {
      return fail(ErrorCode::exhausted, (is_input ? "standard input" : file) + ": over " +
                                            std::to_string(kMostImportBytes >> 20U) +
                                            " MiB; give JSON lines in pieces, such as those of `split -C 100m FILE`");
    }
  }
}

Result<void> check_fields(const Json& fields, const std::string& where) {
  if (const auto polarity = fields.find("polarity"); polarity != fields.end()) {
    const std::string name = base::text_at(fields, "polarity");
    if (model::to_string(model::parse_polarity(name)) != name) {
      return fail(ErrorCode::invalid_argument, where + ": polarity " + base::canonical(*polarity) +
                                                   " does not exist; it is improves, regresses or mends");
    }
  }
  if (const auto effect = fields.find("effect"); effect != fields.end() && !effect->is_null())
    TRY(check_effect(*effect, where));
  if (const auto workloads = fields.find("workloads"); workloads != fields.end() && workloads->is_array()) {
    for (const Json& workload : *workloads)
      TRY(check_effect(workload.is_object() ? workload.value("ratio", Json()) : Json(),
                       where + ": a workload's ratio"));
  }
  const auto iteration = fields.find("iteration");
  if (iteration == fields.end() || iteration->is_null()) return {};
  const bool counts = iteration->is_number_integer() && *iteration >= 0 && *iteration <= kMostIterations;
  if (counts) return {};
  return fail(ErrorCode::invalid_argument, where + ": iteration " + base::canonical(*iteration) +
                                               " is no whole number from 0 to " + std::to_string(kMostIterations));
}

Result<void> check_polarity(const model::Experience& experience, const std::string& where) {
  if (!experience.effect) return {};
  const model::Interval& effect = *experience.effect;
  const bool slower = experience.polarity == model::Polarity::improves && effect.high < 1;
  const bool faster = experience.polarity == model::Polarity::regresses && effect.low > 1;
  if (!slower && !faster) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("{}: polarity \"{}\" contradicts its effect, {:.4g}x ({:.4g} to {:.4g}): it made kernels {}; "
                          "change one of the two",
                          where, model::to_string(experience.polarity), effect.estimate, effect.low, effect.high,
                          slower ? "slower" : "faster"));
}

Result<void> check_says_something(const model::Experience& experience, const std::string& where) {
  constexpr const char* kBlanks = " \t\r\n";
  const auto is_blank = [&](const std::string& text) { return text.find_first_not_of(kBlanks) == std::string::npos; };
  if (!is_blank(experience.title) || !is_blank(experience.strategy)) return {};
  return fail(ErrorCode::parse, where +
                                    ": has neither a title nor a strategy; write at least {\"title\": \"...\", "
                                    "\"strategy\": \"...\"}, or give an export or a list of rewrites");
}

Result<Imported> read_experiences(std::string_view text, const std::string& what, const ImportDefaults& defaults) {
  Imported imported;
  const Json whole = base::json_or_discarded(text);
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

Result<int> insert_imported(memory::KnowledgeStore& store, const Imported& imported) {
  // What the store holds stays shown or hidden as its user left it: a file of somebody else's decides about what comes
  // with it alone.
  const std::set<std::string> hidden(imported.quarantined.begin(), imported.quarantined.end());
  constexpr std::size_t kBatch = 500;
  int fresh = 0;
  for (std::size_t at = 0; at < imported.experiences.size(); at += kBatch) {
    const std::size_t count = std::min(kBatch, imported.experiences.size() - at);
    TRY_ASSIGN(const int inserted,
               store.insert(std::span(imported.experiences).subspan(at, count), memory::Forgotten::returns, hidden));
    fresh += inserted;
  }
  if (!imported.solutions.empty()) TRY(store.put_solutions(imported.solutions));
  return fresh;
}

}  // namespace accelopt::app
