// SPDX-License-Identifier: Apache-2.0
// How often a reviewer is right, found on changes of which that is known, and what it may do by that.
#pragma once

#include <optional>
#include <string>

#include "base/json.hpp"
#include "model/usage.hpp"
#include "review/decision.hpp"
#include "stats/estimate.hpp"

namespace accelopt::review {

struct Share {
  int hits = 0;
  int of = 0;
  [[nodiscard]] double value() const { return of > 0 ? static_cast<double>(hits) / of : 0; }
  void count(std::optional<bool> hit);  ///< none: there was no answer
};
/// Wilson's 95 % score interval; 0 to 1 without any.
stats::Interval wilson(const Share& share);

/// What a calibration found of one model.
struct Rates {
  std::string model;
  std::string created;  ///< UTC, ISO 8601
  std::string set;      ///< hash of the pairs and prompts that were asked
  int pairs = 0;
  Share recall;        ///< planted defects that an objection, run, stopped
  Share noticed;       ///< planted defects that it doubted or objected to, whether it proved it or not
  Share false_alarms;  ///< clean changes that it doubted or objected to
  Share void_objections;
  Share void_quotes;    ///< rubric items whose quote does not stand in the diff
  Share unreadable;     ///< questions without a readable answer
  Share prefers_clean;  ///< pairs where it chose the clean change in both orders
  Share flips;          ///< pairs that it answered otherwise in the other order
  Share first_shown;    ///< answers about pairs that chose what was shown first
  /// Equal changes, of which one has bait: chosen for it in both orders.
  Share dead_code;
  Share comment;
  Share author;
  Share own;  ///< "you wrote this"
  model::Usage usage;
};
void to_json(base::Json& out, const Rates& rates);
void from_json(const base::Json& in, Rates& rates);

inline constexpr double kLeastRecall = 0.5;
inline constexpr double kMostFlips = 0.15;
/// Fewer say too little: of 20, even 10 recalled tell of no more than 30 to 70 %.
inline constexpr int kLeastPairs = 20;

struct Standing {
  Weight weight = Weight::advises;
  std::string why;
};
Standing standing_of(const std::optional<Rates>& rates);

}  // namespace accelopt::review
