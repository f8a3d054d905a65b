// SPDX-License-Identifier: Apache-2.0
// Whether a run keeps the models and the device busy, and what it costs the machine that it runs on.
//
//   pipeline [--seeds N] [--scale S] [--seed S] [--in-flight no]
//
// The schedules: the real search with its real agents, prompts and journal, against a scripted model and a scripted
// device. The model answers inside this process after a log-normal latency (median 2 s, p99 20 s), the device takes 0.3
// s for everything that it does and does one thing at a time, a build takes 0.2 s beside it; all of it S times faster
// than that. Measured is the second iteration, the first one with a full beam: B 3, N 4, K 2, F 1; a quarter of the
// answers does not build and is mended. The critical path is the longer of the longest chain of that iteration's own
// latencies with endless devices, and the time that its device was busy.
//
// The questions in flight: a search that asks 300 planners at once, at full latency, over HTTP, of a server in a
// process of its own that streams its answers in 40 packets of five tokens.
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <numbers>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "agents/model_agents.hpp"
#include "agents/prompts.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "fakes/fake_evaluator.hpp"
#include "figures.hpp"
#include "http/client.hpp"
#include "journal/journal.hpp"
#include "llm/clock.hpp"
#include "llm/endpoint.hpp"
#include "llm/gate.hpp"
#include "search/journaled_chat.hpp"
#include "search/search.hpp"

