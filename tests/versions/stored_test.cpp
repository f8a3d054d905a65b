// SPDX-License-Identifier: Apache-2.0
// What lies on disks: journals with their suite log, and knowledge stores. Each version is a file of SQL statements.
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "journal/control.hpp"
#include "journal/journal.hpp"
#include "journal/refactor_log.hpp"
#include "journal/review_log.hpp"
#include "journal/suite_log.hpp"
#include "memory/knowledge_file.hpp"
#include "memory/sanitation.hpp"
#include "versions/fixtures.hpp"
#include "versions/samples.hpp"

namespace accelopt::versions {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Json;
using journal::Access;

class Stored : public testing::Test {
 protected:
  Stored() : folder_(*base::TemporaryFolder::create("accelopt-versions-test")) {}
  [[nodiscard]] fs::path workspace() const { return folder_.path(); }
  [[nodiscard]] fs::path journal_file() const { return folder_.path() / "accelopt.db"; }
  [[nodiscard]] fs::path knowledge_file() const { return folder_.path() / "knowledge.db"; }

  base::TemporaryFolder folder_;
};

void expect_refused(const base::Error& error, const std::vector<std::string>& parts) {
  EXPECT_EQ(error.code, ErrorCode::corrupt);
  for (const std::string& part : parts) EXPECT_NE(error.message.find(part), std::string::npos) << error.message;
}

// Journals
// -------------------------------------------------------------------------------------------------------------

journal::RunInfo sample_run() {
  journal::RunInfo run;
  run.id = "r1";
  run.task_name = "scale";
  run.task_folder = "/tasks/scale";
  run.task = full_task();
  run.settings = {{"beam", 3}};
  run.seed = 0xFEDCBA9876543210;
  run.created = "2026-01-02T03:04:05Z";
  run.status = model::RunStatus::running;
  run.program_version = "0.1.0";
  return run;
}

journal::StepRecord sample_step() {
  journal::StepRecord step;
  step.key = {{1, 2, 3, 0, 0}, "triage"};
  step.input_hash = "input";
  step.output = full_evaluation();
  step.usage = full_usage();
  step.started = std::chrono::milliseconds(1500);
  step.duration = std::chrono::milliseconds(250);
  return step;
}

model::Kernel sample_kernel() {
  return model::Kernel(model::Solution{model::Language::c, {{"kernel.c", "void kernel(void) {}\n"}}});
}

void fill_journal(const fs::path& folder) {
  const auto journal = journal::open_journal(folder).value();
  ASSERT_TRUE(journal->create_run(sample_run()));
  ASSERT_TRUE(journal->record_step("r1", sample_step()));
  ASSERT_TRUE(journal->record_solutions({sample_kernel()}));
  ASSERT_TRUE(journal->record_experience("r1", full_experience()));
  ASSERT_TRUE(journal->post("r1", "k1", "/knowledge.db", {{"kind", "experience"}}));
  const std::optional<Json> result(std::in_place, Json{{"type", "result"}, {"schema", 1}});
  ASSERT_TRUE(journal->finish_run("r1", model::RunStatus::done, result, "hash"));
  const auto control = journal::open_control(folder, Access::read_write).value();
  ASSERT_TRUE(control->begin_session("r1", {.pid = 7, .host = "h", .born = "b", .started_ms = 1000, .beat_ms = 2000}));
  ASSERT_TRUE(control->set_fact("noise", {{"sd", 0.02}}));
  const auto log = journal::open_suite_log(folder, Access::read_write).value();
  ASSERT_TRUE(log->begin({.id = "s1",
                          .suite = "/suites/small",
                          .created = "2026-01-02T03:04:05Z",
                          .program_version = "0.1.0",
                          .settings = {{"beam", 3}},
                          .tasks = {"scale", "silu"},
                          .process = {.pid = 7, .host = "h", .born = "b"}}));
  ASSERT_TRUE(log->enter("s1", {.task = "scale", .run = "r1", .error = "no device"}));
  ASSERT_TRUE(log->end("s1", "done"));
  const auto refactorings = journal::open_refactor_log(folder, Access::read_write).value();
  ASSERT_TRUE(refactorings->enter({.id = "f1", .created = "2026-01-02T03:04:05Z", .content = {{"run", "f1"}}}));
  ASSERT_TRUE(journal->store("small"));
  const auto reviews = journal::open_review_log(folder, Access::read_write).value();
  ASSERT_TRUE(reviews->enter({.kind = "review",
                              .model = "m",
                              .run = "f1",
                              .created = "2026-01-02T03:04:05Z",
                              .settled = "",
                              .content = {{"task", "t"}}}));
}

/// What every version of the journal has.
void expect_run(journal::Journal& journal) {
  const auto run = journal.find_run("r1");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->seed, sample_run().seed);
  EXPECT_EQ(model::task_id(run->task), model::task_id(full_task()));
  EXPECT_EQ(run->status, model::RunStatus::done);
  EXPECT_EQ(run->decision_hash, "hash");
  const auto step = journal.find_step("r1", sample_step().key, "input");
  ASSERT_TRUE(step && *step);
  EXPECT_EQ((*step)->output, Json(full_evaluation()));
  EXPECT_EQ(Json((*step)->usage), Json(full_usage()));
  EXPECT_EQ(Json(journal.experiences("r1")->at(0)), Json(full_experience()));
}

