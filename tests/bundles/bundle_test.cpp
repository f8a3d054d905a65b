// SPDX-License-Identifier: Apache-2.0
#include "bundles/bundle.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "bundles/deferred_evaluator.hpp"
#include "bundles/files.hpp"
#include "bundles/runner.hpp"
#include "evaluation/evaluator_json.hpp"
#include "evaluation/fake_task.hpp"
#include "evaluation/requests.hpp"
#include "fakes/fake_evaluator.hpp"

namespace accelopt::bundles {
namespace {

using base::ErrorCode;
using base::Json;
using evaluation::source;
using evaluation::task;
using model::Solution;

Json build_of(const std::string& text) {
  return {{"op", "build"}, {"solution", source(text)}};
}

Json race_of(const std::string& text) {
  return {{"op", "triage"}, {"candidate", source(text)}, {"opponent", source("speed=1")}};
}

/// What the device of the last execution did.
struct WorkDone {
  int opens = 0;
  int builds = 0;
  int triages = 0;
  int confirms = 0;
};

class Device final : public fakes::FakeEvaluator {
 public:
  explicit Device(WorkDone& work) : work_(work) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() override { work_ = {opens, builds, triages, confirms}; }

  base::Result<evaluation::OpenReport> open(const model::Task& opened, const evaluation::MeasureSettings& settings,
                                            std::stop_token stop) override {
    if (open_error) return tl::make_unexpected(*open_error);
    return FakeEvaluator::open(opened, settings, std::move(stop));
  }

  std::optional<base::Error> open_error;

 private:
  WorkDone& work_;
};

/// A deferred evaluator whose answers and bundles a test keeps, and a machine that executes them.
class BundleTest : public testing::Test {
 protected:
  BundleTest() : folder_(*base::TemporaryFolder::create("accelopt-bundle-test")) { fresh(); }

  /// As a new process that knows what was taken in.
  void fresh() {
    waiting_ = 0;
    deferred_ = make_deferred_evaluator(
        {.answer = [this](const std::string& id) -> base::Result<std::optional<TakenIn>> {
           const auto found = answers_.find(id);
           return found == answers_.end() ? std::nullopt : std::optional<TakenIn>(found->second);
         },
         .under_way = [this](const std::string& id) { return under_way_.contains(id); }});
  }

  Bundle bundle() const {
    Bundle out;
    out.run = "run";
    out.program_version = "1";
    out.device = "fake";
    out.task = task();
    out.task_id = model::task_id(out.task);
    out.items = deferred_->collected();
    return out;
  }

  std::filesystem::path write(Bundle bundle) { return write_bundle(folder_.path() / "bundles", bundle).value(); }

  BundleExecution machine() {
    BundleExecution execution;
    execution.make_evaluator = [this](const Bundle&) -> base::Result<std::unique_ptr<evaluation::Evaluator>> {
      auto made = std::make_unique<Device>(work_);
      made->baseline_status = baseline_status_;
      made->open_error = open_error_;
      return made;
    };
    execution.now = [] { return std::string("2026-11-21T10:00:00Z"); };
    execution.program_version = "1";
    return execution;
  }

  void take_in(const BundleResults& results) {
    for (const auto& [item, outcome] : results.outcomes) {
      const Outcome& own = outcome.same_as.empty() ? outcome : results.outcomes.at(outcome.same_as);
      if (own.result)
        answers_.insert_or_assign(outcome.same_as.empty() ? outcome.request : item, TakenIn(tl::in_place, *own.result));
    }
  }

  /// Executes what was put off and takes it in.
  BundleReport round_trip() {
    const auto folder = write(bundle());
    const auto report = execute_bundle(folder, machine(), {});
    EXPECT_TRUE(report) << report.error().message;
    const auto results = read_results(folder, *read_bundle(folder));
    EXPECT_TRUE(results) << results.error().message;
    take_in(*results);
    fresh();
    return *report;
  }

  base::TemporaryFolder folder_;
  std::map<std::string, TakenIn> answers_;
  std::set<std::string> under_way_;
  template <class R>
  base::Outcome<typename R::Reply> ask(R request, std::stop_token stop) {
    auto reply = deferred_->ask(std::move(request), std::move(stop));
    if (!reply && reply.error().why == base::Why::put_off) ++waiting_;
    return reply;
  }

