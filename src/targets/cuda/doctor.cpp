// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/doctor.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <sstream>

#include <fmt/format.h>

#include "base/files.hpp"
#include "devices/cuda/driver.hpp"
#include "devices/cuda/find_tool.hpp"
#include "targets/cuda/nvrtc.hpp"

namespace accelopt::targets::cuda {
namespace {

using devices::cuda::kComputeMajorAttribute;
using devices::cuda::kComputeMinorAttribute;
using devices::cuda::kLeastComputeMajor;
using devices::cuda::kLeastDriverVersion;
using devices::cuda::kMappingAttribute;
using devices::cuda::kTriedComputeMajor;
using devices::cuda::ToolName;
using evaluation::Finding;
using State = Finding::State;

constexpr std::chrono::seconds kDriverLimit{20};  ///< starting the driver of eight devices takes some seconds

/// The part of the driver's interface that is asked, as its documentation declares it; 0 is success.
struct DriverCalls {
  int (*init)(unsigned) = nullptr;
  int (*version)(int*) = nullptr;
  int (*count)(int*) = nullptr;
  int (*get)(int*, int) = nullptr;
  int (*name)(char*, int, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
};

template <class Function>
bool find_call(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(dlsym(library, name));
  return out != nullptr;
}

/// One line a device, "MAJOR MINOR MAPPING NAME", behind a first line with the version's number; what is wrong, behind
/// "!".
std::string ask_driver() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    return std::string("!") + (reason != nullptr ? reason : "libcuda.so.1 cannot be loaded");
  }
  DriverCalls calls;
  if (!find_call(library, "cuInit", calls.init) || !find_call(library, "cuDriverGetVersion", calls.version) ||
      !find_call(library, "cuDeviceGetCount", calls.count) || !find_call(library, "cuDeviceGet", calls.get) ||
      !find_call(library, "cuDeviceGetName", calls.name) ||
      !find_call(library, "cuDeviceGetAttribute", calls.attribute)) {
    return "!libcuda.so.1 lacks functions of the driver";
  }
  if (const int code = calls.init(0); code != 0)
    return fmt::format("!the driver does not start (cuInit gives {}{})", code,
                       code == 100   ? ", no device"
                       : code == 803 ? ", driver and kernel module differ"
                                     : "");
  int version = 0;
  int count = 0;
  calls.version(&version);
  if (calls.count(&count) != 0) return "!the driver does not count its devices";
  std::string out = fmt::format("{}\n", version);
  for (int i = 0; i < count; ++i) {
    int device = 0;
    int major = 0;
    int minor = 0;
    int mapping = 0;
    std::array<char, 256> name{};
    if (calls.get(&device, i) != 0) return fmt::format("!the driver does not open device {}", i);
    calls.name(name.data(), static_cast<int>(name.size()) - 1, device);
    calls.attribute(&major, kComputeMajorAttribute, device);
    calls.attribute(&minor, kComputeMinorAttribute, device);
    calls.attribute(&mapping, kMappingAttribute, device);
    out += fmt::format("{} {} {} {}\n", major, minor, mapping, name.data());
  }
  return out;
}

/// What the child writes until it ends or the time is up; none: the time was up.
std::optional<std::string> read_until(int pipe, std::chrono::steady_clock::time_point end) {
  std::string out;
  std::array<char, 4096> chunk{};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd wait{pipe, POLLIN, 0};
    if (left.count() <= 0 || poll(&wait, 1, static_cast<int>(left.count())) == 0) return std::nullopt;
    const ssize_t got = read(pipe, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return out;
    out.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

/// Asks the driver in a child. None: it could not be asked.
std::optional<std::string> ask_driver_apart() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  const base::FileDescriptor reader(ends[0]);
  base::FileDescriptor writer(ends[1]);
  const pid_t child = fork();
  if (child < 0) return std::nullopt;
  if (child == 0) {
    const std::string answer = ask_driver();
    [[maybe_unused]] const ssize_t written = write(writer.get(), answer.data(), answer.size());
    _exit(0);
  }
  writer.reset();
  auto answer = read_until(reader.get(), std::chrono::steady_clock::now() + kDriverLimit);
  kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!answer) return fmt::format("!the driver did not answer within {} seconds", kDriverLimit.count());
  return answer->empty() ? std::optional<std::string>("!the process that started the driver died") : answer;
}

void add_nvrtc(std::vector<Finding>& out, const evaluation::Environment& environment) {
  NvrtcPlaces places;
  places.environment = environment;
  const auto nvrtc = locate_nvrtc(places);
  if (!nvrtc) {
    out.push_back({"nvrtc", State::degraded, nvrtc.error().message, "only for tasks with target = \"cuda\""});
    return;
  }
  out.push_back({"nvrtc", State::ok, nvrtc->name() + ", " + nvrtc->library, ""});
  if (nvrtc->headers.empty()) {
    out.push_back({"cuda headers", State::degraded,
                   "none were found beside NVRTC: kernels cannot include cuda_fp16.h and its kin",
                   "install a CUDA toolkit or the Python package nvidia-cuda-runtime, or set CUDA_HOME"});
    return;
  }
  out.push_back({"cuda headers", State::ok, nvrtc->headers.front().string(), ""});
}

constexpr const char* kWithout = "without a device, CUDA kernels are built and not measured";

/// Whether kernels can be measured on a device.
Finding finding_of(int number, int major, int minor, int mapping, const std::string& name) {
  Finding out{fmt::format("cuda:{}", number), State::ok,
              fmt::format("{}, compute capability {}.{}", name, major, minor), ""};
  if (major < kLeastComputeMajor) {
    out.state = State::degraded;
    out.detail += fmt::format(", which is too old: at least {}.0 is needed", kLeastComputeMajor);
    out.advice = "measure on another device (--device cuda:N, --worker)";
  } else if (mapping == 0) {
    out.state = State::degraded;
    out.detail += ", without virtual memory management, which keeps kernels from state";
    out.advice = "nothing is measured on it: measure on another device (--device cuda:N, --worker)";
  } else if (major < kTriedComputeMajor) {
    out.state = State::degraded;
    out.detail += ", accepted and never tried";
    out.advice = "no clusters, tensor maps or wgmma; figures of it are to be doubted (docs/cuda.md)";
  }
  return out;
}

void add_driver(std::vector<Finding>& out) {
  const auto answer = ask_driver_apart();
  if (!answer || answer->starts_with('!')) {
    out.push_back({"cuda driver", State::degraded, answer ? answer->substr(1) : "it could not be asked", kWithout});
    return;
  }
  std::istringstream lines(*answer);
  int version = 0;
  lines >> version;
  const std::string version_text = fmt::format("for CUDA {}.{}", version / 1000, version % 1000 / 10);
  if (version >= kLeastDriverVersion) {
    out.push_back({"cuda driver", State::ok, version_text, ""});
  } else {
    out.push_back({"cuda driver", State::degraded, version_text + ", which is too old: at least 12.0 is needed",
                   std::string("install driver 530 or newer; ") + kWithout});
  }
  int devices = 0;
  int major = 0;
  int minor = 0;
  int mapping = 0;
  for (std::string name; lines >> major >> minor >> mapping && std::getline(lines >> std::ws, name); ++devices)
    out.push_back(finding_of(devices, major, minor, mapping, name));
  if (devices == 0) out.push_back({"cuda devices", State::degraded, "the driver has none", kWithout});
}

void add_tool(std::vector<Finding>& out, const std::string& name, const ToolName& tool, const std::string& without,
              const evaluation::Environment& environment) {
  const auto found = devices::cuda::find_tool(tool, environment, {});
  if (found) {
    out.push_back(
        {name, State::ok, fmt::format("{}{}{}", found->version, found->version.empty() ? "" : ", ", found->path), ""});
    return;
  }
  out.push_back({name, State::degraded, found.error().message,
                 fmt::format("{}; it comes with a CUDA toolkit, {} names one", without, tool.variable)});
}

}  // namespace

int examine(const evaluation::Environment& environment, const evaluation::Report& report) {
  std::vector<Finding> out;
  add_nvrtc(out, environment);
  add_driver(out);
  add_tool(out, "nsight compute", devices::cuda::nsight_compute(),
           "without it, profiles of CUDA kernels have no hardware counters", environment);
  add_tool(out, "compute-sanitizer", devices::cuda::compute_sanitizer(),
           "without it, confirmed CUDA kernels are not checked for memory errors and races", environment);
  add_tool(out, "nvdisasm", devices::cuda::disassembler(),
           "without it, profiles of CUDA kernels do not show their hot loops", environment);
  for (const Finding& finding : out) report(finding);
  return 0;
}

}  // namespace accelopt::targets::cuda