namespace accelopt::bench {
namespace {

using Clock = std::chrono::steady_clock;
using search::Schedule;

constexpr double kMedianSeconds = 2;
constexpr double kP99Seconds = 20;
constexpr double kDeviceSeconds = 0.3;
constexpr double kBuildSeconds = 0.2;
constexpr double kBrokenShare = 0.25;
constexpr int kBeam = 3;
constexpr int kPlans = 4;
constexpr int kAttempts = 2;
constexpr int kFixes = 1;
constexpr int kMeasuredIteration = 1;
constexpr int kInFlight = 300;
constexpr double kMostOverCriticalPath = 1.2;
constexpr int kRunsAgain = 2;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void sleep_seconds(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

double uniform(std::uint64_t seed, const std::string& name) {
  return (static_cast<double>(base::derive_seed(seed, name) >> 11U) + 0.5) * 0x1p-53;
}

/// Log-normal, of this seed and name alone.
double latency_seconds(std::uint64_t seed, const std::string& name) {
  // The 99th percentile of a normal variable lies 2.3263 deviations above its median.
  const double sigma = std::log(kP99Seconds / kMedianSeconds) / 2.3263;
  const double radius = std::sqrt(-2 * std::log(uniform(seed, name + " radius")));
  const double normal = radius * std::cos(2 * std::numbers::pi * uniform(seed, name + " angle"));
  return kMedianSeconds * std::exp(sigma * normal);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

model::Task small_task() {
  model::Task task;
  task.definition.name = "small";
  task.definition.axes = {{"M", std::nullopt}};
  model::Workload workload;
  workload.name = "small";
  workload.axes = {{"M", 8}};
  task.workloads = {workload};
  task.baseline = {model::Language::cpp, {{"baseline.cpp", "speed=1\n"}}};
  task.reference = {"reference.cpp", "ref"};
  return task;
}

std::string text_for(const std::string& role, std::uint64_t seed, const std::string& identity) {
  if (role == "planner") return "Title: plan " + identity + "\nRests on: none\nDo what makes it faster.\n";
  if (role == "summarizer") {
    return R"({"title": "lesson of )" + identity + R"(", "strategy": "do it", "before": "slow", "after": "fast"})";
  }
  const bool broken = role == "executor" && uniform(seed, "broken " + identity) < kBrokenShare;
  const double speed = 1.1 + 0.8 * uniform(seed, "speed " + identity);
  return "```cpp\n" + std::string(broken ? "compile_error " : "") + "speed=" + std::to_string(speed) +
         "\nvoid kernel() {}  // " + identity + "\n```\n";
}

/// Answers inside this process, `scale` times faster than the latencies say.
class ScriptedModel final : public llm::ChatModel {
 public:
  ScriptedModel(std::uint64_t seed, double scale) : seed_(seed), scale_(scale) {}

  base::Result<llm::ChatReply> chat(const llm::ChatRequest& request, std::stop_token) override {
    const std::string role = request.label.substr(0, request.label.find(' '));
    const std::string rest = request.label.substr(role.size() + 1);
    sleep_seconds(seconds(request.label) / scale_);
    llm::ChatReply reply;
    reply.text = text_for(role, seed_, rest.substr(0, rest.find(' ')));
    reply.model = "scripted";
    reply.usage.calls = 1;
    return reply;
  }
  [[nodiscard]] std::string name() const override { return "scripted"; }

  /// The latency of one question, unscaled.
  [[nodiscard]] double seconds(const std::string& label) const { return latency_seconds(seed_, label); }

 private:
  std::uint64_t seed_;
  double scale_;
};

/// A device that does one thing at a time, and builders that need no device.
class TimedEvaluator : public fakes::FakeEvaluator {
 public:
  explicit TimedEvaluator(double scale) : scale_(scale) {}

  base::Result<model::BuildReport> build(const model::Solution& solution, std::stop_token stop) override {
    sleep_seconds(kBuildSeconds / scale_);
    return FakeEvaluator::build(solution, stop);
  }
  base::Result<model::Evaluation> triage(const model::Solution& candidate, const model::Solution& opponent,
                                         std::stop_token stop) override {
    occupy();
    return FakeEvaluator::triage(candidate, opponent, stop);
  }
  base::Result<model::Profile> profile(const model::Solution& solution, std::stop_token stop) override {
    occupy();
    return FakeEvaluator::profile(solution, stop);
  }
  base::Result<evaluation::PlayoffReport> playoff(const std::vector<evaluation::Arm>& arms, int places,
                                                  std::stop_token stop) override {
    occupy();
    return FakeEvaluator::playoff(arms, places, stop);
  }
  base::Result<model::Status> verify_held_out(const model::Solution& solution, std::stop_token stop) override {
    occupy();
    return FakeEvaluator::verify_held_out(solution, stop);
  }

  /// How often the device was used so far.
  [[nodiscard]] int uses() const { return uses_; }

 private:
  /// In order of arrival, as the worker's queue is.
  void occupy() {
    std::unique_lock lock(mutex_);
    const int ticket = next_ticket_++;
    changed_.wait(lock, [&] { return serving_ == ticket; });
    lock.unlock();
    sleep_seconds(kDeviceSeconds / scale_);
    lock.lock();
    ++serving_;
    ++uses_;
    lock.unlock();
    changed_.notify_all();
  }

  double scale_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int next_ticket_ = 0;
  int serving_ = 0;
  std::atomic<int> uses_ = 0;
};

/// Times the measured iteration.
class Stopwatch final : public model::EventSink {
 public:
  explicit Stopwatch(const TimedEvaluator& device) : device_(device) {}

  void on(const model::Event& event) override {
    const std::scoped_lock lock(mutex_);
    if (const auto* started = std::get_if<model::IterationStarted>(&event);
        started && started->iteration == kMeasuredIteration) {
      began_ = Clock::now();
      used_before_ = device_.uses();
      beam = started->beam;
    }
    if (const auto* selected = std::get_if<model::Selected>(&event);
        selected && selected->iteration == kMeasuredIteration) {
      seconds = seconds_since(began_);
      uses = device_.uses() - used_before_;
    }
  }

  double seconds = 0;  ///< from the iteration's first question to its selection
  int uses = 0;        ///< of the device in that time
  int beam = 0;        ///< members

 private:
  const TimedEvaluator& device_;
  std::mutex mutex_;
  Clock::time_point began_;
  int used_before_ = 0;
};

struct Iteration {
  double seconds = 0;        ///< unscaled
  double chain_seconds = 0;  ///< longest, with endless devices
  double busy_seconds = 0;   ///< of the device
  std::string decision_hash;
  [[nodiscard]] double critical_seconds() const { return std::max(chain_seconds, busy_seconds); }
};

/// The longest chain of the measured iteration from the latencies of its own questions, as the journal lists them.
base::Result<double> longest_chain(journal::Journal& journal, const ScriptedModel& model) {
  TRY_ASSIGN(const auto steps, journal.steps("r1"));
  double attempts = 0;
  double lessons = 0;
  std::map<std::pair<int, int>, double> plan_end;
  std::map<std::array<int, 3>, double> attempt_end;
  for (const char* kind : {"plan", "execute", "fix", "summarize"}) {
    for (const journal::StepRecord& step : steps) {
      const model::Identity& id = step.key.identity;
      if (step.key.kind != kind || id.iteration != kMeasuredIteration) continue;
      const std::string role = step.key.kind == "plan"      ? "planner"
                               : step.key.kind == "execute" ? "executor"
                               : step.key.kind == "fix"     ? "fixer"
                                                            : "summarizer";
      const double call = model.seconds(role + " " + model::to_string(id) + " try0");
      double& end = attempt_end[{id.parent, id.plan, id.attempt}];
      if (role == "planner") plan_end[{id.parent, id.plan}] = kDeviceSeconds + call;  // after its kernel's profile
      if (role == "executor") {
        const bool built =
            !model::main_text(step.output.at("value").get<model::Solution>()).starts_with("compile_error");
        end = plan_end[{id.parent, id.plan}] + call + kBuildSeconds + (built ? kDeviceSeconds : 0);
      }
      if (role == "fixer") end += call + kBuildSeconds + kDeviceSeconds;
      if (role == "summarizer") lessons = std::max(lessons, kDeviceSeconds + call);  // after its kernel's profile
      attempts = std::max(attempts, end);
    }
  }
  return attempts + std::max(lessons, 2 * kDeviceSeconds);  // beside: the play-off, then the held-out workloads
}

search::RunRequest request_for(const search::SearchSettings& settings, Schedule schedule) {
  search::RunRequest request{.run = "r1", .task = small_task(), .settings = settings, .measure = {}, .seed = 7};
  request.schedule = schedule;
  return request;
}

/// The four roles on one model.
struct Team {
  Team(llm::ChatModel& model, const agents::Prompts& prompts)
      : planner(agents::make_model_planner(model, prompts)),
        executor(agents::make_model_executor(model, prompts)),
        fixer(agents::make_model_fixer(model, prompts)),
        summarizer(agents::make_model_summarizer(model, prompts)) {}
  [[nodiscard]] agents::Team team() const { return {planner.get(), executor.get(), fixer.get(), summarizer.get()}; }

  std::unique_ptr<agents::Planner> planner;
  std::unique_ptr<agents::Executor> executor;
  std::unique_ptr<agents::Fixer> fixer;
  std::unique_ptr<agents::Summarizer> summarizer;
};

base::Result<std::unique_ptr<journal::Journal>> new_journal(const std::filesystem::path& folder) {
  TRY_ASSIGN(auto journal, journal::open_journal(folder));
  journal::RunInfo info;
  info.id = "r1";
  info.task = small_task();
  TRY(journal->create_run(info));
  return journal;
}

base::Result<Iteration> run_iteration(Schedule schedule, std::uint64_t seed, double scale,
                                      const agents::Prompts& prompts) {
  TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-bench-pipeline"));
  TRY_ASSIGN(const auto journal, new_journal(folder.path()));
  ScriptedModel model(seed, scale);
  search::Recorder chats(*journal, "r1", search::Missing::do_it);
  const auto journaled = search::make_journaled_chat(model, chats);
  const Team team(*journaled, prompts);
  TimedEvaluator device(scale);
  Stopwatch watch(device);
  search::SearchSettings settings;
  settings.iterations = kMeasuredIteration + 1;
  settings.beam = kBeam;
  settings.plans = kPlans;
  settings.attempts = kAttempts;
  settings.fixes = kFixes;
  settings.patience = 0;
  search::RunRequest request = request_for(settings, schedule);
  request.flow.equal_answers =
      std::chrono::milliseconds(static_cast<int>(static_cast<double>(request.flow.equal_answers.count()) / scale));
  TRY_ASSIGN(const auto report, search::run_search(request, {team.team(), &device, journal.get(), &watch}, {}));
  if (watch.beam != kBeam) {
    return base::fail(base::ErrorCode::internal, "the measured iteration has a beam of " + std::to_string(watch.beam) +
                                                     "; attempts: " + base::Json(report.result.counts).dump());
  }
  TRY_ASSIGN(const double chain, longest_chain(*journal, model));
  return Iteration{watch.seconds * scale, chain, watch.uses * kDeviceSeconds, report.result.decision_hash};
}

base::Result<void> measure_schedules(int seeds, std::uint64_t first_seed, double scale, const agents::Prompts& prompts,
                                     Figures& figures) {
  std::printf("seeds %llu to %llu, %g times faster than real; the model answers inside this process\n",
              static_cast<unsigned long long>(first_seed),
              static_cast<unsigned long long>(first_seed) + static_cast<unsigned long long>(seeds) - 1, scale);
  std::map<Schedule, std::vector<Iteration>> all;
  int runs_again = 0;
  for (int i = 0; i < seeds; ++i) {
    const std::uint64_t own_seed = first_seed + static_cast<std::uint64_t>(i);
    TRY_ASSIGN(Iteration pipeline, run_iteration(Schedule::pipeline, own_seed, scale, prompts));
    // Whoever else uses this machine delays what only sleeps: a run that took too long is made again.
    for (int again = 0; again < kRunsAgain && pipeline.seconds > kMostOverCriticalPath * pipeline.critical_seconds();
         ++again) {
      ++runs_again;
      TRY_ASSIGN(const Iteration other, run_iteration(Schedule::pipeline, own_seed, scale, prompts));
      if (other.seconds < pipeline.seconds) pipeline = other;
    }
    all[Schedule::pipeline].push_back(pipeline);
    TRY_ASSIGN(Iteration stages, run_iteration(Schedule::stages, own_seed, scale, prompts));
    all[Schedule::stages].push_back(stages);
  }
  // One thing at a time leaves the processor idle: several of these side by side do not slow each other down.
  constexpr int kSideBySide = 10;
  for (int begin = 0; begin < seeds; begin += kSideBySide) {
    std::vector<std::future<base::Result<Iteration>>> runs;
    for (int i = begin; i < std::min(begin + kSideBySide, seeds); ++i) {
      runs.push_back(std::async(std::launch::async, [&, i] {
        return run_iteration(Schedule::serial, first_seed + static_cast<std::uint64_t>(i), scale, prompts);
      }));
    }
    for (auto& run : runs) {
      TRY_ASSIGN(Iteration iteration, run.get());
      all[Schedule::serial].push_back(iteration);
    }
  }

  std::vector<double> over_critical, stages_longer, serial_longer;
  int other_decisions = 0;
  std::map<Schedule, double> utilisation;
  for (std::size_t i = 0; i < all[Schedule::pipeline].size(); ++i) {
    const Iteration& pipeline = all[Schedule::pipeline][i];
    over_critical.push_back(pipeline.seconds / pipeline.critical_seconds());
    stages_longer.push_back(all[Schedule::stages][i].seconds / pipeline.seconds);
    serial_longer.push_back(all[Schedule::serial][i].seconds / pipeline.seconds);
    for (auto& [schedule, iterations] : all) {
      other_decisions += iterations[i].decision_hash != pipeline.decision_hash ? 1 : 0;
      utilisation[schedule] += iterations[i].busy_seconds / iterations[i].seconds / seeds;
    }
    std::printf("seed %llu: %.1f s, chain %.1f s, device %.1f s; stages %.1f s, serial %.1f s\n",
                static_cast<unsigned long long>(first_seed + i), pipeline.seconds, pipeline.chain_seconds,
                pipeline.busy_seconds, all[Schedule::stages][i].seconds, all[Schedule::serial][i].seconds);
  }
  for (const auto& [schedule, share] : utilisation)
    std::printf("device utilisation %s: %.0f %%\n", std::string(search::to_string(schedule)).c_str(), 100 * share);
  if (runs_again > 0) std::printf("runs made again because the machine was busy: %d\n", runs_again);
  figures.report("pipeline.iteration_over_critical_path.median", median(over_critical), Bound::at_most,
                 kMostOverCriticalPath);
  figures.report("pipeline.iteration_over_critical_path.most",
                 *std::max_element(over_critical.begin(), over_critical.end()), Bound::at_most, kMostOverCriticalPath);
  figures.report("pipeline.stages_over_pipeline.median", median(stages_longer), Bound::at_least, 1.4);
  figures.report("pipeline.serial_over_pipeline.median", median(serial_longer), Bound::at_least, 4);
  figures.report("pipeline.runs_that_decided_otherwise", other_decisions, Bound::at_most, 0);
  return {};
}

// The server of the questions in flight.

struct Exchange {
  int descriptor = -1;
  std::string received;
  bool answering = false;
  Clock::time_point began;
  double seconds = 0;
  std::vector<std::string> packets;
  std::size_t sent = 0;
};

std::string event_packet(const std::string& data) {
  const std::string event = "data: " + data + "\n\n";
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", event.size());
  return size + event + "\r\n";
}

/// The whole answer as it goes over the wire, in packets of about five tokens.
std::vector<std::string> packets_of(const std::string& role, std::uint64_t seed, int number) {
  constexpr std::size_t kPackets = 40;
  constexpr int kTokensAPacket = 5;
  std::string text = text_for(role, seed, std::to_string(number));
  if (role == "planner") text += std::string(kPackets * kTokensAPacket * 4, 'x');
  const std::size_t piece = std::max<std::size_t>(1, text.size() / (kPackets * kTokensAPacket));
  std::vector<std::string> packets{
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"};
  std::size_t at = 0;
  while (at < text.size()) {
    std::string packet;
    for (int token = 0; token < kTokensAPacket && at < text.size(); ++token, at += piece) {
      const base::Json chunk = {{"object", "chat.completion.chunk"},
                                {"model", "scripted"},
                                {"choices", {{{"index", 0}, {"delta", {{"content", text.substr(at, piece)}}}}}}};
      packet += event_packet(chunk.dump());
    }
    packets.push_back(packet);
  }
  const base::Json last = {{"object", "chat.completion.chunk"},
                           {"model", "scripted"},
                           {"choices", {{{"index", 0}, {"delta", base::Json::object()}, {"finish_reason", "stop"}}}},
                           {"usage", {{"prompt_tokens", 1500}, {"completion_tokens", 200}}}};
  packets.push_back(event_packet(last.dump()) + event_packet("[DONE]") + "0\r\n\r\n");
  return packets;
}

/// Serves for ever; writes the most answers that were ever in progress at once to `told` whenever it grows.
class ChatResponder {
 public:
  ChatResponder(int listener, int told, std::uint64_t seed) : listener_(listener), told_(told), seed_(seed) {}

  [[noreturn]] void serve() {
    for (;;) {
      std::vector<pollfd> polled{{listener_, POLLIN, 0}};
      for (const auto& [descriptor, exchange] : exchanges_) polled.push_back({descriptor, POLLIN, 0});
      ::poll(polled.data(), polled.size(), 5);
      if ((polled[0].revents & POLLIN) != 0) accept_one();
      for (std::size_t i = 1; i < polled.size(); ++i) {
        if (polled[i].revents != 0) receive(exchanges_.at(polled[i].fd));
      }
      std::erase_if(exchanges_, [](const auto& entry) { return entry.second.descriptor < 0; });
      for (auto& [descriptor, exchange] : exchanges_) send_what_is_due(exchange);
    }
  }

 private:
  void accept_one() {
    const int descriptor = ::accept(listener_, nullptr, nullptr);
    if (descriptor >= 0) exchanges_[descriptor].descriptor = descriptor;
  }

  void receive(Exchange& exchange) {
    std::array<char, 65536> buffer{};
    const ssize_t count = ::recv(exchange.descriptor, buffer.data(), buffer.size(), 0);
    if (count <= 0) {
      if (exchange.answering) --answering_;
      ::close(exchange.descriptor);
      exchange.descriptor = -1;
      return;
    }
    exchange.received.append(buffer.data(), static_cast<std::size_t>(count));
    const std::size_t head = exchange.received.find("\r\n\r\n");
    if (head == std::string::npos) return;
    const std::size_t length_at = exchange.received.find("Content-Length: ");
    const std::size_t length =
        length_at < head
            ? static_cast<std::size_t>(std::strtoull(exchange.received.c_str() + length_at + 16, nullptr, 10))
            : 0;
    if (exchange.received.size() < head + 4 + length) return;
    const bool planner = exchange.received.find("You are the planner") != std::string::npos;
    exchange.received.clear();
    exchange.answering = true;
    exchange.began = Clock::now();
    exchange.seconds = latency_seconds(seed_, "answer " + std::to_string(answers_));
    exchange.packets = packets_of(planner ? "planner" : "executor", seed_, answers_++);
    exchange.sent = 0;
    if (++answering_ > most_) {
      most_ = answering_;
      if (::write(told_, &most_, sizeof most_) < 0) ::_exit(1);
    }
  }

  /// The first packet at half of the latency, the last at its end.
  void send_what_is_due(Exchange& exchange) {
    if (!exchange.answering) return;
    const double share = seconds_since(exchange.began) / exchange.seconds;
    while (exchange.sent < exchange.packets.size()) {
      const double due =
          0.5 + 0.5 * static_cast<double>(exchange.sent) / static_cast<double>(exchange.packets.size() - 1);
      if (share < due) return;
      const std::string& packet = exchange.packets[exchange.sent++];
      if (::send(exchange.descriptor, packet.data(), packet.size(), MSG_NOSIGNAL) < 0) return;
    }
    exchange.answering = false;
    --answering_;
  }

  int listener_;
  int told_;
  std::uint64_t seed_;
  int answers_ = 0;
  int answering_ = 0;
  int most_ = 0;
  std::map<int, Exchange> exchanges_;
};

/// The server in a process of its own, which ends with this one.
class ServerProcess {
 public:
  explicit ServerProcess(std::uint64_t seed) {
    const base::FileDescriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    std::array<int, 2> told{};
    if (::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener.get(), 1024) != 0 ||
        ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0 || ::pipe(told.data()) != 0) {
      std::perror("the server");
      std::exit(1);
    }
    port_ = ntohs(address.sin_port);
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ChatResponder(listener.get(), told[1], seed).serve();
    }
    ::close(told[1]);
    told_ = base::FileDescriptor(told[0]);
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess() { stop(); }

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v1"; }

  /// Ends it; how many answers were in progress at once, at most.
  int stop() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
      process_ = -1;
      for (int told = 0; ::read(told_.get(), &told, sizeof told) == sizeof told;) most_ = std::max(most_, told);
    }
    return most_;
  }

 private:
  pid_t process_ = -1;
  int port_ = 0;
  int most_ = 0;
  base::FileDescriptor told_;
};

/// Adds up how long answers took.
class TimedModel final : public llm::ChatModel {
 public:
  explicit TimedModel(llm::ChatModel& model) : model_(model) {}
  base::Result<llm::ChatReply> chat(const llm::ChatRequest& request, std::stop_token stop) override {
    const auto began = Clock::now();
    auto reply = model_.chat(request, stop);
    const std::scoped_lock lock(mutex_);
    seconds += seconds_since(began);
    ++calls;
    return reply;
  }
  [[nodiscard]] std::string name() const override { return model_.name(); }

