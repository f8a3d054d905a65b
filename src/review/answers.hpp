// SPDX-License-Identifier: Apache-2.0
// What a reviewer answers: six rubric items with quotes, objections that can be run, and which of two changes is
// better.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "refactor/probe.hpp"

namespace accelopt::review {

enum class Item { behaviour, edge_cases, state, api, simplicity, fit };
inline constexpr std::size_t kItems = 6;
std::string_view to_string(Item item);

inline constexpr int kHighestScore = 4;

/// One item. Void where its quote does not stand in the diff: it counts nothing.
struct Score {
  int score = 0;
  std::string quote;
  bool holds = false;
};

struct Rubric {
  std::array<Score, kItems> items;
  /// Of the items that hold: 0 to 24.
  [[nodiscard]] int sum() const;
  /// Whether any of the four items about correctness has a quote that holds and at most this score.
  [[nodiscard]] bool doubts(int most) const;
};

/// A claim that a change is wrong, in a form that can be run.
struct Objection {
  std::string why;
  refactor::Probe probe;
};
inline constexpr std::size_t kMostObjections = 4;

struct Opinion {
  Rubric rubric;
  std::vector<Objection> objections;
};

/// Which of the two that were shown.
enum class Better { first, second, equal };
std::string_view to_string(Better better);

struct PairAnswer {
  Better better = Better::equal;
  std::string why;
};

/// Whether the quote occurs in the diff word for word: in its text, or in its lines without their marks.
bool occurs_in(std::string_view quote, std::string_view diff);

/// @error parse: it is no answer of that form; the message says what is wrong, to be told to whoever answered.
base::Result<Opinion> read_opinion(std::string_view answer, std::string_view diff);
/// What stands in the answer's list of this name, the first `most` of it; where there is none, nothing. @error parse.
base::Result<std::vector<Objection>> read_objections(std::string_view answer, const char* list, std::size_t most);
/// The letters of the two as they were shown. @error parse.
base::Result<PairAnswer> read_pair(std::string_view answer, std::string_view first, std::string_view second);

}  // namespace accelopt::review
