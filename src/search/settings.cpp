// SPDX-License-Identifier: Apache-2.0
#include "search/settings.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

namespace accelopt::search {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::read_field;

namespace {

constexpr std::array<std::pair<Strategy, std::string_view>, 3> kStrategies{{
    {Strategy::beam, "beam"},
    {Strategy::greedy, "greedy"},
    {Strategy::repeated_sampling, "repeated-sampling"},
}};

constexpr std::array<std::pair<Asking, std::string_view>, 3> kAskings{{
    {Asking::apart_renamed, "apart-renamed"},
    {Asking::apart, "apart"},
    {Asking::together, "together"},
}};

std::string_view to_string(Asking asking) {
  return kAskings.at(static_cast<std::size_t>(asking)).second;
}

struct SettingRange {
  std::string_view name;
  int SearchSettings::*field;
  int low;
  int high;
};

constexpr std::array kRanges{
    SettingRange{"iterations", &SearchSettings::iterations, 1, 1000},
    SettingRange{"beam", &SearchSettings::beam, 1, 64},
    SettingRange{"plans", &SearchSettings::plans, 1, 256},
    SettingRange{"attempts", &SearchSettings::attempts, 1, 64},
    SettingRange{"fixes", &SearchSettings::fixes, 0, 16},
    SettingRange{"memory_capacity", &SearchSettings::memory_capacity, 0, 1000},
    SettingRange{"memory_new", &SearchSettings::memory_new, 0, 256},
    SettingRange{"patience", &SearchSettings::patience, 0, 1000},
    SettingRange{"confirm_tries", &SearchSettings::confirm_tries, 1, 16},
};

/// Not a number, and no end, are no limits.
bool is_limit(double value) {
  return value > 0 && std::isfinite(value);
}

}  // namespace

base::Result<SearchSettings> preset(std::string_view name) {
  SearchSettings settings;
  if (name == "default") return settings;
  if (name != "paper") {
    return fail(ErrorCode::invalid_argument,
                "unknown preset \"" + std::string(name) + "\"; known are default and paper");
  }
  // The published system's parameters: arXiv 2511.15915.
  settings.iterations = 16;
  settings.beam = 6;
  settings.plans = 12;
  settings.attempts = 2;
  settings.fixes = 0;
  settings.memory_positive = 1.04;
  settings.memory_negative = 1.15;
  settings.patience = 0;
  settings.near_roofline = 0;
  settings.rules = Rules::paper;
  settings.recall = Recall::queue;
  return settings;
}

base::Result<void> check(const SearchSettings& settings) {
  for (const SettingRange& range : kRanges) {
    const int value = settings.*range.field;
    if (value < range.low || value > range.high) {
      return fail(ErrorCode::invalid_argument, std::string(range.name) + " is " + std::to_string(value) +
                                                   "; it must be " + std::to_string(range.low) + " to " +
                                                   std::to_string(range.high));
    }
  }
  const bool no_limit = (settings.max_seconds && !is_limit(*settings.max_seconds)) ||
                        (settings.max_device_seconds && !is_limit(*settings.max_device_seconds)) ||
                        (settings.max_evaluations && *settings.max_evaluations < 1) ||
                        (settings.max_tokens && *settings.max_tokens < 1) ||
                        (settings.max_usd && !is_limit(*settings.max_usd));
  if (no_limit)
    return fail(ErrorCode::invalid_argument, "a budget must be a number over nothing; leave out what has no limit");
  if (!(settings.near_roofline >= 0 && settings.near_roofline < 1)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("near_roofline is {}; it must be at least 0 (never stops for that) and under 1",
                            settings.near_roofline));
  }
  if (settings.memory_positive < 1 || settings.memory_negative < 1) {
    return fail(ErrorCode::invalid_argument, "memory_positive and memory_negative are factors of at least 1");
  }
  return {};
}

SearchSettings without_budgets(SearchSettings settings) {
  settings.max_seconds.reset();
  settings.max_device_seconds.reset();
  settings.max_evaluations.reset();
  settings.max_tokens.reset();
  settings.max_usd.reset();
  return settings;
}

std::string_view to_string(Strategy strategy) {
  for (const auto& [value, name] : kStrategies) {
    if (value == strategy) return name;
  }
  return "beam";
}

