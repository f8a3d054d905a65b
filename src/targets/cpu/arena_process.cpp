// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/arena_process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <string_view>

#include "sandbox/landlock.hpp"
#include "sandbox/probe.hpp"
#include "targets/cpu/arena_check.hpp"
#include "targets/cpu/calling_convention.hpp"
#include "targets/cpu/urgent.hpp"

namespace accelopt::targets::cpu {
namespace {

using base::ErrorCode;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kCpuSeconds = 300;
constexpr std::uint64_t kThreadMemoryBytes = 80ULL << 20;  ///< stack and heap area of one more thread
constexpr auto kLoadingLimit = std::chrono::seconds(20);
constexpr int kLandlockDescriptor = 9;
/// What an arena that was stopped between "done" and its loop is given to get there, microseconds: a few instructions,
/// unless something else has its core.
constexpr std::array kComingHome{20, 100, 1000, 5000, 20000};

base::Result<base::FileDescriptor> sealed_file(std::string_view bytes) {
  base::FileDescriptor file(memfd_create("kernel", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid()) return base::fail_errno(errno, "memory for a kernel");
  if (write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    return base::fail_errno(errno, "memory for a kernel");
  }
  fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  return file;
}

void set_filter(ArenaFilter& out, const sandbox::FilterProgram& program) {
  out.length = static_cast<std::uint32_t>(program.size());
  std::memcpy(out.instructions, program.data(), program.size() * sizeof(sandbox::FilterInstruction));
}

struct Filters {
  sandbox::FilterProgram load;
  sandbox::FilterProgram call;
  sandbox::FilterProgram call_threads;
};

/// Compiled once a process: they depend on nothing but the architecture.
const base::Result<Filters>& filters() {
  static const base::Result<Filters> compiled = []() -> base::Result<Filters> {
    Filters out;
    TRY_ASSIGN(out.load, sandbox::compile_filter(sandbox::FilterKind::load));
    TRY_ASSIGN(out.call, sandbox::compile_filter(sandbox::FilterKind::call, kFirstFreeAddress));
    TRY_ASSIGN(out.call_threads, sandbox::compile_filter(sandbox::FilterKind::call_threads, kFirstFreeAddress));
    for (const auto* program : {&out.load, &out.call, &out.call_threads}) {
      if (program->size() > kMaxFilterInstructions)
        return base::fail(ErrorCode::internal, "a system call filter is too long");
    }
    return out;
  }();
  return compiled;
}

/// Libraries besides the C library that the kernel needs: loaded before the arena shuts itself in.
void set_libraries(ArenaSetup& setup, const std::vector<std::string>& libraries) {
  std::size_t next = 0;
  for (const std::string& library : libraries) {
    if (library.starts_with("libc.so") || library.starts_with("ld-linux") || next == kMaxLibraries) continue;
    std::strncpy(setup.libraries[next++], library.c_str(), sizeof setup.libraries[0] - 1);
  }
}

base::Result<void> set_up(ArenaSetup& setup, const ArenaOptions& options, const BuiltKernel& kernel,
                          const Buffers& buffers) {
  setup.span_bytes = buffers.span_bytes();
  const std::vector<ArenaRegion> regions = buffers.regions();
  setup.restored = options.threads == 1 ? 1 : 0;
  setup.region_count = static_cast<std::uint32_t>(regions.size());
  std::copy(regions.begin(), regions.end(), setup.regions);
  set_libraries(setup, kernel.libraries);
  if (sandbox::capabilities().landlock > 0) setup.landlock_descriptor = kLandlockDescriptor;
  if (!sandbox::capabilities().filters) return {};
  if (!filters()) return tl::make_unexpected(filters().error());
  setup.filters_enabled = 1;
  set_filter(setup.load_filter, filters()->load);
  set_filter(setup.call_filter, options.threads > 1 ? filters()->call_threads : filters()->call);
  return {};
}

/// The files behind an arena's control pages.
struct ControlFiles {
  base::FileDescriptor orders;
  base::FileDescriptor answers;
};

base::Result<base::FileDescriptor> shared_file(const char* name, std::size_t bytes) {
  base::FileDescriptor file(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid() || ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) {
    return base::fail_errno(errno, "memory shared with an arena");
  }
  return file;
}

/// Maps the control pages as they lie in an arena, all of them writable here; from then on nobody else can map the
/// orders for writing.
base::Result<ArenaControl*> map_control(const ControlFiles& files) {
  constexpr int kSealFutureWrite = 0x0010;
  constexpr int kAccess = PROT_READ | PROT_WRITE;
  void* map = mmap(nullptr, sizeof(ArenaControl), kAccess, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) return base::fail_errno(errno, "memory shared with an arena");
  constexpr int kFlags = MAP_SHARED | MAP_FIXED | MAP_POPULATE;
  if (mmap(map, kOrdersBytes, kAccess, kFlags, files.orders.get(), 0) == MAP_FAILED ||
      mmap(static_cast<char*>(map) + kOrdersBytes, kAnswersBytes, kAccess, kFlags, files.answers.get(), 0) ==
          MAP_FAILED) {
    const int problem = errno;
    munmap(map, sizeof(ArenaControl));
    return base::fail_errno(problem, "memory shared with an arena");
  }
  fcntl(files.orders.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | kSealFutureWrite);
  return new (map) ArenaControl;
}

}  // namespace

base::Result<std::string> find_arena() {
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const std::array<std::filesystem::path, 2> places{self / "accelopt-arena",
                                                    self / "../libexec/accelopt/accelopt-arena"};
  for (const auto& place : places) {
    if (access(place.c_str(), X_OK) == 0) return place.lexically_normal().string();
  }
  return base::fail(ErrorCode::not_found, "accelopt-arena was not found in " + places[0].lexically_normal().string() +
                                              " or " + places[1].lexically_normal().string() +
                                              "; install it beside accelopt");
}

base::Result<ArenaProcess> ArenaProcess::start(const ArenaOptions& options, const BuiltKernel& kernel,
                                               const Buffers& buffers) {
  ArenaProcess out;
  ControlFiles files;
  TRY_ASSIGN(files.orders, shared_file("orders", kOrdersBytes + kImageBytes));
  TRY_ASSIGN(files.answers, shared_file("answers", kAnswersBytes));
  TRY_ASSIGN(out.image_, MemoryImage::map(files.orders.get()));
  TRY_ASSIGN(out.control_, map_control(files));
  out.control_->one_core = options.one_core ? 1 : 0;
  const auto setup = std::make_unique<ArenaSetup>();
  TRY(set_up(*setup, options, kernel, buffers));
  TRY_ASSIGN(const base::FileDescriptor set_up_file,
             sealed_file({reinterpret_cast<const char*>(setup.get()), sizeof *setup}));
  TRY_ASSIGN(const base::FileDescriptor object, sealed_file(kernel.shared_object));
  out.asserts_ = kernel.shared_object.find("__assert_fail") != std::string::npos;

  sandbox::SpawnOptions spawn;
  spawn.program = options.program;
  // Without restartable sequences: a kernel could have the operating system jump into it when its process is continued.
  spawn.environment = {"LC_ALL=C", "GLIBC_TUNABLES=glibc.pthread.rseq=0"};
  if (options.threads > 1) {
    spawn.environment.push_back("OMP_NUM_THREADS=" + std::to_string(options.threads));
    spawn.environment.emplace_back("OMP_DYNAMIC=false");
    spawn.environment.emplace_back("OMP_WAIT_POLICY=passive");
  }
  spawn.descriptors = {{files.orders.get(), kOrdersDescriptor}, {files.answers.get(), kAnswersDescriptor},
                       {set_up_file.get(), kSetupDescriptor},   {buffers.inputs(), kInputsDescriptor},
                       {buffers.outputs(), kOutputsDescriptor}, {object.get(), kKernelDescriptor}};
  base::FileDescriptor rules;
  if (setup->landlock_descriptor != 0) {
    TRY_ASSIGN(rules, sandbox::make_rule_set({}));
    spawn.descriptors.emplace_back(rules.get(), kLandlockDescriptor);
  }
  const auto threads = static_cast<std::uint64_t>(options.threads);
  spawn.limits = {
      .address_space_bytes = options.memory_bytes + buffers.span_bytes() + threads * kThreadMemoryBytes + (1ULL << 30),
      .data_bytes = options.memory_bytes + threads * kThreadMemoryBytes,
      .stack_bytes = kStackBytes,
      .no_files = true,
      .cpu_seconds = kCpuSeconds,
      .processes = threads + 1,
      .descriptors = 16};
  spawn.cores = options.cores;
  spawn.fixed_layout = true;
  const Urgent urgent;
  TRY_ASSIGN(out.process_, sandbox::spawn(spawn));
  out.threads_ = options.threads;
  // The watchdog ends one that does not return.
  make_urgent(out.process_.pid());
  TRY(out.await_loading());
  return out;
}

base::Result<void> ArenaProcess::await_loading() {
  const auto deadline = Clock::now() + kLoadingLimit;
  const auto state = [this] { return static_cast<ArenaState>(control_->state.load(std::memory_order_acquire)); };
  while (state() == ArenaState::starting) {
    if (const auto ended = process_.try_wait()) {
      if (state() == ArenaState::failed) break;
      reap(*ended);
      return {};
    }
    if (Clock::now() > deadline) {
      reap(std::string("did not load within its time limit"));
      return {};
    }
    const timespec pause{0, 20'000};
    nanosleep(&pause, nullptr);
  }
  if (state() == ArenaState::failed) {
    control_->message[sizeof control_->message - 1] = '\0';
    reap(std::string("could not be loaded: ") + control_->message);
    return {};
  }
  const std::string path = "/proc/" + std::to_string(process_.pid()) + "/schedstat";
  schedule_file_ = base::FileDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  // Nothing of the candidate's has run so far: these are the arena's own words.
  home_begin_ = control_->home_begin;
  home_end_ = control_->home_end;
  if (!stop()) return {};
  // The filter for loading and the one for calls.
  constexpr int kFilters = 2;
  const std::string altered = altered_by_loading(process_.pid(), sandbox::capabilities().filters ? kFilters : 0);
  if (!altered.empty()) {
    reap("could not be loaded: " + altered);
    return {};
  }
  if (home_begin_ == 0) return {};
  const std::string place = "/proc/" + std::to_string(process_.pid()) + "/syscall";
  place_file_ = base::FileDescriptor(open(place.c_str(), O_RDONLY | O_CLOEXEC));
  if (place_file_.valid() && !instruction()) place_file_.reset();
  return {};
}

ArenaProcess::ArenaProcess(ArenaProcess&& other) noexcept
    : process_(std::move(other.process_)),
      schedule_file_(std::move(other.schedule_file_)),
      place_file_(std::move(other.place_file_)),
      threads_(other.threads_),
      asserts_(other.asserts_),
      helpers_(std::move(other.helpers_)),
      home_begin_(other.home_begin_),
      home_end_(other.home_end_),
      control_(std::exchange(other.control_, nullptr)),
      image_(std::move(other.image_)),
      remembered_(other.remembered_),
      death_(std::move(other.death_)),
      fault_(other.fault_),
      calls_(other.calls_) {}

ArenaProcess::~ArenaProcess() {
  process_.end();
  if (control_ != nullptr) munmap(control_, sizeof(ArenaControl));
}

void ArenaProcess::reap(std::string reason) {
  process_.end();
  death_ = std::move(reason);
}

void ArenaProcess::reap(const sandbox::ExitState& state) {
  process_.end();
  const int refused = control_->refused_system_call;
  const int fault = control_->fatal_signal.load(std::memory_order_acquire);
  const std::string call = refused >= 0 ? sandbox::system_call_name(refused) : std::string();
  if (fault == SIGSYS && call == "tgkill") {
    death_ =
        "aborted or raised a signal (tgkill): a failed assertion, a corrupted heap or an exception that nothing caught";
  } else if (fault == SIGSYS && asserts_ && (call == "write" || call == "writev")) {
    death_ = "failed an assertion, most likely: it calls assert, and wrote a message (" + call + "), which ended it";
  } else if (fault == SIGSYS && refused >= 0) {
    death_ = "used the system call " + call +
             ", which kernels may not use (they may allocate memory and compute, nothing else)";
  } else if (fault != 0) {
    fault_ = {fault, control_->fault_code, control_->fault_address};
    death_ = meaning_of(*fault_);
  } else if (state.exited) {
    death_ = "ended its process instead of returning";
  } else {
    death_ = meaning_of({.signal = state.signal});
  }
}

bool ArenaProcess::stop() {
  if (const auto ended = process_.stop()) {
    reap(*ended);
    return false;
  }
  return true;
}

std::optional<std::uint64_t> ArenaProcess::instruction() const {
  // "-1 <stack> <instruction>", or the number of a system call and its arguments before them; in hexadecimal.
  std::array<char, 256> text{};
  const ssize_t got = place_file_.valid() ? pread(place_file_.get(), text.data(), text.size() - 1, 0) : 0;
  if (got <= 0) return std::nullopt;
  const std::string_view line(text.data(), static_cast<std::size_t>(got));
  // The waiting loop yields and calls nothing else, whoever jumped to its instruction.
  int call = 0;
  const bool numbered = std::from_chars(line.data(), line.data() + line.size(), call).ec == std::errc{};
  if (!numbered || (call != -1 && call != SYS_sched_yield)) return std::nullopt;
  const auto last = line.rfind("0x");
  if (last == std::string_view::npos) return std::nullopt;
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(line.data() + last + 2, line.data() + line.size(), value, 16);
  if (parsed.ec != std::errc{}) return std::nullopt;
  return value;
}

/// Looks at the stopped arena until `still` is true; between two looks it goes on for a while.
template <class Still>
bool ArenaProcess::settles(Still still) {
  for (const int microseconds : kComingHome) {
    if (still()) return true;
    process_.resume();
    const timespec pause{0, 1000L * microseconds};
    nanosleep(&pause, nullptr);
    if (!stop()) return false;
  }
  return false;
}

bool ArenaProcess::at_home() const {
  if (!place_file_.valid()) return true;
  const auto at = instruction();
  return at && *at >= home_begin_ && *at < home_end_;
}

bool ArenaProcess::is_at_wait() {
  return settles([this] { return at_home(); });
}

bool ArenaProcess::preserved() {
  const std::string changed = changed_text(control_->changed);
  if (!changed.empty()) reap("returned with " + changed);
  return changed.empty();
}

bool ArenaProcess::helpers_parked() {
  if (!place_file_.valid() || threads_ < 2) return true;
  return settles([this] { return no_helper_awake(); });
}

bool ArenaProcess::no_helper_awake() {
  helpers_.clear();
  const std::string folder = "/proc/" + std::to_string(process_.pid()) + "/task/";
  const std::unique_ptr<DIR, int (*)(DIR*)> threads(opendir(folder.c_str()), &closedir);
  if (!threads) return false;
  const std::string own = std::to_string(process_.pid());
  while (const dirent* const entry = readdir(threads.get())) {  // NOLINT(concurrency-mt-unsafe): a stream of its own
    if (entry->d_name[0] == '.' || own == entry->d_name) continue;
    helpers_.emplace_back(open((folder + entry->d_name + "/syscall").c_str(), O_RDONLY | O_CLOEXEC));
    const bool gone = !helpers_.back().valid() && errno == ENOENT;
    if (gone) helpers_.pop_back();
  }
  return helpers_rest();
}

bool ArenaProcess::helpers_rest() const {
  return std::all_of(helpers_.begin(), helpers_.end(), [this](const auto& place) { return parked(place); });
}

/// A blocked thread shows the call that it waits in, and a stopped one the call that it will restart. Words of memory
/// are read from outside: a thread whose word has changed goes on as soon as it is continued.
bool ArenaProcess::parked(const base::FileDescriptor& place) const {
  std::array<char, 256> text{};
  const ssize_t got = place.valid() ? pread(place.get(), text.data(), text.size() - 1, 0) : 0;
  if (got < 0) return errno == ESRCH;
  unsigned long long word = 0;
  unsigned long long operation = 0;
  unsigned long long awaited = 0;
  unsigned long long limit = 0;
  long number = -1;
  if (std::sscanf(text.data(), "%ld %llx %llx %llx %llx", &number, &word, &operation, &awaited, &limit) != 5) {
    return false;
  }
  if (word < kFirstFreeAddress) return false;  // shared memory: the worker itself changes it before the next go
  const auto command = static_cast<int>(operation) & FUTEX_CMD_MASK;
  if (number != SYS_futex || (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET) || limit != 0) return false;
  std::uint32_t now = 0;
  const iovec here{&now, sizeof now};
  const iovec there{reinterpret_cast<void*>(word), sizeof now};
  return process_vm_readv(process_.pid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(sizeof now) &&
         now == static_cast<std::uint32_t>(awaited);
}

void ArenaProcess::remember() {
  if (threads_ > 1 || home_begin_ == 0 || calls_ > 0 || !death_.empty()) return;
  const MemoryImage::Taken taken = image_.take(process_.pid(), control_->heap_used);
  remembered_ = taken == MemoryImage::Taken::whole;
  if (taken == MemoryImage::Taken::too_large)
    reap("could not be loaded: its libraries have more data than fits into an image of it");
}

bool ArenaProcess::is_restored() {
  const auto clear = [](void* from, const void* to) {
    std::memset(from, 0, static_cast<std::size_t>(static_cast<const char*>(to) - static_cast<char*>(from)));
  };
  clear(&control_->ready.call + 1, &control_->done);
  clear(&control_->done.call + 1, &control_->state);
  clear(&control_->state, reinterpret_cast<const char*>(&control_->ready) + kAnswersBytes);
  control_->refused_system_call = -1;
  if (image_.holds(process_.pid())) return true;
  reap(std::string("changed memory that is not its own: code or constants that its process was loaded with"));
  return false;
}

ArenaProcess::Schedule ArenaProcess::schedule() const {
  std::array<char, 96> text{};
  const ssize_t got = schedule_file_.valid() ? pread(schedule_file_.get(), text.data(), text.size() - 1, 0) : 0;
  if (got <= 0) return {};
  const char* const end = text.data() + got;
  std::int64_t ran = 0;
  std::int64_t waited = 0;
  const char* const second = std::from_chars(text.data(), end, ran).ptr;
  if (second != end) std::from_chars(second + 1, end, waited);
  return {std::chrono::nanoseconds{ran}, std::chrono::nanoseconds{waited}};
}

}  // namespace accelopt::targets::cpu
