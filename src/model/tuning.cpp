// SPDX-License-Identifier: Apache-2.0
#include "model/tuning.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

#include "base/expression.hpp"
#include "model/c_names.hpp"
#include "model/directive_reader.hpp"
#include "model/launch_plan.hpp"
#include "model/target_description.hpp"

namespace accelopt::model {
namespace {

using Named = std::map<std::string, std::int64_t>;

constexpr std::int64_t kMostCombinations = 65536;  ///< each is looked at
constexpr std::size_t kMostConfigurations = 4096;

/// Macros of these names would break the headers that every kernel includes.
constexpr std::array kTakenNames =
    std::to_array<std::string_view>({"NULL", "bits", "cdiv", "defined", "linux", "low", "max", "min", "offsetof", "out",
                                     "shifted", "sign", "std", "tiny", "unix", "value"});
constexpr std::array kTakenPrefixes =
    std::to_array<std::string_view>({"_", "ACCELOPT_", "accelopt_", "bf16_", "f16_", "fp8_"});

/// Whether the headers of some target use the name. A kernel may be carried to another target.
bool is_taken(const std::string& name) {
  const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
  const auto has = [&](const auto& names) { return std::find(names.begin(), names.end(), name) != names.end(); };
  const auto all = targets();
  return has(kTakenNames) || std::any_of(kTakenPrefixes.begin(), kTakenPrefixes.end(), begins) ||
         std::any_of(all.begin(), all.end(), [&](const TargetDescription* target) {
           return has(target->taken_names) ||
                  std::any_of(target->taken_prefixes.begin(), target->taken_prefixes.end(), begins);
         });
}

std::string refuse_tuned_name(const std::string& name, const Definition& definition) {
  if (std::string reason = refuse_c_name(name); !reason.empty()) return reason;
  const std::string quoted = "\"" + name + "\" ";
  for (const Axis& axis : definition.axes) {
    if (axis.name == name) return quoted + "is an axis of the task; choose another name";
  }
  for (const auto* tensors : {&definition.inputs, &definition.outputs}) {
    for (const TensorSpec& tensor : *tensors) {
      if (tensor.name == name) return quoted + "is an input or output of the task; choose another name";
    }
  }
  return is_taken(name) ? quoted + "is taken by task.h or the standard headers; choose another name" : "";
}

class Expansion {
 public:
  Expansion(const TuneDirectives& directives, const Definition& definition)
      : directives_(directives), definition_(definition), rejected_(directives.required.size(), 0) {}

  tl::expected<TuningSpace, DirectiveProblem> run() {
    if (auto checked = check_names(); !checked) return tl::make_unexpected(checked.error());
    for (const Axis& axis : definition_.axes) {
      if (axis.value) named_[axis.name] = *axis.value;
    }
    if (auto checked = check_requirements(); !checked) return tl::make_unexpected(checked.error());
    for (const TunedName& tuned : directives_.tuned) {
      space_.names.push_back(tuned.name);
      space_.sets.push_back(tuned.values);
      space_.combinations *= static_cast<std::int64_t>(tuned.values.size());
      if (space_.combinations > kMostCombinations) {
        return refuse(tuned, "the sets have more than 65536 combinations; tune fewer names or values");
      }
    }
    if (auto chosen = choose(0); !chosen) return tl::make_unexpected(chosen.error());
    if (space_.configurations.empty()) return nothing_left();
    if (space_.configurations.size() > kMostConfigurations) {
      return refuse(directives_.tuned.front(),
                    std::to_string(space_.configurations.size()) +
                        " configurations are left, and at most 4096 can be raced; narrow the sets, or add //@ require");
    }
    return std::move(space_);
  }

 private:
  template <class Place>
  static tl::unexpected<DirectiveProblem> refuse(const Place& place, std::string message, std::size_t offset = 0) {
    return tl::make_unexpected(
        DirectiveProblem{place.line, place.column + static_cast<int>(offset), std::move(message)});
  }

