// SPDX-License-Identifier: Apache-2.0
#include "scaffold/made_sizes.hpp"

#include <algorithm>
#include <numeric>
#include <regex>

namespace accelopt::scaffold {
namespace {

/// Below a vector of eight, odd, and with something left of a loop over four.
constexpr std::int64_t kSmall = 7;
/// A block of elements that a name in the source stands for is at most this long.
constexpr std::int64_t kMostUnknown = 256;

std::string escaped(const std::string& name) {
  return std::regex_replace(name, std::regex(R"([^\w])"), R"(\$&)");
}

/// How the source writes an axis: by its parameter's name, or as a container's size.
std::string spelling_of(const Signature& signature, const KernelAxis& axis) {
  for (const KernelParameter& parameter : signature.parameters) {
    if (parameter.role == ParameterRole::axis && parameter.axis == axis.name) return R"(\b)" + escaped(parameter.name);
  }
  std::string spelled;
  for (const KernelParameter& parameter : signature.parameters) {
    if (!parameter.is_tensor || parameter.type.form != ParameterForm::container || !parameter.shape) continue;
    if (*parameter.shape != std::vector<std::string>{axis.name}) continue;
    spelled += (spelled.empty() ? "" : "|") + escaped(parameter.name);
  }
  return spelled.empty() ? "" : R"(\b(?:)" + spelled + R"()\s*\.\s*size\(\s*\))";
}

/// The value of a constant that the source defines; none: it is no number there.
std::optional<std::int64_t> value_of(const std::string& constant, const std::string& source) {
  static const std::regex kNumber(R"(\d{1,9})");
  if (std::regex_match(constant, kNumber)) return std::stoll(constant);
  std::smatch found;
  const std::regex definition(R"(\b)" + escaped(constant) + R"(\s*(?:=\s*|\(\s*|\s)(\d{1,9})\b)");
  if (!std::regex_search(source, found, definition)) return std::nullopt;
  return std::stoll(found[1].str());
}

/// What extents of the axis have to be multiples of, as the raced one is.
std::int64_t step_of(const std::string& spelling, const std::string& source, std::int64_t raced) {
  if (spelling.empty()) return 1;
  const std::regex division(spelling + R"(\s*(/|%|>>|&(?!&))=?\s*(\w+))");
  std::int64_t step = 1;
  for (std::sregex_iterator at(source.begin(), source.end(), division), end; at != end; ++at) {
    std::optional<std::int64_t> divisor = value_of((*at)[2], source);
    if (divisor && (*at)[1] == ">>") divisor = std::int64_t{1} << std::min<std::int64_t>(*divisor, 30);
    if (divisor && (*at)[1] == "&") ++*divisor;
    const std::int64_t powers_of_two = raced & -raced;
    const std::int64_t wanted = divisor.value_or(std::min(powers_of_two, kMostUnknown));
    if (wanted > 0 && raced % wanted == 0) step = std::lcm(step, wanted);
  }
  return step;
}

/// Whether the source loops up to the axis, and nothing depends on how long it is beyond a few elements.
bool is_free(const std::string& spelling, const std::string& source) {
  if (spelling.empty()) return false;
  if (!std::regex_search(source, std::regex(R"((?:<|!=)=?\s*)" + spelling + R"((?=\s*[;)&|]))"))) return false;
  const std::regex difference(spelling + R"(\s*-=?\s*(\w+))");
  for (std::sregex_iterator at(source.begin(), source.end(), difference), end; at != end; ++at) {
    const std::optional<std::int64_t> taken = value_of((*at)[1], source);
    if (!taken || *taken >= kSmall) return false;
  }
  return true;
}

}  // namespace

std::vector<MadeWorkload> made_workloads(const Signature& signature, const std::string& baseline) {
  MadeWorkload race{"race", model::Role::race};
  MadeWorkload check{"check", model::Role::check};
  MadeWorkload small{"small", model::Role::check};
  MadeWorkload held_out{"held_out", model::Role::held_out};
  static const std::regex kComment(R"(//[^\n]*)");
  const std::string source = std::regex_replace(baseline, kComment, "");
  bool all_are_free = true;
  for (const KernelAxis& axis : signature.axes) {
    if (!axis.is_variable) continue;
    const std::int64_t raced = *axis.raced;
    const std::string spelling = spelling_of(signature, axis);
    const std::int64_t step = step_of(spelling, source, raced);
    const std::int64_t steps = raced / step;
    race.extents.emplace_back(axis.name, raced);
    check.extents.emplace_back(axis.name, step * std::max<std::int64_t>(1, (steps - 3) | 1));
    held_out.extents.emplace_back(axis.name, step * ((steps + steps / 2) | 1));
    small.extents.emplace_back(axis.name, std::min(check.extents.back().second, step * ((kSmall / step) | 1)));
    all_are_free = all_are_free && is_free(spelling, source);
  }
  if (race.extents.empty()) return {race};
  if (!all_are_free || small.extents == check.extents) return {race, check, held_out};
  return {race, check, small, held_out};
}

}  // namespace accelopt::scaffold
