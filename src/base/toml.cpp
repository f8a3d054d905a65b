// SPDX-License-Identifier: Apache-2.0
#include "base/toml.hpp"

#include <algorithm>
#include <exception>

// Errors are values here, and the parser is compiled in rather than linked, so that no shared library is needed.
#define TOML_EXCEPTIONS 0
// The parser asserts, and in release builds assumes, what a malformed table header ("[=") breaks, right before it
// checks the same and gives an error: only the check is wanted.
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include "base/names.hpp"

namespace accelopt::base {
namespace {

int line_of(const toml::source_region& region) {
  return std::max(1, static_cast<int>(region.begin.line));
}

TomlNode convert(const toml::node& node);

TomlNode convert_table(const toml::table& table) {
  TomlNode result;
  std::vector<std::pair<toml::source_position, TomlEntry>> placed;
  for (auto&& [key, value] : table) {
    placed.emplace_back(key.source().begin, TomlEntry{std::string(key.str()), line_of(key.source()), convert(value)});
  }
  // The library sorts keys by name; the order of the text is the calling convention.
  std::stable_sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [position, entry] : placed) result.entries.push_back(std::move(entry));
  return result;
}

TomlNode convert(const toml::node& node) {
  TomlNode result;
  if (const auto* table = node.as_table()) {
    result = convert_table(*table);
  } else if (const auto* array = node.as_array()) {
    result.kind = TomlKind::array;
    for (const toml::node& item : *array) result.items.push_back(convert(item));
  } else if (const auto* text = node.as_string()) {
    result.kind = TomlKind::string;
    result.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    result.kind = TomlKind::integer;
    result.integer = integer->get();
  } else if (const auto* real = node.as_floating_point()) {
    result.kind = TomlKind::real;
    result.real = real->get();
  } else if (const auto* boolean = node.as_boolean()) {
    result.kind = TomlKind::boolean;
    result.boolean = boolean->get();
  } else {
    result.kind = TomlKind::time;
  }
  result.line = line_of(node.source());
  return result;
}

}  // namespace

/// The library recurses once for every part of a dotted key: a line of more dots than this is no key of a task.
constexpr int kMostDots = 1000;

tl::expected<TomlNode, Problem> parse_toml(std::string_view text) {
  int line = 1;
  int dots = 0;
  for (const char letter : text) {
    if (letter == '\n') ++line;
    dots = letter == '\n' ? 0 : dots + (letter == '.' ? 1 : 0);
    if (dots > kMostDots) return tl::make_unexpected(Problem{line, "", "has over 1000 dots in one line; split it", ""});
  }
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    const std::string column = std::to_string(error.source().begin.column);
    return tl::make_unexpected(Problem{line_of(error.source()), "",
                                       "not TOML, column " + column + ": " + std::string(error.description()), ""});
  }
  return convert(parsed.table());
}

constexpr auto kKindNames = std::to_array<Named<TomlKind>>({{TomlKind::string, "a string"},
                                                            {TomlKind::integer, "an integer"},
                                                            {TomlKind::real, "a number"},
                                                            {TomlKind::boolean, "true or false"},
                                                            {TomlKind::array, "an array"},
                                                            {TomlKind::table, "a table"},
                                                            {TomlKind::time, "a date or time"}});

std::string_view to_string(TomlKind kind) {
  return name_in(kKindNames, kind);
}

