// SPDX-License-Identifier: Apache-2.0
#include "suites/flashinfer_trace/safetensors.hpp"

#include "suites/flashinfer_trace/datasets.hpp"

namespace accelopt::suites::flashinfer_trace {
namespace {

class SafetensorsFile : public DatasetTest {
 protected:
  base::Result<Safetensors> opened(const std::string& bytes) {
    put("t.safetensors", bytes);
    return Safetensors::open(root() / "t.safetensors");
  }
  void expect_refused(const std::string& bytes, base::ErrorCode code, const std::string& message) {
    const auto file = opened(bytes);
    ASSERT_FALSE(file) << message;
    EXPECT_EQ(file.error().code, code);
    EXPECT_NE(file.error().message.find(message), std::string::npos) << file.error().message;
  }
  void expect_corrupt(const std::string& header, const std::string& data, const std::string& message) {
    const std::uint64_t length = header.size();
    expect_refused(std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data,
                   base::ErrorCode::corrupt, message);
  }
};

TEST_F(SafetensorsFile, Tensors_AreFoundAndRead) {
  const auto file = opened(int32_tensors({{"a", {3, -1, 7}}, {"b", {}}, {"c", {2147483647}}}));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->tensors().size(), 3U);
  EXPECT_EQ(file->tensors().at("a").shape, (std::vector<std::int64_t>{3}));
  EXPECT_EQ(file->read(file->tensors().at("a")).value(), (std::vector<double>{3, -1, 7}));
  EXPECT_EQ(file->read(file->tensors().at("c")).value(), (std::vector<double>{2147483647}));
}

TEST_F(SafetensorsFile, EveryReadableType_HasItsNumbers) {
  const auto one = [&](const std::string& dtype, const auto value) {
    const std::string header = R"({"__metadata__":{"a":"b"},"t":{"dtype":")" + dtype +
                               R"(","shape":[],"data_offsets":[0,)" + std::to_string(sizeof value) + "]}}";
    const std::uint64_t length = header.size();
    const auto file = opened(std::string(reinterpret_cast<const char*>(&length), sizeof length) + header +
                             std::string(reinterpret_cast<const char*>(&value), sizeof value));
    EXPECT_TRUE(file) << file.error().message;
    return file ? file->read(file->tensors().at("t")).value().at(0) : 0.0;
  };
  EXPECT_EQ(one("F64", -0.5), -0.5);
  EXPECT_EQ(one("F32", 0.25F), 0.25);
  EXPECT_EQ(one("I64", std::int64_t{-5}), -5);
  EXPECT_EQ(one("I16", std::int16_t{-5}), -5);
  EXPECT_EQ(one("I8", std::int8_t{-5}), -5);
  EXPECT_EQ(one("U8", std::uint8_t{200}), 200);
  EXPECT_EQ(one("BOOL", std::uint8_t{1}), 1);
  EXPECT_FALSE(is_readable("BF16"));
}

TEST_F(SafetensorsFile, WholeNumbersThatNoDoubleHolds_AreRefused) {
  const auto read = [&](const std::int64_t value) {
    const std::string header = R"({"t":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})";
    const std::uint64_t length = header.size();
    const auto file = opened(std::string(reinterpret_cast<const char*>(&length), sizeof length) + header +
                             std::string(reinterpret_cast<const char*>(&value), sizeof value));
    EXPECT_TRUE(file) << file.error().message;
    return file->read(file->tensors().at("t"));
  };
  EXPECT_EQ(read(9007199254740992).value().at(0), 9007199254740992.0);
  for (const std::int64_t value : {std::int64_t{9007199254740993}, std::int64_t{-9007199254740993}, INT64_MAX}) {
    const auto refused = read(value);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("holds " + std::to_string(value)), std::string::npos);
  }
}

TEST_F(SafetensorsFile, LyingFiles_AreRefused) {
  const auto tensor = [](const std::string& name, const std::string& shape, const std::string& offsets) {
    return "\"" + name + R"(":{"dtype":"I32","shape":[)" + shape + R"(],"data_offsets":[)" + offsets + "]}";
  };
  expect_refused("", base::ErrorCode::corrupt, "shorter than the length of a header");
  expect_refused(std::string(7, '\0'), base::ErrorCode::corrupt, "shorter than the length of a header");
  expect_refused(std::string(8, '\xff') + "{}", base::ErrorCode::corrupt,
                 "states a header of 18446744073709551615 bytes");
  expect_corrupt("nonsense", "", "header: no JSON");
  expect_corrupt("[]", "", "header: is no object");
  expect_corrupt("{" + tensor("a", "2", "0,8") + "}", "1234", "lie outside the data, which has 4 bytes");
  expect_corrupt("{" + tensor("a", "1", "4,0") + "}", "1234", "lie outside the data");
  expect_corrupt("{" + tensor("a", "2", "0,4") + "}", "1234", "span 4 bytes, dtype and shape 8");
  expect_corrupt("{" + tensor("a", "4611686018427387904,4611686018427387904", "0,4") + "}", "1234", "too large");
  expect_corrupt("{" + tensor("a", "-1", "0,4") + "}", "1234", "shape is none");
  expect_corrupt("{" + tensor("a", "1", "0,4") + "," + tensor("b", "1", "0,4") + "}", "1234", "two tensors overlap");
  expect_corrupt("{" + tensor("a", "1", "0,4") + "," + tensor("b", "1", "8,12") + "}", "123412341234",
                 "belong to none");
  expect_corrupt("{" + tensor("a", "1", "0,4") + "}", "12345678", "4 bytes that belong to no tensor");
  expect_corrupt(R"({"a":{"dtype":"I33","shape":[],"data_offsets":[0,4]}})", "1234", "dtype is unknown: I33");
  expect_corrupt(R"({"a":{"dtype":"I32","data_offsets":[0,4]}})", "1234", "shape is missing");
  expect_corrupt(R"({"a":7})", "", "must be an object");
}

TEST_F(SafetensorsFile, PointersOfGitLfs_AreNamed) {
  expect_refused("version https://git-lfs.example/spec/v1\noid sha256:00\nsize 12\n", base::ErrorCode::not_found,
                 "Git LFS pointer");
  EXPECT_EQ(Safetensors::open(root() / "none").error().code, base::ErrorCode::not_found);
  EXPECT_EQ(Safetensors::open(root()).error().code, base::ErrorCode::io);
}

}  // namespace
}  // namespace accelopt::suites::flashinfer_trace
