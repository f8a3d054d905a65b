// SPDX-License-Identifier: Apache-2.0
#include "pytorch/worker.hpp"

#include <unistd.h>

#include <map>
#include <utility>
#include <vector>

#include "capture/package.hpp"
#include "pytorch/package.hpp"
#include "sandbox/landlock.hpp"
#include "sandbox/probe.hpp"

namespace accelopt::pytorch {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Json;

constexpr std::size_t kMostAnswerBytes = 1U << 20;
constexpr const char* kName = "the PyTorch process";
constexpr const char* kUsualPath = "/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// The files of NVIDIA's driver.
std::vector<fs::path> device_files() {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/dev", ignored)) {
    if (entry.path().filename().string().starts_with("nvidia")) out.push_back(entry.path());
  }
  return out;
}

/// What finds and chooses the device, and the C compiler that Triton launches kernels by: a driver may lie where
/// LD_LIBRARY_PATH alone says.
std::vector<std::string> device_variables(const std::map<std::string, std::string>& outer) {
  const auto path = outer.find("PATH");
  std::vector<std::string> out{"PATH=" + (path == outer.end() ? std::string(kUsualPath) : path->second)};
  for (const char* name : {"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"}) {
    if (const auto found = outer.find(name); found != outer.end()) out.push_back(found->first + "=" + found->second);
  }
  return out;
}

/// What it may reach: Python, PyTorch and the system's libraries; it writes in `own` alone.
sandbox::FileRules rules_of(const capture::Python& python, const fs::path& own, Place place) {
  std::error_code ignored;
  sandbox::FileRules rules{
      {"/lib", "/lib64", "/usr", "/bin", "/sbin", "/opt", "/nix/store", "/etc/ld.so.cache", "/proc", "/sys/devices",
       "/dev/urandom", python.packages, python.program.parent_path().parent_path(),
       fs::canonical(python.program, ignored).parent_path().parent_path()},
      {"/dev/null", own}};
  if (place == Place::processor) return rules;
  rules.readable.insert(rules.readable.end(), {"/etc", "/sys"});
  for (const fs::path& file : device_files()) rules.writable.push_back(file);
  rules.writable.insert(rules.writable.end(), {"/dev/shm", "/proc/self"});  // the driver names its threads
  return rules;
}

base::Json json_of(const sandbox::FileRules& rules) {
  const auto texts = [](const std::vector<fs::path>& paths) {
    base::Json out = base::Json::array();
    for (const fs::path& path : paths) out.push_back(path.string());
    return out;
  };
  return {{"readable", texts(rules.readable)}, {"writable", texts(rules.writable)}};
}

/// Those that Python restricts itself with, before it imports anything: only the process can name its own /proc/self.
base::Result<void> write_landlock(const fs::path& package) {
  for (const capture::PackageFile& file : capture::package_files()) {
    if (file.name == "landlock.py" || file.name == "kernel_calls.py")
      TRY(base::write_file(package / file.name, std::string(file.text)));
  }
  return {};
}

}  // namespace

Worker::Worker(WorkerOptions options, base::TemporaryFolder files)
    : options_(std::move(options)), files_(std::move(files)), tensors_(files_.path() / "tensors") {}

base::Result<std::unique_ptr<Worker>> Worker::start(WorkerOptions options, const std::stop_token& stop) {
  TRY_ASSIGN(const capture::Python python, capture::find_python_with(options.python, "torch"));
  TRY_ASSIGN(base::TemporaryFolder files, base::TemporaryFolder::create("accelopt-torch"));
  std::unique_ptr<Worker> out(new Worker(std::move(options), std::move(files)));
  TRY(out->run(python, stop));
  return out;
}

base::Result<void> Worker::run(const capture::Python& python, const std::stop_token& stop) {
  const fs::path package = files_.path() / "accelopt_torch";
  const fs::path own = files_.path() / "own";
  tensors_ = own / "tensors";
  TRY(base::make_folders(package));
  TRY(base::make_folders(tensors_));
  for (const PackageFile& file : package_files()) TRY(base::write_file(package / file.name, std::string(file.text)));
  sandbox::SpawnOptions options;
  options.program = python.program.string();
  options.arguments = {"-I", "-B", package.string(), tensors_.string()};
  options.environment = {"LC_ALL=C.UTF-8", "HOME=" + own.string(), "TMPDIR=" + own.string(),
                         "TRITON_CACHE_DIR=" + (own / "cache").string()};
  // A reference that names a device computes on the processor: another process measures on the device.
  if (options_.place == Place::processor) {
    options.environment.insert(options.environment.end(), {"CUDA_VISIBLE_DEVICES=", std::string("PATH=") + kUsualPath});
  } else {
    for (std::string& variable : device_variables(options_.python.environment))
      options.environment.push_back(std::move(variable));
  }
  options.own_namespaces = options_.place == Place::processor;
  options.descriptors = {{STDERR_FILENO, STDERR_FILENO}};
  base::FileDescriptor rules;
  if (sandbox::capabilities().landlock > 0) {
    sandbox::FileRules files = rules_of(python, own, options_.place);
    files.readable.push_back(files_.path());
    if (options_.place == Place::device) {
      TRY(write_landlock(package));
      options.arguments.push_back(base::canonical(json_of(files)));
    } else {
      TRY_ASSIGN(rules, sandbox::make_rule_set(files));
      options.file_rules = &rules;
    }
  }
  TRY_ASSIGN(process_, sandbox::JsonProcess::start(std::move(options), kName, kMostAnswerBytes));
  TRY_ASSIGN(const Json first, process_.receive(options_.start_limit, stop));
  const auto ready = first.find("ready");
  if (ready == first.end() || !ready->is_object()) {
    process_.end();
    return base::fail(ErrorCode::unsupported, base::text_at(first.value("error", Json::object()), "message"));
  }
  if (options_.place == Place::device && !ready->value("device", Json()).is_string()) {
    process_.end();
    const std::string why = base::text_at(*ready, "problem");
    return base::fail(ErrorCode::unsupported, "PyTorch sees no CUDA device" + (why.empty() ? why : ": " + why));
  }
  version_ = "PyTorch " + base::text_at(*ready, "torch") + " (Python " + base::text_at(*ready, "interpreter") + ")";
  return {};
}

base::Result<Json> Worker::ask(Json request, const std::stop_token& stop) {
  if (!process_.valid()) return base::fail(ErrorCode::unavailable, std::string(kName) + " has ended");
  TRY_ASSIGN(const Json answer, process_.ask(std::move(request), options_.answer_limit, stop));
  if (const auto error = answer.find("error"); error != answer.end())
    return base::fail(ErrorCode::invalid_argument, base::text_at(*error, "message"));
  return answer.value("ok", Json::object());
}

}  // namespace accelopt::pytorch
