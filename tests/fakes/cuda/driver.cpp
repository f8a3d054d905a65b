// SPDX-License-Identifier: Apache-2.0
// A CUDA driver without a device: memory is the host's, machine code is a shared object made from the kernels' text by
// shim.hpp, a stream is a thread. A kernel that traps breaks the context as on a device; one that crashes takes the
// process down.
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "fakes/cuda/encode.hpp"
#include "fakes/cuda/shim.hpp"
#include "fakes/cuda/stream.hpp"
#include "fakes/cuda/variables.hpp"

namespace {

constexpr int kInvalidValue = 1;
constexpr int kOutOfMemory = 2;
constexpr int kNotFound = 500;
constexpr int kNotReady = 600;
constexpr int kIllegalAddress = 700;
constexpr int kTrapped = 719;
constexpr int kNoPermission = 4;  ///< of the management library

struct Event {
  std::atomic<bool> done{true};
  std::atomic<std::uint64_t> time_ns{0};
};

using Launch = bool (*)(const unsigned*, const unsigned*, void**);
using Parameter = std::size_t (*)(std::size_t);
struct Function {
  std::string name;
  Launch launch = nullptr;
  Parameter parameter = nullptr;
  unsigned most_shared_bytes = 48U << 10;  ///< dynamic, unless it is set
};
struct Module {
  void* library = nullptr;
  std::deque<Function> functions;
  accelopt_fakes::Variables variables;
};

std::atomic<int> sticky{0};
constexpr const char* kHasContext = "ACCELOPT_FAKE_CONTEXT";  ///< for a copy of this library that is the management's
std::atomic<std::size_t> in_use{0};
std::mutex sizes_mutex;
std::vector<std::pair<void*, std::size_t>> sizes;

std::size_t memory_limit() {
  const char* const text = std::getenv("ACCELOPT_FAKE_MEMORY");
  return text == nullptr ? std::size_t{1} << 30 : std::strtoull(text, nullptr, 10);
}

/// Adds a line to the file that ACCELOPT_FAKE_TRACE names: what tools that watch a process would see.
void trace(const std::string& line) {
  if (const char* const path = std::getenv("ACCELOPT_FAKE_TRACE")) std::ofstream(path, std::ios::app) << line << "\n";
}

/// The folder of this library, or of the copy of it that was loaded.
std::string own_folder() {
  Dl_info own{};
  dladdr(reinterpret_cast<void*>(&own_folder), &own);
  const std::string path = own.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

/// The clock that the file `clock` beside this library tells, MHz, a measurement of the clock one word: "2000*30 1000"
/// is 2000 thirty times and 1000 from then on. It begins anew when the file changes. Without the file, 0.
double faked_clock() {
  static std::string before;
  static std::size_t at = 0;
  std::ifstream file(own_folder() + "clock");
  std::string line;
  if (!std::getline(file, line)) return 0;
  if (line != std::exchange(before, line)) at = 0;
  std::istringstream words(line);
  std::size_t last = 0;
  double mhz = 0;
  for (std::string word; words >> word;) {
    const auto star = word.find('*');
    mhz = std::stod(word.substr(0, star));
    last += star == std::string::npos ? 1 : std::stoul(word.substr(star + 1));
    if (at < last) break;
  }
  ++at;
  return mhz;
}

/// With ACCELOPT_FAKE_GUARD memory ends where an allocation ends: who reads behind it takes the process down.
void* guarded(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t room = (bytes + page - 1) / page * page;
  void* const memory = mmap(nullptr, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  mprotect(static_cast<char*>(memory) + room, page, PROT_NONE);
  return static_cast<char*>(memory) + room - bytes;
}

// Virtual memory management: a granule is a page, physical memory a file, the range of addresses a reservation of this
// process's. Kernels that touch what they must not there are stopped, as on a device; elsewhere they take the process
// down.
struct Physical {
  int file = -1;
  std::size_t bytes = 0;
};
std::uintptr_t range_begin = 0;
std::uintptr_t range_end = 0;
ucontext_t before_kernel;
volatile sig_atomic_t in_kernel = 0;
volatile sig_atomic_t faulted = 0;

void on_fault(int signal, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (in_kernel != 0 && address >= range_begin && address < range_end) {
    faulted = 1;
    setcontext(&before_kernel);
  }
  std::signal(signal, SIG_DFL);  // the access is made again, and ends the process
}

/// False: the kernel met memory that is not there for it.
bool without_fault(const std::function<void()>& kernel) {
  faulted = 0;
  getcontext(&before_kernel);
  if (faulted == 0) {
    in_kernel = 1;
    kernel();
  }
  in_kernel = 0;
  return faulted == 0;
}

accelopt_fakes::Stream& the_stream() {
  static auto* const stream = new accelopt_fakes::Stream;
  return *stream;
}

struct Config {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  void* stream;
  const struct Attribute* attributes;
  unsigned attribute_count;
};
struct Attribute {
  unsigned id;
  unsigned padding;
  alignas(8) unsigned value[16];
};

/// Whether the last thing in the stream is a kernel, which the next one may overlap with.
bool kernel_is_last = false;

/// Cooperative, the cluster's extents, its policy, overlapping with the kernel before.
bool takes(const Config& config) {
  for (unsigned i = 0; i < config.attribute_count; ++i) {
    const Attribute& one = config.attributes[i];
    const bool known = one.id == 2 || one.id == 4 || one.id == 5 || one.id == 6;
    if (!known || one.value[0] == 0 || (one.id == 6 && !kernel_is_last)) return false;
  }
  return true;
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
  return 0;
}
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
int cuGetErrorName(int code, const char** name) {
  *name = code == kTrapped          ? "CUDA_ERROR_LAUNCH_FAILED"
          : code == kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : code == kOutOfMemory    ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == kNotFound       ? "CUDA_ERROR_NOT_FOUND"
                                    : "CUDA_ERROR_INVALID_VALUE";
  return 0;
}
int cuGetErrorString(int code, const char** text) {
  *text = code == kTrapped          ? "unspecified launch failure"
          : code == kIllegalAddress ? "an illegal memory access was encountered"
          : code == kOutOfMemory    ? "out of memory"
          : code == kNotFound       ? "named symbol not found"
                                    : "invalid argument";
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDeviceGetName(char* name, int length, int) {
  std::strncpy(name, "Fake H200", static_cast<std::size_t>(length));
  return 0;
}
int cuDeviceGetUuid_v2(void* uuid, int) {
  std::memset(uuid, 0xfa, 15);
  const int process = getppid();  // tests that run at the same time do not lock one another out
  std::memcpy(uuid, &process, sizeof process);
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = memory_limit();
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  switch (attribute) {
    case 1:
      *value = 1024;
      return 0;
    case 16:
      *value = 1;
      return 0;
    case 38:
      *value = 1 << 20;
      return 0;
    case 75:
      *value = 9;
      return 0;
    case 76:
      *value = 0;
      return 0;
    case 12:
    case 82:
      *value = 65536;
      return 0;
    case 97:
      *value = 232448;
      return 0;
    case 81:
      *value = 233472;
      return 0;
    case 39:
      *value = 2048;
      return 0;
    case 102:
      *value = std::ifstream(own_folder() + "unmappable") ? 0 : 1;  // a file beside this library
      return 0;
    default:
      return kInvalidValue;
  }
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  static int one = 0;
  *context = &one;
  setenv(kHasContext, "yes", 1);
  return 0;
}
int cuDevicePrimaryCtxSetFlags_v2(int, unsigned) {
  return 0;
}
int cuCtxSetCurrent(void*) {
  return 0;
}
int cuCtxSetLimit(int, std::size_t) {
  return 0;
}
int cuCtxResetPersistingL2Cache() {
  return 0;
}
int cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total) {
  *total = memory_limit();
  *free_bytes = *total - in_use;
  return 0;
}
int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  if (sticky != 0) return sticky;
  if (in_use + bytes > memory_limit()) return kOutOfMemory;
  trace("alloc " + std::to_string(bytes));
  const bool guard = std::getenv("ACCELOPT_FAKE_GUARD") != nullptr;
  void* const memory = guard ? guarded(bytes) : std::aligned_alloc(256, (bytes + 511) / 256 * 256);
  if (memory == nullptr) return kOutOfMemory;
  std::memset(memory, 0xa5, bytes);
  in_use += bytes;
  const std::lock_guard lock(sizes_mutex);
  sizes.emplace_back(memory, bytes);
  *address = reinterpret_cast<std::uint64_t>(memory);
  return 0;
}
int cuMemFree_v2(std::uint64_t address) {
  the_stream().wait();
  void* const memory = reinterpret_cast<void*>(address);
  const std::lock_guard lock(sizes_mutex);
  for (auto& [known, bytes] : sizes) {
    if (known != memory) continue;
    in_use -= bytes;
    known = nullptr;
  }
  if (std::getenv("ACCELOPT_FAKE_GUARD") == nullptr) std::free(memory);
  return 0;
}
int cuMemGetAllocationGranularity(std::size_t* granule, const void*, int) {
  *granule = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return 0;
}
int cuMemAddressReserve(std::uint64_t* address, std::size_t bytes, std::size_t, std::uint64_t, unsigned long long) {
  void* const range = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return kOutOfMemory;
  range_begin = reinterpret_cast<std::uintptr_t>(range);
  range_end = range_begin + bytes;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
  *address = range_begin;
  return 0;
}
int cuMemCreate(std::uint64_t* handle, std::size_t bytes, const void*, unsigned long long) {
  if (sticky != 0) return sticky;
  if (in_use + bytes > memory_limit()) return kOutOfMemory;
  auto* const made = new Physical{memfd_create("device", 0), bytes};
  if (made->file < 0 || ftruncate(made->file, static_cast<off_t>(bytes)) != 0) return kOutOfMemory;
  in_use += bytes;
  *handle = reinterpret_cast<std::uint64_t>(made);
  return 0;
}
int cuMemRelease(std::uint64_t handle) {
  auto* const made = reinterpret_cast<Physical*>(handle);
  in_use -= made->bytes;
  close(made->file);
  delete made;
  return 0;
}
int cuMemMap(std::uint64_t address, std::size_t bytes, std::size_t, std::uint64_t handle, unsigned long long) {
  const int file = reinterpret_cast<Physical*>(handle)->file;
  void* const at = reinterpret_cast<void*>(address);
  return mmap(at, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, file, 0) == at ? 0 : kInvalidValue;
}
int cuMemSetAccess(std::uint64_t address, std::size_t bytes, const void* access, std::size_t) {
  constexpr int kReadOnly = 1;
  const int allowed = static_cast<const int*>(access)[2] == kReadOnly ? PROT_READ : PROT_READ | PROT_WRITE;
  return mprotect(reinterpret_cast<void*>(address), bytes, allowed) == 0 ? 0 : kInvalidValue;
}
int cuMemUnmap(std::uint64_t address, std::size_t bytes) {
  the_stream().wait();
  void* const at = reinterpret_cast<void*>(address);
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  return mmap(at, bytes, PROT_NONE, kFlags, -1, 0) == at ? 0 : kInvalidValue;
}
int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  *memory = std::calloc(1, bytes);
  return 0;
}
int cuMemHostGetDevicePointer_v2(std::uint64_t* address, void* memory, unsigned) {
  *address = reinterpret_cast<std::uint64_t>(memory);
  return 0;
}
int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void*) {
  the_stream().add([=] { std::memcpy(reinterpret_cast<void*>(to), from, bytes); });
  return sticky;
}
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void*) {
  the_stream().add([=] { std::memcpy(to, reinterpret_cast<const void*>(from), bytes); });
  return sticky;
}
int cuModuleLoadData(void** out, const void* image) {
  const auto* const header = static_cast<const Elf64_Ehdr*>(image);
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return kInvalidValue;
  const std::size_t bytes = header->e_shoff + std::size_t{header->e_shentsize} * header->e_shnum;
  const int file = memfd_create("module", 0);
  if (write(file, image, bytes) != static_cast<ssize_t>(bytes)) return kInvalidValue;
  auto module = new Module;
  module->library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module->library == nullptr) return kInvalidValue;
  module->variables = accelopt_fakes::variables_of(static_cast<const char*>(image), module->library);
  *out = module;
  return 0;
}
int cuModuleUnload(void* module) {
  the_stream().wait();
  dlclose(static_cast<Module*>(module)->library);
  delete static_cast<Module*>(module);
  return 0;
}
int cuModuleGetFunction(void** out, void* module, const char* name) {
  auto* const own = static_cast<Module*>(module);
  for (Function& known : own->functions) {
    if (known.name != name) continue;
    *out = &known;
    return 0;
  }
  Function function;
  function.name = name;
  function.launch = reinterpret_cast<Launch>(dlsym(own->library, (std::string(name) + "__launch").c_str()));
  function.parameter = reinterpret_cast<Parameter>(dlsym(own->library, (std::string(name) + "__parameter").c_str()));
  if (function.launch == nullptr || function.parameter == nullptr) return kNotFound;
  *out = &own->functions.emplace_back(function);
  return 0;
}
int cuModuleGetGlobal_v2(std::uint64_t* address, std::size_t* bytes, void* module, const char* name) {
  const auto& known = static_cast<Module*>(module)->variables;
  const auto found = known.find(name);
  if (found == known.end() || std::ifstream(own_folder() + "blind")) return kNotFound;  // a file beside this library
  std::tie(*address, *bytes) = found->second;
  return 0;
}
int cuFuncGetAttribute(int* value, int, void*) {
  *value = 0;
  return 0;
}
int cuFuncSetAttribute(void* function, int attribute, int value) {
  constexpr int kDynamicShared = 8;
  if (attribute == kDynamicShared) static_cast<Function*>(function)->most_shared_bytes = static_cast<unsigned>(value);
  return 0;
}
int cuFuncGetParamInfo(void* function, std::size_t index, std::size_t* offset, std::size_t* size) {
  *offset = 0;
  *size = static_cast<Function*>(function)->parameter(index);
  return *size == 0 ? kInvalidValue : 0;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int threads, std::size_t) {
  *blocks = 2048 / threads;
  return 0;
}
int cuStreamCreate(void** stream, unsigned) {
  *stream = &the_stream();
  return 0;
}
int cuStreamSynchronize(void*) {
  the_stream().wait();
  return sticky;
}
int cuEventCreate(void** event, unsigned) {
  *event = new Event;
  return 0;
}
int cuEventRecord(void* event, void*) {
  kernel_is_last = false;
  auto* const own = static_cast<Event*>(event);
  own->done = false;
  the_stream().add([own] {
    own->time_ns = accelopt_shim::nanoseconds();
    own->done = true;
  });
  return sticky;
}
int cuEventQuery(void* event) {
  if (sticky != 0) return sticky;
  if (static_cast<Event*>(event)->done) return 0;
  std::this_thread::yield();  // who watches closely takes the stream's core where there are few
  return kNotReady;
}
int cuEventElapsedTime(float* milliseconds, void* start, void* stop) {
  // The file `events` beside this library holds what they tell wrong: a factor.
  float factor = 1;
  if (std::ifstream file(own_folder() + "events"); !(file >> factor)) factor = 1;
  *milliseconds =
      static_cast<float>(static_cast<Event*>(stop)->time_ns - static_cast<Event*>(start)->time_ns) * 1e-6F * factor;
  return 0;
}
int cuProfilerStart() {
  trace("profiler on");
  return sticky;
}
int cuProfilerStop() {
  trace("profiler off");
  return sticky;
}
int cuLaunchKernelEx(const Config* config, void* function, void** parameters, void**) {
  if (sticky != 0) return sticky;
  const Function own = *static_cast<Function*>(function);
  if (!takes(*config) || config->shared_bytes > own.most_shared_bytes) return kInvalidValue;
  kernel_is_last = true;
  trace("launch " + own.name);
  const std::array<unsigned, 3> grid{config->grid[0], config->grid[1], config->grid[2]};
  const std::array<unsigned, 3> block{config->block[0], config->block[1], config->block[2]};
  // What the parameters point to may change once this returns.
  struct alignas(64) Piece {  // as strictly aligned as a tensor map
    unsigned char bytes[64];
  };
  auto values = std::vector<std::vector<Piece>>();
  for (std::size_t i = 0; own.parameter(i) != 0; ++i) {
    values.emplace_back((own.parameter(i) + sizeof(Piece) - 1) / sizeof(Piece));
    std::memcpy(values.back().data(), parameters[i], own.parameter(i));
  }
  the_stream().add([own, grid, block, values]() mutable {
    if (sticky != 0) return;
    std::vector<void*> pointers;
    for (auto& value : values) pointers.push_back(value.data());
    const bool whole = without_fault([&] {
      if (!own.launch(grid.data(), block.data(), pointers.data())) sticky = kTrapped;
    });
    if (!whole) sticky = kIllegalAddress;
    if (!whole) return;
    if (own.name != "accelopt_clock") return;
    auto* const ticks = *static_cast<std::uint64_t**>(pointers.front());
    if (const double mhz = faked_clock(); mhz > 0)
      ticks[0] = static_cast<std::uint64_t>(static_cast<double>(ticks[1]) * mhz / 1e3);
  });
  return 0;
}
int cuTensorMapEncodeTiled(void* map, int type, std::uint32_t rank, void* address, const std::uint64_t* extents,
                           const std::uint64_t* strides, const std::uint32_t* box, const std::uint32_t* steps,
                           int interleave, int swizzle, int promotion, int fill) {
  if (reinterpret_cast<std::uintptr_t>(map) % 64 != 0) return kInvalidValue;
  const auto encoded = accelopt_shim::encode_tiled({type, rank, reinterpret_cast<std::uint64_t>(address), extents,
                                                    strides, box, steps, interleave, swizzle, promotion, fill});
  if (!encoded) return kInvalidValue;
  std::memcpy(map, &*encoded, sizeof *encoded);
  return 0;
}