TEST_F(Stored, Journal_EveryTable_KeepsItsRows) {
  fill_journal(workspace());
  expect_fixture("journal-8.sql", dump_of(journal_file()));
}

TEST_F(Stored, Journal_ThisVersion_IsReadWhole) {
  make_database(journal_file(), "journal-8.sql");
  const auto journal = journal::open_journal(workspace(), Access::read_only);
  ASSERT_TRUE(journal) << journal.error().message;
  expect_run(**journal);
  EXPECT_EQ((*journal)->load_solution(sample_kernel().id()), sample_kernel().solution());
  EXPECT_EQ((*journal)->waiting_for("/knowledge.db", 9)->at(0).content, Json({{"kind", "experience"}}));
  const auto control = journal::open_control(workspace(), Access::read_only).value();
  EXPECT_EQ(control->sessions("r1")->at(0).pid, 7);
  EXPECT_EQ(**control->fact("noise"), Json({{"sd", 0.02}}));
  const auto suites = journal::open_suite_log(workspace(), Access::read_only).value()->list();
  ASSERT_TRUE(suites) << suites.error().message;
  EXPECT_EQ(suites->at(0).settings, Json({{"beam", 3}}));
  EXPECT_EQ(suites->at(0).tasks, (std::vector<std::string>{"scale", "silu"}));
  EXPECT_EQ(suites->at(0).state, "done");
  EXPECT_EQ(suites->at(0).entries.at(0).error, "no device");
  const auto refactorings = journal::open_refactor_log(workspace(), Access::read_only).value()->list();
  ASSERT_TRUE(refactorings) << refactorings.error().message;
  EXPECT_EQ(refactorings->at(0).content, Json({{"run", "f1"}}));
  EXPECT_EQ((*journal)->load(base::sha256_hex("small")).value_or(""), "small");
  const auto reviews = journal::open_review_log(workspace(), Access::read_only).value()->list();
  ASSERT_TRUE(reviews) << reviews.error().message;
  EXPECT_EQ(reviews->at(0).run, "f1");
  EXPECT_EQ(reviews->at(0).content, Json({{"task", "t"}}));
}

