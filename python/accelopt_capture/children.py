# SPDX-License-Identifier: Apache-2.0
"""Runs something in a confined child process, watches it, and takes what it says as hostile.

server -> keeper (ends the namespace with itself) -> init (process 1 of the namespace) -> the solution -> compilers
"""

from __future__ import annotations

import contextlib
import os
import resource
import selectors
import signal
import struct
import tempfile
import time
from dataclasses import dataclass, field
from typing import Any, Callable

from . import confine, frames
from .errors import Failure

WATCH_S = 0.02
END_S = 10.0
STATUS = struct.Struct("<i")


@dataclass
class Watched:
    """What is known of a child's processes from outside."""

    keeper: int
    result: int
    printed: int
    status: int
    deadline: float
    data: bytearray = field(default_factory=bytearray)
    printed_bytes: int = 0
    status_bytes: bytes = b""


def run(work: Callable[[], tuple[Any, list[bytes]]], confinement: confine.Confinement, most_bytes: int,
        deadline: float) -> tuple[Any, list[bytes]]:
    """What the work returns. @error Failure: limit, crashed."""
    limits = confinement.limits
    pipes = [os.pipe() for _ in range(3)]
    (result_r, result_w), (printed_r, printed_w), (status_r, status_w) = pipes
    server = os.getpid()
    keeper = os.fork()
    if keeper == 0:
        try:
            confine.close_descriptors([result_w, printed_w, status_w])
            keep(server, work, confinement, result_w, printed_w, status_w)
        finally:
            os._exit(1)
    for descriptor in (result_w, printed_w, status_w):
        os.close(descriptor)
    child = Watched(keeper, result_r, printed_r, status_r, deadline)
    try:
        failure = watch(child, limits, most_bytes, confinement.isolation.watched)
    finally:
        end(keeper)
        if failure is None:
            drain(child, most_bytes)
        for descriptor in (result_r, printed_r, status_r):
            os.close(descriptor)
    if failure is not None:
        raise failure
    return answered(child, limits, most_bytes)


# In the keeper, init and the solution's process.
def keep(server: int, work: Callable, confinement: confine.Confinement, result: int, printed: int, status: int) -> None:
    os.setsid()
    confine.die_with_parent(server)
    if confinement.isolation.namespaces:
        confine.enter_namespaces()
        init = os.fork()
        if init:
            for descriptor in (result, printed, status):
                os.close(descriptor)
            os.waitpid(init, 0)
            os._exit(0)
        confine.die_with_parent(0)
    solution = os.fork()
    if solution == 0:
        os.close(status)
        confine.die_with_parent(0)
        behave(work, confinement, result, printed)
    os.close(result)
    os.close(printed)
    while True:
        pid, wait_status = os.waitpid(-1, 0)
        if pid == solution:
            frames.write_all(status, STATUS.pack(wait_status))
            os._exit(0)


