// SPDX-License-Identifier: Apache-2.0
// What is given to other machines and people: bundles, the lines between coordinator and worker, task folders, recorded
// answers, exports.
#include <gtest/gtest.h>

#include <atomic>

#include "app/knowledge_export.hpp"
#include "app/knowledge_import.hpp"
#include "app/team.hpp"
#include "app/verification.hpp"
#include "base/files.hpp"
#include "base/tar.hpp"
#include "bundles/bundle.hpp"
#include "bundles/deferred_evaluator.hpp"
#include "bundles/files.hpp"
#include "bundles/runner.hpp"
#include "evaluation/fake_task.hpp"
#include "fakes/fake_evaluator.hpp"
#include "fakes/scripted_chat_model.hpp"
#include "llm/recording.hpp"
#include "report/resolve_times.hpp"
#include "suites/flashinfer_trace/export.hpp"
#include "suites/flashinfer_trace/import.hpp"
#include "suites/task_folder.hpp"
#include "versions/fixtures.hpp"
#include "versions/samples.hpp"
#include "worker/pool.hpp"

namespace accelopt::versions {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Json;
using evaluation::source;

class Exchanged : public testing::Test {
 protected:
  Exchanged() : folder_(*base::TemporaryFolder::create("accelopt-versions-test")) {}
  /// A copy of a fixture's folder in which the text of every file was changed.
  fs::path changed(const std::string& name, const std::string& from, const std::string& to) {
    const fs::path copy = folder_.path() / name;
    fs::copy(fixture_path(name), copy, fs::copy_options::recursive);
    for (auto [file, text] : files_below(copy)) {
      if (const auto at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
      EXPECT_TRUE(base::write_file(copy / file, text));
    }
    return copy;
  }

  base::TemporaryFolder folder_;
};

void expect_refused(const base::Error& error, ErrorCode code, const std::vector<std::string>& parts) {
  EXPECT_EQ(error.code, code);
  for (const std::string& part : parts) EXPECT_NE(error.message.find(part), std::string::npos) << error.message;
}

/// Asks for everything that an evaluator can do.
void ask_all(evaluation::Evaluator& evaluator) {
  std::ignore = evaluator.ask(evaluation::Open{evaluation::task(), full_settings()}, {});
  std::ignore = evaluator.ask(evaluation::Build{model::Kernel(source("speed=2"))}, {});
  std::ignore = evaluator.ask(evaluation::Race{model::Kernel(source("speed=2")), model::Kernel(source("speed=1"))}, {});
  std::ignore = evaluator.ask(evaluation::Profile{model::Kernel(source("speed=2"))}, {});
  std::ignore = evaluator.ask(evaluation::HeldOut{model::Kernel(source("held_out_bad"))}, {});
  std::ignore = evaluator.ask(
      evaluation::PlayOff{{{model::Kernel(source("speed=1"))}, {model::Kernel(source("speed=4"))}}, 1}, {});
  std::ignore = evaluator.ask(evaluation::Confirm{model::Kernel(source("speed=2"))}, {});
}

// Bundles -------------------------------------------------------------------------------------------------------------

std::unique_ptr<bundles::DeferredEvaluator> put_all_off() {
  return bundles::make_deferred_evaluator(
      {.answer = [](const std::string&) -> base::Result<std::optional<bundles::TakenIn>> { return std::nullopt; },
       .under_way = [](const std::string&) { return false; }});
}

bundles::Bundle bundle_of(const bundles::DeferredEvaluator& deferred) {
  bundles::Bundle bundle;
  bundle.run = "20260102-0304-abcd";
  bundle.number = 3;
  bundle.program_version = "0.1.0";
  bundle.device = "cpu:1";
  bundle.compiler = "g++";
  bundle.expected_device = "fake";
  bundle.task = evaluation::task();
  bundle.task_id = model::task_id(bundle.task);
  bundle.settings = full_settings();
  bundle.items = deferred.collected();
  return bundle;
}

/// Expects the bundle to be the fixture's; where the fixture is written it is executed too.
void expect_bundle(const std::string& fixture, const fs::path& parent, bundles::Bundle bundle) {
  const auto made = write_bundle(parent, bundle);
  ASSERT_TRUE(made) << made.error().message;
  for (const auto& [name, text] : files_below(*made)) expect_fixture(fixture + "/" + name, text);
  if (!writes_fixtures() || fs::exists(fixture_path(fixture + "/results.json"))) return;
  const bundles::BundleExecution machine{
      .make_evaluator = [](const bundles::Bundle&) -> base::Result<std::unique_ptr<evaluation::Evaluator>> {
        return std::make_unique<fakes::FakeEvaluator>();
      },
      .machine = [] { return worker::Hello{}; },
      .now = [] { return std::string("2026-01-02T03:04:05Z"); },
      .notice = {},
      .program_version = "0.1.0"};
  ASSERT_TRUE(bundles::execute_bundle(*made, machine, {}));
  for (const auto& [name, text] : files_below(*made)) expect_fixture(fixture + "/" + name, text);
}

TEST_F(Exchanged, Bundle_EveryRequest_KeepsItsBytes) {
  const auto deferred = put_all_off();
  ask_all(*deferred);
  expect_bundle("bundle-1", folder_.path(), bundle_of(*deferred));
}

TEST_F(Exchanged, Bundle_OfAnIteration_KeepsItsBytes) {
  const auto deferred = put_all_off();
  const model::Kernel baseline(source("speed=1"));
  evaluation::ExpectedPlayoff expected{.beam = {baseline},
                                       .finalists = {},
                                       .baseline = baseline,
                                       .attempts = {},
                                       .known_code = {"code of an earlier iteration"},
                                       .places = 1,
                                       .leader = evaluation::Leader::confirmed};
  for (const auto* const text : {"speed=2", "speed=4", "compile_error"}) {
    const model::Kernel candidate(source(text));
    std::ignore = deferred->ask(evaluation::Build{candidate}, {});
    deferred->expect_race(candidate, baseline, "code of the baseline");
    expected.attempts.push_back({.parent = 0, .plan = static_cast<int>(expected.attempts.size()), .kernel = candidate});
  }
  deferred->expect_playoff(expected);
  expect_bundle("bundle-2", folder_.path(), bundle_of(*deferred));
}

TEST_F(Exchanged, Bundle_WithResults_IsRead) {
  const auto bundle = bundles::read_bundle(fixture_path("bundle-1"));
  ASSERT_TRUE(bundle) << bundle.error().message;
  EXPECT_EQ(bundle->items.size(), 7U);
  const auto results = bundles::read_results(fixture_path("bundle-1"), *bundle);
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ(results->outcomes.size(), 7U);
  EXPECT_EQ(results->sessions.at(0).device, "fake");
}

TEST_F(Exchanged, Bundle_WithAPlayOffsField_IsRead) {
  const auto bundle = bundles::read_bundle(fixture_path("bundle-2"));
  ASSERT_TRUE(bundle) << bundle.error().message;
  const auto results = bundles::read_results(fixture_path("bundle-2"), *bundle);
  ASSERT_TRUE(results) << results.error().message;
  ASSERT_EQ(results->outcomes.size(), bundle->items.size());
  const auto play_off =
      std::find_if(bundle->items.begin(), bundle->items.end(), [](const auto& it) { return it.field; });
  ASSERT_NE(play_off, bundle->items.end());
  EXPECT_TRUE(results->outcomes.at(play_off->id).result) << "it was raced where the bundle was executed";
  const bundles::BundleItem& last = bundle->items.back();
  ASSERT_TRUE(last.only_if);
  EXPECT_EQ(last.only_if->when, bundles::When::leads);
  ASSERT_TRUE(results->outcomes.at(last.id).result);
  EXPECT_NE(results->outcomes.at(last.id).request, last.id) << "the leader took the place of the first attempt";
}

TEST_F(Exchanged, Bundle_NewerSchema_Refused) {
  const fs::path copy = changed("bundle-1", "\"schema\":1", "\"schema\":3");
  const auto bundle = bundles::read_bundle(copy);
  ASSERT_FALSE(bundle);
  expect_refused(bundle.error(), ErrorCode::unsupported,
                 {"schema 3 is newer", "reads up to 2", "use a newer accelopt"});
}

// The worker protocol
// --------------------------------------------------------------------------------------------------

TEST_F(Exchanged, Worker_EveryLine_KeepsItsBytes) {
  const std::string asked = (folder_.path() / "asked").string();
  const std::string answered = (folder_.path() / "answered").string();
  {
    const std::string between =
        "tee '" + asked + "' | '" + ACCELOPT_FAKE_WORKER + "' /dev/null names_no_opponent | tee '" + answered + "'";
    const auto pool = worker::make_worker_pool({.workers = {{{"/bin/sh", "-c", between}}}});
    ask_all(*pool);
  }
  expect_fixture("worker-asked-1.jsonl", base::read_file(asked).value());
  expect_fixture("worker-answered-1.jsonl", base::read_file(answered).value());
}

// Task folders
// ---------------------------------------------------------------------------------------------------------

TEST_F(Exchanged, Task_EachSchema_IsReadAndWrittenAsBefore) {
  const std::map<std::string, model::Task> tasks{
      {"task-1", plain_task()}, {"task-2", full_task()}, {"task-3", paged_task()}, {"task-4", task_of_a_function()}};
  for (const auto& [name, task] : tasks) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(suites::write_task(task, folder_.path() / name));
    expect_fixture_folder(name, folder_.path() / name);
    const auto read = suites::load_task(fixture_path(name));
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_TRUE(suites::write_task(*read, folder_.path() / (name + "-again")));
    expect_fixture_folder(name, folder_.path() / (name + "-again"));
  }
}

TEST_F(Exchanged, Task_NewerSchema_Refused) {
  const auto read = suites::load_task(changed("task-4", "schema = 4", "schema = 5"));
  ASSERT_FALSE(read);
  expect_refused(read.error(), ErrorCode::parse, {"schema 5 is newer", "reads up to 4", "use a newer accelopt"});
}

// Imported tasks
// -----------------------------------------------------------------------------------------------------

TEST_F(Exchanged, Origin_OfAnImportedTask_KeepsItsBytes) {
  const fs::path data = folder_.path() / "data";
  ASSERT_TRUE(base::make_folders(data / "definitions"));
  ASSERT_TRUE(base::make_folders(data / "workloads"));
  ASSERT_TRUE(base::make_folders(data / "solutions"));
  ASSERT_TRUE(base::write_file(data / "definitions/scale.json",
                               R"({"name": "scale", "op_type": "scale", "axes": {"M": {"type": "var"}},
 "inputs": {"x": {"shape": ["M"], "dtype": "float32"}}, "outputs": {"y": {"shape": ["M"], "dtype": "float32"}},
 "reference": "def run(x):\n    return 2 * x\n"})"));
  ASSERT_TRUE(base::write_file(data / "workloads/scale.jsonl",
                               R"({"uuid": "00000001-a", "axes": {"M": 7}, "inputs": {"x": {"type": "random"}}})"));
  ASSERT_TRUE(base::write_file(data / "solutions/s.json",
                               R"({"name": "s", "definition": "scale", "author": "a", "spec": {"language": "triton",
 "target_hardware": ["any"], "entry_point": "k.py::run"}, "sources": [{"path": "k.py", "content": "def run(x): return x"}]})"));
  namespace trace = suites::flashinfer_trace;
  ASSERT_TRUE(trace::import_dataset({.dataset = data, .output = folder_.path() / "tasks"}));
  const fs::path folder = folder_.path() / "tasks/scale";
  expect_fixture("origin-1.json", base::read_file(folder / trace::kOriginFile).value());
  // The fixture is what an export begins with.
  ASSERT_TRUE(base::write_file(folder / trace::kOriginFile, base::read_file(fixture_path("origin-1.json")).value()));
  trace::ExportRequest request;
  request.task.definition.name = "scale";
  request.task.target = "triton";
  request.task_folder = folder;
  request.winner = sample_solution(model::Language("python"), "k.py");
  request.output = folder_.path() / "exported";
  ASSERT_TRUE(trace::export_winner(request));
  EXPECT_TRUE(fs::exists(request.output / "definitions/other/scale.json"));
}