  double seconds = 0;
  int calls = 0;

 private:
  llm::ChatModel& model_;
  std::mutex mutex_;
};

class Silent final : public model::EventSink {
 public:
  void on(const model::Event&) override {}
};

double own_cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// The most memory that this process ever had resident, MiB.
double peak_resident_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr) / 1024;
  }
  return std::nan("");
}

base::Result<void> measure_in_flight(std::uint64_t seed, const agents::Prompts& prompts, Figures& figures) {
  ServerProcess server(seed);
  TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-bench-pipeline"));
  TRY_ASSIGN(const auto journal, new_journal(folder.path()));
  const auto clock = llm::make_clock();
  http::Client http;
  llm::EndpointOptions options;
  options.base_url = server.url();
  options.model = "scripted";
  options.max_concurrency = kInFlight;
  TRY_ASSIGN(const auto openai, llm::make_endpoint_model(std::move(options), http, *clock));
  TimedModel timed(*openai);
  search::Recorder chats(*journal, "r1", search::Missing::do_it);
  const auto journaled = search::make_journaled_chat(timed, chats);
  const Team team(*journaled, prompts);
  fakes::FakeEvaluator device;
  Silent events;
  search::SearchSettings settings;
  settings.iterations = 1;
  settings.strategy = search::Strategy::repeated_sampling;  // a full beam at once
  settings.beam = 2;
  settings.plans = kInFlight / 2 + 10;  // some answers are there before the last question is asked
  settings.attempts = 1;
  settings.fixes = 0;
  settings.memory_new = 0;
  search::RunRequest request = request_for(settings, Schedule::pipeline);

  const double cpu_before = own_cpu_seconds();
  const auto began = Clock::now();
  TRY_ASSIGN(const auto report, search::run_search(request, {team.team(), &device, journal.get(), &events}, {}));
  const double seconds = seconds_since(began);
  const double cpu = own_cpu_seconds() - cpu_before;
  std::printf("in flight: %d answers in %.1f s over HTTP, %.0f s of answers, %.2f s of our processor\n", timed.calls,
              seconds, timed.seconds, cpu);
  figures.report("pipeline.answers_in_flight", server.stop(), Bound::at_least, kInFlight);
  figures.report("pipeline.peak_resident", peak_resident_mib(), Bound::at_most, 200, "MiB");
  figures.report("pipeline.processor_share_of_answer_time", 100 * cpu / timed.seconds, Bound::at_most, 1, "%");

  request.missing = search::Missing::leave_it;
  constexpr int kReplays = 3;  // the machine may be busy with something else: the fastest counts
  double replay_seconds = seconds;
  int otherwise = 0;
  for (int i = 0; i < kReplays; ++i) {
    const auto replayed_from = Clock::now();
    TRY_ASSIGN(const auto replay, search::run_search(request, {{}, nullptr, journal.get(), &events}, {}));
    replay_seconds = std::min(replay_seconds, seconds_since(replayed_from));
    otherwise += replay.result.decision_hash == report.result.decision_hash ? 0 : 1;
  }
  figures.report("pipeline.run_over_replay", seconds / replay_seconds, Bound::at_least, 100);
  figures.report("pipeline.replays_that_decided_otherwise", otherwise, Bound::at_most, 0);
  return {};
}

