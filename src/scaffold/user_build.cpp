// SPDX-License-Identifier: Apache-2.0
#include "scaffold/user_build.hpp"

#include <algorithm>
#include <set>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/shell.hpp"
#include "model/user_flags.hpp"
#include "scaffold/build_compiler.hpp"
#include "scaffold/extract.hpp"
#include "scaffold/winner_patch.hpp"
#include "scaffold/words.hpp"

namespace accelopt::scaffold {
namespace {

namespace fs = std::filesystem;
using base::Result;

/// -fopenmp, and what other compilers call it; -fopenmp-simd starts no threads.
std::optional<OpenMp> openmp_of(const std::string& argument) {
  if (argument == "-fno-openmp" || argument == "-qno-openmp") return OpenMp::off;
  for (const char* name : {"-fopenmp", "-qopenmp", "-fiopenmp"}) {
    if (argument == name || argument.starts_with(std::string(name) + "=")) return OpenMp::on;
  }
  return std::nullopt;
}

/// -Wdeclaration-after-statement, also as an error, and -pedantic in C90.
Declarations declarations_of(const std::vector<std::string>& arguments) {
  static const std::set<std::string> kOldest{"-ansi",      "-std=c89",          "-std=c90",           "-std=gnu89",
                                             "-std=gnu90", "-std=iso9899:1990", "-std=iso9899:199409"};
  bool is_warned_of = false;
  bool is_oldest = false;
  bool is_pedantic = false;
  for (const std::string& argument : arguments) {
    if (argument.ends_with("declaration-after-statement")) is_warned_of = !argument.starts_with("-Wno-");
    if (argument == "-ansi" || argument.starts_with("-std=")) is_oldest = kOldest.contains(argument);
    is_pedantic = is_pedantic || argument.ends_with("pedantic") || argument.ends_with("pedantic-errors");
  }
  return is_warned_of || (is_oldest && is_pedantic) ? Declarations::before_statements : Declarations::anywhere;
}

/// What `-include NAME` finds: in the folder of the call, then as a "quoted" name does. Empty: nothing.
fs::path included_file(const std::string& name, const fs::path& folder, const UserBuild& build) {
  std::vector<fs::path> places{folder};
  places.insert(places.end(), build.folders.begin(), build.folders.end());
  for (const fs::path& place : places) {
    std::error_code ignored;
    if (fs::is_regular_file(place / name, ignored)) return (place / name).lexically_normal();
  }
  return {};
}

/// Options that accelopt does not follow, with a value in the next argument or none.
bool is_not_read(const std::string& argument) {
  static const std::set<std::string> kWhole{"-include-pch", "-idirafter",  "-iprefix", "-isysroot",
                                            "-nostdinc",    "-nostdinc++", "-undef"};
  return kWhole.contains(argument) || argument.starts_with("@") || argument.starts_with("-Wp,") ||
         argument.starts_with("--sysroot") || argument.starts_with("--config");
}

void read_arguments(const std::vector<std::string>& arguments, const fs::path& folder, UserBuild& build) {
  build.declarations = declarations_of(arguments);
  std::vector<std::string> included;  // found when all folders are known
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    build.openmp = openmp_of(argument).value_or(build.openmp);
    std::string value;
    std::string option;
    if (argument.starts_with("--target=")) build.machine = argument.substr(9);
    if (argument == "-target" && i + 1 < arguments.size()) build.machine = arguments[i + 1];
    if (is_not_read(argument)) {
      build.not_read.push_back(argument);
      continue;
    }
    for (const char* name : {"--include=", "--include", "-include", "--imacros=", "--imacros", "-imacros", "-isystem",
                             "-iquote", "-I", "-D", "-U"}) {
      if (!argument.starts_with(name)) continue;
      option = name;
      value = argument.substr(option.size());
      if (value.empty() && i + 1 < arguments.size()) value = arguments[++i];
      break;
    }
    if (option.find("-include") != std::string::npos || option.find("-imacros") != std::string::npos) {
      included.push_back(value);
      continue;
    }
    if (!option.empty() && option.starts_with("-i")) option = option == "-isystem" ? "-isystem" : "-iquote";
    if (option == "-D" || option == "-U") {
      build.search.push_back(option + value);
    } else if (!option.empty()) {
      const fs::path path = fs::path(folder / value).lexically_normal();
      build.search.insert(build.search.end(), {option, path.string()});
      build.folders.push_back(path);
    } else if (argument.starts_with("-std=")) {
      build.search.push_back(argument);
    } else if (model::is_user_flag(argument)) {
      build.flags.push_back(argument);
    } else if (argument.starts_with("-O") || argument.starts_with("-f") || argument.starts_with("-m")) {
      build.left_out.push_back(argument);
    }
  }
  for (const std::string& name : included) {
    const fs::path file = included_file(name, folder, build);
    if (file.empty()) {
      build.not_read.push_back("-include " + name);
      continue;
    }
    build.search.insert(build.search.end(), {"-include", file.string()});
    build.included.push_back(file);
  }
}

/// What stands for a level and a processor that nobody names.
void name_defaults(std::vector<std::string>& flags) {
  const auto lacks = [&](const char* start) {
    return std::none_of(flags.begin(), flags.end(), [&](const std::string& flag) { return flag.starts_with(start); });
  };
#if defined(__x86_64__)
  if (lacks("-march=")) flags.insert(flags.begin(), "-march=x86-64");
#elif defined(__aarch64__)
  if (lacks("-march=") && lacks("-mcpu=")) flags.insert(flags.begin(), "-march=armv8-a");
#endif
  if (lacks("-O")) flags.insert(flags.begin(), "-O0");
}

Result<std::optional<UserBuild>> read_commands(const fs::path& commands, const fs::path& file) {
  TRY_ASSIGN(const std::string text, base::read_file(commands));
  TRY_ASSIGN(const base::Json list, base::parse_json(text, commands.string()));
  if (!list.is_array()) {
    return base::fail(base::ErrorCode::parse, commands.string() + " is no list of compile commands");
  }
  for (const base::Json& one : list) {
    if (!one.is_object()) continue;
    const fs::path folder = one.value("directory", commands.parent_path().string());
    std::error_code ignored;
    if (fs::weakly_canonical(folder / one.value("file", std::string()), ignored) != file) continue;
    std::vector<std::string> arguments;
    if (one.contains("arguments")) {
      TRY_ASSIGN(arguments, base::decode<std::vector<std::string>>(one["arguments"], commands.string()));
    } else {
      TRY_ASSIGN(arguments, base::split_command(one.value("command", std::string())));
    }
    return std::optional(user_build_of(arguments, folder, commands.string()));
  }
  return std::optional<UserBuild>();
}

}  // namespace

