// SPDX-License-Identifier: Apache-2.0
// The SurrealDB store and the real engine: several writers, a server that is killed, tables of earlier versions.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "memory/sanitation.hpp"
#include "memory/store_contract.hpp"
#include "memory/surreal/engine.hpp"
#include "memory/surreal/store.hpp"

namespace accelopt::memory::surreal {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Json;
using fakes::SurrealServer;

/// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "accelopt-surreal-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder(Folder&&) = delete;
  Folder& operator=(Folder&&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

TEST_F(SurrealEngine, TextsThatLookLikeRecordsOrStatementsStayTexts) {
  const SurrealServer server;
  const auto store = open_at(server);
  ASSERT_TRUE(store);
  model::Experience odd = sample_experience(1);
  odd.title = "task:matmul";
  odd.strategy = "2026-01-02T03:04:05Z";
  odd.before = "018f6a2e-7c1b-7e52-9d3c-0123456789ab";
  odd.after = R"('); REMOVE TABLE optimization; -- $rows \ " ` ${x})";
  odd.diff = "r'task:x' <record>task:y d\"2026\" \xe2\x9f\xa8z\xe2\x9f\xa9";
  odd.task = "optimization:one`; REMOVE NAMESPACE team; `";
  ASSERT_EQ(store->insert({&odd, 1}, Forgotten::stays).value(), 1);
  const auto found = store->list({});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 1U);
  Json expected(made_fit(odd).experience);
  EXPECT_EQ(Json(found->front().experience), expected);
}

TEST_F(SurrealEngine, ALargeInsertGoesInPieces) {
  const SurrealServer server;
  const auto store = open_at(server);
  ASSERT_TRUE(store);
  std::vector<model::Experience> large;
  for (int i = 0; i < 80; ++i) {
    large.push_back(sample_experience(i));
    large.back().diff = std::string(60'000, 'd') + std::to_string(i);  // 4.8 MB: more than the server takes at once
  }
  const auto inserted = store->insert(large, Forgotten::stays);
  ASSERT_TRUE(inserted) << inserted.error().message;
  EXPECT_EQ(*inserted, 80);
  const auto all = store->list({.limit = 0});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->size(), 80U);
}

TEST_F(SurrealEngine, CardsBeyondTheLongestAnswer_ReadInSmallerPages) {
  const SurrealServer server;
  Options options;
  options.limits.body_bytes = std::size_t{5} << 20U;
  const auto store = open_store(*parse_address(server.address()), SurrealServer::kPassword, options);
  ASSERT_TRUE(store) << store.error().message;
  std::vector<model::Experience> many;
  for (int i = 0; i < 700; ++i) {
    many.push_back(sample_experience(i));
    many.back().strategy += std::string(8'000, 'x');  // 5.8 MB of cards
  }
  ASSERT_TRUE((*store)->insert(many, Forgotten::stays));
  const auto matches = (*store)->retrieve({.language = "cpp", .target = "cpu", .op_type = "matmul", .limit = 200});
  ASSERT_TRUE(matches) << matches.error().message;
  EXPECT_EQ(matches->size(), 200U);
  const auto found = (*store)->search("number699", {.limit = 1});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->size(), 1U);
}

/// What a new process retrieves; a digest is worth its while from `worth` cards on, and holds them at once.
std::set<std::string> first_retrieval(const SurrealServer& server, std::size_t worth) {
  Options options;
  options.worth_a_digest = worth;
  options.overlap = std::chrono::microseconds(0);
  const auto store = open_store(*parse_address(server.address()), SurrealServer::kPassword, options);
  EXPECT_TRUE(store) << store.error().message;
  const auto matches = (*store)->retrieve({.language = "cpp", .target = "cpu", .op_type = "matmul", .limit = 200});
  EXPECT_TRUE(matches) << matches.error().message;
  std::set<std::string> ids;
  for (const Match& match : *matches) ids.insert(match.item.experience.id);
  return ids;
}

TEST_F(SurrealEngine, ADigest_GivesWhatTheCardsGive) {
  const SurrealServer server;
  const auto store = open_at(server);
  std::vector<model::Experience> some;
  for (int i = 0; i < 40; ++i) some.push_back(sample_experience(i));
  ASSERT_TRUE(store->insert(some, Forgotten::stays));
  const auto all = first_retrieval(server, 20);
  EXPECT_EQ(all.size(), 40U);
  const auto heads = [&] {
    return other_tool(server, "SELECT VALUE stamp FROM card_digest WHERE stamp != NONE")[0]["result"];
  };
  ASSERT_EQ(heads().size(), 1U);

  // Its cards need not be there any more; what came after it, and what was hidden, is seen.
  other_tool(server, "DELETE card RETURN NONE");
  EXPECT_EQ(first_retrieval(server, 20), all);
  ASSERT_TRUE(store->insert({{sample_experience(40)}}, Forgotten::stays));
  ASSERT_TRUE(store->quarantine(*all.begin(), Visibility::hidden));
  const auto later = first_retrieval(server, 20);
  EXPECT_EQ(later.size(), 40U);
  EXPECT_FALSE(later.contains(*all.begin()));
}

TEST_F(SurrealEngine, ADigest_IsNotBelievedBlindly) {
  const SurrealServer server;
  const auto store = open_at(server);
  std::vector<model::Experience> some;
  for (int i = 0; i < 30; ++i) some.push_back(sample_experience(i));
  ASSERT_TRUE(store->insert(some, Forgotten::stays));
  std::size_t all = first_retrieval(server, 20).size();
  for (const char* damage : {"UPDATE card_digest SET stamp = 9000000000000000000 WHERE stamp != NONE",
                             "UPDATE card_digest SET rows = '[1, {}, {\"id\": 3}]' WHERE rows != NONE",
                             "UPDATE card_digest SET rows = 7 WHERE rows != NONE",
                             "UPDATE card_digest SET parts = 4097", "UPDATE card_digest SET parts = 3",
                             "UPDATE card_digest SET generation = [1]", "DELETE card_digest WHERE rows != NONE"}) {
    SCOPED_TRACE(damage);
    other_tool(server, damage + std::string(" RETURN NONE"));
    some = {sample_experience(static_cast<int>(all))};
    ASSERT_TRUE(store->insert(some, Forgotten::stays));
    EXPECT_EQ(first_retrieval(server, 20).size(), ++all);  // and writes it again
  }
}

TEST_F(SurrealEngine, ADigest_HoldsNothingThatWasForgotten) {
  const SurrealServer server;
  const auto store = open_at(server);
  std::vector<model::Experience> some;
  for (int i = 0; i < 30; ++i) some.push_back(sample_experience(i));
  ASSERT_TRUE(store->insert(some, Forgotten::stays));
  const auto all = first_retrieval(server, 20);
  ASSERT_TRUE(store->forget(*all.begin()));
  EXPECT_EQ(other_tool(server, "SELECT id FROM card_digest")[0]["result"].size(), 0U);
  EXPECT_EQ(first_retrieval(server, 20).size(), 29U);
}

TEST_F(SurrealEngine, AKilledServerIsUnavailableAndComesBackWithEverything) {
  for (const char* engine : {"rocksdb", "surrealkv"}) {
    SCOPED_TRACE(engine);
    const Folder folder;
    SurrealServer server((folder.path() / "data").string(), engine);
    const auto store = open_at(server);
    ASSERT_TRUE(store);
    const std::vector<model::Experience> two{sample_experience(1), sample_experience(2)};
    ASSERT_TRUE(store->insert({two.data(), 1}, Forgotten::stays));
    server.kill();
    const auto down = store->insert(two, Forgotten::stays);
    ASSERT_FALSE(down);
    EXPECT_EQ(down.error().code, ErrorCode::unavailable) << down.error().message;
    EXPECT_EQ(store->retrieve({.language = "cpp", .target = "cpu"}).error().code, ErrorCode::unavailable);
    server.restart();
    const auto back = store->insert(two, Forgotten::stays);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, 1);
    EXPECT_EQ(store->stats()->experiences, 2);
  }
}

TEST_F(SurrealEngine, ErrorsOfTheEngineSayWhatToDo) {
  const SurrealServer server;
  const auto with = [&](const std::string& from, const std::string& to, const std::string& password) {
    std::string text = server.address();
    text.replace(text.find(from), from.size(), to);
    const auto store = open_store(*parse_address(text), password);
    EXPECT_FALSE(store);
    if (store) return base::Error{};
    EXPECT_EQ(store.error().message.find(password), std::string::npos) << store.error().message;
    return store.error();
  };
  EXPECT_EQ(with("root@", "root@", "another password").code, ErrorCode::unauthenticated);
  EXPECT_EQ(with("root@", "nobody@", SurrealServer::kPassword).code, ErrorCode::unauthenticated);
  EXPECT_EQ(with("/team/", "/nowhere/", SurrealServer::kPassword).code, ErrorCode::not_found);
  EXPECT_EQ(with("/knowledge", "/nothing", SurrealServer::kPassword).code, ErrorCode::not_found);
}

TEST_F(SurrealEngine, UsersOfANamespaceOrADatabaseSignInToo) {
  const SurrealServer server;
  other_tool(server,
             "DEFINE USER ann ON NAMESPACE PASSWORD 'a:nn' ROLES EDITOR;"
             "DEFINE USER bob ON DATABASE PASSWORD 'task:bob' ROLES EDITOR");
  for (const auto& [user, password] : {std::pair("ann", "a:nn"), std::pair("bob", "task:bob")}) {
    std::string text = server.address();
    text.replace(text.find("root@"), 5, std::string(user) + "@");
    const auto store = open_store(*parse_address(text), password);
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_TRUE((*store)->stats());
  }
}

TEST_F(SurrealEngine, AnswersAsWasRecorded) {
  const SurrealServer server;
  const std::function<Json(const Json&)> blanked = [&](const Json& value) -> Json {
    if (!value.is_structured()) return value;
    Json out = value;
    for (auto it = out.begin(); it != out.end(); ++it) {
      const bool volatile_one = out.is_object() && (it.key() == "time" || it.key() == "token");
      *it = volatile_one ? Json("(blank)") : blanked(*it);
    }
    return out;
  };
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(ACCELOPT_SURREAL_FIXTURES)) files.insert(entry.path());
  EXPECT_GE(files.size(), 12U);
  for (const fs::path& file : files) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    const Json fixture = Json::parse(text.str());
    const Json& request = fixture["request"];
    std::vector<http::Header> headers;
    for (const auto& [name, value] : request["headers"].items()) {
      const bool blank = value == "Basic (blank)";
      headers.push_back({name, blank ? basic_root() : value.get<std::string>()});
    }
    std::string body = request["body"].get<std::string>();
    if (const std::size_t at = body.find("(blank)"); at != std::string::npos)
      body.replace(at, 7, SurrealServer::kPassword);
    const auto reply =
        send(server, request["method"].get<std::string>(), request["path"].get<std::string>(), headers, body);
    EXPECT_EQ(reply.head.status, fixture["reply"]["status"].get<int>()) << file;
    const Json& expected = fixture["reply"]["body"];
    if (expected.is_string()) {
      EXPECT_EQ(reply.body, expected.get<std::string>()) << file;
    } else {
      EXPECT_EQ(blanked(Json::parse(reply.body, nullptr, false)), expected) << file;
    }
  }
}

TEST_F(SurrealEngine, AnItemWithASecondEntryIsGivenOnce) {
  const SurrealServer server;
  const auto store = open_at(server);
  ASSERT_TRUE(store);
  const std::vector<model::Experience> both{sample_experience(1), sample_experience(2)};
  ASSERT_EQ(store->insert(both, Forgotten::stays).value(), 2);
  // As two writers leave it that inserted the same at once, where the engine does not keep them apart.
  const Json done = other_tool(server, R"(LET $entries = (SELECT * FROM entry);
    FOR $entry IN $entries {
      LET $id = record::id($entry.id);
      CREATE type::record('entry', [$id[0] - 1, $id[1]]) CONTENT object::remove($entry, 'id');
    })");
  ASSERT_EQ(done.back().at("status"), "OK") << done.dump(2);
  EXPECT_EQ(other_tool(server, "SELECT * FROM entry").at(0).at("result").size(), 4U);
  std::multiset<std::string> seen;
  ASSERT_TRUE(store->for_each([&](const Item& item) -> base::Result<void> {
    seen.insert(item.experience.id);
    return {};
  }));
  const auto ids = store_ids(both);
  EXPECT_EQ(seen, std::multiset<std::string>(ids.begin(), ids.end()));
  const auto listed = store->list({});
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(listed->size(), 2U);
}

TEST_F(SurrealEngine, TablesOfVersion1AreBroughtUpToDate) {
  const SurrealServer server;
  {
    const auto store = open_at(server);
    ASSERT_TRUE(store);
    const std::vector<model::Experience> two{sample_experience(1), sample_experience(2)};
    ASSERT_EQ(store->insert(two, Forgotten::stays).value(), 2);
  }
  // As version 1 counted: one record a language, of which each insertion took the next number.
  const Json done =
      other_tool(server, R"(DELETE counter; CREATE counter:cpp SET n = 7; CREATE counter:fortran SET n = 3;
    UPDATE optimization SET seq = 5; UPDATE accelopt_schema:current SET version = 1)");
  ASSERT_EQ(done.back().at("status"), "OK") << done.dump(2);
  const auto store = open_at(server);
  ASSERT_TRUE(store);
  const model::Experience later = sample_experience(3);
  ASSERT_EQ(store->insert({&later, 1}, Forgotten::stays).value(), 1);
  const auto ids = store_ids({sample_experience(1), later});
  EXPECT_EQ(store->get(ids[0])->age, 3);
  EXPECT_EQ(store->get(ids[1])->age, 0);
  EXPECT_EQ(other_tool(server, "SELECT VALUE version FROM accelopt_schema")[0]["result"], Json::array({4}));
  EXPECT_EQ(other_tool(server, "RETURN math::sum(SELECT VALUE n FROM counter)")[0]["result"], 11);
  // Once is enough.
  ASSERT_TRUE(open_at(server));
  EXPECT_EQ(other_tool(server, "RETURN math::sum(SELECT VALUE n FROM counter)")[0]["result"], 11);
}

TEST_F(SurrealEngine, TablesOfVersion2CountFromTheirLastPlace) {
  const SurrealServer server;
  {
    const auto store = open_at(server);
    ASSERT_TRUE(store);
    const std::vector<model::Experience> two{sample_experience(1), sample_experience(2)};
    ASSERT_EQ(store->insert(two, Forgotten::stays).value(), 2);
  }
  // As version 2 counted: less than the last place.
  const Json done = other_tool(server, R"(DELETE counter; CREATE counter:['cpp', 9] SET n = 2;
    UPDATE optimization SET seq = 40; UPDATE accelopt_schema:current SET version = 2)");
  ASSERT_EQ(done.back().at("status"), "OK") << done.dump(2);
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(open_at(server));
    EXPECT_EQ(other_tool(server, "SELECT VALUE version FROM accelopt_schema")[0]["result"], Json::array({4}));
    EXPECT_EQ(other_tool(server, "RETURN math::sum(SELECT VALUE n FROM counter)")[0]["result"], 40);
  }
}

TEST_F(SurrealEngine, TablesOfVersion3LoseEntriesOfReplacedRecords) {
  const SurrealServer server;
  {
    const auto store = open_at(server);
    ASSERT_TRUE(store);
    const std::vector<model::Experience> two{sample_experience(1), sample_experience(2)};
    ASSERT_EQ(store->insert(two, Forgotten::stays).value(), 2);
  }
  const Json done = other_tool(server, R"(REMOVE EVENT accelopt_replace ON optimization;
    UPDATE accelopt_schema:current SET version = 3)");
  ASSERT_EQ(done.back().at("status"), "OK") << done.dump(2);
  other_tool(server, "UPDATE optimization CONTENT { title: 'another', language: 'cpp' }");
  EXPECT_GT(other_tool(server, "SELECT * FROM entry")[0]["result"].size(), 2U);
  const auto store = open_at(server);
  ASSERT_TRUE(store);
  EXPECT_EQ(other_tool(server, "SELECT * FROM entry")[0]["result"].size(), 2U);
  EXPECT_EQ(store->list({})->size(), 2U);
}

TEST_F(SurrealEngine, CreditThatWasCutShortOrOverwrittenIsMadeUpFor) {
  const SurrealServer server;
  const auto store = open_at(server);
  ASSERT_TRUE(store);
  model::Experience made = sample_experience(1);
  made.credit = {.shown = 4, .used = 3, .confirmed = 2, .refuted = 1};
  ASSERT_EQ(store->insert({&made, 1}, Forgotten::stays).value(), 1);
  const std::string id = store_ids({made})[0];
  const CreditEvent event{.id = "e", .experience = id, .kind = CreditEvent::Kind::confirmed, .run = "r", .plan = "p"};
  ASSERT_EQ(store->credit({&event, 1}).value(), 1);
  EXPECT_EQ(store->get(id)->experience.credit.confirmed, 3);
  for (const char* number : {"2", "900"}) {
    other_tool(server, std::string("UPDATE optimization SET confirmed = ") + number);
    EXPECT_EQ(store->credit({&event, 1}).value(), 0) << "sent once more";
    EXPECT_EQ(store->get(id)->experience.credit.confirmed, 3);
    EXPECT_EQ(store->get(id)->experience.credit.used, 4);
    EXPECT_EQ(store->get(id)->experience.credit.shown, 4);
  }
}

// Writers ------------------------------------------------------------------------------------------------------------

constexpr int kWriters = 4;
constexpr int kShared = 40;  ///< experiences that every writer inserts too

std::chrono::seconds stress_time() {
  const char* text = std::getenv("ACCELOPT_STRESS_SECONDS");
  return std::chrono::seconds(text != nullptr ? std::atoi(text) : 2);
}

/// What one writer process does; its exit status: 0, all went well. Notes on `log` what the store took.
int write_for_a_while(const std::string& address, int writer, const fs::path& log) {
  const auto parsed = parse_address(address);
  auto store = open_store(*parsed, SurrealServer::kPassword);
  if (!store) {
    std::fprintf(stderr, "writer %d: %s\n", writer, store.error().message.c_str());
    return 1;
  }
  std::ofstream out(log);
  const auto deadline = std::chrono::steady_clock::now() + stress_time();
  std::chrono::steady_clock::duration slowest{};
  for (int round = 0; round < 5 || std::chrono::steady_clock::now() < deadline; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<model::Experience> some;
    for (int i = 0; i < 3; ++i) some.push_back(sample_experience(1000 + writer * 1'000'000 + round * 3 + i));
    some.push_back(sample_experience(round % kShared));
    const auto inserted = (*store)->insert(some, Forgotten::stays);
    const CreditEvent event{.id = "w" + std::to_string(writer) + " r" + std::to_string(round),
                            .experience = store_ids({sample_experience(0)})[0],
                            .kind = CreditEvent::Kind::confirmed,
                            .run = "run" + std::to_string(writer),
                            .plan = "a plan"};
    const auto credited = (*store)->credit({&event, 1});
    if (!inserted || !credited) {
      std::fprintf(stderr, "writer %d: %s\n", writer, (inserted ? credited.error() : inserted.error()).message.c_str());
      return 2;
    }
    if (*inserted < 3 || *inserted > 4 || *credited != 1) return 3;
    for (const std::string& id : store_ids(some)) out << id << '\n';
    out << "event " << event.id << '\n';
    slowest = std::max(slowest, std::chrono::steady_clock::now() - begin);
  }
  out << "slowest " << std::chrono::duration_cast<std::chrono::milliseconds>(slowest).count() << '\n';
  out.flush();
  return out ? 0 : 4;
}

/// By the storage of the engine.
class SurrealWriters : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (const std::string reason = SurrealServer::missing(); !reason.empty()) GTEST_SKIP() << reason;
  }
};

TEST_P(SurrealWriters, FourProcessesLoseNothingAndWriteNothingTwice) {
  const Folder folder;
  const SurrealServer server((folder.path() / "data").string(), GetParam());
  ASSERT_NE(server.port(), 0);
  std::vector<pid_t> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(write_for_a_while(server.address(), writer, folder.path() / std::to_string(writer)));
    writers.push_back(child);
  }
  for (const pid_t writer : writers) {
    int status = 0;
    ASSERT_EQ(waitpid(writer, &status, 0), writer);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "a writer ended with " << status;
  }
  std::set<std::string> expected;
  std::int64_t events = 0;
  std::int64_t slowest_ms = 0;
  for (int writer = 0; writer < kWriters; ++writer) {
    std::ifstream log(folder.path() / std::to_string(writer));
    for (std::string line; std::getline(log, line);) {
      if (line.starts_with("event ")) {
        ++events;
      } else if (line.starts_with("slowest ")) {
        slowest_ms = std::max<std::int64_t>(slowest_ms, std::atoll(line.c_str() + 8));
      } else {
        expected.insert(line);
      }
    }
  }
  const auto store = open_at(server);
  ASSERT_TRUE(store);
  std::multiset<std::string> seen;
  ASSERT_TRUE(store->for_each([&](const Item& item) -> base::Result<void> {
    seen.insert(item.experience.id);
    return {};
  }));
  EXPECT_EQ(seen.size(), expected.size()) << "once each";
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()), expected);
  EXPECT_EQ(store->stats()->experiences, static_cast<std::int64_t>(expected.size()));
  EXPECT_EQ(store->stats()->credit_events, events);
  std::printf("%s: %zu experiences, %lld events by %d processes, at most %lld ms for four and one\n", GetParam(),
              expected.size(), static_cast<long long>(events), kWriters, static_cast<long long>(slowest_ms));
  EXPECT_GT(expected.size(), 50U);
  EXPECT_LT(slowest_ms, 15'000) << "a writer starved";
  // One more event counts all of them anew.
  const std::string id = store_ids({sample_experience(0)})[0];
  const CreditEvent last{.id = "last", .experience = id, .kind = CreditEvent::Kind::refuted, .run = "r", .plan = "p"};
  EXPECT_EQ(store->credit({&last, 1}).value(), 1);
  const auto shared = store->get(id);
  ASSERT_TRUE(shared) << shared.error().message;
  EXPECT_EQ(shared->experience.credit.confirmed, events);
  EXPECT_EQ(shared->experience.credit.refuted, 1);
  EXPECT_EQ(shared->experience.credit.used, events + 1);
}

INSTANTIATE_TEST_SUITE_P(Engines, SurrealWriters, testing::Values("rocksdb", "surrealkv"),
                         [](const auto& engine) { return std::string(engine.param); });

}  // namespace
}  // namespace accelopt::memory::surreal
