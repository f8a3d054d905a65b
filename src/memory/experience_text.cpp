// SPDX-License-Identifier: Apache-2.0
#include "memory/experience_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/json.hpp"

namespace accelopt::memory {
namespace {

using base::Json;
using base::Result;
using model::Experience;

constexpr const char* kContent = "its content";

constexpr auto kTextMembers =
    std::to_array<std::pair<std::string_view, std::string Experience::*>>({{"after", &Experience::after},
                                                                           {"before", &Experience::before},
                                                                           {"bound", &Experience::bound},
                                                                           {"created", &Experience::created},
                                                                           {"device", &Experience::device},
                                                                           {"diff", &Experience::diff},
                                                                           {"fast", &Experience::fast},
                                                                           {"id", &Experience::id},
                                                                           {"language", &Experience::language},
                                                                           {"model", &Experience::model},
                                                                           {"op_type", &Experience::op_type},
                                                                           {"run", &Experience::run},
                                                                           {"slow", &Experience::slow},
                                                                           {"strategy", &Experience::strategy},
                                                                           {"target", &Experience::target},
                                                                           {"task", &Experience::task},
                                                                           {"title", &Experience::title},
                                                                           {"toolchain", &Experience::toolchain}});

constexpr std::array<std::string_view, 3> kCode{"after", "before", "diff"};

/// Whether these bytes of a JSON string stand for themselves.
bool is_plain(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](char c) { return c >= ' ' && c <= '~' && c != '\\'; });
}

/// Goes through a text of the one form that canonical() gives: an object on one line without blanks. What has another
/// form stops it.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  bool skip(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  /// The bytes between the quotes of a string.
  std::optional<std::string_view> quoted() {
    if (!skip('"')) return std::nullopt;
    const std::size_t start = at_;
    for (std::size_t end = text_.find('"', at_); end != std::string_view::npos; end = text_.find('"', end + 1)) {
      std::size_t slashes = 0;
      while (end - slashes > start && text_[end - slashes - 1] == '\\') ++slashes;
      if (slashes % 2 != 0) continue;
      at_ = end + 1;
      return text_.substr(start, end - start);
    }
    return std::nullopt;
  }
  /// The bytes of a value that is no string.
  std::optional<std::string_view> value() {
    const std::size_t start = at_;
    for (int depth = 0; at_ < text_.size();) {
      const char c = text_[at_];
      if (c == '"') {
        if (!quoted()) return std::nullopt;
        continue;
      }
      if (depth == 0 && (c == ',' || c == '}')) break;
      depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
      if (depth < 0) return std::nullopt;
      ++at_;
    }
    return text_.substr(start, at_ - start);
  }
  [[nodiscard]] bool at_string() const { return at_ < text_.size() && text_[at_] == '"'; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

/// What the bytes of a JSON string say; false: they say nothing.
bool unescape(std::string_view bytes, std::string& out) {
  out.clear();
  while (!bytes.empty()) {
    const std::size_t slash = std::min(bytes.find('\\'), bytes.size());
    if (!is_plain(bytes.substr(0, slash))) return false;
    out += bytes.substr(0, slash);
    bytes.remove_prefix(slash);
    if (bytes.empty()) break;
    const char c = bytes.size() > 1 ? bytes[1] : '\0';
    if (c != 'n' && c != 't' && c != '"' && c != '\\') return false;
    out += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    bytes.remove_prefix(2);
  }
  return true;
}

/// Likewise with every escape and script, checked as JSON.
bool text_of_bytes(std::string_view bytes, std::string& out) {
  if (unescape(bytes, out)) return true;
  const Json text = base::json_or_discarded("\"" + std::string(bytes) + "\"");
  if (!text.is_string()) return false;
  out = text.get<std::string>();
  return true;
}

/// Takes a member over; false: it has another form than the stores write, or is one that they do not.
bool take_text(std::string_view key, std::string_view bytes, Part part, Experience& it) {
  if (key == "polarity") {
    it.polarity = model::parse_polarity(bytes);
    return is_plain(bytes);
  }
  const auto member = std::ranges::lower_bound(kTextMembers, key, {}, [](const auto& one) { return one.first; });
  if (member == kTextMembers.end() || member->first != key) return false;
  if (part == Part::without_code && std::ranges::find(kCode, key) != kCode.end()) return true;
  return text_of_bytes(bytes, it.*(member->second));
}

bool take_value(std::string_view key, std::string_view bytes, Experience& it) {
  if (key == "effect" || key == "workloads") {
    if (bytes == "null" || bytes == "[]") return true;
    const Json value = base::json_or_discarded(bytes);
    if (key == "effect") {
      const auto effect = base::decode<model::Interval>(value, kContent);
      if (effect) it.effect = *effect;
      return effect.has_value();
    }
    auto workloads = base::decode<std::vector<model::WorkloadEffect>>(value, kContent);
    if (workloads) it.workloads = std::move(*workloads);
    return workloads.has_value();
  }
  constexpr std::int64_t kMost = 1'000'000;  // beyond it counts are cut short, which is done elsewhere
  std::int64_t count = 0;
  const auto [end, problem] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), count);
  if (problem != std::errc() || end != bytes.data() + bytes.size() || count < 0 || count > kMost) return false;
  if (key == "iteration") {
    it.iteration = static_cast<int>(count);
    return true;
  }
  model::Credit& credit = it.credit;
  for (const auto& [name, number] : {std::pair{"shown", &credit.shown},
                                     {"used", &credit.used},
                                     {"confirmed", &credit.confirmed},
                                     {"refuted", &credit.refuted}}) {
    if (key != name) continue;
    *number = count;
    return true;
  }
  return false;
}

/// None: the text has another form than the stores write, and may still be an experience.
std::optional<Experience> scanned(std::string_view text, Part part) {
  Experience it;
  Scanner scanner(text);
  if (!scanner.skip('{')) return std::nullopt;
  do {
    const auto key = scanner.quoted();
    if (!key || !scanner.skip(':')) return std::nullopt;
    const bool is_text = scanner.at_string();
    const auto bytes = is_text ? scanner.quoted() : scanner.value();
    if (!bytes) return std::nullopt;
    if (!(is_text ? take_text(*key, *bytes, part, it) : take_value(*key, *bytes, it))) return std::nullopt;
  } while (scanner.skip(','));
  if (!scanner.skip('}') || !scanner.at_end()) return std::nullopt;
  return it;
}

}  // namespace

Result<Experience> read_experience(std::string_view text, Part part) {
  if (auto it = scanned(text, part)) return std::move(*it);
  TRY_ASSIGN(const Json json, base::parse_json(text, kContent));
  TRY_ASSIGN(Experience read, base::decode<Experience>(json, kContent));
  if (part == Part::without_code) {
    read.before.clear();
    read.after.clear();
    read.diff.clear();
  }
  return read;
}

}  // namespace accelopt::memory
