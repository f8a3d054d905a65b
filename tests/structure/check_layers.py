#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what docs/architecture.md promises of the tree: which folder may include which, how long a file may be, the licence
line, and words that have no place in the project. Prints every violation and exits with 1 if there is one."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Folder -> the folders that it may include from. The order is the order of dependency.
LAYERS = {
    "base": [],
    "model": ["base"],
    "stats": ["base"],
    "sandbox": ["base"],
    "vcs": ["base", "sandbox"],
    "syntax/tree": ["base"],
    "refactor": ["base", "stats", "sandbox", "vcs", "syntax/tree"],
    "http": ["base"],
    "syntax": ["base", "model"],
    "llm": ["base", "model", "http"],
    "review": ["base", "model", "stats", "refactor", "llm"],
    "journal": ["base", "model"],
    "memory": ["base", "model", "journal"],
    "memory/surreal": ["base", "model", "http", "memory"],
    "evaluation": ["base", "model", "stats", "sandbox"],
    "worker": ["base", "model", "evaluation"],
    "bundles": ["base", "model", "evaluation", "worker"],
    "devices/cuda": ["base", "model", "sandbox", "stats", "evaluation"],
    "capture": ["base", "model", "sandbox", "devices/cuda"],
    "pytorch": ["base", "model", "sandbox", "evaluation", "capture"],
    "targets/cpu": ["base", "model", "sandbox", "syntax", "evaluation", "stats"],
    "targets/cuda": ["base", "model", "sandbox", "syntax", "evaluation", "stats", "devices/cuda"],
    "targets/triton": ["base", "model", "evaluation", "devices/cuda", "capture", "pytorch", "targets/cuda"],
    "targets/trainium": ["base", "model", "sandbox", "evaluation", "capture"],
    "targets/repo": ["base", "model", "stats", "sandbox", "evaluation", "vcs", "refactor", "targets/cpu"],
    "targets": ["base", "model", "evaluation", "pytorch", "targets/cpu", "targets/cuda", "targets/triton", "targets/trainium", "targets/repo"],
    "packages": ["base", "model", "targets/cpu", "targets/cuda"],
    "agents": ["base", "model", "refactor", "llm"],
    "recipes": ["base", "model", "syntax", "agents"],
    "search": ["base", "model", "stats", "llm", "agents", "memory", "journal", "evaluation"],
    "suites": ["base", "model"],
    "suites/flashinfer_trace": ["base", "model", "suites"],
    "suites/nkibench": ["base", "model", "suites"],
    "scaffold": ["base", "model", "sandbox", "syntax", "evaluation", "targets/cpu", "suites"],
    "report": ["base", "model", "stats", "journal"],
    "report/html": ["base", "model", "journal", "report"],
    "app": None,  # everything above it in this table
    "mcp": ["base", "model", "journal", "memory", "suites", "report", "report/html", "app"],
    "page": ["base", "model", "memory", "report", "report/html", "app", "mcp"],
    "cli": None,
}

