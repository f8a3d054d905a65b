#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every package that scripts/install-deps.sh installs stands in docs/dependencies.md's table, and the other way round."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Comes with another package of the table, or with any machine on which one builds.
UNLISTED = {"gcc", "make", "ca-certificates", "curl", "libgmock-dev"}


def installed():
    script = (ROOT / "scripts" / "install-deps.sh").read_text()
    arrays = re.findall(r"^(?:build|checks|surreal|services)=\(([^)]*)\)", script, re.MULTILINE)
    assert len(arrays) == 4, "scripts/install-deps.sh no longer names its packages in build, checks, surreal and services"
    return {package for array in arrays for package in array.split()}


def documented():
    """Debian's packages of the first column: what npm, PyPI and others provide says so."""
    names = set()
    for line in (ROOT / "docs" / "dependencies.md").read_text().splitlines():
        cell = line.split("|")[1].strip() if line.startswith("| ") else ""
        if not cell or cell == "package" or cell.startswith(("npm:", "PyPI:")) or "not Debian packages" in cell:
            continue
        names |= {name.strip() for name in re.sub(r"\([^)]*\)", "", cell).split(",")}
    return names


def main():
    script, page = installed(), documented()
    problems = [f"docs/dependencies.md lacks {name}, which scripts/install-deps.sh installs" for name in sorted(script - page - UNLISTED)]
    problems += [f"scripts/install-deps.sh does not install {name}, which docs/dependencies.md lists" for name in sorted(page - script)]
    print("\n".join(problems) if problems else f"{len(page)} packages")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