  std::atomic<int> waiting_ = 0;  ///< requests that were put off
  std::unique_ptr<DeferredEvaluator> deferred_;
  model::Status baseline_status_ = model::Status::passed;
  std::optional<base::Error> open_error_;
  WorkDone work_;
};

TEST_F(BundleTest, PutsOffWhatItDoesNotKnowAndAnswersWhatCameBack) {
  const auto first = ask(evaluation::Open{task(), {}}, {});
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, ErrorCode::cancelled);
  EXPECT_EQ(waiting_, 1);
  EXPECT_FALSE(deferred_->device());
  round_trip();
  const auto opened = ask(evaluation::Open{task(), {}}, {});
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->device.name, "fake");
  EXPECT_EQ(deferred_->device()->name, "fake");
  EXPECT_EQ(waiting_, 0);
  EXPECT_TRUE(deferred_->collected().empty());
}

TEST_F(BundleTest, CarriesEveryOperation) {
  const std::vector<evaluation::Arm> arms{{model::Kernel(source("speed=1"))}, {model::Kernel(source("speed=4"))}};
  const auto ask_all = [&] {
    return std::vector<bool>{
        ask(evaluation::Build{model::Kernel(source("speed=2"))}, {}).has_value(),
        ask(evaluation::Race{model::Kernel(source("speed=2")), model::Kernel(source("speed=1"))}, {}).has_value(),
        ask(evaluation::Profile{model::Kernel(source("speed=2"))}, {}).has_value(),
        ask(evaluation::HeldOut{model::Kernel(source("held_out_bad"))}, {}).has_value(),
        ask(evaluation::PlayOff{arms, 1}, {}).has_value(),
        ask(evaluation::Confirm{model::Kernel(source("speed=2"))}, {}).has_value()};
  };
  EXPECT_EQ(ask_all(), std::vector<bool>(6, false));
  EXPECT_EQ(waiting_, 6);
  std::vector<std::string> order;
  for (const BundleItem& item : deferred_->collected()) order.push_back(item.request["op"].get<std::string>());
  EXPECT_EQ(order, (std::vector<std::string>{"build", "triage", "profile", "verify_held_out", "playoff", "confirm"}));
  round_trip();
  EXPECT_EQ(ask_all(), std::vector<bool>(6, true));
  EXPECT_DOUBLE_EQ(
      ask(evaluation::Race{model::Kernel(source("speed=2")), model::Kernel(source("speed=1"))}, {})->ratio->estimate,
      2.0);
  EXPECT_DOUBLE_EQ(ask(evaluation::PlayOff{arms, 1}, {})->arms.at(1).score.estimate, 4.0);
  EXPECT_EQ(*ask(evaluation::HeldOut{model::Kernel(source("held_out_bad"))}, {}), model::Status::incorrect_numerical);
  EXPECT_EQ(ask(evaluation::Confirm{model::Kernel(source("speed=2"))}, {})->verdict, model::Verdict::faster);
}

TEST_F(BundleTest, WhatIsForeseenGoesAlongAndIsCarriedOutWhereItIsWorthIt) {
  // fast: all of it; slow: no held-out workloads; broken: nothing; twin: fast's program; same: the opponent's.
  const std::vector<std::string> texts{"speed=2", "speed=0.5", "compile_error", "note a\nspeed=2", "note b\nspeed=1"};
  const std::string opponents_code = fakes::FakeEvaluator().build(source("speed=1"), {})->machine_code_id;
  for (const std::string& text : texts) {
    EXPECT_FALSE(ask(evaluation::Build{model::Kernel(source(text))}, {}));
    deferred_->expect_race(model::Kernel(source(text)), model::Kernel(source("speed=1")), opponents_code);
  }
  EXPECT_EQ(waiting_, 5) << "what is only foreseen is not waited for";
  EXPECT_EQ(deferred_->collected().size(), 20U);
  const BundleReport report = round_trip();
  EXPECT_EQ(work_.builds, 5);
  EXPECT_EQ(work_.triages, 2) << "one of the twins, and the slow one";
  EXPECT_EQ(report.carried_out + report.left_out, 20U);
  for (const std::size_t raced : {0, 1, 3}) {
    EXPECT_TRUE(ask(evaluation::Race{model::Kernel(source(texts[raced])), model::Kernel(source("speed=1"))}, {}))
        << texts[raced];
    EXPECT_TRUE(ask(evaluation::Profile{model::Kernel(source(texts[raced]))}, {})) << texts[raced];
  }
  EXPECT_TRUE(ask(evaluation::HeldOut{model::Kernel(source("speed=2"))}, {}));
  EXPECT_EQ(waiting_, 0);
  EXPECT_FALSE(ask(evaluation::HeldOut{model::Kernel(source("speed=0.5"))}, {}))
      << "asked for all the same: the next bundle";
  ASSERT_EQ(deferred_->collected().size(), 1U);
  EXPECT_FALSE(deferred_->collected()[0].only_if);
  round_trip();
  EXPECT_TRUE(ask(evaluation::HeldOut{model::Kernel(source("speed=0.5"))}, {}));
}

