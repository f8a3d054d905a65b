// SPDX-License-Identifier: Apache-2.0
#include "report/event_json.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/schema.hpp"

namespace accelopt::report {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::read_field;

namespace {

/// Of the events; raised when a field changes its meaning or goes away (docs/events.md).
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
            {"stopped_because", event.stopped_because},
            {"speedup", interval(event.speedup)},
            {"wall_seconds", finite(event.wall_seconds)}};
  }
  Json operator()(const model::Spending& event) const {
    return {{"type", "spending"},
            {"usage", Json(event.usage)},
            {"evaluations", event.evaluations},
            {"device_seconds", finite(event.device_seconds)},
            {"wall_seconds", finite(event.wall_seconds)}};
  }
  Json operator()(const model::DeviceWait& event) const {
    Json json = event;
    json["type"] = "device_wait";
    return json;
  }
  Json operator()(const model::Note& event) const { return {{"type", "note"}, {"text", event.text}}; }
};

constexpr std::array kStates{model::AttemptState::planning, model::AttemptState::executing,
                             model::AttemptState::building, model::AttemptState::measuring,
                             model::AttemptState::fixing,   model::AttemptState::done};

/// The reverse of id_of; what it does not know stays out.
model::Identity identity_of(const Json& json) {
  model::Identity identity;
  const std::string text = json.value("id", std::string());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('.', at), text.size());
    int number = -1;
    std::from_chars(text.data() + at + 1, text.data() + end, number);
    switch (text[at]) {
      case 'i':
        identity.iteration = number;
        break;
      case 'b':
        identity.parent = number;  // "baseline" gives no number
        break;
      case 'p':
        identity.plan = number;
        break;
      case 'a':
        identity.attempt = number;
        break;
      case 'f':
        identity.fix = number;
        break;
      default:
        break;
    }
    at = end + 1;
  }
  return identity;
}

double real_of(const Json& json, const char* key) {
  double value = std::numeric_limits<double>::quiet_NaN();
  read_field(json, key, value);
  return value;
}

std::string text_of(const Json& json, const char* key) {
  std::string text;
  read_field(json, key, text);
  return text;
}

std::optional<model::Interval> interval_of(const Json& json, const char* key) {
  std::optional<model::Interval> value;
  if (json.contains(key)) json.at(key).get_to(value);
  return value;
}

model::BeamMember member_of(const Json& json) {
  return {identity_of(json), text_of(json, "title"), json.at("score").get<model::Interval>()};
}

model::AttemptMoved attempt_of(const Json& json) {
  model::AttemptMoved moved;
  moved.identity = identity_of(json);
  for (const model::AttemptState state : kStates) {
    if (json.at("state") == name_of(state)) moved.state = state;
  }
  moved.title = text_of(json, "title");
  if (const std::string status = text_of(json, "status"); !status.empty()) moved.status = model::parse_status(status);
  moved.ratio = interval_of(json, "ratio");
  moved.note = text_of(json, "note");
  return moved;
}

model::Selected selection_of(const Json& json) {
  model::Selected selected;
  read_field(json, "iteration", selected.iteration);
  for (const Json& member : json.at("beam")) selected.beam.push_back(member_of(member));
  if (!json.at("incumbent").is_null()) selected.incumbent = member_of(json.at("incumbent"));
  read_field(json, "evaluations", selected.evaluations);
  read_field(json, "usage", selected.usage);
  return selected;
}

/// Throws what nlohmann does when a field is missing or has another type.
std::optional<model::Event> read_event(const Json& json) {
  const std::string type = json.at("type").get<std::string>();
  if (type == "run_started") {
    model::RunStarted started{text_of(json, "run"), text_of(json, "task"), text_of(json, "device")};
    read_field(json, "iterations", started.iterations);
    started.baseline_ns = real_of(json, "baseline_ns");
    started.baseline_roofline = real_of(json, "baseline_roofline");
    read_field(json, "planned_evaluations", started.planned_evaluations);
    return started;
  }
  if (type == "iteration_started") {
    model::IterationStarted started;
    read_field(json, "iteration", started.iteration);
    read_field(json, "beam", started.beam);
    return started;
  }
  if (type == "attempt") return attempt_of(json);
  if (type == "learned") {
    return model::Learned{text_of(json, "title"), model::parse_polarity(text_of(json, "polarity")),
                          json.at("effect").get<model::Interval>()};
  }
  if (type == "selected") return selection_of(json);
  if (type == "confirming") return model::Confirming{identity_of(json), text_of(json, "title")};
  if (type == "run_finished") {
    return model::RunFinished{text_of(json, "outcome"), text_of(json, "stopped_by"), interval_of(json, "speedup"),
                              real_of(json, "wall_seconds"), json.value("stopped_because", std::string())};
  }
  if (type == "spending") {
    model::Spending spending;
    read_field(json, "usage", spending.usage);
    read_field(json, "evaluations", spending.evaluations);
    spending.device_seconds = real_of(json, "device_seconds");
    spending.wall_seconds = real_of(json, "wall_seconds");
    return spending;
  }
  if (type == "device_wait") return json.get<model::DeviceWait>();
  if (type == "note") return model::Note{text_of(json, "text")};
  return std::nullopt;
}

}  // namespace

Json event_json(const model::Event& event) {
  Json json = std::visit(Fields{}, event);
  json["schema"] = kSchema;
  return json;
}

base::Result<std::optional<model::Event>> event_from_json(const Json& json) {
  try {
    if (json.is_object()) TRY(base::check_schema(json, kSchema, "an event of a run"));
    return read_event(json);
  } catch (const nlohmann::json::exception& problem) {
    return fail(ErrorCode::parse, std::string("an event of a run cannot be read: ") + problem.what());
  }
}

}  // namespace accelopt::report
