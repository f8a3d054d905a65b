// SPDX-License-Identifier: Apache-2.0
// Bundled pairs as trees with a driver.
#include <fmt/format.h>

#include "app/review_calibration.hpp"
#include "base/files.hpp"
#include "base/text.hpp"

namespace accelopt::app {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Result;

constexpr const char* kBuilt = "./accelopt-driver";

refactor::Task task_of(const review::CalibrationPair& pair, const fs::path& folder) {
  refactor::Task task;
  task.name = pair.name;
  task.folder = folder / "task";
  task.file = task.folder / "refactor.toml";
  task.repository = folder;
  task.language = pair.language;
  task.limits.seconds = 20;
  task.limits.memory_bytes = 8ULL << 30U;  // node reserves addresses that it does not use
  const std::string driver = "{task}/driver" + fs::path(review::subject_file(pair.language)).extension().string();
  if (pair.language.name == "python") {
    task.run = {"python3", driver, "{cases}", "{results}", pair.function};
  } else if (pair.language.name == "javascript") {
    task.run = {"node", driver, "{cases}", "{results}", pair.function};
  } else {
    task.build = {"gcc", "-O1", "-w", "-pthread", "-o", kBuilt, review::subject_file(pair.language), driver, "-lm"};
    task.run = {kBuilt, "{cases}", "{results}"};
  }
  return task;
}

}  // namespace

Result<std::unique_ptr<PairBench>> PairBench::create(const review::CalibrationPair& pair,
                                                     const std::vector<fs::path>& tools, const std::stop_token& stop) {
  TRY_ASSIGN(auto own, base::TemporaryFolder::create("accelopt-pair"));
  const fs::path folder = own.path();
  std::unique_ptr<PairBench> bench(new PairBench(std::move(own), pair));
  bench->task_ = task_of(pair, folder);
  const refactor::Task& task = bench->task_;
  TRY(base::make_folders(task.folder));
  TRY_ASSIGN(const std::string driver, review::bundled_driver(pair.language));
  TRY(base::write_file(task.folder / ("driver" + fs::path(review::subject_file(pair.language)).extension().string()),
                       driver));
  TRY_ASSIGN(bench->jail_, refactor::Jail::create(task, tools, stop));
  TRY_ASSIGN(bench->driver_, refactor::Driver::create(task, *bench->jail_, 1));
  return bench;
}

Result<fs::path> PairBench::tree_with(const char* name, const std::string& text) {
  fs::path tree = own_.path() / name;
  std::error_code ignored;
  if (fs::exists(tree, ignored)) return tree;
  TRY(base::make_folders(tree));
  TRY(base::write_file(tree / review::subject_file(pair_.language), text));
  if (task_.build.empty()) return tree;
  const fs::path scratch = own_.path() / (std::string(name) + "-build");
  TRY(base::make_folders(scratch));
  TRY_ASSIGN(const auto built, jail_->run({.command = task_.build,
                                           .words = {{"task", driver_->files().string()}},
                                           .tree = tree,
                                           .access = refactor::TreeAccess::write,
                                           .scratch = scratch,
                                           .readable = {driver_->files()}}));
  if (built.succeeded) return tree;
  fs::remove_all(tree, ignored);
  return base::fail(ErrorCode::invalid_argument,
                    fmt::format("{}, {}: {}", pair_.name, name, base::ascii_line(built.errors, 400, ' ')));
}

Result<refactor::ProbeResult> PairBench::probe(Side side, const refactor::Probe& probe) {
  refactor::Trees trees;
  TRY_ASSIGN(trees.old_tree, tree_with("base", pair_.base));
  TRY_ASSIGN(trees.new_tree,
             side == Side::clean ? tree_with("clean", pair_.clean) : tree_with("planted", pair_.planted));
  return refactor::Prober(*driver_, *jail_, task_).run(trees, probe, {}, known_.of(probe));
}

}  // namespace accelopt::app
