#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nobody names a target or a language but src/targets, src/devices, src/capture and src/app: whoever asks `target == "cuda"` has to be
found again for every further target. Those that were there before this check are listed; the list may only get shorter.
Prints what is not as listed and exits with 1 if anything is not."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FREE = ("targets/", "devices/", "app/", "capture/")  # capture/ is Triton's, as its name says

# What is about C and C++ by nature: it reads or writes these two, and tasks of kernels in them.
C_FAMILY = ("syntax/", "scaffold/", "recipes/")

# Another schema's own names for languages, each with the target that it belongs to; the languages of code to refactor, which are
# no kernels'.
FOREIGN = ("suites/flashinfer_trace/languages.cpp", "refactor/languages.cpp", "syntax/tree/grammar_table.cpp", "syntax/tree/library.cpp")

# File below src/ -> how often it names a target or a language.
KNOWN = {
    "agents/kernel_file.hpp": 1,  # a default, for tests
    "model/language.hpp": 4,  # C and C++ for C_FAMILY
    "model/solution.hpp": 1,  # a default, for tests
    "model/task.cpp": 1,  # a key of hashed JSON
    "model/task.hpp": 1,  # a default, for tests
    "suites/mutants.cpp": 2,  # wraps kernels in C and C++
}

COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
RAW = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)
NAME = re.compile(r'"(?:cpu|cuda|triton|opencl|nki|trainium|neuron|python|cpp|repo)(?::\d*)?"|\bLanguage::(?:c|cpp)\b|\bLanguage\("|'
                  r'target = \\?"\w')


def names_in(text: str) -> list[str]:
    raw = [name for match in RAW.finditer(text) for name in NAME.findall(match[0])]
    code = COMMENT.sub(lambda match: match[1] or "", RAW.sub('""', text))
    return raw + NAME.findall(code)


def check_self_test(problems: list[str]) -> None:
    """The check itself must be able to fail."""
    text = """
      if (task.target == "cuda" || language == Language::cpp) return;  // "cpu" is not counted here
      const auto device = "cuda:0"; auto url = "https://cpu"; Language("toy"); find("cpu_model");
      constexpr auto kToml = R"(target = "x")";
    """
    if names_in(text) != ['target = "x', '"cuda"', "Language::cpp", '"cuda:0"', 'Language("']:
        problems.append(f"check_names.py: names_in is broken: {names_in(text)}")


def main() -> int:
    problems: list[str] = []
    check_self_test(problems)
    files = {file.relative_to(ROOT / "src").as_posix(): file for file in sorted((ROOT / "src").rglob("*.[ch]pp"))}
    for name in sorted(files.keys() | KNOWN.keys()):
        if name.startswith(FREE) or name in FOREIGN:
            continue
        found = names_in(files[name].read_text(encoding="utf-8")) if name in files else []
        if name.startswith(C_FAMILY):
            found = [one for one in found if not one.startswith(("Language::c", "target = "))]
        known = KNOWN.get(name, 0)
        if len(found) > known:
            problems.append(f"src/{name}: names {', '.join(found)}; ask model/target_description.hpp what it can do instead")
        if len(found) < known:
            problems.append(f"src/{name}: names {len(found)} targets and languages, and {known} are known; shorten the list in check_names.py")
    print("\n".join(problems + [f"{sum(KNOWN.values())} known, {len(problems)} violations"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
