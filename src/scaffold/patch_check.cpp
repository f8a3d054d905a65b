// SPDX-License-Identifier: Apache-2.0
#include "scaffold/patch_check.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/files.hpp"
#include "scaffold/changes.hpp"
#include "scaffold/words.hpp"
#include "targets/cpu/elf_object.hpp"

namespace accelopt::scaffold {
namespace {

namespace fs = std::filesystem;
using base::Result;

/// What a compiler makes of a file.
struct Compiled {
  std::string problem;                 ///< its first error; empty: none
  std::vector<std::string> defined;    ///< symbols
  std::vector<std::string> undefined;  ///< symbols that other objects have to define
};

/// Whether calls of functions that nothing declares are errors, as in C since 1999.
enum class Undeclared { refused, taken };

class Checker {
 public:
  Checker(const targets::cpu::Compiler& compiler, const std::optional<UserBuild>& build, const std::stop_token& stop)
      : compiler_(compiler), build_(build), stop_(stop) {}

  Result<PatchCheck> check(const PatchedFile& file) {
    std::string before;
    for (const Undeclared undeclared : {Undeclared::refused, Undeclared::taken}) {
      TRY_ASSIGN(const Compiled after, compiled(file, file.after, undeclared));
      if (after.problem.empty()) return check_compiled(file, after);
      if (!file.beside.empty()) return PatchCheck{PatchFate::broken, after.problem};
      TRY_ASSIGN(const Compiled old, compiled(file, file.before, undeclared));
      before = old.problem;
      if (before.empty()) return PatchCheck{PatchFate::broken, after.problem};
    }
    return PatchCheck{PatchFate::unchecked,
                      file.path.filename().string() + " does not compile here without it: " + before};
  }

  /// A function of the patch that no file of it defines. Empty: there is none.
  [[nodiscard]] std::string undefined_function() const {
    for (const auto& [name, file] : wanted_) {
      if (!defined_.contains(name)) return file + " calls " + name + ", which the patch does not define";
    }
    return {};
  }

 private:
  Result<PatchCheck> check_compiled(const PatchedFile& file, const Compiled& after) {
    defined_.insert(after.defined.begin(), after.defined.end());
    std::vector<std::string> made;
    for (const std::string& name : after.undefined) {
      if (name.find("_accelopt") != std::string::npos) made.push_back(name);
    }
    Compiled old;  // where a winner stands there already, another file may define it
    if (!made.empty() && file.beside.empty()) {
      TRY_ASSIGN(old, compiled(file, file.before, Undeclared::taken));
    }
    for (const std::string& name : made) {
      if (std::find(old.undefined.begin(), old.undefined.end(), name) == old.undefined.end())
        wanted_[name] = file.path.filename().string();
    }
    if (file.changes.empty()) return PatchCheck{};
    TRY_ASSIGN(const std::optional<std::string> text_before, preprocessed(file, Side::before));
    TRY_ASSIGN(const std::optional<std::string> text_after, preprocessed(file, Side::after));
    if (!text_before || !text_after) return PatchCheck{};
    const std::string difference = first_difference(unchanged_tokens(*text_before), unchanged_tokens(*text_after));
    if (difference.empty()) return PatchCheck{};
    return PatchCheck{PatchFate::broken,
                      "other code of " + file.path.filename().string() + " would change: " + difference};
  }

  Result<Compiled> compiled(const PatchedFile& file, const std::string& text, Undeclared undeclared) const {
    const bool refuse = undeclared == Undeclared::refused && file.path.extension() == ".c";
    TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-patch"));
    TRY_ASSIGN(const auto ran, run(file, text, folder.path(),
                                   {refuse ? "-Werror=implicit-function-declaration" : "-w", "-c", "-o", kMade}));
    Compiled result;
    if (!ran.state.exited || ran.state.code != 0) {
      result.problem = ran.timed_out ? "the compiler did not finish within its time limit" : first_error(ran.output);
      return result;
    }
    const auto object = base::read_file(folder.path() / kMade);
    auto facts = object ? targets::cpu::read_object(*object) : tl::make_unexpected(object.error());
    if (!facts) return result;  // of another processor
    result.defined = std::move(facts->defined);
    result.undefined = std::move(facts->undefined);
    return result;
  }

