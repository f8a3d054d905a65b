# SPDX-License-Identifier: Apache-2.0
"""The programs as they are copied to a machine: they need libc, libm and the loader, and open everything else when it is used."""

import re
import shlex
import shutil
import subprocess

import in_empty_root
import support

PROGRAMS = ("accelopt", "accelopt-arena", "accelopt-device", "accelopt-nvrtc")
C_LIBRARY = re.compile(r"^(lib(c|m)\.so\.6|ld-linux.*)$")


class Slim(support.TestCase):
    def root(self):
        """A folder with the programs and the C library: nothing else."""
        root = self.folder / "root"
        in_empty_root.make(root)
        for name in PROGRAMS:
            in_empty_root.put_program(root, support.program_folder() / name, f"/usr/bin/{name}")
        tried = self.inside(root, "/bin/accelopt", "version")
        if tried.returncode == 77:
            self.skipTest(f"an empty root may not be made here: {tried.stderr.strip()}")
        return root

    def inside(self, root, *program):
        return subprocess.run(in_empty_root.command(root, *program), capture_output=True, text=True, env=self.environment, check=False)

    def test_programs_need_the_c_library_alone(self):
        for name in PROGRAMS:
            others = [library for library in in_empty_root.libraries(support.program_folder() / name) if not C_LIBRARY.match(library)]
            self.assertEqual(others, [], name)

    def test_doctor_in_a_root_with_nothing_else(self):
        root = self.root()
        told = self.inside(root, "/bin/accelopt", "doctor")
        self.assertRegex(told.stdout, r"(?m)^ok +accelopt ")
        self.assertRegex(told.stdout, r"(?m)^missing +g\+\+ +not found\n.*apt-get install g\+\+", told)
        self.assertNotIn("libcurl", told.stderr)

    def test_without_libcurl_a_server_is_refused_by_name(self):
        root = self.root()
        shutil.copytree(self.task(), root / "task")
        told = self.inside(root, "/bin/accelopt", "run", "/task", "--workspace", "/tmp/w", "--base-url", "http://127.0.0.1:9/v1", "--model", "m")
        self.assertNotEqual(told.returncode, 0)
        self.assertRegex(told.stderr, "libcurl.*install it")

    def test_a_worker_in_a_root_with_a_compiler_evaluates(self):
        root = self.root()
        folders = in_empty_root.put_compiler(root)
        faster = self.file("faster.cpp", support.FASTER)
        worker = shlex.join(in_empty_root.command(root, "/bin/accelopt", "worker", "--device", "cpu:0", "--compiler", "g++", bind=folders))
        finished = self.succeed("eval", self.task(), faster, "--worker", worker, "--json")
        self.assertEqual(finished.last["verdict"], "FASTER", finished)


if __name__ == "__main__":
    support.main()
