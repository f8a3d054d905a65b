// SPDX-License-Identifier: Apache-2.0
#include "cli/verdict_text.hpp"

#include <gtest/gtest.h>

namespace accelopt::cli {
namespace {

using model::Verdict;

model::Evaluation raced(Verdict verdict, model::Interval ratio, model::DecidedBy decided_by = model::DecidedBy::race) {
  model::Evaluation evaluation;
  evaluation.status = model::Status::passed;
  evaluation.verdict = verdict;
  evaluation.ratio = ratio;
  evaluation.blocks = 8;
  evaluation.decided_by = decided_by;
  return evaluation;
}

TEST(VerdictText, SaysWhatWasDecidedAndWhy) {
  EXPECT_EQ(decision_text(raced(Verdict::faster, {9.123, 9.05, 9.2})),
            "PASSED, FASTER: 9.12x [9.05, 9.20] of the baseline's speed; the whole interval lies above 1 (8 blocks)");
  EXPECT_EQ(decision_text(raced(Verdict::slower, {0.5, 0.4, 0.6})),
            "PASSED, SLOWER: 0.50x [0.40, 0.60] of the baseline's speed; the whole interval lies below 1 (8 blocks)");
  EXPECT_NE(decision_text(raced(Verdict::slower, {0.5, 0.2, 1.2})).find("its first blocks were all clearly slower"),
            std::string::npos);
  EXPECT_NE(decision_text(raced(Verdict::tie, {1, 0.99, 1.01})).find("no difference that counts"), std::string::npos);
  EXPECT_NE(decision_text(raced(Verdict::undecided, {1.02, 0.9, 1.2}, model::DecidedBy::cap))
                .find("the time for measuring ended"),
            std::string::npos);
}

TEST(VerdictText, AConfirmationSaysWhereItWasMade) {
  model::Evaluation evaluation = raced(Verdict::faster, {2, 1.9, 2.1});
  evaluation.kind = model::EvaluationKind::confirm;
  EXPECT_NE(decision_text(evaluation).find("confirmed in fresh processes on fresh inputs"), std::string::npos);
}

TEST(VerdictText, AFailureSaysWhatFailed) {
  model::Evaluation evaluation;
  evaluation.status = model::Status::incorrect_numerical;
  evaluation.reason = "workload raced: output y: 1 instead of 2 at index 3";
  EXPECT_EQ(decision_text(evaluation), "INCORRECT_NUMERICAL: workload raced: output y: 1 instead of 2 at index 3");
}

TEST(VerdictText, TimesOfAProfileAreReadable) {
  model::Evaluation evaluation = raced(Verdict::faster, {2, 1.9, 2.1});
  evaluation.profile = model::Profile{{{"cold time", 12553, "us", "median"}, {"code", 1280000, "B", "size"}}, {}};
  const std::string text = verdict_page({}, evaluation).to_text();
  EXPECT_NE(text.find("  cold time: 12.6 ms (median)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  code: 1,280,000 B (size)\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("e+"), std::string::npos) << text;
}

TEST(VerdictText, WhatAWorkerWroteObeysNoTerminal) {
  const std::string wild = "a\x1b]0;t\x07\x1b[2J";
  model::Evaluation evaluation = raced(Verdict::faster, {2, 1.9, 2.1});
  evaluation.reason = evaluation.trust = evaluation.environment.isolation = wild;
  evaluation.profile = model::Profile{{{wild, 1, wild, wild}}, {wild}, {wild}};
  evaluation.notes = {wild};
  evaluation.workloads.resize(1);
  evaluation.workloads[0].name = wild;
  const std::string text = verdict_page({}, evaluation).to_text();
  EXPECT_EQ(text.find_first_of("\x1b\x07"), std::string::npos) << text;
  EXPECT_NE(text.find("compiler: a"), std::string::npos) << text;
}

}  // namespace
}  // namespace accelopt::cli