// Results of a suite of refactorings
// -----------------------------------------------------------------------------------------------------

TEST(Results, OneLine_KeepsItsBytes) {
  const auto lines = report::read_resolve_lines(fixture("resolve-1.jsonl"), "resolve-1.jsonl");
  ASSERT_TRUE(lines) << lines.error().message;
  ASSERT_EQ(lines->size(), 1U);
  EXPECT_EQ(lines->front().arm, report::MemoryArm::shuffled);
  EXPECT_EQ(lines->front().usd, 0.25);
  expect_fixture("resolve-1.jsonl", base::canonical(lines->front()) + "\n");
}

// Recorded answers
// -----------------------------------------------------------------------------------------------------

llm::ChatRequest recorded_question() {
  llm::ChatRequest request;
  request.label = "planner i0.b0.p0 try0";
  request.messages = {{llm::Speaker::system, "rules\n"}, {llm::Speaker::user, "plan"}};
  request.temperature = 0.5;
  return request;
}

TEST_F(Exchanged, Recording_OneAnswer_KeepsItsBytes) {
  auto inner = std::make_unique<fakes::ScriptedChatModel>(
      [](const llm::ChatRequest&, std::size_t) -> base::Result<llm::ChatReply> {
        return fakes::ScriptedChatModel::text_reply("line one\nline two\n");
      });
  ASSERT_TRUE(llm::make_recording_model(std::move(inner), folder_.path(), {})->chat(recorded_question(), {}));
  expect_fixture_folder("recording-1", folder_.path());
  const auto recording = llm::Recording::load(fixture_path("recording-1"));
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_EQ(recording->find(recorded_question())->text, "line one\nline two\n");
}

