# SPDX-License-Identifier: Apache-2.0
"""File access rules by Landlock: what a solution's process reads and where it writes."""

from __future__ import annotations

import ctypes
import os
import struct

from .kernel_calls import syscall

CREATE, ADD, RESTRICT = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
ALL_V1 = (1 << 13) - 1
TRUNCATE = 1 << 14  # from version 3
REFER = 1 << 13  # from version 2
READ = EXECUTE | READ_FILE | READ_DIR
FILE_ONLY = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE


def version() -> int:
    try:
        return syscall(CREATE, 0, 0, 1)
    except OSError:
        return 0


def _handled() -> int:
    found = version()
    return ALL_V1 | (REFER if found >= 2 else 0) | (TRUNCATE if found >= 3 else 0)


def restrict(readable: list[str], writable: list[str]) -> None:
    """For this process and its children; no_new_privs has to be set. @error OSError: the kernel refuses."""
    handled = _handled()
    attributes = struct.pack("<Q", handled)
    rules = syscall(CREATE, ctypes.c_char_p(attributes), len(attributes), 0)
    try:
        for path, access in [(path, READ) for path in readable] + [(path, handled) for path in writable]:
            try:
                place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue  # not on this machine
            try:
                allowed = access if os.path.isdir(path) else access & FILE_ONLY
                if path == "/dev/null":
                    allowed |= WRITE_FILE | (TRUNCATE & handled)
                rule = struct.pack("<Qi", allowed & handled, place)
                syscall(ADD, rules, 1, ctypes.c_char_p(rule), 0)
            finally:
                os.close(place)
        syscall(RESTRICT, rules, 0)
    finally:
        os.close(rules)
