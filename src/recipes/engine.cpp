// SPDX-License-Identifier: Apache-2.0
#include "recipes/engine.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/text.hpp"
#include "model/target_description.hpp"
#include "recipes/nki_recipes.hpp"
#include "recipes/recipes.hpp"
#include "recipes/triton_recipes.hpp"

namespace accelopt::recipes {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr std::string_view kLine = "Recipe: ";
constexpr std::string_view kExpected = " (expected ";
constexpr std::string_view kTimes = "x)";
/// Expectations beyond these were not written by a cost model.
constexpr double kLeastExpected = 0.01;
constexpr double kMostExpected = 10'000;
/// Applications in one text; more are somebody's joke.
constexpr std::size_t kMostSteps = 8;

/// Whether kernels in this language call what the recipes for tiles write.
bool calls_nki(model::Language language) {
  return model::describe(language).standard.starts_with("neuronxcc.nki");
}

/// Whether kernels in this language are programs of tiles, launched by a function of their file.
bool launches_programs(model::Language language) {
  return model::describe(language).standard.starts_with("Triton");
}

std::string_view field(std::string_view line, std::string_view name) {
  const std::size_t begin = line.find(name);
  if (begin == std::string_view::npos) return {};
  const std::size_t from = begin + name.size();
  return line.substr(from, std::min(line.find(" | ", from), line.size()) - from);
}

}  // namespace

const std::vector<Recipe>& all_recipes() {
  static const std::vector<Recipe> kRecipes = {register_tile_recipe(),
                                               vectorize_recipe(),
                                               interchange_recipe(),
                                               tile_recipe(),
                                               unroll_and_jam_recipe(),
                                               unroll_recipe(),
                                               scalar_replacement_recipe(),
                                               hoist_recipe(),
                                               packing_recipe(),
                                               fusion_recipe(),
                                               fission_recipe(),
                                               restrict_recipe(),
                                               parallelize_recipe(),
                                               tile_size_recipe(),
                                               flags_recipe()};
  return kRecipes;
}

Result<int> number(const Application& application, const std::string& parameter) {
  const auto found = application.parameters.find(parameter);
  int value = 0;
  if (found == application.parameters.end()) {
    return fail(ErrorCode::invalid_argument, "the recipe " + application.recipe + " needs the parameter " + parameter);
  }
  const std::string& text = found->second;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) {
    return fail(ErrorCode::invalid_argument, "the parameter " + parameter + " is not a number: " + text);
  }
  return value;
}

std::string to_line(const Application& application) {
  char expected[48];
  std::snprintf(expected, sizeof expected, "%s%.4g%s", kExpected.data(), application.prior, kTimes.data());
  std::string result =
      std::string(kLine) + application.recipe + " | at: " + application.location + expected + " | with:";
  for (const auto& [name, value] : application.parameters) {
    // Values with spaces (lists of flags) are joined with commas; none of them holds one.
    std::string joined = value;
    std::replace(joined.begin(), joined.end(), ' ', ',');
    result += " " + name + "=" + joined;
  }
  return result + " | shape: " + application.shape;
}

namespace {

/// Takes " (expected 1.25x)" off the end of a place. 0: there is none, or no speed-up.
double take_expected(std::string& location) {
  const std::size_t at = location.find(kExpected);
  if (at == std::string::npos) return 0;
  const std::string text = location.substr(at + kExpected.size());
  location.resize(at);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = code == std::errc() && std::string_view(end) == kTimes;
  return whole && value >= kLeastExpected && value <= kMostExpected ? value : 0;
}

std::optional<Application> from_line(std::string_view line) {
  Application result;
  result.recipe = base::trimmed(field(line, kLine));
  result.location = base::trimmed(field(line, "| at: "));
  result.prior = take_expected(result.location);
  result.shape = base::trimmed(field(line, "| shape: "));
  std::string_view parameters = field(line, "| with:");
  while (!parameters.empty()) {
    const std::size_t begin = parameters.find_first_not_of(' ');
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(parameters.find(' ', begin), parameters.size());
    const std::string_view word = parameters.substr(begin, end - begin);
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    std::string value(word.substr(equals + 1));
    std::replace(value.begin(), value.end(), ',', ' ');
    result.parameters[std::string(word.substr(0, equals))] = std::move(value);
    parameters.remove_prefix(end);
  }
  if (result.recipe.empty() || result.location.empty()) return std::nullopt;
  return result;
}

}  // namespace

std::vector<Application> route_from_text(std::string_view text) {
  std::vector<Application> result;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size()));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with(kLine)) continue;
    auto application = from_line(line);
    if (!application || result.size() == kMostSteps) return {};
    result.push_back(std::move(*application));
  }
  return result;
}

bool rewrites(model::Language language) {
  return language == model::Language::c || language == model::Language::cpp || calls_nki(language) ||
         launches_programs(language);
}

bool reads_with_clang(model::Language language) {
  return !calls_nki(language) && !launches_programs(language);
}

Result<std::vector<Application>> enumerate(const syntax::Clang& clang, const KernelSource& kernel) {
  std::vector<Application> result;
  if (calls_nki(kernel.language)) {
    result = enumerate_nki(kernel);
  } else if (launches_programs(kernel.language)) {
    result = enumerate_triton(kernel);
  } else {
    TRY_ASSIGN(const auto subject, Subject::read(clang, kernel));
    for (const Recipe& recipe : all_recipes()) recipe.propose(clang, *subject, result);
  }
  // Titles name applications in what the planner is told of earlier tries.
  std::map<std::string, int> titles;
  for (const Application& application : result) ++titles[application.title];
  for (Application& application : result) {
    if (titles[application.title] > 1) application.title += " at " + application.location;
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Application& a, const Application& b) { return a.prior > b.prior; });
  return result;
}

Result<std::string> apply(const syntax::Clang& clang, const KernelSource& kernel, const Application& application) {
  if (calls_nki(kernel.language)) return apply_nki(kernel, application);
  if (launches_programs(kernel.language)) return apply_triton(kernel, application);
  const auto& recipes = all_recipes();
  const auto found = std::find_if(recipes.begin(), recipes.end(),
                                  [&](const Recipe& recipe) { return recipe.name == application.recipe; });
  if (found == recipes.end()) return fail(ErrorCode::invalid_argument, "there is no recipe " + application.recipe);
  TRY_ASSIGN(const auto subject, Subject::read(clang, kernel));
  return found->apply(clang, *subject, application);
}

}  // namespace accelopt::recipes