def behave(work: Callable, confinement: confine.Confinement, result: int, printed: int) -> None:
    """The solution's process: confined, and then the work."""
    confine.empty_input()
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    confine.close_descriptors([result])
    for number in (signal.SIGPIPE, signal.SIGALRM, signal.SIGTERM, signal.SIGXCPU, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.chdir(confinement.folder)
    tempfile.tempdir = confinement.folder
    os.environ.update(HOME=confinement.folder, TMPDIR=confinement.folder, TRITON_CACHE_DIR=os.path.join(confinement.folder, "cache"))
    confinement.apply()
    value, blobs = work()
    frames.write_all(result, frames.packed(value, blobs))
    os._exit(0)


# In the server.
def watch(child: Watched, limits: dict[str, int], most_bytes: int, counted: bool) -> Failure | None:
    """Reads until the solution's process has ended. What it did too much of, or nothing."""
    with selectors.DefaultSelector() as selector:
        for descriptor in (child.result, child.printed, child.status):
            os.set_blocking(descriptor, False)
            selector.register(descriptor, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select(WATCH_S if counted else 0.2):
                chunk = os.read(key.fd, 1 << 20)
                if not chunk:
                    selector.unregister(key.fd)
                    if key.fd == child.status:
                        return None
                take(child, key.fd, chunk)
            failure = too_much(child, limits, most_bytes, counted)
            if failure is not None:
                return failure


def take(child: Watched, descriptor: int, chunk: bytes) -> None:
    if descriptor == child.result:
        child.data += chunk
    elif descriptor == child.printed:
        child.printed_bytes += len(chunk)
    else:
        child.status_bytes += chunk[:STATUS.size]


def too_much(child: Watched, limits: dict[str, int], most_bytes: int, counted: bool) -> Failure | None:
    if time.monotonic() > child.deadline:
        return Failure("limit", f"the request takes over {limits['wall_s']} s", call="wall_s")
    if child.printed_bytes > limits["printed_bytes"]:
        return Failure("limit", f"the solution prints over {limits['printed_bytes']} bytes", call="printed_bytes")
    if len(child.data) > most_bytes:
        return Failure("limit", f"the result takes over {most_bytes} bytes", call="cubin_bytes")
    if counted:
        count, memory = processes(child.keeper)
        if count > limits["processes"] + 2:
            return Failure("limit", f"the solution has over {limits['processes']} processes", call="processes")
        if memory > limits["total_memory_bytes"]:
            return Failure("limit", f"the solution's processes take over {limits['total_memory_bytes']} bytes", call="total_memory_bytes")
    return None


def processes(root: int) -> tuple[int, int]:
    """How many processes descend from this one, itself included, and the memory that they have beyond the server's."""
    found = descendants([root])
    shared = resident(os.getpid())
    return len(found), sum(max(0, resident(pid) - shared) for pid in found) * resource.getpagesize()


def descendants(roots: list[int]) -> list[int]:
    """These processes and all below them, as far as they are seen."""
    found: list[int] = []
    waiting = list(roots)
    while waiting and len(found) < 1 << 16:
        pid = waiting.pop()
        found.append(pid)
        with contextlib.suppress(OSError, ValueError):
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                    waiting += [int(number) for number in file.read().split()]
    return found


def resident(pid: int) -> int:
    """Pages."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1])
    return 0


def end(keeper: int) -> None:
    """The keeper and everything below it. With a namespace all of it dies with its first process; elsewhere the filter keeps
    it in the keeper's process group. If there is neither, orphans are found as the server's own children, and stopped before
    they are killed, or they would fork faster than they die."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(keeper, signal.SIGKILL)
    signal_to(keeper, signal.SIGKILL)
    os.waitpid(keeper, 0)
    until = time.monotonic() + END_S
    while time.monotonic() < until:
        stopped: set[int] = set()
        while (found := set(descendants(orphans())) - stopped) and time.monotonic() < until:
            for pid in found:
                signal_to(pid, signal.SIGSTOP)
            stopped |= found
        for pid in stopped:
            signal_to(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        if not orphans():
            return


def signal_to(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


# Children of the server that are no orphans.
known_children: set[int] = set()


def orphans() -> list[int]:
    with contextlib.suppress(OSError, ValueError):
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split() if int(pid) not in known_children]
    return []


def drain(child: Watched, most_bytes: int) -> None:
    """What is left in the pipes of processes that have ended."""
    for descriptor in (child.status, child.result):
        with contextlib.suppress(BlockingIOError):
            while len(child.data) <= most_bytes:
                chunk = os.read(descriptor, 1 << 20)
                if not chunk:
                    break
                take(child, descriptor, chunk)


def answered(child: Watched, limits: dict[str, int], most_bytes: int) -> tuple[Any, list[bytes]]:
    """What the child has sent. @error Failure: nothing, or what is no result."""
    status = STATUS.unpack(child.status_bytes)[0] if len(child.status_bytes) == STATUS.size else None
    if status is not None and os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number in (signal.SIGALRM, signal.SIGPROF):
            raise Failure("limit", f"the host function and its module take over {limits['host_s']} s of processor time", call="host_s")
        if number == signal.SIGXCPU:
            raise Failure("limit", f"the solution takes over {limits['wall_s']} s of processor time", call="wall_s")
        if number == signal.SIGXFSZ:
            raise Failure("limit", f"the solution writes a file of over {limits['file_bytes']} bytes", call="file_bytes")
        raise Failure("crashed", f"the solution's process died by signal {name_of(number)}")
    try:
        return frames.unpacked(bytes(child.data), most_bytes)
    except ValueError as error:
        how = f"ended with status {os.waitstatus_to_exitcode(status)}" if status is not None else "died"
        raise Failure("crashed", f"the solution's process {how}, and what it left is no result: {error}") from None


def name_of(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