// NVIDIA's management library. The file `processes` beside this library says what it lists: numbers of processes, and
// the words "hidden" (this process is not listed, as in some containers), "wide" (records as some drivers of the 535
// series have them), "renumbered" (this process is 900001, as where the machine's numbers are told) and "refused".
int nvmlInit_v2() {
  return 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  static int one = 0;
  *device = &one;
  return std::strncmp(uuid, "GPU-", 4) == 0 && std::strlen(uuid) == 40 ? 0 : kInvalidValue;
}
const char* nvmlErrorString(int code) {
  return code == kNoPermission ? "Insufficient Permissions" : "Unknown Error";
}
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, void* infos) {
  constexpr int kTooLittleRoom = 7;
  std::ifstream others(own_folder() + "processes");
  auto self = static_cast<unsigned>(getpid());
  bool wide = false;
  std::vector<unsigned> pids;
  for (std::string word; others >> word;) {
    if (word == "refused") return kNoPermission;
    if (word == "hidden") self = 0;
    if (word == "renumbered") self = 900001;
    if (word == "wide") wide = true;
    if (word.find_first_not_of("0123456789") == std::string::npos)
      pids.push_back(static_cast<unsigned>(std::stoul(word)));
  }
  if (self != 0 && std::getenv(kHasContext) != nullptr) pids.push_back(self);
  const unsigned room = std::exchange(*count, static_cast<unsigned>(pids.size()));
  if (room < pids.size()) return kTooLittleRoom;
  const std::size_t stride = wide ? 32 : 24;
  std::memset(infos, 0, stride * pids.size());
  for (std::size_t i = 0; i < pids.size(); ++i)
    std::memcpy(static_cast<char*>(infos) + i * stride, &pids[i], sizeof pids[i]);
  return 0;
}

}  // extern "C"
