// SPDX-License-Identifier: Apache-2.0
#include "evaluation/judge.hpp"

#include <gtest/gtest.h>

#include "evaluation/fake_task.hpp"
#include "fakes/fake_evaluator.hpp"

namespace accelopt::evaluation {
namespace {

using model::Status;
using model::Verdict;

/// A machine whose races and confirmations look the build up and tell it as a stage, as workers of before do.
class Machine final : public fakes::FakeEvaluator {
 public:
  base::Result<model::Evaluation> triage(const model::Solution& candidate, const model::Solution& opponent,
                                         std::stop_token stop) override {
    return with_stages(FakeEvaluator::triage(candidate, opponent, std::move(stop)), model::Stage::triage);
  }
  base::Result<model::Evaluation> confirm(const model::Solution& solution, std::stop_token stop) override {
    return with_stages(FakeEvaluator::confirm(solution, std::move(stop)), model::Stage::confirm);
  }

 private:
  static base::Result<model::Evaluation> with_stages(base::Result<model::Evaluation> made, model::Stage stage) {
    made->stages = {{model::Stage::build, 0.001}, {model::Stage::verify, 1}, {stage, 2}};
    return made;
  }
};

std::vector<std::string> names_of(const std::vector<model::StageTime>& stages) {
  std::vector<std::string> names;
  for (const model::StageTime& stage : stages) names.emplace_back(to_string(stage.stage));
  return names;
}

using Names = std::vector<std::string>;

class Judge : public testing::Test {
 protected:
  base::Outcome<Judgement> judge_text(const std::string& text, const JudgeOptions& options = {}) {
    return judge(machine, model::Kernel(source(text)), model::Kernel(baseline), options);
  }
  /// As a search does, against the baseline.
  base::Outcome<Judgement> judge_known(const std::string& text) {
    const model::Kernel parent(baseline);
    const std::string code = machine.build(baseline, {})->machine_code_id;
    machine.builds = 0;
    const KnownPrograms known{parent.id(), code, by_source, by_code};
    return judge_text(text, {.known = &known});
  }