std::string macro_line(const std::string& option) {
  const std::string macro = option.substr(2);
  if (option.starts_with("-U")) return "#undef " + macro;
  const std::size_t equals = macro.find('=');
  if (equals == std::string::npos) return "#define " + macro + " 1";
  return "#define " + macro.substr(0, equals) + " " + macro.substr(equals + 1);
}

std::string with_macros(const std::string& source, const HeaderFolders& folders) {
  std::set<std::string> named;
  for (const Word& word : words(source)) named.insert(word.text);
  if (named.contains("assert")) named.insert("NDEBUG");
  std::string lines;
  for (const std::string& option : folders.macros) {
    const std::string name = option.substr(2, option.find_first_of("=(", 2) - 2);
    if (!named.contains(name)) continue;
    // What an earlier option says, this one overrules.
    if (option.starts_with("-D") && lines.find(" " + name) != std::string::npos) lines += "#undef " + name + "\n";
    lines += macro_line(option) + "\n";
  }
  return with_first_lines(source, lines);
}

std::vector<std::string> reading_arguments(const HeaderFolders& folders) {
  std::vector<std::string> arguments{"-ferror-limit=0", "-iquote", folders.own.string()};
  for (const fs::path& folder : folders.searched) arguments.insert(arguments.end(), {"-I", folder.string()});
  arguments.insert(arguments.end(), folders.macros.begin(), folders.macros.end());
  arguments.insert(arguments.end(), folders.standard.begin(), folders.standard.end());
  return arguments;
}

