# SPDX-License-Identifier: Apache-2.0
"""The Debian package of the built program: installed into an empty root, what it installs works from there, and it leaves no trace."""

import json
import os
import pathlib
import shutil
import subprocess

import in_empty_root
import support

ROOT = pathlib.Path(__file__).resolve().parents[2]


class DebianPackage(support.TestCase):
    def tool(self, *words):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, timeout=200)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_installed_used_and_removed(self):
        if os.geteuid() != 0 or not all(map(shutil.which, ("dpkg", "dpkg-deb", "cmake"))):
            self.skipTest("a package is installed into a root of its own by root, with dpkg and cmake")
        self.tool(ROOT / "scripts" / "make-deb.sh", support.program_folder().parent, self.folder / "out")
        (package,) = (self.folder / "out").glob("accelopt_*.deb")
        self.assertRegex(self.tool("dpkg-deb", "--field", package, "Depends"), r"^libc6$")
        root = self.folder / "root"
        database = root / "var" / "lib" / "dpkg"
        for folder in ("info", "updates", "triggers"):
            (database / folder).mkdir(parents=True)
        (database / "status").touch()
        (database / "available").touch()
        before = self.files(root)
        dpkg = ("dpkg", f"--root={root}", "--force-depends", "--force-not-root", f"--log={self.folder}/log")
        self.tool(*dpkg, "--install", package)
        self.assertTrue((root / "usr/libexec/accelopt/accelopt-arena").exists())
        used = self.folder / "used"
        shutil.copytree(root, used, symlinks=True)
        self.used_alone(used)
        self.tool(*dpkg, "--purge", "accelopt")
        self.assertEqual(self.files(root), before)

    def used_alone(self, root):
        """What is installed, beside a C library, libclang and a compiler: every check that has to pass does, and the demo ends with a gain."""
        in_empty_root.make(root)
        in_empty_root.put_program(root, root / "usr/bin/accelopt", "/usr/bin/accelopt")
        bound = in_empty_root.put_compiler(root)
        clang = next(pathlib.Path("/usr/lib").glob("*/libclang-19.so.1"))
        in_empty_root.put_program(root, clang, "/usr/lib/libclang-19.so.1")

        def inside(*words):
            return subprocess.run(in_empty_root.command(root, "/usr/bin/accelopt", *words, bind=bound), capture_output=True, text=True,
                                  check=False, timeout=300)

        told = inside("doctor", "--json")
        if told.returncode == 77:
            self.skipTest(f"an empty root may not be made here: {told.stderr.strip()}")
        self.assertEqual(told.returncode, 0, told.stdout + told.stderr)
        done = inside("run", "/usr/share/accelopt/suites/nkibench-cpu/matmul", "--workspace", "/tmp/w", "--iterations", "2", "--json")
        self.assertEqual(json.loads(done.stdout.splitlines()[-1]).get("outcome"), "improved", done.stdout[-2000:] + done.stderr)

    def files(self, root):
        """All but dpkg's own books."""
        return {path for path in root.rglob("*") if root / "var" not in (path, *path.parents)}


if __name__ == "__main__":
    support.main()
