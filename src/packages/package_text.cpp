// SPDX-License-Identifier: Apache-2.0
#include "packages/package_text.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/result.hpp"
#include "packages/builtin_templates.hpp"

namespace accelopt::packages {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string filled(std::string_view name, const Filling& filling) {
  const auto files = builtin_templates();
  const auto file = std::find_if(files.begin(), files.end(), [&](const auto& one) { return one.name == name; });
  ACCELOPT_ASSERT(file != files.end(), "a template that was not built in");
  std::string text(file->text);
  for (const auto& [key, value] : filling) text = replaced(std::move(text), "@" + key + "@", value);
  return text;
}

std::string harmless(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = std::isprint(static_cast<unsigned char>(c)) != 0 && c != '"' && c != '\\' && c != '@';
    out += plain ? c : ' ';
  }
  return replaced(replaced(std::move(out), "*/", "* /"), "/*", "/ *");
}

std::string package_name(const model::Task& task) {
  std::string out;
  for (const char c : task.definition.name) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  // A name that C, Python or the package's own files use would clash.
  constexpr std::string_view kTaken =
      " kernel reference test check build solution main torch triton tables float int double launcher kernels ";
  const bool clashes = kTaken.find(" " + out + " ") != std::string_view::npos;
  if (out.empty() || clashes || std::isdigit(static_cast<unsigned char>(out.front())) != 0) out = "fast_" + out;
  return out;
}

Filling common_filling(const PackageRequest& request) {
  std::string description = harmless(request.task.definition.description);
  if (!description.empty() && description.back() != '.') description += '.';
  return {{"NAME", package_name(request.task)},
          {"DESCRIPTION", description},
          {"CLAIM", harmless(request.claim)},
          {"REFERENCE", reference_name(request.task)}};
}

std::string reference_name(const model::Task& task) {
  return "reference" + std::filesystem::path(task.reference.name).extension().string();
}

std::vector<Parameter> parameters_of(const model::Definition& definition) {
  std::vector<Parameter> out;
  for (const model::TensorSpec& input : definition.inputs) {
    if (!model::is_passed_as_input(input)) continue;
    const auto kind = input.shape ? Parameter::Kind::tensor : Parameter::Kind::scalar;
    out.push_back({kind, input.name, input.dtype, input.shape.value_or(std::vector<std::string>())});
  }
  for (const model::TensorSpec& output : definition.outputs) {
    out.push_back({Parameter::Kind::output, output.name, output.dtype,
                   output.shape.value_or(std::vector<std::string>()),
                   model::contents_of(definition, output).has_value()});
  }
  for (const std::string& axis : model::variable_axes(definition)) out.push_back({Parameter::Kind::axis, axis});
  return out;
}

base::Result<void> check_packable(const model::Task& task) {
  if (task.definition.ties.empty()) return {};
  return base::fail(base::ErrorCode::unsupported,
                    "the task " + task.definition.name +
                        " has outputs with ties, which the test of a package cannot judge yet; take the solution home "
                        "without --as");
}

}  // namespace accelopt::packages
