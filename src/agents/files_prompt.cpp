// SPDX-License-Identifier: Apache-2.0
// How files of a repository are shown, and what was learned from others of its language.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "agents/prompt_parts.hpp"
#include "agents/prompt_text.hpp"
#include "agents/quote.hpp"
#include "model/measure.hpp"
#include "refactor/functions.hpp"

namespace accelopt::agents {
namespace {

/// Files up to this size are shown whole.
constexpr std::size_t kWholeFileBytes = 16'000;
constexpr std::size_t kLinesOfHead = 30;  ///< where imports stand
constexpr std::size_t kLinesAround = 20;  ///< of a function in scope
/// Other functions of the file that the one in scope names: the shortest ones first, up to this size together.
constexpr std::size_t kNamedFunctionsBytes = 6'000;

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
  const auto effect = model::taught_effect(experience);
  return effect && effect->low > 1 && !failed;
}

/// Lines of a file, counted from 0; `last` is past the end.
struct Part {
  std::size_t first = 0;
  std::size_t last = 0;
};

bool is_name_letter(char c) {
  return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool names(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_name_letter(text[at - 1])) && (end == text.size() || !is_name_letter(text[end]))) return true;
  }
  return false;
}

/// "Class.method" -> "method"
std::string_view last_name(std::string_view name) {
  const std::size_t at = name.find_last_of(".:");
  return at == name.npos ? name : name.substr(at + 1);
}

std::vector<Part> merged(std::vector<Part> parts) {
  std::ranges::sort(parts, {}, &Part::first);
  std::vector<Part> out;
  for (const Part& part : parts) {
    if (!out.empty() && part.first <= out.back().last + 1)
      out.back().last = std::max(out.back().last, part.last);
    else
      out.push_back(part);
  }
  return out;
}

/// Adds the functions that the text names, as far as there is room.
void add_named(const std::vector<refactor::FunctionPlace>& functions, const std::vector<refactor::SourceLine>& lines,
               std::string_view text, std::vector<Part>& parts) {
  std::vector<Part> named;
  for (const refactor::FunctionPlace& place : functions) {
    if (names(text, last_name(place.name))) named.push_back({place.first, place.last});
  }
  std::ranges::sort(named, {}, [](const Part& part) { return part.last - part.first; });
  std::size_t bytes = 0;
  for (const Part& part : named) {
    bytes += refactor::text_of(lines, part.first, part.last).size();
    if (bytes > kNamedFunctionsBytes) return;
    parts.push_back(part);
  }
}

/// What is shown of a large file: its head, the functions in scope with what stands around them, and those that they
/// name. Empty: all of it, because all of it may change, or a function is not found.
std::vector<Part> parts_of(const model::SourceFile& file, const model::RepoPart& repo) {
  std::vector<Part> parts;
  if (file.text.size() <= kWholeFileBytes) return parts;
  const refactor::CodeLanguage language = refactor::code_language(repo.language);
  const auto lines = refactor::lines_of(language, file.text);
  const auto functions = refactor::functions_of(language, file.text);
  for (const std::string& scope : repo.scope) {
    const std::size_t mark = scope.find('#');
    if (scope.substr(0, mark) != file.name) continue;
    if (mark == scope.npos) return {};
    const auto place = refactor::find_function(language, file.text, scope.substr(mark + 1));
    if (!place) return {};
    parts.push_back(
        {place->first - std::min(place->first, kLinesAround), std::min(place->last + kLinesAround, lines.size())});
    add_named(functions, lines, refactor::text_of(lines, place->first, place->last), parts);
  }
  if (parts.empty()) return parts;
  parts.push_back({0, std::min(kLinesOfHead, lines.size())});
  return merged(std::move(parts));
}

std::string file_text(const model::SourceFile& file, const model::RepoPart& repo) {
  std::string out = clean_line(file.name, kPathBytes) + "\n";
  const std::vector<Part> parts = parts_of(file, repo);
  if (parts.empty()) return out + fenced(file.text, "");
  const auto lines = refactor::lines_of(refactor::code_language(repo.language), file.text);
  out += fmt::format(
      "It has {} lines, of which these are shown; what is not shown is there as well, and stays as it is.\n",
      lines.size());
  for (const Part& part : parts) {
    out += fmt::format("Lines {} to {}:\n", part.first + 1, part.last) +
           fenced(refactor::text_of(lines, part.first, part.last), "") + "\n";
  }
  out.pop_back();
  return out;
}

}  // namespace

