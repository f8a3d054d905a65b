#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The use cases of src/app return values: they print nothing, read no environment and end no process, so that any front door
can stand before them. Prints every violation and exits with 1 if there is one."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"')
FORBIDDEN = re.compile(r"\bfmt::print\b|\bf?(?:printf|puts|putc|putchar)\s*\(|\bstd::(?:cout|cerr|clog|print(?:ln)?)\b|\bstd(?:out|err)\b|"
                       r"\b(?:secure_)?getenv\s*\(|\benviron\b|\b(?:un)?setenv\s*\(|\b_?exit\s*\(|\bquick_exit\s*\(|\babort\s*\(\)")


def violations(text: str) -> list[str]:
    code = TEXT.sub('""', COMMENT.sub("", text))
    return [match.group(0) for match in FORBIDDEN.finditer(code)]


def main() -> int:
    # The check itself must be able to fail.
    problems = []
    sample = 'fmt::print("x"); std::getenv(name); std::exit(1); std::fputs("x", stderr); char** all = environ; // std::cout\n "exit(1)"; environment("HOME")'
    if violations(sample) != ["fmt::print", "getenv(", "exit(", "fputs(", "stderr", "environ"]:
        problems.append(f"check_app.py: violations is broken: {violations(sample)}")
    for file in sorted((ROOT / "src" / "app").rglob("*.[ch]pp")):
        problems += [f"src/app/{file.name}: {found} belongs into src/cli" for found in violations(file.read_text(encoding="utf-8"))]
    print("\n".join(problems + [f"{len(problems)} violations"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