TEST_F(Exchanged, Recording_NewerSchema_Refused) {
  const auto recording = llm::Recording::load(changed("recording-1", "\"schema\": 1", "\"schema\": 2"));
  ASSERT_FALSE(recording);
  expect_refused(recording.error(), ErrorCode::unsupported, {".json", "schema 2 is newer", "use a newer accelopt"});
}

TEST_F(Exchanged, RecordedRun_NewerSchema_Refused) {
  const fs::path file = folder_.path() / llm::kRecordedRunFile;
  app::AgentFlags flags;
  flags.replay = folder_.path().string();
  ASSERT_TRUE(base::write_file(file, R"({"schema": 1, "seed": 7})"));
  EXPECT_EQ(app::recorded_seed(flags).value(), 7U);
  ASSERT_TRUE(base::write_file(file, R"({"schema": 2, "seed": 7})"));
  const auto seed = app::recorded_seed(flags);
  ASSERT_FALSE(seed);
  expect_refused(seed.error(), ErrorCode::unsupported, {"run.json", "schema 2 is newer", "use a newer accelopt"});
}

// Evidence archives
// ---------------------------------------------------------------------------------------------------

TEST_F(Exchanged, Evidence_Version1_IsReadAndItsNumbersVerify) {
  const auto verified = app::verify_evidence(fixture("evidence-1.tar"), {});
  ASSERT_TRUE(verified) << verified.error().message;
  ASSERT_GE(verified->checks.size(), 5U);
  // What is decided from it is for the rules of the day.
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(verified->checks[i].state, app::CheckState::passed)
        << verified->checks[i].name << ": " << verified->checks[i].text;
  }
  EXPECT_EQ(verified->task.definition.name, "adamw");
  ASSERT_TRUE(verified->claim);
  EXPECT_NEAR(verified->claim->speedup.estimate, 1.064, 0.01);
}

