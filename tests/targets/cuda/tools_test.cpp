// SPDX-License-Identifier: Apache-2.0
// Nsight Compute and compute-sanitizer over one call: fakes of both run the real accelopt-device over the fake driver.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <sstream>
#include <thread>

#include "base/files.hpp"
#include "devices/cuda/protocol.hpp"
#include "evaluation/local_evaluator.hpp"
#include "sandbox/run.hpp"
#include "targets/cuda/fake_cuda.hpp"

namespace accelopt::targets::cuda {
namespace {

using namespace devices::cuda;

using model::Status;

/// One that has a value in both of its launches, and a scratch tensor that is cleared.
constexpr const char* kTwoLaunches = R"(//@ scratch sums float32 [M] zero
//@ launch sum_rows grid=(cdiv(M, 64)) block=(64) args=(x, g, sums, M)
//@ launch finish grid=(cdiv(M, 64)) block=(64) args=(x, sums, s, y, n, M)
extern "C" __global__ void sum_rows(const float* x, const float* g, float* sums, int64_t M) {
  const int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M) return;
  for (int k = 0; k < K; ++k) sums[i] += x[i * K + k] * x[i * K + k] * g[k];
}
extern "C" __global__ void finish(const float* x, const float* sums, float s, float* y, int* n, int64_t M) {
  const int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M) return;
  int negative = 0;
  for (int k = 0; k < K; ++k) negative += x[i * K + k] < 0;
  y[i] = sums[i] + s;
  n[i] = negative;
}
)";

/// The baseline with another line.
std::string squares_with(const std::string& what, const std::string& instead) {
  std::string text = kSquares;
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), instead);
}

/// One that spins in a call that is watched: the fakes leave a variable there.
std::string spins_when_watched() {
  return squares_with("  y[i] = sum + s;",
                      "  for (volatile bool on = getenv(\"ACCELOPT_FAKE_TRACE\"); on;) {}\n  y[i] = sum + s;");
}

/// The baseline with a kernel of that name.
std::string squares_named(const std::string& name) {
  std::string text = kSquares;
  for (auto at = text.find("squares"); at != std::string::npos; at = text.find("squares", at + name.size()))
    text.replace(at, 7, name);
  return text;
}

bool has_ended(pid_t process) {
  const auto stat = base::read_file("/proc/" + std::to_string(process) + "/stat");
  return !stat || stat->find(") Z") != std::string::npos;
}

/// Whether it is so within a time that is long for what takes milliseconds.
bool soon(const std::function<bool()>& is_so) {
  for (const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20); !is_so();) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

class Tools : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = base::TemporaryFolder::create("accelopt-tools-test");
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
  }

  /// A fake in this mode, as the environment names it.
  std::string fake(const std::string& name, const std::string& mode) {
    const auto program = folder_->path() / name;
    std::string script = name;
    std::replace(script.begin(), script.end(), '-', '_');
    const std::string text = "#!/bin/sh\nexec python3 -B " ACCELOPT_TESTS_FOLDER "/fakes/cuda/" + script + ".py " +
                             mode + " " + log_of(name) + " \"$@\"\n";
    EXPECT_TRUE(base::write_file(program, text));
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return program.string();
  }
  [[nodiscard]] std::string log_of(const std::string& name) const {
    return (folder_->path() / (name + ".log")).string();
  }
  [[nodiscard]] std::vector<std::string> logged(const std::string& name) const {
    std::istringstream lines(base::read_file(log_of(name)).value_or(""));
    std::vector<std::string> out;
    for (std::string line; std::getline(lines, line);) out.push_back(line);
    return out;
  }

  void open(const std::string& ncu, const std::string& sanitizer) {
    CudaOptions options = fake_options();
    options.build.environment["ACCELOPT_NCU"] = ncu;
    options.build.environment["ACCELOPT_COMPUTE_SANITIZER"] = sanitizer;
    if (hanging_) {
      options.counting_limit = std::chrono::seconds(1);
      options.sanitizing_limit = std::chrono::seconds(1);
    }
    evaluator_.reset();  // its slots lie in the target
    target_ = make_cuda_target(options);
    evaluator_ = evaluation::make_local_evaluator(*target_);
    evaluation::MeasureSettings settings;
    settings.seed = 20261122;
    settings.slots = 2;
    settings.protocol = model::Protocol::verify;
    settings.confirm_restarts = 1;
    settings.confirm_min_blocks = 2;
    settings.confirm_max_blocks = 2;
    const auto opened = evaluator_->ask(evaluation::Open{squares_task(), settings}, {});
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_EQ(opened->baseline.status, Status::passed) << opened->baseline.reason;
  }
  model::Profile profile(const std::string& text) {
    auto out = evaluator_->ask(evaluation::Profile{model::Kernel(cuda_solution(text))}, {});
    EXPECT_TRUE(out) << out.error().message;
    if (!out) return {};
    // On a busy machine the fake device's clocks contradict each other, which is noted as well.
    std::erase_if(out->notes, [](const std::string& note) { return note.starts_with("times of workload "); });
    return *out;
  }
  model::Evaluation confirm(const std::string& text) {
    auto out = evaluator_->ask(evaluation::Confirm{model::Kernel(cuda_solution(text))}, {});
    EXPECT_TRUE(out) << out.error().message;
    if (!out) return {};
    // On a busy machine the fake device's calls take longer alone, which is noted as well.
    std::erase_if(out->notes, [](const std::string& note) { return note.ends_with("calls made alone count"); });
    return *out;
  }
  static const model::ProfileItem* find(const model::Profile& profile, const std::string& name) {
    const auto found = std::find_if(profile.items.begin(), profile.items.end(),
                                    [&](const model::ProfileItem& item) { return item.name == name; });
    return found == profile.items.end() ? nullptr : &*found;
  }

  bool hanging_ = false;
  std::optional<base::TemporaryFolder> folder_;
  std::unique_ptr<evaluation::Target> target_;
  std::unique_ptr<evaluation::Evaluator> evaluator_;
};

