// SPDX-License-Identifier: Apache-2.0
// What a large run costs the machine of its coordinator.
//
//   scale [--candidates N] [--workers N] [--compare N] [--prompts brief|shipped]
//
// The real search with its real agents and journal on disk, against a model and devices inside this process: every
// question is answered after as long as makes 1,000 candidates a second of all that are in flight, one for each worker,
// and devices answer at once by what a source says of itself. So the process's own processor time is the coordinator's;
// what the fakes compute is measured on each thread and told apart, and counts as well. The prompts are brief by
// default, some 2 kB a question: the shipped ones with a contract of four lines. Then the journal is opened again and
// its run is found, and the decisions of all workers are compared with those of a single one, which does one thing at a
// time: by default over a tenth as many candidates, with --compare over as many as it says.
#include <sys/resource.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <thread>

#include "agents/builtin_prompts.hpp"
#include "base/files.hpp"
#include "fakes/fake_evaluator.hpp"
#include "figures.hpp"
#include "pipeline_play.hpp"
#include "search/journaled_chat.hpp"

namespace accelopt::bench {
namespace {

using Clock = std::chrono::steady_clock;
using search::Schedule;

constexpr double kCandidatesPerSecond = 1000;
constexpr std::uint64_t kSeed = 11;
enum class PromptSize { brief, shipped };
constexpr std::string_view kBriefContract =
    "- The solution is one {{language}} file, compiled with -std={{standard}}. It includes \"task.h\", which declares "
    "the function kernel.\n- Every call gets new inputs, and a wrong element in any output is a failure. "
    "{{precision}}\n- {{threads}} {{cache}}\n- What counts is the ratio of two times, old over new.\n";
constexpr int kBeam = 4;
constexpr int kPlans = 32;
constexpr int kAttempts = 8;  ///< so 1,024 candidates an iteration with a full beam
/// A candidate waits for its plan and for its source, and holds a worker's place meanwhile.
constexpr int kQuestionsInALine = 2;

/// Processor time of what stands for others: the model's answers and the devices' measurements, nanoseconds.
std::atomic<std::int64_t> fakes_ns = 0;

/// Counts what the calling thread computes until the end of the scope.
class FakeWork {
 public:
  FakeWork() = default;
  FakeWork(const FakeWork&) = delete;
  FakeWork& operator=(const FakeWork&) = delete;
  ~FakeWork() { fakes_ns += thread_ns() - began_; }

 private:
  static std::int64_t thread_ns() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  }
  std::int64_t began_ = thread_ns();
};

class CountedDevice final : public evaluation::Evaluator {
 public:
  base::Outcome<evaluation::Reply> answer(const evaluation::Request& request, std::stop_token stop) override {
    const FakeWork counted;
    return device_.answer(request, stop);
  }
  [[nodiscard]] int builds() const { return device_.builds; }

 private:
  fakes::FakeEvaluator device_;
};

class SteadyModel final : public llm::ChatModel {
 public:
  explicit SteadyModel(std::chrono::microseconds wait) : wait_(wait) {}

  base::Outcome<llm::ChatReply> chat(const llm::ChatRequest& request, std::stop_token) override {
    for (const auto& message : request.messages) prompt_bytes_ += message.text.size();
    ++questions_;
    std::this_thread::sleep_for(wait_);
    const FakeWork counted;
    const std::string role = request.label.substr(0, request.label.find(' '));
    const std::string rest = request.label.substr(role.size() + 1);
    llm::ChatReply reply;
    reply.text = text_for(role, kSeed, rest.substr(0, rest.find(' ')));
    reply.model = "steady";
    reply.usage.calls = 1;
    return reply;
  }
  [[nodiscard]] std::string name() const override { return "steady"; }
  [[nodiscard]] double mean_prompt_bytes() const {
    return static_cast<double>(prompt_bytes_) / static_cast<double>(std::max<std::uint64_t>(questions_, 1));
  }

 private:
  std::chrono::microseconds wait_;
  std::atomic<std::uint64_t> prompt_bytes_ = 0, questions_ = 0;
};

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double most_mebibytes() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / 1024;
}

/// Nobody watches.
class NoEvents final : public model::EventSink {
 public:
  void on(const model::Event&) override {}
};

struct Ran {
  double seconds = 0;
  double processor = 0;
  double fakes = 0;  ///< of the processor time
  double prompt_bytes = 0;
  int candidates = 0;
  std::string decision_hash;
};

