# SPDX-License-Identifier: Apache-2.0
"""in_empty_root.py ROOT [FOLDER ...] -- PROGRAM [ARGUMENT ...]: runs a program of the folder ROOT with ROOT as the whole file
system, beside /proc, /dev, an empty /tmp and the folders, which are bound. Exits with 77 where namespaces may not be made. As a module:
what fills such a root."""

import ctypes
import os
import pathlib
import shutil
import subprocess
import sys

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x00020000, 0x10000000, 0x20000000
MS_RDONLY, MS_BIND, MS_REC, MS_PRIVATE = 1, 4096, 16384, 1 << 18
MNT_DETACH = 2
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}[os.uname().machine]
LIBC = ctypes.CDLL(None, use_errno=True)


def libraries(program):
    """The shared libraries that the loader maps for a program: names and paths."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return {os.path.basename(words[0]): words[2] if "=>" in words else words[0]
            for words in map(str.split, listed.splitlines()) if "vdso" not in words[0] and "statically" not in words}


def make(root):
    """Folders as on systems on which /bin and /lib are /usr's."""
    for folder in ("bin", "lib", "lib64"):
        (root / "usr" / folder).mkdir(parents=True, exist_ok=True)
        (root / folder).symlink_to(f"usr/{folder}")


def put(root, file, at):
    """Copies a file to a place in the root."""
    target = root / os.path.normpath(at).lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        shutil.copy(file, target)


def put_program(root, file, at):
    """Copies a program, and what it is linked with to where it is here."""
    put(root, file, at)
    for path in libraries(file).values():
        put(root, path, path)


def put_compiler(root):
    """g++ with its assembler and linker. The folders that it reads besides, to be bound."""
    def said(question):
        return subprocess.run(["g++", question], capture_output=True, text=True, check=True).stdout.strip()

    for tool in ("gcc", "g++", "as", "ld"):
        put_program(root, os.path.realpath(shutil.which(tool)), f"/usr/bin/{tool}")
    parts = pathlib.Path(said("-print-prog-name=cc1plus"))
    for path in (*libraries(parts).values(), *libraries(parts.with_name("collect2")).values()):
        put(root, path, path)
    for part in ("crt1.o", "Scrt1.o", "crti.o", "crtn.o", "libc.so", "libc_nonshared.a", "libm.so", "libmvec.so.1", "libstdc++.so.6", "libgcc_s.so.1"):
        path = said(f"-print-file-name={part}")
        if os.path.isabs(path):
            put(root, path, path)
    return [str(parts.parents[2]), "/usr/include"]


def command(root, *program, bind=()):
    return [sys.executable, os.path.abspath(__file__), str(root), *bind, "--", *map(str, program)]


def check(result, what):
    if result != 0:
        print(f"{what}: {os.strerror(ctypes.get_errno())}", file=sys.stderr)
        os._exit(77)


def mount(source, target, kind, flags):
    os.makedirs(target, exist_ok=True)
    check(LIBC.mount(source.encode(), target.encode(), kind and kind.encode(), ctypes.c_ulong(flags), None), f"mount {target}")


def main():
    split = sys.argv.index("--")
    root, folders, program = sys.argv[1], sys.argv[2:split], sys.argv[split + 1:]
    user, group = os.getuid(), os.getgid()
    check(LIBC.unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID), "unshare")
    for file, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        with open(f"/proc/self/{file}", "w", encoding="ascii") as map_file:
            map_file.write(text)
    child = os.fork()
    if child != 0:
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    mount(root, root, None, MS_BIND | MS_REC)
    for folder in ("/dev", *folders):
        mount(folder, root + folder, None, MS_BIND | MS_REC)
    mount("proc", f"{root}/proc", "proc", 0)
    mount("tmpfs", f"{root}/tmp", "tmpfs", 0)
    os.makedirs(f"{root}/old", exist_ok=True)
    os.chdir(root)
    check(LIBC.syscall(SYS_PIVOT_ROOT, b".", b"old"), "pivot_root")
    os.chdir("/")
    check(LIBC.umount2(b"/old", MNT_DETACH), "umount")
    os.rmdir("/old")
    os.execve(program[0], program, {"PATH": "/bin:/usr/bin", "HOME": "/tmp"})


if __name__ == "__main__":
    main()
