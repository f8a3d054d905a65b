// SPDX-License-Identifier: Apache-2.0
#include "app/config.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <stop_token>
#include <thread>

#include "base/files.hpp"
#include "environment.hpp"

namespace accelopt::app {
namespace {

constexpr const char* kWhole = R"([models.default]
api = "openai"
base_url = "http://localhost:8000/v1"
model = "some/model"
key_env = "SOME_KEY"
price = { input = 0.15, output = 0.60 }
max_concurrency = 8
temperature = 1.0

[models.coder]
base_url = "http://localhost:8001/v1"
model = "coder"

[roles]
executor = "coder"
)";

TEST(ParseConfig, ReadsModelsPricesAndRoles) {
  const auto config = parse_config(kWhole, "accelopt.toml");
  ASSERT_TRUE(config) << config.error().message;
  const ModelConfig& model = config->models.at("default");
  EXPECT_EQ(model.model, "some/model");
  EXPECT_EQ(model.max_concurrency, 8);
  EXPECT_EQ(model.temperature, 1.0);
  ASSERT_TRUE(model.price);
  EXPECT_DOUBLE_EQ(model.price->output, 0.60);
  EXPECT_DOUBLE_EQ(model.price->cached_input, 0.15);  // as dear as other input unless told
  EXPECT_FALSE(config->models.at("coder").price);
  EXPECT_EQ(config->roles.at("executor"), "coder");
}

/// The message of a refused text.
std::string refusal(const std::string& text) {
  const auto config = parse_config(text, "accelopt.toml");
  EXPECT_FALSE(config) << text;
  return config ? "" : config.error().message;
}

TEST(ParseConfig, PriceWithoutEnd_IsRefused) {
  const std::string model = "[models.a]\nbase_url = \"http://u\"\nmodel = \"m\"\n";
  for (const char* price : {"input = inf, output = 1", "input = 1, output = inf", "input = 1, output = nan",
                            "input = 1, cached_input = inf, output = 1", "input = -1, output = 1"}) {
    EXPECT_NE(refusal(model + "price = { " + price + " }\n").find("must be 0 or more dollars"), std::string::npos)
        << price;
  }
}

TEST(ParseConfig, NamesFileLineAndKeyOfWhatItRefuses) {
  EXPECT_NE(refusal("[models.a]\nbase_url = 3\nmodel = \"m\"\n").find("accelopt.toml:2: models.a.base_url"),
            std::string::npos);
  EXPECT_NE(refusal("[models.a]\nbase_url = \"http://u\"\nmodel = \"m\"\nmodle = \"n\"\n")
                .find("accelopt.toml:4: models.a.modle"),
            std::string::npos);
  EXPECT_NE(refusal("[models.a]\nmodel = \"m\"\n").find("base_url"), std::string::npos);
  EXPECT_NE(refusal("[models.a\n").find("accelopt.toml:1"), std::string::npos);
  EXPECT_NE(refusal("[roles]\npainter = \"a\"\n").find("roles.painter"), std::string::npos);
  EXPECT_NE(refusal("[models.a]\napi = \"telepathy\"\nbase_url = \"http://u\"\nmodel = \"m\"\n").find("telepathy"),
            std::string::npos);
}

TEST(ParseConfig, ReadsWorkersInTheirOrder) {
  EXPECT_TRUE(parse_config(kWhole, "accelopt.toml")->workers.empty());
  const auto config = parse_config(
      "[[workers]]\ncommand = \"ssh b accelopt worker\"\nname = \"b\"\n[[workers]]\ncommand = \"ssh a 'x y'\"\n",
      "accelopt.toml");
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_EQ(config->workers.size(), 2U);
  EXPECT_EQ(config->workers[0].command, "ssh b accelopt worker");
  EXPECT_EQ(config->workers[0].name, "b");
  EXPECT_EQ(config->workers[1].command, "ssh a 'x y'");
  EXPECT_EQ(config->workers[1].name, "");
}

TEST(ParseConfig, RefusesWorkersThatCannotBeStartedOrTold) {
  const auto says = [](const std::string& text, const char* words) {
    const std::string said = refusal(text);
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  says("[[workers]]\nname = \"a\"\n", "workers[0].command");
  says("[[workers]]\ncommand = \"ssh 'a\"\n", "accelopt.toml:2: workers[0].command");
  says("[[workers]]\ncommand = \"\"\n", "it is empty");
  says("[[workers]]\ncommand = \"a\"\ndevice = \"cpu\"\n", "accelopt.toml:3: workers[0].device");
  says("[[workers]]\ncommand = \"a\"\nname = \"n\"\n[[workers]]\ncommand = \"b\"\nname = \"n\"\n",
       "accelopt.toml:6: workers[1].name");
  says("[workers]\ncommand = \"a\"\n", "[[workers]]");
}

TEST(ParseConfig, ReadsWhenASearchIsNearEnough) {
  EXPECT_FALSE(parse_config(kWhole, "accelopt.toml")->near_roofline);
  EXPECT_EQ(parse_config("[search]\nnear_roofline = 0\n", "accelopt.toml")->near_roofline, 0);
  EXPECT_NE(refusal("[search]\nnear_roofline = 5\n").find("accelopt.toml:2: search.near_roofline: must be at least 0"),
            std::string::npos);
  EXPECT_NE(refusal("[search]\npatience = 5\n").find("search.patience"), std::string::npos);
}

TEST(ParseConfig, ReadsEveryApi) {
  const auto config = parse_config(R"([models.a]
api = "anthropic"
model = "claude"
reasoning = 4096
requests_per_minute = 50
tokens_per_minute = 40000
ca_file = "/etc/own.pem"
timeouts = { connect = 1, stall = 2.5, total = 60 }
retries = { tries = 3, first_wait = 0.25, longest_wait = 8 }
[models.g]
api = "gemini"
base_url = "http://localhost:1"
model = "gem"
reasoning = "high"
[models.m]
api = "mailbox"
dir = "questions"
)",
                                   "accelopt.toml");
  ASSERT_TRUE(config) << config.error().message;
  const llm::EndpointOptions a = endpoint_options(config->models.at("a"), llm::Secret("k"));
  EXPECT_EQ(a.api, llm::Api::anthropic);
  EXPECT_EQ(a.base_url, "https://api.anthropic.com/v1") << "the vendor's own";
  EXPECT_EQ(a.reasoning.tokens, 4096);
  EXPECT_EQ(a.requests_per_minute, 50);
  EXPECT_EQ(a.tokens_per_minute, 40'000);
  EXPECT_EQ(a.ca_file, "/etc/own.pem");
  EXPECT_EQ(a.limits.connect, std::chrono::seconds(1));
  EXPECT_EQ(a.limits.stall, std::chrono::milliseconds(2'500));
  EXPECT_EQ(a.limits.total, std::chrono::minutes(1));
  EXPECT_EQ(a.retry.max_tries, 3);
  EXPECT_EQ(a.retry.first_wait, std::chrono::milliseconds(250));
  EXPECT_EQ(a.retry.longest_wait, std::chrono::seconds(8));
  const llm::EndpointOptions g = endpoint_options(config->models.at("g"), {});
  EXPECT_EQ(g.api, llm::Api::gemini);
  EXPECT_EQ(g.base_url, "http://localhost:1");
  EXPECT_EQ(g.reasoning.effort, "high");
  EXPECT_EQ(config->models.at("m").dir, "questions");
  EXPECT_EQ(config->models.at("m").model, "mailbox");
}

TEST(ParseConfig, RefusesWhatDoesNotGoTogether) {
  const auto refused = [](const std::string& lines, const std::string& part) {
    EXPECT_NE(refusal("[models.a]\n" + lines).find(part), std::string::npos) << refusal("[models.a]\n" + lines);
  };
  const std::string good = "base_url = \"http://h/v1\"\nmodel = \"m\"\n";
  refused("api = \"mailbox\"\n", "models.a.dir");
  refused("base_url = \"http://me:sk-1@h/v1\"\nmodel = \"m\"\n", "a user name or a password");
  refused("base_url = \"http://h/v1?key=sk-1\"\nmodel = \"m\"\n", "query");
  refused("base_url = \"ftp://h\"\nmodel = \"m\"\n", "only http and https");
  refused(good + "key_env = \"sk-1\"\n", "is it the key itself?");
  EXPECT_EQ(refusal("[models.a]\n" + good + "key_env = \"sk-1\"\n").find("sk-1"), std::string::npos);
  EXPECT_EQ(refusal("[models.a]\nbase_url = \"http://h/v1?key=sk-1\"\nmodel = \"m\"\n").find("sk-1"),
            std::string::npos);
  refused(good + "dir = \"d\"\n", "mailbox");
  refused(good + "reasoning = \"vast\"\n", "vast");
  refused(good + "reasoning = -1\n", "models.a.reasoning");
  refused(good + "reasoning = true\n", "models.a.reasoning");
  refused(good + "requests_per_minute = 0\n", "at least 1");
  refused(good + "timeouts = { stall = 0 }\n", "models.a.timeouts.stall");
  refused(good + "timeouts = { stal = 3 }\n", "models.a.timeouts.stal");
  refused(good + "retries = { tries = 0 }\n", "models.a.retries.tries");
}

TEST(ParseConfig, RefusesKeysInFiles) {
  const std::string message = refusal("[models.a]\nbase_url = \"http://u\"\nmodel = \"m\"\nkey = \"sk-secret\"\n");
  EXPECT_NE(message.find("key_env"), std::string::npos);
  EXPECT_EQ(message.find("sk-secret"), std::string::npos);
}

TEST(LoadConfig, Workspace_WinsModelByModel) {
  const auto folder = base::TemporaryFolder::create("accelopt-config");
  ASSERT_TRUE(folder);
  const auto workspace = folder->path() / ".accelopt";
  ASSERT_TRUE(base::make_folders(workspace));
  ASSERT_TRUE(
      base::write_file(workspace / "accelopt.toml", "[models.default]\nbase_url = \"http://near\"\nmodel = \"m\"\n"));
  ASSERT_TRUE(base::write_file(folder->path() / "accelopt.toml", kWhole));
  const auto config = load_config(workspace, environment_of());
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->models.at("default").base_url, "http://near");
  EXPECT_EQ(config->models.at("coder").model, "coder");

  ASSERT_TRUE(base::write_file(workspace / "accelopt.toml", "[roles]\nfixer = \"nobody\"\n"));
  const auto refused = load_config(workspace, environment_of());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("nobody"), std::string::npos);
}

TEST(LoadConfig, AMailboxIsBesideItsFile) {
  const auto folder = base::TemporaryFolder::create("accelopt-config");
  ASSERT_TRUE(folder);
  ASSERT_TRUE(
      base::write_file(folder->path() / "accelopt.toml", "[models.default]\napi = \"mailbox\"\ndir = \"desk\"\n"));
  const auto config = load_config(folder->path(), environment_of());
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->models.at("default").dir, (folder->path() / "desk").string());
}

TEST(FindKey, AStopEndsACommandThatHangs) {
  ModelConfig model;
  model.model = "m";
  model.key_command = "sleep 600; echo key";
  std::stop_source stop;
  std::jthread stopper([&stop] { stop.request_stop(); });
  const auto start = std::chrono::steady_clock::now();
  const auto key = find_key(model, environment_of(), stop.get_token());
  ASSERT_FALSE(key);
  EXPECT_EQ(key.error().code, base::ErrorCode::cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST(FindKey, AStopEndsACommandThatClosedItsOutput) {
  const auto folder = base::TemporaryFolder::create("config");
  ASSERT_TRUE(folder);
  const std::string gate = (folder->path() / "gate").string();
  ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
  ModelConfig model;
  model.model = "m";
  model.key_command = "echo key; exec >&-; echo closed > '" + gate + "'; exec sleep 600";
  std::stop_source stop;
  std::jthread stopper([&] {
    EXPECT_EQ(base::read_file(gate).value(), "closed\n");
    stop.request_stop();
  });
  const auto key = find_key(model, environment_of(), stop.get_token());
  ASSERT_FALSE(key);
  EXPECT_EQ(key.error().code, base::ErrorCode::cancelled);
}

TEST(FindKey, ComesFromTheEnvironmentOrACommandAndSaysWhatIsMissing) {
  ModelConfig model;
  model.base_url = "http://localhost:8000/v1";
  EXPECT_TRUE(find_key(model, environment_of())->empty());
  model.key_command = "echo key-of-command";
  EXPECT_EQ(find_key(model, environment_of())->reveal(), "key-of-command");
  model.key_command = "exit 3";
  EXPECT_EQ(find_key(model, environment_of()).error().code, base::ErrorCode::unauthenticated);
  model.key_command.clear();
  model.key_env = "TEST_KEY";
  const auto missing = find_key(model, environment_of());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, base::ErrorCode::unauthenticated);
  EXPECT_NE(missing.error().message.find(model.key_env), std::string::npos);
  EXPECT_EQ(find_key(model, environment_of({{model.key_env, "from-environment"}}))->reveal(), "from-environment");
}

TEST(FindKey, LineBreaks_AreTrimmedAtTheEndAndRefusedWithin) {
  ModelConfig model;
  model.model = "m";
  model.key_env = "TEST_KEY";
  EXPECT_EQ(find_key(model, environment_of({{"TEST_KEY", "sk-1\r\n"}}))->reveal(), "sk-1");
  const auto variable = find_key(model, environment_of({{"TEST_KEY", "sk-1\nsk-2"}}));
  ASSERT_FALSE(variable);
  EXPECT_EQ(variable.error().code, base::ErrorCode::unauthenticated);
  EXPECT_EQ(variable.error().message,
            "the environment variable TEST_KEY gives several lines; it must give the key alone");
  model.key_env.clear();
  model.key_command = "printf 'sk-1\\nsk-2\\n'";
  const auto command = find_key(model, environment_of());
  ASSERT_FALSE(command);
  EXPECT_EQ(command.error().message, "key_command of m gives several lines; it must give the key alone");
}

TEST(FindKey, BlanksAround_AreNoPartOfIt) {
  ModelConfig model;
  model.model = "m";
  model.key_env = "TEST_KEY";
  EXPECT_EQ(find_key(model, environment_of({{"TEST_KEY", " \tsk-1 \t\n"}}))->reveal(), "sk-1");
  const auto blank = find_key(model, environment_of({{"TEST_KEY", " \t\n"}}));
  ASSERT_FALSE(blank);
  EXPECT_EQ(blank.error().message, "the environment variable TEST_KEY gives only blanks; it must give the key");
  model.key_env.clear();
  model.key_command = "echo 'sk-1 '";
  EXPECT_EQ(find_key(model, environment_of())->reveal(), "sk-1");
  model.key_command = "echo ' '";
  EXPECT_EQ(find_key(model, environment_of()).error().code, base::ErrorCode::unauthenticated);
}

TEST(EndpointOptions, KeyCommandThatHoldsTheKey_IsNotQuoted) {
  ModelConfig model;
  model.key_command = "echo sk-in-the-command";
  EXPECT_EQ(endpoint_options(model, llm::Secret("sk-in-the-command")).key_source, "key_command");
  model.key_env = "TEST_KEY";
  EXPECT_EQ(endpoint_options(model, llm::Secret("sk-in-the-command")).key_source, "TEST_KEY or key_command");
}

}  // namespace
}  // namespace accelopt::app
