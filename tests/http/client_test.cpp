// SPDX-License-Identifier: Apache-2.0
#include "http/client.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <thread>
#include <vector>

#include "fakes/socket_server.hpp"
#include "http/proxy.hpp"

namespace accelopt::http {
namespace {

using base::ErrorCode;
using fakes::answers_in_turn;
using fakes::http_answer;
using fakes::ReceivedRequest;
using fakes::SocketServer;
using fakes::Then;
using fakes::Wire;
using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr const char* kKey = "Bearer sk-very-secret";

Request post_to(const std::string& url, std::string body = "{}") {
  return {.method = Method::post, .url = url, .headers = {{"Authorization", kKey}}, .body = std::move(body)};
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// A port on which nothing listens: that of a server that is gone.
int dead_port() {
  return SocketServer(answers_in_turn({""})).port();
}

TEST(HttpClient, PostsBodyAndHeadersAndReturnsTheAnswer) {
  SocketServer server(answers_in_turn({http_answer(200, R"({"a":1})", "application/json", {"X-More: yes"})}));
  Client client;
  const auto response = client.send(post_to(server.url() + "/v1/x?y=1", "the body"), {});
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->head.status, 200);
  EXPECT_EQ(response->body, R"({"a":1})");
  EXPECT_EQ(find_header(response->head, "x-more"), "yes");
  EXPECT_EQ(find_header(response->head, "absent"), std::nullopt);
  ASSERT_EQ(server.requests().size(), 1U);
  const ReceivedRequest request = server.requests()[0];
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/v1/x?y=1");
  EXPECT_EQ(request.body, "the body");
  EXPECT_EQ(request.headers.at("authorization"), kKey);
  EXPECT_FALSE(request.headers.contains("expect"));
}

TEST(HttpClient, GetsWithoutABody) {
  SocketServer server(answers_in_turn({http_answer(404, "nothing here", "text/plain")}));
  Client client;
  const auto response = client.send({.url = server.url() + "/models"}, {});
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->head.status, 404);
  EXPECT_EQ(response->body, "nothing here");
  EXPECT_EQ(server.requests()[0].method, "GET");
}

TEST(HttpClient, KeepsTheConnectionForTheNextRequest) {
  SocketServer server(answers_in_turn({http_answer(200, "x")}));
  Client client;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(client.send(post_to(server.url()), {}).has_value());
  EXPECT_EQ(server.requests().size(), 3U);
  EXPECT_EQ(server.connections(), 1U);
}

TEST(HttpClient, OpensANewConnectionWhereTheServerHasClosedTheKeptOne) {
  SocketServer server([](const ReceivedRequest&, const Wire& wire) {
    wire.send(http_answer(200, "x"));  // promises to stay, and leaves
    return Then::close;
  });
  Client client;
  for (int i = 0; i < 5; ++i) {
    const auto response = client.send(post_to(server.url()), {});
    ASSERT_TRUE(response.has_value()) << response.error().message;
  }
  EXPECT_EQ(server.requests().size(), 5U);
}

TEST(HttpClient, AFreshConnectionIsUsedOnce) {
  SocketServer server(answers_in_turn({http_answer(200, "x")}));
  Client client;
  Request request = post_to(server.url());
  ASSERT_TRUE(client.send(request, {}).has_value());
  request.connection = Connection::fresh;
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(client.send(request, {}).has_value());
  EXPECT_EQ(server.connections(), 3U);
}

TEST(HttpClient, HandsPiecesToTheReceiverAsTheyArrive) {
  // The server sends the second piece only after the client has seen the first.
  std::promise<void> first_seen;
  auto seen = first_seen.get_future();
  SocketServer server([&seen](const ReceivedRequest&, const Wire& wire) {
    wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    seen.wait();
    wire.send("3\r\ntwo\r\n0\r\n\r\n");
    return Then::keep;
  });
  std::vector<std::string> pieces;
  Client client;
  const auto response = client.send(post_to(server.url()), {}, [&](const Head& head, std::string_view piece) {
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(find_header(head, "content-type"), "text/event-stream");
    if (pieces.empty()) first_seen.set_value();
    pieces.emplace_back(piece);
    return Flow::more;
  });
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(pieces, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(response->body, "");
}

TEST(HttpClient, ReceiverMayEndTheExchangeEarly) {
  SocketServer server([](const ReceivedRequest&, const Wire& wire) {
    wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nDONE\r\n");
    wire.wait_for_peer_to_close();  // a server that never ends its answer
    return Then::close;
  });
  Client client;
  const auto response =
      client.send(post_to(server.url()), {}, [](const Head&, std::string_view) { return Flow::enough; });
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->head.status, 200);
}

TEST(HttpClient, SkipsInterimAnswers) {
  SocketServer server(
      answers_in_turn({"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + http_answer(201, "made", "text/plain")}));
  Client client;
  const auto response = client.send(post_to(server.url()), {});
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->head.status, 201);
  EXPECT_EQ(find_header(response->head, "link"), std::nullopt);
}

TEST(HttpClient, RefusesAnAnswerOverTheSizeLimit) {
  const std::string piece(1 << 16, 'x');
  std::atomic<std::size_t> sent = 0;
  SocketServer server([&](const ReceivedRequest&, const Wire& wire) {
    wire.send("HTTP/1.1 200 OK\r\n\r\n");
    for (std::size_t i = 0; i < 800 && wire.send(piece); ++i) sent += piece.size();  // 50 MiB if one lets it
    return Then::close;
  });
  Client client;
  Request request = post_to(server.url());
  request.limits.body_bytes = 1 << 20;
  const auto response = client.send(request, {});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::exhausted);
  EXPECT_TRUE(holds(response.error().message, "127.0.0.1:" + std::to_string(server.port())));
  EXPECT_TRUE(holds(response.error().message, "1048576 bytes"));
}

TEST(HttpClient, ReportsAConnectionThatBreaksInTheAnswer) {
  SocketServer server([](const ReceivedRequest&, const Wire& wire) {
    wire.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    wire.reset_on_close();
    return Then::close;
  });
  Client client;
  const auto response = client.send(post_to(server.url()), {});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(holds(response.error().message, "127.0.0.1:")) << response.error().message;
  EXPECT_FALSE(holds(response.error().message, "secret"));
}

TEST(HttpClient, ReportsAnAnswerThatEndsTooSoon) {
  SocketServer server([](const ReceivedRequest&, const Wire& wire) {
    wire.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    return Then::close;
  });
  Client client;
  const auto response = client.send(post_to(server.url()), {});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::unavailable);
}

TEST(HttpClient, ReportsAServerThatIsNotThere) {
  Client client;
  const int port = dead_port();
  const auto response = client.send(post_to("http://127.0.0.1:" + std::to_string(port)), {});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(holds(response.error().message, "127.0.0.1:" + std::to_string(port))) << response.error().message;
  EXPECT_TRUE(holds(response.error().message, "check that the server runs")) << response.error().message;
  EXPECT_FALSE(holds(response.error().message, "secret"));
}

TEST(HttpClient, ReportsAServerThatSpeaksNoTls) {
  SocketServer server(answers_in_turn({http_answer(200, "x")}));
  Client client;
  Request request = post_to("https://127.0.0.1:" + std::to_string(server.port()));
  request.limits.stall = milliseconds{2000};  // the plain server waits for the end of a head that never comes
  request.limits.connect = milliseconds{300};
  const auto response = client.send(request, {});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(server.requests().empty());
}

TEST(HttpClient, GivesUpOnAServerThatFallsSilent) {
  SocketServer server([](const ReceivedRequest&, const Wire& wire) {
    wire.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    wire.wait_for_peer_to_close();
    return Then::close;
  });
  Client client;
  Request request = post_to(server.url());
  request.limits.stall = milliseconds{80};
  const auto response = client.send(request, {});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::timed_out);
  EXPECT_TRUE(holds(response.error().message, "nothing for 80 ms")) << response.error().message;
}

