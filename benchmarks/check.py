# SPDX-License-Identifier: Apache-2.0
"""Checks the tasks of this folder: `python3 check.py FOLDER-OF-ACCELOPT [--only NAME]... [--lint] [--json FILE]`.

Each becomes a repository, whose base must pass `accelopt refactor lint`. Then each change in solutions/ is examined by
`accelopt refactor check`: a reference (NAME.diff) must be faster, a trap's obvious change (NAME.obvious.diff) refused for what it
computes, and a naive change of what cannot be improved (NAME.naive.diff) right and not faster. A task whose language is not
installed is named and left out. Exit code 1: something was not as expected.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import tomllib

FOLDER = pathlib.Path(__file__).resolve().parent
EXPECTED = {"": "faster", "obvious": "refused", "naive": "not_faster"}
BEHAVIOUR_GATES = ("tests", "differential", "triage", "held-out")


def make_repository(task: str, folder: pathlib.Path) -> pathlib.Path:
    subprocess.run(["sh", FOLDER / "make_repository.sh", task, folder], check=True)
    return folder / "accelopt"


def tools_of(program: str) -> list[str]:
    """What `accelopt refactor` must be told to find the program; Rust's may lie in a home folder, behind a proxy."""
    if program == "tsc":
        return ["--tools", str(pathlib.Path(shutil.which("tsc") or "/usr/bin/tsc").resolve().parent.parent)]
    if program != "rustc":
        return []
    place = subprocess.run(["rustc", "--print", "sysroot"], check=True, capture_output=True, text=True, cwd="/").stdout.strip()
    return ["--tools", place]


def changes_of(task: str) -> dict[str, pathlib.Path]:
    places = {kind: FOLDER / "solutions" / f"{task}{'.' if kind else ''}{kind}.diff" for kind in EXPECTED}
    return {kind: place for kind, place in places.items() if place.exists()}


class Checks:
    def __init__(self, accelopt: pathlib.Path, folder: pathlib.Path):
        self.accelopt, self.folder, self.lines = accelopt, folder, []

    def run(self, *arguments: object) -> subprocess.CompletedProcess:
        return subprocess.run([self.accelopt, "refactor", *map(str, arguments)], capture_output=True, text=True, cwd=self.folder,
                              env={**os.environ, "NO_COLOR": "1"})

    def note(self, task: str, what: str, passed: bool, said: str, **more: object) -> None:
        self.lines.append({"task": task, "what": what, "passed": passed, "said": said, **more})
        print(f"{'ok' if passed else 'NOT AS EXPECTED':16}{task:14}{what:12}{said}", flush=True)

    def lint(self, task: dict, place: pathlib.Path) -> None:
        linted = self.run("lint", place, "--seed", 1, "--knowledge", "none", *tools_of(task["program"]))
        self.note(task["name"], "lint", linted.returncode == 0, (linted.stdout or linted.stderr).strip().replace("\n", "; "))

    def check(self, task: dict, place: pathlib.Path, kind: str, change: pathlib.Path) -> None:
        checked = self.run("check", place, change, "--json", "--knowledge", "none", *tools_of(task["program"]))
        try:
            found = json.loads(checked.stdout)
        except json.JSONDecodeError:
            self.note(task["name"], kind or "reference", False, checked.stderr.strip())
            return
        verdict, gate, gain = found["verdict"], found.get("failed_gate") or "", found.get("speedup") or found.get("triage")
        passed = verdict == EXPECTED[kind] and (kind != "obvious" or gate in BEHAVIOUR_GATES)
        said = verdict + (f" by {gate}: {found['gates'][-1]['facts']}" if gate else "")
        if gain:
            said += f" {gain['estimate']:.2f}x [{gain['low']:.2f}, {gain['high']:.2f}]"
        seconds = sum(one["seconds"] for one in found["gates"])
        self.note(task["name"], kind or "reference", passed, f"{said}, {seconds:.0f} s", gain=gain, verdict=verdict, gate=gate)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("programs", type=pathlib.Path)
    options.add_argument("--only", action="append", default=[])
    options.add_argument("--lint", action="store_true", help="look at the bases alone")
    options.add_argument("--json", type=pathlib.Path, help="also write what was found, a line each")
    given = options.parse_args()
    tasks = tomllib.loads((FOLDER / "suite.toml").read_text())["tasks"]
    unknown = set(given.only) - {task["name"] for task in tasks}
    if unknown:
        options.error(f"no such task: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as temporary:
        checks = Checks(given.programs.resolve() / "accelopt", pathlib.Path(temporary))
        for task in tasks:
            if given.only and task["name"] not in given.only:
                continue
            if shutil.which(task["program"]) is None:
                print(f"left out: {task['name']}: {task['program']} is not installed", flush=True)
                continue
            place = make_repository(task["name"], pathlib.Path(temporary) / task["name"])
            checks.lint(task, place)
            for kind, change in changes_of(task["name"]).items():
                if not given.lint:
                    checks.check(task, place, kind, change)
    if given.json:
        given.json.write_text("".join(json.dumps(line) + "\n" for line in checks.lines))
    return 0 if checks.lines and all(line["passed"] for line in checks.lines) else 1


if __name__ == "__main__":
    sys.exit(main())