base::Result<Ran> search_once(const std::filesystem::path& folder, int candidates, int workers, Schedule schedule,
                              const agents::Prompts& prompts) {
  TRY_ASSIGN(const auto journal, new_journal(folder));
  const double wait = schedule == Schedule::serial ? 0 : workers / kCandidatesPerSecond / kQuestionsInALine;
  SteadyModel model(std::chrono::microseconds(static_cast<std::int64_t>(wait * 1e6)));
  search::Recorder chats(*journal, "r1", search::Missing::do_it);
  const auto journaled = search::make_journaled_chat(model, chats);
  const Team team(*journaled, prompts);
  CountedDevice device;
  NoEvents events;
  search::SearchSettings settings;
  settings.beam = kBeam;
  settings.plans = kPlans;
  settings.attempts = kAttempts;
  settings.iterations = 1 + candidates / (kBeam * kPlans * kAttempts);
  settings.fixes = 0;
  settings.patience = 0;
  settings.near_roofline = 0;
  settings.max_evaluations = candidates;
  search::RunRequest request = request_for(settings, schedule);
  request.flow.attempts = workers;
  request.flow.waiting = workers;
  fakes_ns = 0;
  const double before = processor_seconds();
  const auto began = Clock::now();
  TRY_ASSIGN(const auto report, search::run_search(request, {team.team(), &device, journal.get(), &events}, {}));
  Ran ran;
  ran.seconds = seconds_since(began);
  ran.processor = processor_seconds() - before;
  ran.fakes = static_cast<double>(fakes_ns) / 1e9;
  ran.prompt_bytes = model.mean_prompt_bytes();
  ran.candidates = device.builds();
  ran.decision_hash = report.result.decision_hash;
  return ran;
}

/// The built-in prompts of C++ with a contract that says the least, as a folder of a user's own.
base::Result<void> write_brief_prompts(const std::filesystem::path& folder) {
  TRY(base::make_folders(folder / "cpp"));
  for (const agents::BuiltinPrompt& prompt : agents::builtin_prompts()) {
    if (!prompt.name.starts_with("cpp/")) continue;
    std::string_view text = prompt.text;
    if (prompt.name == "cpp/contract.txt") text = kBriefContract;
    TRY(base::write_file(folder / prompt.name, text));
  }
  return {};
}

base::Result<void> measure(int candidates, int workers, int compared, PromptSize size, Figures& figures) {
  TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-bench-scale"));
  std::optional<std::filesystem::path> prompt_folder;
  if (size == PromptSize::brief) {
    prompt_folder = folder.path() / "prompts";
    TRY(write_brief_prompts(*prompt_folder));
  }
  TRY_ASSIGN(const auto prompts, agents::load_prompts(prompt_folder));
  const auto many = folder.path() / "many";
  TRY_ASSIGN(const Ran ran, search_once(many, candidates, workers, Schedule::pipeline, prompts));
  const double mebibytes = most_mebibytes();
  std::printf("%d candidates with %d workers in %.1f s, %.0f a second; prompts of %.0f bytes on average\n",
              ran.candidates, workers, ran.seconds, ran.candidates / ran.seconds, ran.prompt_bytes);
  std::printf("of the processor time the model and the devices inside this process took %.3f ms a candidate\n",
              1000 * ran.fakes / ran.candidates);
  figures.report("scale.processor_milliseconds_per_candidate", 1000 * ran.processor / ran.candidates, Bound::at_most,
                 1000 * 0.2 / kCandidatesPerSecond, "ms, 20 % of a core at 1,000 a second");
  figures.report("scale.memory", mebibytes, Bound::at_most, 1024, "MiB");

  const auto began = Clock::now();
  TRY_ASSIGN(const auto journal, journal::open_journal(many));
  TRY_ASSIGN(const auto found, journal->find_run("r1"));
  figures.report("scale.journal_opens", seconds_since(began), Bound::at_most, 2, "s");

  Ran all = ran;
  if (compared != candidates) {
    TRY_ASSIGN(all, search_once(folder.path() / "all", compared, workers, Schedule::pipeline, prompts));
  }
  TRY_ASSIGN(const Ran one, search_once(folder.path() / "one", compared, 1, Schedule::serial, prompts));
  std::printf("one worker: %d candidates, %.2f ms each\n", one.candidates, 1000 * one.processor / one.candidates);
  figures.report("scale.decisions_unlike_one_workers", all.decision_hash == one.decision_hash ? 0 : 1, Bound::at_most,
                 0);
  return {};
}

}  // namespace
}  // namespace accelopt::bench

int main(int argc, char** argv) {
  int candidates = 100'000;
  int workers = 256;
  int compared = 0;
  auto size = accelopt::bench::PromptSize::brief;
  bool known = true;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--candidates") == 0) candidates = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--workers") == 0) workers = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--compare") == 0) compared = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--prompts") != 0) continue;
    known = std::strcmp(argv[i + 1], "brief") == 0 || std::strcmp(argv[i + 1], "shipped") == 0;
    if (std::strcmp(argv[i + 1], "shipped") == 0) size = accelopt::bench::PromptSize::shipped;
  }
  if (!known || argc % 2 == 0 || candidates < 1 || workers < 1 || compared < 0) {
    std::fprintf(stderr, "usage: %s [--candidates N] [--workers N] [--compare N] [--prompts brief|shipped]\n", argv[0]);
    return 2;
  }
  if (compared == 0) compared = std::max(candidates / 10, 1);
  accelopt::bench::Figures figures;
  if (const auto measured = accelopt::bench::measure(candidates, workers, compared, size, figures); !measured) {
    std::fprintf(stderr, "scale: %s\n", measured.error().message.c_str());
    return 1;
  }
  return figures.exit_status();
}