  /// One side with its changed parts marked. None: it cannot be preprocessed so.
  Result<std::optional<std::string>> preprocessed(const PatchedFile& file, Side side) const {
    const std::string text = plain_text(side == Side::before ? file.before : file.after);
    const std::string marked =
        with_marks(text, side, plain_text(file.before), file.changes, file.path.filename().string());
    TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-patch"));
    TRY_ASSIGN(const auto ran,
               run(file, marked, folder.path(),
                   {"-w", "-E", "-o", kMade, "-D__TIME__=0", "-D__DATE__=0", "-D__TIMESTAMP__=0", "-D__COUNTER__=0"}));
    const auto made = base::read_file(folder.path() / kMade);
    if (!ran.state.exited || ran.state.code != 0 || !made) return std::optional<std::string>();
    return std::optional(*made);
  }

  /// The compiler on a text in the file's place, with the flags of its build.
  Result<sandbox::RunResult> run(const PatchedFile& file, const std::string& text, const fs::path& folder,
                                 std::vector<std::string> arguments) const {
    const std::string name = file.path.filename().string();
    TRY(base::write_file(folder / name, text));
    const bool cpp = file.path.extension() != ".c";
    const fs::path own = (file.beside.empty() ? file.path : file.beside).parent_path();
    targets::cpu::CompileJob job{folder, std::move(arguments), cpp, {}, {own}};
    const auto add = [&](const std::vector<std::string>& flags) {
      job.arguments.insert(job.arguments.end(), flags.begin(), flags.end());
    };
    add({name, "-iquote", own.string()});
    if (build_) {
      add(build_->search);
      add(build_->flags);
      job.readable.insert(job.readable.end(), build_->folders.begin(), build_->folders.end());
      job.readable.insert(job.readable.end(), build_->included.begin(), build_->included.end());
      // Headers of the same repository, wherever they include one another from.
      job.readable.push_back(repository_of(file.path));
    } else {
      add({"-O3", "-march=native", cpp ? "-std=gnu++20" : "-std=gnu17"});
    }
    if (!file.beside.empty()) add(file.flags);
    return targets::cpu::compile(compiler_, job, nullptr, stop_);
  }

  static constexpr const char* kMade = "checked.o";

  const targets::cpu::Compiler& compiler_;
  const std::optional<UserBuild>& build_;
  const std::stop_token& stop_;
  std::set<std::string> defined_;
  std::map<std::string, std::string> wanted_;  ///< the file that calls each function
};

}  // namespace

std::string first_error(const std::string& output) {
  // A linker names what is missing above the error of the compiler that called it.
  std::size_t at = std::min({output.find("error:"), output.find("undefined reference"), output.find("cannot find -l"),
                             output.find("multiple definition")});
  for (const char* sign : {"CMake Error", "not found", "denied"}) {
    if (at == std::string::npos) at = output.find(sign);
  }
  if (at == std::string::npos) at = output.find_last_not_of(" \n");
  if (at == std::string::npos) return {};
  const std::size_t before = output.rfind('\n', at);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return output.substr(begin, output.find('\n', at) - begin);
}

Result<PatchCheck> check_patch(const targets::cpu::Compiler& compiler, const WinnerPatch& patch,
                               const std::optional<UserBuild>& build, const std::stop_token& stop) {
  Checker checker(compiler, build, stop);
  PatchCheck worst;
  for (const PatchedFile& file : patch.files) {
    if (file.path.filename() == "CMakeLists.txt") continue;
    TRY_ASSIGN(PatchCheck check, checker.check(file));
    if (check.fate == PatchFate::broken) return check;
    if (check.fate == PatchFate::unchecked) worst = std::move(check);
  }
  if (const std::string problem = checker.undefined_function(); !problem.empty()) {
    return PatchCheck{PatchFate::broken, problem};
  }
  return worst;
}

}  // namespace accelopt::scaffold
