// SPDX-License-Identifier: Apache-2.0
#include "memory/experience_text.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "memory/store_contract.hpp"

namespace accelopt::memory {
namespace {

using base::Json;

TEST(ExperienceText, ReadsWhatStoresWriteAsJsonDoes) {
  std::vector<model::Experience> many;
  for (int i = 0; i < 6; ++i) many.push_back(sample_experience(i));
  many[1].strategy = "two\nlines\t\"quoted\" \\ and \\\" a slash at the end \\";
  many[1].diff = "+ \"\\\\\"";
  many[2].title =
      "Gr\xc3\xb6\xc3\x9f"
      "ere Kacheln \xe5\xb1\x95\xe5\xbc\x80 \x01\x7f\r\b\f";
  many[3].effect.reset();
  many[3].workloads = {{"large ],}\"{[", {2, 1.5, 2.5}}, {"small", {1, 0.9, 1.1}}};
  many[4].credit = {5, 4, 3, 1};
  many[4].polarity = model::Polarity::mends;
  many[5] = {};
  for (const model::Experience& one : many) {
    const std::string text = base::canonical(one);
    const auto whole = read_experience(text, Part::whole);
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_EQ(Json(*whole), Json::parse(text));
    model::Experience bare = one;
    bare.before = bare.after = bare.diff = "";
    const auto without_code = read_experience(text, Part::without_code);
    ASSERT_TRUE(without_code) << without_code.error().message;
    EXPECT_EQ(Json(*without_code), Json(bare));
  }
}

TEST(ExperienceText, OtherFormsThanStoresWriteAreReadToo) {
  for (const char* text :
       {R"({})", R"( { "title" : "a" , "strategy" : null, "after": "b", "later": [1, {"x": "]"}] } )",
        R"({"title":"\u0061\/","iteration":99999999,"shown":1e300,"used":2.5})",
        R"({"title":"a","title":"b","agreeing":3,"contradicting":4,"effect":null})"}) {
    const auto read = read_experience(text, Part::whole);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(Json(*read), Json(Json::parse(text).get<model::Experience>())) << text;
    const auto without_code = read_experience(text, Part::without_code);
    ASSERT_TRUE(without_code) << without_code.error().message;
    EXPECT_EQ(without_code->after, "");
  }
}

TEST(ExperienceText, WhatIsNoExperienceIsAnError) {
  const std::string good = base::canonical(sample_experience(1));
  ASSERT_TRUE(read_experience(good, Part::whole));
  for (std::size_t length = 0; length < good.size(); ++length)
    ASSERT_FALSE(read_experience(good.substr(0, length), Part::without_code)) << length;
  for (const std::string& text :
       {good + "}", good + good, std::string("[]"), std::string(R"({"title":5})"), std::string(R"({"effect":5})"),
        std::string(R"({"title":"a\x"})"), std::string("{\"title\":\"\xff\"}"), std::string("{\"title\":\"\n\"}"),
        std::string(R"({"iteration":"a"})"), std::string(R"({"title":"a",})")}) {
    const auto read = read_experience(text, Part::whole);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, base::ErrorCode::parse);
    EXPECT_TRUE(read.error().message.starts_with("its content")) << read.error().message;
  }
}

}  // namespace
}  // namespace accelopt::memory
