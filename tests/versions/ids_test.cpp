// SPDX-License-Identifier: Apache-2.0
// What is found again by a hash: the same thing has the id that it always had.
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "bundles/bundle.hpp"
#include "llm/mailbox_model.hpp"
#include "llm/recording.hpp"
#include "memory/sanitation.hpp"
#include "search/fake_run.hpp"
#include "versions/fixtures.hpp"
#include "versions/samples.hpp"

namespace accelopt::versions {
namespace {

using base::Json;
using model::Language;

llm::ChatRequest question() {
  llm::ChatRequest request;
  request.label = "planner i0.b0.p0 try0";
  request.messages = {{llm::Speaker::system, "rules\n"}, {llm::Speaker::user, "caf\xc3\xa9 \xff"}};
  return request;
}

TEST(Ids, OfEverything_StayTheSame) {
  Json ids;
  ids["task"] = model::task_id(full_task());
  ids["task_plain"] = model::task_id(plain_task());
  ids["source_c"] = source_id(sample_solution(Language::c, "kernel.c"));
  ids["source_cpp"] = source_id(sample_solution(Language::cpp, "kernel.cpp"));
  ids["source_cuda"] = source_id(sample_solution(Language("cuda"), "kernel.cu"));
  ids["source_opencl"] = source_id(sample_solution(Language("opencl"), "kernel.cl"));
  ids["source_python"] = source_id(sample_solution(Language("python"), "kernel.py"));
  ids["experience"] = model::content_id(full_experience());
  ids["experience_empty"] = model::content_id({});
  ids["experience_in_store"] = memory::made_fit(full_experience()).experience.id;
  ids["chat"] = llm::request_hash(question());
  ids["mailbox"] = llm::mailbox_name(question());
  expect_fixture("ids-1.json", ids.dump(2) + "\n");
}

TEST(Ids, OfJournalSteps_StayTheSame) {
  search::FakeRun run;
  run.team.on_execute = search::double_or_halve;
  ASSERT_TRUE(run.go());
  std::map<std::string, std::string> hashes;
  const auto steps = run.journal->steps("r1");
  ASSERT_TRUE(steps);
  for (const journal::StepRecord& step : *steps) {
    if (step.key.kind.starts_with("session:")) continue;  // named by chance
    hashes[model::to_string(step.key.identity) + " " + step.key.kind] = step.input_hash;
  }
  expect_fixture("journal-steps-1.json", Json(hashes).dump(2) + "\n");
}

}  // namespace
}  // namespace accelopt::versions