TEST(HttpClient, GivesUpAtTheTotalLimitThoughBytesKeepComing) {
  SocketServer server([](const ReceivedRequest&, const Wire& wire) {
    wire.send("HTTP/1.1 200 OK\r\n\r\n");
    while (wire.send(std::string(512, '.'))) std::this_thread::yield();
    return Then::close;
  });
  Client client;
  Request request = post_to(server.url());
  request.limits.total = milliseconds{80};
  request.limits.body_bytes = std::size_t{1} << 40U;
  const auto response = client.send(request, {}, [](const Head&, std::string_view) { return Flow::more; });
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::timed_out);
  EXPECT_TRUE(holds(response.error().message, "within 80 ms")) << response.error().message;
}

TEST(HttpClient, StopsAtOnceWhenAsked) {
  std::stop_source stop;
  SocketServer server([&stop](const ReceivedRequest&, const Wire& wire) {
    stop.request_stop();  // while the client waits for the answer
    wire.wait_for_peer_to_close();
    return Then::close;
  });
  Client client;
  const auto start = SteadyClock::now();
  const auto response = client.send(post_to(server.url()), stop.get_token());
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::cancelled);
  EXPECT_LT(SteadyClock::now() - start, milliseconds{1000});
}

TEST(HttpClient, SendsNothingAfterAStop) {
  SocketServer server(answers_in_turn({http_answer(200, "x")}));
  std::stop_source stop;
  stop.request_stop();
  Client client;
  const auto response = client.send(post_to(server.url()), stop.get_token());
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::cancelled);
  EXPECT_TRUE(server.requests().empty());
}