std::string included_lines(const HeaderFolders& folders) {
  std::string lines;
  for (const fs::path& file : folders.included) lines += "#include \"" + file.string() + "\"\n";
  return lines;
}

std::string with_first_lines(const std::string& source, const std::string& lines) {
  if (lines.empty()) return source;
  // A comment that begins the file stays above, unless it is the function's own.
  const std::vector<Chunk> chunks = top_level_chunks(source);
  const bool begins_with_function = !chunks.empty() && chunks.front().kind == Chunk::Kind::function;
  const std::size_t place = chunks.empty() || begins_with_function ? 0 : chunks.front().extent.begin;
  return source.substr(0, place) + lines + source.substr(place);
}

UserBuild user_build_of(const std::vector<std::string>& arguments, const fs::path& folder, const std::string& source) {
  UserBuild build;
  build.source = source;
  build.openmp = OpenMp::off;
  build.compiler = compiler_in(arguments, folder);
  read_arguments(arguments, folder, build);
  name_defaults(build.flags);
  return build;
}

Result<std::optional<UserBuild>> find_user_build(const std::optional<std::vector<std::string>>& stated,
                                                 const fs::path& file, const fs::path& commands) {
  std::optional<UserBuild> found;
  std::error_code ignored;
  if (!commands.empty()) {
    TRY_ASSIGN(found, read_commands(fs::is_directory(commands, ignored) ? commands / "compile_commands.json" : commands,
                                    file));
    if (!found) {
      return base::fail(base::ErrorCode::not_found, commands.string() + " does not say how " + file.string() +
                                                        " is compiled; name the one of the build that holds it");
    }
  }
  for (fs::path folder = file.parent_path(); !found; folder = folder.parent_path()) {
    for (const fs::path& place : {folder / "compile_commands.json", folder / "build" / "compile_commands.json"}) {
      if (found || !fs::is_regular_file(place, ignored)) continue;
      TRY_ASSIGN(found, read_commands(place, file));
    }
    if (folder == folder.root_path() || fs::exists(folder / ".git", ignored)) break;
  }
  if (stated) {
    if (!found) found.emplace();
    found->source = "[entry] flags";
    found->flags = *stated;
    found->left_out.clear();
    name_defaults(found->flags);
  }
  return found;
}

HeaderFolders header_folders_of(const fs::path& file) {
  std::error_code ignored;
  const fs::path whole = fs::weakly_canonical(fs::absolute(file, ignored), ignored);
  HeaderFolders out{whole.parent_path(), {}};
  const auto build = find_user_build(std::nullopt, whole, {});
  if (!build || !*build) return out;
  for (const std::string& option : (*build)->search) {
    if (option.starts_with("-D") || option.starts_with("-U")) out.macros.push_back(option);
    if (option.starts_with("-std=")) out.standard = {option};
  }
  out.not_read = (*build)->not_read;
  out.declarations = (*build)->declarations;
  const fs::path repository = repository_of(whole);
  const auto is_own = [&](const fs::path& there) {
    return !there.lexically_relative(repository).native().starts_with("..");
  };
  for (const fs::path& folder : (*build)->folders) {
    const fs::path there = fs::weakly_canonical(folder, ignored);
    if (is_own(there)) out.searched.push_back(there);
  }
  for (const fs::path& one : (*build)->included) {
    const fs::path there = fs::weakly_canonical(one, ignored);
    if (is_own(there)) {
      out.included.push_back(there);
    } else {
      out.not_read.push_back("-include " + one.string());
    }
  }
  return out;
}

}  // namespace accelopt::scaffold
