// SPDX-License-Identifier: Apache-2.0
#include "base/schema.hpp"

#include <gtest/gtest.h>

namespace accelopt::base {
namespace {

TEST(CheckSchema, KnownOrUnstated_Accepted) {
  EXPECT_TRUE(check_schema({{"schema", 1}}, 2, "a file"));
  EXPECT_TRUE(check_schema({{"schema", 2}}, 2, "a file"));
  EXPECT_TRUE(check_schema(Json::object(), 2, "a file"));
  EXPECT_TRUE(check_schema(Json(), 2, "a file")) << "that it is no object is another's to say";
}

TEST(CheckSchema, Newer_RefusedByName) {
  const auto checked = check_schema({{"schema", 3}}, 2, "notes.json");
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::unsupported);
  EXPECT_EQ(checked.error().message,
            "notes.json: schema 3 is newer than this program, which reads up to 2; use a newer accelopt");
}

TEST(CheckSchema, NoNumber_Corrupt) {
  for (const Json& schema : {Json("1"), Json(0), Json(-1), Json(1.5), Json(), Json::array()}) {
    const auto checked = check_schema({{"schema", schema}}, 2, "a file");
    ASSERT_FALSE(checked) << schema;
    EXPECT_EQ(checked.error().code, ErrorCode::corrupt);
  }
}

}  // namespace
}  // namespace accelopt::base
