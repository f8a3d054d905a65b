// SPDX-License-Identifier: Apache-2.0
#include "sandbox/json_process.hpp"

#include <unistd.h>

#include <utility>

namespace accelopt::sandbox {

using base::ErrorCode;
using base::Json;
using base::Result;

Result<JsonProcess> JsonProcess::start(SpawnOptions options, std::string name, std::size_t most_answer_bytes) {
  TRY_ASSIGN(LineProcess process, LineProcess::start(std::move(options), {STDIN_FILENO, STDOUT_FILENO}, name));
  return JsonProcess(std::move(process), std::move(name), most_answer_bytes);
}

Result<Json> JsonProcess::receive(std::chrono::seconds limit, const std::stop_token& stop) {
  auto line = process_.receive(std::chrono::steady_clock::now() + limit, most_answer_bytes_, stop);
  if (!line) {
    const bool ended = line.error().code == ErrorCode::unavailable;
    const std::string how = ended ? process_.reap() : std::string();
    process_.end();
    if (ended) return base::fail(ErrorCode::unavailable, name_ + " " + how);
    return tl::make_unexpected(line.error());
  }
  auto parsed = base::parse_json(*line, name_);
  if (parsed && parsed->is_object()) return parsed;
  process_.end();
  return base::fail(ErrorCode::corrupt, name_ + " answered what is no object");
}

Result<Json> JsonProcess::ask(Json request, std::chrono::seconds limit, const std::stop_token& stop) {
  request["id"] = ++last_id_;
  const auto sent = process_.send(base::canonical(request), std::chrono::steady_clock::now() + limit, stop);
  if (!sent) {
    process_.end();
    return tl::make_unexpected(sent.error());
  }
  TRY_ASSIGN(Json answer, receive(limit, stop));
  if (answer.value("id", Json()) == last_id_) return answer;
  process_.end();
  return base::fail(ErrorCode::corrupt, name_ + " answered another request");
}

}  // namespace accelopt::sandbox
