// SPDX-License-Identifier: Apache-2.0
// Another number of rows for register tiles that are written already: machines with more registers hold more of them.
#include <algorithm>
#include <cctype>

#include "recipes/recipes.hpp"

namespace accelopt::recipes {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr std::string_view kRows = "tile_rows";
constexpr int kMostRows = 16;

/// A place where a tile's number of rows is set: `enum { tile_rows = 6, ...`.
struct Setting {
  syntax::Extent number;
  int rows = 0;
};

std::vector<Setting> settings(std::string_view source) {
  constexpr std::string_view kOpening = "enum { ";
  std::vector<Setting> result;
  for (std::size_t at = source.find(kOpening); at != std::string_view::npos; at = source.find(kOpening, at + 1)) {
    std::size_t place = at + kOpening.size();
    if (!source.substr(place).starts_with(kRows)) continue;
    place = source.find(" = ", place);
    if (place == std::string_view::npos) break;
    place += 3;
    Setting setting{{place, place}, 0};
    while (setting.number.end < source.size() &&
           std::isdigit(static_cast<unsigned char>(source[setting.number.end])) != 0) {
      setting.rows = setting.rows * 10 + (source[setting.number.end++] - '0');
    }
    if (setting.number.size() > 0 && setting.number.size() < 3) result.push_back(setting);
  }
  return result;
}

void propose_sizes(const syntax::Clang&, Subject& subject, std::vector<Application>& result) {
  const std::vector<Setting> found = settings(subject.unit().source);
  if (found.empty()) return;
  const int rows = found.front().rows;
  for (const auto& [change, prior] :
       {std::pair{-1, 1.04}, std::pair{2, 1.035}, std::pair{-2, 1.03}, std::pair{6, 1.025}, std::pair{1, 1.02}}) {
    const int wanted = rows + change;
    if (wanted < 2 || wanted > kMostRows) continue;
    Application application;
    application.recipe = "tile size";
    application.location = "*";
    application.parameters = {{"change", std::to_string(change)}};
    application.title =
        "Give the register tiles " + std::to_string(wanted) + " rows instead of " + std::to_string(rows);
    application.text =
        "Unroll-and-jam by another factor: more rows reuse every loaded vector more often, as long as the sums fit "
        "into the "
        "registers; fewer rows leave less over at the end.";
    application.prior = prior;
    application.shape = "tile." + std::to_string(rows);
    result.push_back(std::move(application));
  }
}

Result<std::string> resize(const syntax::Clang&, Subject& subject, const Application& application) {
  TRY_ASSIGN(const int change, number(application, "change"));
  const std::vector<Setting> found = settings(subject.unit().source);
  if (found.empty() || change == 0) return fail(ErrorCode::unsupported, "the kernel has no register tile to change");
  syntax::Edits edits;
  for (const Setting& setting : found) {
    edits.replace(setting.number, std::to_string(std::clamp(setting.rows + change, 1, kMostRows)));
  }
  return edits.apply(subject.unit().source);
}

}  // namespace

Recipe tile_size_recipe() {
  return {"tile size", propose_sizes, resize};
}

}  // namespace accelopt::recipes