  Machine machine;
  model::Solution baseline = source("speed=1");
  model::Evaluation opened = machine.open(task(), {}, {})->baseline;
  KnownEvaluations by_source, by_code;
};

TEST_F(Judge, DoesNotBuild_IsACompileError) {
  opened.environment.device = "here";

  const auto judged = judge_text("compile_error", {.opened = &opened});

  const model::Evaluation& evaluation = judged.value().evaluation;
  EXPECT_EQ(evaluation.status, Status::compile_error);
  EXPECT_EQ(evaluation.reason, "line 1: compile_error");
  EXPECT_EQ(evaluation.source_id, model::source_id(source("compile_error")));
  EXPECT_EQ(evaluation.environment.device, "here");
  EXPECT_EQ(evaluation.trust, "isolated");
  EXPECT_EQ(names_of(evaluation.stages), Names{"build"});
  EXPECT_DOUBLE_EQ(evaluation.stages[0].seconds, 0.25);
  EXPECT_EQ(machine.triages, 0);
}

TEST_F(Judge, Wrong_IsNeitherConfirmedNorProfiled) {
  const auto judged = judge_text("wrong", {.confirm = true, .profile = true});

  EXPECT_EQ(judged.value().evaluation.status, Status::incorrect_numerical);
  EXPECT_EQ(judged->evaluation.machine_code_id, judged->build->machine_code_id);
  EXPECT_EQ(names_of(judged->evaluation.stages), (Names{"build", "verify", "triage"}));
  EXPECT_EQ(machine.confirms + machine.profiles, 0);
}

TEST_F(Judge, Slower_KeepsTheRacesVerdict) {
  const auto judged = judge_text("speed=0.5", {.opened = &opened});

  EXPECT_EQ(judged.value().evaluation.verdict, Verdict::slower);
  EXPECT_EQ(judged->evaluation.source_id, model::source_id(source("speed=0.5")));
  EXPECT_FALSE(judged->chosen);
}

TEST_F(Judge, MachineCodeOfTheBaseline_IsATie) {
  opened.machine_code_id = machine.build(source("speed=2"), {})->machine_code_id;

  const auto judged = judge_text("speed=2\nnote", {.opened = &opened});

  EXPECT_EQ(judged.value().evaluation.verdict, Verdict::tie);
  EXPECT_TRUE(judged->evaluation.reason.starts_with("the same machine code as the baseline"));
  EXPECT_EQ(machine.triages, 1);
}

TEST_F(Judge, Tuned_IsTheChosenConfiguration) {
  const model::Solution open = source("//@ tune A in {1, 2}\nspeed=2");

  const auto judged = judge_text(model::main_text(open), {.opened = &opened, .confirm = true});

  const model::Solution chosen = model::with_values(open, {2});
  ASSERT_TRUE(judged.value().chosen);
  EXPECT_EQ(judged->chosen->solution(), chosen);
  EXPECT_EQ(judged->evaluation.source_id, model::source_id(chosen));
  EXPECT_EQ(judged->evaluation.machine_code_id, machine.build(chosen, {})->machine_code_id);
  EXPECT_EQ(judged->evaluation.tuning->source_id, model::source_id(open));
}

TEST_F(Judge, ValuesOfOtherNames_AreAnError) {
  class Liar final : public fakes::FakeEvaluator {
    base::Result<model::Evaluation> triage(const model::Solution& candidate, const model::Solution& opponent,
                                           std::stop_token stop) override {
      auto raced = FakeEvaluator::triage(candidate, opponent, std::move(stop));
      raced->tuning->chosen = {1, 2, 3};
      return raced;
    }
  } liar;

  const auto judged = judge(liar, model::Kernel(source("//@ tune A in {1, 2}\n")), model::Kernel(baseline), {});

  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().code, base::ErrorCode::parse);
}

TEST_F(Judge, Confirmed_HasTheStagesOfBoth) {
  const auto judged = judge_text("speed=2", {.opened = &opened, .confirm = true, .profile = true});

  EXPECT_EQ(judged.value().evaluation.kind, model::EvaluationKind::confirm);
  EXPECT_EQ(names_of(judged->evaluation.stages), (Names{"build", "verify", "triage", "verify", "confirm"}));
  EXPECT_EQ(judged->evaluation.profile->items.front().name, "speed");
}

TEST_F(Judge, BuiltAlready_IsNotBuiltAgain) {
  model::BuildReport build = machine.build(source("speed=2"), {}).value();
  build.seconds = 7;

  const auto judged = judge_text("speed=2", {.build = build});

  EXPECT_EQ(machine.builds, 1);
  EXPECT_DOUBLE_EQ(judged.value().evaluation.stages.front().seconds, 7);
}

TEST_F(Judge, MachineThatOnlyBuilds_SaysThatItBuilds) {
  opened.status = Status::not_measured;
  opened.reason = "no device";

  const auto judged = judge_text("speed=2", {.opened = &opened, .profile = true});

  EXPECT_EQ(judged.value().evaluation.status, Status::not_measured);
  EXPECT_EQ(judged->evaluation.reason, "no device");
  EXPECT_EQ(judged->evaluation.machine_code_id, judged->build->machine_code_id);
  EXPECT_EQ(names_of(judged->evaluation.stages), Names{"build"});
  EXPECT_EQ(machine.triages + machine.profiles, 0);
}

TEST_F(Judge, Ending_StopsBeforeTheStep) {
  std::vector<JudgeStep> begun;
  const auto judged = judge_text("speed=2", {.begin = [&](JudgeStep step) -> base::Outcome<void> {
                                   begun.push_back(step);
                                   if (step == JudgeStep::race) return base::ending("enough");
                                   return {};
                                 }});

  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().why, base::Why::ending);
  EXPECT_EQ(begun, (std::vector{JudgeStep::build, JudgeStep::race}));
  EXPECT_EQ(machine.triages, 0);
}