TEST_F(Tools, CountersStandInTheProfile) {
  open(fake("ncu", "usual"), "off");
  const model::Profile profile = this->profile(kSquares);
  EXPECT_TRUE(profile.notes.empty());
  const auto* const time = find(profile, "counted time");
  ASSERT_TRUE(time);
  EXPECT_DOUBLE_EQ(time->value, 12.345);
  EXPECT_EQ(time->unit, "us");
  EXPECT_DOUBLE_EQ(find(profile, "read from memory")->value, 1048576);
  EXPECT_DOUBLE_EQ(find(profile, "sectors a load")->value, 32);
  EXPECT_DOUBLE_EQ(find(profile, "stalled, long scoreboard")->value, 60);
  EXPECT_DOUBLE_EQ(find(profile, "stalled, barrier")->value, 30);
  EXPECT_DOUBLE_EQ(find(profile, "instructions, fma")->value, 50);
  EXPECT_FALSE(find(profile, "memory throughput"));  // n/a here
  EXPECT_EQ(logged("ncu"), std::vector<std::string>{"all none off"});
}

TEST_F(Tools, KernelsOfAPlanAreNamedAndTrustedOnesAreNotCounted) {
  open(fake("ncu", "usual"), "off");
  const model::Profile profile = this->profile(kTwoLaunches);
  EXPECT_TRUE(profile.notes.empty());
  EXPECT_TRUE(find(profile, "sum_rows: achieved occupancy"));
  EXPECT_TRUE(find(profile, "finish: achieved occupancy"));
  EXPECT_FALSE(find(profile, "achieved occupancy"));
  for (const model::ProfileItem& item : profile.items) EXPECT_FALSE(item.name.starts_with("accelopt_")) << item.name;
}

TEST_F(Tools, AnUnknownMetricLosesNoOther) {
  open(fake("ncu", "unknown"), "off");
  const model::Profile profile = this->profile(kSquares);
  EXPECT_TRUE(profile.notes.empty());
  EXPECT_TRUE(find(profile, "achieved occupancy"));
  const std::size_t runs = logged("ncu").size();
  EXPECT_EQ(runs, 4);  // three that name one metric each, and the one that counts
  EXPECT_TRUE(find(this->profile(kSquares), "achieved occupancy"));
  EXPECT_EQ(logged("ncu").size(), runs + 1);  // what is unknown stays known
}

TEST_F(Tools, AUserWithoutPermissionIsAskedOnce) {
  open(fake("ncu", "refused"), "off");
  for (int i = 0; i < 2; ++i) {
    const model::Profile profile = this->profile(kSquares);
    EXPECT_TRUE(find(profile, "cold time"));
    ASSERT_EQ(profile.notes.size(), 1);
    EXPECT_NE(profile.notes[0].find("ERR_NVGPUCTRPERM"), std::string::npos) << profile.notes[0];
  }
  EXPECT_EQ(logged("ncu").size(), 1);
}

