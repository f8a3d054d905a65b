// SPDX-License-Identifier: Apache-2.0
// The fixtures in tests/fixtures/versions: forms as an earlier program wrote them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace accelopt::versions {

std::filesystem::path fixture_path(const std::string& name);
/// Its text; fails the test where there is none.
std::string fixture(const std::string& name);
/// Whether the fixtures that are missing are to be written.
bool writes_fixtures();
/// Its lines without their ends.
std::vector<std::string> fixture_lines(const std::string& name);

/// Expects the text to be the fixture's, byte for byte. With ACCELOPT_WRITE_FIXTURES set, one that is missing is
/// written.
void expect_fixture(const std::string& name, const std::string& text);

/// The files below a folder by their path in it.
std::map<std::string, std::string> files_below(const std::filesystem::path& folder);
/// expect_fixture for each file of a folder; no file may be on one side alone.
void expect_fixture_folder(const std::string& name, const std::filesystem::path& folder);

/// Makes an SQLite file by running the fixture's statements.
void make_database(const std::filesystem::path& file, const std::string& name);
void run_statements(const std::filesystem::path& file, const std::string& statements);
/// The statements that make such a file: its marks, its tables and their rows.
std::string dump_of(const std::filesystem::path& file);

}  // namespace accelopt::versions
