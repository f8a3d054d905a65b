// SPDX-License-Identifier: Apache-2.0
// accelopt-card: the one trusted process that holds a CUDA device. Serves the requests of card_protocol.hpp on its
// channel until that is closed; ends when the device is lost to it. With --one-call FILE it makes one call and ends.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/json.hpp"
#include "evaluation/evaluator_json.hpp"
#include "targets/cuda/card_call.hpp"
#include "targets/cuda/card_checks.hpp"
#include "targets/cuda/card_device.hpp"
#include "targets/cuda/card_once.hpp"
#include "targets/cuda/card_peaks.hpp"
#include "targets/cuda/card_protocol.hpp"
#include "targets/cuda/card_slots.hpp"

namespace accelopt::targets::cuda {
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

class Card {
 public:
  /// The answer to one request.
  base::Result<Json> answer(const Json& request) {
    TRY_ASSIGN(const auto op, base::decode<std::string>(request.value("op", Json()), "op"));
    bulk_.rewind();
    if (op == "open") return open(request);
    if (!caller_) return base::fail(ErrorCode::invalid_argument, "no device is open");
    if (op == "cubin") {
      TRY_ASSIGN(const auto wanted, base::decode<CubinRequest>(request, "cubin"));
      TRY_ASSIGN(cubins_[wanted.id], bulk_(wanted.bytes));
      return Json::object();
    }
    if (op == "slot") {
      TRY_ASSIGN(const auto wanted, base::decode<SlotRequest>(request, "slot"));
      caller_->let_go(wanted.number);
      TRY_ASSIGN(const auto bounds, slots_->prepare(wanted, [this](std::uint64_t bytes) { return bulk_(bytes); }));
      return Json{{"bounds", bounds_json(bounds)}, {"bytes", bytes_of(*slots_->find(wanted.number))}};
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
      live_.erase(number);
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
      TRY_ASSIGN(device_, CardDevice::open(wanted.device, wanted.driver, wanted.management));
    }
    if (wanted.check_bytes == 0) return Json(device_->facts());
    TRY_ASSIGN(checks_, Checks::create(*device_, cubin));
    TRY_ASSIGN(caller_, Caller::create(*device_, *checks_));
    slots_ = std::make_unique<CardSlots>(*device_, *checks_, cubins_);
    return Json(device_->facts());
  }

  base::Result<Json> start(const Json& request) {
    TRY_ASSIGN(const auto wanted, base::decode<StartRequest>(request, "start"));
    const auto code = cubins_.find(wanted.cubin);
    if (code == cubins_.end()) return base::fail(ErrorCode::not_found, "the machine code is not here");
    auto module = device_->load(code->second);
    if (!module) return Json{{"reason", module.error().message}};
    live_.erase(wanted.live);
    live_.emplace(wanted.live, std::move(*module));
    return Json::object();
  }

  base::Result<Json> call(const Json& request) {
    TRY_ASSIGN(const auto wanted, base::decode<CallRequest>(request, "call"));
    const auto module = live_.find(wanted.live);
    CardSlot* const slot = slots_->find(wanted.slot);
    if (module == live_.end() || slot == nullptr) return base::fail(ErrorCode::not_found, "kernel or slot is not here");
    TRY_ASSIGN(const CallReply reply, caller_->call(module->second, *slot, wanted));
    return Json(reply);
  }

  BulkReader bulk_;
  Cubins cubins_;
  std::unique_ptr<CardDevice> device_;
  std::unique_ptr<Checks> checks_;
  std::unique_ptr<CardSlots> slots_;
  std::unique_ptr<Caller> caller_;
  std::map<std::uint64_t, DeviceModule> live_;
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
  Card card;
  std::string buffer;
  for (std::string line = next_line(buffer); !line.empty(); line = next_line(buffer)) {
    Json answer;
    const auto request = base::parse_json(line, "request");
    base::Result<Json> result = request ? card.answer(*request) : tl::make_unexpected(request.error());
    if (result) {
      answer["result"] = std::move(*result);
    } else {
      answer["error"] = {{"code", result.error().code}, {"message", result.error().message}};
    }
    const bool lost = !card.broken().empty();
    answer["lost"] = lost;
    // The driver waits for a kernel that hangs when it is told to end: this process does not tell it.
    if (!send_line(answer) || lost) _exit(lost ? 3 : 1);
  }
  _exit(0);
}

int call_once(const char* file) {
  const auto done = carry_out_one_call(file);
  if (done) return 0;
  std::fprintf(stderr, "accelopt-card: %s\n", done.error().message.c_str());
  // The driver waits for a kernel that hangs: this process does not.
  if (done.error().code == ErrorCode::timed_out) _exit(3);
  return 1;
}

}  // namespace
}  // namespace accelopt::targets::cuda

int main(int count, char** arguments) {
  if (count == 3 && std::string_view(arguments[1]) == "--one-call")
    return accelopt::targets::cuda::call_once(arguments[2]);
  if (fcntl(accelopt::targets::cuda::kChannelDescriptor, F_GETFD) < 0 ||
      fcntl(accelopt::targets::cuda::kBulkDescriptor, F_GETFD) < 0) {
    std::fputs("accelopt-card is started by accelopt; see accelopt worker --help\n", stderr);
    return 2;
  }
  return accelopt::targets::cuda::serve();
}