TEST_F(BundleTest, OfATunedKernelTheChosenConfigurationIsFollowed) {
  const Solution open = source("//@ tune A in {1, 2}\nspeed=3");
  const Solution chosen = model::with_values(open, {2});
  EXPECT_FALSE(ask(evaluation::Build{model::Kernel(open)}, {}));
  deferred_->expect_race(model::Kernel(open), model::Kernel(source("speed=1")), "");
  round_trip();
  ASSERT_TRUE(ask(evaluation::Race{model::Kernel(open), model::Kernel(source("speed=1"))}, {}));
  EXPECT_TRUE(ask(evaluation::Profile{model::Kernel(chosen)}, {}));
  EXPECT_TRUE(ask(evaluation::HeldOut{model::Kernel(chosen)}, {}));
  EXPECT_FALSE(ask(evaluation::Profile{model::Kernel(open)}, {}));
}

TEST_F(BundleTest, FinalistsAreConfirmedUntilOneHolds) {
  const std::vector<model::Kernel> finalists{model::Kernel(source("speed=4 unconfirmed")),
                                             model::Kernel(source("speed=3")), model::Kernel(source("speed=2"))};
  EXPECT_FALSE(ask(evaluation::Confirm{model::Kernel(finalists[0])}, {}));
  deferred_->expect_confirmations(finalists);
  round_trip();
  EXPECT_EQ(work_.confirms, 2);
  EXPECT_EQ(ask(evaluation::Confirm{model::Kernel(finalists[0])}, {})->verdict, model::Verdict::tie);
  EXPECT_EQ(ask(evaluation::Confirm{model::Kernel(finalists[1])}, {})->verdict, model::Verdict::faster);
  EXPECT_FALSE(ask(evaluation::Confirm{model::Kernel(finalists[2])}, {}));
}

TEST_F(BundleTest, WhatIsUnderWayIsNotPutIntoAnotherBundle) {
  under_way_.insert(request_id(build_of("speed=2")));
  EXPECT_FALSE(ask(evaluation::Build{model::Kernel(source("speed=2"))}, {}));
  deferred_->expect_race(model::Kernel(source("speed=2")), model::Kernel(source("speed=1")), "");
  EXPECT_EQ(waiting_, 1);
  EXPECT_TRUE(deferred_->collected().empty()) << "nor what depends on it";
  EXPECT_TRUE(deferred_->put_off_before(model::Kernel(source("speed=2"))));
  EXPECT_FALSE(deferred_->put_off_before(model::Kernel(source("speed=3"))));
}

TEST_F(BundleTest, WhatIsKnownNotToBuildDoesNotTravel) {
  int asked = 0;
  deferred_ = make_deferred_evaluator(
      {.answer = [](const std::string&) -> base::Result<std::optional<TakenIn>> { return std::nullopt; },
       .under_way = [](const std::string&) { return false; },
       .failed_build = [&](const model::Kernel& kernel, const std::stop_token&) -> base::Result<std::optional<Json>> {
         ++asked;
         model::BuildReport report;
         report.diagnostics = "error: no such type";
         return kernel.id() == model::Kernel(source("broken")).id() ? std::optional<Json>(report) : std::nullopt;
       }});
  const auto broken = deferred_->ask(evaluation::Build{model::Kernel(source("broken"))}, {});
  ASSERT_TRUE(broken);
  EXPECT_FALSE(broken->built);
  EXPECT_EQ(broken->diagnostics, "error: no such type");
  EXPECT_TRUE(deferred_->collected().empty());
  EXPECT_FALSE(ask(evaluation::Build{model::Kernel(source("speed=2"))}, {})) << "what builds is built on the device";
  EXPECT_EQ(deferred_->collected().size(), 1U);
  EXPECT_EQ(asked, 2);
}

