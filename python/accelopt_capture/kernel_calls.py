# SPDX-License-Identifier: Apache-2.0
"""System calls that Python does not offer, by ctypes."""

from __future__ import annotations

import ctypes
import os
import platform

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
MACHINE = platform.machine()

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, PR_SET_CHILD_SUBREAPER = 1, 4, 22, 38, 36
CAPSET = {"x86_64": 126, "aarch64": 91}


def prctl(option: int, *arguments: object) -> None:
    """@error OSError: the kernel refuses."""
    padded = [*arguments, 0, 0, 0, 0][:4]
    values = [argument if not isinstance(argument, int) else ctypes.c_ulong(argument) for argument in padded]
    if libc.prctl(ctypes.c_int(option), *values) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def syscall(number: int, *arguments: object) -> int:
    """@error OSError: the kernel refuses."""
    values = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments]
    result = libc.syscall(ctypes.c_long(number), *values)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def unshare(flags: int) -> None:
    """@error OSError: the kernel refuses."""
    if libc.unshare(ctypes.c_int(flags)) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def drop_capabilities() -> None:
    """All of them; with no_new_privs an executed program gets none back."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    syscall(CAPSET[MACHINE], ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))
