// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <mutex>

#include "report/progress.hpp"

namespace accelopt::report {

using base::Json;

namespace {

class JsonProgress final : public model::EventSink {
 public:
  JsonProgress(std::FILE* stream, std::string task) : stream_(stream), task_(std::move(task)) {}

  void on(const model::Event& event) override {
    using std::chrono::system_clock;
    Json json = event_json(event);
    json["at_ms"] =
        std::chrono::duration_cast<std::chrono::milliseconds>(system_clock::now().time_since_epoch()).count();
    if (!task_.empty()) json["suite_task"] = task_;
    const std::string line = base::canonical(json) + "\n";
    const std::lock_guard lock(mutex_);
    // A reader that has gone away is no reason to stop a run.
    static_cast<void>(std::fwrite(line.data(), 1, line.size(), stream_));
    static_cast<void>(std::fflush(stream_));
  }

 private:
  std::mutex mutex_;
  std::FILE* stream_;
  std::string task_;
};

}  // namespace

std::unique_ptr<model::EventSink> make_json_progress(std::FILE* stream, std::string task) {
  return std::make_unique<JsonProgress>(stream, std::move(task));
}

}  // namespace accelopt::report
