// SPDX-License-Identifier: Apache-2.0
#include "versions/fixtures.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdlib>

#include "base/files.hpp"

namespace accelopt::versions {

namespace fs = std::filesystem;

namespace {

int add_row(void* out, int count, char** columns, char**) {
  auto& text = *static_cast<std::string*>(out);
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : "\t") + std::string(columns[i] ? columns[i] : "NULL");
  text += '\n';
  return 0;
}

std::string run_sql(const fs::path& file, const std::string& statements) {
  sqlite3* handle = nullptr;
  std::string rows;
  EXPECT_EQ(sqlite3_open(file.c_str(), &handle), SQLITE_OK);
  char* problem = nullptr;
  EXPECT_EQ(sqlite3_exec(handle, statements.c_str(), add_row, &rows, &problem), SQLITE_OK) << (problem ? problem : "");
  sqlite3_free(problem);
  sqlite3_close(handle);
  return rows;
}

}  // namespace

bool writes_fixtures() {
  return std::getenv("ACCELOPT_WRITE_FIXTURES") != nullptr;
}

fs::path fixture_path(const std::string& name) {
  return fs::path(ACCELOPT_FIXTURES) / name;
}

std::string fixture(const std::string& name) {
  const auto text = base::read_file(fixture_path(name));
  EXPECT_TRUE(text) << text.error().message;
  return text.value_or("");
}

std::vector<std::string> fixture_lines(const std::string& name) {
  const std::string text = fixture(name);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

void expect_fixture(const std::string& name, const std::string& text) {
  const fs::path path = fixture_path(name);
  if (writes_fixtures() && !fs::exists(path)) {
    EXPECT_TRUE(base::make_folders(path.parent_path()));
    EXPECT_TRUE(base::write_file(path, text));
  }
  EXPECT_EQ(text, fixture(name)) << "tests/fixtures/versions/" << name
                                 << " is what earlier programs wrote; where the form had to change, raise its version "
                                    "and add a fixture (docs/versions.md)";
}

std::map<std::string, std::string> files_below(const fs::path& folder) {
  std::map<std::string, std::string> files;
  std::error_code problem;
  for (fs::recursive_directory_iterator entry(folder, problem), end; !problem && entry != end; entry.increment(problem))
    if (entry->is_regular_file()) files[fs::relative(entry->path(), folder)] = base::read_file(entry->path()).value();
  return files;
}

void expect_fixture_folder(const std::string& name, const fs::path& folder) {
  const auto made = files_below(folder);
  for (const auto& [file, text] : made) expect_fixture(name + "/" + file, text);
  for (const auto& [file, text] : files_below(fixture_path(name))) EXPECT_TRUE(made.contains(file)) << file;
}

void make_database(const fs::path& file, const std::string& name) {
  run_sql(file, fixture(name));
}

void run_statements(const fs::path& file, const std::string& statements) {
  run_sql(file, statements);
}

std::string dump_of(const fs::path& file) {
  const auto lines = [&](const std::string& query) {
    std::vector<std::string> out;
    std::string text = run_sql(file, query);
    for (std::size_t at = 0; (at = text.find('\x1e')) != std::string::npos; text.erase(0, at + 2))
      out.push_back(text.substr(0, at));
    return out;
  };
  std::string text = "PRAGMA application_id = " + run_sql(file, "PRAGMA application_id");
  text.insert(text.size() - 1, ";");
  text += "PRAGMA user_version = " + run_sql(file, "PRAGMA user_version");
  text.insert(text.size() - 1, ";");
  // A full-text index has tables of its own, which it makes itself.
  const std::string own = "name NOT LIKE 'sqlite_%' AND name NOT LIKE 'item_words_%' AND sql IS NOT NULL";
  for (const std::string& sql : lines("SELECT sql || x'1e' FROM sqlite_master WHERE " + own + " ORDER BY rowid"))
    text += sql + ";\n";
  for (const std::string& table : lines("SELECT name || x'1e' FROM sqlite_master WHERE type = 'table' AND " + own +
                                        " AND name <> 'item_words' ORDER BY rowid")) {
    const std::string values = lines(
                                   "SELECT group_concat('quote(\"' || name || '\")', ' || '', '' || ') || x'1e' FROM "
                                   "pragma_table_info('" +
                                   table + "')")
                                   .at(0);
    for (const std::string& row : lines("SELECT 'INSERT INTO " + table + " VALUES(' || " + values +
                                        " || ');' || x'1e' FROM " + table + " ORDER BY 1"))
      text += row + "\n";
  }
  if (text.find("CREATE VIRTUAL TABLE") != std::string::npos)
    text += "INSERT INTO item_words(item_words) VALUES('rebuild');\n";
  return text;
}

}  // namespace accelopt::versions
