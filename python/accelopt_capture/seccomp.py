# SPDX-License-Identifier: Apache-2.0
"""A system call filter for processes that run a solution: other processes, networks, mounts, namespaces and the kernel's
rarely used parts are refused with EPERM. What reads and writes files is left to Landlock."""

from __future__ import annotations

import ctypes
import errno
import struct

from .kernel_calls import MACHINE, PR_SET_SECCOMP, prctl

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# Name: (x86_64, aarch64).
REFUSED = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "process_madvise": (440, 440), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424),
    "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201), "accept": (43, 202), "accept4": (288, 242),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "unshare": (272, 97), "setns": (308, 268), "bpf": (321, 280), "perf_event_open": (298, 241),
    "userfaultfd": (323, 282), "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225), "sethostname": (170, 161), "setdomainname": (171, 162),
    "acct": (163, 89), "quotactl": (179, 60), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "personality": (135, 92),
    "migrate_pages": (256, 238), "move_pages": (279, 239), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "adjtimex": (159, 171), "clock_adjtime": (305, 266), "syslog": (103, 116), "mknodat": (259, 33), "setpriority": (141, 140),
    "sched_setscheduler": (144, 119), "sched_setparam": (142, 118), "sched_setattr": (314, 274), "sched_setaffinity": (203, 122),
    "ioprio_set": (251, 30), "vhangup": (153, 58), "shmget": (29, 194), "shmat": (30, 196), "semget": (64, 190), "msgget": (68, 186),
    "mq_open": (240, 180), "fanotify_init": (300, 262), "lookup_dcookie": (212, 18),
    # What Landlock leaves free: the metadata of every file of the user's, and files in memory that no limit counts.
    "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "fchown": (93, 55), "fchownat": (260, 54),
    "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "removexattrat": (466, 466),
    "file_setattr": (469, 469), "memfd_create": (319, 279), "memfd_secret": (447, 447),
}
X86_ONLY = {"iopl": 172, "ioperm": 173, "mknod": 133, "modify_ldt": 154, "chmod": 90, "chown": 92, "lchown": 94, "utime": 132,
            "utimes": 235, "futimesat": 261}
SIGNALS = {"kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240)}
GROUPS = {"setpgid": (109, 154), "setsid": (112, 157)}  # who cannot leave a process group is killed with it
PROCESSES = {"clone": (56, 220), "execve": (59, 221), "execveat": (322, 281)}
X86_PROCESSES = {"fork": 57, "vfork": 58}
CLONE, CLONE3, PRLIMIT, IOCTL = (56, 220), (435, 435), (302, 261), (16, 29)
NEW_NAMESPACES = 0x7E020080  # every CLONE_NEW* flag
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
ALLOW, EPERM, ENOSYS, KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS, 0x80000000
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data
X32_BIT = 0x40000000


def _instruction(code: int, constant: int, true: int = 0, false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, true, false, constant)


def _returns(value: int) -> bytes:
    return _instruction(RETURN, value)


def program(machine: str, signals_refused: bool, processes_refused: bool = False) -> bytes:
    """The filter; signals are refused where no namespace keeps them in. @error ValueError, KeyError: no such machine."""
    column = ("x86_64", "aarch64").index(machine)
    refused = [numbers[column] for numbers in REFUSED.values()]
    refused += list(X86_ONLY.values()) if machine == "x86_64" else []
    refused += [numbers[column] for numbers in (*SIGNALS.values(), *GROUPS.values())] if signals_refused else []
    refused += [numbers[column] for numbers in PROCESSES.values()] if processes_refused else []
    refused += list(X86_PROCESSES.values()) if processes_refused and machine == "x86_64" else []
    code = [_instruction(LOAD, ARCHITECTURE), _instruction(EQUAL, AUDIT_ARCH[machine], 1, 0), _returns(KILL), _instruction(LOAD, NUMBER)]
    if machine == "x86_64":
        code += [_instruction(AT_LEAST, X32_BIT, 0, 1), _returns(EPERM)]
    for number in refused:
        code += [_instruction(EQUAL, number, 0, 1), _returns(EPERM)]
    code += [_instruction(EQUAL, CLONE3[column], 0, 1), _returns(ENOSYS)]  # its flags are out of reach: glibc takes clone
    code += [_instruction(EQUAL, CLONE[column], 0, 4), _instruction(LOAD, ARGUMENT), _instruction(ANY_BIT, NEW_NAMESPACES, 0, 1),
             _returns(EPERM), _returns(ALLOW)]
    code += [_instruction(EQUAL, PRLIMIT[column], 0, 4), _instruction(LOAD, ARGUMENT), _instruction(EQUAL, 0, 1, 0),
             _returns(EPERM), _returns(ALLOW)]
    code += [_instruction(EQUAL, IOCTL[column], 0, 5), _instruction(LOAD, ARGUMENT + 8), _instruction(EQUAL, TIOCSTI, 1, 0),
             _instruction(EQUAL, TIOCLINUX, 0, 1), _returns(EPERM), _returns(ALLOW)]
    return b"".join(code + [_returns(ALLOW)])


def install(signals_refused: bool, processes_refused: bool = False) -> None:
    """For this process and all that it starts. no_new_privs has to be set. @error OSError: the kernel refuses."""
    code = program(MACHINE, signals_refused, processes_refused)

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]

    filter_ = Program(len(code) // 8, code)
    prctl(PR_SET_SECCOMP, 2, ctypes.byref(filter_))
