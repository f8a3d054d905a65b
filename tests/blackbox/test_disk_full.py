# SPDX-License-Identifier: Apache-2.0
"""A disk that is full for a while. The run ends with an error that says so and what to do; once there is room again it goes
on, decides as the run that had room all the time did, and asks nothing again that was on record."""

import collections
import ctypes
import os
import random
import resource
import shutil
import subprocess
import sys

import steady
import support

INSTANTS = int(os.environ.get("ACCELOPT_FULL_DISKS", "6"))
CLONE_NEWNS = 0x00020000
MS_REC, MS_PRIVATE = 0x4000, 1 << 18
DISK_BYTES = 8 << 20


class DiskFull(steady.SteadyTestCase):
    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("ACCELOPT_KILL_SEED", random.SystemRandom().randrange(1 << 32)))
        print(f"ACCELOPT_KILL_SEED={self.seed}", file=sys.stderr)

    def check(self, fill, workspace):
        """Fills the disk at random instants of a run, and continues it each time. `fill` takes the running program, fills the
        disk, and gives what makes room again."""
        instants = random.Random(self.seed)
        whole, questions = self.uninterrupted()
        refused = 0
        for _ in range(INSTANTS):
            # A run takes its time, which is the machine's; how much of its way is behind it, its questions tell.
            asked = round(instants.uniform(0.05, 0.9) * questions.total())
            wait = instants.uniform(0, steady.LONGEST_ANSWER_SECONDS)
            with self.subTest(asked=asked, wait=f"{wait:.4f} s"):
                refused += self.fill_once(fill, workspace, asked, wait, whole, questions)
        self.assertGreaterEqual(refused, INSTANTS / 2, "a full disk ends a run with an error")

    def fill_once(self, fill, workspace, asked, wait, whole, questions):
        self.empty(workspace)
        running = self.start(*self.run_arguments(workspace))
        self.model.wait_until_asked(asked)
        try:
            running.process.wait(wait)
        except subprocess.TimeoutExpired:
            pass
        make_room = fill(running)
        finished = running.finish(60)
        make_room()
        self.assert_no_crash(finished)
        asked_before, _ = self.model.take()
        before = self.committed(workspace)
        refused = finished.code != 0
        if refused:
            self.assert_says(finished, 1, "free space on this disk", "nothing that was recorded is lost")
            self.assertEqual(before - asked_before, collections.Counter())
        finished = self.accelopt(*self.continue_arguments(workspace))
        self.assertEqual(finished.code, 0, finished)
        self.assertEqual(finished.last["decision_hash"], whole["decision_hash"], finished)
        asked, _ = self.model.take()
        self.assertEqual(self.committed(workspace), questions)
        self.assertEqual(asked, questions - before, "what was on record is not asked again")
        return refused

    @staticmethod
    def empty(folder):
        if folder.exists():
            for entry in folder.iterdir():
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()

    def test_files_that_may_not_grow(self):
        """The limit on the size of files, set from outside while the program runs: no rights are needed."""
        def fill(running):
            pid = running.process.pid
            log = self.folder / "workspace" / "accelopt.db-wal"
            # Its messages are small and still find room.
            most = max(log.stat().st_size, 16 << 10) if log.exists() else 16 << 10
            try:
                _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, hard))
            except ProcessLookupError:
                pass  # it has ended
            return lambda: None  # the next process has no limit

        self.check(fill, self.folder / "workspace")

    def test_output_that_finds_no_room(self):
        with open("/dev/full", "w") as full:
            finished = subprocess.run([str(support.program_folder() / "accelopt"), "--version"], stdout=full,
                                      stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(finished.returncode, 1)
        self.assertIn("the output could not be written: No space left on device; free space on this disk", finished.stderr)

    def test_a_small_disk(self):
        """A disk of a few megabytes that something else fills up."""
        libc = ctypes.CDLL(None, use_errno=True)
        disk = self.folder / "disk"
        disk.mkdir()
        if libc.unshare(CLONE_NEWNS) != 0 or \
                libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) != 0 or \
                libc.mount(b"tmpfs", str(disk).encode(), b"tmpfs", 0, f"size={DISK_BYTES}".encode()) != 0:
            self.skipTest(f"no small disk can be mounted here ({os.strerror(ctypes.get_errno())}): it takes the right to mount")
        self.addCleanup(libc.umount2, str(disk).encode(), 2)

        def fill(_):
            filler = disk / "filler"
            with open(filler, "wb", buffering=0) as file:
                try:
                    while True:
                        file.write(bytes(64 << 10))
                except OSError:
                    pass
                try:
                    while True:
                        file.write(b"x")
                except OSError:
                    pass
            return filler.unlink

        self.check(fill, disk / "workspace")


if __name__ == "__main__":
    support.main()
