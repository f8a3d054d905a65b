// SPDX-License-Identifier: Apache-2.0
// The files of a new task: what can be told from the source's path is filled in, the rest is marked TODO.
#include <algorithm>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "refactor/driver_forms.hpp"
#include "refactor/task.hpp"

namespace accelopt::refactor {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPythonArgument = "[random.randrange(int(size) + 1) for _ in range(int(size))]";
constexpr const char* kScriptArgument =
    "Array.from({ length: Number(size) }, () => Math.floor(random() * (Number(size) + 1)))";

/// What stands between the commas of the first brackets.
std::vector<std::string> parameters_of(std::string_view header, const CodeLanguage& language) {
  std::vector<std::string> parts;
  const std::size_t open = header.find('(');
  if (open == header.npos) return parts;
  const bool python = language.form == FunctionForm::indentation;
  std::string part;
  char quote = '\0';
  int depth = 0;
  for (std::size_t at = open + 1; at < header.size(); ++at) {
    const char c = header[at];
    if (quote != '\0') {
      if (c == '\\')
        ++at;
      else if (c == quote)
        quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (python && c == '#') {
      at = std::min(header.find('\n', at), header.size());
      continue;
    } else if (c == '(' || c == '[' || c == '{' || (c == '<' && !python)) {
      ++depth;
    } else if ((c == ')' || c == ']' || c == '}' || (c == '>' && !python && header[at - 1] != '=')) && depth-- == 0) {
      break;
    } else if (c == ',' && depth == 0) {
      parts.emplace_back(base::trimmed(part));
      part.clear();
      continue;
    }
    part += c;
  }
  parts.emplace_back(base::trimmed(part));
  std::erase(parts, "");
  return parts;
}

/// Whether a call may leave it out.
bool may_be_left_out(std::string_view parameter) {
  for (std::size_t at = parameter.find('='); at != parameter.npos; at = parameter.find('=', at + 1)) {
    if (!parameter.substr(at).starts_with("=>")) return true;
  }
  return parameter.starts_with("...") || parameter.find("?:") != parameter.npos ||
         parameter.find("? :") != parameter.npos;
}

/// What a driver calls: the function, or a method of an object that is made without arguments.
struct Callee {
  std::string receiver;  ///< makes that object, which the driver keeps as `receiver`; empty: there is none
  std::string call;
};
Callee callee_of(const NewTask& task) {
  const std::size_t dot = task.function.rfind('.');
  const bool rust = task.language.name == "rust";
  const std::string prefix = rust ? "subject::" : "subject.";
  if (dot == task.function.npos) return {"", prefix + (task.function.empty() ? "?" : task.function)};
  const std::string type = prefix + task.function.substr(0, dot);
  const std::string method = task.function.substr(dot + 1);
  auto parameters = parameters_of(task.signature, task.language);
  parameters.resize(1);
  std::ranges::replace(parameters.front(), ':', ' ');  // self: Type
  const bool has_self = base::has_word(parameters.front(), "self");
  if (task.language.name == "go") return {"", "new(" + type + ")." + method};
  if (rust) return {"", type + (has_self ? "::default()." : "::") + method};
  const bool python = task.language.form == FunctionForm::indentation;
  const bool of_object = python ? has_self : !base::has_word(task.signature, "static");
  if (!of_object) return {"", type + "." + method};
  return {(python ? "" : "new ") + type + "()", "receiver." + method};
}

/// As it stands between double quotes.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

int arguments_of(const NewTask& task) {
  if (task.signature.find('(') == task.signature.npos) return 1;
  const bool python = task.language.form == FunctionForm::indentation;
  int count = 0;
  bool first = true;
  for (const std::string& parameter : parameters_of(task.signature, task.language)) {
    const bool is_object = first && (parameter == "self" || parameter == "cls" || parameter.starts_with("this:"));
    first = false;
    if (python && parameter.starts_with('*')) break;  // those behind it are given by name
    if (is_object || parameter == "/" || may_be_left_out(parameter)) continue;
    ++count;
  }
  return count;
}

std::vector<std::string> open_places(const Task& task) {
  constexpr std::string_view kFolder = "{task}/";
  std::vector<std::string> names;
  for (const auto* command : {&task.build, &task.cases, &task.run}) {
    for (const std::string& word : *command) {
      if (word.starts_with(kFolder) && std::ranges::find(names, word.substr(kFolder.size())) == names.end())
        names.push_back(word.substr(kFolder.size()));
    }
  }
  std::vector<std::string> places;
  for (const std::string& name : names) {
    const auto text = base::read_file(task.folder / name);
    if (!text) continue;  // running it says so
    int number = 0;
    for (std::string_view rest = *text; !rest.empty();) {
      const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size()));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      ++number;
      if (line.find("TODO") != line.npos) places.push_back(fmt::format("{}:{}", name, number));
    }
  }
  return places;
}

std::vector<NewFile> new_task(const NewTask& task) {
  const std::string& function = task.function;
  const CodeLanguage& language = task.language;
  const std::string path = escaped(task.path);
  const std::string scope = to_string(Scope{path, function});
  std::string name = base::lower(function.empty() ? fs::path(path).stem().string() : function);
  std::ranges::replace_if(
      name, [](char c) { return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')); }, '-');
  const fs::path stem = fs::path(path).replace_extension();
  std::string module = stem.generic_string();
  std::ranges::replace(module, '/', '.');
  if (module.ends_with(".__init__")) module.erase(module.rfind('.'));
  const std::string arguments = base::joined(
      std::vector<std::string>(static_cast<std::size_t>(arguments_of(task)),
                               language.form == FunctionForm::indentation ? kPythonArgument : kScriptArgument),
      ", ");
  const auto [receiver, call] = callee_of(task);
  const std::string none = language.form == FunctionForm::indentation ? "None" : "null";
  const Words words = {{"{path}", path},
                       {"{stem}", stem.generic_string()},
                       {"{file}", stem.filename().string()},
                       {"{folder}", stem.parent_path().generic_string()},
                       {"{module}", module},
                       {"{arguments}", arguments},
                       {"{receiver}", receiver.empty() ? none : receiver},
                       {"{call}", call},
                       {"{outer}", function.empty() ? "?" : function.substr(0, function.find('.'))},
                       {"{function}", function.empty() ? "?" : function}};
  const DriverForm form = form_of(language);
  const std::string toml = fmt::format(
      "schema = 1\nkind = \"refactor\"\nname = \"{}\"\nrepository = \"{}\"\nbase = \"HEAD\"\nlanguage = \"{}\"\n"
      "goal = \"time\"                  # time | complexity | memory | readability\nscope = [\"{}\"]\nprotected = "
      "[\"tests/**\", "
      "\"test/**\"]\n\n[commands]\n{}\n"
      "test = {{ run = [\"?\"], format = \"exit\" }}   # junit | tap | go-json | unittest | exit; junit writes "
      "{{report}}\n\n[driver]\n{}\n{}\ncompare = \"bytes\"\n\n[[workloads]]\nname = \"random\"\n"
      "sizes = [\"?\"]                  # e.g. [100, 200, 400, 800, 1600, 3200]; the largest: 0.1 to 2 s of the old "
      "code\nrole = \"race\"                  # race | check | held_out\n",
      name, escaped(task.repository), language.name, scope, with_words(std::string(form.build), words), form.cases,
      form.run);
  std::vector<NewFile> files = {{"refactor.toml", toml}};
  for (const NewFile& file : form.files) files.push_back({file.name, with_words(file.text, words)});
  return files;
}

}  // namespace accelopt::refactor
