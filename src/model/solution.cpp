// SPDX-License-Identifier: Apache-2.0
#include "model/solution.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "base/json_text.hpp"
#include "base/result.hpp"
#include "model/c_tokens.hpp"
#include "model/target_description.hpp"

namespace accelopt::model {

const std::string& main_text(const Solution& solution) {
  ACCELOPT_ASSERT(!solution.sources.empty(), "a solution without sources");
  return solution.sources.front().text;
}

std::string changeable_text(const Solution& solution) {
  if (describe(solution.language).form != KernelForm::files || solution.sources.size() == 1) return main_text(solution);
  std::string text;
  for (const SourceFile& file : solution.sources) {
    text += "==> " + file.name + " <==\n" + file.text;
    if (!text.ends_with('\n')) text += '\n';
  }
  return text;
}

Solution with_main_text(const Solution& solution, std::string text) {
  Solution changed = solution;
  ACCELOPT_ASSERT(!changed.sources.empty(), "a solution without sources");
  changed.sources.front().text = std::move(text);
  return changed;
}

std::string source_id(const Solution& solution) {
  std::string canonical(to_string(solution.language));
  canonical += '\n';
  if (!solution.sources.empty()) canonical += solution.sources.front().name + '\n';
  std::vector<const SourceFile*> files;
  for (const SourceFile& file : solution.sources) files.push_back(&file);
  std::sort(files.begin(), files.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  for (const SourceFile* file : files) {
    canonical += file->name + '\0';
    if (!describe(solution.language).c_tokens) {
      std::string text = file->text;
      std::erase(text, '\r');
      canonical += text;
    } else {
      for (const std::string& token : canonical_tokens(file->text)) canonical += token + '\n';
    }
    canonical += '\0';
  }
  return base::sha256_hex(canonical);
}

ACCELOPT_JSON(SourceFile) {
  field.required("name", it.name, "text", it.text);
}
ACCELOPT_JSON_TEXT(SourceFile);

ACCELOPT_JSON(Solution) {
  field.converted(
      "language", it.language, [](Language language) { return language.key(); },
      [](const base::Json& in) { return Language::of(in.get<std::string>()); });
  field.required("sources", it.sources);
}
ACCELOPT_JSON_TEXT(Solution);

}  // namespace accelopt::model
