// SPDX-License-Identifier: Apache-2.0
// accelopt-device: the one trusted process that holds a CUDA device. Serves the requests of protocol.hpp on its
// channel until that is closed; ends when the device is lost to it. With --one-call FILE it makes one call and ends.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/json.hpp"
#include "devices/cuda/call.hpp"
#include "devices/cuda/checks.hpp"
#include "devices/cuda/device.hpp"
#include "devices/cuda/measure_peaks.hpp"
#include "devices/cuda/one_call.hpp"
#include "devices/cuda/protocol.hpp"
#include "devices/cuda/slots.hpp"
#include "evaluation/evaluator_json.hpp"

namespace accelopt::devices::cuda {
namespace {

using base::ErrorCode;
using base::Json;

/// The requests' bulk bytes, in order.
class BulkReader {
 public:
  void rewind() { at_ = 0; }
  base::Result<std::string> operator()(std::uint64_t bytes) {
    std::string out(bytes, '\0');
    for (std::size_t done = 0; done < out.size();) {
      const ssize_t got = pread(kBulkDescriptor, out.data() + done, out.size() - done, static_cast<off_t>(at_ + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return base::fail(ErrorCode::io, "the request's bulk bytes are not there");
      done += static_cast<std::size_t>(got);
    }
    at_ += bytes;
    return out;
  }

 private:
  std::uint64_t at_ = 0;
};

class DeviceServer {
 public:
  /// The answer to one request.
  base::Result<Json> answer(const Json& request) {
    TRY_ASSIGN(const auto op, base::decode<std::string>(request.value("op", Json()), "op"));
    bulk_.rewind();
    if (op == "open") return open(request);
    if (!caller_) return base::fail(ErrorCode::invalid_argument, "no device is open");
    if (op == "cubin") {
      TRY_ASSIGN(const auto wanted, base::decode<CubinRequest>(request, "cubin"));
      TRY_ASSIGN(store_.cubins[wanted.id], bulk_(wanted.bytes));
      return Json::object();
    }
    if (op == "program") return keep(request);
    if (op == "slot") {
      TRY_ASSIGN(const auto wanted, base::decode<SlotRequest>(request, "slot"));
      caller_->let_go(wanted.number);
      TRY_ASSIGN(const auto bounds, slots_->prepare(wanted, [this](std::uint64_t bytes) { return bulk_(bytes); }));
      DeviceSlot& slot = *slots_->find(wanted.number);
      std::vector<std::size_t> equal;
      if (wanted.compare) {
        TRY_ASSIGN(equal, slots_->equal_outputs(slot));
      }
      return Json{{"bounds", bounds_json(bounds)}, {"bytes", bytes_of(slot)}, {"equal", equal}};
    }
    if (op == "peaks") {
      TRY_ASSIGN(const auto bytes, base::decode<std::uint64_t>(request.value("bytes", Json()), "peaks"));
      TRY_ASSIGN(const std::string cubin, bulk_(bytes));
      TRY_ASSIGN(const auto peaks, measure_peaks(*device_, cubin));
      return Json(peaks);
    }
    if (op == "start") return start(request);
    if (op == "call") return call(request);
    TRY_ASSIGN(const auto number, base::decode<std::uint64_t>(request.value("number", Json()), "number"));
    if (op == "end") {
      end(number);
    } else if (op == "forget") {
      caller_->let_go(number);
      slots_->forget(number);
    } else if (op == "forget_all_but") {
      caller_->let_go_of_all();
      slots_->forget_all_but(number);
    } else {
      return base::fail(ErrorCode::invalid_argument, "unknown request \"" + op + "\"");
    }
    return Json::object();
  }

  /// Why this process cannot go on; empty while it can.
  [[nodiscard]] std::string broken() const { return device_ ? device_->broken() : std::string(); }

 private:
  base::Result<Json> open(const Json& request) {
    TRY_ASSIGN(const auto wanted, base::decode<OpenRequest>(request, "open"));
    TRY_ASSIGN(const std::string cubin, bulk_(wanted.check_bytes));
    if (!device_) {
      TRY_ASSIGN(device_, Device::open(wanted.device, wanted.driver, wanted.management));
    }
    if (wanted.check_bytes == 0) return Json(device_->facts());
    TRY_ASSIGN(checks_, Checks::create(*device_, cubin));
    TRY_ASSIGN(caller_, Caller::create(*device_, *checks_));
    slots_ = std::make_unique<DeviceSlots>(*device_, *checks_, store_);
    return Json(device_->facts());
  }

  base::Result<Json> keep(const Json& request) {
    TRY_ASSIGN(auto wanted, base::decode<ProgramRequest>(request, "program"));
    for (const std::string& cubin : wanted.cubins) {
      if (!store_.cubins.contains(cubin)) return base::fail(ErrorCode::not_found, "the machine code is not here");
    }
    for (const auto& [name, plan] : wanted.plans) TRY(check_plan(plan, wanted.cubins.size()));
    store_.programs.insert_or_assign(wanted.id, std::move(wanted));
    return Json::object();
  }

  base::Result<Json> start(const Json& request) {
    TRY_ASSIGN(const auto wanted, base::decode<StartRequest>(request, "start"));
    auto modules = load_program(*device_, store_, wanted.program);
    if (!modules && modules.error().code == ErrorCode::invalid_argument)
      return Json{{"reason", modules.error().message}};
    if (!modules) return tl::make_unexpected(modules.error());
    end(wanted.live);
    const auto& cubins = store_.programs.at(wanted.program).cubins;
    for (std::size_t i = 0; i < cubins.size(); ++i) {
      const auto watched = caller_->variables().add(wanted.live, (*modules)[i], store_.cubins.at(cubins[i]));
      if (watched) continue;
      caller_->variables().forget(wanted.live);
      if (watched.error().code != ErrorCode::invalid_argument) return tl::make_unexpected(watched.error());
      return Json{{"reason", watched.error().message}};
    }
    live_.emplace(wanted.live, Live{wanted.program, std::move(*modules), cubins});
    return Json::object();
  }

  void end(std::uint64_t live) {
    caller_->variables().forget(live);
    live_.erase(live);
  }

  base::Result<Json> call(const Json& request) {
    TRY_ASSIGN(const auto wanted, base::decode<CallRequest>(request, "call"));
    const auto live = live_.find(wanted.live);
    DeviceSlot* const slot = slots_->find(wanted.slot);
    if (live == live_.end() || slot == nullptr) return base::fail(ErrorCode::not_found, "program or slot is not here");
    if (wanted.own) return call_own(live->second, *slot, wanted);
    TRY_ASSIGN(const LaunchPlan* const plan, find_plan(store_, live->second.program, wanted.plan));
    TRY_ASSIGN(const CallReply reply, caller_->call({live->second.modules, *plan}, *slot, wanted));
    return Json(reply);
  }

  struct Live {
    std::string program;
    Modules modules;                    ///< the program's, and those that plans of single slots needed besides
    std::vector<std::string> cubins{};  ///< their names
  };

  /// By the slot's own plan, whose machine code is loaded once a live program.
  base::Result<Json> call_own(Live& live, DeviceSlot& slot, const CallRequest& wanted) {
    LaunchPlan plan = *wanted.own;
    TRY(check_plan(plan, wanted.own_cubins.size()));
    std::vector<std::size_t> places;
    for (const std::string& name : wanted.own_cubins) {
      const auto found = std::ranges::find(live.cubins, name);
      places.push_back(static_cast<std::size_t>(found - live.cubins.begin()));
      if (found != live.cubins.end()) continue;
      if (!store_.cubins.contains(name)) return base::fail(ErrorCode::not_found, "the machine code is not here");
      const auto loaded = load_more(live, wanted.live, store_.cubins.at(name));
      if (!loaded && loaded.error().code == ErrorCode::invalid_argument) {
        CallReply reply;
        reply.outcome.end = evaluation::CallEnd::died;
        reply.outcome.reason = loaded.error().message;
        return Json(reply);
      }
      if (!loaded) return tl::make_unexpected(loaded.error());
      live.cubins.push_back(name);
    }
    for (Launch& launch : plan.launches) launch.cubin = places[launch.cubin];
    TRY_ASSIGN(const CallReply reply, caller_->call({live.modules, plan}, slot, wanted));
    return Json(reply);
  }

  base::Result<void> load_more(Live& live, std::uint64_t number, const std::string& cubin) {
    TRY_ASSIGN(DeviceModule module, device_->load(cubin));
    TRY(caller_->variables().add(number, module, cubin));
    live.modules.push_back(std::move(module));
    return {};
  }

  BulkReader bulk_;
  Store store_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Checks> checks_;
  std::unique_ptr<DeviceSlots> slots_;
  std::unique_ptr<Caller> caller_;
  std::map<std::uint64_t, Live> live_;
};

bool send_line(const Json& answer) {
  const std::string line = base::canonical(answer) + "\n";
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t sent = send(kChannelDescriptor, line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    done += static_cast<std::size_t>(sent);
  }
  return true;
}

/// The next line; empty: the channel is closed.
std::string next_line(std::string& buffer) {
  for (;;) {
    if (const auto end = buffer.find('\n'); end != std::string::npos) {
      std::string line = buffer.substr(0, end + 1);
      buffer.erase(0, end + 1);
      return line;
    }
    char piece[65536];
    const ssize_t got = recv(kChannelDescriptor, piece, sizeof piece, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {};
    buffer.append(piece, static_cast<std::size_t>(got));
  }
}

int serve() {
  DeviceServer server;
  std::string buffer;
  for (std::string line = next_line(buffer); !line.empty(); line = next_line(buffer)) {
    Json answer;
    const auto request = base::parse_json(line, "request");
    base::Result<Json> result = request ? server.answer(*request) : tl::make_unexpected(request.error());
    if (result) {
      answer["result"] = std::move(*result);
    } else {
      answer["error"] = {{"code", result.error().code}, {"message", result.error().message}};
    }
    const bool lost = !server.broken().empty();
    answer["lost"] = lost;
    // The driver waits for a kernel that hangs when it is told to end: this process does not tell it.
    if (!send_line(answer) || lost) _exit(lost ? 3 : 1);
  }
  _exit(0);
}

int call_once(const char* file) {
  const auto done = carry_out_one_call(file);
  if (done) return 0;
  std::fprintf(stderr, "accelopt-device: %s\n", done.error().message.c_str());
  // The driver waits for a kernel that hangs: this process does not.
  if (done.error().code == ErrorCode::timed_out) _exit(3);
  return 1;
}

}  // namespace
}  // namespace accelopt::devices::cuda

int main(int count, char** arguments) {
  if (count == 3 && std::string_view(arguments[1]) == "--one-call")
    return accelopt::devices::cuda::call_once(arguments[2]);
  if (fcntl(accelopt::devices::cuda::kChannelDescriptor, F_GETFD) < 0 ||
      fcntl(accelopt::devices::cuda::kBulkDescriptor, F_GETFD) < 0) {
    std::fputs("accelopt-device is started by accelopt; see accelopt worker --help\n", stderr);
    return 2;
  }
  return accelopt::devices::cuda::serve();
}
