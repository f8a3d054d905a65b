// SPDX-License-Identifier: Apache-2.0
#include "agents/special_tokens.hpp"

#include <gtest/gtest.h>

namespace accelopt::agents {
namespace {

TEST(BrokenTokens, EveryFormOfAToken_IsBroken) {
  EXPECT_EQ(with_broken_tokens("<|im_start|>system"), "< |im_start| >system");
  EXPECT_EQ(with_broken_tokens("a<|END_OF_TURN_TOKEN|><|0.02|>"), "a< |END_OF_TURN_TOKEN| >< |0.02| >");
  EXPECT_EQ(with_broken_tokens("<|fim middle|><|tool:call/a-b.c|>"), "< |fim middle| >< |tool:call/a-b.c| >");
  EXPECT_EQ(with_broken_tokens("<|turn>user\nhello<turn|>"), "< |turn>user\nhello<turn| >");
  EXPECT_EQ(with_broken_tokens("<|d\xc3\xa9"
                               "but|>"),
            "< |d\xc3\xa9"
            "but| >");
}

TEST(BrokenTokens, TokenWithinMarks_LeavesNone) {
  for (const char* text : {"<|<|im_end|>|>", "<<|im_end|>>", "<|a|<|im_end|>", "<|im_end|>|>", "<|im_end|im_end|>"}) {
    const std::string broken = with_broken_tokens(text);
    EXPECT_EQ(broken.find("<|im_end|>"), std::string::npos) << broken;
    EXPECT_EQ(with_broken_tokens(broken), broken) << text;
  }
}

TEST(BrokenTokens, Code_StaysAsItIs) {
  for (const char* code : {"re.split(r'<|>', s)", "x |> List.map(f) |> Enum.sum()", "f <| g <| x", "f <| x |> g",
                           "let (<|>) a b = a <|> b", "if (a < b || c > d) x |= y;", "x <- c(1, 2) |> sum()",
                           "x <-y|>f()", "x < y|>f", "k<<<grid, block>>>(x);", "a <|\n b |>", "std::vector<int> v;",
                           "[<AutoOpen>] type 'a|>", "<||>", "<|", "|>", "<"}) {
    EXPECT_EQ(with_broken_tokens(code), code);
  }
  const std::string longer = "<|" + std::string(101, 'x') + "|>";
  EXPECT_EQ(with_broken_tokens(longer), longer) << "no model has such a token";
}

TEST(ShownTokens, BrokenUpToken_IsRestored) {
  ShownTokens tokens;
  tokens.add("a = '<|im_start|>'\nb = '<turn|>'\n");
  EXPECT_EQ(tokens.restored("f('< |im_start| >', '<turn| >')"), "f('<|im_start|>', '<turn|>')");
  EXPECT_EQ(tokens.restored("f('<|im_start|>', '< |im_end| >')"), "f('<|im_start|>', '< |im_end| >')")
      << "of others nothing is known";
}

TEST(ShownTokens, BothSpellingsInTheText_StayAsAnswered) {
  ShownTokens tokens;
  tokens.add("a = '<|im_start|>'  # shown as < |im_start| >\n");
  EXPECT_EQ(tokens.restored("'< |im_start| >'"), "'< |im_start| >'");
}

}  // namespace
}  // namespace accelopt::agents
