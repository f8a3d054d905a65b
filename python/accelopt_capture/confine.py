# SPDX-License-Identifier: Apache-2.0
"""Confines a process before a solution runs in it, on top of whatever the server itself runs in."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
from dataclasses import dataclass, field
from typing import Callable, Sequence

from . import landlock, seccomp
from .kernel_calls import PR_SET_CHILD_SUBREAPER, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, drop_capabilities, prctl, unshare

CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x08000000, 0x10000000, 0x20000000, 0x40000000
NAMESPACES = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC


@dataclass(frozen=True)
class Isolation:
    """What this machine lets us use, found out once by trying."""

    namespaces: bool = False
    landlock: bool = False
    seccomp: bool = False
    watched: bool = False  # processes and their memory can be counted

    def __str__(self) -> str:
        layers = [("pid-namespace", self.namespaces), ("landlock", self.landlock), ("seccomp", self.seccomp), ("watched", self.watched)]
        return "+".join([name for name, there in layers if there] + ["rlimits"])


@dataclass
class Confinement:
    """For one process."""

    isolation: Isolation
    limits: dict[str, int]
    folder: str  # its own
    readable: list[str] = field(default_factory=list)
    alone: bool = False  # it writes no file, and starts neither processes nor threads

    def apply(self) -> None:
        """Cannot be undone."""
        limit_resources(self.limits, self.isolation.namespaces or os.getuid() != 0)
        with contextlib.suppress(OSError, KeyError):  # another machine
            drop_capabilities()
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        if self.isolation.landlock:
            landlock.restrict([*self.readable, self.folder], [] if self.alone else [self.folder])
        if self.isolation.seccomp:
            seccomp.install(signals_refused=not self.isolation.namespaces, processes_refused=self.alone)


def system_folders(*packages: str) -> list[str]:
    """What Python reads, Triton and ptxas for one, in these folders of packages."""
    here = os.path.dirname(os.path.abspath(__file__))
    return ["/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/dev/null", "/dev/urandom", "/dev/zero", sys.base_prefix,
            sys.prefix, *packages, here, *(path for path in sys.path if os.path.isdir(path))]


def enter_namespaces() -> None:
    """User, process, network and IPC namespaces of their own for this process's children. @error OSError."""
    uid, gid = os.getuid(), os.getgid()
    prctl(PR_SET_DUMPABLE, 1)  # or its own files in /proc are root's
    unshare(NAMESPACES)
    with contextlib.suppress(OSError):
        with open("/proc/self/setgroups", "w", encoding="ascii") as file:
            file.write("deny")
    for name, number in (("uid_map", uid), ("gid_map", gid)):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(f"{number} {number} 1")
    be_private()


def die_with_parent(parent: int) -> None:
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent and parent:
        os._exit(1)


def own_memory() -> tuple[int, int]:
    """Bytes of address space, and of data, that this process has; generous guesses where that cannot be read."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open("/proc/self/statm", encoding="ascii") as file:
            numbers = [int(number) * resource.getpagesize() for number in file.read().split()]
        return numbers[0], numbers[5]
    return 4 << 30, 1 << 30


def limit_resources(limits: dict[str, int], count_processes: bool) -> None:
    space, data = own_memory()
    memory, seconds = limits["memory_bytes"], int(limits["wall_s"]) + 1
    for name, value in ((resource.RLIMIT_AS, space + memory + (1 << 28)), (resource.RLIMIT_DATA, data + memory),
                        (resource.RLIMIT_FSIZE, limits["file_bytes"]), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0),
                        (resource.RLIMIT_NOFILE, 512), (resource.RLIMIT_MSGQUEUE, 0)):
        lower(name, value)
    if count_processes:
        lower(resource.RLIMIT_NPROC, limits["processes"])


def lower(name: int, value: int) -> None:
    _, hard = resource.getrlimit(name)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(name, (value, value))


def empty_input() -> None:
    """Standard input that is at its end; a sandbox may have no /dev/null."""
    reader, writer = os.pipe()
    os.dup2(reader, 0)
    os.close(reader)
    os.close(writer)


def close_descriptors(kept: list[int]) -> None:
    """All but these, and the standard three."""
    last = 2
    for descriptor in sorted({descriptor for descriptor in kept if descriptor > 2}):
        os.closerange(last + 1, descriptor)
        last = descriptor
    os.closerange(last + 1, 1 << 16)


def works(trial: Callable[[], None]) -> bool:
    """Whether this works in a process of its own."""
    pid = os.fork()
    if pid == 0:
        status = 1
        with contextlib.suppress(BaseException):
            trial()
            status = 0
        os._exit(status)
    return os.waitpid(pid, 0)[1] == 0


def probe(without: Sequence[str] = ()) -> Isolation:
    """What works here, and is wanted."""
    def namespaces() -> None:
        enter_namespaces()
        pid = os.fork()
        if pid == 0:
            os._exit(0 if os.getpid() == 1 else 1)
        assert os.waitpid(pid, 0)[1] == 0

    def rules() -> None:
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        landlock.restrict(["/usr"], [])

    def filters() -> None:
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        seccomp.install(signals_refused=True)

    def wanted(layer: str, trial: Callable[[], None]) -> bool:
        return layer not in without and works(trial)

    def processes() -> None:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            file.read()

    return Isolation(wanted("namespaces", namespaces), wanted("landlock", rules), wanted("seccomp", filters),
                     wanted("watched", processes))


def be_private() -> None:
    """Other processes of the same user neither trace this one nor open its memory."""
    with contextlib.suppress(OSError):
        prctl(PR_SET_DUMPABLE, 0)


def reap_orphans() -> None:
    """Processes whose parents have ended become this one's children, so that it finds them."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
