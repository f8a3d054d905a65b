// SPDX-License-Identifier: Apache-2.0
// Nsight Compute and compute-sanitizer over one call: fakes of both run the real accelopt-card over the fake driver.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sstream>

#include "base/files.hpp"
#include "evaluation/local_evaluator.hpp"
#include "sandbox/run.hpp"
#include "targets/cuda/card_protocol.hpp"
#include "targets/cuda/counters.hpp"
#include "targets/cuda/fake_card.hpp"
#include "targets/cuda/find_tool.hpp"
#include "targets/cuda/sanitizer_report.hpp"
#include "targets/cuda/tool_text.hpp"

namespace accelopt::targets::cuda {
namespace {

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
    settings.protocol = "verify";
    settings.confirm_restarts = 1;
    settings.confirm_min_blocks = 2;
    settings.confirm_max_blocks = 2;
    const auto opened = evaluator_->open(squares_task(), settings, {});
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_EQ(opened->baseline.status, Status::passed) << opened->baseline.reason;
  }
  model::Profile profile(const std::string& text) {
    auto out = evaluator_->profile(cuda_solution(text), {});
    EXPECT_TRUE(out) << out.error().message;
    return out.value_or(model::Profile{});
  }
  model::Evaluation confirm(const std::string& text) {
    auto out = evaluator_->confirm(cuda_solution(text), {});
    EXPECT_TRUE(out) << out.error().message;
    return out.value_or(model::Evaluation{});
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

TEST_F(Tools, TheResidentProcessGivesWayWhereMemoryIsShort) {
  open(fake("ncu", "full"), "off");
  EXPECT_TRUE(find(profile(kSquares), "achieved occupancy"));
  EXPECT_EQ(logged("ncu").size(), 2);
  // Its slots are made again.
  EXPECT_EQ(evaluator_->triage(cuda_solution(kTwoLaunches), squares_task().baseline, {})->status, Status::passed);
}

TEST_F(Tools, AConfirmedKernelWasCheckedByAllTools) {
  open("off", fake("compute-sanitizer", "usual"));
  const model::Evaluation evaluation = confirm(kTwoLaunches);
  EXPECT_EQ(evaluation.status, Status::passed) << evaluation.reason;
  EXPECT_EQ(evaluation.notes, (std::vector<std::string>{
                                  "workload rows_2333: checked by memcheck, initcheck, racecheck of compute-sanitizer "
                                  "2025.3.1: nothing found",
                                  "workload rows_3000: checked by memcheck, initcheck, racecheck of compute-sanitizer "
                                  "2025.3.1: nothing found"}));
  const std::vector<std::string> log = logged("compute-sanitizer");
  ASSERT_EQ(log.size(), 18);
  EXPECT_EQ(log[0], "memcheck");
  EXPECT_EQ(log[3], "initcheck");
  EXPECT_EQ(log[6], "racecheck");
  // x, g, y, n and the scratch tensor, to the byte; the checks' own memory comes before them.
  EXPECT_TRUE(log[10].ends_with(" 384000 128 12000 12000 12000")) << log[10];
  EXPECT_TRUE(log[1].ends_with(" 298624 128 9332 9332 9332")) << log[1];
  // Nothing writes outputs before the candidate does; scratch is cleared as the plan says.
  EXPECT_EQ(log[2], "launched accelopt_draw accelopt_draw accelopt_zero sum_rows finish");
}

TEST_F(Tools, AReadBehindATensorIsNotConfirmed) {
  open("off", fake("compute-sanitizer", "usual"));
  const std::string reads_behind =
      squares_with("  y[i] = sum + s;", "  if (i == M - 1 && x[M * K] == 12345.5f) sum += 1;\n  y[i] = sum + s;");
  EXPECT_EQ(evaluator_->triage(cuda_solution(reads_behind), squares_task().baseline, {})->status, Status::passed);
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
  ASSERT_EQ(evaluation.notes.size(), 6);
  EXPECT_EQ(evaluation.notes[2],
            "workload rows_2333: not checked by racecheck: Internal Sanitizer Error: the tool gave up");
}

TEST_F(Tools, ASanitizerThatHangsIsEndedAndANote) {
  hanging_ = true;
  open("off", fake("compute-sanitizer", "hang"));
  const model::Evaluation evaluation = confirm(kSquares);
  EXPECT_EQ(evaluation.status, Status::passed) << evaluation.reason;
  ASSERT_EQ(evaluation.notes.size(), 6);
  EXPECT_EQ(evaluation.notes[0], "workload rows_2333: not checked by memcheck: it took more than 1 s");
  EXPECT_EQ(evaluation.notes[5], "workload rows_3000: not checked by racecheck: it took more than 1 s");
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

TEST_F(Tools, AreFoundWhereTheEnvironmentSays) {
  const std::string path = fake("ncu", "usual");
  const auto named = find_tool(nsight_compute(), {{"ACCELOPT_NCU", path}}, {});
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->path, path);
  EXPECT_EQ(named->version, "2025.3.1.0");
  const auto on_path = find_tool(nsight_compute(), {{"PATH", "/nowhere:" + folder_->path().string()}}, {});
  ASSERT_TRUE(on_path) << on_path.error().message;
  EXPECT_EQ(on_path->path, path);
  std::filesystem::create_directory(folder_->path() / "bin");
  std::filesystem::copy(path, folder_->path() / "bin" / "ncu");
  const auto in_home = find_tool(nsight_compute(), {{"CUDA_HOME", folder_->path().string()}}, {});
  ASSERT_TRUE(in_home) << in_home.error().message;
  EXPECT_EQ(in_home->path, (folder_->path() / "bin" / "ncu").string());
  for (const char* wrong : {"/nowhere/ncu", "ncu", "/"}) {
    const auto missing = find_tool(nsight_compute(), {{"ACCELOPT_NCU", wrong}}, {});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, base::ErrorCode::not_found);
  }
  EXPECT_EQ(find_tool(nsight_compute(), {{"ACCELOPT_NCU", "off"}}, {}).error().code, base::ErrorCode::unsupported);
}

/// Runs `accelopt-card --one-call` on a file of these bytes.
class OneCallProcess : public Tools {
 protected:
  sandbox::RunResult run(const std::string& bytes) {
    const auto file = folder_->path() / "call";
    EXPECT_TRUE(base::write_file(file, bytes));
    sandbox::SpawnOptions options;
    options.program = ACCELOPT_CARD_PATH;
    options.arguments = {"--one-call", file.string()};
    options.own_namespaces = false;
    auto ran = sandbox::run(options, {}, nullptr, {});
    EXPECT_TRUE(ran) << ran.error().message;
    return ran.value_or(sandbox::RunResult{});
  }
  /// One output of eight floats, and this kernel over it.
  static std::string call_of(const std::string& text) {
    model::Task task;
    task.definition.axes = {{"M", 8}};
    task.definition.outputs = {spec_of("y", std::vector<std::string>{"M"})};
    FakeBuilder builder(task);
    const auto built = builder.build(cuda_solution(text), {});
    EXPECT_TRUE(built) << built.error().message;
    const auto plan = model::bind_launch_plan((*built)->directives, task.definition, {{"M", 8}}, {});
    EXPECT_TRUE(plan) << plan.error().message;
    const auto checks = base::read_file(ACCELOPT_FAKE_CHECK_KERNELS);
    OneCallRequest request;
    request.open.driver = ACCELOPT_FAKE_DRIVER;
    request.open.check_bytes = checks->size();
    request.cubin_bytes = (*built)->cubin.size();
    request.plan = *plan;
    request.outputs = {{model::DType::float32, {8}, 8}};
    request.limit_seconds = 1;
    return base::canonical(base::Json(request)) + "\n" + *checks + (*built)->cubin;
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

TEST_F(OneCallProcess, EndsItselfWhereAKernelDoesNot) {
  const auto ran = run(call_of(kSpin));
  EXPECT_FALSE(ran.timed_out);
  EXPECT_TRUE(ran.state.exited ? ran.state.code == 3 : ran.state.signal == SIGALRM) << ran.state.code;
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

TEST(Counters, ATableIsReadWhateverStandsAroundIt) {
  const CounterTable table = read_counters(
      "==PROF== Connected to process 1 (/a/b)\n"
      "a line of the program's\n"
      "\"ID\",\"Process ID\",\"Kernel Name\",\"lts__t_bytes.sum\",\"dram__bytes_read.sum\"\r\n"
      "\"\",\"\",\"\",\"byte\",\"byte\"\r\n"
      "\"0\",\"1\",\"void sum(float const *, int)\",\"1,024\",\"n/a\"\r\n"
      "\"1\",\"1\",\"odd \"\"name\"\"\",\"7.5\",\"nan\"\r\n"
      "\"2\",\"1\",\"cut\"\n");
  ASSERT_EQ(table.launches.size(), 2);
  EXPECT_EQ(table.launches[0].kernel, "sum");
  EXPECT_EQ(table.launches[0].values, (std::map<std::string, double>{{"lts__t_bytes.sum", 1024}}));
  EXPECT_EQ(table.launches[1].values, (std::map<std::string, double>{{"lts__t_bytes.sum", 7.5}}));
  EXPECT_TRUE(table.problem.empty());
}

TEST(Counters, ComplaintsAreKeptWithoutPaths) {
  const CounterTable table = read_counters(
      "==ERROR== Failed to find metric regex:^lts__t_bytes\\.(sum|min)$\n"
      "==ERROR== Failed to prepare kernel for profiling in /tmp/secret/place/call\n");
  EXPECT_EQ(table.unknown, std::vector<std::string>{"lts__t_bytes"});
  EXPECT_FALSE(table.refused);
  EXPECT_EQ(table.problem, "Failed to find metric regex:^lts__t_bytes\\.(sum|min)$");
  EXPECT_EQ(
      read_counters("==ERROR== Failed to access the following 2 metrics: dram__a.sum, lts__b_c.avg.pct\n").unknown,
      (std::vector<std::string>{"dram__a", "lts__b_c"}));
  EXPECT_EQ(read_counters("==ERROR== no room in /tmp/secret/place/call\n").problem, "no room in call");
}

TEST(Counters, TheLongestLaunchOfAKernelDescribesIt) {
  const auto launch = [](const std::string& kernel, double time) {
    return KernelCounters{kernel, {{"gpu__time_duration.sum", time}}};
  };
  const auto items = describe_counters(
      {launch("a", 1000), launch("b", 5000), launch("a", 9000), launch("c", 10), launch("d", 20), launch("e", 30)});
  std::vector<std::pair<std::string, double>> seen;
  for (const model::ProfileItem& item : items) seen.emplace_back(item.name, item.value);
  EXPECT_EQ(seen, (std::vector<std::pair<std::string, double>>{
                      {"a: counted time", 9}, {"b: counted time", 5}, {"e: counted time", 0.03}}));
}

TEST(Counters, MemoryThroughputHasEitherName) {
  for (const std::string name : {"dram__throughput", "gpu__dram_throughput"}) {
    const auto items = describe_counters({{"a", {{name + ".avg.pct_of_peak_sustained_elapsed", 50}}}});
    ASSERT_EQ(items.size(), 1);
    EXPECT_EQ(items[0].name, "memory throughput");
  }
  const auto both = describe_counters({{"a",
                                        {{"dram__throughput.avg.pct_of_peak_sustained_elapsed", 50},
                                         {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 60}}}});
  ASSERT_EQ(both.size(), 1);
  EXPECT_EQ(both[0].value, 50);
}

TEST(SanitizerReports, SayWhatWasFound) {
  const std::vector<std::string> kernels{"sum"};
  const auto clean = read_sanitizer("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", true, kernels);
  EXPECT_EQ(clean.state, Sanitized::clean);
  // A program that died half-way was not checked.
  EXPECT_EQ(read_sanitizer("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", false, kernels).state,
            Sanitized::unknown);
  EXPECT_EQ(read_sanitizer("", true, kernels).state, Sanitized::unknown);
  const auto older = read_sanitizer(
      "========= Invalid __shared__ write of size 8\n=========     at 0x00000cd8 in sum\n=========     by thread "
      "(1,0,0) "
      "in block (0,0,0)\n========= ERROR SUMMARY: 1 error\n",
      false, kernels);
  EXPECT_EQ(older.state, Sanitized::faulty);
  EXPECT_EQ(older.text, "Invalid __shared__ write of size 8 in sum by thread (1,0,0) in block (0,0,0)");
  const auto ours = read_sanitizer(
      "========= Uninitialized __global__ memory read of size 8 bytes\n=========     at accelopt_mask+0x10\n", true,
      kernels);
  EXPECT_EQ(ours.state, Sanitized::unknown);
  const auto options = read_sanitizer("========= Invalid option --padding\n", false, kernels);
  EXPECT_EQ(options.state, Sanitized::unknown);
  EXPECT_FALSE(options.unsupported);
}

TEST(ToolText, HasNoPathsAddressesOrControls) {
  EXPECT_EQ(plain_tool_line("  at k+0x1f in /home/u/a b.cu:3\t\x1b[1m\r"), "at k in a b.cu:3 ?[1m");
  EXPECT_EQ(plain_tool_line("Address 0x7f00 is near 0x7f10 of (/usr/lib/x.so)"), "Address is near of (x.so)");
  EXPECT_EQ(plain_tool_line(std::string(1000, 'x')).size(), 243);
}

}  // namespace
}  // namespace accelopt::targets::cuda
