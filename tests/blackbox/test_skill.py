# SPDX-License-Identifier: Apache-2.0
"""skills/accelopt/SKILL.md followed word for word: its five commands, in their order, on the function that they name."""

import re
import shlex

import support

SKILL = support.ROOT / "skills" / "accelopt" / "SKILL.md"

COLUMNS = """\
void column_sums(const float* x, float* y, int M, int N) {
  for (int j = 0; j < N; ++j) {
    float sum = 0;
    for (int i = 0; i < M; ++i) sum += x[i * N + j];
    y[j] = sum;
  }
}
"""


class Skill(support.TestCase):
    def test_its_commands_do_what_it_says(self):
        self.file("columns.cpp", COLUMNS)
        text = SKILL.read_text(encoding="utf-8")
        commands = [shlex.split(block.strip()) for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL)]
        self.assertEqual([words[1] for words in commands], ["init", "lint", "run", "diff", "best"])
        said = {words[1]: self.succeed(*words[1:]).out for words in commands}
        self.assertIn("faster, confirmed", said["run"])
        self.assertIn("+++ b/", said["diff"])
        self.assertTrue((self.folder / "faster" / "winner.patch").exists(), said["best"])

    def test_it_names_commands_and_tools_that_there_are(self):
        text = SKILL.read_text(encoding="utf-8")
        self.assertRegex(text, r"\A---\nname: accelopt\ndescription: .+\n---\n")
        for command in set(re.findall(r"accelopt ([a-z]+)", text)):
            self.assertEqual(self.accelopt(command, "--help").code, 0, command)


if __name__ == "__main__":
    support.main()
