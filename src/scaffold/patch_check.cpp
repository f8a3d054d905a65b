// SPDX-License-Identifier: Apache-2.0
#include "scaffold/patch_check.hpp"

#include "base/files.hpp"

namespace accelopt::scaffold {
namespace {

namespace fs = std::filesystem;
using base::Result;

class Checker {
 public:
  Checker(const targets::cpu::Compiler& compiler, const std::optional<UserBuild>& build, const std::stop_token& stop)
      : compiler_(compiler), build_(build), stop_(stop) {}

  Result<PatchCheck> check(const PatchedFile& file) const {
    TRY_ASSIGN(const std::string problem, problem_of(file, file.after));
    if (problem.empty()) return PatchCheck{};
    if (!file.beside.empty()) return PatchCheck{PatchFate::broken, problem};
    TRY_ASSIGN(const std::string before, problem_of(file, file.before));
    if (before.empty()) return PatchCheck{PatchFate::broken, problem};
    return PatchCheck{PatchFate::unchecked,
                      file.path.filename().string() + " does not compile here without it: " + before};
  }

 private:
  Result<std::string> problem_of(const PatchedFile& file, const std::string& text) const {
    TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-patch"));
    const std::string name = file.path.filename().string();
    TRY(base::write_file(folder.path() / name, text));
    const bool cpp = file.path.extension() != ".c";
    const fs::path own = (file.beside.empty() ? file.path : file.beside).parent_path();
    targets::cpu::CompileJob job{folder.path(), {}, cpp, {}, {own}};
    job.arguments = {"-w", "-c", name, "-o", "checked.o", "-iquote", own.string()};
    const auto add = [&](const std::vector<std::string>& flags) {
      job.arguments.insert(job.arguments.end(), flags.begin(), flags.end());
    };
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
    TRY_ASSIGN(const auto ran, targets::cpu::compile(compiler_, job, nullptr, stop_));
    if (ran.state.exited && ran.state.code == 0) return std::string();
    return ran.timed_out ? "the compiler did not finish within its time limit" : first_error(ran.output);
  }

  const targets::cpu::Compiler& compiler_;
  const std::optional<UserBuild>& build_;
  const std::stop_token& stop_;
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
  const Checker checker(compiler, build, stop);
  PatchCheck worst;
  for (const PatchedFile& file : patch.files) {
    if (file.path.filename() == "CMakeLists.txt") continue;
    TRY_ASSIGN(PatchCheck check, checker.check(file));
    if (check.fate == PatchFate::broken) return check;
    if (check.fate == PatchFate::unchecked) worst = std::move(check);
  }
  return worst;
}

}  // namespace accelopt::scaffold
