// SPDX-License-Identifier: Apache-2.0
#include "pipeline_in_flight.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "fakes/fake_evaluator.hpp"
#include "http/client.hpp"
#include "llm/clock.hpp"
#include "llm/endpoint.hpp"
#include "pipeline_play.hpp"
#include "search/journaled_chat.hpp"

namespace accelopt::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kInFlight = 300;

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
  base::Outcome<llm::ChatReply> chat(const llm::ChatRequest& request, std::stop_token stop) override {
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

}  // namespace

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
  search::RunRequest request = request_for(settings, search::Schedule::pipeline);

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

}  // namespace accelopt::bench