std::string files_text(const model::Solution& solution, const model::RepoPart& repo) {
  std::string out;
  for (const model::SourceFile& file : solution.sources) out += (out.empty() ? "" : "\n") + file_text(file, repo);
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

std::string_view wanted_text(const model::Task& task) {
  const std::string_view goal = model::measure_of(task).goal;
  if (goal == "memory") return "leaner in memory";
  if (goal == "readability") return "simpler to read";
  return "faster";
}

std::string_view good_text(const model::Task& task) {
  const std::string_view goal = model::measure_of(task).goal;
  if (goal == "memory") return "small in memory";
  if (goal == "readability") return "simple";
  return "fast";
}

std::string_view counted_text(const model::Task& task) {
  const std::string_view goal = model::measure_of(task).goal;
  if (goal == "memory") return "the peak of memory of the whole run";
  if (goal == "readability") return "all of the text that the change touches, adds or removes";
  return "the processor time of the whole process tree";
}

std::string measuring_text(const model::Task& task) {
  const std::string_view goal = model::measure_of(task).goal;
  if (goal == "memory") {
    return "- What counts is the peak of resident memory of the process without its start-up's, of the largest size of "
           "each timed family. A run is one process: it starts no other one, and writes its results and no other file. "
           "Old and new code run in pairs on the same fresh inputs, in random order, and their results have to be "
           "equal "
           "in that very run. What counts is the ratio old over new, so over 1 is better; peaks that are apart by less "
           "than 1 MiB or 2 % are alike. No size may need over 5 % more memory, or become slower by more than 5 %.";
  }
  if (goal == "readability") {
    return "- What counts is cognitive complexity as SonarSource defines it, summed over the functions that the change "
           "touches: an if, loop, switch, catch or conditional expression counts one and its nesting; an else, a "
           "sequence "
           "of like logical operators, a jump to a label and recursion count one; loops and conditions of "
           "comprehensions "
           "count as others do. The ratio is old over new, one added to both, so over 1 is simpler. It counts only "
           "where "
           "the deepest nesting is not deeper, statements grow by no more than 10 %, no public signature changes and "
           "nothing more runs text as code. Old and new code run in pairs on the same fresh inputs; no size may become "
           "slower by more than 5 %. A reviewer may be asked which of the two is easier to read.";
  }
  return "- Time is processor time of the process without its start-up, of the largest size of each timed family. Old "
         "and "
         "new code run in pairs on the same fresh inputs, in random order, and their results have to be equal in that "
         "very run. What counts is the ratio old over new, so over 1 is faster. No other size may become slower by "
         "more "
         "than 5 %.";
}

std::string past_text(const std::vector<model::Experience>& memory, const std::string& run, const model::Task& task) {
  const std::string language = model::language_name(task);
  const auto fits = [&](const model::Experience& experience) {
    const bool same_goal = !task.repo || model::measure_of(experience.op_type).better == model::measure_of(task).better;
    return same_goal && experience.language == language && worked(experience) &&
           !title_in_sentence(experience.title).empty();
  };
  const model::Experience* past = nullptr;
  const model::Experience* own = nullptr;
  for (const model::Experience& experience : memory) {
    if (!fits(experience)) continue;
    const model::Experience*& best = !run.empty() && experience.run == run ? own : past;
    if (best == nullptr || experience.effect->estimate > best->effect->estimate) best = &experience;
  }
  std::string text;
  if (past != nullptr)
    text = fmt::format("In the past, we found that '{}' worked well for this type of task. Try to apply it.\n\n",
                       title_in_sentence(past->title));
  if (own != nullptr)
    text +=
        fmt::format("Earlier in this run, '{}' worked well on this very task. Try it where it is not yet applied.\n\n",
                    title_in_sentence(own->title));
  return text;
}

}  // namespace accelopt::agents
