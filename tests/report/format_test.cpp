// SPDX-License-Identifier: Apache-2.0
#include "report/format.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace accelopt::report {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Format, QuantitiesHaveNoExponent) {
  EXPECT_EQ(format_quantity(12'553, "us"), "12.6 ms");
  EXPECT_EQ(format_quantity(0.5, "us"), "500 ns");
  EXPECT_EQ(format_quantity(12'345'678, "B"), "12,345,678 B");
  EXPECT_EQ(format_quantity(5.3126, "GFLOP/s"), "5.313 GFLOP/s");
  EXPECT_EQ(format_quantity(123.456, "%"), "123.5 %");
  EXPECT_EQ(format_quantity(3, ""), "3");
  EXPECT_EQ(format_quantity(0.00001, "flop/B"), "1e-05 flop/B");
}

TEST(Format, TimesOfAProfileInNanoseconds) {
  EXPECT_EQ(nanoseconds_of(12.5, "us"), 12'500);
  EXPECT_EQ(nanoseconds_of(2, "ns"), 2);
  EXPECT_EQ(nanoseconds_of(2, "GB/s"), std::nullopt);
}

TEST(Format, Durations) {
  EXPECT_EQ(format_ns(0), "0 ns");
  EXPECT_EQ(format_ns(820.4), "820 ns");
  EXPECT_EQ(format_ns(999.4), "999 ns");
  EXPECT_EQ(format_ns(999.6), "1.00 us");
  EXPECT_EQ(format_ns(1'236), "1.24 us");
  EXPECT_EQ(format_ns(999'600), "1.00 ms");
  EXPECT_EQ(format_ns(12'360'000), "12.4 ms");
  EXPECT_EQ(format_ns(123'600'000), "124 ms");
  EXPECT_EQ(format_ns(3.1e9), "3.10 s");
  EXPECT_EQ(format_ns(kNan), "-");
}

TEST(Format, Seconds) {
  EXPECT_EQ(format_seconds(0), "0.00 s");
  EXPECT_EQ(format_seconds(0.823), "0.82 s");
  EXPECT_EQ(format_seconds(12.36), "12.4 s");
  EXPECT_EQ(format_seconds(59.97), "1m 00s");
  EXPECT_EQ(format_seconds(185.2), "3m 05s");
  EXPECT_EQ(format_seconds(3599.6), "1h 00m");
  EXPECT_EQ(format_seconds(3725), "1h 02m");
  EXPECT_EQ(format_seconds(kInfinity), "-");
}

TEST(Format, RatiosWithTheirInterval) {
  EXPECT_EQ(format_ratio({15.31, 15.09, 15.58}), "15.3x [15.1, 15.6]");
  EXPECT_EQ(format_ratio({9.123, 9.05, 9.2}), "9.12x [9.05, 9.20]");
  EXPECT_EQ(format_ratio({1.0042, 0.9981, 1.0113}), "1.004x [0.998, 1.011]");
  EXPECT_EQ(format_ratio({123.4, 121, 126}), "123x [121, 126]");
  EXPECT_EQ(format_ratio({1, 1, 1}), "1.00x [1.00, 1.00]");
}

TEST(Format, AnEndOfAnIntervalNeverLooksLikeOneWhenItIsNot) {
  EXPECT_EQ(format_ratio({1.02, 1.0009, 1.04}), "1.020x [1.001, 1.040]");
  EXPECT_EQ(format_ratio({0.98, 0.96, 0.9998}), "0.9800x [0.9600, 0.9998]");
  EXPECT_EQ(format_ratio({1.5, 1.00001, 2}), "1.5000x [1.0000, 2.0000]");  // four decimals are the most
}

TEST(Format, RatiosThatAreUnknown) {
  EXPECT_EQ(format_ratio({kNan, 1, 2}), "-");
  EXPECT_EQ(format_ratio({2, kNan, kNan}), "2.00x");
  EXPECT_EQ(format_ratio({2, 0, kInfinity}), "2.00x");
  EXPECT_EQ(format_ratio(15.31), "15.3x");
  EXPECT_EQ(format_ratio(1.044), "1.04x");
  EXPECT_EQ(format_ratio(kNan), "-");
}

TEST(Format, Shares) {
  EXPECT_EQ(format_percent(0), "0.0 %");
  EXPECT_EQ(format_percent(0.0042), "0.42 %");
  EXPECT_EQ(format_percent(0.042), "4.2 %");
  EXPECT_EQ(format_percent(0.153), "15 %");
  EXPECT_EQ(format_percent(1), "100 %");
  EXPECT_EQ(format_percent(kNan), "-");
}

TEST(Format, BytesMoneyAndCounts) {
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(1023.9), "1.0 KiB");
  EXPECT_EQ(format_bytes(24.0 * 1024 * 1024), "24 MiB");
  EXPECT_EQ(format_usd(0), "$0.00");
  EXPECT_EQ(format_usd(0.00423), "$0.0042");
  EXPECT_EQ(format_usd(1.234), "$1.23");
  EXPECT_EQ(format_usd(123.4), "$123");
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(12345678), "12,345,678");
  EXPECT_EQ(format_count(-123456), "-123,456");
}

}  // namespace
}  // namespace accelopt::report
