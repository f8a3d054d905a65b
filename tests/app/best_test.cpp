// SPDX-License-Identifier: Apache-2.0
#include "app/best.hpp"

#include <gtest/gtest.h>

#include "app/package.hpp"
#include "app/reading_caller.hpp"
#include "app/user_build_race.hpp"
#include "app/winner.hpp"

namespace accelopt::app {
namespace {

TEST(Winner, OfAFailedRun_SaysHowToFinishIt) {
  journal::RunInfo run;
  run.id = "r1";
  run.status = model::RunStatus::failed;
  EXPECT_NE(winner_of(run).error().message.find("accelopt resume r1 --finish"), std::string::npos);
}

TEST(Winner, ASpeedUp_IsTheSolutionsOwn) {
  const auto journal = journal::open_memory_journal();
  ASSERT_TRUE(journal);
  journal::RunInfo run;
  run.id = "r1";
  run.task_name = "silu";
  run.created = "2026-01-01T00:00:00Z";
  run.settings = base::Json::object();
  run.task.definition.name = "silu";
  run.task.workloads = {{"large", {}, model::Role::race, 1.0}};
  run.task.baseline = {model::Language::cpp, {{"kernel.cpp", "void kernel();\n"}}};
  run.task.reference = {"reference.cpp", "void reference();\n"};
  ASSERT_TRUE((*journal)->create_run(run));
  const model::Solution solution{model::Language::cpp, {{"kernel.cpp", "void kernel() {}\n"}}};
  const std::optional<base::Json> result{
      std::in_place, base::Json{{"solution", solution}, {"speedup", model::Interval{2.0, 1.9, 2.1}}}};
  ASSERT_TRUE((*journal)->finish_run("r1", model::RunStatus::done, result, "h"));

  auto winner = find_winner(**journal, "r1");

  ASSERT_TRUE(winner) << winner.error().message;
  EXPECT_EQ(claim_of(*winner), "Confirmed 2.00x [1.90, 2.10] as fast as the baseline that it was made from.");
  winner->speedup = model::Interval{1.5, 1.4, 1.6};  // of what is left of it
  EXPECT_EQ(claim_of(*winner), "Confirmed 1.50x [1.40, 1.60] as fast as the baseline that it was made from.");
  winner->speedup.reset();
  EXPECT_EQ(claim_of(*winner), "");
}

using scaffold::FlagsBy;

std::vector<FlagsBy> order_of(const std::vector<std::pair<FlagsBy, double>>& ratios, OwnFile own_file) {
  std::vector<BuildRace> races;
  for (const auto& [by, ratio] : ratios) races.push_back({{by, {}}, {ratio, ratio * 0.98, ratio * 1.02}});
  std::vector<FlagsBy> out;
  for (const BuildRace& race : in_order_of_preference(std::move(races), own_file)) out.push_back(race.form.flags_by);
  return out;
}

using Order = std::vector<FlagsBy>;

TEST(PatchForms, TheSimplestThatKeepsTheGain_IsFirst) {
  const auto own = FlagsBy::own_file, as_is = FlagsBy::nothing, pragmas = FlagsBy::pragmas;
  EXPECT_EQ(order_of({{own, 4}, {as_is, 1.2}, {pragmas, 3.8}}, OwnFile::is_built), (Order{pragmas, own, as_is}));
  EXPECT_EQ(order_of({{own, 4}, {as_is, 1.2}, {pragmas, 2}}, OwnFile::is_built), (Order{own, pragmas, as_is}));
  EXPECT_EQ(order_of({{as_is, 0.8}, {pragmas, 1.5}}, OwnFile::is_built), (Order{pragmas, as_is}))
      << "the first that ran is not enough";
}

TEST(PatchForms, AFileThatNoBuildNames_ComesBehindWhatGainsInside) {
  const auto own = FlagsBy::own_file, as_is = FlagsBy::nothing, pragmas = FlagsBy::pragmas;
  EXPECT_EQ(order_of({{own, 4}, {as_is, 1.2}, {pragmas, 2}}, OwnFile::needs_hands), (Order{pragmas, as_is, own}));
  EXPECT_EQ(order_of({{own, 4}, {as_is, 3.9}, {pragmas, 4}}, OwnFile::needs_hands), (Order{as_is, pragmas, own}));
  EXPECT_EQ(order_of({{own, 4}, {as_is, 0.9}, {pragmas, 1}}, OwnFile::needs_hands).front(), own)
      << "nothing gains inside";
}

TEST(PatchForms, OnlyGccIsGivenItsPragmas) {
  const model::Solution winner{model::Language::cpp, {{"kernel.cpp", "//@ flags -ffast-math\nvoid kernel() {}\n"}}};
  EXPECT_EQ(form_without_measuring(winner, GccPragmas::followed).flags_by, FlagsBy::pragmas);
  EXPECT_EQ(form_without_measuring(winner, GccPragmas::unknown).flags_by, FlagsBy::own_file);
}

TEST(UserBuildRace, ForTimesAlone_AccuracyIsNotAsked) {
  model::Task task;
  task.definition.inputs = {{"x", std::vector<std::string>{"n"}, model::DType::float32, {}, {model::Family::heavy}}};
  task.definition.numerics.normwise = 1e-6;
  const model::Task loose = for_times_alone(task);
  EXPECT_TRUE(loose.definition.inputs[0].families.empty());
  EXPECT_GT(loose.definition.numerics.normwise, 1e-2);
}

TEST(ReadingCaller, NonTemporalStores_AreSeen) {
  const auto stores = [](const std::string& text) {
    return stores_past_caches({model::Language::cpp, {{"kernel.cpp", text}}});
  };
  EXPECT_TRUE(stores("_mm256_stream_ps(y + i, v);"));
  EXPECT_TRUE(stores("asm volatile(\"vmovntps %1, %0\" : \"=m\"(*y) : \"x\"(v));"));
  EXPECT_TRUE(stores("#define PUT(p, v) _mm512_stream_ps(p, v)\n"));
  EXPECT_TRUE(stores("__builtin_nontemporal_store(v, y);"));
  EXPECT_FALSE(stores("v = _mm256_stream_load_si256(x); // _mm256_stream_ps\nstd::ostream_iterator<int> s;"));
}

TEST(ReadingCaller, EveryOutputIsRead) {
  model::Definition definition;
  definition.axes = {{"M", std::nullopt}, {"N", 8}};
  definition.inputs = {{"x", std::vector<std::string>{"M"}, model::DType::float32, {}, {}},
                       {"s", std::nullopt, model::DType::float32, {}, {}}};
  definition.outputs = {{"y", std::vector<std::string>{"M", "N"}, model::DType::float32, {}, {}}};
  const std::string text = model::main_text(with_outputs_read(
      definition, {model::Language::cpp, {{"kernel.cpp", "//@ flags -O2\nextern \"C\" void kernel();"}}}));
  EXPECT_TRUE(text.starts_with("#define kernel kernel_that_is_timed\n//@ flags -O2\n")) << text;
  EXPECT_NE(
      text.find("void kernel(const float* x, float s, float* y, int64_t M) {\n  kernel_that_is_timed(x, s, y, M);"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("sizeof *y * ((int64_t)1 * M * N)"), std::string::npos) << text;
}

}  // namespace
}  // namespace accelopt::app