TEST_F(Exchanged, Evidence_Version2_VerifiesItsPlayOffs) {
  const auto verified = app::verify_evidence(fixture("evidence-2.tar"), {});
  ASSERT_TRUE(verified) << verified.error().message;
  ASSERT_GE(verified->checks.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(verified->checks[i].state, app::CheckState::passed)
        << verified->checks[i].name << ": " << verified->checks[i].text;
  }
  EXPECT_NE(verified->checks[4].text.find("play-offs: 1,"), std::string::npos) << verified->checks[4].text;
}

TEST_F(Exchanged, Evidence_Version3_VerifiesIntervalsThatAllowForRestarts) {
  const auto verified = app::verify_evidence(fixture("evidence-3.tar"), {});
  ASSERT_TRUE(verified) << verified.error().message;
  ASSERT_GE(verified->checks.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(verified->checks[i].state, app::CheckState::passed)
        << verified->checks[i].name << ": " << verified->checks[i].text;
  }
  EXPECT_NE(verified->checks[4].text.find("confirmations: 1,"), std::string::npos) << verified->checks[4].text;
}

TEST_F(Exchanged, Evidence_NewerSchema_Refused) {
  auto members = base::read_tar(fixture("evidence-1.tar")).value();
  std::string& manifest = members.front().bytes;
  manifest.replace(manifest.find(R"("schema":1)"), 10, R"("schema":4)");
  const auto verified = app::verify_evidence(base::write_tar(members).value(), {});
  ASSERT_FALSE(verified);
  expect_refused(verified.error(), ErrorCode::unsupported, {"version 4", "use a newer accelopt"});
}

// Exports
// --------------------------------------------------------------------------------------------------------------

TEST_F(Exchanged, Export_OneExperience_KeepsItsBytes) {
  memory::Item item{.experience = full_experience(), .quarantined = true, .suspicions = {"orders to a model"}};
  const memory::SolutionRecord kernel{.id = "slow1",
                                      .language = "cpp",
                                      .task = "matmul_small",
                                      .run = "r1",
                                      .sources = sample_solution(model::Language::cpp, "kernel.cpp"),
                                      .evaluation = full_evaluation()};
  Json line = app::json_of(item);
  line["solutions"] = {app::json_of(kernel)};
  expect_fixture("export-1.jsonl", base::canonical(line) + "\n");
  const auto read = app::read_experiences(fixture("export-1.jsonl"), "export-1.jsonl", {});
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->experiences.size(), 1U);
  EXPECT_EQ(base::canonical(Json(read->experiences[0])), base::canonical(Json(full_experience())));
}

TEST_F(Exchanged, Export_NewerSchema_Refused) {
  Json line = Json::parse(fixture("export-1.jsonl"));
  line["schema"] = 2;
  const auto read = app::read_experiences(base::canonical(line), "notes.jsonl", {});
  ASSERT_FALSE(read);
  expect_refused(read.error(), ErrorCode::unsupported, {"notes.jsonl", "schema 2 is newer", "use a newer accelopt"});
}

}  // namespace
}  // namespace accelopt::versions
