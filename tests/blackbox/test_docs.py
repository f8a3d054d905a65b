# SPDX-License-Identifier: Apache-2.0
"""The examples of the documentation: what a page shows is what happens. On smaller tensors than the pages have; with --long on those."""

import re
import shutil
import subprocess

import support
from support import ROOT, program_folder


def blocks(page, language):
    """The fenced blocks of a page in one language."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", text)


def steps(page):
    """Every command of a page's console blocks, with the output that is shown for it."""
    found = []
    for block in blocks(page, "console"):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def fixed_parts(line):
    """What has to occur of a shown line: figures, units of time, run ids, and what stands for `...` may be others."""
    line = re.sub(r"\d{8}-\d{6}-[0-9a-f]{6}", "RUNID", line)
    parts = []
    for part in line.split("..."):
        pattern = re.escape(part.strip())
        pattern = re.sub(r"(?:\\ )+", r"\\s+", pattern)
        pattern = re.sub(r"[\d]+(?:\\?[.,]\d+)*", r"[\\d.,]+", pattern)
        pattern = re.sub(r"(\[\\d\.,\]\+\\s\+)(?:ns|us|ms|s|m)\b", r"\1(?:ns|us|ms|s|m)", pattern)
        parts.append(pattern.replace("RUNID", r"\d{8}-\d{6}-[0-9a-f]{6}"))
    return [re.compile(part) for part in parts if part]


# What the pages have, and what is tested without --long: every call has its inputs drawn and its results verified.
SMALLER = {"--axis rows=64": "--axis rows=12", "axes = { M = 120 }": "axes = { M = 24 }", "axes = { M = 37 }": "axes = { M = 13 }",
           "axes = { M = 61 }": "axes = { M = 17 }", "softmax_task --iterations 2": "softmax_task --iterations 2 --beam 1"}


class Docs(support.TestCase):
    long = support.takes_long()

    def sized(self, text):
        for shown, small in SMALLER.items():
            text = text if self.long else text.replace(shown, small)
        return text

    def shell(self, command, folder):
        environment = dict(self.environment, PATH=f"{program_folder()}:{self.environment['PATH']}")
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=500)
        return done.returncode, done.stdout

    def follow(self, page, folder, codes=None):
        """Runs a page's commands, and finds the fixed parts of what it shows in what they print, in order."""
        for command, shown in steps(page):
            code, said = self.shell(self.sized(command), folder)
            self.assertEqual(code, (codes or {}).get(command, 0), f"$ {command}\n{said}")
            at = 0
            for line in shown:
                for part in fixed_parts(line):
                    found = part.search(said, at)
                    self.assertIsNotNone(found, f"{page} shows for `{command}`:\n{line}\n--- and it printed\n{said}")
                    at = found.end()
            yield command, said

    def test_the_quickstart(self):
        folder = self.folder / "softmax"
        shutil.copytree(ROOT / "examples" / "quickstart", folder)
        before = (folder / "softmax.cpp").read_text(encoding="utf-8")
        self.assertTrue(any("--axis rows=64" in command for command, _ in steps("quickstart.md")))
        said = dict(self.follow("quickstart.md", folder))
        run = next(text for command, text in said.items() if command.startswith("accelopt run"))
        # A busy machine adds lines: waits for the device, and the status after a minute without news.
        usual = [line for line in run.splitlines() if not re.search(r"wait(ing|ed .* s) for the device|^  .* \| .* \| ", line)]
        self.assertLessEqual(len(usual), 40, run)
        self.assertNotEqual((folder / "softmax.cpp").read_text(encoding="utf-8"), before, "the patch is applied")
        for source in ("softmax.cpp", "reference.cpp"):
            function = blocks("quickstart.md", "cpp")[0 if source == "softmax.cpp" else 1]
            self.assertIn(function, (ROOT / "examples" / "quickstart" / source).read_text(encoding="utf-8"))

    def test_the_example_of_a_task(self):
        folder = self.folder / "task"
        folder.mkdir()
        task = blocks("tasks.md", "toml")[0]
        self.assertEqual([size for size in SMALLER if size.startswith("axes") and size not in task], [])
        (folder / "task.toml").write_text(self.sized(task), encoding="utf-8")
        for source in blocks("tasks.md", "cpp"):
            if name := re.match(r"// ((?:baseline|reference)\.cpp): ", source):
                (folder / name[1]).write_text(source, encoding="utf-8")
        self.succeed("lint", folder)
        evaluation = self.succeed("eval", folder, "--json").last
        self.assertEqual((evaluation["status"], evaluation["verdict"]), ("PASSED", "TIE"), evaluation)

    def test_the_quickstart_for_cuda_as_far_as_no_device_is_needed(self):
        self.need_tools("nvrtc", no_device=True)
        shutil.copytree(ROOT / "examples" / "cuda" / "row_softmax", self.folder / "row_softmax")
        shown = [command for command, _ in self.follow("quickstart-cuda.md", self.folder,
                                                       {"accelopt eval row_softmax --device cuda:0": 5})]
        self.assertIn("accelopt eval row_softmax --device cuda:0", shown)


if __name__ == "__main__":
    support.main()