const TomlEntry* TableReader::find(std::string_view key) const {
  for (const TomlEntry& entry : table_.entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

const TomlKind* TableReader::kind(std::string_view key) const {
  const TomlEntry* entry = find(key);
  return entry ? &entry->value.kind : nullptr;
}

std::string TableReader::path(std::string_view key) const {
  if (path_.empty()) return std::string(key);
  return key.empty() ? path_ : path_ + "." + std::string(key);
}

int TableReader::line(std::string_view key) const {
  const TomlEntry* entry = find(key);
  return entry ? entry->line : table_.line;
}

void TableReader::refuse(std::string_view key, std::string message) {
  problems_.push_back({line(key), path(key), std::move(message), ""});
}

void TableReader::require(std::string_view key, std::string_view what_to_write) {
  refuse(key, "missing; write " + std::string(what_to_write));
}

const TomlNode* TableReader::value(std::string_view key, TomlKind kind, std::string_view what_to_write) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  const TomlEntry* entry = find(key);
  if (!entry) return nullptr;
  const bool open = entry->value.kind == TomlKind::string && entry->value.text == "?";
  const bool counts_as_real = kind == TomlKind::real && entry->value.kind == TomlKind::integer;
  if (open) {
    refuse(key, "left open (\"?\"); write " + std::string(what_to_write));
    return nullptr;
  }
  if (entry->value.kind != kind && !counts_as_real) {
    refuse(key, "must be " + std::string(to_string(kind)) + ", not " + std::string(to_string(entry->value.kind)) +
                    "; write " + std::string(what_to_write));
    return nullptr;
  }
  return &entry->value;
}

std::optional<std::string> TableReader::string(std::string_view key, std::string_view what_to_write) {
  const TomlNode* node = value(key, TomlKind::string, what_to_write);
  return node ? std::optional(node->text) : std::nullopt;
}

std::optional<std::int64_t> TableReader::integer(std::string_view key, std::string_view what_to_write) {
  const TomlNode* node = value(key, TomlKind::integer, what_to_write);
  return node ? std::optional(node->integer) : std::nullopt;
}

std::optional<double> TableReader::real(std::string_view key, std::string_view what_to_write) {
  const TomlNode* node = value(key, TomlKind::real, what_to_write);
  if (!node) return std::nullopt;
  return node->kind == TomlKind::integer ? static_cast<double>(node->integer) : node->real;
}

std::optional<bool> TableReader::boolean(std::string_view key) {
  const TomlNode* node = value(key, TomlKind::boolean, "true or false");
  return node ? std::optional(node->boolean) : std::nullopt;
}

std::optional<std::vector<std::string>> TableReader::strings(std::string_view key, std::string_view what_to_write) {
  const TomlNode* node = value(key, TomlKind::array, what_to_write);
  if (!node) return std::nullopt;
  std::vector<std::string> texts;
  for (const TomlNode& item : node->items) {
    const std::string place = path(key) + "[" + std::to_string(texts.size()) + "]";
    if (item.kind != TomlKind::string) {
      problems_.push_back(
          {item.line, place,
           "must be a string, not " + std::string(to_string(item.kind)) + "; write " + std::string(what_to_write), ""});
      return std::nullopt;
    }
    if (item.text == "?") {
      problems_.push_back({item.line, path(key), "left open (\"?\"); write " + std::string(what_to_write), ""});
      return std::nullopt;
    }
    texts.push_back(item.text);
  }
  return texts;
}

std::optional<std::vector<std::int64_t>> TableReader::integers(std::string_view key, std::string_view what_to_write) {
  const TomlNode* node = value(key, TomlKind::array, what_to_write);
  if (!node) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const TomlNode& item : node->items) {
    if (item.kind != TomlKind::integer) {
      problems_.push_back(
          {item.line, path(key) + "[" + std::to_string(numbers.size()) + "]",
           "must be an integer, not " + std::string(to_string(item.kind)) + "; write " + std::string(what_to_write),
           ""});
      return std::nullopt;
    }
    numbers.push_back(item.integer);
  }
  return numbers;
}

const TomlNode* TableReader::table(std::string_view key, std::string_view what_to_write) {
  return value(key, TomlKind::table, what_to_write);
}

std::vector<const TomlNode*> TableReader::tables(std::string_view key, std::string_view what_to_write) {
  std::vector<const TomlNode*> found;
  const TomlNode* node = value(key, TomlKind::array, what_to_write);
  if (!node) return found;
  for (const TomlNode& item : node->items) {
    if (item.kind == TomlKind::table) {
      found.push_back(&item);
    } else {
      problems_.push_back(
          {item.line, path(key),
           "must hold tables, not " + std::string(to_string(item.kind)) + "; write " + std::string(what_to_write), ""});
    }
  }
  return found;
}

void TableReader::finish() {
  for (const TomlEntry& entry : table_.entries) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    const std::string_view meant = nearest_name(entry.key, known_);
    std::string message = "unknown key; ";
    if (!meant.empty()) message += "did you mean \"" + std::string(meant) + "\"? ";
    refuse(entry.key, message + "known keys are " + join_names(known_));
  }
}

}  // namespace accelopt::base