base::Result<Strategy> parse_strategy(std::string_view name) {
  for (const auto& [value, known] : kStrategies) {
    if (known == name) return value;
  }
  return fail(ErrorCode::invalid_argument,
              "unknown strategy \"" + std::string(name) + "\"; known are beam, greedy and repeated-sampling");
}

std::string_view to_string(Recall recall) {
  return recall == Recall::queue ? "queue" : "ranked";
}

base::Result<Recall> parse_recall(std::string_view name) {
  if (name == "queue") return Recall::queue;
  if (name == "ranked") return Recall::ranked;
  return fail(ErrorCode::invalid_argument,
              "unknown memory \"" + std::string(name) + "\"; known are queue and ranked, and --no-memory");
}

base::Result<void> set_by_name(SearchSettings& settings, std::string_view name, std::string_view value) {
  Json all = settings;
  const std::string key(name);
  if (!all.contains(key)) {
    std::string known;
    for (const auto& item : all.items()) known += (known.empty() ? "" : ", ") + item.key();
    return fail(ErrorCode::invalid_argument, "unknown setting \"" + key + "\"; known are " + known);
  }
  Json parsed = Json::parse(value, nullptr, false);
  if (parsed.is_discarded()) parsed = std::string(value);
  all[key] = parsed;
  if (key == "strategy") TRY(parse_strategy(value));
  if (key == "recall") TRY(parse_recall(value));
  auto decoded = base::decode<SearchSettings>(all, "--set " + key);
  if (!decoded) {
    return fail(ErrorCode::invalid_argument, "cannot read \"" + std::string(value) + "\" as a value of " + key +
                                                 "; write one like " + Json(settings)[key].dump());
  }
  TRY(check(*decoded));
  settings = *decoded;
  return {};
}

void to_json(Json& out, const SearchSettings& value) {
  out = {{"iterations", value.iterations},
         {"beam", value.beam},
         {"plans", value.plans},
         {"attempts", value.attempts},
         {"fixes", value.fixes},
         {"memory_capacity", value.memory_capacity},
         {"memory_new", value.memory_new},
         {"memory_positive", value.memory_positive},
         {"memory_negative", value.memory_negative},
         {"patience", value.patience},
         {"near_roofline", value.near_roofline},
         {"confirm_tries", value.confirm_tries},
         {"strategy", to_string(value.strategy)},
         {"rules", value.rules == Rules::paper ? "paper" : "standard"},
         {"recall", to_string(value.recall)},
         {"memory_everything", value.memory_everything},
         {"exclude_family", value.exclude_family},
         {"max_seconds", Json(value.max_seconds)},
         {"max_device_seconds", Json(value.max_device_seconds)},
         {"max_evaluations", Json(value.max_evaluations)},
         {"max_tokens", Json(value.max_tokens)},
         {"max_usd", Json(value.max_usd)}};
  // A journal from before there was a choice has no such field, and its steps are found by what it has.
  if (value.asking != Asking::apart_renamed) out["asking"] = to_string(value.asking);
}

void from_json(const Json& in, SearchSettings& value) {
  for (const SettingRange& range : kRanges) read_field(in, std::string(range.name).c_str(), value.*range.field);
  read_field(in, "memory_positive", value.memory_positive);
  read_field(in, "memory_negative", value.memory_negative);
  read_field(in, "near_roofline", value.near_roofline);
  for (const auto& [strategy, name] : kStrategies) {
    if (in.value("strategy", std::string("beam")) == name) value.strategy = strategy;
  }
  value.rules = in.value("rules", std::string("standard")) == "paper" ? Rules::paper : Rules::standard;
  // A run of before there was a choice had the queue.
  value.recall = in.value("recall", std::string("queue")) == "ranked" ? Recall::ranked : Recall::queue;
  value.asking = Asking::apart_renamed;
  for (const auto& [asking, name] : kAskings) {
    if (in.value("asking", std::string()) == name) value.asking = asking;
  }
  read_field(in, "memory_everything", value.memory_everything);
  read_field(in, "exclude_family", value.exclude_family);
  read_field(in, "max_seconds", value.max_seconds);
  read_field(in, "max_device_seconds", value.max_device_seconds);
  read_field(in, "max_evaluations", value.max_evaluations);
  read_field(in, "max_tokens", value.max_tokens);
  read_field(in, "max_usd", value.max_usd);
}

}  // namespace accelopt::search
