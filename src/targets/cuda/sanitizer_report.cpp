// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/sanitizer_report.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "targets/cuda/tool_text.hpp"

namespace accelopt::targets::cuda {
namespace {

constexpr std::string_view kMark = "=========";
constexpr std::size_t kMostFindingLines = 5;
constexpr const char* kTrustedPrefix = "accelopt_";

/// How the first line of a finding in device code begins.
constexpr std::array<std::string_view, 14> kFindings{
    "Invalid ",      "Misaligned ",  "Uninitialized ",    "Out-of-range ",    "Illegal ",
    "Warp ",         "Lane ",        "Stack overflow",    "Device ",          "Cluster ",
    "Barrier error", "Error: Race ", "Error: Potential ", "Malloc/Free error"};
/// Lines of a finding that tell nothing of the kernel.
constexpr std::array<std::string_view, 2> kHostLines{"Saved host backtrace", "Host Frame"};

template <std::size_t N>
bool begins_with_any(std::string_view text, const std::array<std::string_view, N>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view one) { return text.starts_with(one); });
}

/// The tool's own lines, without their mark.
std::vector<std::string> tool_lines(const std::string& output) {
  std::vector<std::string> out;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kMark)) out.push_back(line.substr(kMark.size()));
  }
  return out;
}

/// "    at kernel" continues what "Invalid read" began.
bool continues(const std::string& line) {
  return line.starts_with("     ");
}

/// A finding's lines as one.
std::string finding_text(const std::vector<std::string>& lines, std::size_t first) {
  std::string out = plain_tool_line(lines[first]);
  std::size_t taken = 1;
  for (std::size_t i = first + 1; i < lines.size() && continues(lines[i]) && taken < kMostFindingLines; ++i) {
    const std::string line = plain_tool_line(lines[i]);
    if (line.empty() || begins_with_any(line, kHostLines)) break;
    out += " " + line;
    ++taken;
  }
  return out;
}

bool names_trusted_alone(const std::string& finding, const std::vector<std::string>& kernels) {
  if (finding.find(kTrustedPrefix) == std::string::npos) return false;
  return std::none_of(kernels.begin(), kernels.end(),
                      [&](const std::string& kernel) { return finding.find(kernel) != std::string::npos; });
}

bool says_nothing_found(const std::vector<std::string>& lines) {
  return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("ERROR SUMMARY: 0 errors") != std::string::npos ||
           (line.find("RACECHECK SUMMARY:") != std::string::npos && line.find("(0 errors") != std::string::npos);
  });
}

std::string first_complaint(const std::vector<std::string>& lines, const std::string& output) {
  for (const std::string& line : lines) {
    const std::string text = plain_tool_line(line);
    if (!text.empty() && text != "COMPUTE-SANITIZER" && text.find("SUMMARY") == std::string::npos) return text;
  }
  std::istringstream all(output);
  for (std::string line; std::getline(all, line);) {
    const std::string text = line.starts_with(kMark) ? std::string() : plain_tool_line(line);
    if (!text.empty()) return text;
  }
  return "it said nothing";
}

}  // namespace

SanitizerVerdict read_sanitizer(const std::string& output, bool ended_well, const std::vector<std::string>& kernels) {
  const std::vector<std::string> lines = tool_lines(output);
  SanitizerVerdict out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (continues(lines[i]) || !begins_with_any(plain_tool_line(lines[i]), kFindings)) continue;
    // A finding tells where; the tool's complaints of its options and of the device do not.
    if (i + 1 >= lines.size() || !continues(lines[i + 1])) continue;
    const std::string finding = finding_text(lines, i);
    if (names_trusted_alone(finding, kernels)) {
      out.text = "it blames a trusted kernel: " + finding;
      continue;
    }
    return {Sanitized::faulty, finding, false};
  }
  if (!out.text.empty()) return out;
  if (ended_well && says_nothing_found(lines)) return {Sanitized::clean, {}, false};
  out.text = first_complaint(lines, output);
  out.unsupported = out.text.find("not supported") != std::string::npos;
  return out;
}

}  // namespace accelopt::targets::cuda