TEST_F(Tools, ACounterProgramThatHangsIsEndedAndGivenUp) {
  hanging_ = true;
  open(fake("ncu", "hang"), "off");
  for (int i = 0; i < 3; ++i) {
    const model::Profile profile = this->profile(kSquares);
    EXPECT_TRUE(find(profile, "cold time"));
    ASSERT_EQ(profile.notes.size(), 1);
    EXPECT_NE(profile.notes[0].find("took more than 1 s"), std::string::npos) << profile.notes[0];
  }
  EXPECT_EQ(logged("ncu").size(), 2);
}

TEST_F(Tools, WithoutNsightComputeTheProfileSaysSo) {
  open("off", "off");
  const model::Profile profile = this->profile(kSquares);
  EXPECT_EQ(profile.notes, std::vector<std::string>{
                               "hardware counters were not read: Nsight Compute (ncu) is turned off (ACCELOPT_NCU)"});
  EXPECT_FALSE(find(profile, "achieved occupancy"));
}

TEST_F(Tools, ACounterProgramThatSaysNothingIsNoFailure) {
  open(fake("ncu", "crash"), "off");
  const model::Profile profile = this->profile(kSquares);
  EXPECT_TRUE(find(profile, "cold time"));
  EXPECT_EQ(profile.notes,
            std::vector<std::string>{"hardware counters were not read: Nsight Compute gave none: it printed no table"});
}

TEST_F(Tools, AKernelNamedLikeAnErrorIsCountedOnce) {
  for (const std::string name : {"ERR_NVGPUCTRPERM", "CUDA_ERROR_OUT_OF_MEMORY"}) {
    open(fake("ncu", "usual"), "off");
    const std::size_t before = logged("ncu").size();
    const model::Profile profile = this->profile(squares_named(name));
    EXPECT_TRUE(find(profile, "achieved occupancy")) << name;
    EXPECT_TRUE(profile.notes.empty()) << profile.notes[0];
    EXPECT_EQ(logged("ncu").size(), before + 1) << name;
  }
}

TEST_F(Tools, CountersOfAPartOfThePlanAreToldAsThat) {
  open(fake("ncu", "half"), "off");
  const model::Profile profile = this->profile(kTwoLaunches);
  EXPECT_TRUE(find(profile, "achieved occupancy"));
  EXPECT_EQ(profile.notes, std::vector<std::string>{"hardware counters were read of 1 of 2 kernels alone: The "
                                                    "application returned an error code (11)."});
}

TEST_F(Tools, ACounterProgramThatKnowsNoMetricIsNotAskedForEver) {
  open(fake("ncu", "strange"), "off");
  const model::Profile profile = this->profile(kSquares);
  EXPECT_EQ(profile.notes, std::vector<std::string>{"hardware counters were not read: Nsight Compute did not know a "
                                                    "metric in each of 16 runs"});
  EXPECT_EQ(logged("ncu").size(), 16);
}

TEST_F(Tools, ACallThatItsToolLeavesBehindEnds) {
  open(fake("ncu", "leave"), "off");
  const model::Profile profile = this->profile(spins_when_watched());
  EXPECT_EQ(profile.notes.size(), 1);
  const std::vector<std::string> log = logged("ncu");
  ASSERT_EQ(log.size(), 2);
  EXPECT_TRUE(soon([&] { return has_ended(std::stoi(log[1])); }));
}

TEST_F(Tools, AStopEndsTheToolAndTheCallAndTheDeviceIsFree) {
  open(fake("ncu", "keep"), "off");
  std::stop_source stop;
  std::jthread stopper([&] {
    EXPECT_TRUE(soon([&] { return logged("ncu").size() == 2; }));
    stop.request_stop();
  });
  const auto stopped =
      evaluator_->ask(evaluation::Profile{model::Kernel(cuda_solution(spins_when_watched()))}, stop.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, base::ErrorCode::cancelled);
  EXPECT_TRUE(soon([&] { return has_ended(std::stoi(logged("ncu")[1])); }));
  EXPECT_EQ(
      evaluator_
          ->ask(evaluation::Race{model::Kernel(cuda_solution(kTwoLaunches)), model::Kernel(squares_task().baseline)},
                {})
          ->status,
      Status::passed);
}

