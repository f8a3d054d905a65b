// SPDX-License-Identifier: Apache-2.0
#include "fakes/surreal/surreal_server.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace accelopt::fakes {
namespace {

namespace fs = std::filesystem;

std::string packages() {
  const char* other = std::getenv("ACCELOPT_SURREAL_PACKAGES");
  return other != nullptr ? other : ACCELOPT_SURREAL_PACKAGES;
}

bool has_node() {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    if (access((std::string(rest.substr(0, colon)) + "/node").c_str(), X_OK) == 0) return true;
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  return false;
}

}  // namespace

std::string SurrealServer::missing() {
  if (!has_node()) return "node is not installed (scripts/install-deps.sh installs it)";
  if (!fs::exists(fs::path(packages()) / "node_modules/@surrealdb/node/package.json"))
    return "the npm package @surrealdb/node is not in " + packages() + " (make fetch fetches it)";
  return {};
}

SurrealServer::SurrealServer(std::string data, std::string engine)
    : data_(std::move(data)), engine_(std::move(engine)) {
  start();
}

SurrealServer::~SurrealServer() {
  kill();
}

std::string SurrealServer::url() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

std::string SurrealServer::address() const {
  return "surreal://" + std::string(kUser) + "@127.0.0.1:" + std::to_string(port_) + "/" + kNamespace + "/" + kDatabase;
}

void SurrealServer::kill() {
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = -1;
  }
  if (input_ >= 0) close(input_);
  input_ = -1;
}

void SurrealServer::restart() {
  kill();
  start();
}

void SurrealServer::start() {
  std::array<int, 2> input{};
  std::array<int, 2> output{};
  if (pipe2(input.data(), O_CLOEXEC) != 0 || pipe2(output.data(), O_CLOEXEC) != 0) return;
  std::vector<std::string> words{"node",   ACCELOPT_SURREAL_SERVER, "--packages",  packages(), "--user",     kUser,
                                 "--port", std::to_string(port_),   "--namespace", kNamespace, "--database", kDatabase};
  if (!data_.empty()) words.insert(words.end(), {"--data", data_, "--engine", engine_});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::string password = std::string("SURREAL_PASS=") + kPassword;
  std::vector<char*> environment;
  for (char** one = environ; *one != nullptr; ++one) environment.push_back(*one);
  environment.push_back(password.data());
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  const int problem = posix_spawnp(&process_, "node", &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(input[0]);
  close(output[1]);
  input_ = input[1];
  port_ = 0;
  if (problem != 0) {
    process_ = -1;
    close(output[0]);
    return;
  }
  std::string line;
  for (char c = 0; read(output[0], &c, 1) == 1 && c != '\n';) line += c;
  close(output[0]);
  constexpr std::string_view kPrefix = "listening ";
  if (line.starts_with(kPrefix)) port_ = std::atoi(line.c_str() + kPrefix.size());
}

}  // namespace accelopt::fakes