TEST_F(Judge, SourceThatNoCompilerNeeds_IsNotBuilt) {
  const std::map<std::string, std::string> refused{{" \n", "the source is empty"},
                                                   {std::string("a\0b", 3), "the source holds a NUL byte"},
                                                   {std::string(300'000, 'x'), "the source is larger than 256 KiB"}};
  for (const auto& [text, reason] : refused) {
    const auto judged = judge_known(text);

    EXPECT_EQ(judged.value().evaluation.status, Status::compile_error);
    EXPECT_EQ(judged->evaluation.reason, reason);
    EXPECT_TRUE(judged->evaluation.stages.empty());
    EXPECT_EQ(machine.builds, 0);
  }
}

TEST_F(Judge, SourceOfTheOpponent_IsNotBuilt) {
  const auto judged = judge_known("speed=1");

  EXPECT_TRUE(judged.value().known);
  EXPECT_EQ(judged->evaluation.verdict, Verdict::tie);
  EXPECT_EQ(judged->evaluation.duplicate_of, model::source_id(baseline));
  EXPECT_EQ(machine.builds, 0);
}

TEST_F(Judge, MachineCodeOfTheOpponent_IsNotRaced) {
  const auto judged = judge_known("speed=1\nnote");

  EXPECT_TRUE(judged.value().known);
  EXPECT_EQ(judged->evaluation.source_id, model::source_id(source("speed=1\nnote")));
  EXPECT_EQ(machine.triages, 0);
}

TEST_F(Judge, KnownProgram_GetsItsVerdict) {
  model::Evaluation known;
  known.status = Status::incorrect_numerical;
  known.source_id = "first";
  known.stages = {{model::Stage::triage, 1}};
  by_code[machine.build(source("speed=3"), {})->machine_code_id] = std::make_shared<model::Evaluation>(known);

  const auto judged = judge_known("speed=3\nnote");

  EXPECT_TRUE(judged.value().known);
  EXPECT_EQ(judged->evaluation.status, Status::incorrect_numerical);
  EXPECT_EQ(judged->evaluation.duplicate_of, "first");
  EXPECT_TRUE(judged->evaluation.stages.empty());
  EXPECT_EQ(machine.triages, 0);
}

TEST_F(Judge, ProgramKnownFromAnotherOpponent_HasItsTimesAndNoRatio) {
  const model::Evaluation first = machine.triage(source("speed=2"), source("speed=4"), {}).value();
  const model::Evaluation again = machine.triage(source("speed=3"), baseline, {}).value();
  by_code[first.machine_code_id] = std::make_shared<model::Evaluation>(first);
  by_code[again.machine_code_id] = std::make_shared<model::Evaluation>(again);

  const auto other = judge_known("speed=2\nnote");
  const auto same = judge_known("speed=3\nnote");

  EXPECT_TRUE(other.value().known);
  EXPECT_EQ(other->evaluation.status, Status::passed);
  EXPECT_EQ(other->evaluation.verdict, Verdict::none);
  EXPECT_FALSE(other->evaluation.ratio);
  EXPECT_EQ(other->evaluation.workloads.at(0).time_ns, first.workloads.at(0).time_ns);
  EXPECT_EQ(same.value().evaluation.verdict, Verdict::faster);
  EXPECT_DOUBLE_EQ(same->evaluation.ratio.value().estimate, 3);
}

TEST_F(Judge, ConfigurationThatIsKnown_KeepsItsOwnTuning) {
  const model::Solution open = source("//@ tune A in {1, 2}\nspeed=2");
  const model::Solution chosen = model::with_values(open, {2});
  model::Evaluation first;
  first.source_id = "first";
  by_code[machine.build(chosen, {})->machine_code_id] = std::make_shared<model::Evaluation>(first);

  const auto judged = judge_known(model::main_text(open));

  EXPECT_TRUE(judged.value().known);
  EXPECT_EQ(judged->evaluation.duplicate_of, "first");
  EXPECT_EQ(judged->evaluation.source_id, model::source_id(chosen));
  EXPECT_EQ(judged->evaluation.tuning->source_id, model::source_id(open));
  EXPECT_EQ(judged->chosen->solution(), chosen);
}

TEST_F(Judge, OpenSourceThatIsKnown_IsTheSameConfiguration) {
  const model::Solution open = source("//@ tune A in {1, 2}\nspeed=2");
  by_source[model::source_id(open)] =
      std::make_shared<model::Evaluation>(judge_known(model::main_text(open)).value().evaluation);

  const auto judged = judge_known(model::main_text(open));

  EXPECT_TRUE(judged.value().known);
  EXPECT_EQ(judged->chosen->solution(), model::with_values(open, {2}));
  EXPECT_EQ(machine.builds, 0);
}

}  // namespace
}  // namespace accelopt::evaluation
