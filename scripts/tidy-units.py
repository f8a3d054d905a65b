#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over what a build folder compiles, and fails where it finds anything.

  tidy-units.py BUILD_FOLDER

clang-tidy checks the headers of the C++ library and of json anew in each unit, which takes longer than the unit's own sources:
the build's units are merged into a few. Units of one folder go into different ones: folders have their own namespaces, and
names that are local to a source are unique in a unit of the build alone. Where merged units do not compile, the build's own
are checked instead. What the build generates is not there, and is data.
"""
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

MERGED = 12
WITH_VALUE = ("-I", "-D", "-isystem")
FINDING = re.compile(r"(warning|error): ")
DOES_NOT_COMPILE = "[clang-diagnostic-error]"


def options_of(command):
    """The macros and folders of headers of one command, each as a name and its value."""
    words = shlex.split(command)
    options = []
    for index, word in enumerate(words):
        if word in WITH_VALUE:
            options.append((word, words[index + 1]))
        else:
            options += [(name, word[len(name):]) for name in WITH_VALUE if word.startswith(name)]
    return options


def place_of(entry):
    """Sorts units of one folder side by side, and those of the programs' own main functions."""
    text = Path(entry["file"]).read_text()
    sources = re.findall(r'^#include "(/.*\.cpp)"$', text, re.MULTILINE)
    has_main = any(re.search(r"^int main\(", part, re.MULTILINE) for part in [text, *(Path(source).read_text() for source in sources)])
    words = shlex.split(entry["command"])
    return not has_main, words[words.index("-o") + 1]


def merge(build, out):
    """Writes out/unit_<n>.cpp and out/compile_commands.json; gives each unit with those of the build that it includes."""
    entries = [entry for entry in json.loads((build / "compile_commands.json").read_text()) if Path(entry["file"]).exists()]
    options = dict.fromkeys(option for entry in entries for option in options_of(entry["command"]))
    macros = dict(value.partition("=")[::2] for name, value in options if name == "-D")
    words = [f"-D{name}={value or 1}" for name, value in macros.items()]
    words += [word for option in options if option[0] != "-D" for word in option]

    out.mkdir(parents=True, exist_ok=True)
    units = {}
    for index, entry in enumerate(sorted(entries, key=place_of)):
        units.setdefault(out / f"unit_{index % MERGED}.cpp", []).append(entry["file"])
    for unit, files in units.items():
        unit.write_text("".join(f'#include "{file}"\n' for file in files))
    commands = [{"directory": str(build), "file": str(unit), "arguments": ["c++", "-std=c++20", *words, "-c", str(unit)]}
                for unit in units]
    (out / "compile_commands.json").write_text(json.dumps(commands, indent=1))
    return units


def findings_of(folder, unit):
    """What clang-tidy says of a unit of folder/compile_commands.json, a line each."""
    # A unit includes its sources, which is all that bugprone-suspicious-include would say.
    run = subprocess.run(["clang-tidy", "--quiet", "-p", folder, "--config-file=.clang-tidy", "--checks=-bugprone-suspicious-include",
                          "--extra-arg=-Wno-unknown-warning-option", unit], capture_output=True, text=True, check=False)
    found = [line for line in run.stdout.splitlines() if FINDING.search(line)]
    if run.returncode != 0 and not found:
        found.append(f"error: clang-tidy itself failed on {unit}: {run.stderr.strip()[-1000:]}")
    return found


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: tidy-units.py BUILD_FOLDER")
    build = Path(sys.argv[1]).resolve()
    if not (build / "compile_commands.json").exists():
        sys.exit(f"tidy-units.py: {build} has no compile_commands.json: configure it by the preset `tidy`")
    merged = build / "merged"
    units = merge(build, merged)
    found = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        of_merged = pool.map(lambda unit: findings_of(merged, unit), units)
        again = []
        for unit, lines in zip(units, of_merged):
            if any(DOES_NOT_COMPILE in line for line in lines):
                print(f"clang-tidy: {unit.name} does not compile, so its {len(units[unit])} parts are checked alone", flush=True)
                again += units[unit]
            else:
                found.update(lines)
        for lines in pool.map(lambda unit: findings_of(build, unit), again):
            found.update(lines)
    for line in sorted(found):
        print(line)
    print(f"clang-tidy: {len(found)} findings")
    sys.exit(1 if found else 0)


main()
