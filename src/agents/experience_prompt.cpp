// SPDX-License-Identifier: Apache-2.0
// How experiences are shown to a planner.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "agents/prompt_parts.hpp"
#include "agents/prompt_text.hpp"
#include "agents/quote.hpp"
#include "model/measure.hpp"

namespace accelopt::agents {
namespace {

using model::Experience;

// Longest texts of an experience that a prompt takes in, bytes.
constexpr std::size_t kShownWordBytes = 120;
constexpr std::size_t kStrategyBytes = 1200;
constexpr std::size_t kSegmentBytes = 600;
/// Rows of the table of what recipes measured.
constexpr std::size_t kRecipeRows = 8;

std::string polarity_text(const model::Experience& experience) {
  const model::Measure& measure = model::measure_of(experience.op_type);
  switch (experience.polarity) {
    case model::Polarity::improves:
      return fmt::format("it made a kernel {}", measure.better);
    case model::Polarity::regresses:
      if (experience.effect && experience.effect->high >= 1)
        return fmt::format("it did not make a kernel {}", measure.better);
      return fmt::format("it made a kernel {}, so it shows what to avoid", measure.worse);
    case model::Polarity::mends:
      return "it shows why a kernel failed, and its mend";
  }
  return {};
}

/// What became of an experience, and what others say; empty where nothing is known.
std::string credit_text(const Experience& experience) {
  const model::Credit& credit = experience.credit;
  std::string out;
  if (credit.confirmed > 0 || credit.refuted > 0) {
    out += fmt::format("; of the plans that rested on it {} made a kernel {} and {} did not", credit.confirmed,
                       model::measure_of(experience.op_type).better, credit.refuted);
  }
  if (experience.agreeing > 0) out += fmt::format("; {} more say the same", experience.agreeing);
  if (experience.contradicting > 0)
    out += fmt::format("; {} say the opposite of the same kind of kernel", experience.contradicting);
  return out;
}

/// What was measured. `name`: of an effect.
std::string measured_text(const Experience& experience, std::string_view name) {
  const std::string ratio = experience.effect ? interval_text(*experience.effect) : "unknown";
  if (experience.polarity != model::Polarity::mends) return std::string(name) + ratio;
  if (!experience.effect) return "the mended kernel's speed is unknown";
  return "the mended kernel " +
         model::compared(model::measure_of(experience.op_type), ratio, "the one that its plan was made for");
}

/// A name that can stand outside of the quotation: at most `words` words of letters, digits and what joins them.
bool is_plain_name(std::string_view name, std::ptrdiff_t words) {
  constexpr std::string_view kJoins = "_-.+/:";
  return std::ranges::count(name, ' ') < words && std::ranges::all_of(name, [&](char c) {
           return c == ' ' || kJoins.find(c) != std::string_view::npos ||
                  std::isalnum(static_cast<unsigned char>(c)) != 0;
         });
}

/// The header says what the program knows; a text that could say more than a name stands among what is quoted.
std::string experience_text(const Experience& experience) {
  std::string seen;
  std::string quoted_names;
  const auto tell = [&](std::string_view before, const std::string& name, std::string_view what, std::ptrdiff_t words) {
    const std::string line = clean_line(name, kShownWordBytes);
    if (line.empty()) return;
    if (is_plain_name(line, words)) {
      seen += std::string(seen.empty() ? "" : ", ") + std::string(before) + line;
    } else {
      quoted_names += "| " + std::string(what) + ": " + line + "\n";
    }
  };
  tell("", experience.op_type, "Operator", 1);
  tell("bound by ", experience.bound, "Bound by", 1);
  // Of an experience of which nothing else is known the device tells little.
  if (!experience.op_type.empty() || !experience.bound.empty()) tell("on ", experience.device, "Device", 2);
  const std::string id = clean_line(experience.id, kShownWordBytes);
  std::string out = fmt::format("Experience {} ({}; {}{}):\n", is_plain_name(id, 1) ? id : "without a name",
                                polarity_text(experience), measured_text(experience, "effect "),
                                (seen.empty() ? "" : "; seen on " + seen) + credit_text(experience));
  out += quoted_names;
  out += "| Title: " + clean_line(experience.title, kTitleBytes) + "\n";
  out += "| Strategy:\n" + quoted(experience.strategy, kStrategyBytes) + "\n";
  out += "| Before:\n" + quoted(experience.before, kSegmentBytes) + "\n";
  out += "| After:\n" + quoted(experience.after, kSegmentBytes) + "\n";
  return out;
}

/// Recipes write for recipes: a line of parameters, which says nothing to a model that the title does not.
bool is_of_recipes(const Experience& experience) {
  return experience.strategy.find("\nRecipe: ") != std::string::npos;
}

std::string recipe_row(const Experience& experience) {
  const std::string id = clean_line(experience.id, kShownWordBytes);
  return fmt::format("| {}: {} [{}]: {}\n", is_plain_name(id, 1) ? id : "without a name",
                     clean_line(experience.title, kShownWordBytes), clean_line(experience.op_type, kShownWordBytes),
                     measured_text(experience, ""));
}

}  // namespace

std::string memory_text(const std::vector<Experience>& memory) {
  std::string out;
  std::string rows;
  std::ptrdiff_t row_count = 0;
  for (const Experience& experience : memory) {
    if (!is_of_recipes(experience))
      out += (out.empty() ? "" : "\n") + experience_text(experience);
    else if (++row_count <= static_cast<std::ptrdiff_t>(kRecipeRows))
      rows += recipe_row(experience);
  }
  if (!rows.empty())
    out += (out.empty() ? "" : "\n") +
           std::string("Measured with loop transformations (id: what [operator]: effect):\n") + rows;
  if (out.empty()) return "None that is alike.";
  out.pop_back();
  return out;
}

}  // namespace accelopt::agents