TEST_F(BundleTest, TheOrderOfArrivalDoesNotMatter) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 20; ++i) {
    threads.emplace_back([this, i] {
      EXPECT_FALSE(ask(evaluation::Build{model::Kernel(source("speed=" + std::to_string(i + 1)))}, {}));
    });
  }
  threads.clear();
  Bundle first = bundle();
  fresh();
  for (int i = 19; i >= 0; --i)
    EXPECT_FALSE(ask(evaluation::Build{model::Kernel(source("speed=" + std::to_string(i + 1)))}, {}));
  Bundle second = bundle();
  const auto at = write_bundle(folder_.path() / "a", first);
  EXPECT_EQ(write_bundle(folder_.path() / "a", second).value(), *at) << "the same bundle is left as it is";
  EXPECT_EQ(first.id, second.id);
}

TEST_F(BundleTest, WritesAndReadsAllOfIt) {
  EXPECT_FALSE(ask(
      evaluation::Race{model::Kernel(source("speed=\xff\x01 \"quoted\"\n")), model::Kernel(source("speed=1"))}, {}));
  Bundle written = bundle();
  written.number = 12;
  written.compiler = "g++-12";
  written.expected_device = "fake";
  written.settings.known_peaks = evaluation::Peaks{1e12, 5e11, 3e12};
  written.settings.seed = 0xffff'ffff'ffff'fff0;
  const auto folder = write_bundle(folder_.path(), written);
  ASSERT_TRUE(folder);
  EXPECT_EQ(folder->filename().string(), "0012-" + written.id.substr(0, 8));
  const auto read = read_bundle(*folder);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->id, written.id);
  EXPECT_EQ(read->number, 12);
  EXPECT_EQ(read->settings.seed, written.settings.seed);
  EXPECT_EQ(read->compiler, "g++-12");
  EXPECT_EQ(read->expected_device, "fake");
  ASSERT_TRUE(read->settings.known_peaks);
  EXPECT_EQ(read->settings.known_peaks->bytes_per_second, 3e12);
  ASSERT_EQ(read->items.size(), 1U);
  EXPECT_EQ(read->items[0].id, written.items[0].id);
  EXPECT_FALSE(std::filesystem::exists(folder->string() + ".part"));
}

TEST_F(BundleTest, OtherDeviceOrBrokenBaseline_MeasuresNothing) {
  EXPECT_FALSE(ask(evaluation::Build{model::Kernel(source("speed=2"))}, {}));
  Bundle elsewhere = bundle();
  elsewhere.expected_device = "another";
  const auto refused = execute_bundle(write(elsewhere), machine(), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_NE(refused.error().message.find("\"another\""), std::string::npos) << refused.error().message;
  baseline_status_ = model::Status::incorrect_numerical;
  const auto broken = execute_bundle(write(bundle()), machine(), {});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::unavailable);
  baseline_status_ = model::Status::passed;
  EXPECT_TRUE(execute_bundle(write(bundle()), machine(), {})) << "mended, it goes on";
}

TEST_F(BundleTest, ABaselineThatFailsIsTheFirstBundlesAnswer) {
  EXPECT_FALSE(ask(evaluation::Open{task(), {}}, {}));
  baseline_status_ = model::Status::incorrect_numerical;
  round_trip();
  const auto opened = ask(evaluation::Open{task(), {}}, {});
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->baseline.status, model::Status::incorrect_numerical);
}

