// SPDX-License-Identifier: Apache-2.0
#include "app/run_outline.hpp"

#include <map>
#include <string_view>

#include "app/workspace.hpp"
#include "journal/control.hpp"
#include "report/event_json.hpp"

namespace accelopt::app {
namespace {

using base::Json;

constexpr int kOutlineEvents = 5000;

/// The part of an attempt's identity that stays while it is mended.
model::Identity attempt_of(model::Identity identity) {
  identity.fix = -1;
  return identity;
}

/// Which of a run's many events an outline rests on, without reading them as JSON: events are written dense.
class Wanted {
 public:
  /// Attempts under way count while the run goes on.
  explicit Wanted(bool goes_on) : goes_on_(goes_on) {}

  bool operator()(std::string_view line) const {
    const auto has = [line](std::string_view part) { return line.find(part) != std::string_view::npos; };
    if (has(R"("type":"attempt")")) return goes_on_ || has(R"("state":"done")");
    return has(R"("type":"selected")") || has(R"("type":"run_started")");
  }

 private:
  bool goes_on_;
};

class Outline {
 public:
  explicit Outline(RunOutline& out) : out_(out) {}

  void operator()(const model::RunStarted& /*event*/) {
    out_.anew = true;
    out_.attempts.clear();
    out_.rounds.clear();
    place_.clear();
  }
  void operator()(const model::AttemptMoved& event) {
    const auto [place, fresh] = place_.emplace(attempt_of(event.identity), out_.attempts.size());
    if (fresh)
      out_.attempts.push_back(event);
    else
      out_.attempts[place->second] = event;
  }
  void operator()(const model::Selected& event) { out_.rounds.push_back(event); }
  template <class Other>
  void operator()(const Other& /*event*/) {}

 private:
  RunOutline& out_;
  std::map<model::Identity, std::size_t> place_;  ///< in the list
};

}  // namespace

base::Result<RunOutline> read_outline(const std::filesystem::path& workspace, const std::string& run,
                                      std::int64_t after) {
  TRY_ASSIGN(const auto journal, open_workspace(workspace, journal::Access::read_only));
  TRY_ASSIGN(const auto control, journal::open_control(workspace, journal::Access::read_only));
  TRY_ASSIGN(const journal::RunInfo info, journal->find_run(run));
  RunOutline out{.run = info.id, .anew = after == 0, .after = after, .attempts = {}, .rounds = {}};
  Outline fold(out);
  const Wanted wanted(info.status == model::RunStatus::running);
  for (;;) {
    TRY_ASSIGN(const auto lines, control->events(info.id, out.after, kOutlineEvents));
    for (const journal::EventLine& line : lines) {
      out.after = line.number;
      if (!wanted(line.text)) continue;
      TRY_ASSIGN(const Json json, base::parse_json(line.text, "an event of the run"));
      TRY_ASSIGN(const auto event, report::event_from_json(json));
      if (event) std::visit(fold, *event);
    }
    if (lines.size() < kOutlineEvents) return out;
  }
}

Json to_json(const RunOutline& outline) {
  Json attempts = Json::array();
  for (const model::AttemptMoved& one : outline.attempts) {
    Json line = report::event_json(one);
    line.erase("type");
    line.erase("schema");
    attempts.push_back(std::move(line));
  }
  Json rounds = Json::array();
  for (const model::Selected& one : outline.rounds) rounds.push_back(report::event_json(one));
  return {{"run", outline.run},
          {"anew", outline.anew},
          {"after", outline.after},
          {"attempts", std::move(attempts)},
          {"rounds", std::move(rounds)}};
}

}  // namespace accelopt::app
