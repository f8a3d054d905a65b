// SPDX-License-Identifier: Apache-2.0
#include "bundles/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/schema.hpp"
#include "bundles/bundle.hpp"

namespace accelopt::bundles {

using base::ErrorCode;
using base::fail;
using base::Json;

namespace {

constexpr int kDeepestNesting = 64;  ///< of an honest file: below 20

}  // namespace

base::Result<std::string> read_plain_file(const std::filesystem::path& root, const std::string& name,
                                          std::size_t most_bytes) {
  const std::filesystem::path path = root / name;
  const auto refuse = [](const std::filesystem::path& part) {
    const int number = errno;
    std::error_code problem;
    if (std::filesystem::is_symlink(part, problem)) return fail(ErrorCode::corrupt, part.string() + " is a link");
    return base::fail_errno(number, "cannot read " + part.string());
  };
  base::FileDescriptor folder(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return refuse(root);
  if (const auto slash = name.find('/'); slash != std::string::npos) {
    const std::string below = name.substr(0, slash);
    folder =
        base::FileDescriptor(::openat(folder.get(), below.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder.valid()) return refuse(root / below);
  }
  const std::string last = path.filename().string();
  const base::FileDescriptor file(::openat(folder.get(), last.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid()) return refuse(path);
  struct stat state {};
  if (::fstat(file.get(), &state) != 0) return base::fail_errno(errno, "cannot read " + path.string());
  if (!S_ISREG(state.st_mode)) return fail(ErrorCode::corrupt, path.string() + " is no plain file");
  std::string bytes;
  char buffer[65536];
  while (bytes.size() <= most_bytes) {
    const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return base::fail_errno(errno, "cannot read " + path.string());
    if (count == 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(count));
  }
  return fail(ErrorCode::corrupt, path.string() + " is larger than " + std::to_string(most_bytes >> 20) + " MiB");
}

base::Result<Json> parse_distrusted(std::string_view text, std::string_view what) {
  if (base::nests_deeper(text, kDeepestNesting))
    return fail(ErrorCode::corrupt, std::string(what) + ": nested too deeply");
  auto parsed = base::parse_json(text, what);
  if (!parsed) return fail(ErrorCode::corrupt, parsed.error().message);
  return parsed;
}

std::string sealed(Json object, const char* type, const char* key, int schema) {
  object["type"] = type;
  object["schema"] = schema;
  object.erase(key);
  object[key] = base::sha256_hex(base::canonical(object));
  return base::canonical(object) + "\n";
}

base::Result<Json> unseal(std::string_view text, const char* type, const char* key, std::string_view what) {
  TRY_ASSIGN(Json object, parse_distrusted(text, what));
  const std::string name(what);
  if (!object.is_object() || object.value("type", Json()) != type)
    return fail(ErrorCode::corrupt, name + " is no " + type);
  const Json schema = object.value("schema", Json());
  if (!schema.is_number_integer()) return fail(ErrorCode::corrupt, name + " names no schema");
  TRY(base::check_schema(object, kBundleSchema, name));
  const Json hash = object.value(key, Json());
  object.erase(key);
  if (hash != base::sha256_hex(base::canonical(object)))
    return fail(ErrorCode::corrupt, name + " is damaged: it does not have the hash that it names");
  object[key] = hash;
  return object;
}

bool is_hash(std::string_view text) {
  constexpr std::size_t kDigits = 64;
  return text.size() == kDigits &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace accelopt::bundles
