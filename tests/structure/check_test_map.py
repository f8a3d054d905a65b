#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every folder below tests/ stands in docs/testing.md, and every folder that stands there exists. Prints every violation and
exits with 1 if there is one."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "testing.md"


def folders_named(page: str) -> set[str]:
    """A row's first cell names a folder in full; other names that end with '/' are in that one."""
    named = set()
    for line in page.splitlines():
        row = re.match(r"\| `(tests/[\w/]+)/` \|", line)
        if row:
            named.add(row[1])
            named |= {f"{row[1]}/{inner.rstrip('/')}" for inner in re.findall(r"`([a-z][\w/]*/)`", line[row.end():])}
    return named


def folders_there() -> set[str]:
    """Those that hold a file; of what tests read, fixtures/ alone."""
    files = (file for file in (ROOT / "tests").rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    folders = {file.parent.relative_to(ROOT).as_posix() for file in files} - {"tests"}
    return {"tests/fixtures" if folder.startswith("tests/fixtures/") else folder for folder in folders}


def check_self_test(problems: list[str]) -> None:
    """The check itself must be able to fail."""
    if folders_named("| `tests/a/` | of `src/a`, `b/` |\n`tests/c/`\n| `tests/d/e/` | x |") != {"tests/a", "tests/a/b", "tests/d/e"}:
        problems.append("check_test_map.py: folders_named is broken")


def main() -> int:
    problems: list[str] = []
    check_self_test(problems)
    named, there = folders_named(PAGE.read_text(encoding="utf-8")), folders_there()
    problems += [f"docs/testing.md lacks {name}/" for name in sorted(there - named)]
    # A folder may hold folders alone.
    problems += [f"docs/testing.md names {name}/, which is not there" for name in sorted(named) if not (ROOT / name).is_dir()]
    print("\n".join(problems + [f"{len(there)} folders, {len(problems)} violations"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
