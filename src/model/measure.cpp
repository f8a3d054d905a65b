// SPDX-License-Identifier: Apache-2.0
#include "model/measure.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"

namespace accelopt::model {
namespace {

constexpr Measure kTime = {.goal = "time",
                           .better = "faster",
                           .worse = "slower",
                           .gain = "speed-up",
                           .by_workload = "speed-up",
                           .ratio = "the old time / the new time",
                           .than = "its parent's speed",
                           .makes = "run {} as fast",
                           .runs = "runs {} as fast",
                           .wanted = "less processor time"};

constexpr Measure complexity() {
  Measure measure = kTime;
  measure.goal = "complexity";
  measure.wanted = "a lower complexity";
  return measure;
}

constexpr auto kMeasures = std::to_array<Measure>({
    kTime,
    complexity(),
    {.goal = "memory",
     .better = "smaller",
     .worse = "larger",
     .gain = "memory saved",
     .by_workload = "memory saved",
     .ratio = "the old peak of memory / the new one, both besides the start-up",
     .than = "as small as its parent's peak of memory",
     .makes = "have a peak of memory besides its start-up {} as small",
     .runs = "has a peak of memory besides its start-up {} as small",
     .wanted = "a smaller peak of memory"},
    {.goal = "readability",
     .better = "simpler",
     .worse = "more complex",
     .gain = "complexity saved",
     .by_workload = "time, old / new",
     .ratio = "the old cognitive complexity / the new one, one added to both",
     .than = "as low as its parent's cognitive complexity",
     .makes = "have a cognitive complexity {} as low",
     .runs = "has a cognitive complexity {} as low",
     .wanted = "simpler code, by cognitive complexity"},
});

}  // namespace

const Measure& measure_of(std::string_view goal) {
  const auto* const found = std::ranges::find(kMeasures, goal, &Measure::goal);
  return found == kMeasures.end() ? kTime : *found;
}

const Measure& measure_of(const Task& task) {
  return measure_of(task.repo ? std::string_view(task.definition.op_type) : std::string_view());
}

std::string compared(const Measure& measure, std::string_view ratio, std::string_view with) {
  return fmt::format("{} as {}", fmt::format(fmt::runtime(measure.runs), ratio), with);
}

std::string verdict_word(Verdict verdict, const Measure& measure) {
  if (verdict == Verdict::faster) return std::string(measure.better);
  if (verdict == Verdict::slower) return std::string(measure.worse);
  return base::lower(to_string(verdict));
}

}  // namespace accelopt::model
