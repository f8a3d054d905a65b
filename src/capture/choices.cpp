// SPDX-License-Identifier: Apache-2.0
#include "capture/choices.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <set>

namespace accelopt::capture {
namespace {

using base::ErrorCode;
using base::Json;
using base::Result;

constexpr std::size_t kMostChoices = 64;
constexpr std::size_t kMostConfigurations = 256;  ///< of one choice
constexpr std::size_t kMostCombinations = 4096;
constexpr std::size_t kMostNameBytes = 64;

/// As what names a value: letters, digits and "_", anything else of a solution's text is replaced.
std::string name_of(std::string text) {
  text.resize(std::min(text.size(), kMostNameBytes));
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '#') c = '_';
  }
  return text;
}

/// The names of the values that differ, if they are whole numbers everywhere and tell the configurations apart.
std::vector<std::string> telling_names(const Choice& choice) {
  std::vector<std::string> names;
  for (const auto& [name, first] : choice.configurations.front()) {
    bool same = true;
    for (const auto& configuration : choice.configurations) {
      const auto found = configuration.find(name);
      if (found == configuration.end()) return {};
      same = same && found->second == first;
    }
    if (same) continue;
    for (const auto& configuration : choice.configurations) {
      if (!configuration.at(name).is_number_integer()) return {};
    }
    names.push_back(name);
  }
  std::set<std::vector<std::int64_t>> seen;
  for (const auto& configuration : choice.configurations) {
    std::vector<std::int64_t> values;
    for (const std::string& name : names) values.push_back(configuration.at(name).get<std::int64_t>());
    if (configuration.size() != choice.configurations.front().size() || !seen.insert(std::move(values)).second)
      return {};
  }
  return names;
}

/// The names and values of one choice's configurations.
struct Values {
  std::vector<std::string> names;
  std::vector<model::TuningValues> rows;  ///< by configuration
};

Values values_of(const Choice& choice) {
  Values out;
  const std::vector<std::string> names = telling_names(choice);
  for (const std::string& name : names) out.names.push_back(name_of(name));
  if (names.empty()) out.names.push_back(name_of(choice.name));
  for (std::size_t place = 0; place < choice.configurations.size(); ++place) {
    model::TuningValues& row = out.rows.emplace_back();
    for (const std::string& name : names) row.push_back(choice.configurations[place].at(name).get<std::int64_t>());
    if (names.empty()) row.push_back(static_cast<std::int64_t>(place));
  }
  return out;
}

}  // namespace

Result<std::vector<Choice>> choices_of(const Json& ok) {
  std::vector<Choice> out;
  const auto wrong = [] { return base::fail(ErrorCode::corrupt, "the captured choices are none"); };
  const auto choices = ok.find("choices");
  if (choices == ok.end() || !choices->is_array() || choices->size() > kMostChoices) return wrong();
  for (const Json& form : *choices) {
    const auto configurations = form.find("configurations");
    const std::string name = base::text_at(form, "name");
    if (name.empty() || configurations == form.end() || !configurations->is_array() || configurations->empty() ||
        configurations->size() > kMostConfigurations)
      return wrong();
    Choice& choice = out.emplace_back();
    choice.name = name;
    for (const Json& values : *configurations) {
      if (!values.is_object()) return wrong();
      auto& own = choice.configurations.emplace_back();
      for (const auto& [key, value] : values.items()) own[key] = value;
    }
  }
  return out;
}

Selection reordered(const Selection& selection, const std::vector<Choice>& known, const std::vector<Choice>& here) {
  Selection out;
  for (const Choice& choice : here) {
    const auto found = std::ranges::find(known, choice.name, &Choice::name);
    const auto place = static_cast<std::size_t>(found - known.begin());
    out.push_back(found == known.end() || place >= selection.size() ? kAnyConfiguration : selection[place]);
  }
  return out;
}

OpenChoices opened(const std::vector<Choice>& choices) {
  OpenChoices out;
  out.selections = {Selection(choices.size(), 0)};
  out.space.configurations = {{}};
  const auto open = std::count_if(choices.begin(), choices.end(),
                                  [](const Choice& choice) { return choice.configurations.size() > 1; });
  for (std::size_t place = 0; place < choices.size(); ++place) {
    const Choice& choice = choices[place];
    const std::size_t count = choice.configurations.size();
    if (count < 2 || out.selections.size() * count > kMostCombinations) continue;
    const Values values = values_of(choice);
    for (std::size_t i = 0; i < values.names.size(); ++i) {
      const bool alone = open == 1 || values.names[i] == name_of(choice.name);
      out.space.names.push_back(alone ? values.names[i] : name_of(choice.name) + "_" + values.names[i]);
      std::set<std::int64_t> all;
      for (const model::TuningValues& row : values.rows) all.insert(row[i]);
      out.space.sets.emplace_back(all.begin(), all.end());
    }
    out.space.combinations *= static_cast<std::int64_t>(count);
    OpenChoices wider;
    for (std::size_t before = 0; before < out.selections.size(); ++before) {
      for (std::size_t configuration = 0; configuration < count; ++configuration) {
        wider.selections.push_back(out.selections[before]);
        wider.selections.back()[place] = configuration;
        wider.space.configurations.push_back(out.space.configurations[before]);
        model::TuningValues& row = wider.space.configurations.back();
        row.insert(row.end(), values.rows[configuration].begin(), values.rows[configuration].end());
      }
    }
    out.selections = std::move(wider.selections);
    out.space.configurations = std::move(wider.space.configurations);
  }
  if (out.space.names.empty()) out.space.configurations.clear();
  return out;
}

}  // namespace accelopt::capture
