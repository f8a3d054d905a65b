// SPDX-License-Identifier: Apache-2.0
// The test server (server.mjs: the real SurrealDB engine behind its HTTP protocol) as a process of a test.
#pragma once

#include <sys/types.h>

#include <string>

namespace accelopt::fakes {

class SurrealServer {
 public:
  static constexpr const char* kUser = "root";
  static constexpr const char* kPassword = "correct:horse battery";
  static constexpr const char* kNamespace = "team";
  static constexpr const char* kDatabase = "knowledge";

  /// Why there can be no server on this machine; empty: there can.
  static std::string missing();

  /// Starts it, with its namespace and database. `data`: the folder that keeps the data; empty: memory does. `engine`
  /// keeps it: "rocksdb" or "surrealkv".
  explicit SurrealServer(std::string data = {}, std::string engine = "rocksdb");
  ~SurrealServer();
  SurrealServer(const SurrealServer&) = delete;
  SurrealServer& operator=(const SurrealServer&) = delete;
  SurrealServer(SurrealServer&&) = delete;
  SurrealServer& operator=(SurrealServer&&) = delete;

  /// 0: it did not start; what it said is on standard error.
  [[nodiscard]] int port() const { return port_; }
  /// "surreal://root@127.0.0.1:PORT/team/knowledge".
  [[nodiscard]] std::string address() const;
  /// "http://127.0.0.1:PORT".
  [[nodiscard]] std::string url() const;

  /// Ends it with SIGKILL.
  void kill();
  /// Starts it again at the same port on the same data.
  void restart();

 private:
  void start();

  std::string data_;
  std::string engine_;
  int port_ = 0;
  pid_t process_ = -1;
  int input_ = -1;  ///< the server ends when it is closed
};

}  // namespace accelopt::fakes
