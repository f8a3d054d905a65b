// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/constants.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"

namespace accelopt::targets::trainium {
namespace {

using base::ErrorCode;

base::Result<MeasuredChip> read(const std::string& text) {
  TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-constants"));
  TRY(base::write_file(folder.path() / "constants.json", text));
  return with_constants(kTrn1, folder.path() / "constants.json");
}

TEST(Constants, MeasuredOnes_TakeThePlaceOfTheTables) {
  const auto measured = read(
      R"({"schema": 1, "machine": "trn1.2xlarge", "neuronxcc": "2.21", "constants": {"vector_ghz": 1.5, "start_ns": 7}})");

  ASSERT_TRUE(measured.has_value()) << measured.error().message;
  EXPECT_EQ(measured->chip.vector_ghz, 1.5);
  EXPECT_EQ(measured->chip.start_ns, 7);
  EXPECT_EQ(measured->chip.scalar_ghz, kTrn1.scalar_ghz);
  EXPECT_EQ(measured->source.find("neuronxcc 2.21 on trn1.2xlarge, "), 0U) << measured->source;
}

struct Bad {
  const char* text;
  ErrorCode code;
  const char* says;
};

TEST(Constants, WhatCannotBeUsed_IsNamed) {
  for (const Bad& bad : {
           Bad{"{", ErrorCode::parse, "constants.json"},
           Bad{R"({"schema": 2, "constants": {}})", ErrorCode::corrupt, "no constants of version 1"},
           Bad{R"({"schema": 1, "constants": 3})", ErrorCode::corrupt, "no constants of version 1"},
           Bad{R"({"schema": 1, "machine": "trn2.48xlarge", "constants": {}})", ErrorCode::invalid_argument,
               "measured on trn2.48xlarge, and not on trn1"},
           Bad{R"({"schema": 1, "constants": {"warp_ghz": 1}})", ErrorCode::invalid_argument,
               "\"warp_ghz\" is no constant of the model"},
           Bad{R"({"schema": 1, "constants": {"vector_ghz": 0}})", ErrorCode::invalid_argument, "has to be over 0"},
           Bad{R"({"schema": 1, "constants": {"vector_ghz": "1"}})", ErrorCode::invalid_argument, "has to be over 0"},
       }) {
    const auto read_it = read(bad.text);
    ASSERT_FALSE(read_it.has_value()) << bad.text;
    EXPECT_EQ(read_it.error().code, bad.code) << bad.text;
    EXPECT_NE(read_it.error().message.find(bad.says), std::string::npos) << read_it.error().message;
  }
}

}  // namespace
}  // namespace accelopt::targets::trainium
