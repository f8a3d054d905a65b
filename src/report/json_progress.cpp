// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <mutex>

#include "report/progress.hpp"

namespace accelopt::report {

using base::Json;

namespace {

constexpr int kSchema = 1;

Json finite(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

Json interval(const std::optional<model::Interval>& value) {
  return value ? Json(*value) : Json();
}

std::string id_of(const model::Identity& identity) {
  const std::string id = to_string(identity);
  return id.empty() ? "baseline" : id;
}

std::string_view name_of(model::AttemptState state) {
  switch (state) {
    case model::AttemptState::planning:
      return "planning";
    case model::AttemptState::executing:
      return "executing";
    case model::AttemptState::building:
      return "building";
    case model::AttemptState::measuring:
      return "measuring";
    case model::AttemptState::fixing:
      return "fixing";
    case model::AttemptState::done:
      return "done";
  }
  return "done";
}

Json member_json(const model::BeamMember& member) {
  return {{"id", id_of(member.identity)}, {"title", member.title}, {"score", Json(member.score)}};
}

/// Each event's own fields.
struct Fields {
  Json operator()(const model::RunStarted& event) const {
    return {{"type", "run_started"},
            {"run", event.run},
            {"task", event.task},
            {"device", event.device},
            {"iterations", event.iterations},
            {"baseline_ns", finite(event.baseline_ns)},
            {"baseline_roofline", finite(event.baseline_roofline)},
            {"planned_evaluations", event.planned_evaluations}};
  }
  Json operator()(const model::IterationStarted& event) const {
    return {{"type", "iteration_started"}, {"iteration", event.iteration}, {"beam", event.beam}};
  }
  Json operator()(const model::AttemptMoved& event) const {
    const bool done = event.state == model::AttemptState::done;
    return {{"type", "attempt"},
            {"id", id_of(event.identity)},
            {"state", name_of(event.state)},
            {"title", event.title},
            {"status", done ? Json(to_string(event.status)) : Json()},
            {"ratio", interval(event.ratio)},
            {"note", event.note}};
  }
  Json operator()(const model::Learned& event) const {
    return {{"type", "learned"},
            {"title", event.title},
            {"polarity", to_string(event.polarity)},
            {"effect", Json(event.effect)}};
  }
  Json operator()(const model::Selected& event) const {
    Json beam = Json::array();
    for (const model::BeamMember& member : event.beam) beam.push_back(member_json(member));
    return {{"type", "selected"},
            {"iteration", event.iteration},
            {"beam", std::move(beam)},
            {"incumbent", event.incumbent ? member_json(*event.incumbent) : Json()},
            {"evaluations", event.evaluations},
            {"usage", Json(event.usage)}};
  }
  Json operator()(const model::Confirming& event) const {
    return {{"type", "confirming"}, {"id", id_of(event.identity)}, {"title", event.title}};
  }
  Json operator()(const model::RunFinished& event) const {
    return {{"type", "run_finished"},
            {"outcome", event.outcome},
            {"stopped_by", event.stopped_by},
            {"speedup", interval(event.speedup)},
            {"wall_seconds", finite(event.wall_seconds)}};
  }
  Json operator()(const model::Note& event) const { return {{"type", "note"}, {"text", event.text}}; }
};

class JsonProgress final : public model::EventSink {
 public:
  explicit JsonProgress(std::FILE* stream) : stream_(stream) {}

  void on(const model::Event& event) override {
    const std::string line = base::canonical(event_json(event)) + "\n";
    const std::lock_guard lock(mutex_);
    // A reader that has gone away is no reason to stop a run.
    static_cast<void>(std::fwrite(line.data(), 1, line.size(), stream_));
    static_cast<void>(std::fflush(stream_));
  }

 private:
  std::mutex mutex_;
  std::FILE* stream_;
};

}  // namespace

Json event_json(const model::Event& event) {
  Json json = std::visit(Fields{}, event);
  json["schema"] = kSchema;
  return json;
}

std::unique_ptr<model::EventSink> make_json_progress(std::FILE* stream) {
  return std::make_unique<JsonProgress>(stream);
}

}  // namespace accelopt::report
