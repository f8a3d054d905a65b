// SPDX-License-Identifier: Apache-2.0
// An archive in which all hashes are right, and a run that says of itself what no run does.
#include "app/verification.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "base/files.hpp"
#include "base/tar.hpp"

namespace accelopt::app {
namespace {

using base::Json;

class VerifiedArchive : public testing::Test {
 protected:
  VerifiedArchive() {
    const auto bytes = base::read_file(std::string(ACCELOPT_FIXTURES) + "/evidence-2.tar");
    evidence_ = unpack_evidence(base::read_tar(bytes.value()).value()).value();
  }

  void measured_with(const char* setting, const Json& value) { evidence_.run.settings["measure"][setting] = value; }
  void change(model::StepKind kind, const std::function<void(Json&)>& change) {
    for (journal::StepRecord& step : evidence_.steps) {
      if (model::step_kind(step.key.kind) == kind) change(step.output);
    }
  }
  /// The check of that name, of the archive as it is now.
  EvidenceCheck check(const std::string& name) {
    const auto verified = verify_evidence(pack_evidence(evidence_).value(), {});
    EXPECT_TRUE(verified) << verified.error().message;
    if (!verified) return {};
    for (const EvidenceCheck& one : verified->checks) {
      if (one.name == name) return one;
    }
    ADD_FAILURE() << "no check " << name << "; the last was " << verified->checks.back().text;
    return {};
  }
  void expect_refused(const std::string& name, const std::string& words) {
    const EvidenceCheck found = check(name);
    EXPECT_EQ(found.state, CheckState::failed);
    EXPECT_NE(found.text.find(words), std::string::npos) << found.text;
  }

  Evidence evidence_;
};

TEST_F(VerifiedArchive, AsItWas_NumbersPass) {
  const EvidenceCheck found = check("numbers");
  EXPECT_EQ(found.state, CheckState::passed) << found.text;
  EXPECT_NE(found.text.find("(1) leave out how far restarts lie apart"), std::string::npos) << found.text;
}

TEST_F(VerifiedArchive, ProtocolThatTheRulesDoNotGive_Refused) {
  for (const char* const protocol : {"paper", "verify"}) {
    measured_with("protocol", protocol);
    expect_refused("record", std::string("by the protocol \"") + protocol + "\"");
  }
}

TEST_F(VerifiedArchive, PaperRules_ConfirmationIsCheckedAllTheSame) {
  measured_with("protocol", "paper");
  evidence_.run.settings["search"]["rules"] = "paper";
  change(model::StepKind::playoff, [](Json& output) { output.erase("samples"); });
  const EvidenceCheck found = check("numbers");
  EXPECT_EQ(found.state, CheckState::passed) << found.text;
  EXPECT_NE(found.text.find("races (2) are means"), std::string::npos) << found.text;
  change(model::StepKind::confirm, [](Json& output) {
    for (const char* const end : {"estimate", "low", "high"}) output["ratio"][end] = 100.0;
  });
  expect_refused("numbers", "the ratio is 100");
}

TEST_F(VerifiedArchive, ClockThatIsNotTheRuns_Refused) {
  for (const char* const clock : {"deterministic", "modelled"}) {
    change(model::StepKind::confirm, [&](Json& output) { output["environment"]["clock"] = clock; });
    expect_refused("numbers", std::string("its clock is \"") + clock + "\"");
  }
}

TEST_F(VerifiedArchive, ClockThatTheTargetCannotHave_Refused) {
  for (const model::StepKind kind : {model::StepKind::triage, model::StepKind::confirm})
    change(kind, [](Json& output) { output["environment"]["clock"] = "deterministic"; });
  change(model::StepKind::open, [](Json& output) { output["baseline"]["environment"]["clock"] = "deterministic"; });
  expect_refused("numbers", "no device of target cpu has a clock \"deterministic\"");
}

TEST_F(VerifiedArchive, SamplesBeyondTheDecision_Refused) {
  change(model::StepKind::confirm, [](Json& output) { output["samples"].push_back(output["samples"][0]); });
  expect_refused("numbers", "go on after the decision");
}

TEST_F(VerifiedArchive, RaceBeyondItsDecision_Refused) {
  change(model::StepKind::triage, [](Json& output) { output["samples"].push_back(output["samples"][0]); });
  expect_refused("numbers", "go on after the decision");
}

TEST_F(VerifiedArchive, WeakerRulesThanAnyVersions_Refused) {
  const Json before = evidence_.run.settings;
  for (const auto& [setting, value] : std::vector<std::pair<const char*, Json>>{{"confirm_restarts", 1},
                                                                                {"confirm_min_blocks", 2},
                                                                                {"confirm_half_width", 0.5},
                                                                                {"playoff_min_blocks", 2}}) {
    evidence_.run.settings = before;
    measured_with(setting, value);
    expect_refused("numbers", std::string(setting) + " is");
  }
}

TEST_F(VerifiedArchive, RegressionThatAFlagAllowed_IsShown) {
  measured_with("allow_regression", 0.5);
  EXPECT_NE(check("numbers").text.find("workloads may be up to 50 % slower"), std::string::npos);
}

TEST_F(VerifiedArchive, SettingsOfNoMeasurement_RefusedByName) {
  const Json before = evidence_.run.settings;
  for (const auto& [setting, value] : std::vector<std::pair<const char*, Json>>{{"confirm_max_blocks", 0},
                                                                                {"confirm_min_blocks", 2147483647},
                                                                                {"confirm_restarts", 0},
                                                                                {"playoff_min_blocks", 49},
                                                                                {"playoff_max_blocks", -1},
                                                                                {"allow_regression", 1e308}}) {
    evidence_.run.settings = before;
    measured_with(setting, value);
    expect_refused("record", setting);
  }
}

TEST_F(VerifiedArchive, LessonsOfOtherRuns_AreCountedOnce) {
  journal::StepRecord recall = evidence_.steps.back();
  recall.key.kind = "recall";
  recall.output = Json::array({{{"id", "a"}, {"run", "another"}}, {{"id", "b"}, {"run", evidence_.run.id}}});
  for (const int parent : {0, 1}) {
    recall.key.identity = {.iteration = 0, .parent = parent};
    evidence_.steps.push_back(recall);
  }
  const auto verified = verify_evidence(pack_evidence(evidence_).value(), {});
  ASSERT_TRUE(verified) << verified.error().message;
  EXPECT_EQ(verified->recalled, 1);
  EXPECT_EQ(to_json(*verified)["recalled"], 1);
}

}  // namespace
}  // namespace accelopt::app
