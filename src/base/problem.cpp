// SPDX-License-Identifier: Apache-2.0
#include "base/problem.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "base/text.hpp"

namespace accelopt::base {
namespace {

char lower(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn one name into the other; case is no
/// difference.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool equal = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (equal ? 0U : 1U)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string to_string(const Problem& problem, std::string_view file) {
  std::string text = problem.file.empty() ? std::string(file) : problem.file;
  if (problem.line > 0) text += ":" + std::to_string(problem.line);
  text += ": ";
  if (!problem.key.empty()) text += problem.key + ": ";
  return text + problem.message;
}

std::string_view nearest_name(std::string_view name, std::span<const std::string> known) {
  std::string_view best;
  std::size_t least = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance >= least || distance >= candidate.size()) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

std::string join_names(std::span<const std::string> names) {
  if (names.empty()) return "none";
  return joined(names, ", ");
}

std::string in_quotes(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

std::string unknown_name(std::string_view what, std::string_view name, std::span<const std::string> known) {
  const std::string_view meant = nearest_name(name, known);
  const std::string question = meant.empty() ? "" : "did you mean " + in_quotes(meant) + "? ";
  return "unknown " + std::string(what) + " " + in_quotes(name) + "; " + question + "known are " + join_names(known);
}

}  // namespace accelopt::base