  tl::expected<void, DirectiveProblem> check_names() const {
    for (const TunedName& tuned : directives_.tuned) {
      if (std::string reason = refuse_tuned_name(tuned.name, definition_); !reason.empty())
        return refuse(tuned, std::move(reason));
    }
    return {};
  }

  tl::expected<void, DirectiveProblem> check_requirements() const {
    for (const PlacedExpression& requirement : directives_.required) {
      if (directives_.tuned.empty())
        return refuse(requirement, "//@ require without //@ tune: there is nothing to choose");
      const std::vector<std::string> names =
          base::expression_names(requirement.text).value_or(std::vector<std::string>());
      for (const std::string& name : names) {
        if (named_.contains(name) || std::any_of(directives_.tuned.begin(), directives_.tuned.end(),
                                                 [&](const TunedName& tuned) { return tuned.name == name; })) {
          continue;
        }
        const bool variable = std::any_of(definition_.axes.begin(), definition_.axes.end(),
                                          [&](const Axis& axis) { return axis.name == name; });
        return refuse(requirement,
                      variable ? "\"" + name + "\" is a variable axis: a configuration has to serve all its values"
                               : "\"" + name + "\" is neither tuned nor a constant axis",
                      word_offset(requirement.text, name));
      }
    }
    return {};
  }

  /// All values of the names from `place` on.
  tl::expected<void, DirectiveProblem> choose(std::size_t place) {
    if (place == directives_.tuned.size()) return take();
    for (const std::int64_t value : directives_.tuned[place].values) {
      named_[directives_.tuned[place].name] = value;
      values_.push_back(value);
      auto chosen = choose(place + 1);
      values_.pop_back();
      if (!chosen) return chosen;
    }
    return {};
  }

  tl::expected<void, DirectiveProblem> take() {
    for (std::size_t i = 0; i < directives_.required.size(); ++i) {
      const PlacedExpression& requirement = directives_.required[i];
      const auto value = base::evaluate_expression(requirement.text, named_);
      if (!value)
        return refuse(requirement, value.error().message + " (with " + configuration_text(space_.names, values_) + ")");
      if (*value != 0) continue;
      ++rejected_[i];
      return {};
    }
    space_.configurations.push_back(values_);
    return {};
  }

  tl::unexpected<DirectiveProblem> nothing_left() const {
    const auto most = std::max_element(rejected_.begin(), rejected_.end());
    const PlacedExpression& requirement = directives_.required[static_cast<std::size_t>(most - rejected_.begin())];
    return refuse(requirement, "no configuration is left: //@ require " + requirement.text + " rejects " +
                                   std::to_string(*most) + " of " + std::to_string(space_.combinations));
  }

  const TuneDirectives& directives_;
  const Definition& definition_;
  Named named_;
  TuningValues values_;
  std::vector<std::int64_t> rejected_;
  TuningSpace space_;
};

/// Where a macro is defined as early as on the compiler's command line: behind the first comment lines.
std::size_t top_of(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const auto first = line.find_first_not_of(" \t\r");
    const bool comment = first == std::string_view::npos ||
                         (line.substr(first).starts_with("//") && !line.substr(first).starts_with("//@"));
    if (!comment || line.ends_with('\\') || end == text.size()) break;
    at = end + 1;
  }
  return at;
}

std::string value_text(std::int64_t value) {
  return value < 0 ? "(" + std::to_string(value) + ")" : std::to_string(value);
}

}  // namespace

bool TuningSpace::open() const {
  return std::any_of(sets.begin(), sets.end(), [](const TuningValues& set) { return set.size() > 1; });
}

tl::expected<TuningSpace, DirectiveProblem> expand_tuning(const TuneDirectives& directives,
                                                          const Definition& definition) {
  if (directives.tuned.empty() && directives.required.empty()) return TuningSpace{};
  return Expansion(directives, definition).run();
}