TEST_F(Tools, SeeNoKeys) {
  setenv("ACCELOPT_TEST_KEY", "secret", 1);
  open(fake("ncu", "environment"), "off");
  this->profile(kSquares);
  for (const std::string& name : logged("ncu")) {
    EXPECT_EQ(name.find("KEY"), std::string::npos);
    EXPECT_NE(name, "ACCELOPT_FAKE_TRACE");
  }
  EXPECT_GT(logged("ncu").size(), 4);
  unsetenv("ACCELOPT_TEST_KEY");
}

TEST_F(Tools, TheResidentProcessGivesWayWhereMemoryIsShort) {
  open(fake("ncu", "full"), "off");
  EXPECT_TRUE(find(profile(kSquares), "achieved occupancy"));
  EXPECT_EQ(logged("ncu").size(), 2);
  // Its slots are made again.
  EXPECT_EQ(
      evaluator_
          ->ask(evaluation::Race{model::Kernel(cuda_solution(kTwoLaunches)), model::Kernel(squares_task().baseline)},
                {})
          ->status,
      Status::passed);
}

TEST_F(Tools, AConfirmedKernelWasCheckedByAllTools) {
  open("off", fake("compute-sanitizer", "usual"));
  const model::Evaluation evaluation = confirm(kTwoLaunches);
  EXPECT_EQ(evaluation.status, Status::passed) << evaluation.reason;
  EXPECT_EQ(evaluation.notes, (std::vector<std::string>{
                                  "workload rows_2333: checked by memcheck, initcheck, racecheck of compute-sanitizer "
                                  "2025.3.1: nothing found",
                                  "workload rows_2333: checked by memcheck, initcheck, racecheck of compute-sanitizer "
                                  "2025.3.1, tensors as in the race: nothing found",
                                  "workload rows_3000: checked by memcheck, initcheck, racecheck of compute-sanitizer "
                                  "2025.3.1: nothing found",
                                  "workload rows_3000: checked by memcheck, initcheck, racecheck of compute-sanitizer "
                                  "2025.3.1, tensors as in the race: nothing found"}));
  const std::vector<std::string> log = logged("compute-sanitizer");
  ASSERT_EQ(log.size(), 36);
  EXPECT_EQ(log[0], "memcheck");
  EXPECT_EQ(log[3], "initcheck");
  EXPECT_EQ(log[6], "racecheck");
  // x, g, y, n and the scratch tensor, to the byte; the checks' own memory comes before them.
  EXPECT_TRUE(log[19].ends_with(" 384000 128 12000 12000 12000")) << log[19];
  EXPECT_TRUE(log[1].ends_with(" 298624 128 9332 9332 9332")) << log[1];
  EXPECT_EQ(log[9], "memcheck");
  EXPECT_EQ(log[10], "allocated ") << "where calls are timed nothing is";
  // Nothing writes outputs before the candidate does; scratch is cleared as the plan says.
  EXPECT_EQ(log[2], "launched accelopt_draw accelopt_draw accelopt_zero sum_rows finish");
}

TEST_F(Tools, AReadBehindATensorIsNotConfirmed) {
  open("off", fake("compute-sanitizer", "usual"));
  const std::string reads_behind =
      squares_with("  y[i] = sum + s;", "  if (i == M - 1 && g[K] == 12345.5f) sum += 1;\n  y[i] = sum + s;");
  // Behind g there is always some room: tensors begin at multiples of 256 bytes.
  EXPECT_EQ(
      evaluator_
          ->ask(evaluation::Race{model::Kernel(cuda_solution(reads_behind)), model::Kernel(squares_task().baseline)},
                {})
          ->status,
      Status::passed);
  const model::Evaluation evaluation = confirm(reads_behind);
  EXPECT_EQ(evaluation.status, Status::runtime_error);
  EXPECT_EQ(evaluation.verdict, model::Verdict::none);
  EXPECT_EQ(
      evaluation.reason,
      "workload rows_2333: compute-sanitizer's memcheck found: Invalid __global__ read of size 4 bytes at "
      "squares(const float *, float *) in k.cu:7 by thread (55,0,0) in block (46,0,0) Address is out of bounds and is "
      "1 bytes after the nearest allocation of size 384,000 bytes");
  EXPECT_TRUE(evaluation.samples.empty());
}

TEST_F(Tools, FindingsOfTheOtherToolsCountAsWell) {
  for (const std::string tool : {"initcheck", "racecheck"}) {
    open("off", fake("compute-sanitizer", tool));
    const model::Evaluation evaluation = confirm(kSquares);
    EXPECT_EQ(evaluation.status, Status::runtime_error);
    EXPECT_NE(evaluation.reason.find("compute-sanitizer's " + tool + " found: "), std::string::npos)
        << evaluation.reason;
    EXPECT_NE(evaluation.reason.find("squares"), std::string::npos) << evaluation.reason;
    EXPECT_EQ(evaluation.reason.find("0x"), std::string::npos) << evaluation.reason;
  }
}

