// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/files.hpp"

namespace accelopt::cli {
namespace {

namespace fs = std::filesystem;

CommandFacts program() {
  CommandFacts list{"list", "List them. All of them", "", {{{"--json"}, "", {}, "As JSON"}}, {}};
  CommandFacts memory{"memory", "Remember", "", {}, {list}};
  CommandFacts run{"run",
                   "It's a run",
                   "",
                   {{{"--schedule"}, "WORD", {"flow", "serial"}, "How"}, {{"-o", "--output"}, "TEXT", {}, "Where"}},
                   {}};
  return {"accelopt", "Makes it faster", ".not a request\n", {{{"-h", "--help"}, "", {}, "Help"}}, {run, memory}};
}

/// What bash offers after these words, the last of which is being typed.
std::string offered(const std::string& words, int count) {
  const fs::path empty = fs::temp_directory_path() / ("completion-" + std::to_string(::getpid()));
  const fs::path script = empty.string() + ".bash";
  fs::create_directories(empty);
  EXPECT_TRUE(base::write_file(script, bash_completion(program())));
  const std::string command = "cd " + empty.string() + " && bash -c 'source " + script.string() + "; COMP_WORDS=(" +
                              words + "); COMP_CWORD=" + std::to_string(count - 1) +
                              "; _accelopt; echo -n ${COMPREPLY[@]}'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  std::array<char, 4096> text{};
  const std::size_t size = fread(text.data(), 1, text.size(), pipe.get());
  fs::remove(script);
  fs::remove(empty);
  return {text.data(), size};
}

TEST(Completion, Bash_OffersCommandsOptionsAndChoices) {
  EXPECT_EQ(offered("accelopt ru", 2), "run");
  EXPECT_EQ(offered("accelopt memory li", 3), "list");
  EXPECT_EQ(offered("accelopt memory list --j", 4), "--json");
  EXPECT_EQ(offered("accelopt run --schedule s", 4), "serial");
  EXPECT_EQ(offered("accelopt run --output /et", 4), "/etc");
}

TEST(Completion, Fish_DescribesEachWord) {
  const std::string script = fish_completion(program());
  EXPECT_NE(script.find("-a run -d 'It'\\''s a run'"), std::string::npos) << script;
  EXPECT_NE(script.find("-l schedule -x -a 'flow serial' -d 'How'"), std::string::npos) << script;
  EXPECT_NE(script.find("-a list -d 'List them'"), std::string::npos) << script;
}

TEST(Completion, Manual_LetsNoTextBeARequest) {
  const std::string page = manual_page(program(), "1.0");
  EXPECT_NE(page.find("\n\\&.not a request"), std::string::npos) << page;
  EXPECT_NE(page.find(".SH \"accelopt memory list\""), std::string::npos) << page;
}

}  // namespace
}  // namespace accelopt::cli
