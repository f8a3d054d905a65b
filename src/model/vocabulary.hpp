// SPDX-License-Identifier: Apache-2.0
// The vocabularies of a run and of its evaluations. Each is an enum with one table of names; names are stored,
// exchanged and shown, and code branches on values alone. `Evaluation::trust` is no vocabulary: it is a target's own
// word.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.hpp"

namespace accelopt::model {

/// What a workload is for. race: timed and verified; check: verified in every evaluation; held_out: hidden until the
/// end.
enum class Role { race, check, held_out };

/// Who is asked.
enum class AgentRole { planner, executor, fixer, summarizer };

/// What a journal's step records.
enum class StepKind {
  open,             ///< the task on the device: its baseline, verified and timed
  plan,             ///< one plan
  plans,            ///< several plans from one question
  execute,          ///< a solution for a plan
  fix,              ///< a solution in place of one that failed
  summarize,        ///< an experience
  summarize_all,    ///< experiences from one question
  chat,             ///< one exchange with a model, inside of a question
  unanswered,       ///< what an exchange used that gave no answer
  build,            ///< by source
  triage,           ///< the race of a candidate against its parent, by machine code
  profile,          ///< by source
  playoff,          ///< the race of parents and kept candidates
  held_out,         ///< verification on held-out workloads, by source
  confirm,          ///< by source
  recall,           ///< experiences that the knowledge store gave
  stop,             ///< whether the run ended after an iteration, and why
  session,          ///< where the clock of the steps that follow begins
  decisions,        ///< the log of all decisions
  keeps_lessons,    ///< whether there is a store that the last lessons go to
  estimate,         ///< what the run was expected to take
  bundle,           ///< requests that were written into a bundle
  bundle_taken,     ///< a bundle whose results came back
  bundle_given_up,  ///< a bundle that is written anew
  deferred,         ///< the answer to one request of a bundle
};

/// How a run stands. dead: it should be running, and no process works on it; never stored.
enum class RunStatus { running, waiting, interrupted, failed, done, dead };

/// Why a run ended. The limits of a budget are named as their settings.
enum class EndReason {
  iterations,
  patience,
  near_roofline,
  enough,  ///< the best is as fast as the run has to find
  max_seconds,
  max_device_seconds,
  max_evaluations,
  max_tokens,
  max_usd,
  stop,     ///< `accelopt stop` asked for it
  signal,   ///< SIGINT, SIGTERM or SIGHUP did
  waiting,  ///< somebody elsewhere has to answer first
};
/// Whether a limit of its budget ended it.
constexpr bool is_budget(EndReason reason) {
  return reason >= EndReason::max_seconds && reason <= EndReason::max_usd;
}

/// How candidates are timed. blocks: paired blocks in random order. paper: two calls to warm up, ten timed ones, their
/// mean against the recorded one. verify: not at all.
enum class Protocol { blocks, paper, verify };

/// What is asked of a device (evaluation/request.hpp), in the order of a bundle: what is cheap and independent comes
/// first, what depends on another comes after it.
enum class Operation { open, build, triage, profile, held_out, playoff, confirm };

/// What an evaluation is. triage: a race against the parent; confirm: one against the baseline, with all that a
/// confirmation checks; verify: not timed.
enum class EvaluationKind { none, baseline, verify, triage, confirm };

/// How a race ended. futility: more blocks would hardly have shown a gain; cap: its blocks or its time were used up.
enum class DecidedBy { none, race, futility, cap };

/// How far one configuration of a tuned kernel got. level: as good as the chosen one; outranked: in the slower half,
/// not certainly slower; unfinished: the time was up.
enum class TunedFate { unfinished, chosen, level, outranked, slower, failed };

/// What the time of an evaluation went into. build: beside other measurements, so that it took no time of the device.
/// other: of a program that knew more.
enum class Stage { other, build, tune, verify, inspect, triage, profile, confirm };

/// The names of a vocabulary's values, every value once. A reader that must not fail takes the first for an unknown
/// one.
template <class E>
struct Names;

template <>
struct Names<Role> {
  static constexpr std::array<std::pair<Role, std::string_view>, 3> kTable{{
      {Role::race, "race"},
      {Role::check, "check"},
      {Role::held_out, "held_out"},
  }};
};

template <>
struct Names<AgentRole> {
  static constexpr std::array<std::pair<AgentRole, std::string_view>, 4> kTable{{
      {AgentRole::planner, "planner"},
      {AgentRole::executor, "executor"},
      {AgentRole::fixer, "fixer"},
      {AgentRole::summarizer, "summarizer"},
  }};
};

template <>
struct Names<StepKind> {
  static constexpr std::array<std::pair<StepKind, std::string_view>, 25> kTable{{
      {StepKind::open, "open"},
      {StepKind::plan, "plan"},
      {StepKind::plans, "plans"},
      {StepKind::execute, "execute"},
      {StepKind::fix, "fix"},
      {StepKind::summarize, "summarize"},
      {StepKind::summarize_all, "summarize_all"},
      {StepKind::chat, "chat"},
      {StepKind::unanswered, "unanswered"},
      {StepKind::build, "build"},
      {StepKind::triage, "triage"},
      {StepKind::profile, "profile"},
      {StepKind::playoff, "playoff"},
      {StepKind::held_out, "held_out"},
      {StepKind::confirm, "confirm"},
      {StepKind::recall, "recall"},
      {StepKind::stop, "stop"},
      {StepKind::session, "session"},
      {StepKind::decisions, "decisions"},
      {StepKind::keeps_lessons, "keeps_lessons"},
      {StepKind::estimate, "estimate"},
      {StepKind::bundle, "bundle"},
      {StepKind::bundle_taken, "bundle_taken"},
      {StepKind::bundle_given_up, "bundle_given_up"},
      {StepKind::deferred, "deferred"},
  }};
};

template <>
struct Names<RunStatus> {
  static constexpr std::array<std::pair<RunStatus, std::string_view>, 6> kTable{{
      {RunStatus::running, "running"},
      {RunStatus::waiting, "waiting"},
      {RunStatus::interrupted, "interrupted"},
      {RunStatus::failed, "failed"},
      {RunStatus::done, "done"},
      {RunStatus::dead, "dead"},
  }};
};

template <>
struct Names<EndReason> {
  static constexpr std::array<std::pair<EndReason, std::string_view>, 12> kTable{{
      {EndReason::iterations, "iterations"},
      {EndReason::patience, "patience"},
      {EndReason::near_roofline, "near_roofline"},
      {EndReason::enough, "enough"},
      {EndReason::max_seconds, "max_seconds"},
      {EndReason::max_device_seconds, "max_device_seconds"},
      {EndReason::max_evaluations, "max_evaluations"},
      {EndReason::max_tokens, "max_tokens"},
      {EndReason::max_usd, "max_usd"},
      {EndReason::stop, "stop"},
      {EndReason::signal, "signal"},
      {EndReason::waiting, "waiting"},
  }};
};

template <>
struct Names<Protocol> {
  static constexpr std::array<std::pair<Protocol, std::string_view>, 3> kTable{{
      {Protocol::blocks, "blocks"},
      {Protocol::paper, "paper"},
      {Protocol::verify, "verify"},
  }};
};

template <>
struct Names<Operation> {
  static constexpr std::array<std::pair<Operation, std::string_view>, 7> kTable{{
      {Operation::open, "open"},
      {Operation::build, "build"},
      {Operation::triage, "triage"},
      {Operation::profile, "profile"},
      {Operation::held_out, "verify_held_out"},
      {Operation::playoff, "playoff"},
      {Operation::confirm, "confirm"},
  }};
};

template <>
struct Names<EvaluationKind> {
  static constexpr std::array<std::pair<EvaluationKind, std::string_view>, 5> kTable{{
      {EvaluationKind::none, ""},
      {EvaluationKind::baseline, "baseline"},
      {EvaluationKind::verify, "verify"},
      {EvaluationKind::triage, "triage"},
      {EvaluationKind::confirm, "confirm"},
  }};
};

template <>
struct Names<DecidedBy> {
  static constexpr std::array<std::pair<DecidedBy, std::string_view>, 4> kTable{{
      {DecidedBy::none, ""},
      {DecidedBy::race, "race"},
      {DecidedBy::futility, "futility"},
      {DecidedBy::cap, "cap"},
  }};
};

template <>
struct Names<TunedFate> {
  static constexpr std::array<std::pair<TunedFate, std::string_view>, 6> kTable{{
      {TunedFate::unfinished, "unfinished"},
      {TunedFate::chosen, "chosen"},
      {TunedFate::level, "level"},
      {TunedFate::outranked, "outranked"},
      {TunedFate::slower, "slower"},
      {TunedFate::failed, "failed"},
  }};
};

template <>
struct Names<Stage> {
  static constexpr std::array<std::pair<Stage, std::string_view>, 8> kTable{{
      {Stage::other, "other"},
      {Stage::build, "build"},
      {Stage::tune, "tune"},
      {Stage::verify, "verify"},
      {Stage::inspect, "inspect"},
      {Stage::triage, "triage"},
      {Stage::profile, "profile"},
      {Stage::confirm, "confirm"},
  }};
};

template <class E>
concept Named = requires {
  Names<E>::kTable;
};

template <Named E>
constexpr std::string_view to_string(E value) {
  for (const auto& [known, name] : Names<E>::kTable) {
    if (known == value) return name;
  }
  return {};
}

/// The value of that name; none: there is no such name.
template <Named E>
constexpr std::optional<E> named(std::string_view name) {
  for (const auto& [known, its] : Names<E>::kTable) {
    if (its == name) return known;
  }
  return std::nullopt;
}

/// By name in JSON. Reading throws, as nlohmann does, where there is no such name.
template <Named E>
void to_json(base::Json& out, E value) {
  out = to_string(value);
}
template <Named E>
void from_json(const base::Json& in, E& value) {
  const auto& name = in.get_ref<const std::string&>();
  const auto known = named<E>(name);
  if (!known) throw base::Json::other_error::create(501, "unknown name \"" + name + "\"", &in);
  value = *known;
}

/// "build", or "build:SUFFIX" where a suffix tells several steps of one kind at one identity apart.
inline std::string step_name(StepKind kind, std::string_view suffix = {}) {
  std::string name(to_string(kind));
  if (!suffix.empty()) name.append(":").append(suffix);
  return name;
}
/// The part of a step's name that is its kind.
constexpr std::string_view step_head(std::string_view name) {
  return name.substr(0, name.find(':'));
}
/// The kind of a step of that name; none: of a program that knew others.
constexpr std::optional<StepKind> step_kind(std::string_view name) {
  return named<StepKind>(step_head(name));
}

/// What follows the kind in a step's name.
constexpr std::string_view step_suffix(std::string_view name) {
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? std::string_view() : name.substr(colon + 1);
}

/// The kind of step that records the answer to a request.
constexpr StepKind step_of(Operation operation) {
  switch (operation) {
    case Operation::open:
      return StepKind::open;
    case Operation::build:
      return StepKind::build;
    case Operation::triage:
      return StepKind::triage;
    case Operation::profile:
      return StepKind::profile;
    case Operation::held_out:
      return StepKind::held_out;
    case Operation::playoff:
      return StepKind::playoff;
    case Operation::confirm:
      break;
  }
  return StepKind::confirm;
}

/// The role that answers the steps of a kind; none: a device, or nobody.
constexpr std::optional<AgentRole> role_of(std::optional<StepKind> kind) {
  if (!kind) return std::nullopt;
  switch (*kind) {
    case StepKind::plan:
    case StepKind::plans:
      return AgentRole::planner;
    case StepKind::execute:
      return AgentRole::executor;
    case StepKind::fix:
      return AgentRole::fixer;
    case StepKind::summarize:
    case StepKind::summarize_all:
      return AgentRole::summarizer;
    default:
      return std::nullopt;
  }
}

/// The role that a chat's label begins with, as in "planner i0.b1.p2 try0"; none: it is nobody's.
constexpr std::optional<AgentRole> role_of_label(std::string_view label) {
  return named<AgentRole>(label.substr(0, label.find(' ')));
}

}  // namespace accelopt::model
