// SPDX-License-Identifier: Apache-2.0
#include "search/settings.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/json_fields.hpp"

namespace accelopt::search {

using base::ErrorCode;
using base::fail;
using base::Json;

namespace {

constexpr auto kStrategies = std::to_array<base::Named<Strategy>>({
    {Strategy::beam, "beam"},
    {Strategy::greedy, "greedy"},
    {Strategy::repeated_sampling, "repeated-sampling"},
});

constexpr auto kAskings = std::to_array<base::Named<Asking>>({
    {Asking::apart_renamed, "apart-renamed"},
    {Asking::apart, "apart"},
    {Asking::together, "together"},
});

constexpr auto kRules = std::to_array<base::Named<Rules>>({{Rules::standard, "standard"}, {Rules::paper, "paper"}});
constexpr auto kRecalls = std::to_array<base::Named<Recall>>({{Recall::queue, "queue"}, {Recall::ranked, "ranked"}});

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

/// What a reviewer can compare in pairs.
constexpr int kMostDevelopers = 6;

/// Not a number, and no end, are no limits.
bool is_limit(double value) {
  return value > 0 && std::isfinite(value);
}

}  // namespace

base::Result<SearchSettings> preset(std::string_view name) {
  SearchSettings settings;
  if (name == "default" || name == kNkiBench) return settings;
  if (name != "paper") {
    return fail(ErrorCode::invalid_argument,
                "unknown preset \"" + std::string(name) + "\"; known are default, nkibench and paper");
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
  if (settings.developers < 0 || settings.developers > kMostDevelopers) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("developers is {}; it must be 0 to {}", settings.developers, kMostDevelopers));
  }
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
  if (settings.enough != 0 && !(settings.enough > 1 && std::isfinite(settings.enough))) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("enough is {}; it must be a speed-up over 1, or 0 (never stops for that)", settings.enough));
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
  return base::name_in(kStrategies, strategy);
}

base::Result<Strategy> parse_strategy(std::string_view name) {
  if (const auto strategy = base::value_in(kStrategies, name)) return *strategy;
  return fail(ErrorCode::invalid_argument,
              "unknown strategy \"" + std::string(name) + "\"; known are beam, greedy and repeated-sampling");
}

std::string_view to_string(Recall recall) {
  return base::name_in(kRecalls, recall);
}

base::Result<Recall> parse_recall(std::string_view name) {
  if (const auto recall = base::value_in(kRecalls, name)) return *recall;
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
  Json parsed = base::json_or_discarded(value);
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

ACCELOPT_JSON(SearchSettings) {
  for (const SettingRange& range : kRanges) field.optional(std::string(range.name).c_str(), it.*range.field);
  field.optional("memory_positive", it.memory_positive, "memory_negative", it.memory_negative, "near_roofline",
                 it.near_roofline, "memory_everything", it.memory_everything, "exclude_family", it.exclude_family,
                 "max_seconds", it.max_seconds, "max_device_seconds", it.max_device_seconds, "max_evaluations",
                 it.max_evaluations, "max_tokens", it.max_tokens, "max_usd", it.max_usd);
  // Left out where there are none, as in what was recorded before there were any.
  if (Field::kReads || it.developers != 0) field.optional("developers", it.developers);
  if (Field::kReads || it.enough != 0) field.optional("enough", it.enough);
  // What a run of before there was a choice had. It has no field of how plans are asked for, and its steps are found
  // by what it has.
  if constexpr (Field::kReads) {
    it.recall = Recall::queue;
    it.asking = Asking::apart_renamed;
  }
  field.optional_name("strategy", it.strategy, kStrategies);
  field.optional_name("rules", it.rules, kRules);
  field.optional_name("recall", it.recall, kRecalls);
  if (Field::kReads || it.asking != Asking::apart_renamed) field.optional_name("asking", it.asking, kAskings);
}

int plans_for(const SearchSettings& settings, std::size_t place, std::size_t beam) {
  if (settings.developers == 0) return settings.plans;
  const auto all = static_cast<std::size_t>(settings.developers);
  return static_cast<int>(all / beam + (place < all % beam ? 1 : 0));
}

int most_attempts(const SearchSettings& settings) {
  const int plans = settings.developers > 0 ? settings.developers : beam_width(settings) * settings.plans;
  return plans * settings.attempts;
}

int most_evaluations(const SearchSettings& settings) {
  const int attempts = settings.iterations * most_attempts(settings);
  return std::min(attempts, settings.max_evaluations.value_or(attempts));
}

int beam_width(const SearchSettings& settings) {
  return settings.strategy == Strategy::greedy ? 1 : settings.beam;
}

}  // namespace accelopt::search
