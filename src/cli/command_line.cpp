// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/problem.hpp"
#include "report/text_width.hpp"

namespace accelopt::cli {

namespace {

/// Why the text is no whole number of this type; empty: it is one. The library itself wraps -3 around to a very large
/// number where the type has no sign, and says of 1e6 only that it could not convert it.
template <class Number>
std::string fault_of(const std::string& text) {
  if (std::is_unsigned_v<Number> && text.starts_with("-")) return "must be 0 or more, not " + text;
  Number value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc::result_out_of_range) {
    return "must be a whole number of at most " + std::to_string(std::numeric_limits<Number>::max()) + ", not " + text;
  }
  if (problem != std::errc() || end != text.data() + text.size())
    return "must be a whole number, in digits only, not " + text;
  return {};
}

/// The same of a number that may have a fraction.
std::string fault_of_fraction(const std::string& text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = problem == std::errc() && end == text.data() + text.size() && std::isfinite(value);
  return whole ? "" : "must be a number, not " + (text.empty() ? "empty" : text);
}

struct UnknownCommand {
  std::string below;  ///< "memory ", or nothing
  std::string word;
  std::string meant;  ///< the command that it is close to; empty: none
};

/// The commands below one.
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string nearest_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app)) names.push_back(command->get_name());
  return std::string(base::nearest_name(word, names));
}

/// The word that stands where a command, or one of a command's own, is needed; none: no word does.
std::optional<UnknownCommand> unknown_command(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* at = &app;
  std::string below;
  for (const std::string& word : words) {
    const auto deeper = at->get_subcommands();  // those that were met
    if (!deeper.empty() && deeper.front()->get_name() == word) {
      at = deeper.front();
      below += word + " ";
      continue;
    }
    const bool needed = deeper.empty() && at->get_require_subcommand_min() > 0;
    if (!needed || word.empty() || word.starts_with('-')) return std::nullopt;
    return UnknownCommand{below, word, nearest_command(*at, word)};
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
    const std::string_view meant = base::nearest_name(name, known);
    const std::string question = meant.empty() ? "" : fmt::format("; did you mean {}?", meant);
    const std::string program = words.empty() ? "accelopt" : "accelopt " + words;
    return fmt::format("{} has no option {}{} {} --help lists them", program, report::printable(name),
                       question.empty() ? ";" : question, program);
  }
  return std::nullopt;
}

}  // namespace

Command& Command::option(const std::string& names, Target target, const std::string& help) {
  if (const auto* const each = std::get_if<std::function<void(const std::string&)>>(&target)) {
    last_ = app_->add_option_function<std::vector<std::string>>(
        names, [each = *each](const std::vector<std::string>& values) { std::ranges::for_each(values, each); }, help);
    last_->allow_extra_args(false);
    return *this;
  }
  last_ = std::visit(
      [&](const auto& value) -> CLI::Option* {
        if constexpr (std::is_pointer_v<std::decay_t<decltype(value)>>) return app_->add_option(names, *value, help);
        return nullptr;
      },
      target);
  if (std::holds_alternative<int*>(target) || std::holds_alternative<std::optional<int>*>(target))
    last_->check(&fault_of<int>);
  if (std::holds_alternative<std::optional<std::int64_t>*>(target)) last_->check(&fault_of<std::int64_t>);
  if (std::holds_alternative<std::optional<std::uint64_t>*>(target)) last_->check(&fault_of<std::uint64_t>);
  if (std::holds_alternative<double*>(target) || std::holds_alternative<std::optional<double>*>(target))
    last_->check(&fault_of_fraction);
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

Command& Command::not_empty() {
  last_->check([](const std::string& text) { return text.empty() ? "must not be empty" : ""; });
  return *this;
}

Command& Command::at_least(int least) {
  last_->check([least](const std::string& text) -> std::string {
    int value = least;
    std::from_chars(text.data(), text.data() + text.size(), value);  // what is no number was told before
    return value >= least ? "" : "must be " + std::to_string(least) + " or more, not " + text;
  });
  return *this;
}

Command& Command::when_given(std::function<void()> callback) {
  last_->each([callback = std::move(callback)](const std::string&) { callback(); });
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
  app_->set_version_flag("-V,--version", version);
  app_->require_subcommand(1);
}

CommandLine::~CommandLine() = default;

Command CommandLine::add(const std::string& name, const std::string& description) {
  return Command(*app_->add_subcommand(name, description));
}

std::string CommandLine::help() const {
  return app_->help();
}

namespace {

/// "{bash,fish,zsh}", as the library describes the only values of an option, taken apart.
std::vector<std::string> choices_in(const std::string& description) {
  std::vector<std::string> out;
  if (!description.starts_with('{') || !description.ends_with('}')) return out;
  std::istringstream list(description.substr(1, description.size() - 2));
  for (std::string one; std::getline(list, one, ',');) out.push_back(one);
  return out;
}

OptionFacts facts_of(const CLI::Option& option) {
  OptionFacts facts;
  for (const std::string& name : option.get_snames()) facts.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) facts.names.push_back("--" + name);
  if (option.get_type_size() > 0) facts.placeholder = option.get_type_name();
  facts.choices = choices_in(facts.placeholder.substr(std::min(facts.placeholder.find('{'), facts.placeholder.size())));
  if (!facts.choices.empty()) facts.placeholder = "WORD";
  if (facts.names.empty()) facts.placeholder = option.get_name();
  facts.help = option.get_description();
  return facts;
}

CommandFacts facts_of(const CLI::App& app) {
  CommandFacts facts{app.get_name(), app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options()) facts.options.push_back(facts_of(*option));
  for (const CLI::App* command : commands_of(app)) facts.commands.push_back(facts_of(*command));
  return facts;
}

/// The word of `help WORDS` that names no command; none: all do.
std::optional<UnknownCommand> unknown_topic(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* at = &app;
  std::string below;
  for (const std::string& word : words) {
    const auto commands = commands_of(*at);
    const auto found = std::find_if(commands.begin(), commands.end(),
                                    [&](const CLI::App* command) { return command->get_name() == word; });
    if (found == commands.end()) return UnknownCommand{below, word, nearest_command(*at, word)};
    at = *found;
    below += word + " ";
  }
  return std::nullopt;
}

void print_unknown(const UnknownCommand& unknown) {
  const std::string question =
      unknown.meant.empty() ? ";" : fmt::format("; did you mean {}{}?", unknown.below, unknown.meant);
  fmt::print(stderr, "accelopt: there is no command \"{}{}\"{} accelopt {}--help lists them\n", unknown.below,
             report::printable(unknown.word), question, unknown.below);
}

/// `help run` is `run --help`, and `version` is `--version`.
std::vector<std::string> as_options(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 1 && words[0] == "version") return {"--version"};
  if (words.empty() || words[0] != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

}  // namespace

CommandFacts CommandLine::facts() const {
  return facts_of(*app_);
}

std::optional<int> CommandLine::parse(int argc, char** argv, int usage) {
  const std::vector<std::string> words = as_options(argc, argv);
  if (argc > 2 && std::string_view(argv[1]) == "help") {
    if (const auto unknown = unknown_topic(*app_, {argv + 2, argv + argc})) {
      print_unknown(*unknown);
      return usage;
    }
  }
  try {
    app_->parse(std::vector<std::string>(words.rbegin(), words.rend()));  // the library takes the last word first
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError)) {
      if (const auto unknown = unknown_command(*app_, words)) {
        print_unknown(*unknown);
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
