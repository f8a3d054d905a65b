# SPDX-License-Identifier: Apache-2.0
"""accelopt from Python: runs the program with --json and reads its objects (docs/json.md). In notebooks a result shows its report."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Mapping, Sequence

__all__ = ["AcceloptError", "Evaluation", "Interval", "Result", "best", "evaluate", "optimize"]

PathLike = str | os.PathLike[str]
_ENDED = (0, 3, 5, 6)  # exit codes with which a command has printed its object
_RUN_ENDED = (*_ENDED, 4, 130)  # those of a run that a budget or a stop ended, too


class AcceloptError(RuntimeError):
    """The program refused or failed; the message is its own."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@dataclasses.dataclass(frozen=True)
class Interval:
    """A ratio of speeds with its 95 % interval."""

    estimate: float
    low: float
    high: float

    @classmethod
    def read(cls, value: Mapping[str, float] | None) -> Interval | None:
        return None if value is None else cls(value["estimate"], value["low"], value["high"])

    def __str__(self) -> str:
        return f"{self.estimate:.3g}x [{self.low:.3g}, {self.high:.3g}]"


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """The verdict on one kernel."""

    status: str
    verdict: str
    reason: str
    ratio: Interval | None
    json: Mapping[str, Any] = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True)
class Result:
    """How a run ended."""

    run: str
    outcome: str
    reason: str
    speedup: Interval | None
    source: str | None = dataclasses.field(repr=False)
    workspace: pathlib.Path = dataclasses.field(repr=False)
    json: Mapping[str, Any] = dataclasses.field(repr=False)

    @property
    def improved(self) -> bool:
        return self.outcome == "improved"

    def save(self, folder: PathLike, form: str | None = None) -> pathlib.Path:
        """Writes the winner into the folder, in a form of `accelopt best --as` or, without one, as a task."""
        words = ["best", self.run, "--workspace", self.workspace, "--output", folder]
        _run([*words, *(["--as", form] if form else [])])
        return pathlib.Path(folder)

    def report(self) -> str:
        """The run's report, a page of HTML."""
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "report.html"
            _run(["report", self.run, "--workspace", self.workspace, "--output", page])
            return page.read_text(encoding="utf-8")

    def _repr_html_(self) -> str:
        page = self.report().replace("&", "&amp;").replace('"', "&quot;")
        return f'<iframe sandbox srcdoc="{page}" style="width:100%;height:40em;border:0"></iframe>'


def program() -> str:
    """ACCELOPT, or the one beside this Python, or the one on PATH."""
    beside = pathlib.Path(sys.prefix) / "bin" / "accelopt"
    found = os.environ.get("ACCELOPT") or (str(beside) if beside.exists() else shutil.which("accelopt"))
    if not found:
        raise AcceloptError("the program accelopt is not on PATH; install it, or name it in ACCELOPT", 127)
    return found


def _run(words: Sequence[object], ended: Sequence[int] = (0,)) -> str:
    done = subprocess.run([program(), *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode not in ended or (done.returncode != 0 and not done.stdout.strip()):
        raise AcceloptError(done.stderr.strip() or f"accelopt {words[0]} ended with {done.returncode}", done.returncode)
    return done.stdout


def _options(options: Mapping[str, object]) -> list[str]:
    """near_roofline=0 is --near-roofline 0; True is a flag, a list is an option for each, None and False are nothing."""
    words: list[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not None and one is not False:
                words += [flag] if one is True else [flag, str(one)]
    return words


def _workspace(given: PathLike | None) -> pathlib.Path:
    """As the program finds it: the nearest .accelopt here or above, else one here. Absolute."""
    here = pathlib.Path.cwd()
    found = (folder / ".accelopt" for folder in (here, *here.parents) if (folder / ".accelopt").is_dir())
    return pathlib.Path(given).absolute() if given is not None else next(found, here / ".accelopt")


def optimize(task: PathLike, *, workspace: PathLike | None = None, **options: object) -> Result:
    """Runs accelopt on the task's folder until it ends, with a winner or without; the options are those of `accelopt run`, with _ for -."""
    place = _workspace(workspace)
    out = _run(["run", task, "--workspace", place, "--json", *_options(options)], _RUN_ENDED)
    told = json.loads(out.strip().splitlines()[-1])
    if told.get("type") != "result":
        raise AcceloptError("the run was interrupted before it had a result; continue with: accelopt resume", 130)
    solution = told.get("solution")
    return Result(run=told["run"], outcome=told["outcome"], reason=told["reason"], speedup=Interval.read(told["speedup"]),
                  source=solution["sources"][0].get("text", solution["sources"][0].get("content")) if solution else None,
                  workspace=place, json=told)


def evaluate(task: PathLike, kernel: PathLike | None = None, **options: object) -> Evaluation:
    """The verdict on a kernel's file, or on the baseline against itself; the options are those of `accelopt eval`."""
    told = json.loads(_run(["eval", task, *([kernel] if kernel else []), "--json", *_options(options)], _ENDED))
    return Evaluation(status=told["status"], verdict=told["verdict"], reason=told["reason"], ratio=Interval.read(told["ratio"]), json=told)


def best(run: str = "last", *, workspace: PathLike | None = None) -> str:
    """The source of a run's winner."""
    return _run(["best", run, "--workspace", _workspace(workspace)])
