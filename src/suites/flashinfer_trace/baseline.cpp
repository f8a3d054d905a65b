// SPDX-License-Identifier: Apache-2.0
#include "suites/flashinfer_trace/baseline.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "model/c_tokens.hpp"
#include "model/target_description.hpp"
#include "suites/c_names.hpp"
#include "suites/flashinfer_trace/languages.hpp"
#include "suites/flashinfer_trace/python_text.hpp"

namespace accelopt::suites::flashinfer_trace {
namespace {

using base::in_quotes;

/// What a Triton kernel's function is called.
constexpr const char* kEntry = "run";

bool is_python(const Solution& solution) {
  return is_python(language_named(solution.language));
}

const model::SourceFile& entry_source(const Solution& solution) {
  const auto found = std::find_if(solution.sources.begin(), solution.sources.end(),
                                  [&](const model::SourceFile& file) { return file.name == solution.entry_file; });
  ACCELOPT_ASSERT(found != solution.sources.end(), "a solution's entry file is one of its sources");
  return *found;
}

/// Whether the file gives this name a meaning at its top level: a function, a class, a variable or an import.
bool binds_name(std::string_view text, std::string_view name) {
  if (find_function(text, name)) return true;
  const auto is_part = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
  };
  const auto names_it = [&](std::string_view line, std::size_t from) {
    for (std::size_t at = line.find(name, from); at != line.npos; at = line.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      if ((at == 0 || !is_part(line[at - 1])) && (end == line.size() || !is_part(line[end]))) return true;
    }
    return false;
  };
  for (; !text.empty(); text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1)) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size()));
    if (line.starts_with("import ") || line.starts_with("from ") || line.starts_with("class ")) {
      if (names_it(line, 0)) return true;
    } else if (line.starts_with(name) && names_it(line.substr(0, name.size() + 1), 0)) {
      const std::string_view rest = base::trimmed(line.substr(name.size()));
      if (rest.starts_with(':') || (rest.starts_with('=') && !rest.starts_with("=="))) return true;
    }
  }
  return false;
}

/// Mean recorded latencies of the solutions that failed nowhere.
std::map<std::string, double> recorded_latencies(const std::vector<Trace>& traces) {
  struct Record {
    double sum = 0;
    int count = 0;
    bool failed = false;
  };
  std::map<std::string, Record> records;
  for (const Trace& trace : traces) {
    Record& record = records[trace.solution];
    record.failed = record.failed || trace.status != "PASSED" || !(trace.latency_ms > 0);
    record.sum += trace.latency_ms;
    ++record.count;
  }
  std::map<std::string, double> means;
  for (const auto& [name, record] : records) {
    if (!record.failed) means[name] = record.sum / record.count;
  }
  return means;
}

/// Those that accelopt can run come first.
int rank_of(const Solution& solution) {
  if (follows_contract(solution)) return 0;
  if (language_named(solution.language) == SourceLanguage::triton) return 1;
  return is_python(solution) ? 3 : 2;
}

const Solution* pick_solution(const Entry& entry) {
  const std::map<std::string, double> latencies = recorded_latencies(entry.traces);
  const auto key = [&](const Solution& one) {
    const auto latency = latencies.find(one.name);
    const bool timed = latency != latencies.end();
    return std::tuple(rank_of(one), timed ? 0 : 1, timed ? latency->second : 0.0, one.name);
  };
  const auto best = std::min_element(entry.solutions.begin(), entry.solutions.end(),
                                     [&](const Solution& a, const Solution& b) { return key(a) < key(b); });
  return best == entry.solutions.end() ? nullptr : &*best;
}

/// Its entry, where that is Python and there.
std::optional<PythonFunction> entry_function(const Solution& solution) {
  if (!is_python(solution)) return std::nullopt;
  return find_function(entry_source(solution).text, solution.entry_symbol);
}

void note_style(const Solution& solution, const Definition& definition, BaselineChoice& choice) {
  if (!is_python(solution)) return;
  const auto note = [&](const std::string& text) { choice.notes.push_back("solution " + solution.name + ": " + text); };
  const auto function = entry_function(solution);
  const std::size_t inputs = definition.inputs.size();
  const std::size_t outputs = definition.outputs.size();
  if (!function)
    return note(solution.entry_file + " defines no function " + solution.entry_symbol + " at its top level");
  const std::size_t count = function->parameters.size();
  if (!function->takes_any && count != inputs && count != inputs + outputs) {
    note(solution.entry_symbol + " takes " + std::to_string(count) + " parameters, but the definition has " +
         std::to_string(inputs) + " inputs and " + std::to_string(outputs) + " outputs");
  } else if (choice.style == CallingStyle::returns && solution.destination_passing.value_or(true)) {
    note("returns its results, although it " +
         std::string(solution.destination_passing ? "says that it is given the outputs" : "does not say so") + ": " +
         (function->takes_any ? "its body has a return" : "its function takes the inputs alone"));
  }
}