TEST_F(Tools, ADeviceThatTheSanitizerDoesNotKnowIsANote) {
  open("off", fake("compute-sanitizer", "unsupported"));
  const model::Evaluation evaluation = confirm(kSquares);
  EXPECT_EQ(evaluation.status, Status::passed) << evaluation.reason;
  ASSERT_EQ(evaluation.notes.size(), 2);
  EXPECT_EQ(evaluation.notes[1],
            "workload rows_3000: not checked for memory errors and races: compute-sanitizer says: Error: Device not "
            "supported. Please refer to the \"Supported Devices\" section of the sanitizer documentation");
  EXPECT_EQ(logged("compute-sanitizer").size(), 1);  // and it is not asked again
}

TEST_F(Tools, ASanitizerThatFailsIsANote) {
  open("off", fake("compute-sanitizer", "crash"));
  const model::Evaluation evaluation = confirm(kSquares);
  EXPECT_EQ(evaluation.status, Status::passed) << evaluation.reason;
  ASSERT_EQ(evaluation.notes.size(), 12);
  EXPECT_EQ(evaluation.notes[2],
            "workload rows_2333: not checked by racecheck: Internal Sanitizer Error: the tool gave up");
}

TEST_F(Tools, ASanitizerThatHangsIsEndedAndANote) {
  hanging_ = true;
  open("off", fake("compute-sanitizer", "hang"));
  const model::Evaluation evaluation = confirm(kSquares);
  EXPECT_EQ(evaluation.status, Status::passed) << evaluation.reason;
  ASSERT_EQ(evaluation.notes.size(), 12);
  EXPECT_EQ(evaluation.notes[0], "workload rows_2333: not checked by memcheck: it took more than 1 s");
  EXPECT_EQ(evaluation.notes[11],
            "workload rows_3000: not checked by racecheck, tensors as in the race: it took more than 1 s");
  EXPECT_EQ(logged("compute-sanitizer").size(), 3);  // what was too slow for less data is not tried with more
}

TEST_F(Tools, WithoutASanitizerTheConfirmationSaysSo) {
  open("off", "off");
  const model::Evaluation evaluation = confirm(kSquares);
  EXPECT_EQ(evaluation.status, Status::passed) << evaluation.reason;
  ASSERT_EQ(evaluation.notes.size(), 2);
  EXPECT_EQ(evaluation.notes[0],
            "workload rows_2333: not checked for memory errors and races: compute-sanitizer is turned off "
            "(ACCELOPT_COMPUTE_SANITIZER)");
}

TEST_F(Tools, AWarningIsNoFinding) {
  open("off", fake("compute-sanitizer", "warning"));
  EXPECT_EQ(confirm(kSquares).status, Status::passed);
}

/// Runs `accelopt-device --one-call` on a file of these bytes.
class OneCallProcess : public Tools {
 protected:
  sandbox::RunResult run(const std::string& bytes) {
    const auto file = folder_->path() / "call";
    EXPECT_TRUE(base::write_file(file, bytes));
    sandbox::SpawnOptions options;
    options.program = ACCELOPT_DEVICE_PATH;
    options.arguments = {"--one-call", file.string()};
    options.own_namespaces = false;
    auto ran = sandbox::run(options, {}, nullptr, {});
    EXPECT_TRUE(ran) << ran.error().message;
    return ran.value_or(sandbox::RunResult{});
  }
  /// One input and one output of eight floats, and this kernel over them.
  static std::string call_of(const std::string& text, int limit_seconds = 1, Layout layout = Layout::exact) {
    model::Task task;
    task.definition.axes = {{"M", 8}};
    task.definition.inputs = {spec_of("x", std::vector<std::string>{"M"})};
    task.definition.outputs = {spec_of("y", std::vector<std::string>{"M"})};
    task.workloads = {{"eight", {}, model::Role::race, 1.0}};
    const auto built = FakeBuilder(task).build(model::Kernel(cuda_solution(text)), {});
    EXPECT_TRUE(built) << built.error().message;
    const std::string& cubin = (*built)->program.cubins.at(0).bytes;
    const auto checks = base::read_file(ACCELOPT_FAKE_CHECK_KERNELS);
    OneCallRequest request;
    request.open.driver = ACCELOPT_FAKE_DRIVER;
    request.open.check_bytes = checks->size();
    request.cubin_bytes = {cubin.size()};
    request.plan = (*built)->program.plans.at("");
    request.outputs = {{"y", model::DType::float32, {8}, 8}};
    request.inputs.emplace_back().name = "x";
    request.inputs.back().count = 8;
    request.inputs.back().bulk = true;
    request.layout = layout;
    request.limit_seconds = limit_seconds;
    return base::canonical(base::Json(request)) + "\n" + *checks + cubin + std::string(8 * sizeof(float), '\0');
  }
};