TEST_F(Stored, Journal_WithTheKernelDatabase_IsReadAndBroughtUpWithItsRows) {
  make_database(journal_file(), "journal-7.sql");
  expect_run(*journal::open_journal(workspace(), Access::read_only).value());
  const auto journal = journal::open_journal(workspace());
  ASSERT_TRUE(journal) << journal.error().message;
  expect_run(**journal);
  ASSERT_TRUE((*journal)->record_solutions({sample_kernel()}));
  EXPECT_EQ((*journal)->load_solution(sample_kernel().id()), sample_kernel().solution());
  EXPECT_NE(dump_of(journal_file()).find("INSERT INTO kernels VALUES"), std::string::npos) << "nothing is deleted";
}

TEST_F(Stored, Journal_BeforeTexts_IsReadAndBroughtUp) {
  make_database(journal_file(), "journal-6.sql");
  const auto reader = journal::open_journal(workspace(), Access::read_only).value();
  expect_run(*reader);
  const std::string hash = base::sha256_hex("small");
  EXPECT_EQ(reader->load(hash).error().code, base::ErrorCode::not_found);
  const auto journal = journal::open_journal(workspace());
  ASSERT_TRUE(journal) << journal.error().message;
  expect_run(**journal);
  EXPECT_EQ((*journal)->store("small").value_or(""), hash);
  EXPECT_EQ((*journal)->load(hash).value_or(""), "small");
  EXPECT_EQ(reader->load(hash).value_or(""), "small") << "who reads it meanwhile finds it too";
}

TEST_F(Stored, Journal_BeforeReviews_IsReadAndBroughtUp) {
  make_database(journal_file(), "journal-6.sql");
  expect_run(*journal::open_journal(workspace(), Access::read_only).value());
  EXPECT_TRUE(journal::open_review_log(workspace(), Access::read_only).value()->list()->empty());
  const auto log = journal::open_review_log(workspace(), Access::read_write).value();
  for (const char* run : {"", "r7"})
    ASSERT_TRUE(log->enter({.kind = "review", .model = "m", .run = run, .created = "", .settled = "", .content = {}}));
  EXPECT_FALSE(log->settle("r8", "failed").value());
  EXPECT_FALSE(log->settle("", "failed").value());
  EXPECT_TRUE(log->settle("r7", "failed").value());
  EXPECT_FALSE(log->settle("r7", "passed").value());
  const auto listed = log->list().value();
  EXPECT_EQ(listed.at(0).settled, "failed");
  EXPECT_EQ(listed.at(1).settled, "");
}

TEST_F(Stored, Journal_BeforeRefactorings_IsReadAndBroughtUp) {
  make_database(journal_file(), "journal-5.sql");
  expect_run(*journal::open_journal(workspace(), Access::read_only).value());
  EXPECT_TRUE(journal::open_refactor_log(workspace(), Access::read_only).value()->list()->empty());
  const auto log = journal::open_refactor_log(workspace(), Access::read_write).value();
  ASSERT_TRUE(log->enter({.id = "f1", .created = "2026-01-02T03:04:05Z", .content = {{"tried", 1}}}));
  ASSERT_TRUE(log->enter({.id = "f2", .created = "2026-01-02T03:04:06Z", .content = {{"tried", 2}}}));
  ASSERT_TRUE(log->enter({.id = "f1", .created = "2026-01-02T03:04:07Z", .content = {{"tried", 3}}}));
  const auto listed = log->list().value();
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed.front().content, Json({{"tried", 3}}));
}

TEST_F(Stored, Journal_FirstVersion_IsReadAndBroughtUp) {
  make_database(journal_file(), "journal-1.sql");
  expect_run(*journal::open_journal(workspace(), Access::read_only).value());
  EXPECT_TRUE(journal::open_suite_log(workspace(), Access::read_only).value()->list()->empty());
  const auto journal = journal::open_journal(workspace());
  ASSERT_TRUE(journal) << journal.error().message;
  expect_run(**journal);
  EXPECT_TRUE((*journal)->post("r1", "k2", "/knowledge.db", Json::object()));
}

