# SPDX-License-Identifier: Apache-2.0
"""accelopt from Python: runs the program with --json and reads its objects (docs/json.md). In notebooks a result shows its report."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from typing import Any, Mapping, Sequence

__all__ = ["AcceloptError", "Evaluation", "Interval", "Result", "best", "evaluate", "optimize"]

PathLike = str | os.PathLike[str]
_INTERRUPTED = 130
_ENDED = (0, 3, 5, 6)  # exit codes with which a command has printed its object
_RUN_ENDED = (*_ENDED, 4, _INTERRUPTED)  # those of a run that a budget or a stop ended, too


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


def _ended(command: Sequence[str]) -> tuple[int, str, str]:
    """Its exit code and what it wrote. The first two interrupts of this Python are the program's; at a third it is killed."""
    started: concurrent.futures.Future[subprocess.Popen[str]] = concurrent.futures.Future()
    interruptible = threading.current_thread() is threading.main_thread()

    def run() -> tuple[int, str, str]:
        try:
            # In a session of its own, so that Ctrl-C in a terminal reaches it once, as an interrupt in a notebook does: through this Python,
            # whose main thread alone is interrupted.
            started.set_result(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                                start_new_session=interruptible))
        except OSError as problem:
            started.set_exception(problem)
        with started.result() as child:
            out, err = child.communicate()
        return child.returncode, out, err

    # On a thread that no interrupt reaches: none leaves behind a child that is just starting, or loses what was being read.
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        ended = thread.submit(run)
        for _ in range(2):
            try:
                return ended.result()
            except KeyboardInterrupt:
                started.result().send_signal(signal.SIGINT)
        try:
            return ended.result()
        except KeyboardInterrupt:
            started.result().kill()
            raise


def _carry_out(words: Sequence[object], ended: Sequence[int]) -> tuple[str, str]:
    """What the program wrote to standard output and to standard error."""
    code, out, err = _ended([program(), *map(str, words)])
    if code == -signal.SIGINT:
        code = _INTERRUPTED
    if code not in ended or (code not in (0, _INTERRUPTED) and not out.strip()):
        raise AcceloptError(err.strip() or f"accelopt {words[0]} ended with {code}", code)
    return out, err


def _run(words: Sequence[object], ended: Sequence[int] = (0,)) -> str:
    return _carry_out(words, ended)[0]


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


def _interruption(events: Sequence[Mapping[str, Any]], err: str, place: pathlib.Path) -> str:
    run = next((event["run"] for event in events if event.get("type") == "run_started"), None)
    if run is None:
        return err.strip() or "interrupted before the run had begun; nothing is lost"
    return f"the run {run} was interrupted before it had a result; continue with: accelopt resume {run} --workspace {shlex.quote(str(place))}"


def optimize(task: PathLike, *, workspace: PathLike | None = None, **options: object) -> Result:
    """Runs accelopt on the task's folder until it ends, with a winner or without; the options are those of `accelopt run`, with _ for -.

    A KeyboardInterrupt (Ctrl-C, a notebook's stop button) ends the run as Ctrl-C ends the command: the first finishes the current
    measurement and confirms what was found, the second stops at once, a third kills the run. What it has then is returned; an
    interrupted run without a result is an AcceloptError of code 130 that names the run. `accelopt resume` continues it.
    """
    place = _workspace(workspace)
    out, err = _carry_out(["run", task, "--workspace", place, "--json", *_options(options)], _RUN_ENDED)
    events = [json.loads(line) for line in out.split("\n") if line.endswith("}")]
    told = events[-1] if events else {}
    if told.get("type") != "result":
        raise AcceloptError(_interruption(events, err, place), _INTERRUPTED)
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
