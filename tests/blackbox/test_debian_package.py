# SPDX-License-Identifier: Apache-2.0
"""The Debian package of the built program: installed into an empty root, what it installs works from there, and it leaves no trace."""

import os
import pathlib
import shutil
import subprocess

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
        self.assertRegex(self.tool("dpkg-deb", "--field", package, "Depends"), r"libc6, .*libsqlite3")
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
        program = root / "usr" / "bin" / "accelopt"
        done = subprocess.run([program, "doctor", "--json"], capture_output=True, text=True, cwd=self.folder, env=self.environment, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([program, "eval", root / "usr/share/accelopt/suites/nkibench-cpu/silu"], capture_output=True, text=True,
                              cwd=self.folder, env=self.environment, check=False, timeout=200)
        self.assertIn("PASSED", done.stdout, done.stderr)
        self.tool(*dpkg, "--purge", "accelopt")
        self.assertEqual(self.files(root), before)

    def files(self, root):
        """All but dpkg's own books."""
        return {path for path in root.rglob("*") if root / "var" not in (path, *path.parents)}


if __name__ == "__main__":
    support.main()
