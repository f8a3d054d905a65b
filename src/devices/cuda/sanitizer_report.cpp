// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/sanitizer_report.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>
#include <string_view>

#include "devices/cuda/tool_text.hpp"

namespace accelopt::devices::cuda {
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
    if (line.starts_with(kMark)) out.emplace_back(tool_line_start(std::string_view(line).substr(kMark.size())));
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

/// The functions that a finding names, its callers among them: "at squares(float const *)+0x1b0", "at 0xcd8 in
/// squares", "Device Frame:squares+0x90". A caller that is no plain name is "?".
std::vector<std::string> functions_of(const std::vector<std::string>& lines, std::size_t first) {
  static const std::regex named(R"((\bat (?:0x[0-9a-fA-F]+ in )?|Device Frame: ?)([A-Za-z_]\w*)(?=[(+ \[]|$))");
  std::vector<std::string> out;
  for (std::size_t i = first; i < lines.size() && (i == first || continues(lines[i])); ++i) {
    const std::size_t before = out.size();
    for (std::sregex_iterator found(lines[i].begin(), lines[i].end(), named), end; found != end; ++found) {
      out.push_back((*found)[2]);
    }
    if (out.size() == before && lines[i].find("Device Frame") != std::string::npos) out.emplace_back("?");
  }
  return out;
}

bool is_trusted_alone(const std::vector<std::string>& functions, const std::vector<std::string>& kernels) {
  return !functions.empty() && std::all_of(functions.begin(), functions.end(), [&](const std::string& one) {
    return one.starts_with(kTrustedPrefix) && std::find(kernels.begin(), kernels.end(), one) == kernels.end();
  });
}

bool says_nothing_found(const std::vector<std::string>& lines) {
  return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("ERROR SUMMARY: 0 errors") != std::string::npos ||
           (line.find("RACECHECK SUMMARY:") != std::string::npos && line.find("(0 errors") != std::string::npos);
  });
}

/// Why nothing can be said: what the call itself said, the tool's first words, or else whatever was printed first.
std::string first_complaint(const std::vector<std::string>& own, const std::string& output) {
  std::string first;
  std::istringstream all(output);
  for (std::string line; std::getline(all, line);) {
    if (line.starts_with("accelopt-device: ")) return plain_tool_line(line);
    if (first.empty() && !line.starts_with(kMark)) first = plain_tool_line(line);
  }
  for (const std::string& line : own) {
    const std::string text = plain_tool_line(line);
    if (!text.empty() && text != "COMPUTE-SANITIZER" && text.find("SUMMARY") == std::string::npos) return text;
  }
  return first.empty() ? "it said nothing" : first;
}

/// Said by the tool: a call may fail with words like these, and the next one need not.
bool knows_no_device(const std::vector<std::string>& own) {
  return std::any_of(own.begin(), own.end(),
                     [](const std::string& line) { return line.find("Device not supported") != std::string::npos; });
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
    if (is_trusted_alone(functions_of(lines, i), kernels)) {
      out.text = "it blames a trusted kernel: " + finding;
      continue;
    }
    return {Sanitized::faulty, finding, false};
  }
  if (!out.text.empty()) return out;
  if (ended_well && says_nothing_found(lines)) return {Sanitized::clean, {}, false};
  out.text = first_complaint(lines, output);
  out.unsupported = knows_no_device(lines);
  return out;
}

}  // namespace accelopt::devices::cuda
