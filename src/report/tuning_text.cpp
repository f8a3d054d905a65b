// SPDX-License-Identifier: Apache-2.0
#include "report/tuning_text.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/tuning.hpp"
#include "report/format.hpp"
#include "report/text_table.hpp"
#include "report/text_width.hpp"

namespace accelopt::report {
namespace {

constexpr std::size_t kReasonBytes = 100;

/// The first line, not too long.
std::string short_reason(const std::string& reason) {
  std::string line(base::first_line(reason));
  if (line.size() > kReasonBytes) line = line.substr(0, kReasonBytes) + "...";
  return printable(line);
}

}  // namespace

std::string tuning_line(const model::Tuning& tuning) {
  const auto failed = std::count_if(tuning.field.begin(), tuning.field.end(), [](const auto& configuration) {
    return configuration.fate == model::TunedFate::failed;
  });
  const std::string failures = failed > 0 ? fmt::format(" ({} failed)", failed) : std::string();
  const std::string of = fmt::format("{} tried of {} configuration{}{}, {}", tuning.field.size(), tuning.configurations,
                                     tuning.configurations == 1 ? "" : "s", failures, format_seconds(tuning.seconds));
  return tuning.chosen ? model::configuration_text(tuning.names, *tuning.chosen) + ", the fastest of " + of
                       : "none of " + of;
}

std::string tuning_table(const model::Tuning& tuning, int rows) {
  std::vector<const model::TunedConfiguration*> raced;
  std::map<std::string, int> failures;
  for (const model::TunedConfiguration& configuration : tuning.field) {
    if (configuration.fate == model::TunedFate::failed) {
      ++failures[fmt::format("{}: {}", model::to_string(configuration.status), short_reason(configuration.reason))];
    } else {
      raced.push_back(&configuration);
    }
  }
  std::stable_sort(raced.begin(), raced.end(), [](const auto* a, const auto* b) {
    const auto key = [](const auto* one) {
      return std::pair(one->fate == model::TunedFate::chosen, one->ratio ? one->ratio->estimate : 0);
    };
    return key(a) > key(b);
  });
  TextTable table({{"values"}, {"speed [95 %]", Align::right}, {"rounds of its race", Align::right}, {"fate"}});
  for (std::size_t i = 0; i < raced.size() && i < static_cast<std::size_t>(std::max(rows, 0)); ++i) {
    table.add({model::configuration_text(tuning.names, raced[i]->values),
               raced[i]->ratio ? format_ratio(*raced[i]->ratio) : "-", std::to_string(raced[i]->blocks),
               std::string(to_string(raced[i]->fate))});
  }
  std::string text = table.render();
  const auto more = static_cast<int>(raced.size()) - rows;
  if (more > 0) text += fmt::format("and {} slower\n", more);
  for (const auto& [reason, count] : failures) text += fmt::format("{} failed: {}\n", count, reason);
  return text;
}

}  // namespace accelopt::report
