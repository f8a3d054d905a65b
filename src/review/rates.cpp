// SPDX-License-Identifier: Apache-2.0
#include "review/rates.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/json_fields.hpp"

namespace accelopt::review {

void Share::count(std::optional<bool> hit) {
  if (!hit) return;
  ++of;
  if (*hit) ++hits;
}

stats::Interval wilson(const Share& share) {
  if (share.of == 0) return {.estimate = 0, .low = 0, .high = 1};
  constexpr double kZ = 1.959963984540054;  ///< of 95 %, two-sided
  const double n = share.of;
  const double p = share.value();
  const double middle = (p + kZ * kZ / (2 * n)) / (1 + kZ * kZ / n);
  const double half = kZ / (1 + kZ * kZ / n) * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n));
  // At both ends the formula gives 0 and 1 but for rounding.
  return {
      .estimate = p, .low = share.hits == 0 ? 0 : middle - half, .high = share.hits == share.of ? 1 : middle + half};
}

ACCELOPT_JSON(Share) {
  field.required("hits", it.hits, "of", it.of);
}

ACCELOPT_JSON(Rates) {
  field.required("model", it.model, "created", it.created, "set", it.set, "pairs", it.pairs, "recall", it.recall,
                 "noticed", it.noticed, "false_alarms", it.false_alarms, "void_objections", it.void_objections,
                 "void_quotes", it.void_quotes, "unreadable", it.unreadable, "prefers_clean", it.prefers_clean, "flips",
                 it.flips, "first_shown", it.first_shown, "dead_code", it.dead_code, "comment", it.comment, "author",
                 it.author, "own", it.own, "usage", it.usage);
}

Standing standing_of(const std::optional<Rates>& rates) {
  if (!rates) return {Weight::advises, "it was not calibrated; run accelopt review --calibrate"};
  if (rates->pairs < kLeastPairs)
    return {Weight::advises,
            fmt::format("it was calibrated on {} pairs, and {} are needed", rates->pairs, kLeastPairs)};
  std::string why;
  if (rates->recall.of == 0 || rates->recall.value() < kLeastRecall)
    why = fmt::format("it stopped {} of {} planted defects, under half", rates->recall.hits, rates->recall.of);
  if (rates->flips.of == 0 || rates->flips.value() > kMostFlips)
    why += fmt::format("{}{} of {} answers changed with the order, over 15 %", why.empty() ? "" : "; ",
                       rates->flips.hits, rates->flips.of);
  if (!why.empty()) return {Weight::advises, std::move(why)};
  return {Weight::decides,
          fmt::format("it stopped {} of {} planted defects, and changed {} of {} answers with the order",
                      rates->recall.hits, rates->recall.of, rates->flips.hits, rates->flips.of)};
}

}  // namespace accelopt::review
