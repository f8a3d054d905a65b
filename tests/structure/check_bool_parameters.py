#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No function of a header takes a bool: `call(true)` does not say what is true; an enum does. Those that were there before this
check are listed; the list may only get shorter. Prints what is not as listed and exits with 1 if anything is not."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Header below src/ -> its bool parameters, in the order of the file.
KNOWN = {
    "recipes/simd_body.hpp": ["rows", "lanes", "store", "lanes", "rows", "lanes"],
    "cli/command_line.hpp": ["target"],
    "targets/cpu/flush.hpp": ["by_line"],
    "targets/cpu/timed_call.hpp": ["one_core"],
    "devices/cuda/sanitizer_report.hpp": ["ended_well"],
}

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
DECLARES_A_LOCAL = re.compile(r"\bTRY_ASSIGN\(const bool\b")
PARAMETER = re.compile(r"[(,]\s*(?:const\s+)?bool\b[\s&]*(\w*)\s*(?=[,)=])")


def bool_parameters(text: str) -> list[str]:
    text = DECLARES_A_LOCAL.sub("TRY_ASSIGN(auto", COMMENT.sub("", text))
    return PARAMETER.findall(text)


def check_self_test(problems: list[str]) -> None:
    """The check itself must be able to fail."""
    text = """
      void run(int count, bool last);  // not (bool this)
      void set(bool& target, const bool = true);
      std::function<void(bool)> told; bool member = true; bool given(int x);
      TRY_ASSIGN(const bool more, query.next());
    """
    if bool_parameters(text) != ["last", "target", "", ""]:
        problems.append("check_bool_parameters.py: bool_parameters is broken")


def main() -> int:
    problems: list[str] = []
    check_self_test(problems)
    headers = {file.relative_to(ROOT / "src").as_posix(): file for file in sorted((ROOT / "src").rglob("*.hpp"))}
    for name in sorted(headers.keys() | KNOWN.keys()):
        found = bool_parameters(headers[name].read_text(encoding="utf-8")) if name in headers else []
        known = KNOWN.get(name, [])
        if found == known:
            continue
        more = len(found) > len(known)
        problems.append(f"src/{name}: bool parameters {found} where {known} are known; " +
                        ("pass an enum instead" if more else "shorten the list in check_bool_parameters.py"))
    print("\n".join(problems + [f"{sum(map(len, KNOWN.values()))} known, {len(problems)} violations"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
