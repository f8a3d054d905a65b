// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/compile_cache.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "base/tar.hpp"
#include "base/text.hpp"

namespace accelopt::targets::cpu {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFileBytes = 16UL << 20;
constexpr const char* kSaid = "said.json";
constexpr const char* kHeaders = "accelopt-headers.d";  ///< that the compiler writes
constexpr std::string_view kFiles = "files/";
constexpr std::string_view kExtension = ".built";
/// Of so many entries one looks at all of them.
constexpr unsigned kLooksEvery = 32;

/// Text of the preprocessor whose value is not in the file.
constexpr auto kVarying = std::to_array<std::string_view>({"__DATE__", "__TIME__", "__TIMESTAMP__"});

/// What the compiler runs besides itself, and the loader's list, which a library's package changes.
constexpr auto kOfThisMachine = std::to_array<const char*>({"/etc/ld.so.cache", "/usr/bin/as"});

std::string stamp_of(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return "none\n";
  return fmt::format("{} {} {}.{}\n", path.string(), status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

/// Of the first processor: its model and what it can do, which -march=native follows from.
const std::string& processor() {
  static const std::string text = [] {
    std::ifstream file("/proc/cpuinfo");
    std::string found;
    for (std::string line; std::getline(file, line) && !line.empty();) {
      for (const char* const name : {"vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU "}) {
        if (line.starts_with(name)) found += line + '\n';
      }
    }
    return found;
  }();
  return text;
}

/// The regular files of a folder that holds nothing else. None: it holds more, or what is too large.
std::optional<BuildFiles> files_in(const fs::path& folder) {
  BuildFiles files;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed); !failed && entry != fs::directory_iterator();
       entry.increment(failed)) {
    auto bytes = base::read_foreign_file(entry->path(), kMostFileBytes);
    if (!bytes) return std::nullopt;
    files.emplace(entry->path().filename().string(), std::move(*bytes));
  }
  if (failed) return std::nullopt;
  return files;
}

/// The files outside of the folder that a rule for make names. None: one of their names is not plain.
std::optional<std::vector<std::string>> headers_in(const std::string& rule) {
  std::vector<std::string> headers;
  for (const std::string_view word : base::split_words(rule)) {
    if (word == "\\" || word.ends_with(':')) continue;
    if (word.find_first_of("\\$#") != word.npos || word.starts_with("../")) return std::nullopt;
    if (word.starts_with('/')) headers.emplace_back(word);
  }
  return headers;
}

std::string stamps_of(const std::vector<std::string>& headers) {
  std::string text;
  for (const std::string& header : headers) text += stamp_of(header);
  return base::sha256_hex(text);
}

bool varies(const std::string& text) {
  return std::ranges::any_of(kVarying, [&](std::string_view word) { return text.find(word) != text.npos; });
}

/// Of one entry, besides its files.
struct Said {
  std::string key;
  std::string output;
  double seconds = 0;
  std::vector<std::string> headers;
  std::string stamps;
};

ACCELOPT_JSON(Said) {
  field.required("key", it.key, "output", it.output, "seconds", it.seconds, "headers", it.headers, "stamps", it.stamps);
}

}  // namespace

CompileCache::Job CompileCache::examine(const Compiler& compiler, const CompileJob& job) const {
  if (folder_.empty() || !job.readable.empty()) return {};
  // An object of which debug information names the folder is another one each time; so is what is linked.
  const auto given = [&](std::string_view word) {
    return std::ranges::find(job.arguments, word) != job.arguments.end();
  };
  if (!given("-c") || given("-g1")) return {};
  auto files = files_in(job.folder);
  if (!files) return {};
  std::error_code ignored;
  const fs::path program = job.cpp ? compiler.cpp : compiler.c;
  std::string text = compiler.name + "\n" + stamp_of(fs::canonical(program, ignored)) + processor();
  for (const char* const place : kOfThisMachine) text += stamp_of(place);
  for (const std::string& argument : job.arguments) text += fmt::format("{}:{}\n", argument.size(), argument);
  for (const auto& [name, bytes] : *files) {
    if (varies(bytes)) return {};
    text += fmt::format("{} {}\n", base::sha256_hex(bytes), name);
  }
  return {std::move(*files), base::sha256_hex(text)};
}