constexpr const char* kFill = R"(//@ launch fill grid=(1) block=(8) args=(y)
extern "C" __global__ void fill(float* y) { y[threadIdx.x] = 1; }
)";
constexpr const char* kSpin = R"(//@ launch spin grid=(1) block=(1) args=(y)
extern "C" __global__ void spin(float* y) { for (volatile float* at = y; at == y;) *at = 1; }
)";

TEST_F(OneCallProcess, EndsWell) {
  const auto ran = run(call_of(kFill));
  EXPECT_TRUE(ran.state.exited && ran.state.code == 0) << ran.output;
  EXPECT_EQ(ran.output, "");
}

TEST_F(OneCallProcess, InputsMayBeReadAloneWhereTensorsLieAsInTheRace) {
  const std::string writes =
      "//@ launch spoil grid=(1) block=(8) args=(x, y)\n"
      "extern \"C\" __global__ void spoil(const float* x, float* y) { *const_cast<float*>(x) = 1; y[threadIdx.x] = 1; "
      "}\n";
  const std::string reads =
      "//@ launch copy grid=(1) block=(8) args=(x, y)\n"
      "extern \"C\" __global__ void copy(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }\n";
  const auto ends_well = [&](const std::string& text, Layout layout) {
    const auto ran = run(call_of(text, 1, layout));
    return ran.state.exited && ran.state.code == 0;
  };
  EXPECT_TRUE(ends_well(reads, Layout::exact));
  EXPECT_TRUE(ends_well(reads, Layout::raced));
  EXPECT_TRUE(ends_well(writes, Layout::exact));  // which fingerprints find, in calls that are judged
  EXPECT_FALSE(ends_well(writes, Layout::raced));
}

TEST_F(OneCallProcess, EndsItselfWhereAKernelDoesNot) {
  const auto ran = run(call_of(kSpin));
  EXPECT_FALSE(ran.timed_out);
  EXPECT_TRUE(ran.state.exited ? ran.state.code == 3 : ran.state.signal == SIGALRM) << ran.state.code;
}

TEST_F(OneCallProcess, EndsWithTheLockOfWhoWantsIt) {
  const auto file = folder_->path() / "call";
  ASSERT_TRUE(base::write_file(file, call_of(kSpin, 120)));
  base::FileDescriptor lock(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(flock(lock.get(), LOCK_EX), 0);
  const std::string trace = (folder_->path() / "trace").string();
  sandbox::SpawnOptions options;
  options.program = ACCELOPT_DEVICE_PATH;
  options.arguments = {"--one-call", file.string()};
  options.environment = {"ACCELOPT_FAKE_TRACE=" + trace};
  options.own_namespaces = false;
  auto process = sandbox::spawn(options);
  ASSERT_TRUE(process) << process.error().message;
  EXPECT_TRUE(soon([&] { return base::read_file(trace).value_or("").find("launch spin") != std::string::npos; }));
  EXPECT_FALSE(process->try_wait());
  lock.reset();
  std::optional<sandbox::ExitState> ended;
  EXPECT_TRUE(soon([&] { return (ended = process->try_wait()).has_value(); }));
  EXPECT_TRUE(ended && ended->exited && ended->code == 4);
}

TEST_F(OneCallProcess, RefusesWhatIsNoCall) {
  const std::string whole = call_of(kFill);
  for (const auto& [bytes, why] : {std::pair<std::string, std::string>{"", "has no request"},
                                   {"{}\n", "the call's request"},
                                   {"no json\n", "the call's request"},
                                   {whole.substr(0, whole.size() - 1), "the file of the call is cut short"}}) {
    const auto ran = run(bytes);
    EXPECT_TRUE(ran.state.exited && ran.state.code == 1) << ran.state.code;
    EXPECT_NE(ran.output.find(why), std::string::npos) << ran.output;
  }
}

}  // namespace
}  // namespace accelopt::targets::cuda