TEST_F(BundleTest, FullDisk_WhileTheTaskOpens_IsNoAnswer) {
  EXPECT_FALSE(ask(evaluation::Open{task(), {}}, {}));
  const auto folder = write(bundle());
  open_error_ = {ErrorCode::exhausted, "the disk is full"};
  const auto failed = execute_bundle(folder, machine(), {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::exhausted);
  open_error_.reset();
  EXPECT_TRUE(execute_bundle(folder, machine(), {})) << "mended, it goes on";
  EXPECT_TRUE(read_results(folder, *read_bundle(folder))->outcomes.begin()->second.result);
}

TEST_F(BundleTest, OpenThatFails_WhereItIsNotAsked_IsTheError) {
  EXPECT_FALSE(ask(evaluation::Build{model::Kernel(source("speed=2"))}, {}));
  const auto folder = write(bundle());
  open_error_ = {ErrorCode::invalid_argument, "the task's reference does not build"};
  const auto failed = execute_bundle(folder, machine(), {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "the task's reference does not build");
  open_error_.reset();
  const auto executed = execute_bundle(folder, machine(), {});
  EXPECT_TRUE(executed) << executed.error().message;
}

TEST_F(BundleTest, AStoppedExecutionGoesOnWhereItWas) {
  EXPECT_FALSE(ask(evaluation::Build{model::Kernel(source("speed=2"))}, {}));
  EXPECT_FALSE(ask(evaluation::Profile{model::Kernel(source("speed=2"))}, {}));
  EXPECT_FALSE(ask(evaluation::Confirm{model::Kernel(source("speed=2"))}, {}));
  const auto folder = write(bundle());
  std::stop_source stop;
  BundleExecution stopped = machine();
  stopped.notice = [&](const std::string& text) {
    if (text.find("profile") != std::string::npos) stop.request_stop();
  };
  const auto first = execute_bundle(folder, stopped, stop.get_token());
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, ErrorCode::cancelled);
  const auto unfinished = read_results(folder, *read_bundle(folder));
  ASSERT_FALSE(unfinished);
  EXPECT_EQ(unfinished.error().code, ErrorCode::not_found);
  EXPECT_NE(unfinished.error().message.find("1 of 3"), std::string::npos) << unfinished.error().message;
  const auto second = execute_bundle(folder, machine(), {});
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->done_before, 1U);
  EXPECT_EQ(work_.builds, 0);
  EXPECT_EQ(read_results(folder, *read_bundle(folder))->sessions.size(), 2U);
  work_ = {};
  EXPECT_EQ(execute_bundle(folder, machine(), {})->carried_out, 0U);
  EXPECT_EQ(work_.opens, 0) << "nothing was opened for it";
}

TEST_F(BundleTest, OneProcessAtATime) {
  EXPECT_FALSE(ask(evaluation::Build{model::Kernel(source("speed=2"))}, {}));
  const auto folder = write(bundle());
  const auto held = lock_bundle(folder);
  ASSERT_TRUE(held);
  const auto refused = execute_bundle(folder, machine(), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
}

TEST_F(BundleTest, FolderWithoutLocks_IsNotSaidToBeBusy) {
  EXPECT_EQ(lock_error("b", EWOULDBLOCK).message, "bundle b is being executed by another process");
  for (const int number : {ENOLCK, ENOSYS, EOPNOTSUPP}) {
    const base::Error error = lock_error("b", number);
    EXPECT_EQ(error.code, ErrorCode::unsupported);
    EXPECT_EQ(
        error.message,
        "bundle b: this file system has no locks; copy the bundle to a folder on another one and execute it there");
  }
  EXPECT_EQ(lock_error("b", EIO).message, "cannot lock bundle b: Input/output error");
}

TEST_F(BundleTest, EveryFlippedByteOfABundleIsFound) {
  EXPECT_FALSE(ask(evaluation::Race{model::Kernel(source("speed=2")), model::Kernel(source("speed=1"))}, {}));
  const auto folder = write(bundle());
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    ++files;
    const std::string whole = *base::read_file(entry.path());
    for (std::size_t at = 0; at + 1 < whole.size(); at += 7) {  // the last byte is a line end
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 1);
      ASSERT_TRUE(base::write_file(entry.path(), damaged));
      EXPECT_FALSE(read_bundle(folder)) << entry.path() << " at " << at;
      ASSERT_TRUE(base::write_file(entry.path(), whole));
    }
    for (const std::size_t size : {std::size_t{0}, whole.size() / 2}) {
      ASSERT_TRUE(base::write_file(entry.path(), whole.substr(0, size)));
      EXPECT_FALSE(read_bundle(folder)) << entry.path() << " cut to " << size;
    }
    ASSERT_TRUE(base::write_file(entry.path(), whole));
  }
  EXPECT_EQ(files, 4) << "manifest, task, two solutions";
  EXPECT_TRUE(read_bundle(folder));
}

TEST_F(BundleTest, FindsBundlesAndNothingElse) {
  EXPECT_FALSE(find_bundles(folder_.path()));
  EXPECT_FALSE(find_bundles(folder_.path() / "nowhere"));
  EXPECT_FALSE(ask(evaluation::Build{model::Kernel(source("speed=2"))}, {}));
  const auto folder = write(bundle());
  std::filesystem::create_directory(folder.parent_path() / "something else");
  EXPECT_EQ(*find_bundles(folder), (std::vector<std::filesystem::path>{folder}));
  EXPECT_EQ(*find_bundles(folder.parent_path()), (std::vector<std::filesystem::path>{folder}));
  EXPECT_EQ(read_bundle(folder.parent_path()).error().code, ErrorCode::not_found);
}

