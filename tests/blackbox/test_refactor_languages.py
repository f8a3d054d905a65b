# SPDX-License-Identifier: Apache-2.0
"""`accelopt refactor` beyond Python: an example of each language ends with a commit by recipes alone. A language whose tools are
absent is named and skipped."""

import json
import pathlib
import shutil
import subprocess
import unittest

import support

EXAMPLES = support.ROOT / "examples" / "refactor"
SEARCH = "Membership in a list inside a loop -> set"
# Go is built anew for each tree.
LONGEST_RUN_SECONDS = 550


class LanguageCase(support.TestCase):
    def repository(self, example: str, sizes: str) -> pathlib.Path:
        """The example's, with one size to race in place of its ladder."""
        folder = self.folder / example
        subprocess.run(["sh", EXAMPLES / "make_repository.sh", example, folder], check=True)
        task = folder / "accelopt" / "refactor.toml"
        lines = [f"sizes = {sizes}" if line.startswith("sizes") else line for line in task.read_text().splitlines()]
        # The held-out family is one more to race; the Python example has it.
        task.write_text("\n".join(lines).split("[[workloads]]\nname = \"repeating\"")[0])
        return folder

    def improves(self, example: str, sizes: str, strategy: str, tool: str, *options: str) -> None:
        if shutil.which(tool) is None:
            self.skipTest(f"{tool} is not installed")
        folder = self.repository(example, sizes)
        result = self.accelopt("refactor", "run", folder / "accelopt", "--json", "--seed", "3", "--knowledge", "none", *options,
                               seconds=LONGEST_RUN_SECONDS)
        self.assertEqual(result.code, 0, result)
        found = json.loads(result.out)
        self.assertEqual((found["verdict"], found["strategy"]), ("faster", strategy))
        self.assertGreater(found["speedup"]["low"], 2)
        changed = subprocess.run(["git", "-C", folder, "diff", "--name-only", "HEAD", found["branch"]], check=True,
                                 capture_output=True, text=True).stdout.split()
        self.assertEqual(len(changed), 1, changed)


class QuickLanguagesTest(LanguageCase):
    def test_c_gets_faster_by_a_recipe(self):
        self.improves("shout-c", "[4000]", "Length of a string asked in each turn of a loop -> asked once", "cc")

    def test_what_reaches_beyond_a_function_is_refused(self):
        folder = self.repository("shout-c", "[4000]")
        source = (folder / "shout.c").read_text()
        change = self.folder / "change"
        for old, new, fact in (("  long changed = 0;\n", "  long changed = 0;\n#define strlen(x) 1\n", "the directives within shout"),
                               ("  return changed;\n}\n", "  return changed;\n}\nlong more;\n", "code outside of shout"),
                               ("  return changed;\n}\n", "  return changed;\n} long more;\n", "shout is not there any more"),
                               ("char *out) {", "char *out, ...) {", "the signature of shout")):
            change.write_text(source.replace(old, new))
            result = self.start("refactor", "check", folder / "accelopt", change, "--json", "--knowledge", "none").finish()
            found = json.loads(result.out)
            self.assertEqual((found["verdict"], found["failed_gate"]), ("refused", "scope"), result)
            self.assertIn(fact, json.dumps(found["gates"][-1]))

    def test_init_writes_a_driver_for_each_language(self):
        folder = self.folder / "many"
        folder.mkdir()
        subprocess.run(["git", "init", "--quiet", folder], check=True)
        sources = {"a.js": "function f(x) {\n}\n", "a.ts": "export function f(x: number): number {\n}\n", "a.c": "int f(void)\n{\n}\n",
                   "a.cpp": "namespace n {\nint f() {\n}\n}\n", "a.go": "package a\n\nfunc f() {\n}\n", "a.rs": "pub fn f() {\n}\n"}
        drivers = {"a.js": "driver.mjs", "a.ts": "driver.mjs", "a.c": "driver.c", "a.cpp": "driver.cpp", "a.go": "driver.go",
                   "a.rs": "driver.rs"}
        for name, text in sources.items():
            (folder / name).write_text(text)
            task = self.folder / f"task-{name}"
            made = self.accelopt("refactor", "init", folder / name, "--function", "f", "--output", task)
            self.assertEqual(made.code, 0, made.err)
            self.assertIn(f'scope = ["{name}#f"]', (task / "refactor.toml").read_text())
            self.assertIn("f(", (task / drivers[name]).read_text())
            # What is open is told, and nothing else is wrong with the file.
            linted = self.accelopt("refactor", "lint", task)
            self.assertEqual(linted.code, 1)
            self.assertEqual(linted.err.count("refactor.toml:"), 2, linted.err)
            wrong = self.accelopt("refactor", "init", folder / name, "--function", "g", "--output", self.folder / "none")
            self.assertNotEqual(wrong.code, 0)


@unittest.skipUnless(support.takes_long(), "takes minutes: make check-long")
class LongLanguagesTest(LanguageCase):
    def test_javascript(self):
        self.improves("tags-js", "[16000]", SEARCH, "node")

    def test_cxx(self):
        self.improves("tags-cpp", "[8000]", SEARCH, "c++")

    def test_go(self):
        self.improves("lines-go", "[32000]", "Repeated string concatenation -> builder", "go")

    def test_rust(self):
        if shutil.which("rustc") is None:
            self.skipTest("rustc is not installed")
        place = subprocess.run(["rustc", "--print", "sysroot"], check=True, capture_output=True, text=True).stdout.strip()
        self.improves("tags-rust", "[8000]", SEARCH, "rustc", "--tools", place)


if __name__ == "__main__":
    support.main()