TEST(HttpClient, FollowsNoRedirectAndSendsNoKeyThere) {
  SocketServer other(answers_in_turn({http_answer(200, "stolen")}));
  for (const int status : {301, 302, 303, 307, 308}) {
    SocketServer server(answers_in_turn(
        {http_answer(status, "moved", "text/plain", {"Location: " + other.url() + "/elsewhere?token=abc"})}));
    Client client;
    const auto response = client.send(post_to(server.url()), {});
    ASSERT_FALSE(response.has_value()) << status;
    EXPECT_EQ(response.error().code, ErrorCode::permission_denied);
    EXPECT_TRUE(holds(response.error().message, other.url() + "/elsewhere")) << response.error().message;
    EXPECT_FALSE(holds(response.error().message, "abc"));
    EXPECT_FALSE(holds(response.error().message, "secret"));
  }
  EXPECT_EQ(other.connections(), 0U);
}

TEST(HttpClient, RefusesAHeaderThatWouldSmuggleInAnother) {
  SocketServer server(answers_in_turn({http_answer(200, "x")}));
  Client client;
  Request request = post_to(server.url());
  request.headers.push_back({"X-Key", "secret\r\nX-Evil: 1"});
  const auto response = client.send(request, {});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(holds(response.error().message, "X-Key"));
  EXPECT_FALSE(holds(response.error().message, "secret"));
  request.headers.back() = {"X Key", "v"};
  EXPECT_EQ(client.send(request, {}).error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(server.requests().empty());
}

TEST(HttpClient, RefusesWhatIsNoAddress) {
  Client client;
  EXPECT_EQ(client.send({.url = "localhost"}, {}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(client.send({.url = "file:///etc/passwd"}, {}).error().code, ErrorCode::invalid_argument);
}

TEST(HttpClient, UsesNoProxyForThisMachine) {
  const std::string proxy = "http://127.0.0.1:" + std::to_string(dead_port());
  ASSERT_EQ(setenv("http_proxy", proxy.c_str(), 1), 0);
  SocketServer server(answers_in_turn({http_answer(200, "direct")}));
  Client client;
  const auto response = client.send(post_to(server.url()), {});
  ASSERT_EQ(unsetenv("http_proxy"), 0);
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->body, "direct");
}

TEST(HttpClient, AProxyThatCannotBeReadIsToldWithoutItsPassword) {
  Client client;
  const std::string no_name(300, 'j');  // that no name server is asked for
  for (const std::string& proxy :
       {std::string("http://joe:hun#ter2@proxy.test:1"), "http://" + no_name + ":1#ter2@proxy.test:1",
        std::string("gopher://joe:hunter2@proxy.test:1")}) {
    ASSERT_EQ(setenv("http_proxy", proxy.c_str(), 1), 0);
    const auto response = client.send(post_to("http://api.test/"), {});
    ASSERT_EQ(unsetenv("http_proxy"), 0);
    ASSERT_FALSE(response.has_value()) << proxy;
    EXPECT_EQ(response.error().code, ErrorCode::invalid_argument) << "to try again is of no use";
    EXPECT_TRUE(holds(response.error().message, "http_proxy cannot be read")) << response.error().message;
    EXPECT_FALSE(holds(response.error().message, "ter2")) << response.error().message;
  }
}

TEST(ProxySecrets, AreUsersAndPasswordsEvenOfNoAddress) {
  EXPECT_EQ(user_in("http://joe:hun#t@er2@proxy.test:1"), "joe:hun#t@er2");
  EXPECT_EQ(user_in("joe@proxy.test"), "joe");
  EXPECT_EQ(user_in("http://proxy.test:1"), "");
  ASSERT_EQ(setenv("ALL_PROXY", "http://joe:hunter2@proxy.test:1", 1), 0);
  EXPECT_EQ(proxy_secrets(), (std::vector<std::string>{"joe:hunter2", "hunter2"}));
  ASSERT_EQ(unsetenv("ALL_PROXY"), 0);
}

TEST(HttpClient, ServesManyThreadsAtOnce) {
  SocketServer server([](const ReceivedRequest& request, const Wire& wire) {
    return wire.send(http_answer(200, "echo " + request.body, "text/plain")) ? Then::keep : Then::close;
  });
  Client client;
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 16; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 8; ++i) {
          const std::string body = std::to_string(t) + "/" + std::to_string(i);
          const auto response = client.send(post_to(server.url(), body), {});
          if (response && response->body == "echo " + body) ++right;
        }
      });
    }
  }
  EXPECT_EQ(right, 16 * 8);
  EXPECT_LE(server.connections(), 16U);
}

}  // namespace
}  // namespace accelopt::http