LONGEST_FILE = 600
SOURCE_SUFFIXES = {".cpp", ".hpp", ".c", ".h", ".cu", ".py", ".sh", ".cmake"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def layer_of(path: str) -> str | None:
    """The layer that a path below src/ belongs to; the longest name wins."""
    names = [name for name in LAYERS if path == name or path.startswith(name + "/")]
    return max(names, key=len) if names else None


def allowed_in(layer: str) -> list[str]:
    """The layers that files of a layer may include from, their own aside."""
    names = list(LAYERS)
    listed = LAYERS[layer]
    return names[:names.index(layer)] if listed is None else listed


def check_includes(problems: list[str]) -> None:
    for file in sorted((ROOT / "src").rglob("*.[ch]pp")):
        relative = file.relative_to(ROOT / "src").as_posix()
        layer = layer_of(relative)
        if layer is None:
            problems.append(f"src/{relative}: in no known folder")
            continue
        allowed = allowed_in(layer)
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            target = layer_of(match.group(1))
            if target is None:
                if (file.parent / match.group(1)).exists():
                    problems.append(f"src/{relative}:{number}: include \"{match.group(1)}\" by its path below src/")
                continue
            if target != layer and target not in allowed:
                problems.append(f"src/{relative}:{number}: {layer} may not include from {target}")


def check_files(problems: list[str]) -> None:
    for folder in ("src", "tests", "exploits", "bench", "scripts", "cmake", "suites", "python", "examples", "calibration"):
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix not in SOURCE_SUFFIXES or "build" in file.parts or not file.is_file():
                continue
            text = file.read_text(encoding="utf-8")
            name = file.relative_to(ROOT).as_posix()
            lines = text.count("\n")
            if lines > LONGEST_FILE:
                problems.append(f"{name}: {lines} lines; at most {LONGEST_FILE}")
            is_data = folder == "suites" or name.startswith("tests/fixtures/")
            if not is_data and "SPDX-License-Identifier: Apache-2.0" not in "\n".join(text.splitlines()[:3]):
                problems.append(f"{name}: no SPDX line")
            if file.suffix == ".hpp" and "#pragma once" not in text:
                problems.append(f"{name}: no #pragma once")


# Closing a descriptor of a database's file by hand takes away the locks that SQLite holds on it for this process, and the
# next process removes its log (sqlite.org/howtocorrupt.html, section 2.2). So only SQLite opens these files, in one place,
# and what lies in src/journal and src/memory opens no file by itself, objects and /proc aside.
SQLITE_HEADER = re.compile(r'#\s*include\s+<sqlite3\.h>')
OPENS_BY_HAND = re.compile(r"\b(?:fopen|open64|openat|creat|[io]?fstream|filebuf|read_file|write_file|copy_file|FileDescriptor)\b|"
                           r"\bopen\([^)]*\bO_[A-Z]+")
NAMES_A_DATABASE = re.compile(r'accelopt\.db|knowledge\.db|-wal"|-shm"')
SQLITE_PLACE = "src/base/sqlite.cpp"
OPEN_OTHER_FILES = {"src/journal/object_store.cpp", "src/journal/control.cpp"}


def opens_database(name: str, line: str) -> bool:
    """Whether a line of src/ may open a database's file by hand."""
    if line.lstrip().startswith("//"):
        return False
    if SQLITE_HEADER.search(line):
        return name != SQLITE_PLACE
    beside = name.startswith(("src/journal/", "src/memory/")) and name not in OPEN_OTHER_FILES
    return bool(OPENS_BY_HAND.search(line)) and (beside or bool(NAMES_A_DATABASE.search(line)))


def check_databases(problems: list[str]) -> None:
    for file in sorted((ROOT / "src").rglob("*.[ch]pp")):
        name = file.relative_to(ROOT).as_posix()
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if opens_database(name, line):
                problems.append(f"{name}:{number}: a database's file is opened by SQLite alone, in {SQLITE_PLACE}")


def check_self_test(problems: list[str]) -> None:
    """The check itself must be able to fail."""
    by_hand = "  const base::FileDescriptor descriptor(::open(file.c_str(), O_RDONLY));"
    if not opens_database("src/journal/database_file.cpp", by_hand) or opens_database("src/app/team.cpp", by_hand) or \
       not opens_database("src/app/team.cpp", 'read_file(folder / "accelopt.db")') or \
       opens_database("src/memory/knowledge_file.cpp", "auto database = base::Database::open(file, mode, patience);"):
        problems.append("check_layers.py: opens_database is broken")
    if "cli" in allowed_in("app") or "report" not in allowed_in("app") or "app" not in allowed_in("cli"):
        problems.append("check_layers.py: allowed_in is broken")
    if layer_of("targets/cpu/build.hpp") != "targets/cpu" or layer_of("base/result.hpp") != "base" or layer_of("fmt/core.h"):
        problems.append("check_layers.py: layer_of is broken")


def main() -> int:
    problems: list[str] = []
    check_self_test(problems)
    check_includes(problems)
    check_files(problems)
    check_databases(problems)
    for problem in problems:
        print(problem)
    print(f"{len(problems)} violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
