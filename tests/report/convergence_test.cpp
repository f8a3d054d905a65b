// SPDX-License-Identifier: Apache-2.0
#include "report/convergence.hpp"

#include <gtest/gtest.h>

namespace accelopt::report {
namespace {

using base::Json;
using journal::StepRecord;
using std::chrono::milliseconds;

StepRecord taken(const std::string& kind, int begin_ms, int end_ms, const Json& output = Json::object(),
                 int iteration = -1) {
  return {{{.iteration = iteration}, kind}, "in", output, {}, milliseconds(begin_ms), milliseconds(end_ms - begin_ms)};
}

Json raced(const std::string& source) {
  return {{"source_id", source}, {"tuning", nullptr}};
}

Json beam(int iteration, const std::vector<std::pair<std::string, double>>& members) {
  Json out = {{"iteration", iteration}, {"beam", Json::array()}};
  for (const auto& [source, score] : members) out["beam"].push_back({{"source", source}, {"score", score}});
  return out;
}

Json improved(double speedup, const std::string& winner) {
  return {{"speedup", {{"estimate", speedup}, {"low", speedup}, {"high", speedup}}}, {"solution_id", winner}};
}

/// Four candidates: a (2x), b (3.9x) and, in the second round, c (4x, confirmed with 4x).
std::vector<StepRecord> four_candidates() {
  return {
      taken("session:1", 0, 0),
      taken("recall", 0, 100, Json::array()),
      taken("build:a", 1000, 1500),
      taken("triage:ma", 1500, 2000, raced("a")),
      taken("build:b", 1500, 2500),
      taken("triage:mb", 2500, 4000, raced("b")),
      taken("build:x", 2500, 5000),
      taken("playoff", 5000, 6000, Json::object(), 0),
      taken("build:c", 6000, 6500, Json::object()),
      taken("triage:mc", 6500, 8000, raced("c")),
      taken("playoff", 8000, 9000, Json::object(), 1),
      taken("confirm:c", 9000, 10000, raced("c")),
      taken("decisions", 10000, 10000, {beam(1, {{"b", 3.9}, {"a", 2}}), beam(2, {{"c", 4}, {"b", 3.9}})}),
  };
}

TEST(Convergence, IsTheFirstCandidateWithMostOfTheConfirmedGain) {
  const Convergence found = convergence_of(four_candidates(), improved(4, "c"));

  EXPECT_EQ(found.evaluations, 2) << "b has 97 % of the gain; the build of x was still under way";
  EXPECT_DOUBLE_EQ(*found.seconds, 4);
  EXPECT_EQ(found.recalled, 0);
}

TEST(Convergence, TheWinnerCountsWhateverItsPlayOffSaid) {
  const Convergence found = convergence_of(four_candidates(), improved(5, "c"));

  EXPECT_EQ(found.evaluations, 4);
  EXPECT_DOUBLE_EQ(*found.seconds, 8);
}

TEST(Convergence, ATunedCandidateIsFoundByItsOpenSource) {
  auto list = four_candidates();
  list[3].output = {{"source_id", "chosen"}, {"tuning", {{"source_id", "b"}}}};
  EXPECT_DOUBLE_EQ(*convergence_of(list, improved(4, "c")).seconds, 2);
}

TEST(Convergence, WhereTheRaceIsNotToldThePlayOffIs) {
  auto list = four_candidates();
  list[9].output = raced("another source of the same machine code");
  EXPECT_DOUBLE_EQ(*convergence_of(list, improved(5, "c")).seconds, 9);
}

TEST(Convergence, ASecondSessionGoesOnWhereTheFirstEnded) {
  auto list = four_candidates();
  list.insert(list.begin() + 4, taken("session:2", 0, 0));
  EXPECT_DOUBLE_EQ(*convergence_of(list, improved(4, "c")).seconds, 6) << "2 s of the first, 4 s of the second";
}

TEST(Convergence, WithoutAConfirmedGainThereIsNone) {
  for (const Json& result : {Json(), Json{{"speedup", nullptr}}, improved(1, "")}) {
    const Convergence found = convergence_of(four_candidates(), result);
    EXPECT_EQ(found.evaluations, std::nullopt);
    EXPECT_EQ(found.seconds, std::nullopt);
  }
}

TEST(Convergence, RecallsAreCounted) {
  auto list = four_candidates();
  list[1].output = {Json::object(), Json::object()};
  list.push_back(taken("recall", 6000, 6000, Json::array({Json::object()}), 1));
  EXPECT_EQ(convergence_of(list, Json()).recalled, 3);
}

}  // namespace
}  // namespace accelopt::report
