// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/json.hpp"

namespace accelopt::fakes {

/// Runs chat_server.py (which documents its scripts and its log) with a script for as long as it lives. It ends with
/// the process that started it.
class ChatServer {
 public:
  /// `program` is the path of chat_server.py. Aborts the test program when python3 or the script cannot be run.
  ChatServer(const std::filesystem::path& program, const base::Json& script);
  ~ChatServer();
  ChatServer(const ChatServer&) = delete;
  ChatServer& operator=(const ChatServer&) = delete;
  ChatServer(ChatServer&&) = delete;
  ChatServer& operator=(ChatServer&&) = delete;

  /// "http://127.0.0.1:PORT/v1".
  [[nodiscard]] std::string base_url() const;
  /// Every request so far, as the log has it.
  [[nodiscard]] std::vector<base::Json> log() const;
  /// The log's entries of that role that were answered.
  [[nodiscard]] std::vector<base::Json> answered(std::string_view role) const;
  /// Whether python3 is there to run the server.
  static bool available();

 private:
  base::TemporaryFolder folder_;
  base::FileDescriptor input_;  ///< the server ends when this is closed
  pid_t process_ = -1;
  int port_ = 0;
};

}  // namespace accelopt::fakes
