// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include <gtest/gtest.h>

namespace accelopt::cli {
namespace {

constexpr int kUsage = 2;

struct Parsed {
  std::optional<int> code;
  std::optional<std::uint64_t> seed;
  std::optional<int> number;
  std::optional<int> count;
};

Parsed parse(std::vector<std::string> words) {
  CommandLine line("test", "", "0");
  Command command = line.add("run", "runs");
  Parsed parsed;
  command.option("--seed", &parsed.seed, "0 or more");
  command.option("--number", &parsed.number, "any");
  command.option("--count", &parsed.count, "0 or more").at_least(0);
  words.insert(words.begin(), {"accelopt", "run"});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  parsed.code = line.parse(static_cast<int>(argv.size()), argv.data(), kUsage);
  return parsed;
}

TEST(CommandLine, ANegativeNumberIsNoSeed) {
  EXPECT_EQ(parse({"--seed", "-3"}).code, kUsage);
  EXPECT_EQ(parse({"--seed=-1"}).code, kUsage);
  const Parsed largest = parse({"--seed", "18446744073709551615"});
  EXPECT_EQ(largest.code, std::nullopt);
  EXPECT_EQ(largest.seed, 0xFFFFFFFFFFFFFFFFULL);
  EXPECT_EQ(parse({"--seed", "18446744073709551616"}).code, kUsage);
  EXPECT_EQ(parse({"--seed", "x"}).code, kUsage);
}

TEST(CommandLine, AMistypedOptionIsNamedWithTheOneThatWasMeant) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(parse({"--nubmer", "3"}).code, kUsage);
  EXPECT_EQ(parse({"--sead=3"}).code, kUsage);
  EXPECT_EQ(parse({"--completely-different"}).code, kUsage);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "accelopt: accelopt run has no option --nubmer; did you mean --number? accelopt run --help lists them\n"
            "accelopt: accelopt run has no option --sead; did you mean --seed? accelopt run --help lists them\n"
            "accelopt: accelopt run has no option --completely-different; accelopt run --help lists them\n");
}

TEST(CommandLine, ANumberThatIsNotInDigitsIsRefusedWithItsForm) {
  for (const char* text : {"1e6", "12k", "1.5", "", "0x10", "99999999999"}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(parse({"--number", text}).code, kUsage) << text;
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("must be a whole number"), std::string::npos) << text << ": " << said;
    EXPECT_NE(said.find("--number"), std::string::npos) << text << ": " << said;
  }
}

TEST(CommandLine, ANumberBelowItsLeastIsRefusedWithIt) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(parse({"--count", "-1"}).code, kUsage);
  EXPECT_EQ(parse({"--count=-2147483648"}).code, kUsage);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("--count: must be 0 or more, not -1"), std::string::npos) << said;
  EXPECT_EQ(parse({"--count", "0"}).count, 0);
  EXPECT_EQ(parse({"--number", "-1"}).number, -1);
}

TEST(CommandLine, AnUnknownCommandIsNamedOnEachLevel) {
  const auto said = [](std::vector<std::string> words) {
    CommandLine line("test", "", "0");
    Command memory = line.add("memory", "holds others");
    memory.add("list", "lists");
    words.insert(words.begin(), "accelopt");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    testing::internal::CaptureStderr();
    EXPECT_EQ(line.parse(static_cast<int>(argv.size()), argv.data(), kUsage), kUsage);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said({"memry"}),
            "accelopt: there is no command \"memry\"; did you mean memory? accelopt --help lists them\n");
  EXPECT_EQ(said({"memory", "lst"}),
            "accelopt: there is no command \"memory lst\"; did you mean memory list? accelopt memory --help lists "
            "them\n");
  EXPECT_NE(said({"memory"}).find("subcommand is required"), std::string::npos);
}

TEST(CommandLine, WhereNegativeNumbersMeanSomethingTheyAreTaken) {
  EXPECT_EQ(parse({"--number", "-3"}).number, -3);
}

int parse_words(std::vector<std::string> words) {
  CommandLine line("test", "", "1.2.3");
  line.add("run", "Runs");
  Command memory = line.add("memory", "Remembers");
  memory.add("list", "Lists");
  words.insert(words.begin(), "accelopt");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return line.parse(static_cast<int>(argv.size()), argv.data(), kUsage).value_or(-1);
}

TEST(CommandLine, HelpWithCommand_PrintsItsHelp) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(parse_words({"help", "memory", "list"}), 0);
  EXPECT_TRUE(testing::internal::GetCapturedStdout().starts_with("Lists\n"));
}

TEST(CommandLine, VersionInAnySpelling_PrintsIt) {
  for (const char* word : {"version", "--version", "-V"}) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(parse_words({word}), 0);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "1.2.3\n") << word;
  }
}

TEST(CommandLine, MistypedCommand_IsAnsweredWithTheNearest) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(parse_words({"rnu"}), kUsage);
  EXPECT_EQ(parse_words({"memory", "lst"}), kUsage);
  EXPECT_EQ(parse_words({"help", "memory", "completely-different"}), kUsage);
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "accelopt: there is no command \"rnu\"; did you mean run? accelopt --help lists them\n"
      "accelopt: there is no command \"memory lst\"; did you mean memory list? accelopt memory --help lists them\n"
      "accelopt: there is no command \"memory completely-different\"; accelopt memory --help lists them\n");
}

}  // namespace
}  // namespace accelopt::cli