tl::expected<TuneDirectives, DirectiveProblem> tune_directives(const Solution& solution) {
  const auto tunes = [](auto parsed) -> tl::expected<TuneDirectives, DirectiveProblem> {
    if (!parsed) return tl::make_unexpected(std::move(parsed.error()));
    return TuneDirectives(std::move(*parsed));
  };
  switch (describe(solution.language).form) {
    case KernelForm::function:
      return tunes(parse_cpu_directives(main_text(solution)));
    case KernelForm::launches:
      return tunes(parse_device_directives(main_text(solution)));
    case KernelForm::text:
    case KernelForm::files:
      break;
  }
  return TuneDirectives{};
}

Solution with_values(const Solution& solution, const TuningValues& values) {
  if (const std::string& comment = describe(solution.language).values_comment; !comment.empty()) {
    std::string line = comment;
    for (const std::int64_t value : values) line += " " + std::to_string(value);
    const std::string& text = main_text(solution);
    return with_main_text(solution, text + (text.ends_with('\n') ? "" : "\n") + line + "\n");
  }
  const auto directives = tune_directives(solution);
  ACCELOPT_ASSERT(directives && directives->tuned.size() == values.size(), "values of other names");
  std::string text = main_text(solution);
  for (std::size_t i = values.size(); i-- > 0;) {
    const TunedName& tuned = directives->tuned[i];
    text.replace(tuned.set_begin, tuned.set_end - tuned.set_begin, "{" + std::to_string(values[i]) + "}");
  }
  return with_main_text(solution, std::move(text));
}

std::optional<CommentedValues> commented_values(const Solution& solution) {
  const std::string& comment = describe(solution.language).values_comment;
  if (comment.empty() || solution.sources.empty()) return std::nullopt;
  const std::string& text = main_text(solution);
  const std::size_t begin = text.rfind("\n" + comment + " ");
  if (begin == std::string::npos || text.find('\n', begin + 1) + 1 != text.size()) return std::nullopt;
  CommentedValues out;
  for (std::size_t at = begin + 1 + comment.size(); text[at] == ' ';) {
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data() + at + 1, text.data() + text.size(), value);
    if (read.ec != std::errc()) return std::nullopt;
    out.values.push_back(value);
    at = static_cast<std::size_t>(read.ptr - text.data());
    if (text[at] != ' ' && text[at] != '\n') return std::nullopt;
  }
  out.open = with_main_text(solution, text.substr(0, begin + 1));
  return out;
}

Solution standing_alone(const Solution& solution) {
  const auto directives = tune_directives(solution);
  const auto single = [](const TunedName& tuned) { return tuned.values.size() == 1; };
  if (!directives || directives->tuned.empty() ||
      !std::all_of(directives->tuned.begin(), directives->tuned.end(), single)) {
    return solution;
  }
  const bool on_device = describe(solution.language).form == KernelForm::launches;
  std::vector<int> lines;  // to leave out
  std::string definitions;
  for (const TunedName& tuned : directives->tuned) {
    if (!on_device) lines.push_back(tuned.line);
    const std::string definition = "#define " + tuned.name + " " + value_text(tuned.values.front()) + "\n";
    definitions += on_device ? "#ifndef " + tuned.name + "\n" + definition + "#endif\n" : definition;
  }
  if (!on_device) {
    for (const PlacedExpression& requirement : directives->required) lines.push_back(requirement.line);
  }
  const std::string& text = main_text(solution);
  const std::size_t top = top_of(text);
  std::string kept;
  std::size_t at = 0;
  for (int line = 1; at < text.size(); ++line) {
    if (at == top) kept += definitions;
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) kept += text.substr(at, end - at);
    at = end;
  }
  return with_main_text(solution, std::move(kept));
}

std::vector<std::string> macro_flags(const TuneDirectives& directives) {
  std::vector<std::string> flags;
  for (const TunedName& tuned : directives.tuned) {
    ACCELOPT_ASSERT(tuned.values.size() == 1, "an open configuration has no macros");
    flags.push_back("-D" + tuned.name + "=" + value_text(tuned.values.front()));
  }
  return flags;
}

std::string configuration_text(const std::vector<std::string>& names, const TuningValues& values) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < values.size(); ++i) {
    text += (i == 0 ? "" : " ") + names[i] + "=" + std::to_string(values[i]);
  }
  return text;
}

}  // namespace accelopt::model
