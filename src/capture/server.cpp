// SPDX-License-Identifier: Apache-2.0
#include "capture/server.hpp"

#include <unistd.h>

#include <optional>
#include <utility>

#include "capture/package.hpp"
#include "sandbox/landlock.hpp"
#include "sandbox/probe.hpp"

namespace accelopt::capture {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Json;

constexpr std::size_t kMostAnswerBytes = 128U << 20;  ///< base64 of the most cubins, and plans

/// Python's own files: its library lies beside it, or where the link to it leads.
std::vector<fs::path> folders_of(const fs::path& program) {
  std::error_code ignored;
  const fs::path real = fs::canonical(program, ignored);
  return {program.parent_path().parent_path(), real.parent_path().parent_path()};
}

}  // namespace

base::Result<void> CaptureServer::start(const std::stop_token& stop) {
  TRY_ASSIGN(files_, base::TemporaryFolder::create("accelopt-capture"));
  const fs::path package = files_->path() / "accelopt_capture";
  const fs::path scratch = files_->path() / "scratch";
  for (const PackageFile& file : package_files()) {
    const fs::path path = package / file.name;
    TRY(base::make_folders(path.parent_path()));
    TRY(base::write_file(path, std::string(file.text)));
  }
  const bool nki = options_.front_end == FrontEnd::nki;
  for (const PackageFile& file : nki ? nki_files() : std::span<const PackageFile>()) {
    const fs::path path = files_->path() / file.name;
    TRY(base::make_folders(path.parent_path()));
    TRY(base::write_file(path, std::string(file.text)));
  }
  TRY(base::make_folders(scratch));
  sandbox::SpawnOptions options;
  options.program = options_.python.program.string();
  options.arguments = {"-I", "-S", "-B", package.string(), "--scratch", scratch.string()};
  if (nki)
    options.arguments.emplace_back("--nki");
  else
    options.arguments.insert(options.arguments.end(), {"--triton", options_.python.packages.string()});
  options.environment = {"LC_ALL=C.UTF-8", "HOME=" + scratch.string(), "TMPDIR=" + scratch.string(),
                         "PATH=/usr/bin:/bin"};
  options.descriptors = {{STDERR_FILENO, STDERR_FILENO}};
  options.cores = options_.cores;
  base::FileDescriptor rules;
  if (sandbox::capabilities().landlock > 0) {
    sandbox::FileRules files{{"/lib", "/lib64", "/usr", "/bin", "/nix/store", "/etc/ld.so.cache", "/proc",
                              "/sys/devices/system/cpu", "/dev/urandom", files_->path()},
                             {"/dev/null", scratch}};
    if (!nki) files.readable.push_back(options_.python.packages);
    for (const fs::path& folder : folders_of(options_.python.program)) files.readable.push_back(folder);
    if (!options_.folder.empty()) files.writable.push_back(options_.folder);
    TRY_ASSIGN(rules, sandbox::make_rule_set(files));
    options.file_rules = &rules;
  }
  TRY_ASSIGN(process_, sandbox::JsonProcess::start(std::move(options), "the capturing process", kMostAnswerBytes));
  TRY_ASSIGN(const Json first, process_.receive(options_.start_limit, stop));
  const auto ready = first.find("ready");
  if (ready == first.end() || !ready->is_object()) {
    process_.end();
    const Json error = first.value("error", Json::object());
    return base::fail(ErrorCode::unsupported,
                      std::string(nki ? "NKI kernels cannot be traced here: " : "Triton cannot capture here: ") +
                          base::text_at(error, "message"));
  }
  if (nki) {
    version_ = "Python " + base::text_at(*ready, "python");
    return {};
  }
  version_ = "Triton " + base::text_at(*ready, "triton") + " (Python " + base::text_at(*ready, "python") + ", ptxas " +
             base::text_at(*ready, "ptxas") + ")";
  return {};
}

base::Result<Answer> CaptureServer::ask(Json request, const std::stop_token& stop) {
  const std::scoped_lock lock(mutex_);
  if (!process_.valid()) TRY(start(stop));
  TRY_ASSIGN(const Json answer, process_.ask(std::move(request), options_.answer_limit, stop));
  return Answer{answer.value("ok", Json()), answer.value("error", Json())};
}

base::Result<std::string> CaptureServer::version(const std::stop_token& stop) {
  const std::scoped_lock lock(mutex_);
  if (!process_.valid() && version_.empty()) TRY(start(stop));
  return version_;
}

}  // namespace accelopt::capture