TEST(DistrustedFiles, AreReadWithinBounds) {
  const auto folder = *base::TemporaryFolder::create("accelopt-distrusted");
  ASSERT_TRUE(base::write_file(folder.path() / "file", "12345"));
  EXPECT_EQ(*read_plain_file(folder.path(), "file", 5), "12345");
  EXPECT_EQ(read_plain_file(folder.path(), "file", 4).error().code, ErrorCode::corrupt);
  EXPECT_EQ(read_plain_file(folder.path(), "other", 4).error().code, ErrorCode::not_found);
  std::filesystem::create_symlink(folder.path() / "file", folder.path() / "link");
  EXPECT_EQ(read_plain_file(folder.path(), "link", 5).error().code, ErrorCode::corrupt);
  std::filesystem::create_directory(folder.path() / "folder");
  EXPECT_EQ(read_plain_file(folder.path(), "folder", 5).error().code, ErrorCode::corrupt);
  ASSERT_EQ(mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_plain_file(folder.path(), "pipe", 5).error().code, ErrorCode::corrupt) << "and does not wait for it";
  EXPECT_EQ(parse_distrusted(std::string(1'000'000, '['), "x").error().code, ErrorCode::corrupt);
  EXPECT_TRUE(
      parse_distrusted(R"({"a": "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\""})", "x"));
}

/// A request, an answer to it, and whether that may reach a search.
struct Formed {
  const char* name;
  Json request;
  Json result;
  bool good;
};

TEST(CheckForm, RefusesWhatASearchCouldNotWorkWith) {
  fakes::FakeEvaluator device;
  const auto answer = [&](const Json& request) { return evaluation::perform(device, request, {}).value(); };
  const auto with = [](Json value, const char* key, const Json& field) {
    value[key] = field;
    return value;
  };
  const Json race = race_of("speed=2");
  const Json playoff = {{"op", "playoff"},
                        {"arms", std::vector<evaluation::Arm>{evaluation::Arm{model::Kernel(source("a"))},
                                                              evaluation::Arm{model::Kernel(source("b"))}}},
                        {"places", 1}};
  const Json held_out = {{"op", "verify_held_out"}, {"solution", source("a")}};
  const Json tuned = race_of("//@ tune A in {1, 2}\nspeed=3");
  Json one_arm = answer(playoff);
  one_arm["arms"].erase(0);
  Json two_values = answer(tuned);
  two_values["tuning"]["chosen"] = {1, 2};
  two_values["tuning"]["names"] = {"A", "B"};
  const Json upside_down = {{"estimate", 1.0}, {"low", 2.0}, {"high", 3.0}};
  for (const Formed& one : std::vector<Formed>{
           {"race", race, answer(race), true},
           {"failed race", race_of("crash"), answer(race_of("crash")), true},
           {"tuned race", tuned, answer(tuned), true},
           {"values of other names", tuned, two_values, false},
           {"no object", race, Json(3), false},
           {"null", race, Json(), false},
           {"unknown status", race, with(answer(race), "status", "GREAT"), false},
           {"passed without ratio", race, with(answer(race), "ratio", nullptr), false},
           {"infinite ratio", race, with(answer(race), "ratio", {{"estimate", "inf"}, {"low", 1}, {"high", "inf"}}),
            false},
           {"not even a number", race, with(answer(race), "ratio", {{"estimate", "x"}, {"low", 1}, {"high", 2}}),
            false},
           {"interval upside down", race, with(answer(race), "ratio", upside_down), false},
           {"play-off", playoff, answer(playoff), true},
           {"an arm short", playoff, one_arm, false},
           {"build", build_of("a"), answer(build_of("a")), true},
           {"built without code", build_of("a"), with(answer(build_of("a")), "machine_code_id", ""), false},
           {"held out", held_out, answer(held_out), true},
           {"no such status", held_out, Json("FINE"), false},
           {"unknown operation", {{"op", "dance"}}, Json(), false}}) {
    const auto checked = evaluation::check_form(one.request, one.result);
    EXPECT_EQ(checked.has_value(), one.good) << one.name << (checked ? "" : ": " + checked.error().message);
    if (checked) continue;
    EXPECT_EQ(checked.error().code, ErrorCode::parse) << one.name;
  }
}

}  // namespace
}  // namespace accelopt::bundles
