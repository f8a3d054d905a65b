// SPDX-License-Identifier: Apache-2.0
#include "syntax/machine_failure.hpp"

#include <algorithm>
#include <array>

#include "syntax/diagnostic_text.hpp"

namespace accelopt::syntax {
namespace {

using base::ErrorCode;
using Certainty = MachineFailure::Certainty;

/// Words that end a line, and what they mean. Tools run with LC_ALL=C.
struct Ending {
  std::string_view words;
  ErrorCode code;
  Certainty certainty = Certainty::certain;
};

constexpr auto kEndings = std::to_array<Ending>({
    {"No space left on device", ErrorCode::exhausted},
    {"Disk quota exceeded", ErrorCode::exhausted},
    {"Resource temporarily unavailable", ErrorCode::unavailable},
    {"Too many open files in system", ErrorCode::unavailable},
    {"Read-only file system", ErrorCode::io},
    {"Input/output error", ErrorCode::io},
    {"Stale file handle", ErrorCode::io},
    {"Cannot allocate memory", ErrorCode::exhausted, Certainty::possible},
});

/// Words anywhere in a line that names no place in a source.
constexpr auto kPhrases = std::to_array<Ending>({
    {"cannot execute ", ErrorCode::unavailable},        // GCC's driver: the compiler proper, the assembler
    {"error trying to exec ", ErrorCode::unavailable},  // of older ones
    {"unable to execute command", ErrorCode::unavailable,
     Certainty::possible},  // Clang's driver, also where it crashed
    {"out of memory", ErrorCode::exhausted, Certainty::possible},
    {"memory exhausted", ErrorCode::exhausted, Certainty::possible},
    {"Killed signal terminated program", ErrorCode::exhausted, Certainty::possible},
});

/// GCC names the source's last line where it cannot write its own output: "kernel.cpp:9:1: fatal error: error writing
/// to /tmp/ccXYZ.s: No space left on device". A file that is not found ends in other words, whatever its name is.
constexpr std::string_view kOwnOutput = ": fatal error: error writing to ";

bool is_of_own_output(std::string_view line) {
  const auto error = line.find("error: ");
  const auto begins = kOwnOutput.find("error: ");
  return error != line.npos && error >= begins && line.substr(error - begins).starts_with(kOwnOutput);
}

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

/// "name:12:"; names may hold colons: sources choose those of the assembler's line markers (`# 5 "a:b"`).
bool names_a_line(std::string_view text) {
  for (auto colon = text.find(':'); colon != text.npos; colon = text.find(':', colon + 1)) {
    const std::string_view number = text.substr(colon + 1);
    const auto after = std::ranges::find_if_not(number, is_digit);
    if (after != number.begin() && after != number.end() && *after == ':') return true;
  }
  return false;
}

/// An error in a text, or of the linker about a name in one.
bool is_of_a_source(std::string_view line) {
  if (is_of_own_output(line)) return false;
  if (names_a_line(line) && line.find("rror: ") != line.npos) return true;
  constexpr auto kOfLinker =
      std::to_array<std::string_view>({"undefined reference to", "multiple definition of", "symbol `"});
  return std::ranges::any_of(kOfLinker, [&](std::string_view words) { return line.find(words) != line.npos; });
}

std::optional<MachineFailure> read_line(std::string_view line) {
  while (!line.empty() && std::string_view("'.\r ").find(line.back()) != line.npos) line.remove_suffix(1);
  const auto found = [&](const Ending& what) {
    return MachineFailure{what.certainty, what.code, printable(without_paths(line.substr(0, 300)))};
  };
  if (names_a_line(line) && !is_of_own_output(line)) return std::nullopt;
  for (const Ending& ending : kEndings) {
    if (line.ends_with(ending.words)) return found(ending);
  }
  for (const Ending& phrase : kPhrases) {
    if (line.find(phrase.words) != line.npos) return found(phrase);
  }
  return std::nullopt;
}

}  // namespace

MachineFailure MachineFailure::of_memory() {
  return {Certainty::possible, ErrorCode::exhausted, "it found no memory, or was killed"};
}

base::Error MachineFailure::error() const {
  const bool disk = code == ErrorCode::exhausted && certainty == Certainty::certain;
  const bool memory = code == ErrorCode::exhausted && !disk;
  const std::string next = disk     ? "free space where temporary files lie (TMPDIR)"
                           : memory ? "free memory"
                                    : "see to it that compilers can run and write their temporary files (TMPDIR)";
  return {code, "the compiler failed because of this machine, not because of the code: " + said + "; " + next +
                    ", then resume the run, or repeat the command"};
}

std::optional<MachineFailure> machine_failure(std::string_view output) {
  std::optional<MachineFailure> worst;
  for (const std::string_view line : lines_of(output)) {
    if (is_of_a_source(line)) return std::nullopt;
    auto failure = read_line(line);
    if (failure && (!worst || failure->certainty < worst->certainty)) worst = std::move(failure);
  }
  return worst;
}

}  // namespace accelopt::syntax
