// SPDX-License-Identifier: Apache-2.0
// TOML as a tree that keeps the order and the line of every key, and readers that report what is wrong with its values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.hpp"
#include "base/result.hpp"

namespace accelopt::base {

enum class TomlKind { string, integer, real, boolean, array, table, time };

struct TomlEntry;

/// One value with the line that it begins on.
struct TomlNode {
  TomlKind kind = TomlKind::table;
  int line = 1;
  std::string text;
  std::int64_t integer = 0;
  double real = 0;
  bool boolean = false;
  std::vector<TomlNode> items;     ///< of an array
  std::vector<TomlEntry> entries;  ///< of a table, in the order of the text
};

struct TomlEntry {
  std::string key;
  int line = 1;
  TomlNode value;
};

/// The document's root table. The failing half says where the text stops being TOML.
tl::expected<TomlNode, Problem> parse_toml(std::string_view text);

/// Reads the keys of one table, records a problem for each value of the wrong kind, and at the end one for each key
/// that nobody asked for. Absent keys give nullopt; a value "?" (what a scaffold writes for what it does not know) is a
/// problem that says what to write, and gives nullopt too.
class TableReader {
 public:
  /// `path` is put before the keys in problems: "inputs[0]"; empty for the root.
  TableReader(const TomlNode& table, std::string path, std::vector<Problem>& problems)
      : table_(table), path_(std::move(path)), problems_(problems) {}

  std::optional<std::string> string(std::string_view key, std::string_view what_to_write);
  std::optional<std::int64_t> integer(std::string_view key, std::string_view what_to_write);
  std::optional<double> real(std::string_view key, std::string_view what_to_write);
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::vector<std::string>> strings(std::string_view key, std::string_view what_to_write);
  std::optional<std::vector<std::int64_t>> integers(std::string_view key, std::string_view what_to_write);
  /// A table; null when absent or of another kind.
  const TomlNode* table(std::string_view key, std::string_view what_to_write);
  /// The tables of `[[key]]`; empty when absent.
  std::vector<const TomlNode*> tables(std::string_view key, std::string_view what_to_write);

  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  /// Kind of the key's value; null when the key is absent.
  [[nodiscard]] const TomlKind* kind(std::string_view key) const;
  /// Line of the key's value, or of the table when the key is absent.
  [[nodiscard]] int line(std::string_view key) const;
  [[nodiscard]] std::string path(std::string_view key) const;
  /// Records a problem with the key's value.
  void refuse(std::string_view key, std::string message);
  /// Records that the key must be there.
  void require(std::string_view key, std::string_view what_to_write);
  /// Records a problem for every key that was not asked for.
  void finish();

 private:
  [[nodiscard]] const TomlEntry* find(std::string_view key) const;
  /// The value if it is there and of the kind; records what is wrong with it otherwise.
  const TomlNode* value(std::string_view key, TomlKind kind, std::string_view what_to_write);

  const TomlNode& table_;
  std::string path_;
  std::vector<Problem>& problems_;
  std::vector<std::string> known_;
};

/// "a string", "a table", ...
std::string_view to_string(TomlKind kind);

}  // namespace accelopt::base
