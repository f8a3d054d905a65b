// SPDX-License-Identifier: Apache-2.0
#include "report/event_json.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "base/json_fields.hpp"
#include "base/schema.hpp"

namespace accelopt::model {
namespace {

using base::Json;

constexpr auto kStateNames = std::to_array<base::Named<AttemptState>>({{AttemptState::planning, "planning"},
                                                                       {AttemptState::executing, "executing"},
                                                                       {AttemptState::building, "building"},
                                                                       {AttemptState::measuring, "measuring"},
                                                                       {AttemptState::fixing, "fixing"},
                                                                       {AttemptState::done, "done"}});
constexpr auto kPolarities = std::to_array<base::Named<Polarity>>(
    {{Polarity::improves, "improves"}, {Polarity::regresses, "regresses"}, {Polarity::mends, "mends"}});

std::string text_of(const Identity& identity) {
  const std::string id = to_string(identity);
  return id.empty() ? "baseline" : id;
}

/// The reverse; what it does not know stays out.
Identity identity_of(const Json& json) {
  Identity identity;
  const auto text = json.get<std::string>();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('.', at), text.size());
    int number = -1;
    std::from_chars(text.data() + at + 1, text.data() + end, number);
    // "baseline" gives no number.
    if (text[at] == 'i') identity.iteration = number;
    if (text[at] == 'b') identity.parent = number;
    if (text[at] == 'p') identity.plan = number;
    if (text[at] == 'a') identity.attempt = number;
    if (text[at] == 'f') identity.fix = number;
    at = end + 1;
  }
  return identity;
}

}  // namespace

ACCELOPT_JSON(BeamMember) {
  field.converted("id", it.identity, &text_of, &identity_of);
  field.optional("title", it.title);
  field.required("score", it.score);
}

ACCELOPT_JSON(RunStarted) {
  field.optional("run", it.run, "task", it.task, "device", it.device, "iterations", it.iterations,
                 "planned_evaluations", it.planned_evaluations);
  field.finite("baseline_ns", it.baseline_ns, "baseline_roofline", it.baseline_roofline);
  field.unless_empty("goal", it.goal);
}

ACCELOPT_JSON(IterationStarted) {
  field.optional("iteration", it.iteration, "beam", it.beam);
}

ACCELOPT_JSON(AttemptMoved) {
  field.converted("id", it.identity, &text_of, &identity_of);
  field.named("state", it.state, kStateNames);
  field.optional("title", it.title, "ratio", it.ratio, "note", it.note);
  field.unless_empty("verdict", it.verdict);
  field.converted(
      "status", it.status,
      [&it](Status status) { return it.state == AttemptState::done ? Json(to_string(status)) : Json(); },
      [](const Json& name) { return name.is_null() ? Status() : parse_status(name.get<std::string>()); });
}

ACCELOPT_JSON(Learned) {
  field.optional("title", it.title);
  field.named("polarity", it.polarity, kPolarities);
  field.required("effect", it.effect);
}

ACCELOPT_JSON(Selected) {
  field.required("beam", it.beam, "incumbent", it.incumbent);
  field.optional("iteration", it.iteration, "evaluations", it.evaluations, "usage", it.usage);
}

ACCELOPT_JSON(Confirming) {
  field.converted("id", it.identity, &text_of, &identity_of);
  field.optional("title", it.title);
}

ACCELOPT_JSON(RunFinished) {
  field.optional("outcome", it.outcome, "stopped_by", it.stopped_by, "stopped_because", it.stopped_because, "speedup",
                 it.speedup);
  field.finite("wall_seconds", it.wall_seconds);
}

ACCELOPT_JSON(Spending) {
  field.optional("usage", it.usage, "evaluations", it.evaluations);
  field.finite("device_seconds", it.device_seconds, "wall_seconds", it.wall_seconds);
}

ACCELOPT_JSON(Note) {
  field.optional("text", it.text);
}

}  // namespace accelopt::model

namespace accelopt::report {
namespace {

using base::Json;

/// Of the events; raised when a field changes its meaning or goes away (docs/events.md).
constexpr int kSchema = 1;

/// In the order of model::Event.
constexpr auto kTypes =
    std::to_array<std::string_view>({"run_started", "iteration_started", "attempt", "learned", "selected", "confirming",
                                     "run_finished", "spending", "device_wait", "note"});
static_assert(kTypes.size() == std::variant_size_v<model::Event>);

/// Throws what nlohmann does when a field is missing or has another type.
template <std::size_t... I>
std::optional<model::Event> read_event(const Json& json, std::index_sequence<I...>) {
  const auto type = json.at("type").get<std::string>();
  std::optional<model::Event> event;
  const auto read = [&]<std::size_t Place>() {
    if (type == kTypes[Place]) event = json.get<std::variant_alternative_t<Place, model::Event>>();
  };
  (read.template operator()<I>(), ...);
  return event;
}

}  // namespace

Json event_json(const model::Event& event) {
  Json json = std::visit([](const auto& one) { return Json(one); }, event);
  json["type"] = kTypes[event.index()];
  json["schema"] = kSchema;
  return json;
}

base::Result<std::optional<model::Event>> event_from_json(const Json& json) {
  try {
    if (json.is_object()) TRY(base::check_schema(json, kSchema, "an event of a run"));
    return read_event(json, std::make_index_sequence<kTypes.size()>());
  } catch (const nlohmann::json::exception& problem) {
    return base::fail(base::ErrorCode::parse, std::string("an event of a run cannot be read: ") + problem.what());
  }
}

}  // namespace accelopt::report