/// The target of a task in that language, and its baseline's file.
void take_target(SourceLanguage language, BaselineChoice& choice) {
  choice.target = target_of(language);
  const model::TargetDescription* const target = model::find_target(choice.target);
  ACCELOPT_ASSERT(target != nullptr, "a target of a language is described");
  choice.file = "baseline" + target->languages.front().suffixes.front();
}

/// Where a solution cannot be a baseline: where it is kept, and what to write.
void keep_beside(const Solution& solution, const std::string& why, BaselineChoice& choice) {
  choice.notes.push_back("solution " + solution.name + " (" + solution.language +
                         ") is kept in solutions/ and is no baseline: " + why);
}

}  // namespace

bool follows_contract(const Solution& solution) {
  const std::string& text = entry_source(solution).text;
  if (solution.sources.size() != 1) return false;
  const SourceLanguage language = language_named(solution.language);
  if (language == SourceLanguage::cuda)
    return text.starts_with("//@ launch") || text.find("\n//@ launch") != std::string::npos;
  if (language != SourceLanguage::cpp || solution.entry_symbol != "kernel") return false;
  const std::vector<std::string> tokens = model::canonical_tokens(text);
  return std::find(tokens.begin(), tokens.end(), "kernel") != tokens.end();
}

CallingStyle calling_style(const Solution& solution, const Definition& definition) {
  const CallingStyle flagged =
      solution.destination_passing.value_or(true) ? CallingStyle::writes : CallingStyle::returns;
  if (!is_python(solution)) return flagged;
  const auto function = entry_function(solution);
  if (!function) return CallingStyle::unknown;
  if (function->takes_any) {
    if (solution.destination_passing) return flagged;
    return function->returns_value ? CallingStyle::returns : CallingStyle::writes;
  }
  const std::size_t count = function->parameters.size();
  if (count == definition.inputs.size()) return CallingStyle::returns;
  return count == definition.inputs.size() + definition.outputs.size() ? CallingStyle::writes : CallingStyle::unknown;
}

base::Result<BaselineChoice> choose_baseline(const Entry& entry, const std::string& name) {
  BaselineChoice choice;
  take_target(SourceLanguage::cuda, choice);
  if (name.empty()) {
    choice.solution = pick_solution(entry);
  } else {
    const auto found = std::find_if(entry.solutions.begin(), entry.solutions.end(),
                                    [&](const Solution& one) { return one.name == name; });
    if (found == entry.solutions.end()) {
      return base::fail(base::ErrorCode::invalid_argument, "no solution " + in_quotes(base::ascii_line(name, 100)) +
                                                               " of " + entry.definition.name + " in the dataset");
    }
    choice.solution = &*found;
  }
  if (choice.solution == nullptr) return choice;
  const Solution& solution = *choice.solution;
  choice.style = calling_style(solution, entry.definition);
  note_style(solution, entry.definition, choice);
  const SourceLanguage language = language_named(solution.language);
  const bool is_triton = language == SourceLanguage::triton && solution.sources.size() == 1;
  if (follows_contract(solution)) {
    take_target(language, choice);
    choice.text = entry_source(solution).text;
  } else if (is_triton && solution.entry_symbol != kEntry && binds_name(entry_source(solution).text, kEntry)) {
    keep_beside(solution,
                "its entry " + solution.entry_symbol + " would have to be called " + kEntry +
                    ", which is the name of something else in " + solution.entry_file + "; rename that",
                choice);
  } else if (is_triton && is_identifier(solution.entry_symbol)) {
    take_target(language, choice);
    choice.text = entry_source(solution).text;
    if (solution.entry_symbol != kEntry)
      *choice.text += "\n\n" + std::string(kEntry) + " = " + solution.entry_symbol + "\n";
  } else if (solution.sources.size() != 1) {
    keep_beside(solution, "it has " + std::to_string(solution.sources.size()) + " files, a baseline is one", choice);
  } else if (is_python(solution)) {
    keep_beside(solution, "accelopt runs no host code in Python, and has no front end for " + solution.language,
                choice);
  } else {
    keep_beside(solution,
                "its function is host code for " + (solution.binding.empty() ? "tvm-ffi" : solution.binding) +
                    "; write its kernels with //@ launch lines into " + choice.file,
                choice);
  }
  return choice;
}

}  // namespace accelopt::suites::flashinfer_trace
