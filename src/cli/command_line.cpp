// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include <charconv>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "report/text_width.hpp"
#include "suites/problem.hpp"

namespace accelopt::cli {

namespace {

/// Why the text is no whole number of this type; empty: it is one. The library itself wraps -3 around to a very large
/// number where the type has no sign, and says of 1e6 only that it could not convert it.
template <class Number>
std::string fault_of(const std::string& text) {
  if (std::is_unsigned_v<Number> && text.starts_with("-")) return "must be 0 or more, and is " + text;
  Number value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc::result_out_of_range) {
    return "must be a whole number of at most " + std::to_string(std::numeric_limits<Number>::max()) + ", and is " +
           text;
  }
  if (problem != std::errc() || end != text.data() + text.size())
    return "must be a whole number in digits alone, and is " + text;
  return {};
}

struct UnknownCommand {
  std::string below;  ///< "memory ", or nothing
  std::string word;
};

/// The word that stands where a command, or one of a command's own, is needed; none: no word does.
std::optional<UnknownCommand> unknown_command(const CLI::App& app, std::span<char* const> words) {
  const CLI::App* at = &app;
  std::string below;
  for (const char* const word : words) {
    const auto deeper = at->get_subcommands();  // those that were met
    if (!deeper.empty() && deeper.front()->get_name() == word) {
      at = deeper.front();
      below += std::string(word) + " ";
      continue;
    }
    const bool needed = deeper.empty() && at->get_require_subcommand_min() > 0;
    if (!needed || *word == '\0' || *word == '-') return std::nullopt;
    return UnknownCommand{below, word};
  }
  return std::nullopt;
}

/// The command that was met last, and its words: "run", "memory list".
std::pair<const CLI::App*, std::string> deepest_command(const CLI::App& app) {
  const CLI::App* at = &app;
  std::string words;
  for (auto below = at->get_subcommands(); !below.empty(); below = at->get_subcommands()) {
    at = below.front();
    words += (words.empty() ? "" : " ") + at->get_name();
  }
  return {at, words};
}

/// What to say of an option that there is not, with the one that was meant if one is close; none: no option is too
/// many.
std::optional<std::string> unknown_option(const CLI::App& app) {
  const auto [command, words] = deepest_command(app);
  std::vector<std::string> known;
  for (const CLI::Option* option : command->get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  for (const std::string& extra : app.remaining(true)) {
    if (!extra.starts_with("--") || extra == "--") continue;
    const std::string name = extra.substr(0, extra.find('='));
    const std::string_view meant = suites::nearest_name(name, known);
    const std::string question = meant.empty() ? "" : fmt::format("; did you mean {}?", meant);
    const std::string program = words.empty() ? "accelopt" : "accelopt " + words;
    return fmt::format("{} has no option {}{} {} --help lists them", program, report::printable(name),
                       question.empty() ? ";" : question, program);
  }
  return std::nullopt;
}

}  // namespace

Command& Command::option(const std::string& names, Target target, const std::string& help) {
  last_ = std::visit([&](auto* value) { return app_->add_option(names, *value, help); }, target);
  if (std::holds_alternative<int*>(target) || std::holds_alternative<std::optional<int>*>(target))
    last_->check(&fault_of<int>);
  if (std::holds_alternative<std::optional<std::int64_t>*>(target)) last_->check(&fault_of<std::int64_t>);
  if (std::holds_alternative<std::optional<std::uint64_t>*>(target)) last_->check(&fault_of<std::uint64_t>);
  return *this;
}

Command& Command::flag(const std::string& names, bool& target, const std::string& help) {
  last_ = app_->add_flag(names, target, help);
  return *this;
}

Command& Command::required() {
  last_->required();
  return *this;
}

Command& Command::show_default() {
  last_->capture_default_str();
  return *this;
}

Command& Command::one_of(const std::vector<std::string>& values) {
  last_->check(CLI::IsMember(values));
  return *this;
}

Command& Command::at_least(int least) {
  last_->check([least](const std::string& text) -> std::string {
    int value = least;
    std::from_chars(text.data(), text.data() + text.size(), value);  // what is no number was told before
    return value >= least ? "" : "must be " + std::to_string(least) + " or more, and is " + text;
  });
  return *this;
}

Command& Command::footer(const std::string& text) {
  app_->footer(text);
  return *this;
}

Command& Command::chosen(std::function<void()> callback) {
  app_->callback(std::move(callback));
  return *this;
}

Command Command::add(const std::string& name, const std::string& description) {
  app_->require_subcommand(1);
  return Command(*app_->add_subcommand(name, description));
}

CommandLine::CommandLine(const std::string& description, const std::string& footer, const std::string& version)
    : app_(std::make_unique<CLI::App>(description, "accelopt")) {
  app_->footer(footer);
  app_->set_version_flag("--version", version);
  app_->require_subcommand(1);
}

CommandLine::~CommandLine() = default;

Command CommandLine::add(const std::string& name, const std::string& description) {
  return Command(*app_->add_subcommand(name, description));
}

std::string CommandLine::help() const {
  return app_->help();
}

std::optional<int> CommandLine::parse(int argc, char** argv, int usage) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError)) {
      if (const auto unknown = unknown_command(*app_, std::span(argv, static_cast<std::size_t>(argc)).subspan(1))) {
        fmt::print(stderr, "accelopt: there is no command \"{}{}\"; accelopt {}--help lists them\n", unknown->below,
                   report::printable(unknown->word), unknown->below);
        return usage;
      }
    }
    const bool missing = problem.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
    if (missing || problem.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
      if (const auto unknown = unknown_option(*app_)) {
        fmt::print(stderr, "accelopt: {}\n", *unknown);
        return usage;
      }
    }
    return app_->exit(problem) == 0 ? 0 : usage;
  }
  return std::nullopt;
}

}  // namespace accelopt::cli
