# SPDX-License-Identifier: Apache-2.0
"""Two real workers of this machine in one run: ten known candidates get the same verdicts from either, and from both together.
They share the processor, so the device's lock has their measurements take turns."""

import shlex

import chat_script
import support

SLOWER = support.BASELINE.replace("    for (int64_t j", "    for (int64_t twice = 0; twice < 3; ++twice)\n    for (int64_t j")
MUCH_SLOWER = SLOWER.replace("twice < 3", "twice < 9")
FASTER_BY_COLUMNS = support.FASTER.replace("int64_t k = 0; k < K; ++k", "int64_t k = K - 1; k >= 0; --k")
CRASHES = support.FASTER.replace("y[i * N + j] = row[j];", "*reinterpret_cast<volatile float*>(j + 8) = row[j];")
LEAVES_OUT = support.FASTER.replace("j < N; ++j) y", "j + 1 < N; ++j) y")

# What is answered, and what it must be found to be.
CANDIDATES = [
    (support.FASTER, "FASTER"),
    (FASTER_BY_COLUMNS, "FASTER"),
    (chat_script.UNROLLED, "FASTER"),
    (SLOWER, "SLOWER"),
    (MUCH_SLOWER, "SLOWER"),
    (chat_script.WRONG, "INCORRECT_NUMERICAL"),
    (chat_script.STILL_WRONG, "INCORRECT_NUMERICAL"),
    (LEAVES_OUT, "INCORRECT_NUMERICAL"),
    (CRASHES, "RUNTIME_ERROR"),
    (chat_script.DOES_NOT_COMPILE, "COMPILE_ERROR"),
]


class TwoWorkers(support.TestCase):
    def worker(self, number):
        """A command of this machine's worker, unlike the other's."""
        return shlex.join(["env", f"NUMBER={number}", str(support.program_folder() / "accelopt"), "worker", "--device", "cpu"])

    def verdicts(self, name, *numbers):
        """What a run finds of the ten, by source, and who measured."""
        script = chat_script.script(executor=[{"texts": [chat_script.fenced(text) for text, _ in CANDIDATES]}])
        workspace = self.folder / name
        workers = [argument for number in numbers for argument in ("--worker", self.worker(number))]
        finished = self.accelopt("run", self.task(f"task {name}"), "--workspace", workspace, "--json", "--base-url", self.server(script).url,
                                 "--model", chat_script.MODEL, "--iterations", 1, "--plans", 5, "--attempts", 2, "--fixes", 0, *workers)
        self.assertEqual((finished.code, finished.last["outcome"]), (0, "improved"), finished)
        shown = self.succeed("show", "--workspace", workspace, "--json").last
        source = lambda line: self.succeed("show", "last", line["id"], "--workspace", workspace).out.strip()  # noqa: E731
        found = {source(line): line["status"] if line["status"] != "PASSED" else line["verdict"]
                 for line in finished.lines if line["type"] == "attempt" and line["state"] == "done"}
        return found, {step["worker"] for step in shown["steps"] if "worker" in step}

    def test_ten_candidates_get_the_same_verdicts_from_either(self):
        known = {text.strip(): verdict for text, verdict in CANDIDATES}
        self.assertEqual(len(known), 10)
        both, measured = self.verdicts("both", 1, 2)
        self.assertEqual(measured, {self.worker(1), self.worker(2)}, "both measured")
        self.assertEqual(both, known)
        for number in (1, 2):
            found, _ = self.verdicts(f"alone {number}", number)
            self.assertEqual(found, known, f"worker {number}")


if __name__ == "__main__":
    support.main()