TEST_F(Stored, Journal_NewerVersion_Refused) {
  make_database(journal_file(), "journal-8.sql");
  run_statements(journal_file(), "PRAGMA user_version = 9");
  for (const Access access : {Access::read_only, Access::read_write}) {
    const auto journal = journal::open_journal(workspace(), access);
    ASSERT_FALSE(journal);
    expect_refused(journal.error(),
                   {"accelopt.db", "newer accelopt (journal version 9, this one knows 8)", "use that"});
    EXPECT_FALSE(journal::open_suite_log(workspace(), access));
  }
}

// Knowledge stores
// -----------------------------------------------------------------------------------------------------

TEST_F(Stored, Knowledge_EveryTable_KeepsItsRows) {
  {
    const auto store = memory::open_knowledge_file(knowledge_file()).value();
    const std::vector experiences{full_experience()};
    ASSERT_TRUE(store->insert(experiences, memory::Forgotten::stays));
    const std::vector<memory::SolutionRecord> kernels{{.id = "slow1",
                                                       .language = "cpp",
                                                       .task = "matmul_small",
                                                       .run = "r1",
                                                       .sources = sample_solution(model::Language::cpp, "kernel.cpp"),
                                                       .evaluation = full_evaluation()}};
    ASSERT_TRUE(store->put_solutions(kernels));
    const std::string id = memory::made_fit(full_experience()).experience.id;
    const std::vector<memory::CreditEvent> events{{.id = "r1 i0.b1.p2 " + id,
                                                   .experience = id,
                                                   .kind = memory::CreditEvent::Kind::confirmed,
                                                   .run = "r1",
                                                   .plan = "tile",
                                                   .speedup = model::Interval{1.5, 1.25, 1.75}}};
    ASSERT_TRUE(store->credit(events));
    ASSERT_TRUE(store->quarantine(id, memory::Visibility::hidden));
  }
  std::string dump = dump_of(knowledge_file());
  // What an experience is worth follows from the other columns, by rules that are no part of the form.
  const std::size_t worth = dump.find("'mends', 0, ") + 12;
  ASSERT_LT(worth, dump.size());
  dump.replace(worth, dump.find(',', worth) - worth, "2.70310072072109552898e-01");
  expect_fixture("knowledge-2.sql", dump);
}

TEST_F(Stored, Knowledge_EachVersion_IsReadAndBroughtUp) {
  for (const std::string name : {"knowledge-2.sql", "knowledge-1.sql"}) {
    SCOPED_TRACE(name);
    const fs::path file = folder_.path() / (name + ".db");
    make_database(file, name);
    const auto store = memory::open_knowledge_file(file, {.access = memory::KnowledgeFileOptions::Access::read_only});
    ASSERT_TRUE(store) << store.error().message;
    const auto found = (*store)->search("strides", {});
    ASSERT_TRUE(found && found->size() == 1) << "by its words";
    model::Experience expected = memory::made_fit(full_experience()).experience;
    expected.credit = {5, 4, 3, 1};
    EXPECT_EQ(Json(found->front().experience), Json(expected));
    EXPECT_TRUE(found->front().quarantined);
    const std::vector<std::string> ids{"slow1"};
    EXPECT_EQ((*store)->solutions(ids)->at(0).evaluation, Json(full_evaluation()));
    EXPECT_EQ((*store)->stats()->credit_events, name == "knowledge-2.sql" ? 1 : 0);
  }
}

TEST_F(Stored, Knowledge_NewerVersion_Refused) {
  make_database(knowledge_file(), "knowledge-2.sql");
  run_statements(knowledge_file(), "PRAGMA user_version = 3");
  const auto store = memory::open_knowledge_file(knowledge_file());
  ASSERT_FALSE(store);
  expect_refused(store.error(), {"knowledge.db", "newer accelopt (knowledge version 3, this one knows 2)", "use that"});
}

}  // namespace
}  // namespace accelopt::versions
