// SPDX-License-Identifier: Apache-2.0
#include "app/knowledge_import.hpp"

#include <gtest/gtest.h>

#include "app/knowledge_edit.hpp"
#include "base/json.hpp"

namespace accelopt::app {
namespace {

using base::Json;

Json experience_with(const char* polarity, double low, double high) {
  return {{"title", "Tile"},
          {"polarity", polarity},
          {"effect", {{"estimate", (low + high) / 2}, {"low", low}, {"high", high}}}};
}

TEST(ReadExperiences, APolarityAgainstItsEffectIsRefused) {
  for (const Json& wrong : {experience_with("improves", 0.4, 0.6), experience_with("regresses", 1.9, 2.1)}) {
    const auto read = read_experiences(base::canonical(wrong), "notes", {});
    ASSERT_FALSE(read.has_value()) << wrong;
    EXPECT_EQ(read.error().code, base::ErrorCode::invalid_argument);
    EXPECT_NE(read.error().message.find("contradicts its effect"), std::string::npos) << read.error().message;
  }
  for (const Json& right : {experience_with("improves", 0.9, 1.1), experience_with("improves", 1.9, 2.1),
                            experience_with("regresses", 0.4, 0.6), experience_with("regresses", 0.9, 1.1),
                            experience_with("mends", 0.4, 0.6)}) {
    EXPECT_TRUE(read_experiences(base::canonical(right), "notes", {}).has_value()) << right;
  }
}

TEST(Edited, APolarityAgainstItsEffectIsRefused) {
  const auto read = read_experiences(base::canonical(experience_with("improves", 1.9, 2.1)), "notes", {});
  ASSERT_TRUE(read.has_value());
  const model::Experience& was = read->experiences.front();
  EXPECT_FALSE(edited(was, {{"polarity", "regresses"}}, "edit").has_value());
  EXPECT_FALSE(edited(was, {{"effect", experience_with("", 0.4, 0.6)["effect"]}}, "edit").has_value());
  EXPECT_TRUE(edited(was, experience_with("regresses", 0.4, 0.6), "edit").has_value());
}

}  // namespace
}  // namespace accelopt::app
