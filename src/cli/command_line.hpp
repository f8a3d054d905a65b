// SPDX-License-Identifier: Apache-2.0
// The command line as the commands see it: options bound to variables. The parser behind it (CLI11) is a header of its
// own weight and is compiled once, in command_line.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
class Option;
}  // namespace CLI

namespace accelopt::cli {

/// Where the value of an option goes. A function is called with the value of every mention: such an option may be
/// repeated.
using Target = std::variant<std::function<void(const std::string&)>, std::string*, std::filesystem::path*,
                            std::vector<std::string>*, std::optional<std::string>*, int*, double*, std::optional<int>*,
                            std::optional<std::int64_t>*, std::optional<std::uint64_t>*, std::optional<double>*>;

/// One command (`accelopt run`) while it is declared. Variables must live as long as the command line.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  /// "name" for a positional argument, "--name" or "-n,--name" for an option.
  Command& option(const std::string& names, Target target, const std::string& help);
  Command& flag(const std::string& names, bool& target, const std::string& help);

  // These speak of the option that was declared last.
  Command& required();
  Command& show_default();
  Command& one_of(const std::vector<std::string>& values);
  Command& at_least(int least);
  /// For a text that would mean the same as none: an empty one mostly comes from a variable that is not set.
  Command& not_empty();
  Command& when_given(std::function<void()> callback);

  /// Text below the help: examples.
  Command& footer(const std::string& text);
  /// Called when this command was chosen and parsed.
  Command& chosen(std::function<void()> callback);
  /// A command below this one (`accelopt memory list`).
  Command add(const std::string& name, const std::string& description);

 private:
  CLI::App* app_;
  CLI::Option* last_ = nullptr;
};

/// What a command accepts, for shells and manuals.
struct OptionFacts {
  std::vector<std::string> names;    ///< "--seed", "-o"; none: a positional argument
  std::string placeholder;           ///< "TEXT", "INT"; of a positional argument its name; empty: a flag
  std::vector<std::string> choices;  ///< the only values; empty: any
  std::string help;
};
struct CommandFacts {
  std::string name;
  std::string help;
  std::string footer;
  std::vector<OptionFacts> options;
  std::vector<CommandFacts> commands;
};

/// All commands.
class CommandLine {
 public:
  CommandLine(const std::string& description, const std::string& footer, const std::string& version);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  Command add(const std::string& name, const std::string& description);
  [[nodiscard]] std::string help() const;
  /// The whole program as a command: what was declared so far.
  [[nodiscard]] CommandFacts facts() const;

  /// Sets the variables and calls what was chosen. Nothing: go on; a number: help was printed, or a message on standard
  /// error, and this is the exit code (0, or `usage`).
  [[nodiscard]] std::optional<int> parse(int argc, char** argv, int usage);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace accelopt::cli
