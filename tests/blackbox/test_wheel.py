# SPDX-License-Identifier: Apache-2.0
"""The wheel in a clean virtual environment: the program and the module work from there, and nothing stays when it is removed."""

import pathlib
import subprocess
import sys

import support

ROOT = pathlib.Path(__file__).resolve().parents[2]
USE = """\
import accelopt, sys
result = accelopt.optimize(sys.argv[1], workspace=sys.argv[2], iterations=1, knowledge="none")
assert accelopt.program().startswith(sys.prefix), accelopt.program()
assert "kernel" in accelopt.best(result.run, workspace=sys.argv[2])
print(result.outcome, result.speedup)
"""


class Wheel(support.TestCase):
    def tool(self, *words, environment=None):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, timeout=3000, cwd=self.folder,
                              env=environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_installed_used_and_removed(self):
        self.tool(ROOT / "scripts" / "make-wheel.sh", self.folder / "out")
        (wheel,) = (self.folder / "out").glob("accelopt-*-py3-none-*.whl")
        environment = self.folder / "environment"
        self.tool(sys.executable, "-m", "venv", environment)
        pip = (environment / "bin" / "python", "-m", "pip", "--disable-pip-version-check")
        before = self.files(environment)
        self.tool(*pip, "install", "--no-index", wheel)
        program = environment / "bin" / "accelopt"
        suites = environment / "share" / "accelopt" / "suites" / "nkibench-cpu"
        self.assertIn("accelopt-arena", self.tool(program, "doctor", environment=self.environment))
        said = self.tool(environment / "bin" / "python", "-c", USE, suites / "matmul", self.workspace, environment=self.environment)
        self.assertRegex(said, r"^improved [0-9.]+x \[")
        self.tool(*pip, "uninstall", "--yes", "accelopt")
        self.assertEqual(self.files(environment), before)

    @staticmethod
    def files(folder):
        return {path for path in folder.rglob("*") if "__pycache__" not in path.parts and not path.is_dir()}


if __name__ == "__main__":
    support.main()
