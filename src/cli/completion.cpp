// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.hpp"

#include <functional>
#include <memory>

#include <fmt/format.h>

#include "app/version.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"

namespace accelopt::cli {
namespace {

/// Calls `visit` with every command and the words that lead to it: "", "run", "memory list".
void for_each_command(const CommandFacts& command, const std::string& path,
                      const std::function<void(const std::string&, const CommandFacts&)>& visit) {
  visit(path, command);
  for (const CommandFacts& below : command.commands)
    for_each_command(below, path.empty() ? below.name : path + " " + below.name, visit);
}

/// All that may stand next: commands and options.
std::string next_words(const CommandFacts& command) {
  std::vector<std::string> words;
  for (const CommandFacts& below : command.commands) words.push_back(below.name);
  for (const OptionFacts& option : command.options) words.insert(words.end(), option.names.begin(), option.names.end());
  return base::joined(words, " ");
}

/// The first line, up to the end of its first sentence.
std::string first_sentence(const std::string& text) {
  const std::string line(base::first_line(text));
  return line.substr(0, std::min(line.find(". "), line.size()));
}

/// Text of a manual: nothing in it is a request or an escape.
std::string manual_text(const std::string& text) {
  std::string out;
  bool line_begins = true;
  for (const char letter : text) {
    if (line_begins && (letter == '.' || letter == '\'')) out += "\\&";
    if (letter == '\\') {
      out += "\\e";
    } else if (letter == '-') {
      out += "\\-";
    } else {
      out += letter;
    }
    line_begins = letter == '\n';
  }
  return out;
}

std::string manual_options(const CommandFacts& command) {
  std::string out;
  for (const OptionFacts& option : command.options) {
    const std::string value = option.choices.empty() ? option.placeholder : base::joined(option.choices, "|");
    const std::string names = option.names.empty() ? value : base::joined(option.names, ", ");
    out += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", manual_text(names),
                       option.names.empty() || value.empty() ? "" : " \\fI" + manual_text(value) + "\\fR",
                       manual_text(option.help));
  }
  return out;
}

}  // namespace

std::string bash_completion(const CommandFacts& program) {
  std::string commands;
  std::string values;
  for_each_command(program, "", [&](const std::string& path, const CommandFacts& command) {
    commands += fmt::format("    {}) words={} ;;\n", base::shell_quoted(path), base::shell_quoted(next_words(command)));
    for (const OptionFacts& option : command.options) {
      if (option.names.empty() || option.placeholder.empty()) continue;
      for (const std::string& name : option.names)
        values += fmt::format("    {}) values={}; takes_value=1 ;;\n", base::shell_quoted(path + " " + name),
                              base::shell_quoted(base::joined(option.choices, " ")));
    }
  });
  return fmt::format(R"(# bash completion for accelopt: source it, or put it where bash-completion looks
_accelopt() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} path='' words='' values='' takes_value='' i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${{COMP_WORDS[i]}} == -* ]] && continue
    case " $(_accelopt_commands "$path") " in *" ${{COMP_WORDS[i]}} "*) path="${{path:+$path }}${{COMP_WORDS[i]}}" ;; esac
  done
  case "$path $before" in
{}  esac
  if [ -n "$takes_value" ]; then
    [ -n "$values" ] && COMPREPLY=($(compgen -W "$values" -- "$word")) || COMPREPLY=($(compgen -f -- "$word"))
    return
  fi
  words=$(_accelopt_commands "$path")
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  case $word in -*) ;; *) COMPREPLY+=($(compgen -f -- "$word")) ;; esac
}}
_accelopt_commands() {{
  local words=''
  case "$1" in
{}  esac
  echo "$words"
}}
complete -o filenames -F _accelopt accelopt
)",
                     values, commands);
}

std::string zsh_completion(const CommandFacts& program) {
  return "#compdef accelopt\nautoload -U +X bashcompinit && bashcompinit\n" + bash_completion(program);
}

std::string fish_completion(const CommandFacts& program) {
  std::string out = "# fish completion for accelopt\n";
  for_each_command(program, "", [&](const std::string& path, const CommandFacts& command) {
    // A command is met once its words were; its own commands are offered until one of them was.
    std::string condition;
    if (path.empty()) {
      condition = "__fish_use_subcommand";
    } else {
      std::vector<std::string> parts;
      for (std::size_t at = 0; at < path.size();) {
        const std::size_t end = std::min(path.find(' ', at), path.size());
        parts.push_back("__fish_seen_subcommand_from " + path.substr(at, end - at));
        at = end + 1;
      }
      condition = base::joined(parts, "; and ");
    }
    for (const CommandFacts& below : command.commands)
      out += fmt::format("complete -c accelopt -n {} -a {} -d {}\n", base::shell_quoted(condition), below.name,
                         base::shell_quoted(first_sentence(below.help)));
    for (const OptionFacts& option : command.options) {
      if (option.names.empty()) continue;
      out += fmt::format("complete -c accelopt -n {}", base::shell_quoted(condition));
      for (const std::string& name : option.names)
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.choices.empty())
        out += " -x -a " + base::shell_quoted(base::joined(option.choices, " "));
      else if (!option.placeholder.empty())
        out += " -r";
      out += " -d " + base::shell_quoted(first_sentence(option.help)) + "\n";
    }
  });
  return out;
}

std::string manual_page(const CommandFacts& program, const std::string& version) {
  std::string out = fmt::format(
      ".TH ACCELOPT 1 \"\" \"accelopt {}\"\n.SH NAME\naccelopt \\- {}\n.SH SYNOPSIS\n"
      "\\fBaccelopt\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...]\n.SH OPTIONS\n{}",
      manual_text(version), manual_text(program.help), manual_options(program));
  for_each_command(program, "", [&](const std::string& path, const CommandFacts& command) {
    if (path.empty()) return;
    out += fmt::format(".SH \"accelopt {}\"\n{}\n{}", manual_text(path), manual_text(command.help),
                       manual_options(command));
    if (!command.footer.empty()) out += ".PP\n.nf\n" + manual_text(command.footer) + "\n.fi\n";
  });
  return out + ".SH NOTES\n.nf\n" + manual_text(program.footer) + "\n.fi\n";
}

void add_completion(CommandLine& app, Action& chosen) {
  Command command =
      app.add("completion", "Print a script that completes commands and options in a shell, or the page for man");
  command.footer(
      "Examples:\n"
      "  source <(accelopt completion bash)\n"
      "  accelopt completion fish > ~/.config/fish/completions/accelopt.fish\n"
      "  accelopt completion man | man -l -\n");
  auto shell = std::make_shared<std::string>();
  command.option("shell", shell.get(), "bash, zsh, fish or man").required().one_of({"bash", "zsh", "fish", "man"});
  command.chosen([&app, &chosen, shell] {
    chosen = [&app, shell](app::Shell&) -> base::Result<Exit> {
      const CommandFacts program = app.facts();
      if (*shell == "bash") fmt::print("{}", bash_completion(program));
      if (*shell == "zsh") fmt::print("{}", zsh_completion(program));
      if (*shell == "fish") fmt::print("{}", fish_completion(program));
      if (*shell == "man") fmt::print("{}", manual_page(program, app::kVersion));
      return Exit::done;
    };
  });
}

}  // namespace accelopt::cli