fs::path CompileCache::place_of(const std::string& key) const {
  return folder_ / "compiled" / (key.substr(0, 32) + std::string(kExtension));
}

void CompileCache::ask_for_headers(std::vector<std::string>& arguments) {
  arguments.insert(arguments.end(), {"-MD", "-MF", kHeaders});
}

std::optional<sandbox::RunResult> CompileCache::find(const Job& job, const fs::path& folder) const {
  if (job.key.empty()) return std::nullopt;
  const fs::path place = place_of(job.key);
  const auto bytes = base::read_foreign_file(place, 2 * kMostFileBytes);
  if (!bytes) return std::nullopt;
  const auto members = base::read_tar(*bytes);
  if (!members) return std::nullopt;
  // Nothing is written before it is known that the entry fits.
  const auto told = std::ranges::find(*members, kSaid, &base::TarMember::name);
  if (told == members->end()) return std::nullopt;
  const auto json = base::parse_json(told->bytes, kSaid);
  const auto said = json ? base::decode<Said>(*json, kSaid) : tl::make_unexpected(json.error());
  if (!said || said->key != job.key || said->stamps != stamps_of(said->headers)) return std::nullopt;
  for (const base::TarMember& member : *members) {
    if (member.name == kSaid) continue;
    const std::string name = member.name.substr(std::min(kFiles.size(), member.name.size()));
    const bool plain = member.name.starts_with(kFiles) && !name.empty() && name.find('/') == name.npos;
    if (!plain || job.files.contains(name) || !base::write_file(folder / name, member.bytes)) return std::nullopt;
  }
  sandbox::RunResult made;
  made.state.exited = true;
  made.output = said->output;
  made.seconds = said->seconds;
  std::error_code ignored;
  fs::last_write_time(place, fs::file_time_type::clock::now(), ignored);  // it was used
  return made;
}

void CompileCache::keep(const Job& job, const fs::path& folder, const sandbox::RunResult& made) const {
  if (job.key.empty() || made.timed_out || !made.state.exited || made.state.code != 0) return;
  const auto is_ascii = [](char letter) { return static_cast<unsigned char>(letter) < 0x80; };
  if (!std::ranges::all_of(made.output, is_ascii)) return;
  auto after = files_in(folder);
  if (!after || !after->contains(kHeaders)) return;
  const auto headers = headers_in(after->extract(kHeaders).mapped());
  std::error_code ignored;
  fs::remove(folder / kHeaders, ignored);
  if (!headers) return;
  const base::Json said = Said{job.key, made.output, made.seconds, *headers, stamps_of(*headers)};
  std::vector<base::TarMember> members{{kSaid, base::canonical(said)}};
  for (const auto& [name, bytes] : job.files) {
    const auto there = after->find(name);
    if (there == after->end() || there->second != bytes) return;  // it changed what it was given
  }
  for (const auto& [name, bytes] : *after) {
    if (!job.files.contains(name)) members.push_back({std::string(kFiles) + name, bytes});
  }
  const auto archive = base::write_tar(std::move(members));
  const fs::path place = place_of(job.key);
  if (!archive || !base::make_folders(place.parent_path())) return;
  std::ignore = base::write_file(place, *archive).has_value();
  if (std::stoul(job.key.substr(0, 4), nullptr, 16) % kLooksEvery == 0) remove_oldest();
}

void CompileCache::remove_oldest() const {
  struct Entry {
    fs::file_time_type used;
    std::uintmax_t bytes = 0;
    fs::path place;
  };
  std::vector<Entry> entries;
  std::uintmax_t bytes = 0;
  std::error_code failed;
  for (fs::directory_iterator entry(folder_ / "compiled", failed); !failed && entry != fs::directory_iterator();
       entry.increment(failed)) {
    std::error_code gone;
    if (entry->path().extension() != kExtension) continue;
    const Entry one{entry->last_write_time(gone), entry->file_size(gone), entry->path()};
    if (gone) continue;
    bytes += one.bytes;
    entries.push_back(one);
  }
  std::ranges::sort(entries, {}, &Entry::used);
  for (const Entry& entry : entries) {
    if (bytes <= most_bytes_) return;
    std::error_code ignored;
    fs::remove(entry.place, ignored);
    bytes -= entry.bytes;
  }
}

}  // namespace accelopt::targets::cpu