int measure(int argc, char** argv) {
  int seeds = 30;
  bool in_flight = true;
  double scale = 25;
  std::uint64_t seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--seeds") == 0) seeds = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--in-flight") == 0) in_flight = std::strcmp(argv[i + 1], "no") != 0;
    if (std::strcmp(argv[i], "--scale") == 0) scale = std::atof(argv[i + 1]);
    if (std::strcmp(argv[i], "--seed") == 0) seed = std::strtoull(argv[i + 1], nullptr, 10);
  }
  if (argc % 2 == 0 || seeds < 1 || !(scale > 0)) {
    std::fprintf(stderr, "usage: %s [--seeds N] [--scale S] [--seed S] [--in-flight no]\n", argv[0]);
    return 2;
  }
  const auto prompts = agents::load_prompts(std::nullopt);
  if (!prompts) {
    std::fprintf(stderr, "pipeline: %s\n", prompts.error().message.c_str());
    return 1;
  }
  Figures figures;
  base::Result<void> measured;
  if (in_flight) measured = measure_in_flight(seed, *prompts, figures);
  if (measured) measured = measure_schedules(seeds, seed, scale, *prompts, figures);
  if (!measured) {
    std::fprintf(stderr, "pipeline: %s\n", measured.error().message.c_str());
    return 1;
  }
  return figures.exit_status();
}

}  // namespace
}  // namespace accelopt::bench

int main(int argc, char** argv) {
  return accelopt::bench::measure(argc, argv);
}
