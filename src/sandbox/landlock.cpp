// SPDX-License-Identifier: Apache-2.0
#include "sandbox/landlock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace accelopt::sandbox {
namespace {

// Declared here because distributions' headers lag behind their kernels; values as in the kernel's user API.
constexpr long kCreateRuleset = 444;
constexpr long kAddRule = 445;
constexpr std::uint32_t kVersionFlag = 1;
constexpr int kPathBeneath = 1;
constexpr std::uint64_t kExecute = 1 << 0, kWriteFile = 1 << 1, kReadFile = 1 << 2, kReadFolder = 1 << 3,
                        kRefer = 1 << 13, kTruncate = 1 << 14;
constexpr std::uint64_t kVersionOne = (1 << 13) - 1;

struct RulesetAttributes {
  std::uint64_t files = 0;
};
struct __attribute__((packed)) PathAttributes {
  std::uint64_t allowed = 0;
  std::int32_t folder = -1;
};

std::uint64_t handled(int version) {
  std::uint64_t all = kVersionOne;
  if (version >= 2) all |= kRefer;
  if (version >= 3) all |= kTruncate;
  return all;
}

base::Result<void> allow(int set, const std::filesystem::path& path, std::uint64_t access) {
  const base::FileDescriptor folder(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!folder.valid()) return {};
  struct stat facts {};
  if (fstat(folder.get(), &facts) != 0) return base::fail_errno(errno, path.string());
  constexpr std::uint64_t kOnFiles = kExecute | kWriteFile | kReadFile | kTruncate;
  const PathAttributes rule{S_ISDIR(facts.st_mode) ? access : access & kOnFiles, folder.get()};
  if (syscall(kAddRule, set, kPathBeneath, &rule, 0) != 0)
    return base::fail_errno(errno, "Landlock rule for " + path.string());
  return {};
}

}  // namespace

int landlock_version() {
  const long version = syscall(kCreateRuleset, nullptr, 0, kVersionFlag);
  return version > 0 ? static_cast<int>(version) : 0;
}

base::Result<base::FileDescriptor> make_rule_set(const FileRules& rules) {
  const int version = landlock_version();
  if (version == 0) return base::fail(base::ErrorCode::unsupported, "this kernel has no Landlock");
  const RulesetAttributes attributes{handled(version)};
  base::FileDescriptor set(static_cast<int>(syscall(kCreateRuleset, &attributes, sizeof attributes, 0)));
  if (!set.valid()) return base::fail_errno(errno, "Landlock rule set");
  for (const auto& path : rules.readable) TRY(allow(set.get(), path, kExecute | kReadFile | kReadFolder));
  for (const auto& path : rules.writable) TRY(allow(set.get(), path, attributes.files));
  for (const auto& path : rules.results) TRY(allow(set.get(), path, (kWriteFile | kTruncate) & attributes.files));
  return set;
}

}  // namespace accelopt::sandbox
