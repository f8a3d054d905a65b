// SPDX-License-Identifier: Apache-2.0
// How files of a repository are shown, and what was learned from others of its language.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "agents/prompt_parts.hpp"
#include "agents/prompt_text.hpp"
#include "agents/quote.hpp"

namespace accelopt::agents {
namespace {

constexpr std::size_t kPathBytes = 300;
constexpr std::size_t kPastTitleBytes = 100;

/// A title as it may stand within a sentence of ours: whoever wrote it cannot end the quotation.
std::string title_in_sentence(std::string_view title) {
  constexpr std::string_view kJoins = " _-+/:,()>=.";
  std::string out = clean_line(title, kPastTitleBytes);
  std::erase_if(out, [&](char c) {
    return kJoins.find(c) == std::string_view::npos && std::isalnum(static_cast<unsigned char>(c)) == 0;
  });
  return out;
}

/// Whether it says what to do first: it made code faster, and failed less often than it held since.
bool worked(const model::Experience& experience) {
  const model::Credit& credit = experience.credit;
  const bool failed = credit.refuted > 0 && credit.refuted >= credit.confirmed;
  return experience.effect && experience.effect->low > 1 && !failed;
}

}  // namespace

std::string files_text(const model::Solution& solution) {
  std::string out;
  for (const model::SourceFile& file : solution.sources)
    out += (out.empty() ? "" : "\n") + clean_line(file.name, kPathBytes) + "\n" + fenced(file.text, "");
  return out;
}

std::string repository_text(const model::Task& task) {
  const model::RepoPart& repo = *task.repo;
  std::string out = fmt::format("{}: code in {}, to be improved in {}\nAll that may change:\n",
                                clean_line(task.definition.name, kPathBytes), clean_line(repo.language, kPathBytes),
                                task.definition.op_type);
  for (const std::string& scope : repo.scope) out += "- " + clean_line(scope, kPathBytes) + "\n";
  const auto inputs = [&](model::Role role, std::string_view what) {
    std::string names;
    for (const model::Workload& workload : task.workloads) {
      if (workload.role == role) names += (names.empty() ? "" : ", ") + clean_line(workload.name, kPathBytes);
    }
    if (!names.empty()) out += fmt::format("{}: {}\n", what, names);
  };
  inputs(model::Role::race, "Inputs that are timed, by family and size");
  inputs(model::Role::check, "Inputs that may not become slower, or are compared alone");
  out.pop_back();
  return out;
}

std::string past_text(const std::vector<model::Experience>& memory, std::string_view language) {
  const model::Experience* best = nullptr;
  for (const model::Experience& experience : memory) {
    if (experience.language != language || !worked(experience) || title_in_sentence(experience.title).empty()) continue;
    if (best == nullptr || experience.effect->estimate > best->effect->estimate) best = &experience;
  }
  if (best == nullptr) return "";
  return fmt::format("In the past, we found that '{}' worked well for this type of task. Try to apply it.\n\n",
                     title_in_sentence(best->title));
}

}  // namespace accelopt::agents
