// SPDX-License-Identifier: Apache-2.0
#include "llm/sse.hpp"

#include <gtest/gtest.h>

namespace accelopt::llm {
namespace {

using Events = std::vector<std::string>;

constexpr std::string_view kStream =
    ": keep-alive\n\nevent: x\ndata: {\"a\":1}\nid: 7\n\ndata:two\r\ndata: lines\r\n\r\ndata:\n\ndata: [DONE]\n\n";
const Events kEvents = {"{\"a\":1}", "two\nlines", "", "[DONE]"};

TEST(SseReader, ReadsAWholeStream) {
  SseReader reader;
  EXPECT_EQ(reader.feed(kStream), kEvents);
  EXPECT_EQ(reader.finish(), Events{});
}

TEST(SseReader, ReadsTheSameInPiecesOfAnySize) {
  for (std::size_t size = 1; size < kStream.size(); ++size) {
    SseReader reader;
    Events events;
    for (std::size_t at = 0; at < kStream.size(); at += size) {
      for (std::string& event : reader.feed(kStream.substr(at, size))) events.push_back(std::move(event));
    }
    EXPECT_EQ(events, kEvents) << "in pieces of " << size;
  }
}

TEST(SseReader, ReadsTheSameWhateverEndsItsLines) {
  for (const std::string end : {"\r", "\r\n"}) {
    std::string stream;
    for (const char c : kStream) stream += c == '\r' ? std::string() : c == '\n' ? end : std::string(1, c);
    for (std::size_t size = 1; size < stream.size(); ++size) {
      SseReader reader;
      Events events;
      for (std::size_t at = 0; at < stream.size(); at += size) {
        for (std::string& event : reader.feed(stream.substr(at, size))) events.push_back(std::move(event));
      }
      EXPECT_EQ(events, kEvents) << "in pieces of " << size;
      EXPECT_EQ(reader.finish(), Events{});
    }
  }
}

TEST(SseReader, GivesTheLastEventThoughItsBlankLineIsMissing) {
  SseReader reader;
  EXPECT_EQ(reader.feed("data: last"), Events{});
  EXPECT_EQ(reader.finish(), Events{"last"});
}

}  // namespace
}  // namespace accelopt::llm
