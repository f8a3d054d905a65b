// SPDX-License-Identifier: Apache-2.0
#include "fakes/chat_server.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace accelopt::fakes {
namespace {

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::abort();
}

struct Pipe {
  base::FileDescriptor read;
  base::FileDescriptor write;
};

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) die("pipe2");
  return {base::FileDescriptor(ends[0]), base::FileDescriptor(ends[1])};
}

/// All that is read up to the first line end.
std::string read_line(int descriptor) {
  std::string line;
  char c = 0;
  while (::read(descriptor, &c, 1) == 1 && c != '\n') line += c;
  return line;
}

}  // namespace

ChatServer::ChatServer(const std::filesystem::path& program, const base::Json& script)
    : folder_(base::TemporaryFolder::create("accelopt_chat_server").value()) {
  const std::string script_path = folder_.path() / "script.json";
  const std::string log_path = folder_.path() / "log.jsonl";
  if (!base::write_file(script_path, script.dump())) die("script.json");
  Pipe input = make_pipe();
  Pipe output = make_pipe();
  process_ = ::fork();
  if (process_ < 0) die("fork");
  if (process_ == 0) {
    ::dup2(input.read.get(), STDIN_FILENO);
    ::dup2(output.write.get(), STDOUT_FILENO);
    ::execlp("python3", "python3", program.c_str(), "--script", script_path.c_str(), "--log", log_path.c_str(),
             "--until-stdin-closes", static_cast<char*>(nullptr));
    ::_exit(127);
  }
  input_ = std::move(input.write);
  output.write.reset();  // so that the end of the server is the end of its output
  port_ = std::atoi(read_line(output.read.get()).c_str());
  if (port_ == 0) {
    std::fprintf(stderr, "chat_server.py did not start\n");
    std::abort();
  }
}

ChatServer::~ChatServer() {
  input_.reset();
  ::waitpid(process_, nullptr, 0);
}

std::string ChatServer::base_url() const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/v1";
}

std::vector<base::Json> ChatServer::log() const {
  std::vector<base::Json> entries;
  const auto text = base::read_file(folder_.path() / "log.jsonl");
  if (!text) return entries;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) entries.push_back(base::Json::parse(line));
  return entries;
}

std::vector<base::Json> ChatServer::answered(std::string_view role) const {
  std::vector<base::Json> entries;
  for (base::Json& entry : log()) {
    if (entry["role"] == role && entry["outcome"] == "answered") entries.push_back(std::move(entry));
  }
  return entries;
}

bool ChatServer::available() {
  return std::system("python3 -c '' >/dev/null 2>&1") == 0;
}

}  // namespace accelopt::fakes
